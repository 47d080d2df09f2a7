/* SPDX-License-Identifier: BSD-2-Clause */
/* table.h - columns of text: the first to the left, the others to the right. */
#ifndef SOFTMRC_CLI_DEMO_TABLE_H
#define SOFTMRC_CLI_DEMO_TABLE_H

#include "cli/text.h"

#include <stddef.h>

#define DEMO_TABLE_COLUMNS 10u
#define DEMO_TABLE_ROWS 24u
#define DEMO_TABLE_CELL 32u

struct demo_table {
	size_t columns, rows;
	char cell[DEMO_TABLE_ROWS][DEMO_TABLE_COLUMNS][DEMO_TABLE_CELL];
};

/* demo_table_cell writes a cell; the table grows to hold it. Long text is cut. */
__attribute__((format(printf, 4, 5))) void demo_table_cell(struct demo_table *t, size_t row,
							   size_t column, const char *format, ...);

/* demo_table_render appends the table; each column is as wide as its widest cell. */
void demo_table_render(const struct demo_table *t, struct cli_text *out);

#endif
