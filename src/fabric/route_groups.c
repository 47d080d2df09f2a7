/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes by prefix: see routes.h. One record is read ahead, to see where a group ends. */
#include "fabric/routes.h"

#include <string.h>

void mf_route_groups_begin(struct mf_route_groups *g, const struct mf_topology *t, uint32_t node,
			   unsigned sets)
{
	mf_routes_begin(&g->it, t, node, sets);
	g->any = mf_routes_next(&g->it, &g->ahead);
}

static bool share_prefix(const struct mf_route *a, const struct mf_route *b)
{
	return a->kind == MF_ROUTE_LINK && b->kind == MF_ROUTE_LINK && a->length == b->length &&
	       memcmp(a->prefix, b->prefix, sizeof(a->prefix)) == 0;
}

bool mf_route_groups_next(struct mf_route_groups *g, struct mf_route_group *out)
{
	if (!g->any)
		return false;
	out->route = g->ahead;
	out->n = 0;
	do {
		out->port[out->n++] = g->ahead.port;
		g->any = mf_routes_next(&g->it, &g->ahead);
	} while (g->any && out->n < MF_UPLINKS_MAX && share_prefix(&out->route, &g->ahead));
	return true;
}
