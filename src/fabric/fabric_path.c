/* SPDX-License-Identifier: BSD-2-Clause */
/* path.c - which EVs share which links. */
#include "fabric/fabric_path.h"

bool mf_path_crosses(const struct mf_topology *t, const struct mf_pair *p, uint32_t ev,
		     uint32_t link)
{
	struct mf_crossing c = mf_path_crossing(t, p, link);

	return c.count > 0 && ((ev ^ c.ev) & c.mask) == 0;
}

/*
 * The two ends of a path are common to all EVs of a plane, the next links to those with the same
 * uplink, the inner ones to those with the same choices throughout.
 */
uint32_t mf_path_shared(const struct mf_pair *p, uint32_t a, uint32_t b)
{
	uint32_t common = 0;

	if (mf_ev_plane(a) != mf_ev_plane(b))
		return 0;
	common += 2;
	if (p->turn >= MF_T1 && mf_ev_uplink(a) == mf_ev_uplink(b)) {
		common += 2;
		if (p->turn >= MF_T2 && mf_ev_t1_uplink(a) == mf_ev_t1_uplink(b))
			common += 2;
	}
	return common;
}

struct mf_crossing mf_path_crossing(const struct mf_topology *t, const struct mf_pair *p,
				    uint32_t link)
{
	struct mf_link l = mf_link_at(t, link);
	struct mf_crossing c = {.ev = mf_ev_of(l.plane, 0, 0), .mask = MF_EV_PLANE_MASK};
	uint32_t t1, t1_uplinks = p->turn == MF_T2 ? t->cfg.t1_uplinks : 1;

	if (l.kind == MF_HOST_T0) {
		if (l.lower == (l.down ? p->dst : p->src))
			c.count = mf_path_count(t, p) / t->cfg.planes;
	} else if (l.kind == MF_T0_T1) {
		if (p->turn >= MF_T1 && l.lower == (l.down ? p->dst_t0 : p->src_t0))
			c.count = t1_uplinks;
		c.ev |= l.uplink << MW_EV_UPLINK_SHIFT;
		c.mask |= MF_EV_UPLINK_MASK;
	} else {
		t1 = l.down ? p->dst_t1 : p->src_t1;
		if (p->turn == MF_T2 && l.lower >= t1 && l.lower - t1 < t->cfg.t1s)
			c.count = 1;
		c.ev |= (l.lower - t1) << MW_EV_UPLINK_SHIFT;
		c.ev |= l.uplink << MW_EV_T1_UPLINK_SHIFT;
		c.mask |= MF_EV_UPLINK_MASK | MF_EV_T1_UPLINK_MASK;
	}
	if (c.count == 0)
		return (struct mf_crossing){0, UINT32_MAX, 0};
	return c;
}

uint32_t mf_crossing_nth(const struct mf_topology *t, const struct mf_crossing *c, uint32_t n)
{
	uint32_t ev = c->ev;

	if (!(c->mask & MF_EV_UPLINK_MASK)) {
		ev |= mf_div_rest(t->by_t1s, n) << MW_EV_UPLINK_SHIFT;
		n = mf_div_quotient(t->by_t1s, n);
	}
	if (!(c->mask & MF_EV_T1_UPLINK_MASK))
		ev |= n << MW_EV_T1_UPLINK_SHIFT;
	return ev;
}
