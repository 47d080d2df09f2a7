/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of text: src/ui/text.h. */
#include "ui/text.h"

#include "support/test.h"

TEST(ui_table_render, aligns_first_left_and_others_right)
{
	struct ui_table t = {0};
	struct ui_text out = {0};

	ui_table_cell(&t, 0, 0, "fault");
	ui_table_cell(&t, 0, 1, "lost");
	ui_table_cell(&t, 1, 0, "a");
	ui_table_cell(&t, 1, 1, "%d", 7);
	ui_table_render(&t, &out);
	assert_string_equal(out.data, "fault  lost\na         7\n");
	ui_text_fini(&out);
	ui_table_fini(&t);
}

TEST(ui_table_render, leaves_room_for_empty_cells)
{
	struct ui_table t = {0};
	struct ui_text out = {0};

	ui_table_cell(&t, 0, 2, "x");
	ui_table_cell(&t, 1, 0, "long");
	ui_table_render(&t, &out);
	assert_string_equal(out.data, "        x\nlong     \n");
	ui_text_fini(&out);
	ui_table_fini(&t);
}

TEST(ui_table_render, left_columns_on_demand)
{
	struct ui_table t = {.left = 1u << 1 | 1u << 2};
	struct ui_text out = {0};

	ui_table_cell(&t, 0, 1, "long");
	ui_table_cell(&t, 1, 1, "a");
	ui_table_cell(&t, 0, 2, "b");
	ui_table_cell(&t, 1, 2, "longer");
	ui_table_render(&t, &out);
	assert_string_equal(out.data, "  long  b\n  a     longer\n");
	ui_text_fini(&out);
	ui_table_fini(&t);
}

TEST(ui_table_cell, grows_by_rows_and_ignores_columns_outside)
{
	struct ui_table t = {0};

	ui_table_cell(&t, 0, UI_TABLE_COLUMNS, "x");
	assert_u_eq(t.rows, 0);
	assert_u_eq(t.columns, 0);
	ui_table_cell(&t, 1000, 0, "x");
	assert_u_eq(t.rows, 1001);
	assert_string_equal(t.row[1000][0], "x");
	assert_string_equal(t.row[999][0], "");
	ui_table_fini(&t);
}

TEST(ui_table_cell, cuts_long_text)
{
	struct ui_table t = {0};
	char text[2 * UI_TABLE_CELL];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ui_table_cell(&t, 0, 0, "%s", text);
	assert_u_eq(strlen(t.row[0][0]), UI_TABLE_CELL - 1);
	ui_table_fini(&t);
}
