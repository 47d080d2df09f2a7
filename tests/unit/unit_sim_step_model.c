/* SPDX-License-Identifier: BSD-2-Clause */
/* The long horizon against its closed forms: checkpoints and restarts, rates, and what adds up. */
#include "support/test.h"

#include <math.h>

#include "sim/run/step_model.h"

#define SECOND UINT64_C(1000000000)
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)

static struct ms_steps_result r;

static struct ms_steps_cfg job(const struct ms_steps_class *classes, uint32_t n)
{
	return (struct ms_steps_cfg){
		.gpus = 1000,
		.horizon_ns = 400 * DAY,
		.checkpoint_every_ns = HOUR / 2,
		.checkpoint_ns = 60 * SECOND,
		.restart_ns = 600 * SECOND,
		.classes = classes,
		.n_classes = n,
		.seed = 11,
	};
}

static double goodput(const struct ms_steps_cfg *c)
{
	assert_null(ms_steps_check(c));
	assert_true(ms_steps_run(c, &r));
	assert_u_eq(r.useful_ns + r.slow_ns + r.stalled_ns + r.saving_ns + r.lost_ns +
			    r.restarting_ns,
		    r.horizon_ns);
	return (double)r.useful_ns / (double)r.horizon_ns;
}

static void assert_near(double got, double want, double by)
{
	if (fabs(got - want) > by)
		fail_msg("got %.6f, want %.6f within %.6f", got, want, by);
}

TEST(ms_steps_check, refuses_rates_that_are_none)
{
	struct ms_steps_class k = {.per_gpu = 1, .mtbf_ns = -1, .slow = MS_STEPS_ONE};
	struct ms_steps_cfg c = job(&k, 1);

	assert_non_null(strstr(ms_steps_check(&c), "rate"));
	k.mtbf_ns = NAN;
	assert_non_null(strstr(ms_steps_check(&c), "rate"));
	k.mtbf_ns = 1;
	assert_non_null(strstr(ms_steps_check(&c), "faults"));
	k.mtbf_ns = 1e18;
	k.slow = 1;
	assert_non_null(strstr(ms_steps_check(&c), "faster"));
	k.slow = MS_STEPS_ONE;
	assert_null(ms_steps_check(&c));
	c.gpus = 0;
	assert_non_null(ms_steps_check(&c));
}

TEST(ms_steps_run, without_faults_only_checkpoints_cost)
{
	struct ms_steps_cfg c = job(NULL, 0);

	assert_near(goodput(&c), 30.0 / 31, 1e-4);
	assert_near(ms_steps_daly(&c), 30.0 / 31, 1e-9);
	assert_u_eq(r.interruptions + r.faults, 0);
}

/* Some thousand interruptions: the error of goodput is below a third of a percent at 4 sigma.
 * REQ(sim.steps.theory) */
TEST(ms_steps_run, goodput_is_that_of_daly)
{
	static const double hours[] = {1, 3, 10};

	for (unsigned i = 0; i < 3; i++) {
		const struct ms_steps_class k = {.per_gpu = 1,
						 .mtbf_ns = hours[i] * 1000 * (double)HOUR,
						 .interrupts = true,
						 .slow = MS_STEPS_ONE};
		struct ms_steps_cfg c = job(&k, 1);
		double n = 400 * 24 / hours[i];

		c.horizon_ns = 400 * DAY;
		assert_near(goodput(&c), ms_steps_daly(&c), 4 * 0.5 / sqrt(n));
		assert_near(goodput(&c), ms_steps_daly(&c), 0.01);
		assert_near((double)r.interruptions, n, 4 * sqrt(n));
		assert_near(ms_steps_mtbi_ns(&c) / (double)HOUR, hours[i], 1e-9);
	}
}

/* REQ(sim.steps.theory) */
TEST(ms_steps_mtbi_ns, is_one_over_the_sum_of_all_rates)
{
	const struct ms_steps_class k[] = {
		{.per_gpu = 1, .mtbf_ns = 4000e9 * 3600, .interrupts = true, .slow = MS_STEPS_ONE},
		{.per_gpu = 0.5,
		 .mtbf_ns = 1000e9 * 3600,
		 .interrupts = true,
		 .slow = MS_STEPS_ONE},
		{.per_gpu = 8, .mtbf_ns = 100e9 * 3600, .slow = MS_STEPS_ONE},
	};
	struct ms_steps_cfg c = job(k, 3);
	double per_hour = 1000.0 / 4000 + 500.0 / 1000, n = per_hour * 400 * 24;

	assert_near(ms_steps_mtbi_ns(&c) / (double)HOUR, 1 / per_hour, 1e-9);
	goodput(&c);
	assert_near((double)r.interruptions, n, 4 * sqrt(n));
	assert_near((double)(r.faults - r.interruptions), 80 * 400 * 24, 4 * sqrt(80 * 400 * 24));
}

