/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_packet.h - the record that travels through the simulated fabric: one packet, decoded, without
 * payload, in one cache line.
 *
 * The fabric reads who sent it, to whom, by which EV, how long it is and in which class it travels,
 * and writes the congestion mark and the class of what it cuts. What the packet says to the
 * protocol is the NIC's business: 42 bytes that the fabric carries and never reads.
 */
#ifndef SOFTMRC_SIM_KERNEL_SIM_PACKET_H
#define SOFTMRC_SIM_KERNEL_SIM_PACKET_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/dscp.h"

/* 64-bit words of the protocol's part. */
#define MS_BODY_WORDS 5u
/* Planes are numbered in 4 bits. */
#define MS_PLANE_MASK 15u
/* Hosts are numbered in 24 bits. */
#define MS_HOSTS_MAX (UINT32_C(1) << 24)

struct ms_packet {
	/* The kernel's own: when and over which port it comes. Not the NIC's to read or write. */
	uint32_t at;
	uint32_t port;

	uint32_t src : 24; /* sending host */
	uint32_t plane : 4;
	uint32_t ecmp : 1; /* switches choose its way by a hash of `ev`; else `ev` is the way */
	uint32_t roce : 1; /* of roce_nic.h, else of MRC */
	uint32_t : 2;
	uint32_t dst : 24;    /* receiving host */
	uint32_t cls : 3;     /* enum mw_dscp_class: decides queue, marking and trimming */
	uint32_t ce : 1;      /* congestion experienced; set by ports */
	uint32_t corrupt : 1; /* its ICRC is wrong; set by a corrupting link */
	uint32_t cuts : 3;    /* the kernel's: how often its link had been cut when it was sent */
	/* fabric/ev.h, its plane is `plane`; with `ecmp` a hash of what names the flow */
	uint32_t ev;
	uint16_t bytes; /* on the wire, with all that a frame costs there; 1 .. 65535 */

	uint16_t head; /* the protocol's, with body */
	uint64_t body[MS_BODY_WORDS];
};

static_assert(sizeof(struct ms_packet) == 64, "a packet is one cache line");

/* ms_packet_cut says whether a switch has cut the packet. */
static inline bool ms_packet_cut(const struct ms_packet *p)
{
	return p->cls == MW_DSCP_TRIMMED || p->cls == MW_DSCP_TRIMMED_LASTHOP;
}

/* ms_packet_high says whether the packet travels in the control class: answers and what was cut. */
static inline bool ms_packet_high(const struct ms_packet *p)
{
	return p->cls >= MW_DSCP_TRIMMED;
}

#endif
