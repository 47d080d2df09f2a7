/* SPDX-License-Identifier: BSD-2-Clause */
/* md_change_ev.c - EV profiles, and single EVs of them: see md_change.h. */
#include "mrcd/md_change.h"

#include <errno.h>
#include <string.h>

struct ev_request {
	uint32_t id, wanted;
	struct mn_ev_change c;
	struct mn_ev_field field[MN_FIELDS_MAX];
	const json_t *evs;
};

static const char *const known_of_profile[] = {"profile",    "state",  "mode",	"format", "count",
					       "min_active", "events", "width", "init",	  "min",
					       "max",	     "mask",   "evs",	NULL};

/* The columns of a table of fields, all as long as "width". */
static int take_fields(const json_t *args, struct ev_request *r, struct md_error *e)
{
	static const struct {
		const char *name;
		size_t at;
	} column[] = {{"width", offsetof(struct mn_ev_field, width)},
		      {"init", offsetof(struct mn_ev_field, init)},
		      {"min", offsetof(struct mn_ev_field, min)},
		      {"max", offsetof(struct mn_ev_field, max)},
		      {"mask", offsetof(struct mn_ev_field, mask)}};
	uint32_t value[MN_FIELDS_MAX], n = 0, all = 0;

	for (size_t i = 0; i < sizeof(column) / sizeof(column[0]); i++) {
		int err =
			md_args_u32s(args, column[i].name, UINT32_MAX, value, MN_FIELDS_MAX, &n, e);

		if (err)
			return err;
		if (!md_args_has(args, column[i].name))
			continue;
		if (i == 0)
			all = n;
		if (n != all)
			return md_refuse_value(e, args, column[i].name, "as long as width");
		for (uint32_t k = 0; k < n; k++)
			memcpy((uint8_t *)&r->field[k] + column[i].at, &value[k], sizeof(value[k]));
	}
	r->c.n_fields = all;
	r->c.field = r->field;
	r->c.mask |= all ? MN_EV_FIELDS : 0;
	return 0;
}

static int take_events(const json_t *args, struct mn_ev_change *c, struct md_error *e)
{
	const json_t *list = json_object_get(args, "events"), *v;
	size_t i;

	if (!list)
		return 0;
	c->mask |= MN_EV_EVENT_MASK;
	if (!json_is_array(list))
		return md_refuse_value(e, args, "events", "a list of good and bad");
	json_array_foreach(list, i, v)
	{
		const char *word = json_string_value(v);

		if (!word || (strcmp(word, "good") != 0 && strcmp(word, "bad") != 0))
			return md_refuse_value(e, args, "events", "a list of good and bad");
		c->event_mask |= strcmp(word, "good") == 0 ? MN_EVENT_GOOD : MN_EVENT_BAD;
	}
	return 0;
}

/* The numbers; which of them count says the mask. */
static int take_numbers(const json_t *args, struct mn_ev_change *c, struct md_error *e)
{
	uint32_t fmt = 0, mode = 0;
	int err = md_args_word(args, "mode", md_mode_words, &mode, e);

	if (!err)
		err = md_args_u32(args, "format", 1, MN_FMT_PROFILES - 1, &fmt, e);
	if (!err)
		err = md_args_u32(args, "count", 0, MN_EVS_PROFILE_MAX, &c->count, e);
	if (!err)
		err = md_args_u32(args, "min_active", 0, MN_EVS_PROFILE_MAX, &c->min_active, e);
	c->mode = 1u << mode;
	c->fmt = fmt;
	c->mask |= md_args_has(args, "mode") ? MN_EV_MODE : 0;
	c->mask |= md_args_has(args, "format") ? MN_EV_FMT : 0;
	c->mask |= md_args_has(args, "count") ? MN_EV_COUNT : 0;
	c->mask |= md_args_has(args, "min_active") ? MN_EV_MIN_ACTIVE : 0;
	return err;
}

static int take(const json_t *args, const struct mn_state *s, struct ev_request *r,
		struct md_error *e)
{
	int err = md_args_only(args, known_of_profile, e);

