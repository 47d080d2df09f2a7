/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be written: see plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include "base/suggest.h"
#include "fabric/fabric_node.h"
#include "fabric/host_config.h"
#include "lab/ip_batch.h"

#include <inttypes.h>
#include <string.h>

/* Room for the file of a host with the most planes. */
#define HOST_CONFIG_MAX 8192u

static bool always_true(const struct ml_lab *lab, uint32_t link)
{
	(void)lab;
	(void)link;
	return true;
}

/*
 * The lab's own lines, so that what a lab runs and what is written here are one. A lab makes ports
 * with their addresses; here they are there already. REQ(plan.emit.iproute)
 */
static void write_iproute(FILE *to, const struct mf_topology *t, uint32_t node,
			  const struct plan_emission *how)
{
	uint32_t ports = mf_node_ports(t, mf_node_at(t, node).tier);

	ml_ip_batch_node(to, t, node, how->sid_device);
	for (uint32_t port = 0; port < ports; port++) {
		uint32_t link = mf_link_out(t, node, port);
		char name[MF_PORT_NAME_BYTES];

		mf_port_name(t, node, port, name);
		fprintf(to, "link set dev %s mtu %" PRIu32 " address ", name, t->cfg.mtu);
		ml_ip_batch_mac(to, link);
		fprintf(to, "\n");
		ml_ip_batch_port(to, t, link, mf_link_reverse(link));
	}
	ml_ip_batch_routes(to, t, node, always_true, NULL);
}

static void write_softmrc(FILE *to, const struct mf_topology *t, uint32_t node,
			  const struct plan_emission *how)
{
	struct mf_host_options options = {.form = MF_HOST_RAW41};
	char text[HOST_CONFIG_MAX];

	(void)how;
	mf_host_config_write(t, node, &options, text, sizeof(text));
	fputs(text, to);
}

static void write_sonic(FILE *to, const struct mf_topology *t, uint32_t node,
			const struct plan_emission *how)
{
	mf_emit_sonic(to, t, node, &how->emit, MF_SONIC_CONFIG_DB);
}

static void write_frr(FILE *to, const struct mf_topology *t, uint32_t node,
		      const struct plan_emission *how)
{
	mf_emit_frr(to, t, node, &how->emit);
}

static void write_eos(FILE *to, const struct mf_topology *t, uint32_t node,
		      const struct plan_emission *how)
{
	mf_emit_eos(to, t, node, &how->emit);
}

static void write_containerlab(FILE *to, const struct mf_topology *t, uint32_t node,
			       const struct plan_emission *how)
{
	(void)node;
	(void)how;
	mf_emit_containerlab(to, t);
}

static void write_dot(FILE *to, const struct mf_topology *t, uint32_t node,
		      const struct plan_emission *how)
{
	(void)node;
	(void)how;
	mf_emit_dot(to, t);
}

static void write_svg(FILE *to, const struct mf_topology *t, uint32_t node,
		      const struct plan_emission *how)
{
	(void)node;
	(void)how;
	mf_emit_svg(to, t);
}

static const struct plan_format formats[] = {
	{"iproute", ".ip", "lists for ip -batch: what mrc lab runs", PLAN_OF_NODES, write_iproute},
	{"softmrc", ".toml", "hosts: the file for MRC_CONFIG", PLAN_OF_HOSTS, write_softmrc},
	{"sonic", ".config_db.json", "switches: SONiC's config_db.json", PLAN_OF_SWITCHES,
	 write_sonic},
	{"frr", ".frr.conf", "switches: FRR 10.3 on Linux", PLAN_OF_SWITCHES, write_frr},
	{"eos", ".eos.cfg", "switches: Arista EOS 4.34.2F", PLAN_OF_SWITCHES, write_eos},
	{"containerlab", ".clab.yml", "the fabric of containers; wants iproute beside it",
	 PLAN_OF_FABRIC, write_containerlab},
	{"dot", ".dot", "the fabric for graphviz", PLAN_OF_FABRIC, write_dot},
	{"svg", ".svg", "a picture of the fabric", PLAN_OF_FABRIC, write_svg},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct plan_format *plan_format_at(size_t n)
{
	return n < FORMATS ? &formats[n] : NULL;
}

const struct plan_format *plan_format_find(const char *name, const char *who)
{
	const char *near;

	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(name, formats[i].name) == 0)
			return &formats[i];
	near = mb_suggest_in_table(name, &formats[0].name, FORMATS, sizeof(formats[0]));
	fprintf(stderr, "%s: --emit %s: no such format; ", who, name);
	if (near)
		fprintf(stderr, "did you mean %s? ", near);
	fprintf(stderr, "There are");
	for (size_t i = 0; i < FORMATS; i++)
		fprintf(stderr, " %s", formats[i].name);
	fprintf(stderr, "\n");
	return NULL;
}

bool plan_format_fits(const struct plan_format *f, const struct mf_topology *t, uint32_t node)
{
	bool host = mf_node_at(t, node).tier == MF_HOST;

	return f->of == PLAN_OF_NODES || f->of == (host ? PLAN_OF_HOSTS : PLAN_OF_SWITCHES);
}
