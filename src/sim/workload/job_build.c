/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job_build.c - the steps of a job as nodes of its graph.
 *
 * All ranks of a stage do the same in the same order, so a stage is built operation by operation
 * for all of them: `at` is the node at which each rank has come. An operation is some parts of
 * computing with exchanges of experts between them. What stages send to each other is added when
 * all of them are built, since a stage waits for the one before it and for the one behind.
 */
#include <stdlib.h>

#include "base/prng.h"
#include "sim/kernel/random.h"
#include "sim/workload/workload_state.h"

/* Which connection of two hosts carries what. */
enum job_channel {
	JOB_DP,
	JOB_PP,
	JOB_TP,
	JOB_EP,
};

/* What a compute is, for its random part. */
enum job_op {
	JOB_FORWARD,
	JOB_BACKWARD,
	JOB_OPTIMIZER,
};

struct build {
	struct ms_job *job;
	const struct ms_job_cfg *c;
	struct ms_graph *g;
	uint32_t step;
	uint32_t *at;		 /* of each rank: what it did last */
	uint32_t *enter, *exit;	 /* of each rank and operation: its first and its last node */
	uint32_t *ready;	 /* of each rank and bucket: its gradients are there */
	uint32_t *gathered;	 /* of each rank and bucket: parameters are there */
	uint32_t *optimized;	 /* of each rank */
	uint32_t *member, *node; /* scratch for groups */
};

/* Operations of a rank in a step: forward of each microbatch, then backward of each. */
static size_t op_of(const struct ms_job_cfg *c, uint32_t rank, enum job_op op, uint32_t i)
{
	return ((size_t)rank * 2 + (op == JOB_BACKWARD)) * c->microbatches + i;
}

static size_t bucket_of(const struct ms_job_cfg *c, uint32_t rank, uint32_t b)
{
	return (size_t)rank * c->buckets + b;
}

/*
 * ---- times ----
 *
 * Jitter and stragglers come on top of the configured time. The random part follows from seed,
 * rank, step and operation, so the order of asking does not matter.
 */

/* One rank alone. REQ(sim.same-bits) */
static uint64_t own_time(const struct ms_job_cfg *c, uint32_t rank, uint32_t step, enum job_op op,
			 uint32_t n, uint64_t ns)
{
	uint64_t who = ms_mix(c->seed ^ ms_mix(rank + UINT64_C(1)));
	uint64_t what = (uint64_t)step << 34 | (uint64_t)op << 32 | n;
	struct mb_prng r;

	if (c->stragglers > 0 && (who >> 32) * MS_JOB_ONE >> 32 < c->stragglers)
		ns += ns * c->slowdown / MS_JOB_ONE;
	if (c->jitter == 0)
		return ns;
	mb_prng_init(&r, ms_mix(who + what));
	return ns + ms_exponential(&r, ns * c->jitter / MS_JOB_ONE);
}

/* How long a compute of `ns` takes a rank; `n` tells those of a step apart. */
static uint64_t job_time(const struct ms_job_cfg *c, uint32_t rank, uint32_t step, enum job_op op,
			 uint32_t n, uint64_t ns)
{
	uint32_t first = rank - rank % c->tp;
	uint64_t longest = 0;

	if (c->tp_network)
		return own_time(c, rank, step, op, n, ns);
	for (uint32_t t = 0; t < c->tp; t++) {
		uint64_t own = own_time(c, first + t, step, op, n, ns);

		longest = own > longest ? own : longest;
	}
	return longest;
}

/* ---- groups ---- */

/* The ranks of a group, `apart` from each other. */
struct group {
	uint32_t first, n, apart;
};

/* Adds a collective of a group: each member enters with its `at`, and has come to its leave. */
static bool add_group_collective(struct build *b, const struct group *g,
				 enum ms_collective_kind kind, uint64_t bytes,
				 enum job_channel channel)
{
	const struct ms_collective c = {.kind = kind,
					.member = b->member,
					.n = g->n,
					.bytes = bytes,
					.channel = (uint16_t)channel};

	for (uint32_t i = 0; i < g->n; i++) {
		b->member[i] = b->job->host[g->first + i * g->apart];
		b->node[i] = b->at[g->first + i * g->apart];
	}
	if (!ms_collective_add(b->g, &c, b->node, b->node))
		return false;
	for (uint32_t i = 0; i < g->n; i++)
		b->at[g->first + i * g->apart] = b->node[i];
	return true;
}

