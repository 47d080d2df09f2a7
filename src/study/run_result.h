/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_result.h - what came out of a run: as JSON, from which everything else is taken (what is
 * compared, what is expected, the summary on the screen).
 */
#ifndef SOFTMRC_STUDY_RUN_RESULT_H
#define SOFTMRC_STUDY_RUN_RESULT_H

#include "sim/scenario/scenario.h"
#include "study/run_history.h"
#include "ui/text_buffer.h"

#include <jansson.h>

struct sim_outcome {
	const struct ms_scenario *scenario;
	struct ms_run *run;
	enum ms_run_state state;
	bool interrupted;
	double wall_s, cpu_s; /* of the run alone, without reading and setting up */
	bool account;	      /* the result has curves, distributions and parameters too */
	const struct sim_history *history; /* NULL: no curves */
};

/*
 * sim_result_json makes the result of a run that is over, or was interrupted. With ranks all call
 * it. NULL: another rank cannot be reached.
 */
json_t *sim_result_json(const struct sim_outcome *o);

/* sim_result_is_good says whether a result is that of a run that went to its end and was right. */
bool sim_result_is_good(const json_t *result);

/*
 * sim_result_figure finds a number by its path, as in "fct_us.p100" or "parts.1.flows"; false:
 * there is no such number.
 */
bool sim_result_figure(const json_t *result, const char *path, double *value);

/* sim_result_text appends the summary. */
void sim_result_text(const json_t *result, struct ui_text *out);

#endif
