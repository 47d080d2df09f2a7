/* SPDX-License-Identifier: BSD-2-Clause */
/* check_results.h - what a scenario found, held against what it was to find. */
#ifndef SOFTMRC_CLI_LAB_CHECK_RESULTS_H
#define SOFTMRC_CLI_LAB_CHECK_RESULTS_H

#include "lab/scenario.h"
#include "ui/text.h"

#include <jansson.h>

#define VERDICT_MAX (ML_PROCESSES_MAX + ML_SCENARIO_CHECKS_MAX)

struct verdict_line {
	char what[96], actual[96];
	bool pass;
};

struct verdict {
	struct verdict_line line[VERDICT_MAX];
	size_t lines;
	bool pass; /* all of them */
};

/*
 * check_results_find judges programs and checks; counters[n_links] are those at the end. Needs what
 * the programs printed, so before ml_processes_stop.
 */
void check_results_find(struct verdict *v, const struct ml_scenario *s,
			const struct ml_processes *c, const struct mf_topology *t,
			const struct ml_counters *counters);

void check_results_show(const struct verdict *v, struct ui_text *out);
json_t *check_results_json(const struct verdict *v);

#endif
