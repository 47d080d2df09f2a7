/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_link.h - directed links by number. A cable is two links that differ in the lowest bit: the
 * even one leads up, the odd one down. Cables are numbered plane by plane, in a plane by the lower
 * end and its uplink:
 *
 *	plane * plane_cables	+ host
 *				+ first_t0_cable + t0 * t1s + uplink
 *				+ first_t1_cable + t1 * t1_uplinks + uplink
 */
#ifndef SOFTMRC_FABRIC_FABRIC_LINK_H
#define SOFTMRC_FABRIC_FABRIC_LINK_H

#include "fabric/fabric_node.h"

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

#endif
