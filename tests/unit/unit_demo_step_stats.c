/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of step times: src/demo/step_stats.h. */
#include "demo/step_stats.h"

#include "support/test.h"

static struct demo_step step(uint64_t start, uint64_t end, uint64_t comm)
{
	return (struct demo_step){.start_ns = start, .end_ns = end, .comm_ns = comm};
}

TEST(demo_figures_median, takes_the_middle_or_the_lower_middle)
{
	uint64_t odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, one[] = {7};

	assert_u_eq(demo_figures_median(odd, 3), 5);
	assert_u_eq(demo_figures_median(even, 4), 2);
	assert_u_eq(demo_figures_median(one, 1), 7);
	assert_u_eq(demo_figures_median(NULL, 0), 0);
}

TEST(demo_figures_between, takes_whole_steps_only)
{
	const struct demo_step steps[] = {step(0, 10, 8), step(10, 22, 9), step(22, 35, 12),
					  step(35, 100, 60)};
	struct demo_figure f = demo_figures_between(steps, 4, 10, 35);

	assert_u_eq(f.n, 2);
	assert_u_eq(f.step_ns, 12);
	assert_u_eq(f.comm_ns, 9);
	assert_u_eq(f.max_ns, 13);
}

TEST(demo_figures_between, finds_nothing_in_an_outage)
{
	const struct demo_step steps[] = {step(0, 10, 8), step(10, 500, 9)};
	struct demo_figure f = demo_figures_between(steps, 2, 20, 400);

	assert_u_eq(f.n, 0);
	assert_u_eq(f.step_ns, 0);
	assert_u_eq(demo_figures_between(NULL, 0, 0, UINT64_MAX).n, 0);
}

TEST(demo_figures_expect, stretches_only_the_all_reduce)
{
	const struct demo_figure before = {.n = 3, .step_ns = 320, .comm_ns = 300};
	const struct demo_figure none = {0};

	assert_u_eq(demo_figures_expect(&before, 4, 3), 420);
	assert_u_eq(demo_figures_expect(&before, 1, 1), 320);
	assert_u_eq(demo_figures_expect(&before, 0, 0), 0);
	assert_u_eq(demo_figures_expect(&none, 4, 3), 0);
}
