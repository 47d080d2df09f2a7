/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * training_job.h - a training job as a graph: what its ranks compute and send, step after step.
 *
 * Ranks. There are tp * pp * dp of them, each a GPU with its NIC, that is one host. Rank
 * (p * dp + d) * tp + t is member t of its tensor group, d of its data group, p of its pipeline;
 * expert groups are ep neighbours of a data group.
 *
 * A step. Each stage of the pipeline takes its microbatches forward and backward in the order
 * known as 1F1B: as many forward as there are stages behind it, then one forward and one backward
 * in turn. What a stage has computed goes to the next one (pp_bytes). Within a microbatch experts
 * exchange ep_bytes with each other member twice a round, forward and backward alike, and tensor
 * groups all-reduce tp_bytes, over the network or inside their scale-up domain. With the last
 * microbatch gradients come, in buckets; with `overlap` a bucket is reduced as soon as its part of
 * the backward pass is over, while the rest is computed. Then the optimizer runs. A sharded job
 * reduces and scatters, and gathers its parameters after the optimizer, before the forward pass
 * that needs them. Every so many steps it writes a checkpoint and computes nothing meanwhile.
 *
 * Time. Computes take what the configuration says and a random part on top, exponentially
 * distributed with a mean of `jitter` of it; ranks that are stragglers take longer by `slowdown`,
 * always. All of it follows from the seed, not from who asks first. A tensor group inside a
 * scale-up domain is as fast as its slowest member.
 */
#ifndef SOFTMRC_SIM_WORKLOAD_TRAINING_JOB_H
#define SOFTMRC_SIM_WORKLOAD_TRAINING_JOB_H

#include "sim/workload/graph.h"

#define MS_JOB_RANKS_MAX (UINT32_C(1) << 17)
#define MS_JOB_STEPS_MAX 10000u
/* Shares are kept in these parts, as in scenarios. */
#define MS_JOB_ONE 1000000u

enum ms_job_dp {
	MS_DP_ALL_REDUCE,
	MS_DP_SHARDED, /* reduce-scatter, optimizer, all-gather */
	MS_DP_MODES,
};

/* Where its ranks are. */
enum ms_job_placement {
	MS_JOB_CONTIGUOUS, /* rank r on host first + r */
	MS_JOB_STRIDED,	   /* rank r on host first + r * stride */
	MS_JOB_RANDOM,	   /* rank r on host first + r of a random order of all hosts */
	MS_JOB_PLACEMENTS,
};

struct ms_job_cfg {
	uint32_t hosts; /* of the fabric */
	uint32_t tp, pp, dp, ep;
	enum ms_job_placement placement;
	uint32_t first, stride;
	uint64_t placement_seed; /* jobs that share it do not meet */
	uint32_t steps, microbatches;
	uint64_t forward_ns, backward_ns; /* of one microbatch in one stage */
	uint64_t optimizer_ns;
	uint32_t jitter, stragglers, slowdown; /* of MS_JOB_ONE */
	enum ms_job_dp dp_mode;
	uint64_t dp_bytes; /* gradients of one rank */
	uint32_t buckets;
	bool overlap;
	uint64_t pp_bytes;
	uint64_t ep_bytes;
	uint32_t ep_rounds;
	uint64_t tp_bytes;
	bool tp_network;
	uint64_t tp_bit_s;	   /* of a GPU inside its scale-up domain */
	uint32_t checkpoint_every; /* steps; 0: never */
	uint64_t checkpoint_ns;
	uint64_t seed;
};

/* Not to be written but by ms_job_create. */
struct ms_job {
	struct ms_job_cfg cfg;
	uint32_t ranks;
	uint32_t *host;		/* of each rank */
	struct ms_graph *graph; /* sealed, of all hosts of the fabric */
	uint32_t *mark;		/* of each step and rank: the node with which the step is over */
	uint32_t *saved;	/* of each step and rank: its checkpoint; MS_NODE_NONE: none */
};

/* ms_job_ranks returns tp * pp * dp of a checked job. */
uint32_t ms_job_ranks(const struct ms_job_cfg *cfg);
/* ms_job_check says whether a job can be made so; else why (MS_WHY_BYTES) names the key, its value
 * and what is allowed. */
bool ms_job_check(const struct ms_job_cfg *cfg, char *why);
/* ms_job_create makes a job with its graph; allocates. NULL: why. */
struct ms_job *ms_job_create(const struct ms_job_cfg *cfg, char *why);
void ms_job_destroy(struct ms_job *job);
/* ms_job_placement_name returns the name of a placement, ms_job_dp_name of a mode. */
const char *ms_job_placement_name(enum ms_job_placement placement);
const char *ms_job_dp_name(enum ms_job_dp mode);

/* What came of a job, of the steps that all ranks have finished. */
struct ms_job_result {
	uint32_t steps;
	uint64_t step_ns[MS_JOB_STEPS_MAX]; /* in their order, checkpoints not counted */
	uint64_t end_ns;		    /* when the last of them was over */
	uint64_t p50_ns, p90_ns, p99_ns, p100_ns;
	uint64_t mean_ns;
	/*
	 * Of a mean step, beyond what it takes on a network that takes no time: communication that
	 * nothing is computed meanwhile.
	 */
	uint64_t exposed_ns;
	uint64_t compute_ns; /* of a mean step on a network that takes no time */
	uint64_t busy_ns;    /* of it, how long a mean rank computes; the rest is the bubble */
	uint32_t goodput; /* of MS_JOB_ONE: time on such a network over time, checkpoints counted */
};

/*
 * ms_job_measure fills in a result from the times of the graph's nodes. false: no memory. The
 * result is large: not for the stack.
 */
bool ms_job_measure(const struct ms_job *job, const struct ms_node_times *times, uint64_t start_ns,
		    struct ms_job_result *result);

#endif
