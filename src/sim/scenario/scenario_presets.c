/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_presets.c - looks in what the build made of the files; see cmake/embed_text.cmake. */
#include "sim/scenario/scenario_presets.h"

#include <string.h>

#include "base/suggest.h"

#define PRESETS_MAX 128u

/* Made by the build, ends with an element of NULLs. */
extern const struct ms_preset ms_presets[];

const struct ms_preset *ms_preset_at(size_t n)
{
	for (size_t i = 0; ms_presets[i].name; i++)
		if (i == n)
			return &ms_presets[i];
	return NULL;
}

const struct ms_preset *ms_preset_find(const char *name)
{
	for (size_t i = 0; ms_presets[i].name; i++)
		if (strcmp(ms_presets[i].name, name) == 0)
			return &ms_presets[i];
	return NULL;
}

const char *ms_preset_near(const char *name)
{
	const char *names[PRESETS_MAX];
	size_t n = 0;

	for (; n < PRESETS_MAX && ms_presets[n].name; n++)
		names[n] = ms_presets[n].name;
	return mb_suggest_find(name, names, n);
}
