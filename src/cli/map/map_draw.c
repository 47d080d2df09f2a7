/* SPDX-License-Identifier: BSD-2-Clause */
/* map_draw.c - the fabric with what is sick, as text and as a picture: see map_result.h. */
#include "cli/map/map_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/emit.h"

/* Rows of T0s that are drawn whole; of more only those with something sick. */
#define ROWS_MAX 24u
/* T1s and hosts of a row that fit on a screen. */
#define COLUMNS_MAX 16u

#define WELL '.'

/* Letters of what is wrong, in the order of enum mm_kind. */
static const char letters[MM_KINDS] = {'X', 'L', 'C', '2', 'R', 'S', 'F', 'W'};

static bool covers(const struct mf_topology *t, const struct mm_part *part, uint32_t link)
{
	const struct mf_end end[2] = {mf_link_from(t, link), mf_link_to(t, link)};

	if (part->kind == MM_CABLE)
		return part->id == link >> 1;
	for (uint32_t i = 0; part->kind == MM_TRANSCEIVER && i < 2; i++)
		if (part->id == end[i].node && part->index == end[i].port / MF_TRANSCEIVER_PORTS)
			return true;
	return false;
}

/* The letter of a cable by itself: what is wrong with its switches stands at their names. */
static char cable_letter(const struct map_result *r, uint32_t link)
{
	for (size_t i = 0; i < r->n; i++)
		if (covers(r->t, &r->finding[i].sick.part, link))
			return letters[r->finding[i].sick.kind];
	return WELL;
}

static char node_letter(const struct map_result *r, uint32_t node)
{
	bool host = node < r->t->n_hosts;

	for (size_t i = 0; i < r->n; i++) {
		const struct mm_sick *s = &r->finding[i].sick;

		if (s->part.kind == (host ? MM_HOST : MM_SWITCH) && s->part.id == node)
			return letters[s->kind];
	}
	return ' ';
}

static char plane_letter(const struct map_result *r, uint32_t plane)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->finding[i].sick.part.kind == MM_PLANE && r->finding[i].sick.part.id == plane)
			return letters[r->finding[i].sick.kind];
	return ' ';
}

/* ---- text ---- */

static uint32_t at_most(uint32_t n)
{
	return n < COLUMNS_MAX ? n : COLUMNS_MAX;
}

/* Columns of a T1: its name with a letter. */
static int t1_width(const struct mf_topology *t)
{
	uint32_t last = t->n_t1s - t->cfg.t1s + at_most(t->cfg.t1s) - 1;
	int width = 5;

	for (; last > 9; last /= 10)
		width++;
	return width;
}

static char uplink_letter(const struct map_result *r, uint32_t plane, uint32_t t0, uint32_t up)
{
	return cable_letter(r, mf_link_t0_t1(r->t, plane, t0, up, false));
}

/* Of a T0's uplinks, or hosts, that are not drawn: the letter of the first that is sick. */
static char letter_of_other_uplinks(const struct map_result *r, uint32_t plane, uint32_t t0)
{
	char letter = WELL;

	for (uint32_t up = COLUMNS_MAX; up < r->t->cfg.t1s && letter == WELL; up++)
		letter = uplink_letter(r, plane, t0, up);
	return letter;
}

static char letter_of_other_hosts(const struct map_result *r, uint32_t plane, uint32_t first)
{
	char letter = WELL;

	for (uint32_t i = COLUMNS_MAX; i < r->t->cfg.hosts_per_t0 && letter == WELL; i++) {
		letter = node_letter(r, first + i);
		if (letter == ' ')
			letter = cable_letter(r, mf_link_host_t0(r->t, plane, first + i, false));
	}
	return letter;
}

static char letter_of_other_t1s(const struct map_result *r, uint32_t plane, uint32_t first)
{
	char letter = ' ';

	for (uint32_t up = COLUMNS_MAX; up < r->t->cfg.t1s && letter == ' '; up++)
		letter = node_letter(r, mf_node_switch(r->t, MF_T1, plane, first + up));
	return letter;
}

static bool row_is_sick(const struct map_result *r, uint32_t plane, uint32_t t0)
{
	const struct mf_topology *t = r->t;
	uint32_t first = t0 * t->cfg.hosts_per_t0;

	if (node_letter(r, mf_node_switch(t, MF_T0, plane, t0)) != ' ')
		return true;
	for (uint32_t up = 0; up < t->cfg.t1s; up++)
		if (uplink_letter(r, plane, t0, up) != WELL)
			return true;
	for (uint32_t h = first; h < first + t->cfg.hosts_per_t0; h++)
		if (node_letter(r, h) != ' ' ||
		    cable_letter(r, mf_link_host_t0(t, plane, h, false)) != WELL)
			return true;
	return false;
}

