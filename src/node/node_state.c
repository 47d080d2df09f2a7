/* SPDX-License-Identifier: BSD-2-Clause */
/* node_state.c - an empty state, what makes one sound, and ports. */
#include "node/node_state.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "node/node_evs.h"

_Static_assert(sizeof(struct mn_ev) == 40 && sizeof(struct mn_ev_profile) == 792 &&
		       sizeof(struct mn_cc_profile) == 180 && sizeof(struct mn_fmt_profile) == 163,
	       "a state is copied and compared byte by byte, so it has no bytes between fields");

void mn_state_copy(struct mn_state *to, const struct mn_state *from)
{
	memcpy(to, from, mn_state_bytes(from));
}

/* EVs behind the last one are never looked at. */
void mn_state_init(struct mn_state *s)
{
	memset(s, 0, offsetof(struct mn_state, evs));
	s->fmt[MN_OWN_PROFILE].state = MN_ONLINE;
	s->ev[MN_OWN_PROFILE].state = MN_ONLINE;
	s->ev[MN_OWN_PROFILE].mode = MN_MODE_AUTO;
	s->cc[MN_OWN_PROFILE].state = MN_ONLINE;
}

/* REQ(ctl.port-admin) */
int mn_port_modify(struct mn_state *s, const struct mn_device *d, uint32_t port,
		   enum mn_port_admin admin)
{
	if (port < 1 || port > d->n_ports || port > MN_PORTS_MAX || admin >= MN_PORT_ADMINS)
		return EINVAL;
	s->port_admin[port - 1] = (uint8_t)admin;
	return 0;
}

static bool fmt_is_sound(const struct mn_fmt_profile *f)
{
	uint32_t total = 0;

	if (f->state > MN_ONLINE || f->n_fields > MN_FIELDS_MAX ||
	    (f->format && !mn_format_bits(f->format)))
		return false;
	for (uint32_t i = 0; i < f->n_fields; i++) {
		if (f->width[i] < 1 || f->width[i] > MW_EV_FIELD_BITS_MAX)
			return false;
		total += f->width[i];
	}
	return total <= MW_EV_BITS;
}

static bool mode_is_known(uint32_t mode)
{
	return mode == MN_MODE_AUTO || mode == MN_MODE_EXPLICIT || mode == MN_MODE_GENERATED;
}

/* Its EVs begin where those of the profile before it end. */
static bool ev_profile_is_sound(const struct mn_state *s, const struct mn_ev_profile *p,
				uint32_t first)
{
	if (p->state > MN_ONLINE || p->fmt >= MN_FMT_PROFILES || p->first != first ||
	    p->n_evs > MN_EVS_PROFILE_MAX || p->count > MN_EVS_PROFILE_MAX ||
	    p->n_fields > MN_FIELDS_MAX || p->min_active > MN_EVS_PROFILE_MAX ||
	    p->event_mask > (MN_EVENT_GOOD | MN_EVENT_BAD))
		return false;
	if (p->state == MN_INIT)
		return p->n_evs == 0;
	if (!mode_is_known(p->mode))
		return false;
	if (p->mode != MN_MODE_AUTO && (p->n_evs == 0 || p->n_evs != p->count))
		return false;
	/* One that is OFFLINE is looked at when it goes ONLINE: its format may change till then. */
	return p->n_fields == 0 || p->state != MN_ONLINE || mn_ev_fields_fit(s, p);
}

static bool evs_are_sound(const struct mn_state *s, const struct mn_ev_profile *p)
{
	for (uint32_t i = 0; i < p->n_evs; i++) {
		const struct mn_ev *ev = &s->evs[p->first + i];

		if (ev->port > MN_PORTS_MAX || ev->denied > 1 || ev->zero ||
		    ev->denier >= MN_DENIERS || (ev->denier && !ev->denied))
			return false;
		if (p->state == MN_ONLINE && ev->port == 0)
			return false;
		if (p->state == MN_ONLINE && p->mode != MN_MODE_AUTO && !mn_ev_value_fits(s, p, ev))
			return false;
	}
	return true;
}

static bool cc_is_sound(const struct mn_cc_profile *c)
{
	return c->state <= MN_ONLINE && c->algorithm < MN_CC_ALGORITHMS && !c->zero &&
	       mn_nscc_is_sound(&c->nscc);
}

static bool refuse(const char **why, const char *text)
{
	*why = text;
	return false;
}

bool mn_state_check(const struct mn_state *s, const char **why)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < MN_PORTS_MAX; i++)
		if (s->port_admin[i] >= MN_PORT_ADMINS)
			return refuse(why, "a port's state is none");
	for (uint32_t i = 0; i < MN_FMT_PROFILES; i++)
		if (!fmt_is_sound(&s->fmt[i]))
			return refuse(why, "an EV format profile has a field out of range");
	if (s->n_evs > MN_EVS_MAX)
		return refuse(why, "it has too many EVs");
	for (uint32_t i = 0; i < MN_EV_PROFILES; i++) {
		const struct mn_ev_profile *p = &s->ev[i];

		if (!ev_profile_is_sound(s, p, first) || p->n_evs > s->n_evs - first)
			return refuse(why, "an EV profile has a field out of range");
		if (!evs_are_sound(s, p))
			return refuse(why, "an EV of a profile is none");
		first += p->n_evs;
	}
	if (first != s->n_evs)
		return refuse(why, "it has EVs that are of no profile");
	for (uint32_t i = 0; i < MN_CC_PROFILES; i++)
		if (!cc_is_sound(&s->cc[i]))
			return refuse(why, "a CC profile has a field out of range");
	if (s->ev[MN_OWN_PROFILE].mode != MN_MODE_AUTO ||
	    s->ev[MN_OWN_PROFILE].state != MN_ONLINE || s->cc[MN_OWN_PROFILE].state != MN_ONLINE)
		return refuse(why, "the device's own profile is not as it must be");
	return true;
}
