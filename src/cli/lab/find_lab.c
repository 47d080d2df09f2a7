/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding labs: see find_lab.h. */
#include "cli/lab/find_lab.h"
#include "lab/lab.h"

#include <stdio.h>
#include <string.h>

static void add_name(void *context, const char *name)
{
	struct reach_names *names = context;

	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->name[i], name) == 0)
			return;
	if (names->n < REACH_LABS_MAX)
		snprintf(names->name[names->n++], ML_LAB_NAME_MAX, "%s", name);
}

void find_lab_list(struct reach_names *names)
{
	names->n = 0;
	if (!ml_needs_ns_holder())
		ml_lab_list(add_name, names);
	ml_ns_holder_list(add_name, names);
}

const char *find_lab_name(const char *given, struct reach_names *names, const char *who)
{
	if (given)
		return given;
	find_lab_list(names);
	if (names->n == 1)
		return names->name[0];
	if (!names->n) {
		fprintf(stderr, "%s: no lab is up; mrc lab up makes one\n", who);
		return NULL;
	}
	fprintf(stderr, "%s: which lab? There are", who);
	for (size_t i = 0; i < names->n; i++)
		fprintf(stderr, " %s", names->name[i]);
	fprintf(stderr, "\n");
	return NULL;
}

struct ml_lab *find_lab_open(const char *name, const char *who)
{
	struct ml_error e;
	struct ml_lab *lab = NULL;

	if (ml_ns_holder_join(name, &e) >= 0)
		lab = ml_lab_open(name, &e);
	if (!lab)
		fprintf(stderr, "%s: %s\n", who, e.text);
	return lab;
}
