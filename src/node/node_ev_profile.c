/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_ev_profile.c - EV profiles: their attributes and states, and the EVs that follow from
 * fields. What is done to single EVs is in node_ev_change.c.
 *
 * A change is made on a copy of the profile, which is put in place when all of it is possible.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "node/node_evs.h"

uint32_t mn_ev_fields_of(const struct mn_state *s, const struct mn_ev_profile *p,
			 struct mw_ev_field field[MN_FIELDS_MAX])
{
	const struct mn_fmt_profile *fmt = &s->fmt[p->fmt];

	for (uint32_t i = 0; i < p->n_fields; i++)
		field[i] = (struct mw_ev_field){.width = p->field[i].width,
						.init = p->field[i].init,
						.min = p->field[i].min,
						.max = p->field[i].max,
						.mask = p->field[i].mask,
						.wire_width = fmt->width[i]};
	return p->n_fields;
}

bool mn_ev_fields_fit(const struct mn_state *s, const struct mn_ev_profile *p)
{
	struct mw_ev_field field[MN_FIELDS_MAX];

	return p->n_fields <= s->fmt[p->fmt].n_fields &&
	       mw_ev_fields_check(field, mn_ev_fields_of(s, p, field));
}

/* Gives a profile room for n EVs; those of the profiles behind it move. New ones are none yet. */
static void evs_resize(struct mn_state *s, uint32_t id, uint32_t n)
{
	struct mn_ev_profile *p = &s->ev[id];
	uint32_t old = p->n_evs, behind = s->n_evs - p->first - old;

	mb_assert(s->n_evs - old + n <= MN_EVS_MAX);
	memmove(&s->evs[p->first + n], &s->evs[p->first + old], behind * sizeof(s->evs[0]));
	for (uint32_t i = old; i < n; i++)
		s->evs[p->first + i] = (struct mn_ev){0};
	s->n_evs = s->n_evs - old + n;
	p->n_evs = n;
	for (uint32_t i = id + 1; i < MN_EV_PROFILES; i++)
		s->ev[i].first = s->ev[i - 1].first + s->ev[i - 1].n_evs;
}

/* Consecutive EVs leave by different ports, all ports have the same. REQ(ctl.ev-modes) */
static void generate(struct mn_state *s, const struct mn_device *d, const struct mn_ev_profile *p)
{
	struct mw_ev_field field[MN_FIELDS_MAX];
	uint32_t n = mn_ev_fields_of(s, p, field);
	uint32_t each = (p->n_evs + d->n_ports - 1) / d->n_ports;

	for (uint32_t i = 0; i < p->n_evs; i++) {
		struct mn_ev ev = {.port = (uint8_t)(i % d->n_ports + 1)};
		struct mn_ev *old = &s->evs[p->first + i];

		mw_ev_fields_generate(field, n, i / d->n_ports, each, ev.val);
		if (ev.port != old->port || memcmp(ev.val, old->val, sizeof(ev.val)) != 0)
			*old = ev;
	}
}

static int check_generated(const struct mn_state *s, const struct mn_device *d,
			   const struct mn_ev_profile *p)
{
	struct mw_ev_field field[MN_FIELDS_MAX];
	uint32_t n = mn_ev_fields_of(s, p, field);
	uint32_t each = (p->count + d->n_ports - 1) / d->n_ports;

	return each > mw_ev_fields_combinations(field, n) ? E2BIG : 0;
}

/* All places hold an EV, and enough of these are not denied. */
static bool is_populated(const struct mn_state *s, const struct mn_ev_profile *p)
{
	uint32_t allowed = 0;

	for (uint32_t i = 0; i < p->n_evs; i++) {
		const struct mn_ev *ev = &s->evs[p->first + i];

		if (ev->port == 0 || !mn_ev_value_fits(s, p, ev))
			return false;
		allowed += !ev->denied;
	}
	return allowed >= mn_ev_least(p);
}

/* What the present state does not let a call change. */
static int check_state(const struct mn_ev_profile *p, const struct mn_ev_change *c, bool in_use)
{
	bool moves = c->mask & MN_EV_STATE;

	if (moves && !mn_state_step(p->state, c->state))
		return EINVAL;
	if (p->state == MN_INIT && c->mask && (!moves || !(c->mask & MN_EV_MODE)))
		return moves && c->mask == MN_EV_STATE && c->state == MN_INIT ? 0 : EINVAL;
	if (p->state == MN_ONLINE &&
	    c->mask & ~(uint32_t)(MN_EV_STATE | MN_EV_EVENT_MASK | MN_EV_FIELDS))
		return EINVAL;
	if (p->state == MN_ONLINE && moves && c->state == MN_OFFLINE && in_use)
		return EBUSY;
	return 0;
}

static int take_fields(struct mn_ev_profile *next, const struct mn_ev_change *c)
{
	if (c->n_fields > MN_FIELDS_MAX)
		return E2BIG;
	if (c->n_fields > 0 && !c->field)
		return EINVAL;
	memset(next->field, 0, sizeof(next->field));
	memcpy(next->field, c->field, c->n_fields * sizeof(*c->field));
	next->n_fields = (uint8_t)c->n_fields;
	return 0;
}

