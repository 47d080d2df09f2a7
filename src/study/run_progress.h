/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_progress.h - how far a run is: one line that is written over on a terminal, lines now and
 * then elsewhere. Goes to stderr, so that results can be piped.
 */
#ifndef SOFTMRC_STUDY_RUN_PROGRESS_H
#define SOFTMRC_STUDY_RUN_PROGRESS_H

#include "sim/run/sim_run.h"
#include "ui/text_buffer.h"

struct sim_progress {
	bool quiet, terminal;
	uint64_t bytes; /* of all flows */
	uint64_t began_ns, shown_ns, looked_ns;
	uint64_t hops_before, hops_ns;
	double done; /* share of the bytes that were placed */
};

/* What there is to show. */
struct sim_progress_now {
	uint64_t now_ps, hops;
	uint32_t flows, flows_done;
	double done, elapsed_s, hops_per_s;
};

/* sim_progress_begin starts the clock; quiet: nothing is ever shown. */
void sim_progress_begin(struct sim_progress *p, const struct ms_run *run, bool quiet);
/* sim_progress_show looks whether it is time to show something, and does. Cheap when it is not. */
void sim_progress_show(struct sim_progress *p, struct ms_run *run);
/* sim_progress_end takes the line away and returns the seconds since the beginning. */
double sim_progress_end(struct sim_progress *p);
/* sim_progress_line writes the line. */
void sim_progress_line(const struct sim_progress_now *n, struct ui_text *out);

#endif
