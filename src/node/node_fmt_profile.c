/* SPDX-License-Identifier: BSD-2-Clause */
/* node_fmt_profile.c - EV format profiles: into which fields the bits of an EV go on the wire. */
#include <errno.h>
#include <string.h>

#include "node/node_evs.h"

#define STEV_BITS 32u
#define UDP_BITS 16u
/* One address: no driver sends a routing header. */
#define SRV6_BITS 128u

/* REQ(ctl.ev-modes) */
uint32_t mn_format_bits(uint32_t format)
{
	switch (format) {
	case MN_FORMAT_STEV:
		return STEV_BITS;
	case MN_FORMAT_SRV6:
		return SRV6_BITS;
	case MN_FORMAT_UDP:
		return UDP_BITS;
	default:
		return 0;
	}
}

static int check_fields(const struct mn_fmt_change *c, uint32_t format)
{
	uint32_t total = 0;

	if (c->n_fields < 1 || !c->width)
		return EINVAL;
	if (c->n_fields > MN_FIELDS_MAX)
		return E2BIG;
	for (uint32_t i = 0; i < c->n_fields; i++) {
		if (c->width[i] < 1 || c->width[i] > MW_EV_FIELD_BITS_MAX)
			return EINVAL;
		total += c->width[i];
	}
	return total > mn_format_bits(format) ? E2BIG : 0;
}

static bool is_used_online(const struct mn_state *s, uint64_t id)
{
	for (uint32_t i = 0; i < MN_EV_PROFILES; i++)
		if (s->ev[i].state == MN_ONLINE && s->ev[i].mode != MN_MODE_AUTO &&
		    s->ev[i].fmt == id)
			return true;
	return false;
}

/* What the present state does not let a call change. */
static int check_state(const struct mn_state *s, uint64_t id, const struct mn_fmt_change *c)
{
	const struct mn_fmt_profile *p = &s->fmt[id];
	bool moves = c->mask & MN_FMT_STATE;

	if (moves && !mn_state_step(p->state, c->state))
		return EINVAL;
	if (p->state == MN_INIT && !moves && c->mask)
		return EINVAL;
	if (p->state == MN_ONLINE && c->mask & ~(uint32_t)MN_FMT_STATE)
		return EINVAL;
	if (p->state == MN_ONLINE && moves && c->state == MN_OFFLINE && is_used_online(s, id))
		return EBUSY;
	return 0;
}

static int check(const struct mn_state *s, const struct mn_device *d, uint64_t id,
		 const struct mn_fmt_change *c)
{
	uint32_t format = c->mask & MN_FMT_FORMAT ? c->format : s->fmt[id].format;
	bool fields = c->mask & MN_FMT_FIELDS || s->fmt[id].n_fields > 0;
	int err = check_state(s, id, c);

	if (err || !c->mask)
		return err;
	if (c->mask & MN_FMT_STATE && c->state == MN_INIT)
		return c->mask == MN_FMT_STATE ? 0 : EINVAL;
	if (!mn_format_bits(format) || !(d->formats & format))
		return EINVAL;
	if (c->mask & MN_FMT_FIELDS)
		err = check_fields(c, format);
	else if (c->mask & MN_FMT_FORMAT && format != s->fmt[id].format && fields)
		return EINVAL; /* fields of another format */
	if (!err && c->mask & MN_FMT_STATE && c->state == MN_ONLINE && !fields)
		return EINVAL;
	return err;
}

int mn_fmt_modify(struct mn_state *s, const struct mn_device *d, uint64_t id,
		  const struct mn_fmt_change *c)
{
	struct mn_fmt_profile *p;
	int err;

	if (id == MN_OWN_PROFILE || id >= MN_FMT_PROFILES)
		return EINVAL;
	p = &s->fmt[id];
	err = check(s, d, id, c);
	if (err)
		return err;
	if (c->mask & MN_FMT_STATE && c->state == MN_INIT) {
		memset(p, 0, sizeof(*p));
		return 0;
	}
	if (c->mask & MN_FMT_FORMAT)
		p->format = (uint8_t)c->format;
	if (c->mask & MN_FMT_FIELDS) {
		memset(p->width, 0, sizeof(p->width));
		memcpy(p->width, c->width, c->n_fields);
		p->n_fields = (uint8_t)c->n_fields;
	}
	if (c->mask & MN_FMT_VENDOR)
		memcpy(p->vendor, c->vendor, sizeof(p->vendor));
	if (c->mask & MN_FMT_STATE)
		p->state = (uint8_t)c->state;
	return 0;
}
