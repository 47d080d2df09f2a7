/* SPDX-License-Identifier: BSD-2-Clause */
/* job_state.h - what a job consists of; for job*.c only. */
#ifndef SOFTMRC_SIM_WORKLOAD_JOB_STATE_H
#define SOFTMRC_SIM_WORKLOAD_JOB_STATE_H

#include "sim/workload/training_job.h"

/* Which connection of two hosts carries what. */
enum job_channel {
	JOB_DP,
	JOB_PP,
	JOB_TP,
	JOB_EP,
};

struct ms_job {
	struct ms_job_cfg cfg;
	uint32_t ranks;
	uint32_t *host; /* of each rank */
	struct ms_graph *graph;
	uint32_t *mark;	 /* of each step and rank: the node with which the step is over */
	uint32_t *saved; /* of each step and rank: its checkpoint; MS_NODE_NONE: none */
};

/* What a compute is, for its random part. */
enum job_op {
	JOB_FORWARD,
	JOB_BACKWARD,
	JOB_OPTIMIZER,
};

/* ms_job_time returns how long a compute of `ns` takes a rank; `n` tells those of a step apart. */
uint64_t ms_job_time(const struct ms_job_cfg *cfg, uint32_t rank, uint32_t step, enum job_op op,
		     uint32_t n, uint64_t ns);
/* ms_job_place fills in the host of each rank; false: no memory. */
bool ms_job_place(const struct ms_job_cfg *cfg, uint32_t *host);
/* ms_job_build adds all steps to the job's graph; false: no memory, or a size out of range. */
bool ms_job_build(struct ms_job *job);

static inline uint32_t ms_job_rank(const struct ms_job_cfg *c, uint32_t p, uint32_t d, uint32_t t)
{
	return (p * c->dp + d) * c->tp + t;
}

#endif
