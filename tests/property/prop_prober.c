/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the first probe of a fabric that is already broken until all of it is named rightly, part,
 * kind and direction, and nothing else, and stays so: 100 ms at the median and 500 ms at most, by a
 * clock of the test's own. Of small shares chance has its say: of a hundred checks one may be late.
 * And when it is over, until nothing is named any more: 1.5 s at most, and 3 s of a share of 1 %,
 * which it takes more packets to tell from none.
 */
#include "prober_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACE_BIT_S UINT64_C(100000000)
/* As prober_world has them. */
#define LINK_BIT_S (2 * PACE_BIT_S)
#define STEP_MS 10u
#define STEPS 100u
#define NEVER_MS UINT32_MAX
#define ROUNDS 30u
#define MEDIAN_MS 100u
#define MOST_MS 500u
#define LATE_PART 100u
#define STEADY_STEPS 500u
#define LOW_RATE_BIT_S UINT64_C(300000)
#define LOW_RATE_STEPS 12000u
#define PAUSE_ROUNDS 10u
#define PAUSE_STEPS 40u
#define PAUSE_NS UINT64_C(1000000000)
#define END_STEPS 400u
#define END_MS 1500u
#define END_SMALL_MS 3000u
#define SMALL_PPM 10000u
#define END_ROUNDS 7u

struct case_of_names {
	struct prober_fault fault;
	enum mm_kind kind;
};

static const struct case_of_names cases[] = {
	{{"host3.plane0", MF_DIRECTION_BOTH, MM_LOST, 1000000, 0}, MM_DEAD},
	{{"plane0.t0-0.t1-0", MF_DIRECTION_BOTH, MM_LOST, 1000000, 0}, MM_DEAD},
	{{"plane0.t0-0.t1-0", MF_DIRECTION_OUT, MM_LOST, 1000000, 0}, MM_DEAD},
	{{"plane1.t1-0", MF_DIRECTION_BOTH, MM_LOST, 1000000, 0}, MM_DEAD},
	{{"plane0.t0-1.t1-1", MF_DIRECTION_BOTH, MM_LOST, 100000, 0}, MM_LOSSY},
	{{"plane0.t0-1.t1-1", MF_DIRECTION_OUT, MM_LOST, 100000, 0}, MM_LOSSY},
	{{"plane0.t0-1.t1-1", MF_DIRECTION_BOTH, MM_LOST, 10000, 0}, MM_LOSSY},
	{{"plane1.t0-1.t1-0", MF_DIRECTION_BOTH, MM_CORRUPTED, 100000, 0}, MM_CORRUPTING},
	{{"plane1.t0-1.t1-0", MF_DIRECTION_BOTH, MM_DUPLICATED, 100000, 0}, MM_DUPLICATING},
	{{"plane1.t0-1.t1-0", MF_DIRECTION_BOTH, MM_REORDERED, 100000, 0}, MM_REORDERING},
	{{"plane0.t0-1.t1-1", MF_DIRECTION_BOTH, MM_SLOWED, 0, 20000000}, MM_SLOW},
	{{"host0.plane0", MF_DIRECTION_BOTH, MM_SLOWED, 0, 20000000}, MM_SLOW},
	{{"host0.plane0", MF_DIRECTION_OUT, MM_SLOWED, 0, 20000000}, MM_SLOW},
	{{"host0.plane0", MF_DIRECTION_IN, MM_SLOWED, 0, 20000000}, MM_SLOW},
};

static bool is_right(const struct case_of_names *c, const struct mm_sick *sick, size_t n)
{
	char name[MM_PART_NAME_BYTES];

	return n == 1 && sick[0].kind == c->kind && sick[0].part.direction == c->fault.direction &&
	       strcmp(mm_part_name(prober_world_topology(), &sick[0].part, name),
		      c->fault.target) == 0;
}

/* Until it was right and stayed so to the end. */
static uint32_t ms_to_name(const struct case_of_names *c)
{
	uint32_t since = NEVER_MS;

	prober_world_begin("tiny", PACE_BIT_S, 1);
	prober_world_fault(&c->fault);
	for (uint32_t step = 0; step < STEPS; step++) {
		size_t n;
		const struct mm_sick *sick = prober_world_step(&n);

		if (!is_right(c, sick, n))
			since = NEVER_MS;
		else if (since == NEVER_MS)
			since = step * STEP_MS;
	}
	prober_world_end();
	return since;
}