	if (!err)
		err = md_args_need(args, "profile", e);
	if (!err)
		err = md_args_u32(args, "profile", 0, MN_EV_PROFILES - 1, &r->id, e);
	if (err)
		return err;
	r->wanted = MN_ONLINE;
	err = md_args_word(args, "state", md_state_words, &r->wanted, e);
	if (!err)
		err = take_numbers(args, &r->c, e);
	if (!err)
		err = take_events(args, &r->c, e);
	if (!err)
		err = take_fields(args, r, e);
	r->evs = json_object_get(args, "evs");
	if (!err && r->evs && (!json_is_array(r->evs) || json_array_size(r->evs) < 1))
		return md_refuse_value(e, args, "evs", "a list of " MD_EV_FORM);
	if (!err && r->evs && s->ev[r->id].state != MN_INIT)
		return md_refuse(e, EBUSY, "evs",
				 "evs: are listed when a profile is made, and replaced later");
	/* A list says how many there are. */
	if (!err && r->evs && !(r->c.mask & MN_EV_COUNT)) {
		r->c.count = (uint32_t)json_array_size(r->evs);
		r->c.mask |= MN_EV_COUNT;
	}
	return err;
}

static int refuse_profile(struct md_error *e, int err, uint32_t id)
{
	const char *text = "something is missing, or its present state does not allow it; only "
			   "offline profiles change";

	if (err == E2BIG)
		text = "more EVs than there is room for, or than its fields can make";
	return md_refuse(e, err, "profile", "EV profile = %u: %s", id, text);
}

static int read_ev(const json_t *v, const struct mn_device *d, struct mn_ev *ev, struct md_error *e)
{
	const char *text = json_string_value(v);

	if (!text || !md_ev_read(text, ev))
		return md_refuse(e, EINVAL, "evs", "%.40s: must be " MD_EV_FORM,
				 text ? text : "an EV");
	if (ev->port > d->n_ports)
		return md_refuse(e, EINVAL, "evs", "%.40s: the device has ports 1 to %u", text,
				 d->n_ports);
	return 0;
}

/* Places hold none yet, so that the first of these is the next one. */
static int put_evs(struct mn_state *s, const struct mn_device *d, const struct ev_request *r,
		   struct md_error *e)
{
	const struct mn_ev_profile *p = &s->ev[r->id];
	const json_t *v;
	size_t i;

	if (p->mode != MN_MODE_EXPLICIT || json_array_size(r->evs) != p->n_evs)
		return md_refuse(e, EINVAL, "evs",
				 "evs: must be as many as count = %u, of an "
				 "explicit profile",
				 p->n_evs);
	json_array_foreach(r->evs, i, v)
	{
		struct mn_ev_op op = {.replaces = true, .ev = s->evs[p->first + i]};
		int err = read_ev(v, d, &op.with, e);

		if (!err)
			err = mn_ev_modify(s, d, r->id, &op);
		if (err && !e->code)
			return md_refuse(e, err, "evs", "%s: does not fit the profile's format",
					 json_string_value(v));
		if (err)
			return err;
	}
	return 0;
}

static int step_up(struct mn_state *s, const struct mn_device *d, struct ev_request *r,
		   struct md_error *e)
{
	uint32_t mask = r->c.mask;
	int err = 0;

	if (s->ev[r->id].state == MN_INIT) {
		r->c.state = MN_OFFLINE;
		r->c.mask = mask | MN_EV_STATE;
		err = mn_ev_profile_modify(s, d, r->id, &r->c);
	} else if (mask) {
		err = mn_ev_profile_modify(s, d, r->id, &r->c);
	}
	if (err)
		return refuse_profile(e, err, r->id);
	if (r->evs)
		err = put_evs(s, d, r, e);
	if (err || r->wanted == s->ev[r->id].state)
		return err;
	r->c.state = r->wanted;
	r->c.mask = MN_EV_STATE;
	err = mn_ev_profile_modify(s, d, r->id, &r->c);
	return err ? refuse_profile(e, err, r->id) : 0;
}

static int step_down(struct mn_state *s, const struct mn_device *d, struct ev_request *r,
		     struct md_error *e)
{
	for (uint32_t now = s->ev[r->id].state; now > r->wanted;) {
		struct mn_ev_change c = {.mask = MN_EV_STATE, .state = --now};
		int err = mn_ev_profile_modify(s, d, r->id, &c);

		if (err)
			return refuse_profile(e, err, r->id);
	}
	return 0;
}

