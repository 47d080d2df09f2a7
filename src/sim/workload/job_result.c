/* SPDX-License-Identifier: BSD-2-Clause */
/* job_result.c - how long the steps of a job took, and how much of that its network cost. */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/workload_state.h"

/* When the last rank was over with a node of a step; UINT64_MAX: not all are. */
static uint64_t last_of(const struct ms_job *job, const struct ms_node_times *t,
			const uint32_t *node, uint32_t step)
{
	uint64_t last = 0;

	for (uint32_t r = 0; r < job->ranks; r++) {
		uint32_t i = node[(size_t)step * job->ranks + r];
		uint64_t end = i == MS_NODE_NONE ? 0 : t[i].end_ns;

		last = end > last ? end : last;
	}
	return last;
}

/* The steps' times one after the other; returns how many there are, and when the last was over. */
static uint32_t take_steps(const struct ms_job *job, const struct ms_node_times *t,
			   uint64_t start_ns, uint64_t *step_ns, uint64_t *end_ns)
{
	uint64_t from = start_ns;
	uint32_t step = 0;

	for (; step < job->cfg.steps; step++) {
		uint64_t end = last_of(job, t, job->mark, step), saved;

		if (end == UINT64_MAX)
			break;
		step_ns[step] = end > from ? end - from : 0;
		*end_ns = end;
		saved = last_of(job, t, job->saved, step);
		from = saved != UINT64_MAX && saved > end ? saved : end;
	}
	return step;
}

/* Time of all computes of the steps that are over, of a mean rank and step. */
static uint64_t busy_share(const struct ms_job *job, uint32_t steps)
{
	const struct ms_graph *g = job->graph;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		const struct ms_node *n = &g->node[i];

		if (n->kind == MS_COMPUTE && n->worker != MS_STREAM_NONE)
			sum += n->amount;
	}
	for (uint32_t s = 0; s < job->cfg.steps; s++)
		for (uint32_t r = 0; r < job->ranks; r++)
			if (job->saved[(size_t)s * job->ranks + r] != MS_NODE_NONE)
				sum -= job->cfg.checkpoint_ns;
	/* All steps are alike but for what is random in them. */
	return steps > 0 ? sum / job->ranks / job->cfg.steps : 0;
}

static void set_percentiles(struct ms_job_result *r, uint64_t *sorted)
{
	uint64_t sum = 0;

	memcpy(sorted, r->step_ns, r->steps * sizeof(*sorted));
	ms_sort(sorted, r->steps);
	for (uint32_t i = 0; i < r->steps; i++)
		sum += sorted[i];
	r->p50_ns = ms_percentile(sorted, r->steps, 500);
	r->p90_ns = ms_percentile(sorted, r->steps, 900);
	r->p99_ns = ms_percentile(sorted, r->steps, 990);
	r->p100_ns = sorted[r->steps - 1];
	r->mean_ns = sum / r->steps;
}

static bool compare_to_free(const struct ms_job *job, uint64_t start_ns, uint64_t *scratch,
			    struct ms_job_result *r)
{
	struct ms_graph_exec *free_play = ms_ideal_run(job->graph, start_ns, ms_ideal_free, NULL);
	uint64_t end = 0, sum = 0;

	if (!free_play)
		return false;
	take_steps(job, free_play->times, start_ns, scratch, &end);
	ms_graph_exec_destroy(free_play);
	for (uint32_t i = 0; i < r->steps; i++)
		sum += scratch[i];
	r->compute_ns = sum / r->steps;
	r->exposed_ns = r->mean_ns > r->compute_ns ? r->mean_ns - r->compute_ns : 0;
	if (r->end_ns > start_ns)
		r->goodput =
			(uint32_t)((double)sum / (double)(r->end_ns - start_ns) * MS_JOB_ONE + 0.5);
	return true;
}

bool ms_job_measure(const struct ms_job *job, const struct ms_node_times *times, uint64_t start_ns,
		    struct ms_job_result *r)
{
	uint64_t *scratch = malloc(sizeof(*scratch) * MS_JOB_STEPS_MAX);
	bool ok = scratch != NULL;

	memset(r, 0, sizeof(*r));
	if (ok)
		r->steps = take_steps(job, times, start_ns, r->step_ns, &r->end_ns);
	if (ok && r->steps > 0) {
		set_percentiles(r, scratch);
		r->busy_ns = busy_share(job, r->steps);
		ok = compare_to_free(job, start_ns, scratch, r);
	}
	free(scratch);
	return ok;
}
