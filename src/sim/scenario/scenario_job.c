/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_job.c - each [[job]] becomes a part of the run's workload, behind the [[workload]]s. */
#include <stdlib.h>

#include "sim/scenario/scenario_build.h"

void ms_scenario_job_defaults(struct ms_scenario_job *j)
{
	j->transport = MS_TRANSPORTS;
	j->cfg = (struct ms_job_cfg){
		.tp = 1,
		.pp = 1,
		.dp = 1,
		.ep = 1,
		.stride = 1,
		.steps = 10,
		.microbatches = 1,
		.forward_ns = 1000000,
		.backward_ns = 2000000,
		.slowdown = MS_JOB_ONE / 10,
		.dp_bytes = UINT64_C(64) << 20,
		.buckets = 4,
		.overlap = true,
		.pp_bytes = UINT64_C(1) << 20,
		.ep_bytes = UINT64_C(64) << 10,
		.ep_rounds = 1,
		.tp_bit_s = UINT64_C(7200000000000),
	};
}

/* No two jobs have a host in common. */
static bool check_hosts_disjoint(const struct ms_scenario *s, uint32_t i)
{
	const struct ms_job *job = s->made[i];
	uint32_t *of = calloc(s->fabric.n_hosts, sizeof(*of)), other = 0, host = 0;

	if (!of)
		return ms_file_set_no_memory(s->error, s->name);
	for (uint32_t k = 0; k < i; k++)
		for (uint32_t r = 0; r < ms_job_ranks(&s->made[k]->cfg); r++)
			of[s->made[k]->host[r]] = k + 1;
	for (uint32_t r = 0; other == 0 && r < ms_job_ranks(&job->cfg); r++) {
		host = job->host[r];
		other = of[host];
	}
	free(of);
	if (other == 0)
		return true;
	return ms_scenario_refuse(
		s, s->job[i].line,
		"job: host %u is in the job of line %u too; expected other hosts, by "
		"first, stride or placement",
		host, s->job[other - 1].line);
}

static bool one_job(struct ms_scenario *s, uint32_t i)
{
	struct ms_scenario_job *j = &s->job[i];
	char why[MS_WHY_BYTES];

	j->cfg.hosts = s->fabric.n_hosts;
	j->cfg.placement = (enum ms_job_placement)j->placement;
	j->cfg.dp_mode = (enum ms_job_dp)j->dp_mode;
	j->cfg.placement_seed = s->head.seed;
	j->cfg.seed = j->seed ? j->seed : s->head.seed;
	s->made[i] = ms_job_create(&j->cfg, why);
	if (!s->made[i])
		return ms_scenario_refuse(s, j->line, "job: %s", why);
	s->run.workload[s->n_workloads + i] = (struct ms_workload_cfg){
		.kind = MS_GRAPH,
		.transport = (enum ms_transport)(j->transport < MS_TRANSPORTS ? j->transport
									      : s->transport.kind),
		.hosts = s->fabric.n_hosts,
		.hosts_per_t0 = s->fabric.cfg.hosts_per_t0,
		.start_ns = j->start_ns,
		.graph = s->made[i]->graph,
	};
	return check_hosts_disjoint(s, i);
}

bool ms_scenario_jobs(struct ms_scenario *s)
{
	if (s->n_workloads + s->n_jobs > MS_PARTS_MAX)
		return ms_scenario_refuse(s, s->job[s->n_jobs - 1].line,
					  "job: %u workloads and jobs; expected at most %u in all",
					  s->n_workloads + s->n_jobs, MS_PARTS_MAX);
	for (uint32_t i = 0; i < s->n_jobs; i++)
		if (!one_job(s, i))
			return false;
	s->run.n_workloads = s->n_workloads + s->n_jobs;
	return true;
}
