/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_figures.h - a plan as a list of numbers, so that the table and the JSON say the same, and
 * two fabrics can be put side by side: the list of every fabric has the same figures in the same
 * order.
 */
#ifndef SOFTMRC_CLI_PLAN_PLAN_FIGURES_H
#define SOFTMRC_CLI_PLAN_PLAN_FIGURES_H

#include "fabric/plan_rates.h"
#include "fabric/topology.h"

/* Room for the list. */
#define PLAN_FIGURES_MAX 64u

enum plan_unit {
	PLAN_PIECES,
	PLAN_SHARE, /* 0 .. 1 */
	PLAN_BITS,  /* a second */
	PLAN_USD,
	PLAN_WATTS,
	PLAN_NS,
	PLAN_A_DAY,
	PLAN_DAYS, /* 0: never */
	PLAN_YEARS,
};

struct plan_figure {
	const char *section; /* title; figures of one section follow each other */
	const char *key;     /* for programs, of its own in the list */
	const char *label;
	enum plan_unit unit;
	bool per_nic; /* it makes sense to divide it by the number of NICs */
	double value;
};

struct plan_figures {
	size_t n;
	struct plan_figure figure[PLAN_FIGURES_MAX];
};

/* plan_figures_make works the figures of a fabric out. */
void plan_figures_make(struct plan_figures *out, const struct mf_topology *t,
		       const struct mf_rates *r);

#endif
