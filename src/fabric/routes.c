/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routes.c - the routes of a node, stage by stage. A stage is a run of records of one sort, so many
 * that a count tells how long it is and record i is written by arithmetic.
 */
#include "fabric/routes.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

#define USID_PREFIX_BITS 48
#define BLOCK_BITS 32
#define POD_BITS 48
#define T0_BITS 64

struct stage {
	unsigned sets; /* in any of which it is */
	uint32_t (*count)(const struct mf_topology *t, struct mf_node n);
	void (*fill)(const struct mf_route_iter *it, uint32_t i, struct mf_route *r);
};

static uint32_t route_count_one(const struct mf_topology *t, struct mf_node n)
{
	(void)t;
	(void)n;
	return 1;
}

static uint32_t plane_count(const struct mf_topology *t, struct mf_node n)
{
	(void)n;
	return t->cfg.planes;
}

static uint32_t downlinks(const struct mf_topology *t, struct mf_node n)
{
	return mf_node_downlinks(t, n.tier);
}

static uint32_t uplinks(const struct mf_topology *t, struct mf_node n)
{
	return mf_node_ports(t, n.tier) - mf_node_downlinks(t, n.tier);
}

static void usid_prefix(const struct mf_topology *t, uint32_t plane, uint16_t usid,
			struct mf_route *r)
{
	mb_store_be32(r->prefix, mf_usid_block(t, plane));
	mb_store_be16(r->prefix + 4, usid);
	r->length = USID_PREFIX_BITS;
}

static void over_port(const struct mf_route_iter *it, uint32_t port, struct mf_route *r)
{
	r->kind = MF_ROUTE_LINK;
	r->port = port;
	r->link = mf_link_out(it->t, it->number, port);
}

/* The node at the other end of a port. */
static uint32_t neighbour(const struct mf_route_iter *it, uint32_t port)
{
	return mf_link_to(it->t, mf_link_out(it->t, it->number, port)).node;
}

static void own_usid(const struct mf_route_iter *it, uint32_t i, struct mf_route *r)
{
	(void)i;
	usid_prefix(it->t, it->node.plane, mf_usid_switch(it->t, it->node), r);
	r->kind = MF_ROUTE_UN;
}

/* The neighbour behind port i, by its uSID. */
static void neighbour_usid(const struct mf_route_iter *it, uint32_t port, struct mf_route *r)
{
	struct mf_node to = mf_node_at(it->t, neighbour(it, port));

	usid_prefix(it->t, it->node.plane,
		    to.tier == MF_HOST ? mf_usid_dst(it->t, it->node.plane, to.index)
				       : mf_usid_switch(it->t, to),
		    r);
	over_port(it, port, r);
}

static void usid_down(const struct mf_route_iter *it, uint32_t i, struct mf_route *r)
{
	neighbour_usid(it, i, r);
}

static void usid_up(const struct mf_route_iter *it, uint32_t i, struct mf_route *r)
{
	neighbour_usid(it, mf_node_downlinks(it->t, it->node.tier) + i, r);
}

/* What hosts below a node have in common of their addresses: those of a T0, of a T1's pod. */
static void plain_prefix(const struct mf_topology *t, struct mf_node n, struct mf_route *r)
{
	uint32_t pod = n.tier == MF_T1 ? mf_t1_pod(t, n.index) : mf_t0_pod(t, n.index);

	mb_store_be32(r->prefix, t->cfg.address_block);
	mb_store_be16(r->prefix + 4, (uint16_t)pod);
	r->length = POD_BITS;
	if (n.tier == MF_T1)
		return;
	mb_store_be16(r->prefix + 6, (uint16_t)mf_div_rest(t->by_t0s, n.index));
	r->length = T0_BITS;
}

/* What of the hosts' addresses lies behind port i: a host, the hosts of a T0, those of a pod. */
static void plain_down(const struct mf_route_iter *it, uint32_t i, struct mf_route *r)
{
	struct mf_node to = mf_node_at(it->t, neighbour(it, i));

	over_port(it, i, r);
	if (to.tier != MF_HOST) {
		plain_prefix(it->t, to, r);
		return;
	}
	mf_address_of_host(it->t, to.index, r->prefix);
	r->length = 8 * MF_ADDRESS_BYTES;
}