static bool has_experts(const struct ms_job_cfg *c)
{
	return c->ep > 1 && c->ep_bytes > 0;
}

static bool exchange_activations(struct build *b, uint32_t stage)
{
	const struct ms_job_cfg *c = b->c;

	for (uint32_t d = 0; d < c->dp; d += c->ep)
		for (uint32_t t = 0; t < c->tp; t++) {
			const struct group g = {ms_job_rank(c, stage, d, t), c->ep, c->tp};

			if (!add_group_collective(b, &g, MS_COLL_ALL_TO_ALL, c->ep_bytes, JOB_EP))
				return false;
		}
	return true;
}

static bool reduce_tensors(struct build *b, uint32_t stage)
{
	const struct ms_job_cfg *c = b->c;

	for (uint32_t d = 0; d < c->dp; d++) {
		const struct group g = {ms_job_rank(c, stage, d, 0), c->tp, 1};

		if (!add_group_collective(b, &g, MS_COLL_ALL_REDUCE, c->tp_bytes, JOB_TP))
			return false;
	}
	return true;
}

/* A tensor group's all-reduce inside its scale-up domain: 2(N-1)/N of the bytes. */
static uint64_t scale_up_ns(const struct ms_job_cfg *c)
{
	uint64_t bytes = 2 * c->tp_bytes / c->tp * (c->tp - 1);

	if (c->tp == 1 || c->tp_bytes == 0 || c->tp_network)
		return 0;
	return bytes * 8 * 1000 / (c->tp_bit_s / 1000000);
}

/* ---- operations ---- */

/* In how many parts an operation is computed. */
static uint32_t parts_of(const struct ms_job_cfg *c, bool buckets)
{
	if (has_experts(c))
		return 2 * c->ep_rounds;
	return buckets && c->overlap ? c->buckets : 1;
}

/* Lets a part of the first operation of a step wait for the parameters that it needs. */
static bool need_gathered(struct build *b, uint32_t rank, uint32_t part, uint32_t parts)
{
	const struct ms_job_cfg *c = b->c;
	uint32_t last = c->overlap ? c->buckets * part / parts : c->buckets - 1;

	return ms_graph_add_dependency(b->g, b->at[rank], b->gathered[bucket_of(c, rank, last)],
				       MS_SENT);
}

/*
 * Notes which buckets are ready with a part of the last operation of a step; without overlap all
 * are with its end, which is given as the part behind the last.
 */
static void note_ready(struct build *b, uint32_t rank, uint32_t part, uint32_t parts)
{
	const struct ms_job_cfg *c = b->c;

	for (uint32_t k = 0; k < c->buckets; k++) {
		uint32_t with = ((k + 1) * parts + c->buckets - 1) / c->buckets - 1;

		if ((c->overlap ? with : parts) == part)
			b->ready[bucket_of(c, rank, k)] = b->at[rank];
	}
}

struct operation {
	enum job_op op;
	uint32_t i; /* microbatch */
	uint32_t parts;
	bool first, last; /* of the step: parameters come, gradients go */
};

static bool compute_part(struct build *b, uint32_t rank, const struct operation *o, uint32_t part)
{
	const struct ms_job_cfg *c = b->c;
	uint64_t ns = job_time(c, rank, b->step, o->op, o->i,
			       o->op == JOB_FORWARD ? c->forward_ns : c->backward_ns) +
		      scale_up_ns(c);
	uint64_t from = ns * part / o->parts, to = ns * (part + 1) / o->parts;
	uint32_t node = ms_graph_compute(b->g, b->job->host[rank], 0, to - from);

	if (node == MS_NODE_NONE || !ms_graph_add_dependency(b->g, node, b->at[rank], MS_SENT))
		return false;
	b->at[rank] = node;
	if (part == 0)
		b->enter[op_of(c, rank, o->op, o->i)] = node;
	if (o->first && !need_gathered(b, rank, part, o->parts))
		return false;
	return true;
}

