/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit_svg.c - a picture of the fabric that a browser shows: switches in rows by tier, planes side
 * by side, each in a colour of its own, hosts in the row below, every cable a curve. Pointing at a
 * node shows its name, uSID and ports. A fabric too large for that is shown as one box for each
 * tier of each plane, with how many there are and how many links lead on. REQ(plan.emit.graphs)
 *
 * Rows have one width; a node of a row with n places is in the middle of the nth part of it.
 */
#include "fabric/emit.h"

#include "fabric/fault.h"
#include "fabric/usid.h"

#include <inttypes.h>

#define MARGIN 24.0
#define HEAD 84.0
#define ROW 150.0
#define NODE_HEIGHT 34.0
#define NODE_WIDTH_MAX 92.0
#define CELL_MIN 46.0
#define GAP 0.14 /* of a cell, left free between nodes */
#define LEGEND 96.0

/* Distinguished by people who see colours differently, on light and on dark ground. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
				      "#c9920a", "#3ba3db", "#7f5fc7", "#7a7a7a"};

#define COLOURS (sizeof(colours) / sizeof(colours[0]))

struct picture {
	FILE *to;
	const struct mf_topology *t;
	bool overview;
	double width, height;
	double fan;		   /* more room above the hosts, where all planes cross */
	int rows;		   /* of switches */
	uint32_t places[MF_TIERS]; /* nodes of a row, all planes */
};

static const char *plane_colour(uint32_t plane)
{
	return colours[plane % COLOURS];
}

/* Hosts are the last row. */
static double row_y(const struct picture *p, enum mf_tier tier)
{
	return HEAD + ROW * (p->rows - (int)tier) + (tier == MF_HOST ? p->fan : 0);
}

static double cell_width(const struct picture *p, enum mf_tier tier)
{
	return (p->width - 2 * MARGIN) / p->places[tier];
}

static double node_x(const struct picture *p, enum mf_tier tier, uint32_t place)
{
	return MARGIN + cell_width(p, tier) * (place + 0.5);
}

static double node_width(const struct picture *p, enum mf_tier tier)
{
	double width = cell_width(p, tier) * (1 - GAP);

	if (p->overview && tier == MF_HOST)
		return cell_width(p, MF_HOST) - cell_width(p, MF_T0) * GAP;
	return width < NODE_WIDTH_MAX || p->overview ? width : NODE_WIDTH_MAX;
}

/* The place of a node of the topology in its row. */
static uint32_t place_of(const struct picture *p, uint32_t node)
{
	struct mf_node n = mf_node_at(p->t, node);

	return n.tier == MF_HOST ? n.index
				 : n.plane * (p->places[n.tier] / p->t->cfg.planes) + n.index;
}

static void put_curve(const struct picture *p, enum mf_tier lower, uint32_t from, uint32_t to,
		      uint32_t plane)
{
	double x2 = node_x(p, (enum mf_tier)(lower + 1), to);
	/* The one box for all hosts is wide enough to be met anywhere. */
	double x1 = p->overview ? x2 : node_x(p, lower, from);
	double y1 = row_y(p, lower), y2 = row_y(p, (enum mf_tier)(lower + 1)) + NODE_HEIGHT;
	double bend = (y1 - y2) / 2;

	fprintf(p->to,
		"<path class=\"p%" PRIu32 "\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n",
		plane % (uint32_t)COLOURS, x1, y1, x1, y1 - bend, x2, y2 + bend, x2, y2);
}

static void put_box(const struct picture *p, enum mf_tier tier, uint32_t place, uint32_t plane,
		    const char *label, const char *second, const char *title)
{
	double x = node_x(p, tier, place), y = row_y(p, tier), width = node_width(p, tier);

	if (tier == MF_HOST)
		fprintf(p->to, "<g class=\"h\">");
	else
		fprintf(p->to, "<g class=\"s p%" PRIu32 "\">", plane % (uint32_t)COLOURS);
	fprintf(p->to,
		"<title>%s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" "
		"rx=\"6\"/><text x=\"%.1f\" y=\"%.1f\">%s</text>",
		title, x - width / 2, y, width, NODE_HEIGHT, x, y + (second ? 15 : 21), label);
	if (second)
		fprintf(p->to, "<text class=\"u\" x=\"%.1f\" y=\"%.1f\">%s</text>", x, y + 28,
			second);
	fprintf(p->to, "</g>\n");
}

static void put_node(const struct picture *p, uint32_t node)
{
	struct mf_node n = mf_node_at(p->t, node);
	char name[MF_NODE_NAME_BYTES], label[16], second[16], title[160];
	uint16_t usid = n.tier == MF_HOST ? mf_usid_dst(p->t, 0, n.index) : mf_usid_switch(p->t, n);

	mf_node_name(p->t, node, name);
	snprintf(label, sizeof(label), n.tier == MF_HOST ? "%s%" PRIu32 : "%s %" PRIu32,
		 n.tier == MF_HOST ? "h"
		 : n.tier == MF_T0 ? "T0"
		 : n.tier == MF_T1 ? "T1"
				   : "T2",
		 n.index);
	snprintf(second, sizeof(second), "%04x", usid);
	snprintf(title, sizeof(title), "%s, uSID %04x, %" PRIu32 " ports", name, usid,
		 mf_node_ports(p->t, n.tier));
	put_box(p, n.tier, place_of(p, node), n.plane, label, second, title);
}

