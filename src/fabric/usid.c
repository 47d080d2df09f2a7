/* SPDX-License-Identifier: BSD-2-Clause */
/* usid.c - the uSID plan. */
#include "fabric/usid.h"

#include "base/assert.h"

static uint16_t usid_of(const struct mf_topology *t, uint32_t role, uint32_t plane, uint32_t index)
{
	if (t->cfg.usid.planes == MF_PLANE_IN_USID)
		index |= plane << mf_usid_plane_shift(t);
	return (uint16_t)(role << MF_USID_ROLE_SHIFT | index);
}

static uint32_t t0_index(const struct mf_topology *t, uint32_t t0)
{
	return mf_div_quotient(t->by_t0s, t0) << t->t0_bits | mf_div_rest(t->by_t0s, t0);
}

static uint32_t t1_index(const struct mf_topology *t, uint32_t t1)
{
	return mf_div_quotient(t->by_t1s, t1) << t->t1_bits | mf_div_rest(t->by_t1s, t1);
}

static uint32_t t2_index(const struct mf_topology *t, uint32_t t2)
{
	return mf_div_quotient(t->by_t1_uplinks, t2) << t->t2_bits |
	       mf_div_rest(t->by_t1_uplinks, t2);
}

/* REQ(topo.usid.roles) */
uint16_t mf_usid_switch(const struct mf_topology *t, struct mf_node sw)
{
	switch (sw.tier) {
	case MF_T0:
		return usid_of(t, MF_USID_T0, sw.plane, t0_index(t, sw.index));
	case MF_T1:
		return usid_of(t, MF_USID_T1, sw.plane, t1_index(t, sw.index));
	case MF_T2:
		return usid_of(t, MF_USID_T2, sw.plane, t2_index(t, sw.index));
	case MF_HOST:
	case MF_TIERS:
		break;
	}
	mb_unreachable();
}

/* REQ(topo.usid.destination) */
uint16_t mf_usid_dst(const struct mf_topology *t, uint32_t plane, uint32_t host)
{
	if (t->cfg.usid.dst == MF_DST_HOST)
		return (uint16_t)(MF_USID_HOST_FIRST + host);
	return usid_of(t, MF_USID_DOWNLINK, plane, mf_host_downlink(t, host));
}

uint32_t mf_usids_of(const struct mf_topology *t, const struct mf_pair *p, uint32_t ev,
		     uint16_t usids[MF_USIDS_MAX])
{
	uint32_t n = mf_pair_links(p) - 1;

	for (uint32_t hop = 0; hop < n; hop++)
		usids[hop] = mf_usid_switch(t, mf_node_at(t, mf_path_node(t, p, ev, hop)));
	usids[n] = mf_usid_dst(t, mf_ev_plane(ev), p->dst);
	return n + 1;
}