static bool add_operation(struct build *b, uint32_t stage, const struct operation *o)
{
	const struct ms_job_cfg *c = b->c;
	uint32_t first = ms_job_rank(c, stage, 0, 0), n = c->dp * c->tp;

	for (uint32_t part = 0; part < o->parts; part++) {
		for (uint32_t r = first; r < first + n; r++)
			if (!compute_part(b, r, o, part))
				return false;
		if (has_experts(c) && !exchange_activations(b, stage))
			return false;
		for (uint32_t r = first; o->last && r < first + n; r++)
			note_ready(b, r, part, o->parts);
	}
	if (c->tp > 1 && c->tp_bytes > 0 && c->tp_network && !reduce_tensors(b, stage))
		return false;
	for (uint32_t r = first; r < first + n; r++) {
		b->exit[op_of(c, r, o->op, o->i)] = b->at[r];
		if (o->last)
			note_ready(b, r, o->parts, o->parts);
	}
	return true;
}

/* All microbatches of a stage, in the order of 1F1B. */
static bool run_stage(struct build *b, uint32_t stage)
{
	const struct ms_job_cfg *c = b->c;
	uint32_t ahead = c->pp - 1 - stage, m = c->microbatches, forward = 0;
	bool gathers = c->dp_mode == MS_DP_SHARDED && b->step > 0;

	for (uint32_t backward = 0; backward < m; backward++) {
		struct operation o = {.op = JOB_BACKWARD, .i = backward, .last = backward + 1 == m};

		for (; forward < m && forward <= backward + ahead; forward++) {
			bool first = forward == 0 && gathers;
			const struct operation f = {JOB_FORWARD, forward, parts_of(c, first), first,
						    false};

			if (!add_operation(b, stage, &f))
				return false;
		}
		o.parts = parts_of(c, o.last);
		if (!add_operation(b, stage, &o))
			return false;
	}
	return true;
}

/* ---- between stages ---- */

static bool hand_on(struct build *b, uint32_t from, uint32_t to, enum job_op op, uint32_t i)
{
	uint32_t node = ms_graph_transfer(b->g, b->job->host[from], b->job->host[to], JOB_PP,
					  b->c->pp_bytes);

	return node != MS_NODE_NONE &&
	       ms_graph_add_dependency(b->g, node, b->exit[op_of(b->c, from, op, i)], MS_SENT) &&
	       ms_graph_add_dependency(b->g, b->enter[op_of(b->c, to, op, i)], node, MS_RECEIVED);
}

static bool join_stages(struct build *b)
{
	const struct ms_job_cfg *c = b->c;
	uint32_t n = c->dp * c->tp;

	for (uint32_t r = 0; r + n < b->job->ranks; r++)
		for (uint32_t i = 0; i < c->microbatches; i++)
			if (!hand_on(b, r, r + n, JOB_FORWARD, i) ||
			    !hand_on(b, r + n, r, JOB_BACKWARD, i))
				return false;
	return true;
}

/* ---- gradients and parameters ---- */

/* Lets each rank of a data group come to where it was and where `ready` says. */
static bool reduce_gradients(struct build *b, const struct group *g, uint32_t bucket, bool alone)
{
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t r = g->first + i * g->apart, on = b->ready[bucket_of(b->c, r, bucket)];
		uint32_t node = on;

		if (!alone) {
			node = ms_graph_compute(b->g, b->job->host[r], MS_STREAM_NONE, 0);
			if (node == MS_NODE_NONE ||
			    !ms_graph_add_dependency(b->g, node, on, MS_SENT) ||
			    !ms_graph_add_dependency(b->g, node, b->at[r], MS_SENT))
				return false;
		}
		b->at[r] = node;
	}
	return true;
}

/* Buckets go one after the other, each when it is ready. */
static bool reduce_group(struct build *b, const struct group *g)
{
	const struct ms_job_cfg *c = b->c;
	uint64_t bytes = (c->dp_bytes + c->buckets - 1) / c->buckets;

	for (uint32_t k = 0; k < c->buckets; k++)
		if (!reduce_gradients(b, g, k, k == 0) ||
		    !add_group_collective(b, g,
					  c->dp_mode == MS_DP_SHARDED ? MS_COLL_REDUCE_SCATTER
								      : MS_COLL_ALL_REDUCE,
					  bytes, JOB_DP))
			return false;
	return true;
}

static bool add_optimizer(struct build *b, uint32_t rank)
{
	const struct ms_job_cfg *c = b->c;
	uint32_t node =
		ms_graph_compute(b->g, b->job->host[rank], 0,
				 job_time(c, rank, b->step, JOB_OPTIMIZER, 0, c->optimizer_ns));

	if (node == MS_NODE_NONE || !ms_graph_add_dependency(b->g, node, b->at[rank], MS_SENT) ||
	    !ms_graph_add_dependency(b->g, node,
				     b->exit[op_of(c, rank, JOB_BACKWARD, c->microbatches - 1)],
				     MS_SENT))
		return false;
	b->at[rank] = b->optimized[rank] = node;
	return true;
}