static void put_all(const struct picture *p)
{
	for (uint32_t link = 0; link < p->t->n_links; link += 2) {
		uint32_t lower = mf_link_from(p->t, link).node, upper = mf_link_to(p->t, link).node;

		put_curve(p, mf_node_at(p->t, lower).tier, place_of(p, lower), place_of(p, upper),
			  mf_link_plane(p->t, link));
	}
	for (uint32_t node = 0; node < p->t->n_nodes; node++)
		put_node(p, node);
}

static void put_overview_box(const struct picture *p, enum mf_tier tier, uint32_t plane)
{
	const uint32_t count[MF_TIERS] = {p->t->n_hosts, p->t->n_t0s, p->t->n_t1s, p->t->n_t2s};
	char label[32], title[96];

	if (tier == MF_HOST) {
		snprintf(label, sizeof(label), "%" PRIu32 " NICs", count[MF_HOST]);
		put_box(p, tier, 0, 0, label, NULL, label);
		return;
	}
	snprintf(label, sizeof(label), "%" PRIu32 " T%d", count[tier], (int)tier - MF_T0);
	snprintf(title, sizeof(title), "plane %" PRIu32 ": %s with %" PRIu32 " ports each", plane,
		 label, mf_node_ports(p->t, tier));
	put_box(p, tier, plane, plane, label, NULL, title);
}

static void put_links_text(const struct picture *p, enum mf_tier lower, uint32_t plane)
{
	uint32_t links = mf_topology_cables(p->t, (enum mf_link_kind)lower) / p->t->cfg.planes;
	double x = node_x(p, (enum mf_tier)(lower + 1), plane);

	fprintf(p->to, "<text class=\"l\" x=\"%.1f\" y=\"%.1f\">%" PRIu32 " links</text>\n", x,
		row_y(p, lower) - (ROW - NODE_HEIGHT) / 2 + 4, links);
}

static void put_overview(const struct picture *p)
{
	for (int tier = MF_HOST; tier < p->rows; tier++)
		for (uint32_t plane = 0; plane < p->t->cfg.planes; plane++) {
			put_curve(p, (enum mf_tier)tier, tier == MF_HOST ? 0 : plane, plane, plane);
			put_links_text(p, (enum mf_tier)tier, plane);
		}
	put_overview_box(p, MF_HOST, 0);
	for (int tier = MF_T0; tier <= p->rows; tier++)
		for (uint32_t plane = 0; plane < p->t->cfg.planes; plane++)
			put_overview_box(p, (enum mf_tier)tier, plane);
}

static void put_style(const struct picture *p)
{
	fprintf(p->to,
		"<style>\nsvg{font-family:system-ui,sans-serif;background:#fff}\n"
		"text{text-anchor:middle;font-size:12px;fill:#fff}\n"
		".u{font-size:10px;opacity:.85;font-family:ui-monospace,monospace}\n"
		".t{text-anchor:start;font-size:18px;font-weight:600;fill:#222}\n"
		".d{text-anchor:start;font-size:13px;fill:#555}\n.l{font-size:11px;fill:#555;paint-"
		"order:stroke;"
		"stroke:#fff;stroke-width:5px}\n"
		"path{fill:none;stroke-width:1.4;stroke-opacity:%s}\n"
		".h rect{fill:#3c4450}\n",
		p->overview || p->t->n_links < 200 ? ".75" : ".4");
	for (size_t i = 0; i < COLOURS; i++)
		fprintf(p->to, "path.p%zu{stroke:%s}.p%zu rect{fill:%s}\n", i, colours[i], i,
			colours[i]);
	fprintf(p->to, "@media(prefers-color-scheme:dark){svg{background:#16181d}.t{fill:#eee}"
		       ".d,.l{fill:#aaa}.l{stroke:#16181d}.h rect{fill:#59626f}}\n</style>\n");
}

static void put_head(const struct picture *p)
{
	const struct mf_topology *t = p->t;
	uint64_t mbit_s = t->cfg.links[MF_HOST_T0].bit_s / 1000000;

	fprintf(p->to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
		"width=\"%.0f\" "
		"height=\"%.0f\">\n<title>%s</title>\n",
		p->width, p->height, p->width, p->height, t->cfg.name);
	put_style(p);
	fprintf(p->to, "<text class=\"t\" x=\"%.0f\" y=\"32\">%s</text>\n", MARGIN, t->cfg.name);
	fprintf(p->to,
		"<text class=\"d\" x=\"%.0f\" y=\"52\">%" PRIu32 " NICs on %" PRIu32
		" plane%s of %" PRIu64 "%s, %" PRIu32 " switches</text>\n",
		MARGIN, t->n_hosts, t->cfg.planes, t->cfg.planes == 1 ? "" : "s",
		mbit_s % 1000 ? mbit_s : mbit_s / 1000, mbit_s % 1000 ? " Mb/s" : " Gb/s",
		t->n_switches);
	for (uint32_t plane = 0; plane < t->cfg.planes && plane < COLOURS; plane++)
		fprintf(p->to,
			"<circle cx=\"%.0f\" cy=\"67\" r=\"5\" fill=\"%s\"/><text class=\"d\" "
			"x=\"%.0f\" y=\"71\">plane %" PRIu32 "</text>\n",
			MARGIN + 5 + LEGEND * plane, plane_colour(plane),
			MARGIN + 16 + LEGEND * plane, plane);
}

