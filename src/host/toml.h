/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * toml.h - reads the part of TOML that the configuration uses.
 *
 * That part: comments, [table] lines, and lines `key = value` with bare keys, where a value is a
 * string in one line, an integer in decimal, a boolean, or an array of strings. Whatever is
 * accepted is TOML and means here what it means there; the rest of TOML is refused with the line
 * it stands on.
 */
#ifndef SOFTMRC_HOST_TOML_H
#define SOFTMRC_HOST_TOML_H

#include <stddef.h>
#include <stdint.h>

#define MH_TOML_NAME_MAX 64u
#define MH_TOML_VALUE_MAX 1024u

enum mh_toml_kind {
	MH_TOML_STRING = 1u << 0,
	MH_TOML_INTEGER = 1u << 1,
	MH_TOML_BOOLEAN = 1u << 2,
	MH_TOML_ARRAY = 1u << 3, /* of strings */
};

/* One `key = value`. */
struct mh_toml_item {
	uint32_t line;			 /* from 1 */
	char name[2 * MH_TOML_NAME_MAX]; /* "table.key", or "key" before the first table */
	enum mh_toml_kind kind;
	/* The string, the digits, "true" or "false"; the strings of an array joined by commas. */
	char value[MH_TOML_VALUE_MAX];
};

/* What mh_toml_read calls for each item; not 0 ends the reading. */
typedef int (*mh_toml_fn)(void *ctx, const struct mh_toml_item *item);

/*
 * mh_toml_read calls fn for every item of text, in order. Returns 0, or what fn returned, or
 * EINVAL: *line is where, *why what is wrong there, a constant.
 */
int mh_toml_read(const char *text, mh_toml_fn fn, void *ctx, uint32_t *line, const char **why);

#endif
