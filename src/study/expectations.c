/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a result what it must be: see study.h. */
#include "study/study.h"

#include "study/study_verbs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* other runs the scenario that an expectation compares with. */
static json_t *other_figure(const struct ms_expectation *e)
{
	const struct sim_run_how how = {.quiet = true};
	struct ms_file_error error;
	struct ms_scenario *s = sim_source_read(e->than, NULL, &error);
	json_t *result = NULL;

	if (!s) {
		fprintf(stderr, "mrc sim run: expect.than: %s\n", error.text);
		return NULL;
	}
	sim_run_scenario(s, &how, &result);
	ms_scenario_destroy(s);
	return result;
}

static void print_band(const struct ms_expectation *e)
{
	if (e->min == e->max)
		printf(" (must be %g)", e->min);
	else if (isinf(e->min))
		printf(" (at most %g)", e->max);
	else if (isinf(e->max))
		printf(" (at least %g)", e->min);
	else
		printf(" (%g to %g)", e->min, e->max);
}

/* holds says whether an expectation holds. */
static bool is_expectation_met(const struct ms_expectation *e, const json_t *result,
			       const json_t *than)
{
	double value, divisor = 1;
	bool good;

	if (!sim_result_figure(result, e->figure, &value) ||
	    (than && !sim_result_figure(than, e->figure, &divisor))) {
		printf("missing  %s: unknown figure\n", e->figure);
		return false;
	}
	if (than)
		value = divisor != 0 ? value / divisor : HUGE_VAL;
	good = value >= e->min && value <= e->max;
	printf("%s %s%s%s = %.6g", good ? "holds   " : "VIOLATED", e->figure,
	       than ? " / that of " : "", than ? e->than : "", value);
	print_band(e);
	printf("%s%s\n", e->source[0] ? ": " : "", e->source);
	return good;
}

int sim_expect(const struct ms_scenario *s, const json_t *result)
{
	const char *name = "";
	json_t *than = NULL;
	bool good = true;

	for (uint32_t i = 0; i < s->n_expectations; i++) {
		const struct ms_expectation *e = &s->expectation[i];

		if (e->than[0] && (!than || strcmp(name, e->than) != 0)) {
			json_decref(than);
			than = other_figure(e);
			name = e->than;
		}
		if (e->than[0] && !than) {
			printf("missing  %s: %s did not run\n", e->figure, e->than);
			good = false;
			continue;
		}
		good = is_expectation_met(e, result, e->than[0] ? than : NULL) && good;
	}
	json_decref(than);
	return good ? SIM_EXIT_GOOD : SIM_EXIT_FAILED;
}
