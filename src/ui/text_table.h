/* SPDX-License-Identifier: BSD-2-Clause */
/* text_table.h - columns of text, as wide as they must be. */
#ifndef SOFTMRC_UI_TEXT_TABLE_H
#define SOFTMRC_UI_TEXT_TABLE_H

#include "ui/text_buffer.h"

#include <stddef.h>
#include <stdint.h>

#define UI_TABLE_COLUMNS 16u
#define UI_TABLE_CELL 48u

struct ui_table {
	size_t columns, rows, room;
	uint32_t left; /* bit c: column c is aligned to the left; the first one always is */
	char (*row)[UI_TABLE_COLUMNS][UI_TABLE_CELL];
};

/* A ui_table of zeros is empty. ui_table_fini frees it and makes it empty. */
void ui_table_fini(struct ui_table *t);

/*
 * ui_table_cell writes a cell; the table grows to hold it. Long text is cut, a column beyond
 * UI_TABLE_COLUMNS is ignored; without memory the process ends with a message.
 */
__attribute__((format(printf, 4, 5))) void ui_table_cell(struct ui_table *t, size_t row,
							 size_t column, const char *format, ...);

/* ui_table_render appends the table; each column is as wide as its widest cell. */
void ui_table_render(const struct ui_table *t, struct ui_text *out);

#endif
