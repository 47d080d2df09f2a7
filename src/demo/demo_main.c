/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc demo - trains a small language model twice, without and with faults in the network, and
 * compares. docs/demo.md tells what can be seen.
 */
#include "demo/demo.h"
#include "demo/demo_run.h"
#include "demo/stage.h"
#include "lab/lab.h"
#include "ui/terminal.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_PASS = 0, EXIT_FAIL = 1, EXIT_USAGE = 2 };

struct demo {
	struct demo_options options;
	char program[4096], write_bw[4096]; /* paths of train and write_bw */
	bool rootless;
	struct demo_shape shape;
	struct demo_script script;
	struct demo_loopback loopback;
	struct demo_lab lab;
	struct demo_stage *stage;
	struct demo_rundir dir;
	struct demo_ui ui;
	struct demo_run healthy, faulty;
};

static enum demo_run_result run_one(struct demo *d, struct demo_run *run, const char *title,
				    const char *name, bool with_faults)
{
	struct demo_run_cfg cfg = {
		.title = title,
		.name = name,
		.program = d->program,
		.data = d->options.data,
		.seed = d->options.seed,
		.stage = d->stage,
		.script = &d->script,
		.with_faults = with_faults,
		.with_tcp = with_faults && !d->options.no_tcp,
	};
	enum demo_run_result rc = demo_run_execute(run, &cfg, &d->dir, &d->ui);

	if (rc == DEMO_RUN_FAILED)
		demo_ui_print(&d->ui, "%s failed: %s", title, run->error);
	return rc;
}

static enum demo_run_result run_both(struct demo *d)
{
	enum demo_run_result rc =
		run_one(d, &d->healthy, "run 1 of 2: without faults", "healthy", false);

	if (rc != DEMO_RUN_DONE)
		return rc;
	return run_one(d, &d->faulty,
		       d->options.no_tcp ? "run 2 of 2: with faults"
					 : "run 2 of 2: with faults, with a TCP baseline",
		       "faulty", true);
}

static int print_result(struct demo *d)
{
	double seconds = (double)(ui_clock_ns() - d->ui.start_ns) / 1e9;
	struct demo_outcome outcome;
	struct ui_text text = {0};
	json_t *result;
	int rc;

	demo_outcome_make(&outcome, &d->healthy, &d->faulty);
	demo_summary_render(&outcome, &d->healthy, &d->faulty, &text);
	fputs(text.data, d->ui.out);
	ui_text_fini(&text);
	result = demo_result_make(&outcome, &d->healthy, &d->faulty, seconds);
	rc = demo_result_write(result, d->options.out);
	if (d->options.json) {
		json_dumpf(result, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		putchar('\n');
	}
	json_decref(result);
	if (!rc)
		fprintf(d->ui.out, "      %.0f s in all; figures of every step in %s\n", seconds,
			d->options.out);
	return outcome.pass && !rc ? EXIT_PASS : EXIT_FAIL;
}

static void say_size(struct demo *d)
{
	demo_ui_print(&d->ui, "%u hosts, %u planes of %u paths, %g Mb/s a port, %u faults",
		      d->shape.ranks, d->shape.planes, d->shape.paths,
		      (double)d->shape.pace_bps / 1e6, d->script.n);
	if (d->stage == &d->loopback.stage)
		demo_ui_print(&d->ui, "on loopback: faults are done by the senders' port drivers");
	else
		demo_ui_print(&d->ui, "in a lab of network namespaces, kernel SRv6%s%s%s",
			      d->rootless ? ", without root" : "",
			      d->stage->trims ? ", switches that trim and mark"
					      : ", switches neither trim nor mark: ",
			      d->stage->trims ? "" : d->stage->no_trims);
}

static int run_demo(struct demo *d)
{
	enum demo_run_result rc;
	int status = EXIT_FAIL;

	ui_term_catch();
	demo_ui_open(&d->ui, d->options.plain, d->options.json);
	say_size(d);
	rc = run_both(d);
	demo_ui_close(&d->ui);
	if (rc == DEMO_RUN_INTERRUPTED)
		fprintf(stderr, "mrc demo: interrupted (%s); everything is cleaned up\n",
			strsignal(ui_term_caught()));
	else
		status = print_result(d);
	demo_run_fini(&d->healthy);
	demo_run_fini(&d->faulty);
	return status;
}

/* ---- where it runs ---- */

/* A user namespace is entered for good, so a child tries first. It has to be early: one thread. */
static bool rootless_works(struct ml_error *why)
{
	int pipe_fd[2], status = -1;
	pid_t pid;

	if (pipe(pipe_fd))
		return false;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int rc = ml_rootless_enter(why);
		ssize_t n = rc ? write(pipe_fd[1], why, sizeof(*why)) : 0;

		_exit(rc || n ? 1 : 0);
	}
	close(pipe_fd[1]);
	if (pid > 0 && read(pipe_fd[0], why, sizeof(*why)) >= 0)
		waitpid(pid, &status, 0);
	close(pipe_fd[0]);
	return status == 0;
}

