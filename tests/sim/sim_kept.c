/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_kept.c - worlds that failed once, or that found a fault planted on purpose: each file of
 * tests/sim/kept is a plan, and a case. A plan is kept rather than a seed because what a seed draws
 * changes with every new kind of trouble.
 */
#include <dirent.h>
#include <stdio.h>

#include "plan.h"
#include "support/test.h"

#define KEPT_MAX 500u

struct kept {
	char name[128];
	char path[512];
};

static struct kept kept[KEPT_MAX];

static void run_kept(void **state)
{
	const struct kept *k = *state;
	struct sim_outcome outcome;
	struct sim_plan plan;
	unsigned line;
	FILE *in = fopen(k->path, "r");

	assert_non_null(in);
	if (!sim_plan_read(&plan, in, &line))
		fail_msg("%s, line %u: want a field of plan.h and a number", k->path, line);
	fclose(in);
	sim_plan_run(&plan, &outcome, false);
	if (outcome.failed) {
		sim_plan_explain(&plan);
		fail_msg("%s: %s", k->path, outcome.why);
	}
}

static int is_plan(const struct dirent *d)
{
	size_t len = strlen(d->d_name);

	return len > 5 && strcmp(d->d_name + len - 5, ".plan") == 0;
}

__attribute__((constructor)) static void register_kept(void)
{
	struct dirent **names;
	int n = scandir(KEPT_FOLDER, &names, is_plan, alphasort);

	if (n < 0 || (unsigned)n > KEPT_MAX) {
		perror(KEPT_FOLDER);
		exit(2);
	}
	for (int i = 0; i < n; i++) {
		struct kept *k = &kept[i];

		snprintf(k->path, sizeof(k->path), KEPT_FOLDER "/%s", names[i]->d_name);
		snprintf(k->name, sizeof(k->name), "sim_kept__%.*s",
			 (int)strlen(names[i]->d_name) - 5, names[i]->d_name);
		test_register(k->name, run_kept, NULL, NULL, k);
		free(names[i]);
	}
	free(names);
}
