/* SPDX-License-Identifier: BSD-2-Clause */
/* map_verbs.h - the verbs of `mrc map`, and what they found for eyes and programs. */
#ifndef SOFTMRC_CLI_MAP_MAP_VERBS_H
#define SOFTMRC_CLI_MAP_MAP_VERBS_H

#include "cli/map/prober.h"
#include "ui/text.h"
#include "ui/verb.h"

#include <jansson.h>

extern const struct ui_verb map_check_verb;

/* Sick parts that are listed; the judgement keeps no more. */
#define MAP_SICK_MAX 64u

/* What a check found. */
struct map_finding {
	struct mm_sick sick;
	uint64_t named_ns; /* after the first probe, for the first time */
};

struct map_result {
	const char *lab;
	const struct mf_topology *t;
	struct prober_figures figures;
	uint64_t start_ns, now_ns; /* the first probe, and the last judgement */
	struct map_finding finding[MAP_SICK_MAX];
	size_t n;
	uint32_t silent; /* hosts that were not heard of */
};

/* map_result_take puts what is sick now in place of what was, and keeps when each was named. */
void map_result_take(struct map_result *r, const struct mm_sick *sick, size_t n, uint64_t now_ns);

/* map_result_healthy says whether nothing is sick and every host was heard of. */
bool map_result_healthy(const struct map_result *r);

/* map_result_show writes a line for each part that is sick, and one with figures. */
void map_result_show(const struct map_result *r, struct ui_text *out);
/* map_result_json returns a new object with all of it. */
json_t *map_result_json(const struct map_result *r);

#endif
