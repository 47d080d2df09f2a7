/* SPDX-License-Identifier: BSD-2-Clause */
/* table.h - columns of text, as wide as they must be. */
#ifndef SOFTMRC_CLI_TABLE_H
#define SOFTMRC_CLI_TABLE_H

#include "cli/text.h"

#include <stddef.h>
#include <stdint.h>

#define CLI_TABLE_COLUMNS 16u
#define CLI_TABLE_CELL 48u

struct cli_table {
	size_t columns, rows, room;
	uint32_t left; /* bit c: column c is aligned to the left; the first one always is */
	char (*row)[CLI_TABLE_COLUMNS][CLI_TABLE_CELL];
};

/* A cli_table of zeros is empty. cli_table_fini frees it and makes it empty. */
void cli_table_fini(struct cli_table *t);

/*
 * cli_table_cell writes a cell; the table grows to hold it. Long text is cut, a column beyond
 * CLI_TABLE_COLUMNS is ignored; without memory the process ends with a message.
 */
__attribute__((format(printf, 4, 5))) void cli_table_cell(struct cli_table *t, size_t row,
							  size_t column, const char *format, ...);

/* cli_table_render appends the table; each column is as wide as its widest cell. */
void cli_table_render(const struct cli_table *t, struct cli_text *out);

#endif
