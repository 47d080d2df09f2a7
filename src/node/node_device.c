/* SPDX-License-Identifier: BSD-2-Clause */
/* node_device.c - whether a state that others made is one of a device. */
#include <stddef.h>

#include "node/node_evs.h"

static bool refuse(const char **why, const char *text)
{
	*why = text;
	return false;
}

static bool ports_are_of(const struct mn_state *s, const struct mn_device *d)
{
	for (uint32_t i = d->n_ports; i < MN_PORTS_MAX; i++)
		if (s->port_admin[i] != MN_PORT_ENABLED)
			return false;
	for (uint32_t i = 0; i < s->n_evs; i++)
		if (s->evs[i].port > d->n_ports)
			return false;
	return true;
}

static bool formats_are_of(const struct mn_state *s, const struct mn_device *d)
{
	for (uint32_t i = 1; i < MN_FMT_PROFILES; i++)
		if (s->fmt[i].state != MN_INIT && !(s->fmt[i].format & d->formats))
			return false;
	return true;
}

/* A list of an AUTO profile has those that are denied, another one all. */
static bool has_enough(const struct mn_state *s, const struct mn_device *d,
		       const struct mn_ev_profile *p)
{
	uint32_t denied = 0;

	for (uint32_t i = 0; i < p->n_evs; i++)
		denied += s->evs[p->first + i].denied;
	if (p->mode == MN_MODE_AUTO)
		return mn_ev_auto_may_deny(d, p, denied);
	return denied + mn_ev_least(p) <= p->n_evs;
}

bool mn_state_is_of(const struct mn_state *s, const struct mn_device *d, const char **why)
{
	if (!ports_are_of(s, d))
		return refuse(why, "it has a port that the device has not");
	if (!formats_are_of(s, d))
		return refuse(why, "it has an EV format that the device has not");
	for (uint32_t i = 0; i < MN_EV_PROFILES; i++)
		if (s->ev[i].state == MN_ONLINE && !has_enough(s, d, &s->ev[i]))
			return refuse(why, "an EV profile would have fewer EVs than its "
					   "min_active, or none");
	return true;
}
