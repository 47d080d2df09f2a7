/* SPDX-License-Identifier: BSD-2-Clause */
/* run_outputs.h - the files that a run writes while it goes on, and at its end. */
#ifndef SOFTMRC_STUDY_RUN_OUTPUTS_H
#define SOFTMRC_STUDY_RUN_OUTPUTS_H

#include "sim/mrc/frame_capture.h"
#include "sim/scenario/scenario.h"
#include "study/run_history.h"

#include <stdio.h>

struct sim_outputs {
	const struct ms_scenario *scenario;
	FILE *flows, *series, *evs, *capture_file;
	struct ms_capture *capture;
	uint32_t *link; /* of the series */
	uint32_t n_links;
	struct sim_history *history; /* NULL: none is kept */
};

/*
 * sim_outputs_open opens the files of a scenario and puts what they need into its configuration
 * (edge, tap; ctx is the outputs). With `account` a history is kept, unless there are ranks. false:
 * *error says which file cannot be written, or which link is not there.
 */
bool sim_outputs_open(struct sim_outputs *o, struct ms_scenario *s, bool account,
		      struct ms_file_error *error);
/* sim_outputs_start taps the captured links of a run that was made. */
void sim_outputs_start(struct sim_outputs *o, struct ms_run *run);
/* sim_outputs_step writes what was captured up to now; between steps of the run. */
bool sim_outputs_step(struct sim_outputs *o, struct ms_file_error *error);
/*
 * sim_outputs_close writes what is to be written in the end (run NULL: nothing) and closes all;
 * false: a file could not be written whole.
 */
bool sim_outputs_close(struct sim_outputs *o, struct ms_run *run, struct ms_file_error *error);

#endif
