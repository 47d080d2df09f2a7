/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_ev_change.c - single EVs of a profile: another value, denied or not. REQ(ctl.ev-ops)
 *
 * Of an AUTO profile the state holds the denied EVs alone, for the others are the device's choice.
 */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "node/node_evs.h"

static bool same_ev(const struct mn_ev *a, const struct mn_ev *b)
{
	return a->port == b->port && memcmp(a->val, b->val, sizeof(a->val)) == 0;
}

/* Those that count are the bits that fields take, or what the format carries. */
bool mn_ev_value_fits(const struct mn_state *s, const struct mn_ev_profile *p,
		      const struct mn_ev *ev)
{
	struct mw_ev_field field[MN_FIELDS_MAX];
	uint32_t number, n, format = s->fmt[p->fmt].format;

	if (p->n_fields) {
		/* The format of a profile that is OFFLINE may have become another one. */
		if (!mn_ev_fields_fit(s, p))
			return false;
		n = mn_ev_fields_of(s, p, field);
		return mw_ev_bits_are_zero(ev->val, mw_ev_fields_bits(field, n));
	}
	if (format == MN_FORMAT_SRV6)
		return mw_ev_bits_are_zero(ev->val, mn_format_bits(format));
	memcpy(&number, ev->val, sizeof(number));
	return mw_ev_bits_are_zero(ev->val, 8 * sizeof(number)) &&
	       (format != MN_FORMAT_UDP || number <= UINT16_MAX);
}

/* Would enough of a profile be left without `but`? */
static bool enough_left(const struct mn_state *s, const struct mn_ev_profile *p,
			const struct mn_ev *but)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_evs; i++) {
		const struct mn_ev *ev = &s->evs[p->first + i];

		n += !ev->denied && !same_ev(ev, but);
	}
	return n >= mn_ev_least(p);
}

/* Whether the present denial of an EV is not for this operation to change. */
static bool is_anothers(const struct mn_ev *ev, const struct mn_ev_op *op)
{
	if (!ev->denied || op->denier == MN_DENIED_BY_USER)
		return false;
	return op->denied || ev->denier != op->denier;
}

static void set_denied(struct mn_ev *ev, const struct mn_ev_op *op, uint32_t user)
{
	ev->denied = op->denied;
	ev->denier = op->denied ? (uint8_t)op->denier : 0;
	ev->denied_by = op->denied ? user : 0;
}

/* ---- of AUTO profiles ---- */

static void list_add(struct mn_state *s, struct mn_ev_profile *p, const struct mn_ev *ev)
{
	uint32_t at = p->first + p->n_evs;

	memmove(&s->evs[at + 1], &s->evs[at], (s->n_evs - at) * sizeof(*ev));
	s->evs[at] = *ev;
	p->n_evs++;
	s->n_evs++;
	for (struct mn_ev_profile *q = p + 1; q < s->ev + MN_EV_PROFILES; q++)
		q->first++;
}

static void list_remove(struct mn_state *s, struct mn_ev_profile *p, uint32_t at)
{
	memmove(&s->evs[at], &s->evs[at + 1], (s->n_evs - at - 1) * sizeof(s->evs[0]));
	p->n_evs--;
	s->n_evs--;
	for (struct mn_ev_profile *q = p + 1; q < s->ev + MN_EV_PROFILES; q++)
		q->first--;
}

static int modify_auto(struct mn_state *s, const struct mn_device *d, struct mn_ev_profile *p,
		       const struct mn_ev_op *op)
{
	struct mn_ev ev = op->ev;

	for (uint32_t i = p->first; i < p->first + p->n_evs; i++)
		if (same_ev(&s->evs[i], &ev)) {
			if (is_anothers(&s->evs[i], op))
				return 0;
			if (op->denied)
				set_denied(&s->evs[i], op, d->user);
			else
				list_remove(s, p, i);
			return 0;
		}
	if (!op->denied)
		return 0;
	if (!mn_ev_auto_may_deny(d, p, p->n_evs + 1))
		return EBUSY;
	if (s->n_evs == MN_EVS_MAX || p->n_evs == MN_EVS_PROFILE_MAX)
		return E2BIG;
	ev.zero = 0;
	set_denied(&ev, op, d->user);
	list_add(s, p, &ev);
	return 0;
}

/* ---- of the others ---- */

static int deny(struct mn_state *s, const struct mn_device *d, const struct mn_ev_profile *p,
		const struct mn_ev_op *op)
{
	bool found = false;

	for (uint32_t i = 0; i < p->n_evs; i++)
		found |= same_ev(&s->evs[p->first + i], &op->ev);
	if (!found || op->ev.port == 0)
		return ENOENT;
	if (op->denied && !enough_left(s, p, &op->ev))
		return EBUSY;
	for (uint32_t i = 0; i < p->n_evs; i++)
		if (same_ev(&s->evs[p->first + i], &op->ev) &&
		    !is_anothers(&s->evs[p->first + i], op))
			set_denied(&s->evs[p->first + i], op, d->user);
	return 0;
}

static int replace(struct mn_state *s, const struct mn_device *d, const struct mn_ev_profile *p,
		   const struct mn_ev_op *op)
{
	bool found = false;

	if (p->mode != MN_MODE_EXPLICIT || op->with.port < 1 || op->with.port > d->n_ports ||
	    !mn_ev_value_fits(s, p, &op->with) ||
	    (p->state == MN_ONLINE && op->with.port != op->ev.port))
		return EINVAL;
	if (op->denied && p->state == MN_ONLINE && !enough_left(s, p, &op->ev))
		return EBUSY;
	for (uint32_t i = 0; i < p->n_evs && (op->all || !found); i++) {
		struct mn_ev *ev = &s->evs[p->first + i];

		if (!same_ev(ev, &op->ev))
			continue;
		found = true;
		memcpy(ev->val, op->with.val, sizeof(ev->val));
		ev->port = op->with.port;
		set_denied(ev, op, d->user);
	}
	return found ? 0 : ENOENT;
}

int mn_ev_modify(struct mn_state *s, const struct mn_device *d, uint64_t id,
		 const struct mn_ev_op *op)
{
	struct mn_ev_profile *p;

	if (id >= MN_EV_PROFILES || s->ev[id].state == MN_INIT || op->ev.port > d->n_ports)
		return EINVAL;
	p = &s->ev[id];
	if (op->replaces)
		return replace(s, d, p, op);
	return p->mode == MN_MODE_AUTO ? modify_auto(s, d, p, op) : deny(s, d, p, op);
}

void mn_ev_wire(const struct mn_state *s, const struct mn_ev_profile *p, const struct mn_ev *ev,
		uint8_t wire[MW_EV_BYTES])
{
	struct mw_ev_field field[MN_FIELDS_MAX];
	uint32_t n = mn_ev_fields_of(s, p, field);

	if (n)
		mw_ev_fields_expand(field, n, ev->val, wire);
	else
		memcpy(wire, ev->val, MW_EV_BYTES);
}

/* Without fields an EV is a number of this machine; the wire has the highest byte first. */
uint32_t mn_ev_number(const struct mn_state *s, const struct mn_ev_profile *p,
		      const struct mn_ev *ev)
{
	bool udp = s->fmt[p->fmt].format == MN_FORMAT_UDP;
	uint8_t wire[MW_EV_BYTES];
	uint32_t number;

	mn_ev_wire(s, p, ev, wire);
	memcpy(&number, wire, sizeof(number));
	if (p->n_fields)
		return udp ? mb_load_be16(wire) : mb_load_be32(wire);
	return udp ? number & UINT16_MAX : number;
}
