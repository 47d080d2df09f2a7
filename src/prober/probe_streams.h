/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_streams.h - private to this module: what a host probes. A stream is a route, or plain
 * packets on a plane, or the question whether a neighbour lives; its number is in each of its
 * packets.
 */
#ifndef SOFTMRC_PROBER_PROBE_STREAMS_H
#define SOFTMRC_PROBER_PROBE_STREAMS_H

#include "fabric/usid.h"
#include "prober/probe_host.h"

/* Every so many pairs one packet fills the MTU: some cables spoil only what is long. */
#define PROBE_FULL_EVERY MM_PROBE_FULL_EVERY
/* Where the rate of links is known as many are trains, seldomer: the bits are the same. */
#define PROBE_TRAIN_EVERY (PROBE_TRAIN * PROBE_FULL_EVERY)
/*
 * A second between two questions to a neighbour; more where they would be more than a part of the
 * rate, for the answers, too, are no more than that and would be late for all.
 */
#define PROBE_HELLO_STEPS 100u
#define PROBE_HELLO_PART 4u
/* Half a second after something was bad what tells about it is probed more often. */
#define PROBE_DOUBT_STEPS 50u
/* And until it is known what became of a probe that is missing. */
#define PROBE_MISSING_STEPS (PROBE_WAIT_STEPS + 1u)

enum probe_kind { PROBE_NOTHING, PROBE_ROUTE, PROBE_PLAIN, PROBE_HELLO };

struct probe_stream {
	enum probe_kind kind;
	struct probe_book book;
	struct mm_route_of of; /* a route */
	uint32_t memo;	       /* of the sink */
	uint32_t memo_there;   /* for the way to the one that is asked */
	uint32_t asked;	       /* host that sends it back, or MM_NO_HOST */
	uint32_t plane, back;  /* by which it leaves and has to arrive */
	uint32_t turns;	       /* pairs and trains that the plan had it send */
	uint8_t to[MF_ADDRESS_BYTES];
	bool planned;	  /* while a plan is made */
	bool had_train;	  /* its first */
	bool wants_train; /* the plan's turn has come, and none has gone since */
};

struct probe_streams {
	struct probe_stream *stream; /* room of them */
	uint32_t room;
	uint32_t routes, left_out;
	uint32_t pair_bytes; /* on the wire, on average */
	uint64_t bit_s;
	uint32_t round_steps;
	uint32_t hello_steps; /* from one question to a neighbour to the next */
};

/* probe_streams_init makes room for any plan of the host. 0, or ENOMEM. */
int probe_streams_init(struct probe_streams *s, const struct probe_host_cfg *cfg);
void probe_streams_fini(struct probe_streams *s);
/*
 * probe_streams_plan makes the streams those of a plan in which live[] take part. What was probed
 * before and still is goes on. 0; ENOMEM: all is as it was.
 */
int probe_streams_plan(struct probe_streams *s, const struct probe_host_cfg *cfg, const bool *live);
/*
 * probe_train_of returns what trains of a stream tell about: the way to a neighbour, for it says
 * when they came to it, else its route.
 */
struct mm_route_of probe_train_of(const struct probe_stream *s);
/* probe_carrier writes the address that leads over the links of a route from `first` on. */
void probe_carrier(const struct mf_topology *t, const struct mm_route_of *of, uint32_t first,
		   uint8_t out[MF_ADDRESS_BYTES]);
/* probe_far_host returns whom a host sends plain packets: hosts of other T0s, all in turn. */
uint32_t probe_far_host(const struct mf_topology *t, uint32_t host, uint32_t turn);

#endif
