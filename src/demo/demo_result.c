/* SPDX-License-Identifier: BSD-2-Clause */
/* The outcome for machines: see demo_run.h. */
#include "demo/demo_run.h"
#include "lab/lab_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program where there is no memory: every value here is needed. */
static json_t *require_json(json_t *value)
{
	if (!value) {
		fprintf(stderr, "mrc demo: out of memory\n");
		exit(1);
	}
	return value;
}

/* Milliseconds with three digits behind the point; null where nothing was measured. */
static json_t *json_ms(uint64_t ns)
{
	uint64_t us = ns / 1000;

	return ns ? json_real((double)us / 1000) : json_null();
}

static json_t *time_json(uint64_t ns)
{
	uint64_t us = ns / 1000;

	return ns == DEMO_NEVER ? json_null() : json_real((double)us / 1000);
}

static json_t *times_json(const struct demo_times *t)
{
	return json_pack("{so so so so}", "found_ms", time_json(t->found_ns), "left_ms",
			 time_json(t->left_ns), "first_good_ms", time_json(t->first_good_ns),
			 "all_good_ms", time_json(t->all_good_ns));
}

static json_t *figure_json(const struct demo_figure *f)
{
	return json_pack("{sI so so so}", "steps", (json_int_t)f->n, "step_ms", json_ms(f->step_ns),
			 "allreduce_ms", json_ms(f->comm_ns), "max_ms", json_ms(f->max_ns));
}

static json_t *counters_json(const struct demo_counters *c)
{
	json_t *o = require_json(json_object());

#define DEMO_COUNTER_JSON(name) \
	json_object_set_new(o, #name, require_json(json_integer((json_int_t)c->name)));
	DEMO_COUNTERS(DEMO_COUNTER_JSON)
#undef DEMO_COUNTER_JSON
	return o;
}

static json_t *steps_json(const struct demo_run *run, const struct demo_report *r)
{
	json_t *list = require_json(json_array());

	for (size_t i = 0; i < r->n; i++) {
		const struct demo_step *s = &r->steps[i];
		double start_ms = ((double)s->start_ns - (double)run->start_ns) / 1e6;

		json_array_append_new(
			list,
			require_json(json_pack("{sf so so sf}", "start_ms", start_ms, "step_ms",
					       json_ms(s->end_ns - s->start_ns), "allreduce_ms",
					       json_ms(s->comm_ns), "loss", s->loss)));
	}
	return list;
}

static json_t *job_json(const struct demo_run *run, const struct demo_job *job, size_t steps,
			bool digests_agree, const char *error)
{
	const struct demo_report *r = &job->report;

	return require_json(json_pack(
		"{sb sI ss ss? sb so ss? so}", "finished", job->state == DEMO_JOB_DONE && r->ended,
		"steps", (json_int_t)steps, "transport", r->transport, "sha256",
		r->ended ? r->sha256 : NULL, "ranks_agree", digests_agree, "final_loss",
		r->ended ? json_real(r->final_loss) : json_null(), "error", error, "step_list",
		steps_json(run, r)));
}

static json_t *fabric_json(const struct demo_run *run)
{
	const struct ml_counters *f = &run->fabric;

	if (!run->cfg.stage || !run->cfg.stage->ops || !run->cfg.stage->ops->fabric)
		return json_null();
	return json_pack("{sI sI sI sI}", "packets", (json_int_t)f->packets, "marked",
			 (json_int_t)f->marked, "trimmed", (json_int_t)f->trimmed, "dropped",
			 (json_int_t)f->dropped);
}

/* Moves the members of `more` into `o`, and returns it. */
static json_t *merge_json(json_t *o, json_t *more)
{
	if (json_object_update(o, require_json(more)))
		require_json(NULL);
	json_decref(more);
	return o;
}

static json_t *run_json(const struct demo_run *run)
{
	json_t *late = json_pack("{so so}", "mean_ms", time_json(demo_lateness_mean(&run->late)),
				 "max_ms", time_json(run->late.max_ns));
	json_t *more = json_pack("{sf sf so so sI so}", "seconds",
				 (double)(run->end_ns - run->start_ns) / 1e9, "cpu_idle", run->idle,
				 "counters", counters_json(&run->sums.counters), "woken_late", late,
				 "socket_overruns", (json_int_t)run->sums.overruns, "fabric",
				 fabric_json(run));

	return merge_json(job_json(run, &run->job, run->job.report.n, run->digests_agree,
				   run->error[0] ? run->error : NULL),
			  more);
}

static json_t *tcp_json(const struct demo_run *run, const struct demo_outcome *out)
{
	const char *error = run->tcp.state == DEMO_JOB_FAILED ? run->tcp.error : NULL;

	if (!run->cfg.with_tcp)
		return json_null();
	return merge_json(job_json(run, &run->tcp, run->tcp_steps, run->tcp_digests_agree, error),
			  json_pack("{sI}", "steps_equal", (json_int_t)out->tcp_steps_equal));
}

static double since_start_s(const struct demo_run *run, uint64_t ns)
{
	return ns ? ((double)ns - (double)run->start_ns) / 1e9 : 0;
}

static json_t *targets_json(const struct demo_fault *f)
{
	json_t *list = require_json(json_array());

	for (uint32_t i = 0; i < f->targets; i++)
		json_array_append_new(list, require_json(json_string(f->target[i])));
	return list;
}

static json_t *fault_json(const struct demo_run *run, const struct demo_fault_figures *n,
			  uint32_t i)
{
	const struct demo_fault *f = &run->cfg.script->fault[i];
	const struct demo_fault_log *log = &run->fault[i];
	bool struck = log->phase != DEMO_PENDING;
	json_t *o = require_json(json_pack(
		"{ss ss so sb sf sf sb so so so so so sI sI so}", "kind", f->kind, "title",
		f->title, "targets", targets_json(f), "struck", struck, "strike_s",
		since_start_s(run, log->strike_ns), "clear_s", since_start_s(run, log->clear_ns),
		"cleared_by_time", log->by_time, "before", figure_json(&n->before), "during",
		figure_json(&n->during), "after", figure_json(&n->after), "expected_step_ms",
		json_ms(n->expect_ns), "times", struck ? times_json(&log->times) : json_null(),
		"data_packets_lost", (json_int_t)n->lost, "control_packets_lost",
		(json_int_t)n->lost_control, "counters", counters_json(&n->counters)));

	if (!run->cfg.with_tcp)
		return o;
	return merge_json(o, json_pack("{sb sI so so}", "tcp_can_feel", log->tcp_can_feel,
				       "tcp_connections_hit", (json_int_t)log->tcp_connections_hit,
				       "tcp_before", figure_json(&n->tcp_before), "tcp_during",
				       figure_json(&n->tcp_during)));
}

static json_t *config_json(const struct demo_run_cfg *cfg)
{
	const struct demo_stage *stage = cfg->stage;
	const struct demo_shape *shape = &stage->shape;
	char seed[24]; /* all 64 bits, which a JSON number need not hold */

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)cfg->seed);
	return json_pack("{ss sb ss sI sI sI sI sI sI ss}", "on", stage->name, "trims",
			 stage->trims, "tcp_setup", stage->tcp_text, "ranks",
			 (json_int_t)shape->ranks, "planes", (json_int_t)shape->planes, "paths",
			 (json_int_t)shape->paths, "pace_bps", (json_int_t)shape->pace_bps, "steps",
			 (json_int_t)cfg->script->steps, "vector_bytes",
			 (json_int_t)shape->vector_bytes, "seed", seed);
}

