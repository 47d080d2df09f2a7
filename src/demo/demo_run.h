/* SPDX-License-Identifier: BSD-2-Clause */
/* demo_run.h - a training run, what it shows while it lasts, and what both runs add up to. */
#ifndef SOFTMRC_DEMO_DEMO_RUN_H
#define SOFTMRC_DEMO_DEMO_RUN_H

#include "demo/demo.h"
#include "demo/measure.h"
#include "demo/stage.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * ---- the view: one picture of a running demo ----
 *
 * It shows planes with their throughput and the state of their paths, step times, counters, faults,
 * and knows nothing of processes or terminals: demo_run.c fills it in, demo_ui.c puts it on the
 * screen.
 */

#define DEMO_VIEW_WIDTH_MIN 80u

enum demo_phase { DEMO_PENDING, DEMO_ACTIVE, DEMO_CLEARED };

/* A fault as the view shows it. */
struct demo_view_fault {
	const char *title;
	enum demo_phase phase;
	uint64_t lost, resent, retired, revived;
	struct demo_times times; /* unless PENDING */
};

struct demo_view {
	uint32_t width, height;
	bool colour, utf8;
	const char *run;  /* such as "run 2 of 2, with faults" */
	double elapsed_s; /* of the whole demo */
	struct demo_shape shape;
	uint32_t step, steps;
	double loss, bigram_bits; /* bits per byte; 0: not known yet */
	const struct demo_step *history;
	size_t history_n;
	double plane_bps[DEMO_PLANES_MAX];
	struct demo_sums sums;
	double idle; /* share of the machine, 0 .. 1; negative: not known */
	struct demo_view_fault fault[DEMO_FAULTS_MAX];
	uint32_t faults;
	bool tcp; /* runs at the same time */
	uint32_t tcp_step;
	double tcp_silent_s; /* since its last step */
};

/* demo_view_render appends the picture, lines ended by a line feed, none wider than width. */
void demo_view_render(const struct demo_view *v, struct ui_text *out);

/*
 * ---- output: the live view on a terminal, lines with a time elsewhere ----
 *
 * A line said while the view is up is kept and printed when the view is gone.
 */

struct demo_ui {
	struct ui_term term;
	bool live, utf8, colour;
	FILE *out; /* of lines: stdout, or stderr with --json */
	uint64_t start_ns;
	uint64_t drawn_ns;
	struct ui_text kept;
};

void demo_ui_open(struct demo_ui *ui, bool plain, bool json);
/* demo_ui_close gives the terminal back and prints what was kept. */
void demo_ui_close(struct demo_ui *ui);

/* demo_ui_print says a line with the time since the beginning. */
__attribute__((format(printf, 2, 3))) void demo_ui_print(struct demo_ui *ui, const char *format,
							 ...);

/* demo_ui_is_due says whether it is time to draw again; always false without a view. */
bool demo_ui_is_due(const struct demo_ui *ui);
/* demo_ui_draw fills in size and abilities of the terminal and shows the view. */
void demo_ui_draw(struct demo_ui *ui, struct demo_view *view);

/*
 * ---- a run: starts the processes, follows their steps and counters, injects and clears faults
 * ----
 */

/* What one fault did, from its strike until the next one struck or the run ended. */
struct demo_fault_log {
	enum demo_phase phase;
	bool by_time;  /* cleared because steps took too long */
	bool down;     /* the rule is on, for a fault that flaps */
	bool reported; /* its times were printed */
	uint64_t strike_ns, clear_ns, end_ns;
	struct demo_counters at_strike, at_end;
	uint64_t out_at_strike; /* demo_sums_out */
	struct demo_hits hits;
	struct ml_counters fabric_at_strike, fabric_at_end;
	struct demo_times times;
	bool tcp_can_feel;	      /* the kernel lets TCP feel a fault of this kind */
	uint32_t tcp_connections_hit; /* of the ring's planes x ranks */
};

struct demo_run_cfg {
	const char *title;
	const char *name; /* of its directory */
	const char *program;
	const char *data;
	uint64_t seed;
	struct demo_stage *stage; /* kept by the caller until demo_run_fini */
	const struct demo_script *script;
	bool with_faults;
	bool with_tcp;
};

enum demo_run_result {
	DEMO_RUN_DONE,
	DEMO_RUN_FAILED, /* trouble says why */
	DEMO_RUN_INTERRUPTED,
};

#define DEMO_RATE_SAMPLES 10u