int md_change_ev_profile(struct mn_state *s, const struct mn_device *d, const json_t *args,
			 struct md_error *e)
{
	struct ev_request r = {0};
	int err = take(args, s, &r, e);

	if (err)
		return err;
	if (s->ev[r.id].state > r.wanted)
		err = step_down(s, d, &r, e);
	if (err || r.wanted == MN_INIT)
		return err;
	return step_up(s, d, &r, e);
}

/* ---- single EVs ---- */

static int refuse_ev(struct md_error *e, int err, uint32_t id, const char *ev)
{
	switch (err) {
	case ENOENT:
		return md_refuse(e, err, "evs", "%s: is not of EV profile %u", ev, id);
	case EBUSY:
		return md_refuse(e, err, "evs",
				 "%s: denied, it would leave EV profile %u with fewer EVs than its "
				 "min_active, or none",
				 ev, id);
	case E2BIG:
		return md_refuse(e, err, "evs", "%s: no room for more denied EVs", ev);
	default:
		return md_refuse(e, err, "evs",
				 "%s: EV profile %u is INIT, or the change does not fit it", ev,
				 id);
	}
}

static int change_denials(struct mn_state *s, const struct mn_device *d, const json_t *args,
			  bool denied, struct md_error *e)
{
	static const char *const known[] = {"profile", "evs", "reason", "by", NULL};
	/* The map's own are made by mrcd itself. */
	static const char *const by_words[] = {"user", "drain", NULL};
	static const enum mn_denier by[] = {MN_DENIED_BY_USER, MN_DENIED_BY_DRAIN};
	const json_t *list = json_object_get(args, "evs"), *v;
	const char *reason;
	uint32_t id = 0, denier = 0;
	size_t i;
	int err = md_args_only(args, known, e);

	if (!err)
		err = md_args_u32(args, "profile", 0, MN_EV_PROFILES - 1, &id, e);
	if (!err)
		err = md_args_text(args, "reason", 120, &reason, e);
	if (!err)
		err = md_args_word(args, "by", by_words, &denier, e);
	if (!err)
		err = md_args_need(args, "evs", e);
	if (err)
		return err;
	if (!json_is_array(list) || json_array_size(list) < 1)
		return md_refuse_value(e, args, "evs", "a list of " MD_EV_FORM);
	json_array_foreach(list, i, v)
	{
		struct mn_ev_op op = {.denied = denied, .denier = by[denier]};

		err = read_ev(v, d, &op.ev, e);
		if (err)
			return err;
		if (op.ev.port == 0)
			return refuse_ev(e, ENOENT, id, json_string_value(v));
		err = mn_ev_modify(s, d, id, &op);
		if (err)
			return refuse_ev(e, err, id, json_string_value(v));
	}
	return 0;
}

/* REQ(ctl.ev-denied) */
int md_change_deny(struct mn_state *s, const struct mn_device *d, const json_t *args,
		   struct md_error *e)
{
	return change_denials(s, d, args, true, e);
}

int md_change_undeny(struct mn_state *s, const struct mn_device *d, const json_t *args,
		     struct md_error *e)
{
	return change_denials(s, d, args, false, e);
}

int md_change_replace(struct mn_state *s, const struct mn_device *d, const json_t *args,
		      struct md_error *e)
{
	static const char *const known[] = {"profile", "ev", "with", "all", "denied", NULL};
	struct mn_ev_op op = {.replaces = true};
	uint32_t id = 0;
	int err = md_args_only(args, known, e);

	if (!err)
		err = md_args_need(args, "profile", e);
	if (!err)
		err = md_args_u32(args, "profile", 1, MN_EV_PROFILES - 1, &id, e);
	if (!err)
		err = read_ev(json_object_get(args, "ev"), d, &op.ev, e);
	if (!err)
		err = read_ev(json_object_get(args, "with"), d, &op.with, e);
	if (!err)
		err = md_args_bool(args, "all", &op.all, e);
	if (!err)
		err = md_args_bool(args, "denied", &op.denied, e);
	if (err)
		return err;
	err = mn_ev_modify(s, d, id, &op);
	return err ? refuse_ev(e, err, id, json_string_value(json_object_get(args, "ev"))) : 0;
}
