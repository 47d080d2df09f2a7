/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit_containerlab.c - the fabric as Linux containers on one machine, for containerlab. Every node
 * binds the folder of its iproute2 list at /softmrc and runs the list when it starts.
 *
 * Lists are where `mrc plan --emit iproute` puts them, relative to the topology file. Interface
 * names are those of the lists; containerlab gives Linux nodes any name that it is told.
 */
#include "fabric/emit.h"

#include "fabric/fabric_node.h"

#include <inttypes.h>

/* An image with ip(8) and nothing else that is needed. */
#define IMAGE "quay.io/frrouting/frr:10.3.1"

static void put_node(FILE *to, const struct mf_topology *t, uint32_t node)
{
	char name[MF_ADDRESS_TEXT], path[MF_PATH_BYTES];
	bool is_host = mf_node_at(t, node).tier == MF_HOST;

	mf_emit_path(t, node, path);
	fprintf(to,
		"    %s:\n      kind: linux\n      group: %s\n      binds:\n"
		"        - %s.ip:/softmrc/node.ip\n",
		mf_emit_hostname(t, node, name), mf_tier_name(mf_node_at(t, node).tier), path);
	fprintf(to, "      exec:\n");
	if (!is_host)
		fprintf(to, "        - sysctl -qw net.ipv6.conf.all.forwarding=1\n");
	fprintf(to, "        - ip -batch /softmrc/node.ip\n");
}

static void put_cable(FILE *to, const struct mf_topology *t, uint32_t link)
{
	struct mf_end end[2] = {mf_link_from(t, link), mf_link_to(t, link)};
	char node[MF_ADDRESS_TEXT], port[MF_PORT_NAME_BYTES];

	fprintf(to, "    - endpoints: [");
	for (int i = 0; i < 2; i++) {
		mf_port_name(t, end[i].node, end[i].port, port);
		fprintf(to, "%s\"%s:%s\"", i ? ", " : "", mf_emit_hostname(t, end[i].node, node),
			port);
	}
	fprintf(to, "]\n      mtu: %" PRIu32 "\n", t->cfg.mtu);
}

void mf_emit_containerlab(FILE *to, const struct mf_topology *t)
{
	fprintf(to, "name: %s\ntopology:\n  defaults:\n    image: " IMAGE "\n  nodes:\n",
		t->cfg.name);
	for (uint32_t node = 0; node < t->n_nodes; node++)
		put_node(to, t, node);
	fprintf(to, "  links:\n");
	for (uint32_t link = 0; link < t->n_links; link += 2)
		put_cable(to, t, link);
}
