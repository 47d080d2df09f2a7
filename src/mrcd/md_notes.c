/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_notes.c - why EVs are denied: see md_node.h. The store says that they are, and this file
 * beside it what a person said; it is written first, and a note without its denial is dropped.
 */
#include "mrcd/md_node.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mrcd/md_change.h"

#define NOTES_PATH (MD_PATH_MAX + 40u)

json_t *md_notes_load(const char *dir, const char *device)
{
	char path[NOTES_PATH];
	json_t *notes;

	snprintf(path, sizeof(path), "%s/%s.notes", dir, device);
	notes = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(notes))
		return notes;
	json_decref(notes);
	return json_object();
}

int md_notes_save(const char *dir, const char *device, const json_t *notes)
{
	char path[NOTES_PATH], part[NOTES_PATH + 8];
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "%s/%s.notes", dir, device);
	snprintf(part, sizeof(part), "%s.part", path);
	f = fopen(part, "we");
	if (!f)
		return errno;
	err = json_dumpf(notes, f, JSON_INDENT(1)) ? EIO : 0;
	if (!err && (fflush(f) || fsync(fileno(f))))
		err = errno;
	if (fclose(f) && !err)
		err = errno;
	if (!err && rename(part, path))
		err = errno;
	if (err)
		unlink(part);
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

static json_t *note_of(const json_t *notes, const char *key, const json_t *args, uint32_t profile,
		       int64_t now_s)
{
	const json_t *of = json_object_get(args, "profile");
	json_t *reason = json_object_get(args, "reason");

	if (args && (uint32_t)json_integer_value(of) == profile &&
	    is_named(args, strchr(key, '/') + 1))
		return json_pack("{s:I, s:O*}", "at", (json_int_t)now_s, "reason", reason);
	return json_incref(json_object_get(notes, key));
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
			note = note_of(notes, md_note_key(id, ev, key), args, id, now_s);
			if (note)
				json_object_set_new(next, key, note);
		}
	return next;
}
