/* SPDX-License-Identifier: BSD-2-Clause */
/* verdict.h - what a scenario found, held against what it was to find. */
#ifndef SOFTMRC_CLI_LAB_VERDICT_H
#define SOFTMRC_CLI_LAB_VERDICT_H

#include "cli/lab/crowd.h"
#include "cli/text.h"

#include <jansson.h>

#define VERDICT_MAX (CROWD_MAX + SCENARIO_CHECKS_MAX)

struct verdict_line {
	char what[96], found[96];
	bool held;
};

struct verdict {
	struct verdict_line line[VERDICT_MAX];
	size_t lines;
	bool held; /* all of them */
};

/*
 * verdict_find judges programs and checks; counters[n_links] are those at the end. Needs what the
 * programs printed, so before crowd_close.
 */
void verdict_find(struct verdict *v, const struct scenario *s, const struct crowd *c,
		  const struct mf_topology *t, const struct ml_counters *counters);

void verdict_show(const struct verdict *v, struct cli_text *out);
json_t *verdict_json(const struct verdict *v);

#endif
