/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit_dot.c - the fabric for graphviz: hosts at the bottom, a cluster for each plane. A fabric too
 * large to be drawn cable by cable becomes an overview, one box for each tier of each plane.
 * REQ(plan.emit.graphs)
 */
#include "fabric/emit.h"

#include "fabric/fabric_node.h"
#include "fabric/usid.h"

#include <inttypes.h>

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
				      "#b8860b", "#56b4e9", "#7f5fc7", "#7a7a7a"};

#define COLOURS (sizeof(colours) / sizeof(colours[0]))

static void put_switch(FILE *to, const struct mf_topology *t, uint32_t node)
{
	char name[MF_NODE_NAME_BYTES];
	struct mf_node n = mf_node_at(t, node);

	mf_node_name(t, node, name);
	fprintf(to, "    \"%s\" [label=\"%s %" PRIu32 "\\n%04x\"];\n", name,
		n.tier == MF_T0	  ? "T0"
		: n.tier == MF_T1 ? "T1"
				  : "T2",
		n.index, mf_usid_switch(t, n));
}

static void put_plane(FILE *to, const struct mf_topology *t, uint32_t plane)
{
	uint32_t first = t->n_hosts + plane * t->plane_switches;

	fprintf(to,
		"  subgraph cluster_plane%" PRIu32 " {\n    label=\"plane %" PRIu32 "\";\n"
		"    color=\"%s\";\n    node [color=\"%s\"];\n",
		plane, plane, colours[plane % COLOURS], colours[plane % COLOURS]);
	for (uint32_t i = 0; i < t->plane_switches; i++)
		put_switch(to, t, first + i);
	fprintf(to, "  }\n");
}

static void put_cable(FILE *to, const struct mf_topology *t, uint32_t link)
{
	char lower[MF_NODE_NAME_BYTES], upper[MF_NODE_NAME_BYTES];

	mf_node_name(t, mf_link_from(t, link).node, lower);
	mf_node_name(t, mf_link_to(t, link).node, upper);
	fprintf(to, "  \"%s\" -- \"%s\" [color=\"%s\"];\n", upper, lower,
		colours[mf_link_plane(t, link) % COLOURS]);
}

static void put_all(FILE *to, const struct mf_topology *t)
{
	for (uint32_t plane = 0; plane < t->cfg.planes; plane++)
		put_plane(to, t, plane);
	fprintf(to, "  { rank=max;");
	for (uint32_t host = 0; host < t->n_hosts; host++)
		fprintf(to, " \"host%" PRIu32 "\";", host);
	fprintf(to, " }\n");
	for (uint32_t link = 0; link < t->n_links; link += 2)
		put_cable(to, t, link);
}

static void put_overview(FILE *to, const struct mf_topology *t)
{
	const uint32_t count[MF_TIERS] = {t->n_hosts, t->n_t0s, t->n_t1s, t->n_t2s};

	fprintf(to, "  hosts [label=\"%" PRIu32 " NICs\"];\n", t->n_hosts);
	for (uint32_t p = 0; p < t->cfg.planes; p++) {
		fprintf(to,
			"  subgraph cluster_plane%" PRIu32 " {\n    label=\"plane %" PRIu32
			"\";\n    color=\"%s\";\n",
			p, p, colours[p % COLOURS]);
		for (int tier = MF_T0; tier < MF_TIERS; tier++)
			if (count[tier])
				fprintf(to,
					"    \"plane%" PRIu32 ".%s\" [label=\"%" PRIu32
					" T%d\"];\n",
					p, mf_tier_name((enum mf_tier)tier), count[tier],
					tier - MF_T0);
		fprintf(to, "  }\n");
		fprintf(to, "  \"plane%" PRIu32 ".t0\" -- hosts [label=\"%" PRIu32 "\"];\n", p,
			t->n_hosts);
		for (int tier = MF_T1; tier < MF_TIERS; tier++)
			if (count[tier])
				fprintf(to,
					"  \"plane%" PRIu32 ".%s\" -- \"plane%" PRIu32
					".%s\" [label=\"%" PRIu32 "\"];\n",
					p, mf_tier_name((enum mf_tier)tier), p,
					mf_tier_name((enum mf_tier)(tier - 1)),
					mf_topology_cables(t, (enum mf_link_kind)(tier - 1)) /
						t->cfg.planes);
	}
}

void mf_emit_dot(FILE *to, const struct mf_topology *t)
{
	fprintf(to,
		"graph \"%s\" {\n  rankdir=TB;\n  node [shape=box, style=rounded, "
		"fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n",
		t->cfg.name);
	if (t->n_links / 2 > MF_DRAWN_CABLES_MAX)
		put_overview(to, t);
	else
		put_all(to, t);
	fprintf(to, "}\n");
}