/* All other hosts, over any uplink: one of an ECMP group. */
static void plain_up(const struct mf_route_iter *it, uint32_t i, struct mf_route *r)
{
	mb_store_be32(r->prefix, it->t->cfg.address_block);
	r->length = BLOCK_BITS;
	over_port(it, mf_node_downlinks(it->t, it->node.tier) + i, r);
	r->plane = it->node.tier == MF_HOST ? i : it->node.plane;
}

static void blackhole_route(const struct mf_route_iter *it, uint32_t i, struct mf_route *r)
{
	(void)it;
	(void)i;
	r->kind = MF_ROUTE_BLACKHOLE;
}

/* A T0, and a T1 with T2s above it: what lies below it and is not there must not come back down. */
static uint32_t own_part(const struct mf_topology *t, struct mf_node n)
{
	return n.tier == MF_T0 || (n.tier == MF_T1 && t->cfg.tiers == 3);
}

static void plain_own(const struct mf_route_iter *it, uint32_t i, struct mf_route *r)
{
	(void)i;
	plain_prefix(it->t, it->node, r);
	r->kind = MF_ROUTE_BLACKHOLE;
}

/* The host's end of a carrier on plane i. */
static void host_usid(const struct mf_route_iter *it, uint32_t i, struct mf_route *r)
{
	usid_prefix(it->t, i, mf_usid_dst(it->t, i, it->node.index), r);
	r->kind = MF_ROUTE_LOCAL;
	r->plane = i;
}

static void host_address(const struct mf_route_iter *it, uint32_t i, struct mf_route *r)
{
	(void)i;
	mf_address_of_host(it->t, it->node.index, r->prefix);
	r->length = 8 * MF_ADDRESS_BYTES;
	r->kind = MF_ROUTE_LOCAL;
}

/* Where carriers of plane i leave: by the plane's block, or by the uSID of the T0 there. */
static void host_carriers(const struct mf_route_iter *it, uint32_t i, struct mf_route *r)
{
	struct mf_node t0 = {MF_T0, i, mf_host_t0(it->t, it->node.index)};

	usid_prefix(it->t, i, mf_usid_switch(it->t, t0), r);
	if (it->t->cfg.usid.planes == MF_PLANE_IN_BLOCK) {
		mb_store_be16(r->prefix + 4, 0);
		r->length = BLOCK_BITS;
	}
	over_port(it, i, r);
	r->plane = i;
}

static const struct stage host_stages[] = {
	{MF_ROUTES_ALL, route_count_one, host_address},
	{MF_ROUTES_SRV6, plane_count, host_usid},
	{MF_ROUTES_SRV6, plane_count, host_carriers},
	{MF_ROUTES_PLAIN, uplinks, plain_up},
	{0, NULL, NULL},
};

static const struct stage switch_stages[] = {
	{MF_ROUTES_SRV6, route_count_one, own_usid},
	{MF_ROUTES_SRV6, downlinks, usid_down},
	{MF_ROUTES_SRV6, uplinks, usid_up},
	{MF_ROUTES_PLAIN, downlinks, plain_down},
	{MF_ROUTES_PLAIN, own_part, plain_own},
	{MF_ROUTES_PLAIN, uplinks, plain_up},
	{MF_ROUTES_ALL, route_count_one, blackhole_route},
	{0, NULL, NULL},
};

static const struct stage *stages_of(enum mf_tier tier)
{
	return tier == MF_HOST ? host_stages : switch_stages;
}

void mf_routes_begin(struct mf_route_iter *it, const struct mf_topology *t, uint32_t node,
		     unsigned sets)
{
	mb_assert(node < t->n_nodes);
	*it = (struct mf_route_iter){
		.t = t, .node = mf_node_at(t, node), .number = node, .sets = sets};
}

bool mf_routes_next(struct mf_route_iter *it, struct mf_route *out)
{
	const struct stage *s = &stages_of(it->node.tier)[it->stage];

	for (; s->count; s++, it->stage++, it->i = 0) {
		if (!(s->sets & it->sets) || it->i >= s->count(it->t, it->node))
			continue;
		*out = (struct mf_route){
			.set = s->sets, .link = MF_LINK_NONE, .plane = it->node.plane};
		s->fill(it, it->i++, out);
		return true;
	}
	return false;
}
