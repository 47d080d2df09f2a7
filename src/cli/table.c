/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of text: see table.h. */
#include "cli/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16u

void cli_table_fini(struct cli_table *t)
{
	free(t->row);
	*t = (struct cli_table){0};
}

static void make_room(struct cli_table *t, size_t rows)
{
	size_t room = t->room ? t->room : FIRST_ROOM;
	void *grown;

	while (room < rows)
		room *= 2;
	if (room == t->room)
		return;
	grown = realloc(t->row, room * sizeof(*t->row));
	if (!grown) {
		fprintf(stderr, "mrc: out of memory\n");
		exit(1);
	}
	t->row = grown;
	memset(t->row + t->room, 0, (room - t->room) * sizeof(*t->row));
	t->room = room;
}

void cli_table_cell(struct cli_table *t, size_t row, size_t column, const char *format, ...)
{
	va_list args;

	if (column >= CLI_TABLE_COLUMNS)
		return;
	make_room(t, row + 1);
	va_start(args, format);
	vsnprintf(t->row[row][column], CLI_TABLE_CELL, format, args);
	va_end(args);
	t->rows = row >= t->rows ? row + 1 : t->rows;
	t->columns = column >= t->columns ? column + 1 : t->columns;
}

static size_t column_width(const struct cli_table *t, size_t column)
{
	size_t width = 0;

	for (size_t row = 0; row < t->rows; row++) {
		size_t w = cli_text_width(t->row[row][column]);

		width = w > width ? w : width;
	}
	return width;
}

static void render_cell(const struct cli_table *t, size_t row, size_t column, size_t width,
			struct cli_text *out)
{
	if (column)
		cli_text_add(out, "  ");
	if (column && column + 1 == t->columns && (t->left >> column & 1))
		cli_text_add(out, "%s", t->row[row][column]);
	else if (!column || (t->left >> column & 1))
		cli_text_pad(out, t->row[row][column], width);
	else
		cli_text_pad_left(out, t->row[row][column], width);
}

void cli_table_render(const struct cli_table *t, struct cli_text *out)
{
	size_t width[CLI_TABLE_COLUMNS];

	for (size_t c = 0; c < t->columns; c++)
		width[c] = column_width(t, c);
	for (size_t row = 0; row < t->rows; row++) {
		for (size_t c = 0; c < t->columns; c++)
			render_cell(t, row, c, width[c], out);
		cli_text_add(out, "\n");
	}
}
