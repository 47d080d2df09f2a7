/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main() of every test binary. Cases register themselves before main runs (TEST in test.h); this
 * file keeps the table, reads the command line and hands the table to cmocka.
 *
 *	unit_x [-l] [PATTERN] [-- ARG...]
 */
#include "support/test.h"
#include "support/whole_run.h"

#include <fnmatch.h>
#include <stdio.h>

struct test_case {
	CMUnitTestFunction run;
	CMFixtureFunction setup, teardown;
	void *initial;
};

/* Large enough for any one binary; registration beyond it stops the run rather than lose a case. */
#define MAX_CASES 1024

static struct CMUnitTest tests[MAX_CASES];
static struct test_case cases[MAX_CASES];
static size_t n_cases;
static char **args;

static const struct test_case *current; /* the case that runs */
static bool is_set_up;

/* Every case begins from the same random state, so that a case run alone repeats what it did in
 * company. */
static int begin_case(void **state)
{
	current = *state;
	is_set_up = false;
	test_rand_restart();
	*state = current->initial;
	return 0;
}

/* To cmocka the setup is a part of the case: elsewhere it takes one that skips for a failure. */
static void run_case(void **state)
{
	if (current->setup && current->setup(state) != 0)
		fail_msg("the setup failed");
	is_set_up = true;
	current->run(state);
}

/* Of a setup that skipped or failed nothing is there to be taken down. */
static int end_case(void **state)
{
	return is_set_up && current->teardown ? current->teardown(state) : 0;
}

void test_register(const char *name, CMUnitTestFunction run, CMFixtureFunction setup,
		   CMFixtureFunction teardown, void *initial)
{
	struct test_case *tc = &cases[n_cases];

	if (n_cases == MAX_CASES) {
		fprintf(stderr, "%s: more than %d cases in one test binary\n", name, MAX_CASES);
		abort();
	}
	*tc = (struct test_case){
		.run = run, .setup = setup, .teardown = teardown, .initial = initial};
	tests[n_cases++] = (struct CMUnitTest){.name = name,
					       .test_func = run_case,
					       .setup_func = begin_case,
					       .teardown_func = end_case,
					       .initial_state = tc};
}

void test_skip_reason(const char *reason)
{
	printf("# skip: %s\n", reason);
}

const char *test_arg(size_t n)
{
	for (size_t i = 0; args && args[i]; i++)
		if (i == n)
			return args[i];
	return NULL;
}

static int list_cases(void)
{
	for (size_t i = 0; i < n_cases; i++)
		puts(tests[i].name);
	return 0;
}

/* Refuses a pattern that no case matches: a run of nothing would pass. */
static void choose_cases(const char *pattern)
{
	for (size_t i = 0; i < n_cases; i++) {
		if (fnmatch(pattern, tests[i].name, 0) == 0) {
			cmocka_set_test_filter(pattern);
			return;
		}
	}
	fprintf(stderr, "no case matches %s\n", pattern);
	exit(1);
}

int main(int argc, char **argv)
{
	int failed;

	/* Whole lines even through a pipe, so that stderr never lands inside one. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			args = &argv[i + 1];
			break;
		}
		if (strcmp(argv[i], "-l") == 0)
			return list_cases();
		choose_cases(argv[i]);
	}
	if (n_cases == 0) {
		fprintf(stderr, "%s: no cases\n", argv[0]);
		return 1;
	}
	test_run_begins();
	failed = _cmocka_run_group_tests("tests", tests, n_cases, NULL, NULL);
	test_run_ends();
	/* An exit status above 255 would wrap, perhaps to 0. */
	return failed ? 1 : 0;
}
