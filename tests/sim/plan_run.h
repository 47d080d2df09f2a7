/* SPDX-License-Identifier: BSD-2-Clause */
/* plan_run.h - what the files share that make the world of a plan: plan_run.c says what it is. */
#ifndef SIM_PLAN_RUN_H
#define SIM_PLAN_RUN_H

#include "plan.h"
#include "world.h"

/* What a QP has still to post. */
struct load {
	struct sim_qp *qp;
	uint64_t left;
	uint64_t not_before_ns;
	uint64_t silent;      /* unsignalled in a row */
	uint64_t recvs_at_ns; /* no receives are posted before */
	bool waits;	      /* for a receive at the peer */
	bool withheld;	      /* its first message never arrives before the others are done */
	uint16_t hole;	      /* in the end: this message is missing, those behind it are not */
};

struct run;

/* Something that fails during the run: a path or a whole plane between two nodes one way, or a
 * node that stops. */
struct fault {
	struct run *run;
	uint32_t src, dst, plane, path;
	enum { PATH_DIES, PLANE_DIES, NODE_STOPS, PORT_DROPS, CLOCK_JUMPS, CLOCK_STANDS } kind;
	/* PORT_DROPS: the node knows that its port is down; CLOCK_STANDS: it catches up. */
	bool told;
	uint64_t lasts_ns;
};

#define FAULTS_MAX 32u
/* Receives that an SRQ has at least for each QP that holds some for long; see ext.srq.share. */
#define SIM_LEFT_TO_OTHERS 4u

struct run {
	struct sim_plan plan;
	struct sim_world world;
	struct rng rng;
	/* What plans did not have at first is drawn apart, so that those kept are as they were. */
	struct rng apart;
	struct load loads[2 * SIM_QPS_MAX];
	uint64_t packets_left;
	bool paths_set[NET_NODES_MAX][NET_NODES_MAX];
	struct fault faults[FAULTS_MAX];
	uint32_t n_faults;
	bool ending;   /* nothing is bound or taken back any more */
	bool released; /* what was withheld passes */
};

/* plan_load_begin posts the first receives of a QP and says how many messages it has to post. */
void plan_load_begin(struct run *run, struct load *load);
/* plan_load_app is sim_world.app: each QP of the node posts what it can now. */
void plan_load_app(void *ctx, struct sim_node *node);
/* plan_all_posted says whether all is posted; of what is withheld only if `withheld`. */
bool plan_all_posted(const struct run *run, bool withheld);

/* plan_set_paths and plan_set_queues make the network; plan_faults draws what happens to it. */
void plan_set_paths(struct run *run, uint32_t src, uint32_t dst);
void plan_set_queues(struct run *run);
void plan_faults(struct run *run);
/* plan_end uses keys that are over, ends all QPs and looks for lost receives. */
void plan_end(struct run *run);

#endif
