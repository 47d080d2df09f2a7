/* SPDX-License-Identifier: BSD-2-Clause */
/* route_groups.h - the routes of a node, those of one prefix together: what systems call a
 * route. */
#ifndef SOFTMRC_FABRIC_ROUTE_GROUPS_H
#define SOFTMRC_FABRIC_ROUTE_GROUPS_H

#include "fabric/routes.h"

struct mf_route_group {
	struct mf_route route; /* the first; its port and link are port[0] and its link */
	uint32_t n;	       /* next hops: 1 or more with MF_ROUTE_LINK, else 1 without meaning */
	uint32_t port[MF_UPLINKS_MAX];
};

/* Where an iteration stands; nobody else's business. */
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
