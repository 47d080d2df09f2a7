/* SPDX-License-Identifier: BSD-2-Clause */
/* step_stats.h - small statistics of step times. */
#ifndef SOFTMRC_DEMO_STEP_STATS_H
#define SOFTMRC_DEMO_STEP_STATS_H

#include <stddef.h>
#include <stdint.h>

/* One training step as rank 0 reported it. */
struct demo_step {
	uint32_t step;
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t comm_ns;	   /* of it, in the all-reduce */
	double loss;		   /* bits per byte */
};

/* The steps that lie wholly in a stretch of time; medians are 0 when there is none. */
struct demo_figure {
	size_t n;
	uint64_t step_ns; /* median */
	uint64_t comm_ns; /* median */
	uint64_t max_ns;
};

/* demo_figures_median sorts values and returns the middle one, the lower of two; 0 when n is 0. */
uint64_t demo_figures_median(uint64_t *values, size_t n);

/* demo_figures_between looks at the steps that began at `from` or later and ended by `to`. */
struct demo_figure demo_figures_between(const struct demo_step *steps, size_t n, uint64_t from_ns,
					uint64_t to_ns);

/*
 * demo_figures_expect returns how long a step should take when its all-reduce takes num / den times
 * as long as in `before`; 0 when den is 0 or before holds no step.
 */
uint64_t demo_figures_expect(const struct demo_figure *before, uint32_t num, uint32_t den);

#endif
