/* SPDX-License-Identifier: BSD-2-Clause */
/* Words that several verbs take: see study_verbs.h. */
#include "study/study_verbs.h"

#include "fabric/topology_toml.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/scenario_keys.h"

#include <stdio.h>

static bool topology_at(size_t i, struct ui_choice *out)
{
	const struct mb_named_text *preset = mb_named_text_at(mf_presets, i);

	if (preset)
		*out = (struct ui_choice){preset->name, NULL, preset->about};
	return preset;
}

static bool scenario_at(size_t i, struct ui_choice *out)
{
	const struct mb_named_text *preset = mb_named_text_at(ms_presets, i);

	if (preset)
		*out = (struct ui_choice){preset->name, NULL, NULL};
	return preset;
}

/* Keys of a scenario as --set names them, the first element of an array: "workload.0.bytes=". */
static bool key_at(size_t i, struct ui_choice *out)
{
	static char word[80];
	const struct ms_table *table;
	size_t tables;

	table = ms_scenario_tables(&tables);
	for (size_t k = 0; k < tables; i -= table[k++].n_keys) {
		if (i >= table[k].n_keys)
			continue;
		snprintf(word, sizeof(word), "%s%s%s=", table[k].name,
			 !table[k].name[0] ? ""
			 : table[k].max	   ? ".0."
					   : ".",
			 table[k].keys[i].name);
		*out = (struct ui_choice){word, NULL, NULL};
		return true;
	}
	return false;
}

const struct ui_choices study_topologies = {
	"TOPOLOGY",
	"TOPOLOGY is a file (something with a dot or a slash in it) or one of:", topology_at, NULL};

const struct ui_choices study_scenarios = {"SCENARIO", NULL, scenario_at, NULL};

const struct ui_choices study_keys = {"KEY=VALUE", NULL, key_at, NULL};