/* Twice the size, half the time between two. */
TEST(ms_steps_mtbi_ns, falls_with_size)
{
	const struct ms_steps_class k = {
		.per_gpu = 1, .mtbf_ns = 1e18, .interrupts = true, .slow = MS_STEPS_ONE};
	struct ms_steps_cfg c = job(&k, 1);
	double before = ms_steps_mtbi_ns(&c);

	c.gpus *= 2;
	assert_near(ms_steps_mtbi_ns(&c) / before, 0.5, 1e-12);
}

/* A class of which p are down at a time in the mean: Poisson, so that none is with e^-p. */
TEST(ms_steps_run, a_slow_fault_costs_the_share_of_time_in_which_one_lasts)
{
	const struct ms_steps_class k = {.per_gpu = 1,
					 .mtbf_ns = 1000.0 * 5 * 3600e9,
					 .repair_ns = HOUR,
					 .slow = MS_STEPS_ONE * 5 / 4};
	struct ms_steps_cfg c = job(&k, 1);
	double none = exp(-0.2), want = none + (1 - none) * 0.8;

	c.checkpoint_ns = 0;
	c.horizon_ns = 2000 * DAY;
	assert_near(goodput(&c), want, 0.005);
}

TEST(ms_steps_run, onsets_cost_their_time)
{
	const struct ms_steps_class k = {.per_gpu = 1,
					 .mtbf_ns = 1000.0 * 100e9,
					 .repair_ns = 1,
					 .slow = MS_STEPS_ONE,
					 .onset_ns = 2 * SECOND,
					 .recovery_ns = SECOND / 2};
	struct ms_steps_cfg c = job(&k, 1);

	c.checkpoint_ns = 0;
	c.horizon_ns = 40 * DAY;
	/* One each 100 s; the share that falls into the stall of another one costs less. */
	assert_near(goodput(&c), exp(-2.0 / 100), 0.001);
}

/* An outage ends when routing leads round it or the fault goes; long ones end QPs. */
TEST(ms_steps_run, outages_cost_what_is_shorter_and_end_jobs_that_do_not_wait)
{
	struct ms_steps_class k = {.per_gpu = 1,
				   .mtbf_ns = 1000.0 * 1000e9,
				   .repair_ns = 10 * SECOND,
				   .slow = MS_STEPS_ONE,
				   .outage_ns = 10 * SECOND};
	struct ms_steps_cfg c = job(&k, 1);
	double n = 400.0 * 86400 / 1000;

	c.checkpoint_ns = 0;
	/* The mean of the shorter of 10 s and an exponential time of mean 10 s. */
	assert_near(1 - goodput(&c), 10 * (1 - exp(-1.0)) / 1000, 0.0003);
	k.dies_ns = 5 * SECOND;
	goodput(&c);
	assert_near((double)r.interruptions, n * exp(-0.5), 4 * sqrt(n));
	assert_near(ms_steps_mtbi_ns(&c) / 1e9, 1000 / exp(-0.5), 1e-6);
	k.outage_ns = 4 * SECOND;
	goodput(&c);
	assert_u_eq(r.interruptions, 0);
}

TEST(ms_steps_best_ns, is_best_among_its_neighbours)
{
	const struct ms_steps_class k = {
		.per_gpu = 1, .mtbf_ns = 3e3 * 3600e9, .interrupts = true, .slow = MS_STEPS_ONE};
	struct ms_steps_cfg c = job(&k, 1);
	double best;

	c.checkpoint_every_ns = 0;
	best = ms_steps_daly(&c);
	c.checkpoint_every_ns = ms_steps_best_ns(&c) * 3 / 2;
	assert_true(ms_steps_daly(&c) < best);
	c.checkpoint_every_ns = ms_steps_best_ns(&c) * 2 / 3;
	assert_true(ms_steps_daly(&c) < best);
}

/* REQ(sim.same-bits) */
TEST(ms_steps_run, equal_seeds_give_equal_trials)
{
	const struct ms_steps_class k = {.per_gpu = 1,
					 .mtbf_ns = 1e16,
					 .repair_ns = HOUR,
					 .slow = MS_STEPS_ONE * 2,
					 .onset_ns = SECOND};
	struct ms_steps_cfg c = job(&k, 1);
	struct ms_steps_result first;

	goodput(&c);
	first = r;
	goodput(&c);
	assert_memory_equal(&first, &r, sizeof(r));
	c.seed++;
	goodput(&c);
	assert_true(memcmp(&first, &r, sizeof(r)) != 0);
}
