/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit_frr.c - frr.conf of a switch that is a Linux machine with FRR: locator, static SID, static
 * routes. Syntax of FRR's user manual, chapters zebra and static; static SIDs are there since 10.3.
 */
#include "fabric/emit.h"

#include "fabric/fabric_node.h"
#include "fabric/routes.h"

#define LOCATOR "mrc"

static void put_sid(FILE *to, const struct mf_route *r)
{
	char text[MF_ADDRESS_TEXT];

	mf_emit_address(r->prefix, text);
	fprintf(to,
		"segment-routing\n srv6\n  locators\n   locator " LOCATOR "\n"
		"    prefix %s/%u block-len 32 node-len 16 func-bits 16\n"
		"    behavior usid\n   exit\n   !\n  exit\n  !\n"
		"  static-sids\n   sid %s/%u locator " LOCATOR " behavior uN\n"
		"  exit\n  !\n exit\n !\nexit\n!\n",
		text, r->length, text, r->length);
}

static void put_route(FILE *to, const struct mf_topology *t, uint32_t node,
		      const struct mf_route_group *g)
{
	char text[MF_ADDRESS_TEXT], port[MF_PORT_NAME_BYTES];

	mf_emit_address(g->route.prefix, text);
	if (g->route.kind == MF_ROUTE_BLACKHOLE)
		fprintf(to, "ipv6 route %s/%u blackhole\n", text, g->route.length);
	if (g->route.kind != MF_ROUTE_LINK)
		return;
	for (uint32_t i = 0; i < g->n; i++) {
		mf_port_name(t, node, g->port[i], port);
		fprintf(to, "ipv6 route %s/%u fe80::%u %s\n", text, g->route.length,
			mf_emit_peer(t, node, g->port[i]), port);
	}
}

void mf_emit_frr(FILE *to, const struct mf_topology *t, uint32_t node,
		 const struct mf_emit_options *o)
{
	uint32_t ports = mf_node_ports(t, mf_node_at(t, node).tier);
	char host[MF_ADDRESS_TEXT], port[MF_PORT_NAME_BYTES];
	struct mf_route_groups groups;
	struct mf_route_group g;

	fprintf(to, "frr defaults datacenter\nhostname %s\nipv6 forwarding\n!\n",
		mf_emit_hostname(t, node, host));
	for (uint32_t i = 0; i < ports; i++) {
		mf_port_name(t, node, i, port);
		fprintf(to, "interface %s\n ipv6 address fe80::%u/64\nexit\n!\n", port,
			mf_emit_own_address(t, node, i));
	}
	mf_route_groups_begin(&groups, t, node, o->sets);
	while (mf_route_groups_next(&groups, &g))
		if (g.route.kind == MF_ROUTE_UN)
			put_sid(to, &g.route);
		else
			put_route(to, t, node, &g);
	fprintf(to, "!\nend\n");
}
