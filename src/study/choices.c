/* SPDX-License-Identifier: BSD-2-Clause */
/* Words that several verbs take: see study_verbs.h. */
#include "study/study_verbs.h"

#include "fabric/topology_toml.h"
#include "sim/scenario/scenario.h"

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

const struct ui_choices study_topologies = {
	"TOPOLOGY",
	"TOPOLOGY is a file (something with a dot or a slash in it) or one of:", topology_at};

const struct ui_choices study_scenarios = {"SCENARIO", NULL, scenario_at};
