/* SPDX-License-Identifier: BSD-2-Clause */
/* ev_row.h - the EVs of a QP as a row of signs, and how many of a plane are in which state. */
#ifndef SOFTMRC_CLI_TOP_EV_ROW_H
#define SOFTMRC_CLI_TOP_EV_ROW_H

#include "ui/text_buffer.h"

#include <mrc/stats.h>
#include <stdbool.h>

struct top_evs {
	uint32_t good, skip, bad, denied;
};

/* top_evs_of_plane counts the EVs of all QPs on a plane. */
struct top_evs top_evs_of_plane(const struct mrc_stats_segment *s, uint32_t plane);

/*
 * top_evs_render appends a line, plane by plane: # good, - skipped, x assumed bad, d denied.
 * Nothing when the QP has no EVs.
 */
void top_evs_render(const struct mrc_stats_qp *qp, bool colour, struct ui_text *out);

/* top_evs_state_name returns "good", "skip", "bad", "denied", or "?" for another number. */
const char *top_evs_state_name(uint8_t state);

#endif
