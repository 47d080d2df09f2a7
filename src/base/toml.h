/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * toml.h - reads the part of TOML that softmrc's files are written in.
 *
 * That part: comments, [table] and [[table]] lines, and lines `key = value` with bare keys, where a
 * value is a string in one line, a number in decimal, a boolean, or an array of such values of one
 * kind. Names of tables may have parts, [a.b]. Whatever is accepted is TOML and means here what it
 * means there, but that a key given twice is the caller's to notice; the rest of TOML is refused
 * with the line it stands on. Thread-safe; nothing blocks.
 */
#ifndef SOFTMRC_BASE_TOML_H
#define SOFTMRC_BASE_TOML_H

#include <stddef.h>
#include <stdint.h>

#define MB_TOML_NAME_MAX 64u
#define MB_TOML_VALUE_MAX 4096u
/* Different [[tables]] of a file. */
#define MB_TOML_LISTS_MAX 16u
/* What mb_toml_read returns for a text that is not of this part of TOML. */
#define MB_TOML_WRONG (-1)

enum mb_toml_kind {
	MB_TOML_STRING = 1u << 0,
	MB_TOML_INTEGER = 1u << 1,
	MB_TOML_REAL = 1u << 2, /* has a point or an exponent */
	MB_TOML_BOOLEAN = 1u << 3,
	MB_TOML_ARRAY = 1u << 4,
	MB_TOML_ELEMENT = 1u << 5, /* no value: a line [[table]], which begins an element */
};

/* One `key = value`, or one [[table]]. */
struct mb_toml_item {
	uint32_t line; /* from 1 */
	/* Below [[table]]: which of these tables it is in, from 0. Elsewhere 0. */
	uint32_t element;
	enum mb_toml_kind kind;
	enum mb_toml_kind of;		 /* of an array: the kind of its values; empty: STRING */
	char name[2 * MB_TOML_NAME_MAX]; /* "table.key", or "key" before the first table */
	/*
	 * The string; the number without underscores; "true" or "false"; the values of an array
	 * joined by commas.
	 */
	char value[MB_TOML_VALUE_MAX];
};

/* What mb_toml_read calls for each item; not 0 ends the reading. */
typedef int (*mb_toml_fn)(void *ctx, const struct mb_toml_item *item);

/*
 * mb_toml_read calls fn for every item of text, in order. Returns 0, or what fn returned, or
 * MB_TOML_WRONG: then *line is where and *why what is wrong there, a constant. Otherwise *why is
 * NULL.
 */
int mb_toml_read(const char *text, mb_toml_fn fn, void *ctx, uint32_t *line, const char **why);

#endif
