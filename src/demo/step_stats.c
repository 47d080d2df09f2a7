/* SPDX-License-Identifier: BSD-2-Clause */
/* Small statistics of step times: see step_stats.h. */
#include "demo/step_stats.h"

#include <stdio.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint64_t demo_figures_median(uint64_t *values, size_t n)
{
	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare_doubles);
	return values[(n - 1) / 2];
}

struct demo_figure demo_figures_between(const struct demo_step *steps, size_t n, uint64_t from_ns,
					uint64_t to_ns)
{
	struct demo_figure f = {0};
	uint64_t *whole = calloc(2 * n + 1, sizeof(*whole));
	uint64_t *comm = whole + n;

	if (!whole) {
		fprintf(stderr, "mrc: out of memory\n");
		exit(1);
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t ns = steps[i].end_ns - steps[i].start_ns;

		if (steps[i].start_ns < from_ns || steps[i].end_ns > to_ns)
			continue;
		whole[f.n] = ns;
		comm[f.n] = steps[i].comm_ns;
		f.max_ns = ns > f.max_ns ? ns : f.max_ns;
		f.n++;
	}
	f.step_ns = demo_figures_median(whole, f.n);
	f.comm_ns = demo_figures_median(comm, f.n);
	free(whole);
	return f;
}

uint64_t demo_figures_expect(const struct demo_figure *before, uint32_t num, uint32_t den)
{
	if (!den || !before->n)
		return 0;
	return before->step_ns - before->comm_ns + before->comm_ns * num / den;
}
