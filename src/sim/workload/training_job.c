/* SPDX-License-Identifier: BSD-2-Clause */
/* training_job.c - checks a job and puts its ranks on hosts. */

#include <stdio.h>
#include <stdlib.h>

#include "sim/workload/workload_state.h"

const char *ms_job_placement_name(enum ms_job_placement placement)
{
	static const char *const names[MS_JOB_PLACEMENTS] = {"contiguous", "strided", "random"};

	return (unsigned)placement < MS_JOB_PLACEMENTS ? names[placement] : "?";
}

const char *ms_job_dp_name(enum ms_job_dp mode)
{
	static const char *const names[MS_DP_MODES] = {"all-reduce", "sharded"};

	return (unsigned)mode < MS_DP_MODES ? names[mode] : "?";
}

uint32_t ms_job_ranks(const struct ms_job_cfg *c)
{
	return c->tp * c->pp * c->dp;
}

/* ---- what is allowed ---- */

static bool degrees_valid(const struct ms_job_cfg *c, char *why)
{
	uint64_t ranks = (uint64_t)c->tp * c->pp;

	if (c->tp == 0 || c->pp == 0 || c->dp == 0 || c->ep == 0)
		return ms_refuse(why, "tp = %u, pp = %u, dp = %u, ep = %u: each is 1 or more",
				 c->tp, c->pp, c->dp, c->ep);
	if (ranks > MS_JOB_RANKS_MAX || ranks * c->dp > MS_JOB_RANKS_MAX)
		return ms_refuse(why, "tp = %u, pp = %u, dp = %u: at most %u ranks in all", c->tp,
				 c->pp, c->dp, MS_JOB_RANKS_MAX);
	if (c->dp % c->ep != 0)
		return ms_refuse(why, "ep = %u: a divisor of dp = %u", c->ep, c->dp);
	return true;
}

static bool place_valid(const struct ms_job_cfg *c, char *why)
{
	uint32_t ranks = ms_job_ranks(c);
	uint32_t stride = c->placement == MS_JOB_STRIDED ? c->stride : 1;
	uint64_t last = c->first + (uint64_t)(ranks - 1) * stride;

	if (stride == 0)
		return ms_refuse(why, "stride = 0: 1 or more");
	if (last >= c->hosts)
		return ms_refuse(
			why,
			"tp x pp x dp = %u x %u x %u = %u ranks from first = %u on, stride %u: the "
			"last is on host %llu; hosts are 0 to %u",
			c->tp, c->pp, c->dp, ranks, c->first, stride, (unsigned long long)last,
			c->hosts - 1);
	return true;
}

bool ms_job_check(const struct ms_job_cfg *c, char *why)
{
	if (!degrees_valid(c, why) || !place_valid(c, why))
		return false;
	if (c->steps == 0 || c->steps > MS_JOB_STEPS_MAX)
		return ms_refuse(why, "steps = %u: 1 to %u", c->steps, MS_JOB_STEPS_MAX);
	if (c->microbatches == 0 || c->microbatches > 4096)
		return ms_refuse(why, "microbatches = %u: 1 to 4096", c->microbatches);
	if (c->buckets == 0 || c->buckets > 1024)
		return ms_refuse(why, "buckets = %u: 1 to 1024", c->buckets);
	if (c->ep_rounds == 0 || c->ep_rounds > 1024)
		return ms_refuse(why, "ep_rounds = %u: 1 to 1024", c->ep_rounds);
	if ((unsigned)c->dp_mode >= MS_DP_MODES)
		return ms_refuse(why, "dp_mode = %u: all-reduce or sharded", (unsigned)c->dp_mode);
	if (!c->tp_network && c->tp > 1 && c->tp_bytes > 0 && c->tp_bit_s < 1000000)
		return ms_refuse(
			why,
			"tp_rate = %llu: at least 1M, where tp_bytes go inside a scale-up domain",
			(unsigned long long)c->tp_bit_s);
	return true;
}

/* ---- where ---- */

bool ms_job_place(const struct ms_job_cfg *c, uint32_t *host)
{
	uint32_t stride = c->placement == MS_JOB_STRIDED ? c->stride : 1, *order = NULL;

	if (c->placement == MS_JOB_RANDOM) {
		order = malloc(sizeof(*order) * c->hosts);
		if (!order)
			return false;
		ms_permutation_fill(order, NULL, c->hosts, c->placement_seed);
	}
	for (uint32_t r = 0; r < ms_job_ranks(c); r++) {
		uint32_t at = c->first + r * stride;

		host[r] = order ? order[at] : at;
	}
	free(order);
	return true;
}

/* ---- life ---- */

static bool build_job(struct ms_job *job, char *why)
{
	size_t marks = (size_t)job->ranks * job->cfg.steps;

	job->host = malloc(sizeof(*job->host) * job->ranks);
	job->mark = malloc(sizeof(*job->mark) * marks);
	job->saved = malloc(sizeof(*job->saved) * marks);
	job->graph = ms_graph_create(job->cfg.hosts);
	if (!job->host || !job->mark || !job->saved || !job->graph ||
	    !ms_job_place(&job->cfg, job->host) || !ms_job_build(job))
		return ms_refuse(
			why,
			"no memory for a job of %u ranks and %u steps, or it takes more than %u "
			"computes and transfers, or messages above 4G",
			job->ranks, job->cfg.steps, MS_NODES_MAX);
	return ms_graph_seal(job->graph, why, NULL);
}

struct ms_job *ms_job_create(const struct ms_job_cfg *cfg, char *why)
{
	struct ms_job *job;

	if (!ms_job_check(cfg, why))
		return NULL;
	job = calloc(1, sizeof(*job));
	if (!job) {
		ms_refuse(why, "no memory for a job");
		return NULL;
	}
	job->cfg = *cfg;
	job->ranks = ms_job_ranks(cfg);
	if (build_job(job, why))
		return job;
	ms_job_destroy(job);
	return NULL;
}

void ms_job_destroy(struct ms_job *job)
{
	if (!job)
		return;
	ms_graph_destroy(job->graph);
	free(job->host);
	free(job->mark);
	free(job->saved);
	free(job);
}
