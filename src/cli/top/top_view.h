/* SPDX-License-Identifier: BSD-2-Clause */
/* top_view.h - what `mrc top` shows, written into a buffer. */
#ifndef SOFTMRC_CLI_TOP_TOP_VIEW_H
#define SOFTMRC_CLI_TOP_TOP_VIEW_H

#include "stats/stats_reader.h"
#include "ui/text_buffer.h"

#include <stdbool.h>

struct top_view {
	uint32_t width, height; /* height 0: as long as it gets */
	bool colour;
	const char *clock; /* time of day, or NULL */
};

/*
 * top_view_render writes processes, planes, QPs and the EVs of each QP. Lines longer than the width
 * are cut; what does not fit into the height is counted in the last line.
 */
void top_view_render(const struct top_view *view, const struct stats_reader *stats,
		     struct ui_text *out);

#endif
