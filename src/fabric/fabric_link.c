/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_link.c - links by place, and their ends. */
#include "fabric/fabric_node.h"

#include "base/assert.h"

struct mf_link mf_link_at(const struct mf_topology *t, uint32_t number)
{
	uint32_t cable = number >> 1, plane = mf_div_quotient(t->by_plane_cables, cable);
	uint32_t in_plane = cable - plane * t->plane_cables;
	struct mf_link l = {.plane = plane, .down = number & 1};

	mb_assert(number < t->n_links);
	if (in_plane < t->first_t0_cable) {
		l.kind = MF_HOST_T0;
		l.lower = in_plane;
	} else if (in_plane < t->first_t1_cable) {
		l.kind = MF_T0_T1;
		l.lower = mf_div_quotient(t->by_t1s, in_plane - t->first_t0_cable);
		l.uplink = mf_div_rest(t->by_t1s, in_plane - t->first_t0_cable);
	} else {
		l.kind = MF_T1_T2;
		l.lower = mf_div_quotient(t->by_t1_uplinks, in_plane - t->first_t1_cable);
		l.uplink = mf_div_rest(t->by_t1_uplinks, in_plane - t->first_t1_cable);
	}
	return l;
}

static struct mf_end lower_end(const struct mf_topology *t, const struct mf_link *l)
{
	const enum mf_tier tier[MF_LINK_KINDS] = {MF_HOST, MF_T0, MF_T1};

	if (l->kind == MF_HOST_T0)
		return (struct mf_end){l->lower, l->plane};
	return (struct mf_end){
		mf_node_switch(t, tier[l->kind], l->plane, l->lower),
		mf_node_downlinks(t, tier[l->kind]) + l->uplink,
	};
}

static struct mf_end upper_end(const struct mf_topology *t, const struct mf_link *l)
{
	uint32_t pod, k;

	if (l->kind == MF_HOST_T0)
		return (struct mf_end){
			mf_node_switch(t, MF_T0, l->plane, mf_host_t0(t, l->lower)),
			mf_host_downlink(t, l->lower),
		};
	if (l->kind == MF_T0_T1) {
		pod = mf_t0_pod(t, l->lower);
		return (struct mf_end){
			mf_node_switch(t, MF_T1, l->plane, pod * t->cfg.t1s + l->uplink),
			l->lower - pod * t->cfg.t0s,
		};
	}
	pod = mf_t1_pod(t, l->lower);
	k = l->lower - pod * t->cfg.t1s;
	return (struct mf_end){
		mf_node_switch(t, MF_T2, l->plane, k * t->cfg.t1_uplinks + l->uplink),
		pod,
	};
}

struct mf_end mf_link_from(const struct mf_topology *t, uint32_t number)
{
	struct mf_link l = mf_link_at(t, number);

	return l.down ? upper_end(t, &l) : lower_end(t, &l);
}

struct mf_end mf_link_to(const struct mf_topology *t, uint32_t number)
{
	struct mf_link l = mf_link_at(t, number);

	return l.down ? lower_end(t, &l) : upper_end(t, &l);
}

/* The link down from a switch through a port that leads down. */
static uint32_t link_down(const struct mf_topology *t, struct mf_node n, uint32_t port)
{
	uint32_t k;

	switch (n.tier) {
	case MF_T0:
		return mf_link_host_t0(t, n.plane, n.index * t->cfg.hosts_per_t0 + port, true);
	case MF_T1:
		k = mf_div_rest(t->by_t1s, n.index);
		return mf_link_t0_t1(t, n.plane, mf_t1_pod(t, n.index) * t->cfg.t0s + port, k,
				     true);
	case MF_T2:
		k = mf_div_quotient(t->by_t1_uplinks, n.index);
		return mf_link_t1_t2(t, n.plane, port * t->cfg.t1s + k,
				     mf_div_rest(t->by_t1_uplinks, n.index), true);
	case MF_HOST:
	case MF_TIERS:
		break;
	}
	mb_unreachable();
}

uint32_t mf_link_out(const struct mf_topology *t, uint32_t node, uint32_t port)
{
	struct mf_node n;
	uint32_t down;

	if (node >= t->n_nodes)
		return MF_LINK_NONE;
	n = mf_node_at(t, node);
	if (port >= mf_node_ports(t, n.tier))
		return MF_LINK_NONE;
	if (n.tier == MF_HOST)
		return mf_link_host_t0(t, port, n.index, false);
	down = mf_node_downlinks(t, n.tier);
	if (port < down)
		return link_down(t, n, port);
	return n.tier == MF_T0 ? mf_link_t0_t1(t, n.plane, n.index, port - down, false)
			       : mf_link_t1_t2(t, n.plane, n.index, port - down, false);
}
