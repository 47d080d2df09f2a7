/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a scenario file. What is taken must be a run that can be made as far as
 * checks go; what is refused must say why. Files that it names are not there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "fabric/fabric_node.h"
#include "sim/scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ms_scenario *s)
{
	char why[MS_WHY_BYTES];

	mb_assert(ms_run_check(&s->run, why));
	mb_assert(s->run.n_workloads > 0 && s->run.n_workloads <= MS_PARTS_MAX);
	for (uint32_t i = 0; i < s->run.n_faults; i++) {
		mb_assert(s->run.faults[i].link < s->fabric.n_links);
		mb_assert(i == 0 || s->run.faults[i].at_ps >= s->run.faults[i - 1].at_ps);
	}
	mb_assert(ms_run_memory(&s->run) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ms_file_error error = {""};
	struct ms_scenario *s;
	char *text = malloc(size + 1);

	mb_assert(text);
	memcpy(text, data, size);
	text[size] = '\0';
	s = ms_scenario_read("/no/such/folder/f", text, NULL, &error);
	mb_assert(s || error.text[0]);
	if (s)
		check(s);
	ms_scenario_destroy(s);
	free(text);
	return 0;
}