/* True when a lab may be tried; otherwise why not. */
static bool become_root(struct demo *d, struct ml_error *why)
{
	if (geteuid() == 0 && d->options.on != DEMO_ON_ROOTLESS)
		return true;
	d->rootless = rootless_works(why) && ml_rootless_enter(why) == 0;
	return d->rootless;
}

static int make_script(struct demo *d, const struct demo_kinds *kinds)
{
	struct ml_error e;

	if (demo_script_make(&d->script, kinds, d->options.script, &d->shape, d->options.steps,
			     &e) == 0)
		return EXIT_PASS;
	fprintf(stderr, "mrc demo: %s\n", e.text);
	return EXIT_USAGE;
}

static int set_lab(struct demo *d, uint64_t capacity, struct ml_error *why)
{
	demo_size_choose(&d->shape, &d->options, &demo_place_lab, capacity);
	if (demo_lab_open(&d->lab, &d->shape, &d->dir, why))
		return EXIT_FAIL;
	d->stage = &d->lab.stage;
	d->shape.trims = d->stage->trims;
	return make_script(d, demo_kinds(true));
}

static int set_loopback(struct demo *d, uint64_t capacity)
{
	demo_size_choose(&d->shape, &d->options, &demo_place_loopback, capacity);
	demo_loopback_init(&d->loopback, &d->shape);
	d->stage = &d->loopback.stage;
	return make_script(d, demo_kinds(false));
}

/* The lab if there can be one, unless the user wants the other. */
static int set_stage(struct demo *d)
{
	bool want_lab = d->options.on != DEMO_ON_LOOPBACK;
	struct ml_error why = {.text = "it was not asked for"};
	bool may = want_lab && become_root(d, &why);
	uint64_t capacity = 0;
	int rc;

	/* Where both are given there is nothing to choose. */
	if (!d->options.ranks || !d->options.pace_bps)
		capacity = demo_calibrate();
	if (demo_rundir_create(&d->dir))
		return EXIT_FAIL;
	rc = may ? set_lab(d, capacity, &why) : EXIT_FAIL;
	if (rc != EXIT_FAIL)
		return rc;
	if (want_lab)
		fprintf(stderr, "mrc demo: no lab: %s\n", why.text);
	return d->options.on == DEMO_ON_BEST || !want_lab ? set_loopback(d, capacity) : EXIT_FAIL;
}

int demo_main(int argc, char **argv)
{
	static struct demo d;
	struct ml_error e;
	int rc;

	rc = demo_options_parse(&d.options, argc, argv);
	if (rc != UI_FLAGS_OK)
		return rc;
	/* Better now than when the demo is over. */
	if (demo_result_check(d.options.out))
		return EXIT_USAGE;
	if (ml_program_find("train", d.program, sizeof(d.program), &e) ||
	    ml_program_find("write_bw", d.write_bw, sizeof(d.write_bw), &e)) {
		fprintf(stderr, "mrc: %s\n", e.text);
		return EXIT_FAIL;
	}
	rc = set_stage(&d);
	if (rc == EXIT_PASS)
		rc = run_demo(&d);
	if (d.stage && d.stage->ops->close)
		d.stage->ops->close(d.stage);
	demo_rundir_remove(&d.dir);
	return rc;
}
