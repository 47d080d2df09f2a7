/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of text: src/cli/demo/table.h. */
#include "cli/demo/table.h"

#include "support/test.h"

TEST(demo_table_render, aligns_first_left_and_others_right)
{
	struct demo_table t = {0};
	struct cli_text out = {0};

	demo_table_cell(&t, 0, 0, "fault");
	demo_table_cell(&t, 0, 1, "lost");
	demo_table_cell(&t, 1, 0, "a");
	demo_table_cell(&t, 1, 1, "%d", 7);
	demo_table_render(&t, &out);
	assert_string_equal(out.data, "fault  lost\na         7\n");
	cli_text_fini(&out);
}

TEST(demo_table_render, leaves_room_for_empty_cells)
{
	struct demo_table t = {0};
	struct cli_text out = {0};

	demo_table_cell(&t, 0, 2, "x");
	demo_table_cell(&t, 1, 0, "long");
	demo_table_render(&t, &out);
	assert_string_equal(out.data, "        x\nlong     \n");
	cli_text_fini(&out);
}

TEST(demo_table_cell, refuses_cells_outside)
{
	struct demo_table t = {0};

	demo_table_cell(&t, DEMO_TABLE_ROWS, 0, "x");
	demo_table_cell(&t, 0, DEMO_TABLE_COLUMNS, "x");
	assert_u_eq(t.rows, 0);
	assert_u_eq(t.columns, 0);
}

TEST(demo_table_cell, cuts_long_text)
{
	struct demo_table t = {0};

	demo_table_cell(&t, 0, 0, "%s", "0123456789012345678901234567890123456789");
	assert_u_eq(strlen(t.cell[0][0]), DEMO_TABLE_CELL - 1);
}
