/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_node.h - nodes by number. Hosts come first, then the switches, plane by plane, in a plane
 * the T0s, the T1s, the T2s:
 *
 *	0 .. n_hosts - 1	hosts
 *	n_hosts + plane * plane_switches + 0 .. n_t0s - 1, n_t0s .. , n_t0s + n_t1s ..
 *
 * Ports of a node by number: a host has port p on plane p. A switch has its downlinks first, then
 * its uplinks: a T0 one to each host, then one to each T1; a T1 one to each T0 of its pod, then one
 * to each of its T2s; a T2 one to each pod.
 */
#ifndef SOFTMRC_FABRIC_FABRIC_NODE_H
#define SOFTMRC_FABRIC_FABRIC_NODE_H

#include "fabric/topology.h"

/* A node by its place. */
struct mf_node {
	enum mf_tier tier;
	uint32_t plane; /* of a switch; 0 for a host, which is on all */
	uint32_t index; /* of its tier in its plane, all pods */
};

/* mf_node_switch returns the number of a switch; tier is not MF_HOST. */
static inline uint32_t mf_node_switch(const struct mf_topology *t, enum mf_tier tier,
				      uint32_t plane, uint32_t index)
{
	uint32_t before = tier == MF_T0 ? 0 : tier == MF_T1 ? t->n_t0s : t->n_t0s + t->n_t1s;

	return t->n_hosts + plane * t->plane_switches + before + index;
}

/* mf_node_number returns the number of a node; the number of a host is its index. */
static inline uint32_t mf_node_number(const struct mf_topology *t, struct mf_node n)
{
	return n.tier == MF_HOST ? n.index : mf_node_switch(t, n.tier, n.plane, n.index);
}

/* mf_node_at returns the place of a node; number is below n_nodes. */
static inline struct mf_node mf_node_at(const struct mf_topology *t, uint32_t number)
{
	uint32_t plane, in_plane;

	if (number < t->n_hosts)
		return (struct mf_node){MF_HOST, 0, number};
	plane = mf_div_quotient(t->by_plane_switches, number - t->n_hosts);
	in_plane = number - t->n_hosts - plane * t->plane_switches;
	if (in_plane < t->n_t0s)
		return (struct mf_node){MF_T0, plane, in_plane};
	in_plane -= t->n_t0s;
	if (in_plane < t->n_t1s)
		return (struct mf_node){MF_T1, plane, in_plane};
	return (struct mf_node){MF_T2, plane, in_plane - t->n_t1s};
}

/* mf_host_t0 returns the index of a host's T0, the same in every plane. */
static inline uint32_t mf_host_t0(const struct mf_topology *t, uint32_t host)
{
	return mf_div_quotient(t->by_hosts_per_t0, host);
}

/* mf_host_downlink returns which downlink of its T0 leads to a host, the same in every plane. */
static inline uint32_t mf_host_downlink(const struct mf_topology *t, uint32_t host)
{
	return mf_div_rest(t->by_hosts_per_t0, host);
}

/* mf_t0_pod returns the pod of a T0. */
static inline uint32_t mf_t0_pod(const struct mf_topology *t, uint32_t t0)
{
	return mf_div_quotient(t->by_t0s, t0);
}

/* mf_t1_pod returns the pod of a T1. */
static inline uint32_t mf_t1_pod(const struct mf_topology *t, uint32_t t1)
{
	return mf_div_quotient(t->by_t1s, t1);
}

/* mf_node_ports returns how many ports of a node of the tier have a cable. */
static inline uint32_t mf_node_ports(const struct mf_topology *t, enum mf_tier tier)
{
	const uint32_t ports[MF_TIERS] = {
		t->cfg.planes,
		t->cfg.hosts_per_t0 + t->cfg.t1s,
		t->cfg.t0s + t->cfg.t1_uplinks,
		t->cfg.pods,
	};

	return ports[tier];
}

/* mf_node_downlinks returns how many of them lead down: ports 0 .. this - 1. A host has none. */
static inline uint32_t mf_node_downlinks(const struct mf_topology *t, enum mf_tier tier)
{
	const uint32_t ports[MF_TIERS] = {0, t->cfg.hosts_per_t0, t->cfg.t0s, t->cfg.pods};

	return ports[tier];
}

#endif
