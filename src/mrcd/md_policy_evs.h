/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_policy_evs.h - private to md_policy: from parts of the fabric to the EVs of a state and back.
 * EVs that choose a path are those of STEV; others, as source ports that switches hash, choose
 * their port's plane alone, and go when all of that goes.
 */
#ifndef SOFTMRC_MRCD_MD_POLICY_EVS_H
#define SOFTMRC_MRCD_MD_POLICY_EVS_H

#include <jansson.h>

#include "map/map_policy.h"
#include "node/node_state.h"

/* md_policy_out writes of each choice whether some profile of the state is denied all EVs of it. */
void md_policy_out(const struct mm_policy *p, const struct mn_state *s, const struct mn_device *d,
		   uint8_t *out);

/*
 * md_policy_deny_in denies in a profile what a part touches, or what of that the profile has not in
 * the state `before`, unless it is NULL. Returns a new list of the EVs as text, which may be empty.
 * *err is 0, or what mn_ev_modify says; then the state is half changed.
 */
json_t *md_policy_deny_in(const struct mm_policy *p, struct mn_state *s, const struct mn_device *d,
			  uint32_t profile, const struct mm_part *part,
			  const struct mn_state *before, int *err);
/* md_policy_allow_in allows those EVs of a list again that the map has denied. */
void md_policy_allow_in(struct mn_state *s, const struct mn_device *d, uint32_t profile,
			const json_t *evs);

#endif
