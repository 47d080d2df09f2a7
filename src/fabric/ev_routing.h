/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_routing.h - which path an EV chooses. wire/ev_fmt.h has the fields: the uplink of the
 * sender's T0, which is the number of the T1 in its pod; the uplink of that T1, which chooses the
 * T2 (three tiers); the plane, which is the port of the sender; and free bits, by which EVs of the
 * same links may differ.
 *
 * A choice that a packet does not come to (the destination is on the same T0, or in the same pod)
 * is ignored, so one EV is good for every destination. REQ(topo.ev.fields)
 */
#ifndef SOFTMRC_FABRIC_EV_ROUTING_H
#define SOFTMRC_FABRIC_EV_ROUTING_H

#include "fabric/topology.h"

/* The bits of the fields. */
#define MF_EV_UPLINK_MASK (((UINT32_C(1) << MW_EV_UPLINK_BITS) - 1) << MW_EV_UPLINK_SHIFT)
#define MF_EV_T1_UPLINK_MASK (((UINT32_C(1) << MW_EV_T1_UPLINK_BITS) - 1) << MW_EV_T1_UPLINK_SHIFT)
#define MF_EV_PLANE_MASK (((UINT32_C(1) << MW_EV_PLANE_BITS) - 1) << MW_EV_PLANE_SHIFT)

/* mf_ev_of returns the EV of a choice, its free bits 0. */
static inline uint32_t mf_ev_of(uint32_t plane, uint32_t uplink, uint32_t t1_uplink)
{
	return plane << MW_EV_PLANE_SHIFT | t1_uplink << MW_EV_T1_UPLINK_SHIFT |
	       uplink << MW_EV_UPLINK_SHIFT;
}

static inline uint32_t mf_ev_uplink(uint32_t ev)
{
	return (ev & MF_EV_UPLINK_MASK) >> MW_EV_UPLINK_SHIFT;
}

static inline uint32_t mf_ev_t1_uplink(uint32_t ev)
{
	return (ev & MF_EV_T1_UPLINK_MASK) >> MW_EV_T1_UPLINK_SHIFT;
}

static inline uint32_t mf_ev_plane(uint32_t ev)
{
	return (ev & MF_EV_PLANE_MASK) >> MW_EV_PLANE_SHIFT;
}

/* mf_ev_count returns how many EVs with free bits 0 are valid. */
static inline uint32_t mf_ev_count(const struct mf_topology *t)
{
	return t->cfg.planes * t->cfg.t1s * (t->cfg.tiers == 3 ? t->cfg.t1_uplinks : 1);
}

/*
 * mf_ev_nth returns one of them, n below mf_ev_count. The plane changes fastest, then the uplink of
 * the T0, then that of the T1: the first `planes` numbers use each plane once, and among any two
 * hosts the first mf_path_count numbers are all the different paths. A controller that wants `m`
 * EVs a plane takes n = 0 .. m * planes - 1.
 */
static inline uint32_t mf_ev_nth(const struct mf_topology *t, uint32_t n)
{
	uint32_t rest = mf_div_quotient(t->by_planes, n);

	return mf_ev_of(mf_div_rest(t->by_planes, n), mf_div_rest(t->by_t1s, rest),
			mf_div_quotient(t->by_t1s, rest));
}

#endif
