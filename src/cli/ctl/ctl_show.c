/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_show.c - answers and events of mrcd for eyes: see ctl.h. */
#include "cli/ctl/ctl.h"

#include "ui/verb.h"

#include <stdlib.h>
#include <string.h>

#define STATUS_WIDTH 16u

/* What answers need not be mrcd, and a text of it may move the cursor. */
void ctl_show_text(const char *text, struct ui_text *out)
{
	for (; *text; text++)
		ui_text_add(out, "%c", *text < ' ' || *text > '~' ? '?' : *text);
}

/* A member as a word: texts without quotes, lists with commas. */
static void put_value(struct ui_text *out, const json_t *v)
{
	const json_t *part;
	char *text;
	size_t i;

	if (json_is_string(v)) {
		ctl_show_text(json_string_value(v), out);
		return;
	}
	if (json_is_array(v)) {
		json_array_foreach(v, i, part)
		{
			ui_text_add(out, i ? "," : "");
			put_value(out, part);
		}
		return;
	}
	text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
	ctl_show_text(text ? text : "?", out);
	free(text);
}

static void put_members(struct ui_text *out, const json_t *o, const char *but)
{
	const char *key, *between = "";
	const json_t *v;

	json_object_foreach((json_t *)o, key, v)
	{
		if (strcmp(key, but) == 0 || (json_is_array(v) && json_array_size(v) == 0))
			continue;
		ui_text_add(out, "%s", between);
		ctl_show_text(key, out);
		ui_text_add(out, "=");
		put_value(out, v);
		between = " ";
	}
	ui_text_add(out, "\n");
}

static bool is_empty_profile(const json_t *o)
{
	const char *state = json_string_value(json_object_get(o, "state"));

	return state && strcmp(state, "init") == 0;
}

/* Profiles that hold nothing are not worth a line. */
static void put_list(struct ui_text *out, const json_t *list)
{
	const json_t *o, *ev;
	size_t i, k;

	json_array_foreach(list, i, o)
	{
		if (is_empty_profile(o))
			continue;
		put_members(out, o, "evs");
		json_array_foreach(json_object_get(o, "evs"), k, ev)
		{
			ui_text_add(out, "  ");
			put_members(out, ev, "");
		}
	}
}

void ctl_show_answer(const json_t *answer, struct ui_text *out)
{
	static const char *const lists[] = {"ports", "formats", "evs", "cc"};
	const json_t *status = json_object_get(answer, "status"), *v;
	const char *key;

	json_object_foreach((json_t *)status, key, v)
	{
		ctl_show_text(key, out);
		ui_text_repeat(out, " ",
			       strlen(key) < STATUS_WIDTH ? STATUS_WIDTH - strlen(key) : 0);
		ui_text_add(out, " ");
		put_value(out, v);
		ui_text_add(out, "\n");
	}
	for (size_t i = 0; i < UI_COUNT(lists); i++)
		put_list(out, json_object_get(answer, lists[i]));
}

void ctl_show_event(const json_t *event, struct ui_text *out)
{
	const char *kind = json_string_value(json_object_get(event, "event"));

	ctl_show_text(kind ? kind : "?", out);
	ui_text_add(out, " ");
	put_members(out, event, "event");
}
