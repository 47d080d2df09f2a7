/* SPDX-License-Identifier: BSD-2-Clause */
/* md_hints.c - hints from process to process of a user: see md_hints.h. REQ(req.ev.hint) */
#include "mrcd/md_hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mrcd/md_log.h"

void md_hints_open(struct md_hints *hints, const struct md_config *config)
{
	int err = store_hints_clear(config->dir, config->device);

	*hints = (struct md_hints){.config = config};
	if (err)
		md_log(MD_WARNING, "hints", MD_NOBODY, "%s/hints: %s; what lies there may be old",
		       config->dir, strerror(err));
}

void md_hints_close(struct md_hints *hints)
{
	for (uint32_t i = 0; i < MD_HINTS_USERS; i++)
		free(hints->user[i].hint);
	*hints = (struct md_hints){.config = hints->config};
}

static bool is_same(const struct store_hint *a, const struct store_hint *b)
{
	return a->profile == b->profile && a->index == b->index && a->port == b->port &&
	       memcmp(a->to, b->to, sizeof(a->to)) == 0 &&
	       memcmp(a->from, b->from, sizeof(a->from)) == 0;
}

static void forget(struct md_hints_user *u, uint32_t i)
{
	u->n--;
	memmove(&u->hint[i], &u->hint[i + 1], (u->n - i) * sizeof(u->hint[0]));
	u->changed = true;
}

static void forget_same(struct md_hints_user *u, const struct store_hint *h)
{
	for (uint32_t i = 0; i < u->n; i++)
		if (is_same(&u->hint[i], h)) {
			forget(u, i);
			return;
		}
}

/* A file that cannot be removed is too old some time. */
static void clear(const struct md_hints *hints, struct md_hints_user *u)
{
	if (u->hint)
		store_hints_save(hints->config->dir, hints->config->device, u->uid, NULL, 0);
	free(u->hint);
	*u = (struct md_hints_user){.uid = 0};
}

static struct md_hints_user *find_user(struct md_hints *hints, uid_t uid, bool make)
{
	struct md_hints_user *place = &hints->user[0];

	for (uint32_t i = 0; i < MD_HINTS_USERS; i++) {
		struct md_hints_user *u = &hints->user[i];

		if (u->hint && u->uid == uid)
			return u;
		/* One that is free has heard nothing ever. */
		if (u->heard_ns < place->heard_ns)
			place = u;
	}
	if (!make)
		return NULL;
	clear(hints, place);
	place->hint = calloc(STORE_HINTS_MAX, sizeof(place->hint[0]));
	place->uid = uid;
	return place->hint ? place : NULL;
}

/* What a process found out itself, whichever way; a floor and an operator are no evidence. */
static bool is_evidence(const struct mrc_stats_event *e)
{
	if (e->kind != MRC_STATS_EVENT_EV || e->cause == MRC_STATS_EV_BY_HINT)
		return false;
	return e->cause != MRC_STATS_EV_BY_FLOOR && e->cause != MRC_STATS_EV_BY_OPERATOR;
}

void md_hints_hear(struct md_hints *hints, const struct stats_process *p,
		   const struct mrc_stats_event *e, uint64_t now_ns)
{
	struct store_hint h = {.heard_ns = e->at_ns < now_ns ? e->at_ns : now_ns,
			       .number = e->ev,
			       .profile = e->ev_profile,
			       .index = e->ev_index,
			       .port = (uint8_t)(e->port + 1)};
	bool bad = e->state == MRC_STATS_EV_ASSUMED_BAD;
	struct md_hints_user *u;

	if (!is_evidence(e) || !md_config_is_of(hints->config, p->device))
		return;
	memcpy(h.from, p->gid, sizeof(h.from));
	memcpy(h.to, e->peer, sizeof(h.to));
	u = find_user(hints, p->uid, bad);
	if (!u)
		return;
	u->heard_ns = now_ns;
	forget_same(u, &h);
	if (!bad)
		return;
	if (u->n == STORE_HINTS_MAX)
		forget(u, 0);
	u->hint[u->n++] = h;
	u->changed = true;
}

static void drop_old(struct md_hints_user *u, uint64_t now_ns)
{
	for (uint32_t i = u->n; i-- > 0;)
		if (now_ns - u->hint[i].heard_ns >= STORE_HINT_AGE_NS)
			forget(u, i);
}

static void say_failed(const struct md_hints *hints, struct md_hints_user *u, int err)
{
	if (err && err != u->failed)
		md_log(MD_WARNING, "hints", (int64_t)u->uid,
		       "%s/hints: %s; processes of this user learn of bad EVs by themselves",
		       hints->config->dir, strerror(err));
	u->failed = err;
}

void md_hints_save(struct md_hints *hints, uint64_t now_ns)
{
	const struct md_config *c = hints->config;

	for (uint32_t i = 0; i < MD_HINTS_USERS; i++) {
		struct md_hints_user *u = &hints->user[i];

		if (!u->hint)
			continue;
		drop_old(u, now_ns);
		if (u->changed)
			say_failed(hints, u,
				   store_hints_save(c->dir, c->device, u->uid, u->hint, u->n));
		u->changed = false;
		if (u->n > 0)
			continue;
		free(u->hint);
		*u = (struct md_hints_user){.uid = 0};
	}
}
