/* SPDX-License-Identifier: BSD-2-Clause */
/* Results by name: see study.h. */
#include "study/study.h"

#include "study/study_verbs.h"

#include <stdio.h>
#include <string.h>

static json_t *from_file(const char *who, const char *name)
{
	json_error_t wrong;
	json_t *result = json_load_file(name, 0, &wrong);

	if (!result) {
		fprintf(stderr, "%s: %s:%d: %s\n", who, name, wrong.line > 0 ? wrong.line : 0,
			wrong.text);
		return NULL;
	}
	if (json_is_object(result) && json_is_string(json_object_get(result, "scenario")))
		return result;
	fprintf(stderr, "%s: %s: is no result of mrc sim run\n", who, name);
	json_decref(result);
	return NULL;
}

json_t *sim_load(const char *who, const char *name, bool quiet, int *status)
{
	const struct sim_run_how how = {.quiet = quiet, .account = true};
	const char *dot = strrchr(name, '.');
	struct ms_file_error error;
	struct ms_scenario *s;
	json_t *result = NULL;

	*status = SIM_EXIT_USAGE;
	if (dot && strcmp(dot, ".json") == 0) {
		result = from_file(who, name);
		if (result)
			*status = SIM_EXIT_GOOD;
		return result;
	}
	s = sim_source_read(name, NULL, &error);
	if (!s) {
		fprintf(stderr, "%s: %s\n", who, error.text);
		return NULL;
	}
	*status = sim_run_scenario(s, &how, &result);
	ms_scenario_destroy(s);
	return result;
}
