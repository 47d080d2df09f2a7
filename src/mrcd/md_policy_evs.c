/* SPDX-License-Identifier: BSD-2-Clause */
/* md_policy_evs.c - see md_policy_evs.h. */
#include "mrcd/md_policy_evs.h"

#include <string.h>

#include "fabric/ev_links.h"
#include "mrcd/md_args.h"

/* The first source port of EVs that are numbers of the host's: docs/operation.md. */
#define UDP_EV_FIRST 49152u

/* Whether an EV chooses a path, and which; of an address the first bytes are no choice. */
static bool path_of(const struct mm_policy *p, const struct mn_state *s,
		    const struct mn_ev_profile *of, const struct mn_ev *ev, uint32_t *path)
{
	return s->fmt[of->fmt].format != MN_FORMAT_SRV6 &&
	       mf_ev_find(p->t, ev->port - 1u, mn_ev_number(s, of, ev), path);
}

static bool is_of_part(const struct mm_policy *p, const struct mn_state *s,
		       const struct mn_ev_profile *of, const struct mn_ev *ev,
		       const struct mm_part *part)
{
	uint32_t path;

	if (!ev->port || ev->port > p->t->cfg.planes)
		return false;
	if (path_of(p, s, of, ev, &path))
		return mm_policy_touches(p, part, path);
	return mm_policy_takes_plane(p, part, ev->port - 1u);
}

/* ---- what is out ---- */

/* Of a choice: it is out, and what the profile that is looked at has of it. */
enum { CHOICE_OUT = 1, CHOICE_DENIED = 2, CHOICE_ALLOWED = 4 };

static void mark_plane(const struct mm_policy *p, uint32_t plane, uint8_t mark, uint8_t *out)
{
	for (uint32_t n = plane; n < mf_ev_count(p->t); n += p->t->cfg.planes)
		out[n] |= mark;
}

static void mark(const struct mm_policy *p, const struct mn_state *s,
		 const struct mn_ev_profile *of, const struct mn_ev *ev, uint8_t *out)
{
	const struct mf_topology *t = p->t;
	uint8_t mark = ev->denied ? CHOICE_DENIED : CHOICE_ALLOWED;
	uint32_t path;

	if (!ev->port || ev->port > t->cfg.planes)
		return;
	if (path_of(p, s, of, ev, &path))
		out[mf_ev_plane(path) +
		    t->cfg.planes * (mf_ev_uplink(path) + t->cfg.t1s * mf_ev_t1_uplink(path))] |=
			mark;
	else
		mark_plane(p, ev->port - 1u, mark, out);
}

/* A profile whose EVs the device chooses lists the denied ones; source ports have others. */
static void mark_unlisted(const struct mm_policy *p, const struct mn_ev_profile *of,
			  const struct mn_ev *evs, const struct mn_device *d, uint8_t *out)
{
	for (uint32_t plane = 0; plane < p->t->cfg.planes; plane++) {
		uint32_t denied = 0;

		for (uint32_t i = 0; i < of->n_evs; i++)
			denied += evs[i].port == plane + 1;
		if (d->formats == MN_FORMAT_UDP && denied < d->n_evs / d->n_ports)
			mark_plane(p, plane, CHOICE_ALLOWED, out);
	}
}

void md_policy_out(const struct mm_policy *p, const struct mn_state *s, const struct mn_device *d,
		   uint8_t *out)
{
	uint32_t choices = mf_ev_count(p->t);

	memset(out, 0, choices);
	for (uint32_t id = 0; id < MN_EV_PROFILES; id++) {
		const struct mn_ev_profile *of = &s->ev[id];

		if (of->state == MN_INIT)
			continue;
		for (uint32_t i = 0; i < of->n_evs; i++)
			mark(p, s, of, &s->evs[of->first + i], out);
		if (of->mode == MN_MODE_AUTO)
			mark_unlisted(p, of, &s->evs[of->first], d, out);
		for (uint32_t n = 0; n < choices; n++)
			out[n] = out[n] & CHOICE_OUT ||
				 (out[n] & (CHOICE_DENIED | CHOICE_ALLOWED)) == CHOICE_DENIED;
	}
}