/* The fabric, where there is one. */
static json_t *shape_json(const struct demo_run *run)
{
	const struct ml_lab *lab = run->cfg.stage->lab;

	return require_json(lab ? ml_topology_json(ml_lab_topology(lab)) : json_null());
}

static json_t *checks_json(const struct demo_outcome *o)
{
	json_t *list = require_json(json_array());

	for (uint32_t i = 0; i < o->checks; i++)
		json_array_append_new(list, json_pack("{sb ss}", "pass", o->check[i].pass, "text",
						      o->check[i].text));
	return list;
}

json_t *demo_result_make(const struct demo_outcome *o, const struct demo_run *healthy,
			 const struct demo_run *faulty, double seconds)
{
	const struct demo_report *r = &healthy->job.report;
	json_t *faults = require_json(json_array());

	for (uint32_t i = 0; faulty->cfg.script && i < faulty->cfg.script->n; i++)
		json_array_append_new(faults, fault_json(faulty, &o->fault[i], i));
	return require_json(json_pack(
		"{ss ss sb so sf so so s{sI sI sf} so so so so}", "format", "softmrc-demo-1",
		"version", SOFTMRC_VERSION, "pass", o->pass, "checks", checks_json(o), "seconds",
		seconds, "config", config_json(&healthy->cfg), "fabric", shape_json(healthy),
		"text", "files", (json_int_t)r->files, "bytes", (json_int_t)r->bytes, "bigram_bits",
		r->bigram_bits, "fault_free", run_json(healthy), "with_faults",
		faulty->cfg.script ? run_json(faulty) : json_null(), "tcp", tcp_json(faulty, o),
		"faults", faults));
}

/*
 * The name under which the result is written first, so that it is there as a whole or not at all.
 */
static char *draft_name(const char *path)
{
	char *draft = NULL;

	if (asprintf(&draft, "%s.new", path) < 0) {
		fprintf(stderr, "mrc demo: out of memory\n");
		exit(1);
	}
	return draft;
}

static int report_write_error(const char *path)
{
	fprintf(stderr, "mrc demo: --out %s: %s\n", path, strerror(errno));
	return -1;
}

int demo_result_check(const char *path)
{
	char *draft = draft_name(path);
	FILE *f = fopen(draft, "we");
	int rc = f ? 0 : report_write_error(path);

	if (f) {
		fclose(f);
		remove(draft);
	}
	free(draft);
	return rc;
}

int demo_result_write(const json_t *result, const char *path)
{
	char *draft = draft_name(path);
	int rc = 0;

	if (json_dump_file(result, draft, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) ||
	    rename(draft, path)) {
		rc = report_write_error(path);
		remove(draft);
	}
	free(draft);
	return rc;
}
