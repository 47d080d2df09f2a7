/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles.h - from profiles of a state to those of the engine; private to src/host/node. */
#ifndef SOFTMRC_HOST_NODE_PROFILES_H
#define SOFTMRC_HOST_NODE_PROFILES_H

#include "host/node/node.h"

/* What a NIC without a pace is taken for. */
#define MH_UNPACED_BPS UINT64_C(10000000000)

/* mh_cc_profile_cfg makes the engine's configuration of a CC profile. */
void mh_cc_profile_cfg(const struct mh_nic *nic, const struct mn_cc_profile *p,
		       struct mt_cc_profile_cfg *cfg);
/*
 * mh_ev_profile_apply makes the engine go by EV profile `id` of `next` where it went by that of
 * `now`. ENOMEM: some of it is without effect.
 */
int mh_ev_profile_apply(struct mh_nic *nic, uint32_t id, const struct mn_state *now,
			const struct mn_state *next);

#endif
