/* SPDX-License-Identifier: BSD-2-Clause */
/* map_result.h - what probes have found, for eyes and programs. */
#ifndef SOFTMRC_CLI_MAP_MAP_RESULT_H
#define SOFTMRC_CLI_MAP_MAP_RESULT_H

#include <jansson.h>

#include "cli/map/prober.h"
#include "ui/text.h"

/* Sick parts that are listed; the judgement keeps no more. */
#define MAP_SICK_MAX 64u

struct map_finding {
	struct mm_sick sick;
	uint64_t named_ns; /* after the first probe, for the first time */
};

struct map_result {
	const char *lab;   /* NULL: the series of a Prometheus */
	uint64_t range_s;  /* of these: which time they are of */
	uint32_t left_out; /* and how many made no sense */
	const struct mf_topology *t;
	struct prober_figures figures;
	uint64_t start_ns, now_ns; /* the first probe, and the last judgement */
	struct map_finding finding[MAP_SICK_MAX];
	size_t n;
	uint32_t silent; /* hosts that were not heard of */
	/* What the last judgement changed: what is new, and what is no longer sick. */
	struct map_finding begun[MAP_SICK_MAX], ended[MAP_SICK_MAX];
	size_t n_begun, n_ended;
};

/* map_result_take puts what is sick now in place of what was, and keeps when each was named. */
void map_result_take(struct map_result *r, const struct mm_sick *sick, size_t n, uint64_t now_ns);

/* map_result_healthy says whether nothing is sick and every host was heard of. */
bool map_result_healthy(const struct map_result *r);

/* map_result_list appends a line for each part that is sick. */
void map_result_list(const struct map_result *r, struct ui_text *out);
/* map_result_show appends that, and a line with figures. */
void map_result_show(const struct map_result *r, struct ui_text *out);
/* map_result_json returns a new object with all of it. */
json_t *map_result_json(const struct map_result *r);
/* map_result_finding_json returns a new object about one. */
json_t *map_result_finding_json(const struct map_result *r, const struct map_finding *f);

/* ---- pictures: map_draw.c ---- */

/*
 * map_draw_text appends the fabric as a table for each plane: T0s by T1s, and the hosts of each T0.
 * A cable or switch that is sick has a letter for what is wrong. Of a fabric with many rows those
 * where nothing is sick are left out, and of many columns the first 16 are drawn; ".." and a letter
 * stand for the others.
 */
void map_draw_text(const struct map_result *r, struct ui_text *out);
/* map_draw_svg appends it as an SVG picture with what is sick in red. */
int map_draw_svg(const struct map_result *r, struct ui_text *out);

#endif
