/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routes.h - the routes of a switch or a host: all of them static, set once.
 *
 * There are two sets. The SRv6 set is all that MRC needs: a switch's own uSID, and one route for
 * the uSID of each neighbour. The plain set routes the hosts' own addresses (usid.h) over
 * the same links by ECMP, for traffic that is not source-routed. They share no prefix.
 *
 * 	struct mf_route_iter it;
 * 	struct mf_route r;
 *
 * 	mf_routes_begin(&it, t, node, MF_ROUTES_SRV6);
 * 	while (mf_routes_next(&it, &r))
 * 		...
 *
 * Records of one prefix follow each other; more than one MF_ROUTE_LINK with the same prefix is an
 * ECMP group. A lookup takes the longest prefix.
 */
#ifndef SOFTMRC_FABRIC_ROUTES_H
#define SOFTMRC_FABRIC_ROUTES_H

#include "fabric/fabric_node.h"
#include "fabric/usid.h"

enum mf_route_kind {
	MF_ROUTE_UN = 0,    /* the node's own uSID: shift it out, look up what is left */
	MF_ROUTE_LINK,	    /* send on a link */
	MF_ROUTE_LOCAL,	    /* the host takes it */
	MF_ROUTE_BLACKHOLE, /* drop without an ICMP error */
};

/* Sets of routes, to be joined by |. */
#define MF_ROUTES_SRV6 1u
#define MF_ROUTES_PLAIN 2u
#define MF_ROUTES_ALL (MF_ROUTES_SRV6 | MF_ROUTES_PLAIN)

struct mf_route {
	uint8_t prefix[MF_ADDRESS_BYTES]; /* bits behind the length are 0 */
	uint8_t length;			  /* bits, 0 .. 128 */
	enum mf_route_kind kind;
	unsigned set;	/* MF_ROUTES_SRV6 or MF_ROUTES_PLAIN; the last resort of a switch and the
			   address of a host are in both */
	uint32_t port;	/* of this node, MF_ROUTE_LINK only */
	uint32_t link;	/* on which it sends; else MF_LINK_NONE */
	uint32_t plane; /* on a host: of which plane this speaks, 0 where it is of none */
};

/* The position of an iteration; private to routes.c. */
struct mf_route_iter {
	const struct mf_topology *t;
	struct mf_node node;
	uint32_t number;
	unsigned sets;
	uint32_t stage, i;
};

/* mf_routes_begin begins with the routes of a node; sets is MF_ROUTES_... Keeps t. */
void mf_routes_begin(struct mf_route_iter *it, const struct mf_topology *t, uint32_t node,
		     unsigned sets);

/*
 * mf_routes_next writes the next route. False: there are no more. REQ(topo.routes.static)
 * REQ(topo.routes.plain)
 */
bool mf_routes_next(struct mf_route_iter *it, struct mf_route *out);

/* The routes of a node, those of one prefix together: what systems call a route. */

struct mf_route_group {
	struct mf_route route; /* the first; its port and link are port[0] and its link */
	uint32_t n;	       /* next hops: 1 or more with MF_ROUTE_LINK, else 1 without meaning */
	uint32_t port[MF_UPLINKS_MAX];
};

/* The position of an iteration; private to routes.c. */
struct mf_route_groups {
	struct mf_route_iter it;
	struct mf_route ahead;
	bool any;
};

/* mf_route_groups_begin begins with the routes of a node; as mf_routes_begin. */
void mf_route_groups_begin(struct mf_route_groups *g, const struct mf_topology *t, uint32_t node,
			   unsigned sets);

/* mf_route_groups_next writes the next group. False: there are no more. */
bool mf_route_groups_next(struct mf_route_groups *g, struct mf_route_group *out);

#endif
