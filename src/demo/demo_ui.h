/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demo_ui.h - where the demo speaks: the live view on a terminal, timestamped lines elsewhere.
 *
 * A line said while the view is up is kept and printed when the view is gone.
 */
#ifndef SOFTMRC_DEMO_DEMO_UI_H
#define SOFTMRC_DEMO_DEMO_UI_H

#include "demo/demo_view.h"
#include "ui/terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct demo_ui {
	struct ui_term term;
	bool live, utf8, colour;
	FILE *out; /* of lines: stdout, or stderr with --json */
	uint64_t start_ns;
	uint64_t drawn_ns;
	struct ui_text kept;
};

void demo_ui_open(struct demo_ui *ui, bool plain, bool json);
/* demo_ui_close gives the terminal back and prints what was kept. */
void demo_ui_close(struct demo_ui *ui);

/* demo_ui_print says a line with the time since the beginning. */
__attribute__((format(printf, 2, 3))) void demo_ui_print(struct demo_ui *ui, const char *format,
							 ...);

/* demo_ui_is_due says whether it is time to draw again; always false without a view. */
bool demo_ui_is_due(const struct demo_ui *ui);
/* demo_ui_draw fills in size and abilities of the terminal and shows the view. */
void demo_ui_draw(struct demo_ui *ui, struct demo_view *view);

#endif