/* A world in which a fault has lasted a second, and then a direction of it has healed. */
static void begin_healed(const struct case_of_names *c, enum mf_direction healed)
{
	struct prober_fault none = c->fault;
	size_t n;

	none.direction = healed;
	none.ppm = 0;
	none.bit_s = c->fault.bit_s ? LINK_BIT_S : 0;
	prober_world_begin("tiny", PACE_BIT_S, 1);
	prober_world_fault(&c->fault);
	for (uint32_t step = 0; step < STEPS; step++)
		prober_world_step(&n);
	prober_world_fault(&none);
}

/* Of what ended when it had lasted a second: until nothing is named, and stays so. */
static uint32_t ms_to_end(const struct case_of_names *c)
{
	uint32_t since = NEVER_MS;
	size_t n;

	begin_healed(c, c->fault.direction);
	for (uint32_t step = 0; step < END_STEPS; step++) {
		prober_world_step(&n);
		if (n > 0)
			since = NEVER_MS;
		else if (since == NEVER_MS)
			since = step * STEP_MS;
	}
	prober_world_end();
	return since;
}

/* Of what was bad in both directions until one of them healed: until the other alone is named. */
static uint32_t ms_to_tell(const struct case_of_names *c, enum mf_direction healed)
{
	struct case_of_names left = *c;
	uint32_t since = NEVER_MS;
	size_t n;

	left.fault.direction = healed == MF_DIRECTION_OUT ? MF_DIRECTION_IN : MF_DIRECTION_OUT;
	begin_healed(c, healed);
	for (uint32_t step = 0; step < END_STEPS; step++) {
		const struct mm_sick *sick = prober_world_step(&n);

		if (!is_right(&left, sick, n))
			since = NEVER_MS;
		else if (since == NEVER_MS)
			since = step * STEP_MS;
	}
	prober_world_end();
	return since;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* How many of the rounds were late. */
static size_t check_median(const struct case_of_names *c, size_t rounds)
{
	static const char *const directions[] = {"both", "out", "in"};
	size_t late = 0;
	uint32_t *ms = calloc(rounds, sizeof(*ms));

	assert_non_null(ms);
	for (size_t i = 0; i < rounds; i++) {
		ms[i] = ms_to_name(c);
		late += ms[i] > MOST_MS;
	}
	qsort(ms, rounds, sizeof(*ms), by_number);
	printf("# %s %s %s: median %u ms, at most %u ms\n", c->fault.target, mm_kind_name(c->kind),
	       directions[c->fault.direction], ms[rounds / 2], ms[rounds - 1]);
	assert_u_between(ms[rounds / 2], 1, MEDIAN_MS);
	free(ms);
	return late;
}

TEST(prober, has_each_fault_named_in_time)
{
	size_t n = sizeof(cases) / sizeof(cases[0]), rounds = test_long_rounds(ROUNDS), late = 0;

	for (size_t i = 0; i < n; i++)
		late += check_median(&cases[i], rounds);
	assert_u_between(late, 0, n * rounds / LATE_PART);
}

/* The plan takes all of such a rate, and leaves nothing for trains beside its own. */
TEST(prober, has_a_slow_cable_named_at_a_rate_that_leaves_nothing)
{
	const struct case_of_names c = {
		{"plane0.t0-1.t1-1", MF_DIRECTION_BOTH, MM_SLOWED, 0, 20000000}, MM_SLOW};
	bool named = false;

	prober_world_begin_at("tiny", PACE_BIT_S, 1, LOW_RATE_BIT_S);
	prober_world_fault(&c.fault);
	for (uint32_t step = 0; step < LOW_RATE_STEPS && !named; step++) {
		size_t n;
		const struct mm_sick *sick = prober_world_step(&n);

		named = is_right(&c, sick, n);
	}
	prober_world_end();
	assert_true(named);
}

/* Of a small share something else may be named beside it once, for a moment. */
TEST(prober, has_each_fault_stay_named)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool was_right = false;
		uint32_t changes = 0;

		prober_world_begin("tiny", PACE_BIT_S, 1);
		prober_world_fault(&cases[i].fault);
		for (uint32_t step = 0; step < STEADY_STEPS; step++) {
			size_t n;
			const struct mm_sick *sick = prober_world_step(&n);
			bool right = is_right(&cases[i], sick, n);

			changes += right != was_right;
			was_right = right;
		}
		prober_world_end();
		assert_true(was_right);
		assert_u_between(changes, 1, cases[i].fault.ppm == SMALL_PPM ? 3 : 1);
	}
}