/* Takes the attributes that a call names into the copy. */
static int take(struct mn_ev_profile *next, const struct mn_ev_change *c)
{
	if (c->mask & MN_EV_MODE)
		next->mode = (uint8_t)c->mode;
	if (c->mask & MN_EV_FMT && c->fmt >= MN_FMT_PROFILES)
		return EINVAL;
	if (c->mask & MN_EV_FMT)
		next->fmt = (uint32_t)c->fmt;
	if (c->mask & MN_EV_COUNT)
		next->count = c->count;
	if (c->mask & MN_EV_MIN_ACTIVE)
		next->min_active = c->min_active;
	if (c->mask & MN_EV_EVENT_MASK && c->event_mask > (MN_EVENT_GOOD | MN_EVENT_BAD))
		return EINVAL;
	if (c->mask & MN_EV_EVENT_MASK)
		next->event_mask = (uint8_t)c->event_mask;
	if (c->mask & MN_EV_VENDOR)
		memcpy(next->vendor, c->vendor, sizeof(next->vendor));
	return c->mask & MN_EV_FIELDS ? take_fields(next, c) : 0;
}

static int check_count(const struct mn_state *s, const struct mn_device *d,
		       const struct mn_ev_profile *next)
{
	if (next->mode == MN_MODE_AUTO)
		return next->count > d->n_evs ? E2BIG : 0;
	if (next->count == 0)
		return EINVAL;
	if (next->count > MN_EVS_PROFILE_MAX || next->count > MN_EVS_MAX - (s->n_evs - next->n_evs))
		return E2BIG;
	return 0;
}

/* Whether what a profile is now makes sense, whatever it was. */
static int check_next(const struct mn_state *s, const struct mn_device *d,
		      const struct mn_ev_profile *next)
{
	const struct mn_fmt_profile *fmt = &s->fmt[next->fmt];
	int err;

	if (next->mode != MN_MODE_AUTO && next->mode != MN_MODE_EXPLICIT &&
	    next->mode != MN_MODE_GENERATED)
		return EINVAL;
	err = check_count(s, d, next);
	if (err)
		return err;
	if (next->mode == MN_MODE_AUTO)
		return next->n_fields || next->min_active > (next->count ? next->count : d->n_evs)
			       ? EINVAL
			       : 0;
	if (next->min_active > next->count)
		return EINVAL;
	if (next->fmt == MN_OWN_PROFILE || fmt->state == MN_INIT)
		return EINVAL;
	if (next->n_fields > fmt->n_fields)
		return E2BIG;
	if (next->n_fields && !mn_ev_fields_fit(s, next))
		return EINVAL;
	return next->mode == MN_MODE_GENERATED && next->n_fields ? check_generated(s, d, next) : 0;
}

/* What a profile must have before QPs may use it. REQ(ctl.profile-states) */
static int check_online(const struct mn_state *s, const struct mn_device *d,
			const struct mn_ev_profile *next)
{
	if (next->mode == MN_MODE_AUTO)
		return mn_ev_auto_may_deny(d, next, next->n_evs) ? 0 : EINVAL;
	if (s->fmt[next->fmt].state != MN_ONLINE)
		return EINVAL;
	if (next->mode == MN_MODE_GENERATED)
		return next->n_fields ? 0 : EINVAL;
	return next->n_evs == next->count && is_populated(s, next) ? 0 : EINVAL;
}

static void put(struct mn_state *s, const struct mn_device *d, uint32_t id,
		const struct mn_ev_profile *next)
{
	struct mn_ev_profile *p = &s->ev[id];
	bool another = p->mode != next->mode;
	uint32_t first = p->first, n_evs = p->n_evs;

	*p = *next;
	p->first = first;
	p->n_evs = n_evs;
	if (another)
		evs_resize(s, id, 0);
	if (p->mode != MN_MODE_AUTO && p->n_evs != p->count)
		evs_resize(s, id, p->count);
	if (p->mode == MN_MODE_GENERATED && p->n_fields)
		generate(s, d, p);
}

static void clear(struct mn_state *s, uint32_t id)
{
	uint32_t first = s->ev[id].first;

	evs_resize(s, id, 0);
	s->ev[id] = (struct mn_ev_profile){.first = first};
}

int mn_ev_profile_modify(struct mn_state *s, const struct mn_device *d, uint64_t id,
			 const struct mn_ev_change *c)
{
	struct mn_ev_profile next;
	int err;

	if (id >= MN_EV_PROFILES || (id == MN_OWN_PROFILE && c->mask & ~(uint32_t)MN_EV_EVENT_MASK))
		return EINVAL;
	next = s->ev[id];
	err = check_state(&next, c, d->ev_in_use >> id & 1);
	if (err || !c->mask)
		return err;
	if (c->mask & MN_EV_STATE && c->state == MN_INIT) {
		if (c->mask != MN_EV_STATE)
			return EINVAL;
		clear(s, (uint32_t)id);
		return 0;
	}
	err = take(&next, c);
	if (!err)
		err = check_next(s, d, &next);
	if (!err && c->mask & MN_EV_STATE && c->state == MN_ONLINE)
		err = check_online(s, d, &next);
	/* Of one that is ONLINE the EVs that it has are to fit other fields, too. */
	if (!err && next.state == MN_ONLINE && next.mode == MN_MODE_EXPLICIT &&
	    !(c->mask & MN_EV_STATE) && !is_populated(s, &next))
		err = EINVAL;
	if (err)
		return err;
	if (c->mask & MN_EV_STATE)
		next.state = (uint8_t)c->state;
	put(s, d, (uint32_t)id, &next);
	return 0;
}
