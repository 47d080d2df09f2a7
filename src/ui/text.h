/* SPDX-License-Identifier: BSD-2-Clause */
/* text.h - what the command prints: text that grows, columns, and numbers with units. */
#ifndef SOFTMRC_UI_TEXT_H
#define SOFTMRC_UI_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Text that grows: screens and tables are written here first, so that a test can read them and a
 * terminal gets each screen in one write.
 */

struct ui_text {
	char *data; /* terminated; owned; never NULL after the first addition */
	size_t len, capacity;
};

/* A ui_text of zeros is empty. ui_text_fini frees it and makes it empty. */
void ui_text_fini(struct ui_text *t);
void ui_text_clear(struct ui_text *t);
/* ui_text_print writes it to a stream and makes it empty. */
void ui_text_print(struct ui_text *t, FILE *to);
/*
 * ui_text_save makes it what a file has, with mode 0644, whole or not at all: who reads the file
 * meanwhile sees the one before. 0, or an errno value; EEXIST: that name is a device, a pipe or a
 * link, which stays.
 */
int ui_text_save(const struct ui_text *t, const char *path);
/* ui_text_save_error returns what an errno value of ui_text_save says. */
const char *ui_text_save_error(int err);
/* ui_json_print writes a value and a line end to stdout, with flags of jansson, and drops it. */
void ui_json_print(json_t *json, size_t flags);

/* ui_text_add appends a formatted piece; without memory the process ends with a message. */
__attribute__((format(printf, 2, 3))) void ui_text_add(struct ui_text *t, const char *format, ...);
/* ui_text_repeat appends `piece` n times. */
void ui_text_repeat(struct ui_text *t, const char *piece, size_t n);

/*
 * ui_text_width returns how many columns a UTF-8 text takes: escape sequences take none, every
 * other character one (nothing here writes wide characters).
 */
size_t ui_text_width(const char *text);

/* ui_text_pad appends text, then blanks up to `width` columns; a longer text is cut off there. */
void ui_text_pad(struct ui_text *t, const char *text, size_t width);
/* ui_text_pad_left puts the blanks first; a longer text is appended whole. */
void ui_text_pad_left(struct ui_text *t, const char *text, size_t width);

/* Columns of text, as wide as they must be. */

#define UI_TABLE_COLUMNS 16u
#define UI_TABLE_CELL 64u

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

/* ui_table_head writes the first row, of names with `|` between. */
void ui_table_head(struct ui_table *t, const char *names);

/* ui_table_render appends the table, each column as wide as its widest cell, and makes it empty. */
void ui_table_render(struct ui_table *t, struct ui_text *out);

/* Numbers for eyes: three digits or four and a unit. */

/* Long enough for every text below. */
#define UI_UNITS_MAX 24u

/* Each writes into out[UI_UNITS_MAX] and returns out. */
char *ui_units_count(char *out, double n);	 /* "1234", "12.3k", "4.56M" */
char *ui_units_bits(char *out, double bps);	 /* "12.3 Gb/s" */
char *ui_units_bytes(char *out, uint64_t bytes); /* "64 KiB" where exact, else "1.5 MiB" */
char *ui_units_time(char *out, uint64_t ns);	 /* "12.3 us" */
char *ui_units_ev(char *out, uint32_t ev);	 /* "49152"; of more than 16 bits "0xc0010003" */

#endif
