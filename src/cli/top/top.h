/* SPDX-License-Identifier: BSD-2-Clause */
/* top.h - the parts of mrc top: rows of EVs, the view, and JSON. */
#ifndef SOFTMRC_CLI_TOP_TOP_H
#define SOFTMRC_CLI_TOP_TOP_H

#include "cli/fabric_at_hand.h"
#include "stats/stats_reader.h"
#include "ui/text.h"

#include <jansson.h>
#include <mrc/stats.h>
#include <stdbool.h>

/* The EVs of a QP as a row of signs, and how many of a plane are in which state. */

struct top_evs {
	uint32_t good, skip, bad, denied;
};

/* top_evs_of_plane counts the EVs of all QPs on a plane, 0 .. MRC_STATS_PORTS - 1. */
struct top_evs top_evs_of_plane(const struct mrc_stats_segment *s, uint32_t plane);

/*
 * top_evs_render appends a line, plane by plane: # good, - skipped, x assumed bad, d denied.
 * Nothing when the QP has no EVs.
 */
void top_evs_render(const struct mrc_stats_qp *qp, bool colour, struct ui_text *out);

/*
 * top_evs_name appends a line for each EV of a QP that is bad or denied and that the fabric has a
 * cable of: its sign and the cable. `own` is the GID of the device; fabric may be NULL.
 */
void top_evs_name(const struct mrc_stats_qp *qp, const uint8_t own[16],
		  const struct cli_fabric *fabric, struct ui_text *out);

/* What `mrc top` shows, written into a buffer. */

struct top_view {
	uint32_t width, height; /* height 0: as long as it gets */
	bool colour;
	const char *clock;		 /* time of day, or NULL */
	const struct cli_fabric *fabric; /* by which EVs that are out of use get names, or NULL */
};

/*
 * top_view_render writes processes, planes, QPs and the EVs of each QP. Lines longer than the width
 * are cut; what does not fit into the height is counted in the last line.
 */
void top_view_render(const struct top_view *view, const struct stats_reader *stats,
		     struct ui_text *out);

/* The same as the view, for programs. */

/* top_json_make returns a new object with all processes, planes, QPs and EVs of a reading; EVs
 * have the cable that they choose where the fabric, which may be NULL, has it. */
json_t *top_json_make(const struct stats_reader *stats, const struct cli_fabric *fabric);

#endif
