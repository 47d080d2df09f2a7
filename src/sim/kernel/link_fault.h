/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_fault.h - what can go wrong in the simulated fabric, and when.
 *
 * A fault is a change of one directed link at one instant. Whatever is larger (a switch, a NIC
 * port, a flap, a random process) is made of these. Faults are exact: what is on a
 * wire when it is cut is lost, what waits behind it is lost, and what comes later is lost at its
 * port.
 */
#ifndef SOFTMRC_SIM_KERNEL_LINK_FAULT_H
#define SOFTMRC_SIM_KERNEL_LINK_FAULT_H

#include <stdint.h>

enum ms_fault_kind {
	/*
	 * The link loses its carrier; both ends see it. Faults overlap: a link is up when it has
	 * come up as often as it went down.
	 */
	MS_FAULT_DOWN,
	MS_FAULT_UP,
	MS_FAULT_BLACKHOLE, /* value 1: it takes packets and delivers none, silently; 0: no more */
	MS_FAULT_LOSS,	    /* value: parts per million of packets lost on the wire */
	MS_FAULT_CORRUPT,   /* value: parts per million that arrive with a wrong ICRC */
	MS_FAULT_RATE,	    /* value: parts per million of its speed that are left, 1 .. 10^6 */
	MS_FAULT_KINDS,
};

struct ms_fault {
	uint64_t at_ps;
	uint32_t link; /* as fabric/link.h numbers them */
	uint32_t value;
	uint8_t kind; /* enum ms_fault_kind */
};

/* Why a packet was lost. */
enum ms_drop {
	MS_DROP_DATA_FULL,    /* the data queue was full, and the packet not to be cut */
	MS_DROP_CONTROL_FULL, /* the control queue was full */
	MS_DROP_LINK_DOWN,    /* waited for, was sent on or was meant for a link without carrier */
	MS_DROP_BLACKHOLE,
	MS_DROP_LOSS,
	MS_DROP_NO_ROUTE, /* EV or destination that the fabric does not have */
	MS_DROP_HEADROOM, /* PFC had no room left for what its link brought */
	MS_DROPS,
};

/* ms_drop_name returns a constant lower-case name, with underscores. */
const char *ms_drop_name(enum ms_drop d);

#endif
