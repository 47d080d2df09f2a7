/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_net_bed.h - a small fabric on the simulator's kernel whose hosts send what a script says, at
 * the time it says, and note what they get.
 */
#ifndef UNIT_SIM_NET_BED_H
#define UNIT_SIM_NET_BED_H

#include "fabric/ev.h"
#include "sim/net.h"
#include "support/test.h"

#define BED_GOT_MAX 70000u
#define BED_NS(ns) ((ns)*UINT64_C(1000))

/* To be sent: by a host, at a time. The times of a host rise. */
struct bed_send {
	uint64_t t_ps;
	struct ms_packet p;
};

struct bed_got {
	uint64_t t_ps;
	struct ms_packet p;
};

struct bed {
	struct ms_net_cfg cfg;
	struct ms_net *net;
	struct bed_send *send;	/* sorted by host, then time */
	uint32_t n_send, *next; /* next: for each host, in send[] */
	struct bed_got *got;
	uint32_t n_got;
	uint32_t wakes, edges, taps, carriers;
	uint64_t last_wake_ps, last_edge_ps, free_ps, last_carrier_ps;
	bool last_up;
	uint32_t stop_at_edge; /* 0: never */
};

/*
 * bed_init describes a fabric of two T0s of `hosts` hosts and two T1s, one plane: 100 Gb/s (80 ps a
 * byte), 500 ns a link, 300 ns a switch; no limits to queues. Change cfg, then call bed_open.
 */
void bed_init(struct bed *b, uint32_t hosts);
void bed_open(struct bed *b);
void bed_close(struct bed *b);
/* bed_send adds a packet of a class to the script; before bed_open. */
void bed_send(struct bed *b, uint64_t t_ps, uint32_t src, uint32_t dst, enum mw_dscp_class cls,
	      uint16_t bytes);
/* bed_run runs to the end, holds that every packet is accounted for, and returns the counters. */
struct ms_counters bed_run(struct bed *b);

/* Of `bytes` on one link. */
static inline uint64_t bed_wire(uint32_t bytes)
{
	return bytes * UINT64_C(80);
}

#endif
