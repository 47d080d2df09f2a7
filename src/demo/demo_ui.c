/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the demo speaks: see demo_run.h. */
#include "demo/demo_run.h"
#include "ui/terminal.h"

#include <stdarg.h>
#include <time.h>

#define DRAW_EVERY_NS 100000000u

void demo_ui_open(struct demo_ui *ui, bool plain, bool json)
{
	*ui = (struct demo_ui){
		.out = json ? stderr : stdout,
		.start_ns = ui_clock_ns(),
		.live = !plain && !json && ui_term_fits(),
		.utf8 = ui_term_utf8(),
	};
	ui->colour = ui->live && ui_term_colour();
	/* Whole lines into a pipe, at once. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (ui->live)
		ui_term_enter(&ui->term);
}

void demo_ui_close(struct demo_ui *ui)
{
	ui_term_leave(&ui->term);
	ui->live = false;
	if (ui->kept.len)
		fputs(ui->kept.data, ui->out);
	ui_text_fini(&ui->kept);
}

void demo_ui_print(struct demo_ui *ui, const char *format, ...)
{
	char line[400];
	double seconds = (double)(ui_clock_ns() - ui->start_ns) / 1e9;
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (ui->live)
		ui_text_add(&ui->kept, "%6.1f s  %s\n", seconds, line);
	else
		fprintf(ui->out, "%6.1f s  %s\n", seconds, line);
}

bool demo_ui_is_due(const struct demo_ui *ui)
{
	return ui->live && ui_clock_ns() - ui->drawn_ns >= DRAW_EVERY_NS;
}

void demo_ui_draw(struct demo_ui *ui, struct demo_view *view)
{
	struct ui_text picture = {0};

	ui->drawn_ns = ui_clock_ns();
	ui_term_size(&view->width, &view->height);
	view->colour = ui->colour;
	view->utf8 = ui->utf8;
	view->elapsed_s = (double)(ui->drawn_ns - ui->start_ns) / 1e9;
	demo_view_render(view, &picture);
	ui_term_show(&picture);
	ui_text_fini(&picture);
}
