/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * incast.h - several hosts that write to one at the same time: pairs of processes of the example
 * write_bw, which sleep for their completions, so that the job keeps its share of the processors.
 * They go without congestion control, which would slow them down before a queue has to trim.
 */
#ifndef SOFTMRC_DEMO_INCAST_H
#define SOFTMRC_DEMO_INCAST_H

#include "demo/fault_script.h"
#include "lab/host_env.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct demo_incast {
	pid_t pid[2 * DEMO_INCAST_MAX];
	uint32_t n;
};

struct demo_incast_cfg {
	const struct ml_lab *lab;
	const char *program; /* write_bw */
	uint32_t target;     /* host */
	const uint32_t *sender;
	uint32_t senders;  /* at most DEMO_INCAST_MAX */
	uint64_t pace_bps; /* of each sender's ports */
};

/* demo_incast_start starts all pairs; 0, or -1 after a message, and then nothing runs. */
int demo_incast_start(struct demo_incast *incast, const struct demo_incast_cfg *cfg);
/* demo_incast_stop ends them and returns how many had ended by themselves, which none should. */
uint32_t demo_incast_stop(struct demo_incast *incast);

#endif
