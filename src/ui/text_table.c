/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of text: see text.h. */
#include "ui/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16u

void ui_table_fini(struct ui_table *t)
{
	free(t->row);
	*t = (struct ui_table){0};
}

static void make_room(struct ui_table *t, size_t rows)
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

void ui_table_cell(struct ui_table *t, size_t row, size_t column, const char *format, ...)
{
	va_list args;

	if (column >= UI_TABLE_COLUMNS)
		return;
	make_room(t, row + 1);
	va_start(args, format);
	vsnprintf(t->row[row][column], UI_TABLE_CELL, format, args);
	va_end(args);
	t->rows = row >= t->rows ? row + 1 : t->rows;
	t->columns = column >= t->columns ? column + 1 : t->columns;
}

void ui_table_head(struct ui_table *t, const char *names)
{
	size_t column = 0, len;

	do {
		len = strcspn(names, "|");
		ui_table_cell(t, 0, column++, "%.*s", (int)len, names);
		names += len + 1;
	} while (names[-1]);
}

static size_t column_width(const struct ui_table *t, size_t column)
{
	size_t width = 0;

	for (size_t row = 0; row < t->rows; row++) {
		size_t w = ui_text_width(t->row[row][column]);

		width = w > width ? w : width;
	}
	return width;
}

static void render_cell(const struct ui_table *t, size_t row, size_t column, size_t width,
			struct ui_text *out)
{
	if (column)
		ui_text_add(out, "  ");
	if (column && column + 1 == t->columns && (t->left >> column & 1))
		ui_text_add(out, "%s", t->row[row][column]);
	else if (!column || (t->left >> column & 1))
		ui_text_pad(out, t->row[row][column], width);
	else
		ui_text_pad_left(out, t->row[row][column], width);
}

void ui_table_render(struct ui_table *t, struct ui_text *out)
{
	size_t width[UI_TABLE_COLUMNS];

	for (size_t c = 0; c < t->columns; c++)
		width[c] = column_width(t, c);
	for (size_t row = 0; row < t->rows; row++) {
		for (size_t c = 0; c < t->columns; c++)
			render_cell(t, row, c, width[c], out);
		ui_text_add(out, "\n");
	}
	ui_table_fini(t);
}
