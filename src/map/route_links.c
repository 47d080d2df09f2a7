/* SPDX-License-Identifier: BSD-2-Clause */
/* route_links.c - the links of each kind of route that hosts probe: see probe_plan.h. */
#include "map/probe_plan.h"

uint32_t mm_route_up(const struct mf_topology *t, uint32_t host, uint32_t plane,
		     const struct mm_route_top *top, uint32_t link[MM_ROUTE_LINKS])
{
	uint32_t t0 = mf_host_t0(t, host), tier = top->tier;

	link[0] = mf_link_host_t0(t, plane, host, false);
	if (tier > 0)
		link[1] = mf_link_t0_t1(t, plane, t0, top->uplink, false);
	if (tier > 1)
		link[2] = mf_link_t1_t2(t, plane, mf_t0_pod(t, t0) * t->cfg.t1s + top->uplink,
					top->t1_uplink, false);
	for (uint32_t i = 0; i <= tier; i++)
		link[2 * tier + 1 - i] = mf_link_reverse(link[i]);
	return 2 * (tier + 1);
}

uint32_t mm_route_turn(const struct mf_topology *t, uint32_t host, uint32_t plane, uint32_t up,
		       uint32_t through, uint32_t down, uint32_t link[MM_ROUTE_LINKS])
{
	uint32_t t0 = mf_host_t0(t, host);

	link[0] = mf_link_host_t0(t, plane, host, false);
	link[1] = mf_link_t0_t1(t, plane, t0, up, false);
	link[2] = mf_link_t0_t1(t, plane, through, up, true);
	link[3] = mf_link_t0_t1(t, plane, through, down, false);
	link[4] = mf_link_t0_t1(t, plane, t0, down, true);
	link[5] = mf_link_host_t0(t, plane, host, true);
	return 6;
}

uint32_t mm_route_peer(const struct mf_topology *t, uint32_t host, uint32_t plane, uint32_t peer,
		       uint32_t link[MM_ROUTE_LINKS])
{
	uint32_t back = plane + 1 < t->cfg.planes ? plane + 1 : 0;

	link[0] = mf_link_host_t0(t, plane, host, false);
	link[1] = mf_link_host_t0(t, plane, peer, true);
	link[2] = mf_link_host_t0(t, back, peer, false);
	link[3] = mf_link_host_t0(t, back, host, true);
	return 4;
}

struct mm_route_of mm_route_there(const struct mm_route_of *route)
{
	return (struct mm_route_of){.witness = route->witness,
				    .peer = route->peer,
				    .links = 2,
				    .link = {route->link[0], route->link[1]}};
}