struct demo_run {
	struct demo_run_cfg cfg;
	struct demo_job job, tcp;
	bool begun;		   /* on the stage */
	struct stats_reader stats; /* of the job */
	struct demo_sums sums;
	struct demo_fault_log fault[DEMO_FAULTS_MAX];
	uint32_t current; /* fault that struck last, or script->n */
	struct demo_bad_evs bad;
	struct demo_lateness late; /* how late the demo's own loop was woken */
	uint64_t start_ns, end_ns;
	uint32_t tcp_steps;	   /* steps that TCP had finished when the job was done */
	struct ml_counters fabric; /* at the end of the run */
	bool digests_agree;	   /* all ranks of the job ended alike */
	bool tcp_digests_agree;
	double idle; /* share of the machine during the run */
	char error[600];
	/* for the view */
	struct demo_cpu cpu_start, cpu_last;
	double idle_now;
	uint64_t sample_ns[DEMO_RATE_SAMPLES];
	uint64_t sample_bytes[DEMO_RATE_SAMPLES][DEMO_PLANES_MAX];
	uint32_t samples;
	double plane_bps[DEMO_PLANES_MAX];
	uint32_t said_step;
};

/* demo_run_execute runs to the end. demo_run_fini frees what the run keeps. */
enum demo_run_result demo_run_execute(struct demo_run *run, const struct demo_run_cfg *cfg,
				      const struct demo_rundir *dir, struct demo_ui *ui);
void demo_run_fini(struct demo_run *run);

/* ---- the outcome: the figures of each fault, and the checks ---- */

#define DEMO_CHECKS_MAX (8u + 3u * DEMO_FAULTS_MAX)

struct demo_check {
	bool pass;
	char text[200]; /* what was found; true either way */
};

/* One fault in figures. A figure with n == 0 means that no step lay in that time. */
struct demo_fault_figures {
	struct demo_figure before, during, after;
	uint64_t expect_ns; /* of a step during the fault; 0: arithmetic does not say */
	struct demo_figure tcp_before, tcp_during;
	uint64_t lost, lost_control;
	uint64_t trimmed;	       /* by switches */
	struct demo_counters counters; /* differences */
	uint64_t out_before;	       /* EVs and local ports, when it struck */
};

struct demo_outcome {
	struct demo_fault_figures fault[DEMO_FAULTS_MAX];
	struct demo_check check[DEMO_CHECKS_MAX];
	uint32_t checks;
	bool pass;
	/* TCP finished so many steps with the losses of the fault-free run. */
	uint32_t tcp_steps_equal;
};

/* The facts that the checks need, apart from how they came about. */
struct demo_facts {
	bool lost_counted; /* the stage counts what faults destroy */
	bool healthy_done, faulty_done;
	const char *healthy_trouble, *faulty_trouble;
	bool healthy_agree, faulty_agree; /* all ranks of the run have one digest */
	const char *healthy_sha256, *faulty_sha256;
	double final_loss, bigram_bits;
	bool tcp_done; /* finished all steps */
	bool tcp_agree;
	const char *tcp_sha256; /* when tcp_done */
	uint32_t tcp_steps, tcp_steps_equal;
};

/* demo_outcome_make draws the sum of two runs; `faulty` may not have been started (n == 0). */
void demo_outcome_make(struct demo_outcome *o, const struct demo_run *healthy,
		       const struct demo_run *faulty);

/* demo_outcome_evaluate adds the checks of facts and faults. */
void demo_outcome_evaluate(struct demo_outcome *o, const struct demo_facts *facts,
			   const struct demo_script *script);

/* ---- result.json, described in docs/demo.md ---- */

/* demo_result_make returns the whole result as a new reference. */
json_t *demo_result_make(const struct demo_outcome *o, const struct demo_run *healthy,
			 const struct demo_run *faulty, double seconds);

/* demo_result_check says whether a result can be written there; 0, or -1 after a message. */
int demo_result_check(const char *path);

/* demo_result_write writes it to a file, all or nothing; 0, or -1 after a message on stderr. */
int demo_result_write(const json_t *result, const char *path);

/* ---- the summary: table of faults, digests, loss, checks ---- */

/* demo_summary_table appends the table of faults, at most 80 columns wide. */
void demo_summary_table(const struct demo_outcome *o, const struct demo_script *script,
			const struct demo_fault_log *log, bool with_tcp, struct ui_text *out);

/* demo_summary_times appends the table of detection and recovery, at most 80 columns wide. */
void demo_summary_times(const struct demo_script *script, const struct demo_fault_log *log,
			struct ui_text *out);

/* demo_summary_render appends everything. */
void demo_summary_render(const struct demo_outcome *o, const struct demo_run *healthy,
			 const struct demo_run *faulty, struct ui_text *out);

#endif