static void measure_picture(struct picture *p)
{
	const struct mf_topology *t = p->t;
	const uint32_t count[MF_TIERS] = {t->n_hosts, t->n_t0s, t->n_t1s, t->n_t2s};
	uint32_t most = 1, legend = t->cfg.planes < COLOURS ? t->cfg.planes : (uint32_t)COLOURS;

	p->rows = t->cfg.tiers == 3 ? MF_T2 : MF_T1;
	for (int tier = MF_HOST; tier < MF_TIERS; tier++) {
		uint32_t planes = tier == MF_HOST ? 1 : t->cfg.planes;

		p->places[tier] = p->overview ? planes : count[tier] * planes;
		most = p->places[tier] > most ? p->places[tier] : most;
	}
	p->width = 2 * MARGIN + most * (p->overview ? 2 * CELL_MIN : CELL_MIN);
	if (p->width < 2 * MARGIN + LEGEND * legend)
		p->width = 2 * MARGIN + LEGEND * legend;
	if (p->width < 480)
		p->width = 480;
	p->fan = p->overview ? 0 : p->width / 12;
	p->height = row_y(p, MF_HOST) + NODE_HEIGHT + MARGIN;
}

/* ---- what stands out ---- */

static void mark_cable(const struct picture *p, uint32_t link)
{
	uint32_t lower = mf_link_from(p->t, link).node, upper = mf_link_to(p->t, link).node;

	if (!p->overview)
		put_curve(p, mf_node_at(p->t, lower).tier, place_of(p, lower), place_of(p, upper),
			  mf_link_plane(p->t, link));
}

/* A frame around a node, or around the box that it is in. */
static void mark_node(const struct picture *p, uint32_t node)
{
	struct mf_node n = mf_node_at(p->t, node);
	uint32_t place = place_of(p, node);
	double width;

	if (p->overview)
		place = n.tier == MF_HOST ? 0 : n.plane;
	width = node_width(p, n.tier);
	fprintf(p->to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" rx=\"6\"/>\n",
		node_x(p, n.tier, place) - width / 2, row_y(p, n.tier), width, NODE_HEIGHT);
}

static void mark_plane(const struct picture *p, uint32_t plane)
{
	for (int tier = MF_T0; tier <= p->rows; tier++) {
		uint32_t n = mf_topology_count(p->t, (enum mf_tier)tier) / p->t->cfg.planes;

		/* All of them are in one box. */
		for (uint32_t i = 0; i < (p->overview ? 1 : n); i++)
			mark_node(p, mf_node_switch(p->t, (enum mf_tier)tier, plane, i));
	}
}

static void put_mark(const struct picture *p, const struct mf_mark *mark)
{
	const struct mf_topology *t = p->t;
	uint32_t first = mark->index * MF_TRANSCEIVER_PORTS;

	fprintf(p->to, "<g class=\"m\"><title>%s</title>\n", mark->title);
	switch (mark->kind) {
	case MF_MARK_CABLE:
		mark_cable(p, mark->id << 1);
		if (p->overview)
			mark_node(p, mf_link_to(t, mark->id << 1).node);
		break;
	case MF_MARK_NODE:
		mark_node(p, mark->id);
		break;
	case MF_MARK_TRANSCEIVER:
		for (uint32_t i = 0; i < MF_TRANSCEIVER_PORTS; i++)
			if (first + i < mf_node_ports(t, mf_node_at(t, mark->id).tier))
				mark_cable(p, mf_link_out(t, mark->id, first + i) & ~UINT32_C(1));
		mark_node(p, mark->id);
		break;
	case MF_MARK_PLANE:
		mark_plane(p, mark->id);
		break;
	}
	fprintf(p->to, "</g>\n");
}

void mf_emit_svg(FILE *to, const struct mf_topology *t)
{
	mf_emit_svg_marked(to, t, NULL, 0);
}

void mf_emit_svg_marked(FILE *to, const struct mf_topology *t, const struct mf_mark *mark, size_t n)
{
	struct picture p = {.to = to, .t = t, .overview = t->n_links / 2 > MF_DRAWN_CABLES_MAX};

	measure_picture(&p);
	put_head(&p);
	if (p.overview)
		put_overview(&p);
	else
		put_all(&p);
	if (n)
		fprintf(to, "<style>.m path{stroke:#e00000;stroke-width:4;stroke-opacity:1}"
			    ".m rect{fill:none;stroke:#e00000;stroke-width:4}</style>\n");
	for (size_t i = 0; i < n; i++)
		put_mark(&p, &mark[i]);
	fprintf(to, "</svg>\n");
}
