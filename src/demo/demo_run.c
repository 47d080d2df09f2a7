/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One training run: see demo_run.h. A loop looks every 20 ms: children, the report of rank 0,
 * counters, the script, the screen.
 */
#include "demo/demo_run.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LOOK_EVERY_NS 20000000
#define SUMS_EVERY_NS 100000000u
/* A job without a step for so long is stuck; steps of the slowest script take a few seconds. */
#define STUCK_NS UINT64_C(30000000000)
/* Steps decide when a fault clears, but the demo must end in time when they take too long. */
#define FAULT_MAX_NS UINT64_C(8000000000)
/* Plain lines between faults: one every so many steps. */
#define SAY_EVERY_STEPS 10u

static uint32_t steps_done(const struct demo_run *run)
{
	return (uint32_t)run->job.report.n;
}

/* How long ago the job's last step ended, or the run began. */
static uint64_t silent_ns(const struct demo_run *run, const struct demo_job *job, uint64_t now_ns)
{
	const struct demo_report *r = &job->report;
	uint64_t last = r->n ? r->steps[r->n - 1].end_ns : run->start_ns;

	return last < now_ns ? now_ns - last : 0;
}

/* ---- detection and recovery ---- */

static struct demo_times *current_times(struct demo_run *run)
{
	return run->current < run->cfg.script->n ? &run->fault[run->current].times : NULL;
}

static void take_event(void *arg, const struct stats_process *process,
		       const struct mrc_stats_event *event)
{
	struct demo_run *run = arg;

	(void)process;
	demo_times_event(current_times(run), &run->bad, event);
}

static void read_events(struct demo_run *run)
{
	if (stats_reader_events(&run->stats, take_event, run))
		run->bad.uncertain = true;
	demo_times_fault_end(current_times(run), &run->bad);
}

static struct demo_hits fault_hits(const struct demo_run *run, uint32_t i)
{
	return run->cfg.stage->ops->hits(run->cfg.stage, i);
}

static void take_last_hit(struct demo_run *run, uint32_t i)
{
	if (run->cfg.script->fault[i].certain)
		demo_times_left(&run->fault[i].times, fault_hits(run, i).last_ns);
}

/* ---- counters and rates ---- */

static void take_sample(struct demo_run *run, uint64_t now_ns)
{
	uint32_t slot = run->samples % DEMO_RATE_SAMPLES;
	uint32_t oldest = run->samples < DEMO_RATE_SAMPLES ? 0 : slot;
	double seconds;

	if (run->samples) {
		seconds = (double)(now_ns - run->sample_ns[oldest]) / 1e9;
		for (uint32_t p = 0; p < DEMO_PLANES_MAX; p++)
			run->plane_bps[p] =
				(double)(run->sums.tx_bytes[p] - run->sample_bytes[oldest][p]) * 8 /
				seconds;
	}
	run->sample_ns[slot] = now_ns;
	memcpy(run->sample_bytes[slot], run->sums.tx_bytes, sizeof(run->sums.tx_bytes));
	run->samples++;
}

static void read_machine(struct demo_run *run, uint64_t now_ns, bool sample)
{
	struct demo_cpu cpu;
	double idle;

	if (run->stats.n < run->job.processes.members)
		stats_reader_find(&run->stats);
	stats_reader_copy(&run->stats, now_ns);
	demo_counters_sum(&run->stats, run->cfg.stage->shape.paths, &run->sums);
	read_events(run);
	if (!sample)
		return;
	take_sample(run, now_ns);
	if (run->samples % DEMO_RATE_SAMPLES)
		return;
	cpu = demo_cpu_read();
	idle = demo_cpu_idle(&run->cpu_last, &cpu);
	run->idle_now = idle;
	run->cpu_last = cpu;
}

/* ---- the script ---- */

static void read_fabric(const struct demo_run *run, struct ml_counters *fabric)
{
	if (run->cfg.stage->ops->fabric)
		run->cfg.stage->ops->fabric(run->cfg.stage, fabric);
}

/* The fault that struck last stops being answerable for what the counters do. */
static void end_current(struct demo_run *run, uint64_t now_ns)
{
	struct demo_fault_log *log = &run->fault[run->current];

	if (run->current == run->cfg.script->n)
		return;
	log->end_ns = now_ns;
	log->at_end = run->sums.counters;
	log->hits = fault_hits(run, run->current);
	read_fabric(run, &log->fabric_at_end);
}

