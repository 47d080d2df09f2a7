/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stage.h - where the job runs: what makes a process one of its hosts, and what breaks the network
 * between them. The runs and the script know no more of a network than this.
 *
 * A stage stands for the whole demo. Each run begins and ends on it; faults have slots, which are
 * their numbers in the script.
 */
#ifndef SOFTMRC_DEMO_STAGE_H
#define SOFTMRC_DEMO_STAGE_H

#include "demo/fault_script.h"

#include <stdbool.h>
#include <stdint.h>

struct demo_job;
struct demo_rundir;
struct demo_stage;

/* Packets that a fault has destroyed so far. */
struct demo_hits {
	uint64_t data, control;
	uint64_t last_ns; /* when the last data packet was, CLOCK_MONOTONIC; 0: none yet, or not
			     known */
};

/* What the switches did with packets since the stage was set up. */
struct demo_fabric {
	uint64_t packets, trimmed, marked, dropped;
};

struct demo_stage_ops {
	/* A run of this name begins, nothing is broken. 0, or -1 after a message on stderr. */
	int (*begin)(struct demo_stage *stage, const struct demo_rundir *dir, const char *run,
		     uint64_t seed);
	/* The run is over, its processes are gone. */
	void (*end)(struct demo_stage *stage);
	/*
	 * Makes the calling process, a child that has one thread and will exec, the host of this
	 * rank: its place in the network, and its environment. 0, or -1 after a message.
	 */
	int (*enter)(const struct demo_stage *stage, uint32_t rank, const char *transport);
	/* A fault begins; it is new, or was lifted. 0, or -1 after a message. */
	int (*strike)(struct demo_stage *stage, uint32_t slot, const struct demo_fault *fault);
	int (*lift)(struct demo_stage *stage, uint32_t slot, const struct demo_fault *fault);
	struct demo_hits (*hits)(struct demo_stage *stage, uint32_t slot);
	/* How many of the TCP ring's connections lie where it strikes; can_feel: at all. */
	uint32_t (*tcp_hits)(const struct demo_stage *stage, const struct demo_fault *fault,
			     const struct demo_job *tcp, bool *can_feel);
	/* What switches counted; NULL: there are none. */
	void (*fabric)(struct demo_stage *stage, struct demo_fabric *fabric);
	/* Takes down what was set up. */
	void (*close)(struct demo_stage *stage);
};

struct demo_stage {
	const struct demo_stage_ops *ops;
	const char *name;     /* "lab" or "loopback" */
	const char *tcp_text; /* which way TCP goes, for the summary */
	bool counts;	      /* packets that a fault destroys are counted */
	bool trims;	      /* switches trim and mark */
	const char *no_trims; /* why not */
	struct demo_shape shape;
};

#endif
