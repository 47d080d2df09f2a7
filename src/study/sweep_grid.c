/* SPDX-License-Identifier: BSD-2-Clause */
/* The points of a sweep: see study.h. */
#include "study/study.h"

#include <stdio.h>
#include <string.h>

static bool set_axis_error(char *why, const char *vary, const char *what)
{
	snprintf(why, SIM_GRID_WHY, "--vary %.160s: %s", vary, what);
	return false;
}

/* split_values cuts the text of an axis at its commas; false: too many values, or an empty one. */
static bool split_values(struct sim_axis *a)
{
	char *at = a->text;

	for (;;) {
		size_t len = strcspn(at, ",");
		bool last = at[len] == '\0';

		if (len == 0 || a->n == SIM_GRID_VALUES)
			return false;
		at[len] = '\0';
		for (size_t i = 0; i < a->n; i++)
			if (strcmp(a->value[i], at) == 0)
				return false;
		a->value[a->n++] = at;
		if (last)
			return true;
		at += len + 1;
	}
}

bool sim_grid_add(struct sim_grid *g, const char *vary, char why[SIM_GRID_WHY])
{
	const char *equals = strchr(vary, '=');
	size_t len = equals ? (size_t)(equals - vary) : 0;
	struct sim_axis *a;

	if (g->n_axes == SIM_GRID_AXES)
		return set_axis_error(why, vary, "expected at most 6 keys");
	a = &g->axis[g->n_axes];
	if (len == 0 || len >= sizeof(a->key) || strlen(equals + 1) >= sizeof(a->text))
		return set_axis_error(why, vary, "expected KEY=VALUE,VALUE, as in mrc.evs=1,4,16");
	for (size_t i = 0; i < g->n_axes; i++)
		if (strlen(g->axis[i].key) == len && memcmp(g->axis[i].key, vary, len) == 0)
			return set_axis_error(why, vary, "the key was given before");
	memset(a, 0, sizeof(*a));
	memcpy(a->key, vary, len);
	memcpy(a->text, equals + 1, strlen(equals + 1) + 1);
	if (!split_values(a))
		return set_axis_error(why, vary,
				      "expected at most 64 values, none of them empty or twice");
	if ((g->points ? g->points : 1) * a->n > SIM_GRID_POINTS)
		return set_axis_error(why, vary, "that makes more than 4096 points");
	g->points = (g->points ? g->points : 1) * a->n;
	g->n_axes++;
	return true;
}

const char *sim_grid_value(const struct sim_grid *g, size_t point, size_t axis)
{
	for (size_t i = g->n_axes - 1; i > axis; i--)
		point /= g->axis[i].n;
	return g->axis[axis].value[point % g->axis[axis].n];
}

char *sim_grid_name(const struct sim_grid *g, size_t point, char out[SIM_GRID_NAME])
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < g->n_axes && at < SIM_GRID_NAME; i++)
		at += (size_t)snprintf(out + at, SIM_GRID_NAME - at, "%s%s=%s", i ? "," : "",
				       g->axis[i].key, sim_grid_value(g, point, i));
	for (char *c = out; *c; c++)
		if (*c == '/' || *c == ' ')
			*c = '_';
	return out;
}