/* A fault that cannot be done or undone makes the run worthless. */
static void set_fault(struct demo_run *run, uint32_t i, bool on)
{
	const struct demo_fault *f = &run->cfg.script->fault[i];

	if (run->cfg.stage->ops->set_fault(run->cfg.stage, i, f, on) && !run->error[0])
		snprintf(run->error, sizeof(run->error), "the fault `%s` could not be set",
			 f->kind);
}

static void inject_fault(struct demo_run *run, uint32_t i, uint64_t now_ns, struct demo_ui *ui)
{
	const struct demo_fault *f = &run->cfg.script->fault[i];
	struct demo_fault_log *log = &run->fault[i];
	struct demo_stage *stage = run->cfg.stage;

	end_current(run, now_ns);
	run->current = i;
	log->phase = DEMO_ACTIVE;
	log->down = true;
	log->strike_ns = now_ns;
	log->at_strike = run->sums.counters;
	log->out_at_strike = demo_sums_out(&run->sums, f);
	read_fabric(run, &log->fabric_at_strike);
	if (run->cfg.with_tcp)
		log->tcp_connections_hit =
			stage->ops->tcp_hits(stage, f, &run->tcp, &log->tcp_can_feel);
	demo_times_fault_begin(&log->times, ui_clock_ns());
	set_fault(run, i, true);
	demo_ui_print(ui, "step %3u  fault: %s", steps_done(run), f->title);
}

/* What was measured, and nothing of what was not. */
static void add_time(struct ui_text *out, const char *what, uint64_t ns)
{
	char text[DEMO_TIMES_TEXT];

	if (ns != DEMO_NEVER)
		ui_text_add(out, "%s after %s, ", what, demo_times_text(text, ns));
}

/* Says how soon things happened, once all is well. */
static void say_times(struct demo_run *run, struct demo_ui *ui)
{
	struct demo_fault_log *log = &run->fault[run->current];
	struct ui_text line = {0};
	char text[DEMO_TIMES_TEXT];

	if (run->current == run->cfg.script->n || log->phase != DEMO_CLEARED || log->reported ||
	    log->times.all_good_ns == DEMO_NEVER)
		return;
	log->reported = true;
	add_time(&line, "found", log->times.found_ns);
	add_time(&line, "left", log->times.left_ns);
	add_time(&line, "first EV back", log->times.first_good_ns);
	ui_text_add(&line, "all EVs good after %s", demo_times_text(text, log->times.all_good_ns));
	demo_ui_print(ui, "          %s", line.data);
	ui_text_fini(&line);
}

static void clear_fault(struct demo_run *run, uint32_t i, uint64_t now_ns, struct demo_ui *ui)
{
	struct demo_fault_log *log = &run->fault[i];
	struct demo_counters d = demo_counters_difference(&run->sums.counters, &log->at_strike);

	log->times.ended = ui_clock_ns();
	set_fault(run, i, false);
	log->phase = DEMO_CLEARED;
	log->clear_ns = now_ns;
	demo_ui_print(ui,
		      "step %3u  cleared: %" PRIu64 " packets lost, %" PRIu64 " resent, %" PRIu64
		      " EVs retired",
		      steps_done(run), fault_hits(run, i).data, d.tx_retransmits, d.evs_retired);
}

static bool flap_is_down(const struct demo_fault *f, uint64_t since_ns)
{
	return since_ns % (f->flap_down_ns + f->flap_up_ns) < f->flap_down_ns;
}

/* Turns a fault that flaps off or on when it is time. */
static void toggle_flap(struct demo_run *run, uint32_t i, uint64_t now_ns)
{
	const struct demo_fault *f = &run->cfg.script->fault[i];
	struct demo_fault_log *log = &run->fault[i];
	bool down = flap_is_down(f, now_ns - log->strike_ns);

	if (down == log->down)
		return;
	log->down = down;
	if (down)
		log->times.down = ui_clock_ns();
	set_fault(run, i, down);
}

