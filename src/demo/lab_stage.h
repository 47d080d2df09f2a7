/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_stage.h - the stage that is a fabric: hosts, T0s and T1s are network namespaces on the
 * kernel's own SRv6 (lab/lab.h), `paths` T1s in each plane. Neighbours in the ring are on different
 * T0s, so that all their traffic crosses a T1. A host that no rank is on takes part in the incast.
 *
 * MRC goes as IPv6 in IPv6 with uSIDs; TCP over plain routes of the same links, queues and faults.
 */
#ifndef SOFTMRC_DEMO_LAB_STAGE_H
#define SOFTMRC_DEMO_LAB_STAGE_H

#include "demo/run_dir.h"
#include "demo/stage.h"
#include "lab/processes.h"

#define DEMO_RANKS_MAX 32u

/* Packets that a fault destroyed are counted by looking at all links; so seldom. */
#define DEMO_LAB_LOOK_NS UINT64_C(100000000)

/* What a fault of a run has destroyed. */
struct demo_lab_hits {
	bool begun;
	uint64_t before; /* that all links had lost when it began */
	struct demo_hits hits;
};

struct demo_lab {
	struct demo_stage stage;
	struct ml_lab *lab;
	struct ml_counters *counters; /* of each link */
	uint64_t looked_ns;
	struct demo_lab_hits hits[DEMO_FAULTS_MAX];
	struct ml_processes incast;
	struct ml_scenario_program server, writer;     /* of the incast */
	char config[DEMO_RANKS_MAX][ML_HOST_PATH_MAX]; /* of each rank's host */
	char address[DEMO_RANKS_MAX][64];
	char name[ML_LAB_NAME_MAX];
	char tcp_text[128];
};

/*
 * demo_lab_open brings the lab up; `dir` is where its topology file goes. 0; -1, and why says why
 * not, when there can be no lab here.
 */
int demo_lab_open(struct demo_lab *l, const struct demo_shape *shape, const struct demo_rundir *dir,
		  struct ml_error *why);

#endif
