/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_node.h - nodes and links by number and name. Hosts come first, then the switches, plane by
 * plane, in a plane the T0s, the T1s, the T2s:
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

/*
 * Directed links by number. A cable is two links that differ in the lowest bit: the even one leads
 * up, the odd one down. Cables are numbered plane by plane, in a plane by the lower end and its
 * uplink:
 *
 * 	plane * plane_cables	+ host
 * 				+ first_t0_cable + t0 * t1s + uplink
 * 				+ first_t1_cable + t1 * t1_uplinks + uplink
 */

/* What a function returns that found no link. */
#define MF_LINK_NONE UINT32_MAX

/* A directed link by its place. */
struct mf_link {
	enum mf_link_kind kind;
	uint32_t plane;
	uint32_t lower;	 /* index of the lower end: the host, T0 or T1 */
	uint32_t uplink; /* of the lower end; 0 for a host */
	bool down;	 /* from the upper end to the lower */
};

/* One end of a link. */
struct mf_end {
	uint32_t node;
	uint32_t port;
};

/* mf_link_host_t0 returns the link between a host and its T0 in a plane. */
static inline uint32_t mf_link_host_t0(const struct mf_topology *t, uint32_t plane, uint32_t host,
				       bool down)
{
	return (plane * t->plane_cables + host) << 1 | down;
}

/* mf_link_t0_t1 returns the link between a T0 and T1 number `uplink` of its pod. */
static inline uint32_t mf_link_t0_t1(const struct mf_topology *t, uint32_t plane, uint32_t t0,
				     uint32_t uplink, bool down)
{
	return (plane * t->plane_cables + t->first_t0_cable + t0 * t->cfg.t1s + uplink) << 1 | down;
}

/* mf_link_t1_t2 returns the link between a T1 and its T2 number `uplink`. */
static inline uint32_t mf_link_t1_t2(const struct mf_topology *t, uint32_t plane, uint32_t t1,
				     uint32_t uplink, bool down)
{
	return (plane * t->plane_cables + t->first_t1_cable + t1 * t->cfg.t1_uplinks + uplink)
		       << 1 |
	       down;
}

/* mf_link_reverse returns the other link of the same cable. */
static inline uint32_t mf_link_reverse(uint32_t link)
{
	return link ^ 1u;
}

/* mf_link_down says whether a link leads down, towards hosts. */
static inline bool mf_link_down(uint32_t link)
{
	return link & 1;
}

/* mf_link_plane returns the plane of a link. */
static inline uint32_t mf_link_plane(const struct mf_topology *t, uint32_t link)
{
	return mf_div_quotient(t->by_plane_cables, link >> 1);
}

/* mf_link_kind returns the kind of a link. */
static inline enum mf_link_kind mf_link_kind(const struct mf_topology *t, uint32_t link)
{
	uint32_t in_plane = mf_div_rest(t->by_plane_cables, link >> 1);

	return in_plane < t->first_t0_cable   ? MF_HOST_T0
	       : in_plane < t->first_t1_cable ? MF_T0_T1
					      : MF_T1_T2;
}

/* mf_link_at returns the place of a link; number is below n_links. */
struct mf_link mf_link_at(const struct mf_topology *t, uint32_t number);

/* mf_link_from returns the node and port that send on a link. */
struct mf_end mf_link_from(const struct mf_topology *t, uint32_t number);

/* mf_link_to returns the node and port that receive from a link. */
struct mf_end mf_link_to(const struct mf_topology *t, uint32_t number);

/* mf_link_out returns the link on which a node sends through a port; MF_LINK_NONE: no such port. */
uint32_t mf_link_out(const struct mf_topology *t, uint32_t node, uint32_t port);

/* mf_link_bit_s returns the speed of a link. */
static inline uint64_t mf_link_bit_s(const struct mf_topology *t, uint32_t link)
{
	return t->cfg.links[mf_link_kind(t, link)].bit_s;
}

/* mf_link_latency_ns returns the one-way latency of a link. */
static inline uint32_t mf_link_latency_ns(const struct mf_topology *t, uint32_t link)
{
	return t->cfg.links[mf_link_kind(t, link)].latency_ns;
}

/*
 * Nodes, ports and links as words.
 *
 * 	host3		a host
 * 	plane0.t1-2	T1 number 2 of plane 0 (all pods counted)
 * 	host3.e0	the link on which host 3 sends on plane 0: node, dot, port
 * 	plane0.t0-1.u2	the link up from T0 1 to its T1 number 2
 * 	plane0.t0-1.d2	the link down from T0 1 to its host number 2
 *
 * Ports: of a host e<plane>; of a switch d<number> down and u<number> up, each from 0.
 */

/* Room for any name, its ending zero included. */
#define MF_NODE_NAME_BYTES 32u
#define MF_PORT_NAME_BYTES 16u
#define MF_LINK_NAME_BYTES 48u

/* mf_tier_name returns "host", "t0", "t1" or "t2"; a constant. */
const char *mf_tier_name(enum mf_tier tier);

/* mf_node_name writes the name of a node. */
void mf_node_name(const struct mf_topology *t, uint32_t node, char out[MF_NODE_NAME_BYTES]);

/* mf_port_name writes the name of a port of a node, without the node. */
void mf_port_name(const struct mf_topology *t, uint32_t node, uint32_t port,
		  char out[MF_PORT_NAME_BYTES]);

/* mf_link_name writes the name of a link, by the end that sends. */
void mf_link_name(const struct mf_topology *t, uint32_t link, char out[MF_LINK_NAME_BYTES]);

/*
 * mf_node_find reads the name of a node. False: there is no such node; *error has the name as value
 * and says what is wrong, with the range of numbers or the nearest kind. REQ(topo.names)
 */
bool mf_node_find(const struct mf_topology *t, const char *name, uint32_t *node,
		  struct mf_error *error);

/* mf_link_find reads the name of a link; else as mf_node_find. REQ(topo.names) */
bool mf_link_find(const struct mf_topology *t, const char *name, uint32_t *link,
		  struct mf_error *error);

#endif