static void follow_script(struct demo_run *run, uint64_t now_ns, struct demo_ui *ui)
{
	const struct demo_script *script = run->cfg.script;

	say_times(run, ui);
	for (uint32_t i = 0; i < script->n; i++) {
		const struct demo_fault *f = &script->fault[i];
		struct demo_fault_log *log = &run->fault[i];

		if (log->phase == DEMO_PENDING && steps_done(run) >= f->strike_step)
			inject_fault(run, i, now_ns, ui);
		if (log->phase != DEMO_ACTIVE)
			continue;
		take_last_hit(run, i);
		log->by_time = now_ns - log->strike_ns >= FAULT_MAX_NS;
		if (steps_done(run) >= f->clear_step || log->by_time)
			clear_fault(run, i, now_ns, ui);
		else if (f->flap_down_ns)
			toggle_flap(run, i, now_ns);
	}
}

/* ---- the view ---- */

static void fill_fault(const struct demo_run *run, uint32_t i, struct demo_view_fault *to)
{
	const struct demo_fault *f = &run->cfg.script->fault[i];
	const struct demo_fault_log *log = &run->fault[i];
	struct demo_counters d;

	*to = (struct demo_view_fault){.title = f->title, .phase = log->phase, .times = log->times};
	if (log->phase == DEMO_PENDING)
		return;
	d = demo_counters_difference(i == run->current ? &run->sums.counters : &log->at_end,
				     &log->at_strike);
	/* What later faults destroy is not this one's. */
	to->lost = i == run->current ? fault_hits(run, i).data : log->hits.data;
	to->resent = d.tx_retransmits;
	to->retired = d.evs_retired;
	to->revived = d.evs_revived;
}

static void draw_view(struct demo_run *run, uint64_t now_ns, struct demo_ui *ui)
{
	const struct demo_report *r = &run->job.report;
	struct demo_view v = {
		.run = run->cfg.title,
		.shape = run->cfg.stage->shape,
		.step = steps_done(run),
		.steps = run->cfg.script->steps,
		.loss = r->n ? r->steps[r->n - 1].loss : 0,
		.bigram_bits = r->bigram_bits,
		.history = r->steps,
		.history_n = r->n,
		.sums = run->sums,
		.idle = run->idle_now,
		.faults = run->cfg.with_faults ? run->cfg.script->n : 0,
		.tcp = run->cfg.with_tcp,
		.tcp_step = (uint32_t)run->tcp.report.n,
	};

	memcpy(v.plane_bps, run->plane_bps, sizeof(v.plane_bps));
	for (uint32_t i = 0; i < v.faults; i++)
		fill_fault(run, i, &v.fault[i]);
	if (v.tcp && run->tcp.state == DEMO_JOB_RUNNING)
		v.tcp_silent_s = (double)silent_ns(run, &run->tcp, now_ns) / 1e9;
	demo_ui_draw(ui, &v);
}

static void say_progress(struct demo_run *run, struct demo_ui *ui)
{
	const struct demo_report *r = &run->job.report;
	const struct demo_step *s;

	if (ui->live || !r->n || r->n < run->said_step + SAY_EVERY_STEPS)
		return;
	run->said_step = steps_done(run);
	s = &r->steps[r->n - 1];
	demo_ui_print(ui, "step %3u  loss %.3f  %.0f ms", run->said_step, s->loss,
		      (double)(s->end_ns - s->start_ns) / 1e6);
}

/* ---- the run ---- */

static int start_job(struct demo_run *run, struct demo_job *job, const char *transport,
		     const struct demo_rundir *dir, char *path, size_t size)
{
	char name[32];
	struct demo_job_cfg cfg = {
		.program = run->cfg.program,
		.transport = transport,
		.dir = path,
		.stage = run->cfg.stage,
		.data = run->cfg.data,
		.steps = run->cfg.script->steps,
		.seed = run->cfg.seed,
	};

	snprintf(name, sizeof(name), "%s-%s", run->cfg.name, transport);
	if (demo_rundir_sub(dir, name, path, size))
		return -1;
	return demo_job_start(job, &cfg);
}

static int start_processes(struct demo_run *run, const struct demo_rundir *dir)
{
	char path[256];
	struct demo_stage *stage = run->cfg.stage;

	if (stage->ops->begin(stage, dir, run->cfg.name, run->cfg.seed))
		return -1;
	run->begun = true;
	if (start_job(run, &run->job, "mrc", dir, path, sizeof(path)))
		return -1;
	if (run->cfg.with_tcp && start_job(run, &run->tcp, "tcp", dir, path, sizeof(path)))
		return -1;
	run->start_ns = ui_clock_ns();
	run->cpu_start = run->cpu_last = demo_cpu_read();
	run->idle_now = -1;
	return 0;
}

