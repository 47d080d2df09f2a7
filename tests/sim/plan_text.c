/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_text.c - plans as text, and making them simpler.
 *
 * A plan in a file is lines of `name value`, values in decimal or 0x; what follows the value, and
 * lines that begin with '#', are for the reader. What is not named is at its simplest.
 */
#include "plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void sim_plan_write(const struct sim_plan *plan, FILE *out, const char *before)
{
	fprintf(out, "%sseed 0x%016" PRIx64 "\n", before, plan->seed);
#define WRITE(name, simplest, text)   \
	if (plan->name != (simplest)) \
		fprintf(out, "%s%-14s %10" PRIu64 "  %s\n", before, #name, plan->name, text);
	SIM_PLAN(WRITE)
#undef WRITE
}

static uint64_t *field(struct sim_plan *plan, const char *wanted)
{
	if (strcmp(wanted, "seed") == 0)
		return &plan->seed;
#define FIELD(name, simplest, text)     \
	if (strcmp(wanted, #name) == 0) \
		return &plan->name;
	SIM_PLAN(FIELD)
#undef FIELD
	return NULL;
}

static bool read_line(struct sim_plan *plan, const char *line)
{
	char name[32], number[32], *end;
	uint64_t *to;

	if (line[0] == '#' || line[0] == '\n')
		return true;
	if (sscanf(line, "%31s %31s", name, number) != 2)
		return false;
	to = field(plan, name);
	errno = 0;
	if (to)
		*to = strtoull(number, &end, 0);
	return to && !errno && !*end;
}

bool sim_plan_read(struct sim_plan *plan, FILE *in, unsigned *bad_line)
{
	char line[200];

	*plan = (struct sim_plan){0};
#define SIMPLEST(name, simplest, text) plan->name = (simplest);
	SIM_PLAN(SIMPLEST)
#undef SIMPLEST
	for (*bad_line = 1; fgets(line, sizeof(line), in); ++*bad_line)
		if (!read_line(plan, line))
			return false;
	return !ferror(in);
}

/* ---- making a plan simpler ---- */

static bool still_fails(const struct sim_plan *plan, unsigned *tries)
{
	struct sim_outcome outcome;

	if (*tries == 0)
		return false;
	--*tries;
	sim_plan_run(plan, &outcome, false);
	return outcome.failed;
}

/* Tries the simplest value, then half way to it; true when something became simpler. */
static bool shrink_one(struct sim_plan *plan, uint64_t *field, uint64_t simplest, unsigned *tries)
{
	uint64_t was = *field;
	uint64_t half = was > simplest ? simplest + (was - simplest) / 2 : simplest;

	if (was == simplest)
		return false;
	*field = simplest;
	if (still_fails(plan, tries))
		return true;
	*field = half;
	if (half != simplest && still_fails(plan, tries))
		return true;
	*field = was;
	return false;
}

void sim_plan_shrink(struct sim_plan *plan, unsigned tries)
{
	bool simpler = true;

	while (simpler && tries > 0) {
		simpler = false;
#define SHRINK(name, simplest, text) \
	simpler = shrink_one(plan, &plan->name, simplest, &tries) || simpler;
		SIM_PLAN(SHRINK)
#undef SHRINK
	}
}

#define SHRINK_TRIES 60u

/* The file is named after the seed, so that what fails again is written only once. */
static void keep(const struct sim_plan *plan, const char *why)
{
	char name[64];
	FILE *out;

	snprintf(name, sizeof(name), "world-%016" PRIx64 ".plan", plan->seed);
	out = fopen(name, "w");
	if (!out) {
		printf("# %s: %s; not kept\n", name, strerror(errno));
		return;
	}
	fprintf(out, "# %s\n", why);
	sim_plan_write(plan, out, "");
	if (fclose(out))
		printf("# %s: %s; not kept\n", name, strerror(errno));
	else
		printf("# this is %s now; tests/sim/kept/ is for what must never fail again\n",
		       name);
}

void sim_plan_explain(const struct sim_plan *plan)
{
	struct sim_plan simple = *plan;
	struct sim_outcome outcome;

	sim_plan_write(plan, stdout, "#   ");
	sim_plan_shrink(&simple, SHRINK_TRIES);
	printf("# the simplest that still fails:\n");
	sim_plan_write(&simple, stdout, "#   ");
	sim_plan_run(&simple, &outcome, true);
	keep(&simple, outcome.why);
}