static bool gather_group(struct build *b, const struct group *g)
{
	const struct ms_job_cfg *c = b->c;
	uint64_t bytes = (c->dp_bytes + c->buckets - 1) / c->buckets;

	for (uint32_t k = 0; k < c->buckets; k++) {
		if (!add_group_collective(b, g, MS_COLL_ALL_GATHER, bytes, JOB_DP))
			return false;
		for (uint32_t i = 0; i < g->n; i++) {
			uint32_t r = g->first + i * g->apart;

			b->gathered[bucket_of(c, r, k)] = b->at[r];
		}
	}
	return true;
}

static bool update_group(struct build *b, const struct group *g)
{
	if (!reduce_group(b, g))
		return false;
	for (uint32_t i = 0; i < g->n; i++)
		if (!add_optimizer(b, g->first + i * g->apart))
			return false;
	return true;
}

static bool add_weight_update(struct build *b)
{
	const struct ms_job_cfg *c = b->c;

	for (uint32_t p = 0; p < c->pp; p++)
		for (uint32_t t = 0; t < c->tp; t++) {
			const struct group g = {ms_job_rank(c, p, 0, t), c->dp, c->tp};

			if (!update_group(b, &g) ||
			    (c->dp_mode == MS_DP_SHARDED && !gather_group(b, &g)))
				return false;
		}
	return true;
}

/* ---- steps ---- */

/* The end of a step: its mark, and a checkpoint where one is due. */
static bool end_step(struct build *b)
{
	const struct ms_job_cfg *c = b->c;
	bool saves = c->checkpoint_every > 0 && (b->step + 1) % c->checkpoint_every == 0;

	for (uint32_t r = 0; r < b->job->ranks; r++) {
		size_t at = (size_t)b->step * b->job->ranks + r;
		uint32_t node = MS_NODE_NONE;

		b->job->mark[at] = b->at[r];
		if (saves) {
			node = ms_graph_compute(b->g, b->job->host[r], 0, c->checkpoint_ns);
			if (node == MS_NODE_NONE ||
			    !ms_graph_add_dependency(b->g, node, b->at[r], MS_SENT))
				return false;
		}
		b->job->saved[at] = node;
		/* A sharded job goes on while its parameters come: parts wait for theirs. */
		b->at[r] = saves ? node : b->optimized[r];
	}
	return true;
}

static bool one_step(struct build *b)
{
	for (uint32_t p = 0; p < b->c->pp; p++)
		if (!run_stage(b, p))
			return false;
	return join_stages(b) && add_weight_update(b) && end_step(b);
}

static bool allocate_build(struct build *b)
{
	size_t ranks = b->job->ranks, ops = 2 * (size_t)b->c->microbatches;

	b->at = malloc(ranks * sizeof(*b->at));
	b->enter = malloc(ranks * ops * sizeof(*b->enter));
	b->exit = malloc(ranks * ops * sizeof(*b->exit));
	b->ready = malloc(ranks * b->c->buckets * sizeof(*b->ready));
	b->gathered = malloc(ranks * b->c->buckets * sizeof(*b->gathered));
	b->optimized = malloc(ranks * sizeof(*b->optimized));
	b->member = malloc(ranks * sizeof(*b->member));
	b->node = malloc(ranks * sizeof(*b->node));
	for (size_t i = 0; b->at && i < ranks; i++)
		b->at[i] = MS_NODE_NONE;
	return b->at && b->enter && b->exit && b->ready && b->gathered && b->optimized &&
	       b->member && b->node;
}

/* REQ(sim.job.theory) */
bool ms_job_build(struct ms_job *job)
{
	struct build b = {.job = job, .c = &job->cfg, .g = job->graph};
	bool ok = allocate_build(&b);

	for (; ok && b.step < b.c->steps; b.step++)
		ok = one_step(&b);
	free(b.at);
	free(b.enter);
	free(b.exit);
	free(b.ready);
	free(b.gathered);
	free(b.optimized);
	free(b.member);
	free(b.node);
	return ok;
}
