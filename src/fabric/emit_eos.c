/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit_eos.c - the configuration of a switch for Arista EOS: uN in a micro-segment domain, static
 * routes, traffic classes, ECN. Syntax of Arista's note on SRv6 uN (EOS 4.34.2F, 7060X6), as quoted
 * by its readers, and of the EOS manual. The commands that make EOS trim are not public; a comment
 * says so.
 *
 * A port is Ethernet<cage>/<lane>, eight lanes to a cage, downlinks first.
 */
#include "fabric/emit.h"

#include "fabric/fabric_node.h"
#include "fabric/routes.h"
#include "fabric/usid.h"

#include <inttypes.h>

#define CAGE_LANES 8u
#define EOS_NAME 24u

static const char *port_name(const struct mf_topology *t, uint32_t node, uint32_t port,
			     char out[EOS_NAME])
{
	uint32_t lanes, lane = mf_emit_lane(t, node, port, &lanes);

	snprintf(out, EOS_NAME, "Ethernet%" PRIu32 "/%" PRIu32, lane / CAGE_LANES + 1,
		 lane % CAGE_LANES + 1);
	return out;
}

static unsigned kbytes(uint64_t bytes)
{
	return (unsigned)((bytes + 999) / 1000);
}

static void put_port(FILE *to, const struct mf_topology *t, uint32_t node, uint32_t port)
{
	uint32_t link = mf_link_out(t, node, port);
	struct mf_queue_bytes bytes = mf_queue_bytes(t, mf_link_kind(t, link), false);
	char name[EOS_NAME], peer[MF_ADDRESS_TEXT];

	fprintf(to,
		"interface %s\n   description %s\n   mtu 9214\n   no switchport\n   ipv6 enable\n"
		"   ipv6 address fe80::%u/64 link-local\n   qos trust dscp\n",
		port_name(t, node, port, name), mf_emit_hostname(t, mf_link_to(t, link).node, peer),
		mf_emit_own_address(t, node, port));
	for (unsigned queue = MF_QUEUE_DATA; queue <= MF_QUEUE_RETX; queue++)
		if (!mf_queue_last_hop(t, node, port))
			fprintf(to,
				"   tx-queue %u\n      random-detect ecn minimum-threshold %u "
				"kbytes maximum-threshold %u kbytes max-mark-probability 100\n",
				queue, kbytes(bytes.ecn_min), kbytes(bytes.ecn_max));
	fprintf(to, "!\n");
}

static void put_un(FILE *to, const struct mf_topology *t, uint32_t node)
{
	struct mf_node n = mf_node_at(t, node);
	uint8_t block[MF_ADDRESS_BYTES] = {0};
	uint32_t bits = mf_usid_block(t, n.plane);
	char text[MF_ADDRESS_TEXT];

	for (int i = 0; i < 4; i++)
		block[i] = (uint8_t)(bits >> (24 - 8 * i));
	fprintf(to,
		"router srv6\n   vrf default\n      micro-segment domain mrc\n"
		"         block %s/32\n      !\n      locator mrc\n"
		"         prefix micro-segment domain mrc end usid 0x%04x\n      !\n   !\n!\n",
		mf_emit_address(block, text), mf_usid_switch(t, n));
}

static void put_route(FILE *to, const struct mf_topology *t, uint32_t node,
		      const struct mf_route_group *g)
{
	char text[MF_ADDRESS_TEXT], port[EOS_NAME];

	mf_emit_address(g->route.prefix, text);
	if (g->route.kind == MF_ROUTE_BLACKHOLE)
		fprintf(to, "ipv6 route %s/%u Null0\n", text, g->route.length);
	if (g->route.kind != MF_ROUTE_LINK)
		return;
	for (uint32_t i = 0; i < g->n; i++)
		fprintf(to, "ipv6 route %s/%u %s fe80::%u\n", text, g->route.length,
			port_name(t, node, g->port[i], port), mf_emit_peer(t, node, g->port[i]));
}

/* REQ(plan.emit.classes) */
static void put_classes(FILE *to, const struct mw_dscp_map *dscp)
{
	for (enum mw_dscp_class c = 0; c < MW_DSCP_CLASSES; c++)
		if (mf_queue_of_class(dscp, c))
			fprintf(to, "qos map dscp %u to traffic-class %u\n",
				mw_dscp_encode(dscp, c), mf_queue_of_class(dscp, c));
	fprintf(to, "!\n! Trimming is not configured: its EOS commands are not public.\n!\n");
}

void mf_emit_eos(FILE *to, const struct mf_topology *t, uint32_t node,
		 const struct mf_emit_options *o)
{
	uint32_t ports = mf_node_ports(t, mf_node_at(t, node).tier);
	char host[MF_ADDRESS_TEXT];
	struct mf_route_groups groups;
	struct mf_route_group g;

	fprintf(to, "hostname %s\n!\nipv6 unicast-routing\n!\n", mf_emit_hostname(t, node, host));
	put_classes(to, &t->cfg.dscp);
	for (uint32_t port = 0; port < ports; port++)
		put_port(to, t, node, port);
	put_un(to, t, node);
	mf_route_groups_begin(&groups, t, node, o->sets);
	while (mf_route_groups_next(&groups, &g))
		put_route(to, t, node, &g);
	fprintf(to, "!\nend\n");
}
