/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_world.h - random fabrics with random queues, faults, and hosts that send bursts of random
 * packets at random times and answer some of what they get.
 */
#ifndef PROPERTY_SIM_WORLD_H
#define PROPERTY_SIM_WORLD_H

#include "base/prng.h"
#include "sim/kernel/sim_net.h"
#include "sim_reference.h"

#define LOG_MAX 6000u
#define FAULTS_MAX 30u

/* What a host saw. */
struct seen {
	uint64_t t;
	uint64_t what;
};

struct actor {
	struct mb_prng random;
	uint64_t sent;
	uint32_t n;
	struct seen log[LOG_MAX];
};

/* Hosts that send bursts of random packets at random times, and answer some of what they get. */
struct world {
	struct ms_net_cfg cfg;
	uint64_t stop_ps;  /* nothing new is sent after this */
	uint32_t hot;	   /* a host that many send to */
	uint64_t pause_ps; /* mean, between bursts */
	struct ms_fault fault[FAULTS_MAX];
	uint32_t faults;
	struct actor *actor;
};

/* world_init makes a world out of test_rand(). */
void world_init(struct world *w);
/* world_run runs it on the kernel, in one go (MS_NEVER) or in steps; *c adds up all ranks. */
void world_run(struct world *w, const struct ms_ranks *ranks, uint32_t threads, uint64_t step_ps,
	       struct ms_counters *c);
/* world_run_reference runs it on the reference. */
void world_run_reference(struct world *w, struct ms_counters *c);
/* world_take_log takes the log from a world, which begins another one. The caller frees it. */
struct actor *world_take_log(struct world *w);
void world_fini(struct world *w);

#endif
