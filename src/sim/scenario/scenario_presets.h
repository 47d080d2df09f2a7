/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario_presets.h - the scenarios that are built in: the files of scenario/presets, byte for
 * byte. They are installed as files too, to be read and changed.
 */
#ifndef SOFTMRC_SIM_SCENARIO_SCENARIO_PRESETS_H
#define SOFTMRC_SIM_SCENARIO_SCENARIO_PRESETS_H

#include <stddef.h>

struct ms_preset {
	const char *name; /* of the file, without .toml */
	const char *text;
};

/* ms_preset_at returns preset number n, by name; NULL: there are fewer. Constant. */
const struct ms_preset *ms_preset_at(size_t n);
/* ms_preset_find returns the preset of a name, NULL: there is none. */
const struct ms_preset *ms_preset_find(const char *name);
/* ms_preset_near returns the name of the preset nearest to a wrong one, or NULL. */
const char *ms_preset_near(const char *name);

#endif
