/* SPDX-License-Identifier: BSD-2-Clause */
/* md_config_apply.c - the state that the configuration file asks for: see md_config.h. */
#include "mrcd/md_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mrcd/md_change.h"

struct applying {
	const struct md_config *c;
	const char *path;
	const struct mn_device *d;
	struct mn_state *file; /* what the rows make of a state in which nothing is decided */
	struct mn_state *next;
	struct md_config_error *error;
};

static md_change_fn *const change[] = {
	[MD_ROW_FORMAT] = md_change_format,
	[MD_ROW_EV] = md_change_ev_profile,
	[MD_ROW_CC] = md_change_cc,
	[MD_ROW_PORT] = md_change_port,
};

/* With the line of the key that is wrong, else that of the table. */
static int wrong(const struct applying *a, const struct md_row *row, const struct md_error *e)
{
	const json_t *line = json_object_get(row->lines, e->key);

	snprintf(a->error->text, sizeof(a->error->text), "%.199s:%u: %s", a->path,
		 line ? (uint32_t)json_integer_value(line) : row->line, e->text);
	return e->code;
}

static uint32_t id_of(const struct md_row *row)
{
	return (uint32_t)json_integer_value(json_object_get(row->args, "profile"));
}

/* EV profiles are compared without their place in the state, and EVs without their denials. */
static bool same_ev_profile(const struct mn_state *a, const struct mn_state *b, uint32_t id)
{
	struct mn_ev_profile p = a->ev[id], q = b->ev[id];
	bool is_auto = p.mode == MN_MODE_AUTO;

	for (uint32_t i = 0; !is_auto && p.n_evs == q.n_evs && i < p.n_evs; i++) {
		const struct mn_ev *x = &a->evs[p.first + i], *y = &b->evs[q.first + i];

		if (x->port != y->port || memcmp(x->val, y->val, sizeof(x->val)) != 0)
			return false;
	}
	if (is_auto)
		p.n_evs = q.n_evs;
	p.first = q.first;
	return memcmp(&p, &q, sizeof(p)) == 0;
}

/* Nothing is to be done for a row whose profile is ONLINE already; -1: there is. */
static int judge_online(const struct applying *a, const struct md_row *row)
{
	struct md_error e = {0};
	uint32_t id = id_of(row);
	bool online = false, same = true;

	if (row->kind == MD_ROW_FORMAT) {
		online = a->next->fmt[id].state == MN_ONLINE;
		same = memcmp(&a->next->fmt[id], &a->file->fmt[id], sizeof(a->file->fmt[0])) == 0;
	} else if (row->kind == MD_ROW_EV) {
		online = a->next->ev[id].state == MN_ONLINE && id != MN_OWN_PROFILE;
		same = same_ev_profile(a->next, a->file, id);
	}
	if (!online)
		return -1;
	if (same)
		return 0;
	md_refuse(&e, EBUSY, "profile",
		  "profile = %u: is online with another definition, which a reload does not "
		  "change; take it offline first (mrc ctl)",
		  id);
	return wrong(a, row, &e);
}

/* From where it is to INIT, and up again as the file says. */
static int make(const struct applying *a, const struct md_row *row)
{
	struct md_error e = {0};
	json_t *down;
	int err = 0;

	if (row->kind == MD_ROW_EV && id_of(row) != MN_OWN_PROFILE) {
		down = json_pack("{s:i, s:s}", "profile", (int)id_of(row), "state", "init");
		err = md_change_ev_profile(a->next, a->d, down, &e);
		json_decref(down);
	}
	if (!err)
		err = change[row->kind](a->next, a->d, row->args, &e);
	return err ? wrong(a, row, &e) : 0;
}

static int apply_kind(const struct applying *a, enum md_row_kind kind, bool to_file)
{
	for (uint32_t i = 0; i < a->c->n_rows; i++) {
		const struct md_row *row = &a->c->row[i];
		struct md_error e = {0};
		int err = -1;

		if (row->kind != kind)
			continue;
		if (to_file) {
			if (change[kind](a->file, a->d, row->args, &e))
				return wrong(a, row, &e);
			continue;
		}
		err = judge_online(a, row);
		if (err < 0)
			err = make(a, row);
		if (err)
			return err;
	}
	return 0;
}

int md_config_row_wrong(const struct md_config *c, const char *path, enum md_row_kind kind,
			uint32_t profile, const struct md_error *e, struct md_config_error *error)
{
	const struct applying a = {.c = c, .path = path, .error = error};

	for (uint32_t i = c->n_rows; i-- > 0;)
		if (c->row[i].kind == kind && id_of(&c->row[i]) == profile)
			return wrong(&a, &c->row[i], e);
	snprintf(error->text, sizeof(error->text), "%.199s: %s", path, e->text);
	return e->code;
}

int md_config_apply(const struct md_config *c, const char *path, const struct mn_device *d,
		    struct mn_state *s, struct md_config_error *error)
{
	struct applying a = {.c = c, .path = path, .d = d, .error = error};
	int err = 0;

	a.file = malloc(sizeof(*a.file));
	a.next = malloc(sizeof(*a.next));
	if (!a.file || !a.next) {
		snprintf(error->text, sizeof(error->text), "%.199s: no memory", path);
		err = ENOMEM;
	} else {
		mn_state_init(a.file);
		mn_state_copy(a.next, s);
	}
	for (int to_file = 1; !err && to_file >= 0; to_file--)
		for (int kind = 0; !err && kind < MD_ROW_KINDS; kind++)
			err = apply_kind(&a, (enum md_row_kind)kind, to_file);
	if (!err)
		mn_state_copy(s, a.next);
	free(a.file);
	free(a.next);
	return err;
}
