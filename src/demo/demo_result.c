/* SPDX-License-Identifier: BSD-2-Clause */
/* The outcome for machines: see result.h. */
#include "demo/demo_result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096

/* Ends the program where there is no memory: every value here is needed. */
static json_t *require_json(json_t *value)
{
	if (!value) {
		fprintf(stderr, "mrc demo: out of memory\n");
		exit(1);
	}
	return value;
}

static void set_key(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, require_json(value))) {
		fprintf(stderr, "mrc demo: out of memory\n");
		exit(1);
	}
}

static json_t *json_u64(uint64_t n)
{
	return json_integer((json_int_t)n);
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
	json_t *o = require_json(json_object());

	set_key(o, "found_ms", time_json(t->found_ns));
	set_key(o, "left_ms", time_json(t->left_ns));
	set_key(o, "first_good_ms", time_json(t->first_good_ns));
	set_key(o, "all_good_ms", time_json(t->all_good_ns));
	return o;
}

static json_t *lateness_json(const struct demo_lateness *l)
{
	json_t *o = require_json(json_object());

	set_key(o, "mean_ms", time_json(demo_lateness_mean(l)));
	set_key(o, "max_ms", time_json(l->max_ns));
	return o;
}

static json_t *figure_json(const struct demo_figure *f)
{
	json_t *o = require_json(json_object());

	set_key(o, "steps", json_u64(f->n));
	set_key(o, "step_ms", json_ms(f->step_ns));
	set_key(o, "allreduce_ms", json_ms(f->comm_ns));
	set_key(o, "max_ms", json_ms(f->max_ns));
	return o;
}

static json_t *counters_json(const struct demo_counters *c)
{
	json_t *o = require_json(json_object());

#define DEMO_COUNTER_JSON(name) set_key(o, #name, json_u64(c->name));
	DEMO_COUNTERS(DEMO_COUNTER_JSON)
#undef DEMO_COUNTER_JSON
	return o;
}

static json_t *job_json(const struct demo_job *job, bool digests_agree)
{
	const struct demo_report *r = &job->report;
	json_t *o = require_json(json_object());

	set_key(o, "finished", json_boolean(job->state == DEMO_JOB_DONE && r->ended));
	set_key(o, "steps", json_u64(r->n));
	set_key(o, "transport", json_string(r->transport));
	set_key(o, "sha256", r->ended ? json_string(r->sha256) : json_null());
	set_key(o, "ranks_agree", json_boolean(digests_agree));
	set_key(o, "final_loss", r->ended ? json_real(r->final_loss) : json_null());
	return o;
}

static json_t *steps_json(const struct demo_run *run, const struct demo_report *r)
{
	json_t *list = require_json(json_array());

	for (size_t i = 0; i < r->n; i++) {
		const struct demo_step *s = &r->steps[i];
		json_t *one = require_json(json_object());

		set_key(one, "start_ms",
			json_real(((double)s->start_ns - (double)run->start_ns) / 1e6));
		set_key(one, "step_ms", json_ms(s->end_ns - s->start_ns));
		set_key(one, "allreduce_ms", json_ms(s->comm_ns));
		set_key(one, "loss", json_real(s->loss));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *fabric_json(const struct demo_run *run)
{
	json_t *o;

	if (!run->cfg.stage || !run->cfg.stage->ops || !run->cfg.stage->ops->fabric)
		return json_null();
	o = require_json(json_object());
	set_key(o, "packets", json_u64(run->fabric.packets));
	set_key(o, "marked", json_u64(run->fabric.marked));
	set_key(o, "trimmed", json_u64(run->fabric.trimmed));
	set_key(o, "dropped", json_u64(run->fabric.dropped));
	return o;
}

static json_t *run_json(const struct demo_run *run)
{
	json_t *o = job_json(&run->job, run->digests_agree);

	set_key(o, "seconds", json_real((double)(run->end_ns - run->start_ns) / 1e9));
	set_key(o, "cpu_idle", json_real(run->idle));
	set_key(o, "counters", counters_json(&run->sums.counters));
	set_key(o, "woken_late", lateness_json(&run->late));
	set_key(o, "socket_overruns", json_u64(run->sums.overruns));
	set_key(o, "fabric", fabric_json(run));
	set_key(o, "error", run->error[0] ? json_string(run->error) : json_null());
	set_key(o, "step_list", steps_json(run, &run->job.report));
	return o;
}

static json_t *tcp_json(const struct demo_run *run, const struct demo_outcome *out)
{
	json_t *o;

	if (!run->cfg.with_tcp)
		return json_null();
	o = job_json(&run->tcp, run->tcp_digests_agree);
	set_key(o, "steps", json_u64(run->tcp_steps));
	set_key(o, "steps_equal", json_u64(out->tcp_steps_equal));
	set_key(o, "error",
		run->tcp.state == DEMO_JOB_FAILED ? json_string(run->tcp.error) : json_null());
	set_key(o, "step_list", steps_json(run, &run->tcp.report));
	return o;
}

static double since_start_s(const struct demo_run *run, uint64_t ns)
{
	return ns ? ((double)ns - (double)run->start_ns) / 1e9 : 0;
}

static json_t *fault_json(const struct demo_run *run, const struct demo_fault_figures *n,
			  uint32_t i)
{
	const struct demo_fault *f = &run->cfg.script->fault[i];
	const struct demo_fault_log *log = &run->fault[i];
	json_t *o = require_json(json_object());

	set_key(o, "kind", json_string(f->kind));
	set_key(o, "title", json_string(f->title));
	set_key(o, "struck", json_boolean(log->phase != DEMO_PENDING));
	set_key(o, "strike_s", json_real(since_start_s(run, log->strike_ns)));
	set_key(o, "clear_s", json_real(since_start_s(run, log->clear_ns)));
	set_key(o, "cleared_by_time", json_boolean(log->by_time));
	set_key(o, "before", figure_json(&n->before));
	set_key(o, "during", figure_json(&n->during));
	set_key(o, "after", figure_json(&n->after));
	set_key(o, "expected_step_ms", json_ms(n->expect_ns));
	set_key(o, "times", log->phase == DEMO_PENDING ? json_null() : times_json(&log->times));
	set_key(o, "data_packets_lost", json_u64(n->lost));
	set_key(o, "control_packets_lost", json_u64(n->lost_control));
	set_key(o, "counters", counters_json(&n->counters));
	if (run->cfg.with_tcp) {
		set_key(o, "tcp_can_feel", json_boolean(log->tcp_can_feel));
		set_key(o, "tcp_connections_hit", json_u64(log->tcp_connections_hit));
		set_key(o, "tcp_before", figure_json(&n->tcp_before));
		set_key(o, "tcp_during", figure_json(&n->tcp_during));
	}
	return o;
}

static json_t *config_json(const struct demo_run_cfg *cfg)
{
	json_t *o = require_json(json_object());
	char seed[24]; /* all 64 bits, which a JSON number need not hold */

	set_key(o, "on", json_string(cfg->stage->name));
	set_key(o, "trims", json_boolean(cfg->stage->trims));
	set_key(o, "tcp_setup", json_string(cfg->stage->tcp_text));
	set_key(o, "ranks", json_u64(cfg->stage->shape.ranks));
	set_key(o, "planes", json_u64(cfg->stage->shape.planes));
	set_key(o, "paths", json_u64(cfg->stage->shape.paths));
	set_key(o, "pace_bps", json_u64(cfg->stage->shape.pace_bps));
	set_key(o, "steps", json_u64(cfg->script->steps));
	set_key(o, "vector_bytes", json_u64(cfg->stage->shape.vector_bytes));
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)cfg->seed);
	set_key(o, "seed", json_string(seed));
	return o;
}

