/* SPDX-License-Identifier: BSD-2-Clause */
/* EVs as signs: see top.h. */
#include "cli/top/top.h"

/* Of each state: its sign and its colour. */
static const struct {
	const char *sign, *colour;
} looks[] = {
	[MRC_STATS_EV_GOOD] = {"#", "\033[32m"},
	[MRC_STATS_EV_SKIP] = {"-", "\033[33m"},
	[MRC_STATS_EV_ASSUMED_BAD] = {"x", "\033[31m"},
	[MRC_STATS_EV_DENIED] = {"d", "\033[35m"},
};

#define STATES (sizeof(looks) / sizeof(looks[0]))

/* These are of all QPs; those of ev[] would be of the QPs that are shown. */
struct top_evs top_evs_of_plane(const struct mrc_stats_segment *s, uint32_t plane)
{
	const uint32_t *evs = s->port[plane].evs;

	return (struct top_evs){.good = evs[MRC_STATS_EV_GOOD],
				.skip = evs[MRC_STATS_EV_SKIP],
				.bad = evs[MRC_STATS_EV_ASSUMED_BAD],
				.denied = evs[MRC_STATS_EV_DENIED]};
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

void top_evs_name(const struct mrc_stats_qp *qp, const uint8_t own[16],
		  const struct cli_fabric *fabric, struct ui_text *out)
{
	for (uint32_t i = 0; fabric && i < qp->evs; i++) {
		const struct mrc_stats_ev *ev = &qp->ev[i];
		char room[CLI_EV_NAME_BYTES];
		const char *cable;

		if (ev->state != MRC_STATS_EV_ASSUMED_BAD && ev->state != MRC_STATS_EV_DENIED)
			continue;
		cable = cli_fabric_ev(fabric, own, qp->dest, ev->port, ev->value, room);
		if (cable)
			ui_text_add(out, "          %s %s\n", looks[ev->state].sign, cable);
	}
}
