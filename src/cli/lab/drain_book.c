/* SPDX-License-Identifier: BSD-2-Clause */
/* drain_book.c - the file that says what of a lab is drained: see drain.h. */
#include "cli/lab/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define VERSION 2
#define PATH_BYTES (ML_HOST_PATH_MAX + 24)

static char *path_of(const struct drain_book *b, const char *file, char *out)
{
	char folder[ML_HOST_PATH_MAX];

	snprintf(out, PATH_BYTES, "%s/%s", ml_lab_folder(b->lab, folder), file);
	return out;
}

uint8_t *drain_book_ours(const struct drain_book *b, uint32_t host, uint32_t profile)
{
	return &b->ours[((size_t)host * MN_EV_PROFILES + profile) * b->evs];
}

size_t drain_book_find(const struct drain_book *b, const struct mf_target *part)
{
	size_t i = 0;

	while (i < b->parts && !drain_same_part(b->t, &b->part[i], part))
		i++;
	return i;
}

void drain_book_add(struct drain_book *b, const char *name, const struct mf_target *part)
{
	snprintf(b->name[b->parts], sizeof(b->name[0]), "%s", name);
	b->part[b->parts] = *part;
	b->unfinished[b->parts++] = true;
}

void drain_book_forget(struct drain_book *b, size_t at)
{
	b->parts--;
	memmove(&b->name[at], &b->name[at + 1], (b->parts - at) * sizeof(b->name[0]));
	memmove(&b->part[at], &b->part[at + 1], (b->parts - at) * sizeof(b->part[0]));
	memmove(&b->unfinished[at], &b->unfinished[at + 1], (b->parts - at) * sizeof(bool));
}

char *drain_book_names(const struct drain_book *b, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < b->parts && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s", i ? ", " : "", b->name[i]);
	return out;
}

/* ---- reading ---- */

static int read_parts(struct drain_book *b, const json_t *list, bool unfinished)
{
	struct mf_target part;
	struct mf_error why;
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
	{
		const char *name = json_string_value(v);

		if (b->parts == DRAIN_PARTS_MAX || !name || strlen(name) >= MF_LINK_NAME_BYTES ||
		    !mf_target_find(b->t, name, &part, &why))
			return -1;
		drain_book_add(b, name, &part);
		b->unfinished[b->parts - 1] = unfinished;
	}
	return json_is_array(list) ? 0 : -1;
}

/* A list of [host, profile, EV]. */
static int read_ours(struct drain_book *b, const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
	{
		json_int_t host, profile, n;

		if (json_unpack((json_t *)v, "[I,I,I!]", &host, &profile, &n) || host < 0 ||
		    host >= b->t->n_hosts || profile < 0 || profile >= MN_EV_PROFILES || n < 0 ||
		    n >= b->evs)
			return -1;
		drain_book_ours(b, (uint32_t)host, (uint32_t)profile)[n] = 1;
	}
	return json_is_array(list) ? 0 : -1;
}

static int read_book(struct drain_book *b, struct ml_error *e)
{
	char path[PATH_BYTES];
	json_t *json = json_load_file(path_of(b, "drain.json", path), 0, NULL);
	int failed;

	if (!json && access(path, F_OK) != 0)
		return 0;
	failed = json_integer_value(json_object_get(json, "version")) != VERSION ||
		 read_parts(b, json_object_get(json, "parts"), false) ||
		 read_parts(b, json_object_get(json, "unfinished"), true) ||
		 read_ours(b, json_object_get(json, "denied"));
	json_decref(json);
	return failed ? ml_error_set(
				e,
				"%s: says nothing that can be read of what is drained; mrc lab "
				"down %s removes the lab",
				path, ml_lab_name(b->lab))
		      : 0;
}

static int take_lock(const struct drain_book *b, struct ml_error *e)
{
	char path[PATH_BYTES];
	int fd = open(path_of(b, "drain.lock", path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		      0600);

	while (fd >= 0 && flock(fd, LOCK_EX) != 0)
		if (errno != EINTR) {
			close(fd);
			fd = -1;
		}
	if (fd < 0)
		ml_error_set(e, "%s: %s", path, strerror(errno));
	return fd;
}

int drain_book_open(struct drain_book *b, struct ml_lab *lab, struct ml_error *e)
{
	*b = (struct drain_book){.lab = lab, .t = ml_lab_topology(lab), .lock = -1};
	b->evs = mf_ev_count(b->t);
	b->ours = calloc((size_t)b->t->n_hosts * MN_EV_PROFILES * b->evs, 1);
	if (!b->ours)
		return ml_error_set(e, "no memory for the EVs of %u hosts", b->t->n_hosts);
	b->lock = take_lock(b, e);
	if (b->lock >= 0 && read_book(b, e) == 0)
		return 0;
	drain_book_close(b);
	return -1;
}

void drain_book_close(struct drain_book *b)
{
	if (b->lock >= 0)
		close(b->lock);
	free(b->ours);
	*b = (struct drain_book){.lock = -1};
}

/* ---- writing ---- */

static json_t *ours_json(const struct drain_book *b)
{
	json_t *list = json_array();

	for (uint32_t host = 0; host < b->t->n_hosts; host++)
		for (uint32_t profile = 0; profile < MN_EV_PROFILES; profile++)
			for (uint32_t n = 0; n < b->evs; n++)
				if (drain_book_ours(b, host, profile)[n])
					json_array_append_new(list,
							      json_pack("[i,i,i]", (int)host,
									(int)profile, (int)n));
	return list;
}

json_t *drain_book_parts(const struct drain_book *b, bool unfinished)
{
	json_t *list = json_array();

	for (size_t i = 0; i < b->parts; i++)
		if (b->unfinished[i] == unfinished)
			json_array_append_new(list, json_string(b->name[i]));
	return list;
}

int drain_book_save(const struct drain_book *b, struct ml_error *e)
{
	char path[PATH_BYTES], part[PATH_BYTES];
	json_t *json = json_pack("{s:i,s:o,s:o,s:o}", "version", VERSION, "parts",
				 drain_book_parts(b, false), "unfinished",
				 drain_book_parts(b, true), "denied", ours_json(b));
	int failed;

	failed = !json || json_dump_file(json, path_of(b, "drain.part", part), 0) ||
		 rename(part, path_of(b, "drain.json", path));
	json_decref(json);
	if (!failed)
		return 0;
	ml_error_set(e, "writing what is drained: %s: %s", path_of(b, "drain.json", path),
		     strerror(errno));
	unlink(path_of(b, "drain.part", part));
	return -1;
}
