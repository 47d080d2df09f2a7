/* SPDX-License-Identifier: BSD-2-Clause */
/* node_evs.h - what the parts of a state have in common; private to src/node. */
#ifndef SOFTMRC_NODE_NODE_EVS_H
#define SOFTMRC_NODE_NODE_EVS_H

#include "node/node_state.h"

/* mn_state_step says whether a profile may go from one state to another: one step at a time. */
static inline bool mn_state_step(uint32_t from, uint32_t to)
{
	return to <= MN_ONLINE && from <= to + 1 && to <= from + 1;
}

/* mn_format_bits returns how many bits a format carries, 0 for none. */
uint32_t mn_format_bits(uint32_t format);
/* mn_ev_fields_of joins the fields of a profile with those of its format, and returns how many. */
uint32_t mn_ev_fields_of(const struct mn_state *s, const struct mn_ev_profile *p,
			 struct mw_ev_field field[MN_FIELDS_MAX]);
/* mn_ev_fields_fit says whether they go together. */
bool mn_ev_fields_fit(const struct mn_state *s, const struct mn_ev_profile *p);
/* mn_ev_value_fits says whether an EV has no bits besides those that count. */
bool mn_ev_value_fits(const struct mn_state *s, const struct mn_ev_profile *p,
		      const struct mn_ev *ev);
/* mn_ev_least returns how many EVs of a profile must not be denied. */
static inline uint32_t mn_ev_least(const struct mn_ev_profile *p)
{
	return p->min_active > 1 ? p->min_active : 1;
}

/* mn_ev_auto_may_deny says whether an AUTO profile stays with enough EVs when `denied` are not. */
static inline bool mn_ev_auto_may_deny(const struct mn_device *d, const struct mn_ev_profile *p,
				       uint32_t denied)
{
	uint32_t all = p->count ? p->count : d->n_evs;

	return denied + mn_ev_least(p) <= all;
}

/* mn_nscc_is_sound says whether NSCC's parameters are numbers in their ranges. */
bool mn_nscc_is_sound(const struct mn_nscc *c);

#endif