TEST(prober, has_each_fault_end_in_time)
{
	size_t rounds = test_long_rounds(END_ROUNDS), late = 0, all = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool small = cases[i].fault.ppm == SMALL_PPM;
		uint32_t most = 0;

		for (size_t n = 0; n < rounds; n++) {
			uint32_t ms = ms_to_end(&cases[i]);

			late += ms > (small ? END_SMALL_MS : END_MS);
			all++;
			most = ms > most ? ms : most;
		}
		printf("# %s %s is over: at most %u ms\n", cases[i].fault.target,
		       mm_kind_name(cases[i].kind), most);
	}
	assert_u_between(late, 0, all / LATE_PART);
}

/* Cables of switches; but of what shows little of itself it takes as long as chance has it. */
static bool has_directions(const struct case_of_names *c)
{
	return c->fault.direction == MF_DIRECTION_BOTH && c->kind != MM_REORDERING &&
	       c->fault.ppm != SMALL_PPM && strstr(c->fault.target, ".t0-");
}

TEST(prober, has_the_direction_told_that_is_left)
{
	size_t rounds = test_long_rounds(END_ROUNDS);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t most = 0;

		for (size_t n = 0; has_directions(&cases[i]) && n < rounds; n++) {
			uint32_t ms =
				ms_to_tell(&cases[i], n % 2 ? MF_DIRECTION_OUT : MF_DIRECTION_IN);

			most = ms > most ? ms : most;
		}
		if (has_directions(&cases[i]))
			printf("# %s %s: one direction is left, told after %u ms\n",
			       cases[i].fault.target, mm_kind_name(cases[i].kind), most);
		assert_u_between(most, 0, END_MS);
	}
}

/*
 * On a machine that stops now and then: right after that the shortest window has the routes over
 * one cable of a dead T1 alone, and what was named explains them as well as anything.
 */
TEST(prober, has_a_switch_stay_named_over_pauses)
{
	const struct case_of_names c = {{"plane2.t1-0", MF_DIRECTION_BOTH, MM_LOST, 1000000, 0},
					MM_DEAD};

	for (size_t i = 0; i < test_long_rounds(PAUSE_ROUNDS); i++) {
		bool named = false;

		prober_world_begin("lab", PACE_BIT_S, 4);
		prober_world_fault(&c.fault);
		for (uint32_t step = 0; step < STEADY_STEPS; step++) {
			size_t n;
			const struct mm_sick *sick;

			if (test_rand_below(PAUSE_STEPS) == 0)
				prober_world_pause(test_rand_below(PAUSE_NS));
			sick = prober_world_step(&n);
			named = named || is_right(&c, sick, n);
			if (named && !is_right(&c, sick, n))
				fail_msg("round %zu, step %u: %zu parts named", i, step, n);
		}
		assert_true(named);
		prober_world_end();
	}
}

struct case_of_quiet {
	const char *preset;
	uint32_t steps_least, steps;
	uint64_t pace_bit_s[4];
};

/* At paces at which a train takes longer than a step, and at such as no machine sends one at. */
static const struct case_of_quiet quiets[] = {
	{"tiny", 1, 1000, {20000000, 50000000, 100000000, 100000000000}},
	{"lab", 4, 1000, {10000000, 20000000, 50000000, 100000000}},
	{"small3", 13, 500, {20000000, 50000000, 100000000, 1000000000}},
	{"lab8", 31, 300, {10000000, 50000000}},
};

static void check_nobody_accused(const struct case_of_quiet *c, uint64_t pace_bit_s)
{
	prober_world_begin(c->preset, pace_bit_s, c->steps_least);
	for (uint32_t step = 0; step < c->steps; step++) {
		char text[MM_SICK_TEXT_BYTES];
		size_t n;
		const struct mm_sick *sick = prober_world_step(&n);

		if (n > 0)
			fail_msg("%s at %llu bit/s, step %u: %s", c->preset,
				 (unsigned long long)pace_bit_s, step,
				 mm_sick_text(prober_world_topology(), sick, sick->since_ns, text));
	}
	prober_world_end();
}

TEST(prober, has_nobody_accused_where_nothing_is_wrong)
{
	for (size_t i = 0; i < sizeof(quiets) / sizeof(quiets[0]); i++)
		for (size_t pace = 0; pace < 4 && quiets[i].pace_bit_s[pace]; pace++)
			check_nobody_accused(&quiets[i], quiets[i].pace_bit_s[pace]);
}
