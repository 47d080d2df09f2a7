/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_notes.c - why EVs are denied: see md_node.h. The store says that they are, and this file
 * beside it what a person said. It is written first and has, until the store is, two sets: whoever
 * reads both files takes the one that is of the store's generation, so that they change together.
 */
#include "mrcd/md_node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mrcd/md_change.h"
#include "ui/text.h"

#define NOTES_PATH (MD_PATH_MAX + 40u)

static void path_of(char path[NOTES_PATH], const char *dir, const char *device)
{
	snprintf(path, NOTES_PATH, "%s/%s.notes", dir, device);
}

json_t *md_notes_load(const char *dir, const char *device, uint64_t generation)
{
	char path[NOTES_PATH];
	json_t *file, *notes;
	uint64_t of;

	path_of(path, dir, device);
	file = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	of = (uint64_t)json_integer_value(json_object_get(file, "generation"));
	/* Without mrcd the store went on alone: those of EVs that are denied still count. */
	notes = of && of <= generation ? json_object_get(file, "notes")
		: of == generation + 1 ? json_object_get(file, "before")
				       : NULL;
	notes = json_is_object(notes) ? json_incref(notes) : json_object();
	json_decref(file);
	return notes;
}

int md_notes_save(const char *dir, const char *device, uint64_t generation, json_t *notes,
		  json_t *before)
{
	json_t *file = json_pack("{s:I, s:O, s:O}", "generation", (json_int_t)generation, "notes",
				 notes, "before", before);
	char *dump = file ? json_dumps(file, JSON_INDENT(1)) : NULL;
	struct ui_text text = {.data = dump, .len = dump ? strlen(dump) : 0};
	char path[NOTES_PATH];
	int err;

	path_of(path, dir, device);
	err = dump ? ui_text_save(&text, path) : ENOMEM;
	free(dump);
	json_decref(file);
	return err;
}

static bool is_named(const json_t *args, const char *ev)
{
	const json_t *v;
	size_t i;
	struct mn_ev named;
	char text[MD_EV_TEXT];

	json_array_foreach(json_object_get(args, "evs"), i,
			   v) if (json_is_string(v) && md_ev_read(json_string_value(v), &named) &&
				  strcmp(md_ev_write(&named, text), ev) == 0) return true;
	return false;
}

/* For whom a request denies. */
static enum mn_denier denier_of(const json_t *args)
{
	const char *by = json_string_value(json_object_get(args, "by"));

	if (json_object_get(args, "part"))
		return MN_DENIED_BY_MAP;
	return by && strcmp(by, md_denier_words[MN_DENIED_BY_DRAIN]) == 0 ? MN_DENIED_BY_DRAIN
									  : MN_DENIED_BY_USER;
}

/*
 * A note with a part is of a denial of the map's: somebody may have made that his own without mrcd,
 * by allowing and denying the EV in the store itself, or by a whole state.
 */
static json_t *note_of(const json_t *notes, const char *key, const json_t *args, uint32_t profile,
		       const struct mn_ev *ev, int64_t now_s)
{
	const json_t *of = json_object_get(args, "profile");
	json_t *reason = json_object_get(args, "reason"), *note;

	if (args && (uint32_t)json_integer_value(of) == profile && denier_of(args) == ev->denier &&
	    is_named(args, strchr(key, '/') + 1))
		return json_pack("{s:I, s:O*, s:O*}", "at", (json_int_t)now_s, "reason", reason,
				 "part", json_object_get(args, "part"));
	note = json_object_get(notes, key);
	return !json_object_get(note, "part") == (ev->denier != MN_DENIED_BY_MAP)
		       ? json_incref(note)
		       : NULL;
}

json_t *md_notes_update(const json_t *notes, const struct mn_state *s, const json_t *args,
			int64_t now_s)
{
	char key[MD_EV_TEXT + 12];
	json_t *next = json_object(), *note;

	for (uint32_t id = 0; id < MN_EV_PROFILES; id++)
		for (uint32_t i = 0; i < s->ev[id].n_evs; i++) {
			const struct mn_ev *ev = &s->evs[s->ev[id].first + i];

			if (!ev->denied)
				continue;
			note = note_of(notes, md_note_key(id, ev, key), args, id, ev, now_s);
			if (note)
				json_object_set_new(next, key, note);
		}
	return next;
}
