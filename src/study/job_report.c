/* SPDX-License-Identifier: BSD-2-Clause */
/* What came of training jobs: see study.h. */
#include "study/study.h"

#include "sim/mrc/mrc_nic.h"
#include "ui/text.h"

#include <stdlib.h>

#define US_NS 1000.0

static json_t *degrees_json(const struct ms_job_cfg *c)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:s,s:s}", "ranks", (json_int_t)ms_job_ranks(c),
			 "tp", (json_int_t)c->tp, "pp", (json_int_t)c->pp, "dp", (json_int_t)c->dp,
			 "ep", (json_int_t)c->ep, "placement", ms_job_placement_name(c->placement),
			 "dp_mode", ms_job_dp_name(c->dp_mode));
}

static json_t *times_json(const struct ms_job_result *r)
{
	json_t *steps = json_array();

	for (uint32_t i = 0; i < r->steps; i++)
		json_array_append_new(steps, json_real((double)r->step_ns[i] / US_NS));
	return json_pack("{s:I,s:{s:f,s:f,s:f,s:f,s:f},s:f,s:f,s:f,s:f,s:o}", "steps",
			 (json_int_t)r->steps, "step_us", "p50", (double)r->p50_ns / US_NS, "p90",
			 (double)r->p90_ns / US_NS, "p99", (double)r->p99_ns / US_NS, "p100",
			 (double)r->p100_ns / US_NS, "mean", (double)r->mean_ns / US_NS,
			 "compute_us", (double)r->compute_ns / US_NS, "busy_us",
			 (double)r->busy_ns / US_NS, "exposed_us", (double)r->exposed_ns / US_NS,
			 "goodput", (double)r->goodput / MS_JOB_ONE, "steps_us", steps);
}

json_t *sim_job_json(const struct ms_scenario *s, uint32_t i, struct ms_run *run)
{
	struct ms_graph_exec *play = ms_nics_graph_exec(run->nics, s->n_workloads + i);
	struct ms_job_result *r = malloc(sizeof(*r));
	json_t *all = NULL, *times;

	if (r && play && ms_job_measure(s->made[i], play->times, s->job[i].start_ns, r)) {
		all = degrees_json(&s->made[i]->cfg);
		times = times_json(r);
		json_object_update(all, times);
		json_decref(times);
	}
	free(r);
	return all;
}

/* ---- for eyes ---- */

static void add_job(struct ui_table *t, size_t row, const json_t *job)
{
	static const char *const columns[] = {"step_us.p50",  "step_us.p90", "step_us.p99",
					      "step_us.p100", "exposed_us",  "compute_us"};

	ui_table_cell(t, row, 0, "%.0f", sim_number_at(job, "ranks"));
	ui_table_cell(t, row, 1, "%.0f x %.0f x %.0f, %.0f", sim_number_at(job, "tp"),
		      sim_number_at(job, "pp"), sim_number_at(job, "dp"), sim_number_at(job, "ep"));
	ui_table_cell(t, row, 2, "%s", json_string_value(json_object_get(job, "placement")));
	ui_table_cell(t, row, 3, "%.0f", sim_number_at(job, "steps"));
	for (size_t i = 0; i < MS_COUNT(columns); i++)
		sim_time_cell(t, row, 4 + i, sim_number_at(job, columns[i]) * US_NS);
	ui_table_cell(t, row, 10, "%.2f %%", 100 * sim_number_at(job, "goodput"));
}

void sim_jobs_text(const json_t *result, struct ui_text *out)
{
	const json_t *jobs = json_object_get(result, "jobs");
	struct ui_table table = {0};

	if (json_array_size(jobs) == 0)
		return;
	ui_table_head(&table, "ranks|tp x pp x dp, ep|placement|steps|step "
			      "p50|p90|p99|p100|exposed|compute|goodput");
	for (size_t i = 0; i < json_array_size(jobs); i++)
		add_job(&table, i + 1, json_array_get(jobs, i));
	ui_table_render(&table, out);
}
