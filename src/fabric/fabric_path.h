/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_path.h - from (source, destination, EV) to links and back.
 *
 * A path goes up to the lowest tier at which it can turn (T0 for hosts of one T0, T1 in one pod, T2
 * else), by the choices of the EV, and down again, where there is no choice. REQ(topo.path.turn)
 * So the pair of hosts and the EV say it all: each hop costs a few additions and a multiplication,
 * and nothing is looked up.
 *
 * 	struct mf_pair pair = mf_pair_of(t, src, dst);	once for a connection
 * 	link = mf_path_link(t, &pair, ev, hop);		at each hop 0 .. mf_pair_links(&pair) - 1
 *
 * EVs given here are valid (fabric_path.h), hosts are below n_hosts; neither is checked.
 */
#ifndef SOFTMRC_FABRIC_FABRIC_PATH_H
#define SOFTMRC_FABRIC_FABRIC_PATH_H

#include "fabric/fabric_node.h"
#include "fabric/topology.h"

/*
 * Which path an EV chooses. wire/ev_fmt.h has the fields: the uplink of the sender's T0, which is
 * the number of the T1 in its pod; the uplink of that T1, which chooses the T2 (three tiers); the
 * plane, which is the port of the sender; and free bits, by which EVs of the same links may
 * differ.
 *
 * A choice that a packet does not come to (the destination is on the same T0, or in the same pod)
 * is ignored, so one EV is good for every destination. REQ(topo.ev.fields)
 */

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

/* Links of the longest path: three up, three down. */
#define MF_PATH_LINKS_MAX 6u

/* What of a path does not depend on the EV. */
struct mf_pair {
	uint32_t src, dst;	 /* hosts */
	uint32_t src_t0, dst_t0; /* indices of T0s */
	uint32_t src_t1, dst_t1; /* first T1 of the pod: index pod * t1s */
	enum mf_tier turn;	 /* the highest tier on the path: MF_T0, MF_T1, MF_T2 */
};

/*
 * mf_pair_turning is mf_pair_of for paths that turn at the given tier or, where that is too low to
 * meet the destination, at the lowest possible one. src may be dst: a probe that goes up to the
 * tier and comes back. turn is a tier of switches that the fabric has. REQ(srv6.self-probe)
 */
static inline struct mf_pair mf_pair_turning(const struct mf_topology *t, uint32_t src,
					     uint32_t dst, enum mf_tier turn)
{
	struct mf_pair p = {
		.src = src, .dst = dst, .src_t0 = mf_host_t0(t, src), .dst_t0 = mf_host_t0(t, dst)};
	uint32_t src_pod = mf_t0_pod(t, p.src_t0), dst_pod = mf_t0_pod(t, p.dst_t0);
	enum mf_tier least = p.src_t0 == p.dst_t0 ? MF_T0 : src_pod == dst_pod ? MF_T1 : MF_T2;

	p.src_t1 = src_pod * t->cfg.t1s;
	p.dst_t1 = dst_pod * t->cfg.t1s;
	p.turn = turn > least ? turn : least;
	return p;
}

/* mf_pair_of returns what the paths from src to dst have in common. */
static inline struct mf_pair mf_pair_of(const struct mf_topology *t, uint32_t src, uint32_t dst)
{
	return mf_pair_turning(t, src, dst, MF_T0);
}

/* mf_pair_links returns the number of links on each path of a pair: 2, 4 or 6. */
static inline uint32_t mf_pair_links(const struct mf_pair *p)
{
	return 2 * (uint32_t)p->turn;
}

/*
 * mf_path_count returns how many paths with different links a pair has. The EVs mf_ev_nth(t, 0 ..
 * count - 1) take them, each one of them.
 */
static inline uint32_t mf_path_count(const struct mf_topology *t, const struct mf_pair *p)
{
	return t->cfg.planes * (p->turn == MF_T0   ? 1
				: p->turn == MF_T1 ? t->cfg.t1s
						   : t->cfg.t1s * t->cfg.t1_uplinks);
}

/* mf_path_link returns the link that a packet takes as its hop number `hop`, from 0. */
static inline uint32_t mf_path_link(const struct mf_topology *t, const struct mf_pair *p,
				    uint32_t ev, uint32_t hop)
{
	bool down = hop >= (uint32_t)p->turn;
	uint32_t level = down ? 2 * (uint32_t)p->turn - 1 - hop : hop;
	uint32_t plane = mf_ev_plane(ev);

	if (level == 0)
		return mf_link_host_t0(t, plane, down ? p->dst : p->src, down);
	if (level == 1)
		return mf_link_t0_t1(t, plane, down ? p->dst_t0 : p->src_t0, mf_ev_uplink(ev),
				     down);
	return mf_link_t1_t2(t, plane, (down ? p->dst_t1 : p->src_t1) + mf_ev_uplink(ev),
			     mf_ev_t1_uplink(ev), down);
}

/* mf_path_links writes the links of a path in order and returns how many they are. */
static inline uint32_t mf_path_links(const struct mf_topology *t, const struct mf_pair *p,
				     uint32_t ev, uint32_t out[MF_PATH_LINKS_MAX])
{
	uint32_t n = mf_pair_links(p);

	for (uint32_t hop = 0; hop < n; hop++)
		out[hop] = mf_path_link(t, p, ev, hop);
	return n;
}

/* mf_path_node returns the node that a packet comes to by hop number `hop`. */
static inline uint32_t mf_path_node(const struct mf_topology *t, const struct mf_pair *p,
				    uint32_t ev, uint32_t hop)
{
	uint32_t last = mf_pair_links(p) - 1, plane = mf_ev_plane(ev);
	bool down = hop >= (uint32_t)p->turn;
	uint32_t level = down ? last - hop : hop + 1;

	if (level == 0)
		return p->dst;
	if (level == 1)
		return mf_node_switch(t, MF_T0, plane, down ? p->dst_t0 : p->src_t0);
	if (level == 2)
		return mf_node_switch(t, MF_T1, plane,
				      (down ? p->dst_t1 : p->src_t1) + mf_ev_uplink(ev));
	return mf_node_switch(t, MF_T2, plane,
			      mf_ev_uplink(ev) * t->cfg.t1_uplinks + mf_ev_t1_uplink(ev));
}

#endif