/* ---- denials ---- */

struct denying {
	const struct mm_policy *p;
	struct mn_state *s;
	const struct mn_device *d;
	uint32_t profile;
	const struct mm_part *part;
	json_t *evs;
	int err;
};

static bool is_listed(const struct mn_state *s, const struct mn_ev_profile *of,
		      const struct mn_ev *ev)
{
	for (uint32_t i = 0; i < of->n_evs; i++)
		if (s->evs[of->first + i].port == ev->port &&
		    memcmp(s->evs[of->first + i].val, ev->val, sizeof(ev->val)) == 0)
			return true;
	return false;
}

static void deny(struct denying *w, const struct mn_ev *ev)
{
	const struct mn_ev_op op = {.ev = *ev, .denied = true, .denier = MN_DENIED_BY_MAP};
	char text[MD_EV_TEXT];

	if (!w->err)
		w->err = mn_ev_modify(w->s, w->d, w->profile, &op);
	if (!w->err)
		json_array_append_new(w->evs, json_string(md_ev_write(ev, text)));
}

static void deny_unless_listed(struct denying *w, uint32_t plane, uint32_t number)
{
	const struct mn_ev_profile *of = &w->s->ev[w->profile];
	struct mn_ev ev = {.port = (uint8_t)(plane + 1)};

	memcpy(ev.val, &number, sizeof(number));
	if (plane < w->d->n_ports && !is_listed(w->s, of, &ev))
		deny(w, &ev);
}

/* Those that the device would choose. */
static void deny_own(struct denying *w)
{
	const struct mf_topology *t = w->p->t;

	for (uint32_t n = 0; w->d->formats != MN_FORMAT_UDP && n < mf_ev_count(t); n++) {
		uint32_t path = mf_ev_nth(t, n);

		if (mm_policy_touches(w->p, w->part, path))
			deny_unless_listed(w, mf_ev_plane(path), mf_ev_shown(path));
	}
	for (uint32_t plane = 0; w->d->formats == MN_FORMAT_UDP && plane < t->cfg.planes; plane++)
		for (uint32_t i = 0; i < w->d->n_evs / w->d->n_ports; i++)
			if (mm_policy_takes_plane(w->p, w->part, plane))
				deny_unless_listed(w, plane, UDP_EV_FIRST + i);
}

/* Those that the profile lists, and did not list before. */
static void deny_listed(struct denying *w, const struct mn_state *before)
{
	const struct mn_ev_profile *of = &w->s->ev[w->profile];

	for (uint32_t i = 0; i < of->n_evs; i++) {
		const struct mn_ev ev = w->s->evs[of->first + i];

		if (!ev.denied && is_of_part(w->p, w->s, of, &ev, w->part) &&
		    !(before && is_listed(before, &before->ev[w->profile], &ev)))
			deny(w, &ev);
	}
}

static bool is_auto(const struct mn_ev_profile *p)
{
	return p->state != MN_INIT && p->mode == MN_MODE_AUTO;
}

json_t *md_policy_deny_in(const struct mm_policy *p, struct mn_state *s, const struct mn_device *d,
			  uint32_t profile, const struct mm_part *part,
			  const struct mn_state *before, int *err)
{
	struct denying w = {p, s, d, profile, part, json_array(), 0};
	const struct mn_ev_profile *of = &s->ev[profile];

	if (is_auto(of) && !(before && is_auto(&before->ev[profile])))
		deny_own(&w);
	else if (of->state != MN_INIT && !is_auto(of))
		deny_listed(&w, before);
	*err = w.err;
	return w.evs;
}

void md_policy_allow_in(struct mn_state *s, const struct mn_device *d, uint32_t profile,
			const json_t *evs)
{
	struct mn_ev_op op = {.denied = false, .denier = MN_DENIED_BY_MAP};
	const json_t *v;
	size_t i;

	json_array_foreach(evs, i, v) if (md_ev_read(json_string_value(v), &op.ev))
		mn_ev_modify(s, d, profile, &op);
}
