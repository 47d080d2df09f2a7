/* SPDX-License-Identifier: BSD-2-Clause */
/* The outcome for machines: see result.h. */
#include "cli/demo/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096

/* Ends the program where there is no memory: every value here is needed. */
static json_t *must(json_t *value)
{
	if (!value) {
		fprintf(stderr, "mrc demo: out of memory\n");
		exit(1);
	}
	return value;
}

static void set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, must(value))) {
		fprintf(stderr, "mrc demo: out of memory\n");
		exit(1);
	}
}

static json_t *integer(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* Milliseconds with three digits behind the point; null where nothing was measured. */
static json_t *milliseconds(uint64_t ns)
{
	return ns ? json_real((double)(ns / 1000) / 1000) : json_null();
}

static json_t *time_json(uint64_t ns)
{
	return ns == DEMO_NEVER ? json_null() : json_real((double)(ns / 1000) / 1000);
}

static json_t *times_json(const struct demo_times *t)
{
	json_t *o = must(json_object());

	set(o, "found_ms", time_json(t->found_ns));
	set(o, "left_ms", time_json(t->left_ns));
	set(o, "first_good_ms", time_json(t->first_good_ns));
	set(o, "all_good_ms", time_json(t->all_good_ns));
	return o;
}

static json_t *lateness_json(const struct demo_lateness *l)
{
	json_t *o = must(json_object());

	set(o, "mean_ms", time_json(demo_lateness_mean(l)));
	set(o, "max_ms", time_json(l->max_ns));
	return o;
}

static json_t *figure_json(const struct demo_figure *f)
{
	json_t *o = must(json_object());

	set(o, "steps", integer(f->n));
	set(o, "step_ms", milliseconds(f->step_ns));
	set(o, "allreduce_ms", milliseconds(f->comm_ns));
	set(o, "max_ms", milliseconds(f->max_ns));
	return o;
}

static json_t *counters_json(const struct demo_counters *c)
{
	json_t *o = must(json_object());

#define DEMO_COUNTER_JSON(name) set(o, #name, integer(c->name));
	DEMO_COUNTERS(DEMO_COUNTER_JSON)
#undef DEMO_COUNTER_JSON
	return o;
}

static json_t *job_json(const struct demo_job *job, bool digests_agree)
{
	const struct demo_report *r = &job->report;
	json_t *o = must(json_object());

	set(o, "finished", json_boolean(job->state == DEMO_JOB_DONE && r->ended));
	set(o, "steps", integer(r->n));
	set(o, "transport", json_string(r->transport));
	set(o, "sha256", r->ended ? json_string(r->sha256) : json_null());
	set(o, "ranks_agree", json_boolean(digests_agree));
	set(o, "final_loss", r->ended ? json_real(r->final_loss) : json_null());
	return o;
}

static json_t *steps_json(const struct demo_run *run, const struct demo_report *r)
{
	json_t *list = must(json_array());

	for (size_t i = 0; i < r->n; i++) {
		const struct demo_step *s = &r->steps[i];
		json_t *one = must(json_object());

		set(one, "start_ms",
		    json_real(((double)s->start_ns - (double)run->start_ns) / 1e6));
		set(one, "step_ms", milliseconds(s->end_ns - s->start_ns));
		set(one, "allreduce_ms", milliseconds(s->comm_ns));
		set(one, "loss", json_real(s->loss));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *fabric_json(const struct demo_run *run)
{
	json_t *o;

	if (!run->cfg.stage || !run->cfg.stage->ops || !run->cfg.stage->ops->fabric)
		return json_null();
	o = must(json_object());
	set(o, "packets", integer(run->fabric.packets));
	set(o, "marked", integer(run->fabric.marked));
	set(o, "trimmed", integer(run->fabric.trimmed));
	set(o, "dropped", integer(run->fabric.dropped));
	return o;
}

static json_t *run_json(const struct demo_run *run)
{
	json_t *o = job_json(&run->job, run->digests_agree);

	set(o, "seconds", json_real((double)(run->end_ns - run->start_ns) / 1e9));
	set(o, "cpu_idle", json_real(run->idle));
	set(o, "counters", counters_json(&run->sums.counters));
	set(o, "woken_late", lateness_json(&run->late));
	set(o, "socket_overruns", integer(run->sums.overruns));
	set(o, "fabric", fabric_json(run));
	set(o, "trouble", run->trouble[0] ? json_string(run->trouble) : json_null());
	set(o, "step_list", steps_json(run, &run->job.report));
	return o;
}

static json_t *tcp_json(const struct demo_run *run, const struct demo_outcome *out)
{
	json_t *o;

	if (!run->cfg.with_tcp)
		return json_null();
	o = job_json(&run->tcp, run->tcp_digests_agree);
	set(o, "steps", integer(run->tcp_steps));
	set(o, "steps_equal", integer(out->tcp_steps_equal));
	set(o, "trouble",
	    run->tcp.state == DEMO_JOB_FAILED ? json_string(run->tcp.trouble) : json_null());
	set(o, "step_list", steps_json(run, &run->tcp.report));
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
	json_t *o = must(json_object());

	set(o, "kind", json_string(f->kind));
	set(o, "title", json_string(f->title));
	set(o, "struck", json_boolean(log->phase != DEMO_PENDING));
	set(o, "strike_s", json_real(since_start_s(run, log->strike_ns)));
	set(o, "clear_s", json_real(since_start_s(run, log->clear_ns)));
	set(o, "cleared_by_time", json_boolean(log->by_time));
	set(o, "before", figure_json(&n->before));
	set(o, "during", figure_json(&n->during));
	set(o, "after", figure_json(&n->after));
	set(o, "expected_step_ms", milliseconds(n->expect_ns));
	set(o, "times", log->phase == DEMO_PENDING ? json_null() : times_json(&log->times));
	set(o, "data_packets_lost", integer(n->lost));
	set(o, "control_packets_lost", integer(n->lost_control));
	set(o, "counters", counters_json(&n->counters));
	if (run->cfg.with_tcp) {
		set(o, "tcp_can_feel", json_boolean(log->tcp_can_feel));
		set(o, "tcp_connections_hit", integer(log->tcp_connections_hit));
		set(o, "tcp_before", figure_json(&n->tcp_before));
		set(o, "tcp_during", figure_json(&n->tcp_during));
	}
	return o;
}

static json_t *config_json(const struct demo_run_cfg *cfg)
{
	json_t *o = must(json_object());
	char seed[24]; /* all 64 bits, which a JSON number need not hold */

	set(o, "on", json_string(cfg->stage->name));
	set(o, "trims", json_boolean(cfg->stage->trims));
	set(o, "tcp_way", json_string(cfg->stage->tcp_text));
	set(o, "ranks", integer(cfg->stage->shape.ranks));
	set(o, "planes", integer(cfg->stage->shape.planes));
	set(o, "paths", integer(cfg->stage->shape.paths));
	set(o, "pace_bps", integer(cfg->stage->shape.pace_bps));
	set(o, "steps", integer(cfg->script->steps));
	set(o, "vector_bytes", integer(cfg->stage->shape.vector_bytes));
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)cfg->seed);
	set(o, "seed", json_string(seed));
	return o;
}

static json_t *checks_json(const struct demo_outcome *o)
{
	json_t *list = must(json_array());

	for (uint32_t i = 0; i < o->checks; i++) {
		json_t *one = must(json_object());

		set(one, "pass", json_boolean(o->check[i].pass));
		set(one, "text", json_string(o->check[i].text));
		json_array_append_new(list, one);
	}
	return list;
}

json_t *demo_result_make(const struct demo_outcome *o, const struct demo_run *healthy,
			 const struct demo_run *faulty, double seconds)
{
	const struct demo_report *r = &healthy->job.report;
	json_t *result = must(json_object()), *faults = must(json_array());

	set(result, "format", json_string("softmrc-demo-1"));
	set(result, "pass", json_boolean(o->pass));
	set(result, "checks", checks_json(o));
	set(result, "seconds", json_real(seconds));
	set(result, "config", config_json(&healthy->cfg));
	set(result, "text",
	    json_pack("{s:I, s:I, s:f}", "files", (json_int_t)r->files, "bytes",
		      (json_int_t)r->bytes, "bigram_bits", r->bigram_bits));
	set(result, "fault_free", run_json(healthy));
	set(result, "with_faults", faulty->cfg.script ? run_json(faulty) : json_null());
	set(result, "tcp", tcp_json(faulty, o));
	for (uint32_t i = 0; faulty->cfg.script && i < faulty->cfg.script->n; i++)
		json_array_append_new(faults, fault_json(faulty, &o->fault[i], i));
	set(result, "faults", faults);
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

static int complain(const char *path)
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
		return complain(path);
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
		rc = complain(path);
	if (rc)
		remove(draft);
	return rc;
}