static json_t *checks_json(const struct demo_outcome *o)
{
	json_t *list = require_json(json_array());

	for (uint32_t i = 0; i < o->checks; i++) {
		json_t *one = require_json(json_object());

		set_key(one, "pass", json_boolean(o->check[i].pass));
		set_key(one, "text", json_string(o->check[i].text));
		json_array_append_new(list, one);
	}
	return list;
}

json_t *demo_result_make(const struct demo_outcome *o, const struct demo_run *healthy,
			 const struct demo_run *faulty, double seconds)
{
	const struct demo_report *r = &healthy->job.report;
	json_t *result = require_json(json_object()), *faults = require_json(json_array());

	set_key(result, "format", json_string("softmrc-demo-1"));
	set_key(result, "pass", json_boolean(o->pass));
	set_key(result, "checks", checks_json(o));
	set_key(result, "seconds", json_real(seconds));
	set_key(result, "config", config_json(&healthy->cfg));
	set_key(result, "text",
		json_pack("{s:I, s:I, s:f}", "files", (json_int_t)r->files, "bytes",
			  (json_int_t)r->bytes, "bigram_bits", r->bigram_bits));
	set_key(result, "fault_free", run_json(healthy));
	set_key(result, "with_faults", faulty->cfg.script ? run_json(faulty) : json_null());
	set_key(result, "tcp", tcp_json(faulty, o));
	for (uint32_t i = 0; faulty->cfg.script && i < faulty->cfg.script->n; i++)
		json_array_append_new(faults, fault_json(faulty, &o->fault[i], i));
	set_key(result, "faults", faults);
	return result;
}

/* The result is written beside its place first, so that it is there as a whole or not at all. */
static int name_draft(char *draft, size_t size, const char *path)
{
	int len = snprintf(draft, size, "%s.new", path);

	if (len > 0 && (size_t)len < size)
		return 0;
	fprintf(stderr, "mrc demo: --out: want a path of at most %zu bytes\n",
		size - sizeof(".new"));
	return -1;
}

static int report_write_error(const char *path)
{
	fprintf(stderr, "mrc demo: --out %s: %s\n", path, strerror(errno));
	return -1;
}

int demo_result_check(const char *path)
{
	char draft[PATH_BYTES];
	FILE *f;

	if (name_draft(draft, sizeof(draft), path))
		return -1;
	f = fopen(draft, "we");
	if (!f)
		return report_write_error(path);
	fclose(f);
	remove(draft);
	return 0;
}

int demo_result_write(const json_t *result, const char *path)
{
	char draft[PATH_BYTES];
	int rc = 0;

	if (name_draft(draft, sizeof(draft), path))
		return -1;
	if (json_dump_file(result, draft, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) ||
	    rename(draft, path))
		rc = report_write_error(path);
	if (rc)
		remove(draft);
	return rc;
}