/* True while the run goes on. */
static bool poll_run(struct demo_run *run, struct demo_ui *ui)
{
	uint64_t now_ns = ui_clock_ns();
	bool sample =
		!run->samples ||
		now_ns - run->sample_ns[(run->samples - 1) % DEMO_RATE_SAMPLES] >= SUMS_EVERY_NS;

	demo_job_poll(&run->job);
	demo_job_poll(&run->tcp);
	read_machine(run, now_ns, sample);
	if (run->cfg.with_faults && run->job.state == DEMO_JOB_RUNNING)
		follow_script(run, now_ns, ui);
	say_progress(run, ui);
	if (demo_ui_is_due(ui))
		draw_view(run, now_ns, ui);
	if (run->job.state != DEMO_JOB_RUNNING || ui_term_caught() || run->error[0])
		return false;
	if (silent_ns(run, &run->job, now_ns) < STUCK_NS)
		return true;
	snprintf(run->error, sizeof(run->error), "no step was finished for %u s",
		 (unsigned)(STUCK_NS / 1000000000u));
	return false;
}

static enum demo_run_result check_run(struct demo_run *run)
{
	if (ui_term_caught())
		return DEMO_RUN_INTERRUPTED;
	if (run->error[0])
		return DEMO_RUN_FAILED;
	if (run->job.state == DEMO_JOB_FAILED) {
		snprintf(run->error, sizeof(run->error), "%s", run->job.error);
		return DEMO_RUN_FAILED;
	}
	if (run->job.report.broken || !run->job.report.ended)
		snprintf(run->error, sizeof(run->error), "the report of rank 0 is incomplete");
	else if (run->stats.n < run->job.processes.members)
		snprintf(run->error, sizeof(run->error),
			 "statistics were seen of %u processes only", run->stats.n);
	else if (demo_counters_missing(&run->stats))
		snprintf(run->error, sizeof(run->error), "the statistics have no counter %s",
			 demo_counters_missing(&run->stats));
	return run->error[0] ? DEMO_RUN_FAILED : DEMO_RUN_DONE;
}

static void finish_run(struct demo_run *run)
{
	struct demo_cpu cpu = demo_cpu_read();

	run->end_ns = ui_clock_ns();
	run->idle = demo_cpu_idle(&run->cpu_start, &cpu);
	stats_reader_find(&run->stats);
	stats_reader_copy(&run->stats, run->end_ns);
	demo_counters_sum(&run->stats, run->cfg.stage->shape.paths, &run->sums);
	read_events(run);
	if (run->cfg.with_faults)
		end_current(run, run->end_ns);
	run->tcp_steps = (uint32_t)run->tcp.report.n;
	demo_job_stop(&run->job);
	demo_job_stop(&run->tcp);
	if (run->begun) {
		read_fabric(run, &run->fabric);
		run->cfg.stage->ops->end(run->cfg.stage);
	}
	run->digests_agree = run->job.state == DEMO_JOB_DONE && demo_job_digests_agree(&run->job);
	run->tcp_digests_agree =
		run->tcp.state == DEMO_JOB_DONE && demo_job_digests_agree(&run->tcp);
}

enum demo_run_result demo_run_execute(struct demo_run *run, const struct demo_run_cfg *cfg,
				      const struct demo_rundir *dir, struct demo_ui *ui)
{
	const struct timespec pause = {.tv_nsec = LOOK_EVERY_NS};
	enum demo_run_result result;

	*run = (struct demo_run){.cfg = *cfg, .current = cfg->script->n};
	stats_reader_open(&run->stats, run->job.processes.folder, 0);
	run->stats.with_ended = true;
	demo_ui_print(ui, "%s: %u steps", cfg->title, cfg->script->steps);
	if (start_processes(run, dir)) {
		snprintf(run->error, sizeof(run->error), "the processes could not be started");
		finish_run(run);
		return DEMO_RUN_FAILED;
	}
	while (poll_run(run, ui)) {
		uint64_t slept_ns = ui_clock_ns();

		nanosleep(&pause, NULL);
		demo_lateness_add(&run->late, LOOK_EVERY_NS, ui_clock_ns() - slept_ns);
	}
	result = check_run(run);
	finish_run(run);
	return result;
}

void demo_run_fini(struct demo_run *run)
{
	demo_job_fini(&run->job);
	demo_job_fini(&run->tcp);
	stats_reader_close(&run->stats);
}
