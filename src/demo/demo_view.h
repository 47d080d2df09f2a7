/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demo_view.h - one picture of a running demo, written into a buffer: planes with their throughput
 * and the state of their paths, step times, counters, faults. It knows nothing of processes or
 * terminals; demo_run.c fills in what it shows and demo_ui.c puts it on the screen.
 */
#ifndef SOFTMRC_DEMO_DEMO_VIEW_H
#define SOFTMRC_DEMO_DEMO_VIEW_H

#include "demo/fault_script.h"
#include "demo/recovery_times.h"
#include "demo/stats_watch.h"
#include "demo/step_stats.h"
#include "ui/text_buffer.h"

#include <stdbool.h>
#include <stdint.h>

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
	bool tcp; /* runs beside */
	uint32_t tcp_step;
	double tcp_silent_s; /* since its last step */
};

/* demo_view_render appends the picture, lines ended by a line feed, none wider than width. */
void demo_view_render(const struct demo_view *v, struct ui_text *out);

#endif
