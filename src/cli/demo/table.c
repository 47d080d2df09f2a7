/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of text: see table.h. */
#include "cli/demo/table.h"

#include <stdarg.h>
#include <stdio.h>

void demo_table_cell(struct demo_table *t, size_t row, size_t column, const char *format, ...)
{
	va_list args;

	if (row >= DEMO_TABLE_ROWS || column >= DEMO_TABLE_COLUMNS)
		return;
	va_start(args, format);
	vsnprintf(t->cell[row][column], DEMO_TABLE_CELL, format, args);
	va_end(args);
	t->rows = row >= t->rows ? row + 1 : t->rows;
	t->columns = column >= t->columns ? column + 1 : t->columns;
}

static size_t column_width(const struct demo_table *t, size_t column)
{
	size_t width = 0;

	for (size_t row = 0; row < t->rows; row++) {
		size_t w = cli_text_width(t->cell[row][column]);

		width = w > width ? w : width;
	}
	return width;
}

void demo_table_render(const struct demo_table *t, struct cli_text *out)
{
	for (size_t row = 0; row < t->rows; row++) {
		cli_text_pad(out, t->cell[row][0], column_width(t, 0));
		for (size_t c = 1; c < t->columns; c++) {
			cli_text_add(out, "  ");
			cli_text_pad_left(out, t->cell[row][c], column_width(t, c));
		}
		cli_text_add(out, "\n");
	}
}
