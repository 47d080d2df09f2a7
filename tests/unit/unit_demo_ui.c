/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the demo speaks: src/demo/demo_run.h; the live view itself is tested in unit_demo_view.c.
 */
#include "demo/demo_run.h"

#include "support/test.h"
#include "ui/terminal.h"

static struct demo_ui ui;
static char text[500];

static int open_ui(void **state)
{
	(void)state;
	demo_ui_open(&ui, true, true);
	ui.out = tmpfile();
	return ui.out ? 0 : -1;
}

static int close_ui(void **state)
{
	(void)state;
	fclose(ui.out);
	return 0;
}

static const char *said(void)
{
	size_t n;

	rewind(ui.out);
	n = fread(text, 1, sizeof(text) - 1, ui.out);
	text[n] = '\0';
	return text;
}

#define UI_TEST(function, name) TEST_WITH(open_ui, close_ui, function, name)

UI_TEST(demo_ui_print, puts_the_time_in_front)
{
	ui.start_ns = ui_clock_ns() - 12340000000u;
	demo_ui_print(&ui, "step %d", 7);
	assert_string_equal(said(), "  12.3 s  step 7\n");
}

UI_TEST(demo_ui_print, keeps_lines_while_the_view_is_up)
{
	ui.live = true;
	demo_ui_print(&ui, "later");
	assert_string_equal(said(), "");
	demo_ui_close(&ui);
	assert_non_null(strstr(said(), "later\n"));
}

UI_TEST(demo_ui_is_due, never_draws_without_a_view)
{
	assert_false(demo_ui_is_due(&ui));
	ui.live = true;
	assert_true(demo_ui_is_due(&ui));
	ui.drawn_ns = ui_clock_ns();
	assert_false(demo_ui_is_due(&ui));
	ui.live = false;
}
