/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_changes.c - what flags change of a scenario: see study.h. */
#include "study/study.h"

#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>

void sim_changes_of(struct sim_changes *c, const struct ui_flag_texts *set)
{
	c->n_made = 0;
	for (c->n = 0; c->n < set->n; c->n++)
		c->text[c->n] = set->text[c->n];
}

void sim_changes_add(struct sim_changes *c, const char *key, uint64_t number, const char *unit)
{
	char *made;

	if (number == 0)
		return;
	mb_assert(c->n_made < SIM_KEY_FLAGS_MAX);
	made = c->made[c->n_made++];
	snprintf(made, sizeof(c->made[0]), "%s=%" PRIu64 "%s", key, number, unit);
	c->text[c->n++] = made;
}