static void add_row(const struct map_result *r, uint32_t plane, uint32_t t0, struct ui_text *out)
{
	const struct mf_topology *t = r->t;
	uint32_t first = t0 * t->cfg.hosts_per_t0;

	ui_text_add(out, "  t0-%-5" PRIu32 "%c", t0,
		    node_letter(r, mf_node_switch(t, MF_T0, plane, t0)));
	for (uint32_t up = 0; up < at_most(t->cfg.t1s); up++)
		ui_text_add(out, " %c%*s", uplink_letter(r, plane, t0, up), t1_width(t) - 2, "");
	if (t->cfg.t1s > COLUMNS_MAX)
		ui_text_add(out, " ..%c", letter_of_other_uplinks(r, plane, t0));
	ui_text_add(out, " |");
	for (uint32_t i = 0; i < at_most(t->cfg.hosts_per_t0); i++)
		ui_text_add(out, " %c%c",
			    cable_letter(r, mf_link_host_t0(t, plane, first + i, false)),
			    node_letter(r, first + i));
	if (t->cfg.hosts_per_t0 > COLUMNS_MAX)
		ui_text_add(out, " ..%c", letter_of_other_hosts(r, plane, first));
	ui_text_add(out, " host%" PRIu32 "..%" PRIu32 "\n", first, first + t->cfg.hosts_per_t0 - 1);
}

/* The T1s of a pod, each with its letter. */
static void add_t1s(const struct map_result *r, uint32_t plane, uint32_t pod, struct ui_text *out)
{
	const struct mf_topology *t = r->t;

	ui_text_add(out, "plane%" PRIu32 "%c  ", plane, plane_letter(r, plane));
	for (uint32_t up = 0; up < at_most(t->cfg.t1s); up++) {
		uint32_t t1 = pod * t->cfg.t1s + up;
		char letter = node_letter(r, mf_node_switch(t, MF_T1, plane, t1));
		char name[16];

		snprintf(name, sizeof(name), "t1-%" PRIu32 "%c", t1, letter);
		ui_text_add(out, "%-*s", t1_width(t), name);
	}
	if (t->cfg.t1s > COLUMNS_MAX)
		ui_text_add(out, " ..%c", letter_of_other_t1s(r, plane, pod * t->cfg.t1s));
	ui_text_add(out, "\n");
}

void map_draw_text(const struct map_result *r, struct ui_text *out)
{
	const struct mf_topology *t = r->t;
	bool all = t->n_t0s * t->cfg.planes <= ROWS_MAX;

	for (uint32_t plane = 0; plane < t->cfg.planes; plane++) {
		uint32_t left_out = 0;

		for (uint32_t t0 = 0; t0 < t->n_t0s; t0++) {
			if (t0 % t->cfg.t0s == 0)
				add_t1s(r, plane, mf_t0_pod(t, t0), out);
			if (all || row_is_sick(r, plane, t0))
				add_row(r, plane, t0, out);
			else
				left_out++;
		}
		if (left_out)
			ui_text_add(out, "  %" PRIu32 " T0s with nothing sick\n", left_out);
	}
	ui_text_add(out, "  . good, X dead, L lossy, C corrupting, 2 duplicating, R reordering, S "
			 "slow, F flapping, W wrong cable\n\n");
}

/* ---- a picture ---- */

static struct mf_mark mark_of(const struct map_result *r, const struct mm_sick *s, char *title)
{
	struct mf_mark mark = {.title = title, .id = s->part.id, .index = s->part.index};
	static const enum mf_mark_kind kinds[] = {
		[MM_CABLE] = MF_MARK_CABLE,
		[MM_SWITCH] = MF_MARK_NODE,
		[MM_TRANSCEIVER] = MF_MARK_TRANSCEIVER,
		[MM_HOST] = MF_MARK_NODE,
		[MM_PLANE] = MF_MARK_PLANE,
		[MM_WITNESS] = MF_MARK_NODE,
	};

	mark.kind = kinds[s->part.kind];
	mm_sick_text(r->t, s, r->now_ns, title);
	return mark;
}

int map_draw_svg(const struct map_result *r, struct ui_text *out)
{
	static char title[MAP_SICK_MAX][MM_SICK_TEXT_BYTES];
	struct mf_mark mark[MAP_SICK_MAX];
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return ENOMEM;
	for (size_t i = 0; i < r->n; i++)
		mark[i] = mark_of(r, &r->finding[i].sick, title[i]);
	mf_emit_svg_marked(to, r->t, mark, r->n);
	if (fclose(to) != 0) {
		free(text);
		return ENOMEM;
	}
	ui_text_add(out, "%s", text);
	free(text);
	return 0;
}
