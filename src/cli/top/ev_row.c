/* SPDX-License-Identifier: BSD-2-Clause */
/* EVs as signs: see top.h. */
#include "cli/top/top.h"

/* Of each state: its name, its sign and its colour. */
static const struct {
	const char *name, *sign, *colour;
} looks[] = {
	[MRC_STATS_EV_GOOD] = {"good", "#", "\033[32m"},
	[MRC_STATS_EV_SKIP] = {"skip", "-", "\033[33m"},
	[MRC_STATS_EV_ASSUMED_BAD] = {"bad", "x", "\033[31m"},
	[MRC_STATS_EV_DENIED] = {"denied", "d", "\033[35m"},
};

#define STATES (sizeof(looks) / sizeof(looks[0]))

const char *top_evs_state_name(uint8_t state)
{
	return state < STATES ? looks[state].name : "?";
}

static void count_ev(struct top_evs *evs, uint8_t state)
{
	evs->good += state == MRC_STATS_EV_GOOD;
	evs->skip += state == MRC_STATS_EV_SKIP;
	evs->bad += state == MRC_STATS_EV_ASSUMED_BAD;
	evs->denied += state == MRC_STATS_EV_DENIED;
}

struct top_evs top_evs_of_plane(const struct mrc_stats_segment *s, uint32_t plane)
{
	struct top_evs evs = {0};

	for (uint32_t q = 0; q < MRC_STATS_QPS; q++)
		for (uint32_t i = 0; s->qp[q].qpn && i < s->qp[q].evs; i++)
			if (s->qp[q].ev[i].port == plane)
				count_ev(&evs, s->qp[q].ev[i].state);
	return evs;
}

static void put_plane(const struct mrc_stats_qp *qp, uint32_t plane, bool colour,
		      struct ui_text *out)
{
	uint32_t last = STATES;

	for (uint32_t i = 0; i < qp->evs; i++) {
		uint8_t state = qp->ev[i].state;

		if (qp->ev[i].port != plane || state >= STATES)
			continue;
		if (colour && state != last)
			ui_text_add(out, "%s", looks[state].colour);
		ui_text_add(out, "%s", looks[state].sign);
		last = state;
	}
	if (colour)
		ui_text_add(out, "\033[0m");
}

static bool has_plane(const struct mrc_stats_qp *qp, uint32_t plane)
{
	for (uint32_t i = 0; i < qp->evs; i++)
		if (qp->ev[i].port == plane)
			return true;
	return false;
}

void top_evs_render(const struct mrc_stats_qp *qp, bool colour, struct ui_text *out)
{
	if (!qp->evs)
		return;
	ui_text_add(out, "      ");
	for (uint32_t plane = 0; plane < MRC_STATS_PORTS; plane++) {
		if (!has_plane(qp, plane))
			continue;
		ui_text_add(out, "  %u ", plane);
		put_plane(qp, plane, colour, out);
	}
	ui_text_add(out, "\n");
}
