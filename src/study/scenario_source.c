/* SPDX-License-Identifier: BSD-2-Clause */
/* Scenarios by name: see study.h. */
#include "study/study.h"

#include "sim/import/input.h"
#include "sim/scenario/scenario.h"
#include "ui/text.h"

#include <stdlib.h>
#include <string.h>

/* read_joined reads two texts as one. */
static struct ms_scenario *read_joined(const char *name, const char *text, const char *more,
				       const struct ms_changes *changes,
				       struct ms_file_error *error)
{
	struct ui_text both = {0};
	struct ms_scenario *s;

	if (!more[0])
		return ms_scenario_read(name, text, changes, error);
	ui_text_add(&both, "%s\n%s", text, more);
	s = ms_scenario_read(name, both.data, changes, error);
	ui_text_fini(&both);
	return s;
}

struct ms_scenario *sim_source_read_more(const char *name, const char *more,
					 const struct ms_changes *changes,
					 struct ms_file_error *error)
{
	const struct mb_named_text *preset = mb_named_text_find(ms_presets, name);
	struct ms_scenario *s;
	const char *near;
	char *text;

	if (preset)
		return read_joined(name, preset->text, more, changes, error);
	if (!strpbrk(name, "./")) {
		near = mb_named_text_near(ms_presets, name);
		ms_file_set_error(error, name, 0, "unknown scenario; %s%s%s",
				  near ? "did you mean "
				       : "`mrc sim list` shows those that are built in, "
					 "files have a slash or a dot in their name",
				  near ? near : "", near ? "?" : "");
		return NULL;
	}
	text = ms_file_load(name, error);
	if (!text)
		return NULL;
	s = read_joined(name, text, more, changes, error);
	free(text);
	return s;
}

struct ms_scenario *sim_source_read(const char *name, const struct ms_changes *changes,
				    struct ms_file_error *error)
{
	return sim_source_read_more(name, "", changes, error);
}
