/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_net_fixture.h - a small fabric on the simulator's kernel whose hosts send what a script says,
 * at the time it says, and note what they get.
 */
#ifndef UNIT_SIM_NET_FIXTURE_H
#define UNIT_SIM_NET_FIXTURE_H

#include "fabric/fabric_path.h"
#include "sim/kernel/sim_net.h"
#include "support/test.h"

#define FIXTURE_GOT_MAX 70000u
#define FIXTURE_NS(ns) ((ns)*UINT64_C(1000))

/* To be sent: by a host, at a time. The times of a host rise. */
struct fixture_send {
	uint64_t t_ps;
	struct ms_packet p;
};

struct fixture_got {
	uint64_t t_ps;
	struct ms_packet p;
};

struct fixture {
	struct ms_net_cfg cfg;
	struct ms_net *net;
	struct fixture_send *send; /* sorted by host, then time */
	uint32_t n_send, *next;	   /* next: for each host, in send[] */
	struct fixture_got *got;
	uint32_t n_got;
	uint32_t wakes, edges, taps, carriers;
	uint64_t last_wake_ps, last_edge_ps, free_ps, last_carrier_ps;
	bool last_up;
	uint32_t stop_at_edge; /* 0: never */
};

/*
 * fixture_init describes a fabric of two T0s of `hosts` hosts and two T1s, one plane: 100 Gb/s (80
 * ps a byte), 500 ns a link, 300 ns a switch; no limits to queues. Change cfg, then call
 * fixture_open.
 */
void fixture_init(struct fixture *b, uint32_t hosts);
void fixture_open(struct fixture *b);
void fixture_close(struct fixture *b);
/* fixture_send adds a packet of a class to the script; before fixture_open. */
void fixture_send(struct fixture *b, uint64_t t_ps, uint32_t src, uint32_t dst,
		  enum mw_dscp_class cls, uint16_t bytes);
/* fixture_run runs to the end, holds that every packet is accounted for, and returns the
 * counters. */
struct ms_counters fixture_run(struct fixture *b);

/* Of `bytes` on one link. */
static inline uint64_t fixture_wire(uint32_t bytes)
{
	return bytes * UINT64_C(80);
}

#endif
