/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of text: src/cli/table.h. */
#include "cli/table.h"

#include "support/test.h"

TEST(cli_table_render, aligns_first_left_and_others_right)
{
	struct cli_table t = {0};
	struct cli_text out = {0};

	cli_table_cell(&t, 0, 0, "fault");
	cli_table_cell(&t, 0, 1, "lost");
	cli_table_cell(&t, 1, 0, "a");
	cli_table_cell(&t, 1, 1, "%d", 7);
	cli_table_render(&t, &out);
	assert_string_equal(out.data, "fault  lost\na         7\n");
	cli_text_fini(&out);
	cli_table_fini(&t);
}

TEST(cli_table_render, leaves_room_for_empty_cells)
{
	struct cli_table t = {0};
	struct cli_text out = {0};

	cli_table_cell(&t, 0, 2, "x");
	cli_table_cell(&t, 1, 0, "long");
	cli_table_render(&t, &out);
	assert_string_equal(out.data, "        x\nlong     \n");
	cli_text_fini(&out);
	cli_table_fini(&t);
}

TEST(cli_table_render, left_columns_on_demand)
{
	struct cli_table t = {.left = 1u << 1 | 1u << 2};
	struct cli_text out = {0};

	cli_table_cell(&t, 0, 1, "long");
	cli_table_cell(&t, 1, 1, "a");
	cli_table_cell(&t, 0, 2, "b");
	cli_table_cell(&t, 1, 2, "longer");
	cli_table_render(&t, &out);
	assert_string_equal(out.data, "  long  b\n  a     longer\n");
	cli_text_fini(&out);
	cli_table_fini(&t);
}

TEST(cli_table_cell, grows_by_rows_and_ignores_columns_outside)
{
	struct cli_table t = {0};

	cli_table_cell(&t, 0, CLI_TABLE_COLUMNS, "x");
	assert_u_eq(t.rows, 0);
	assert_u_eq(t.columns, 0);
	cli_table_cell(&t, 1000, 0, "x");
	assert_u_eq(t.rows, 1001);
	assert_string_equal(t.row[1000][0], "x");
	assert_string_equal(t.row[999][0], "");
	cli_table_fini(&t);
}

TEST(cli_table_cell, cuts_long_text)
{
	struct cli_table t = {0};

	cli_table_cell(&t, 0, 0, "%s",
		       "0123456789012345678901234567890123456789012345678901234567");
	assert_u_eq(strlen(t.row[0][0]), CLI_TABLE_CELL - 1);
	cli_table_fini(&t);
}
