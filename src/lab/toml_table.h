/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * toml_table.h - TOML files whose keys are in tables: which values a key takes, and where they go.
 * Messages are "FILE:LINE: key = value: what is wrong; what is allowed".
 */
#ifndef SOFTMRC_LAB_TOML_TABLE_H
#define SOFTMRC_LAB_TOML_TABLE_H

#include "base/toml.h"

#include <stdbool.h>
#include <stddef.h>

#define ML_TOML_ERROR_MAX 1024u

/* A file being read. */
struct ml_toml {
	const char *file;
	char *error; /* [ML_TOML_ERROR_MAX] */
	void *into;
};

/* Reads a value; max: a number's largest, a text's bytes. 0, or -1 after ml_toml_refuse. */
typedef int (*ml_toml_fn)(const struct ml_toml *r, const struct mb_toml_item *item, void *to,
			  uint64_t max);

struct ml_toml_key {
	const char *name; /* "table.key", or "key" before the first table */
	unsigned kinds;	  /* enum mb_toml_kind */
	ml_toml_fn read;
	size_t offset; /* of the value in the element, or in the whole */
	uint64_t max;
};

/* A [[table]]: its elements, each of which begins with `uint32_t line`, are in an array. */
struct ml_toml_table {
	const char *name;
	size_t offset, stride, count_offset; /* the count is a uint32_t */
	uint32_t max;
	const void *initial; /* what a new element is, or NULL: zeros */
};

struct ml_toml_format {
	const struct ml_toml_key *key;
	size_t keys;
	const struct ml_toml_table *table;
	size_t tables;
	const char *documented; /* where */
};

/* ml_toml_read reads a text into the struct that the tables describe. 0, or -1: error says why. */
int ml_toml_read(const struct ml_toml_format *format, const char *file, const char *text,
		 void *into, char *error);

/* ml_toml_refuse writes the message about a value, and returns -1. */
int ml_toml_refuse(const struct ml_toml *r, const struct mb_toml_item *item, const char *what);

/* Values: char[max], not empty; uint64_t ns up to an hour; uint64_t; uint32_t; bool. */
int ml_toml_text(const struct ml_toml *r, const struct mb_toml_item *item, void *to, uint64_t max);
int ml_toml_time(const struct ml_toml *r, const struct mb_toml_item *item, void *to, uint64_t max);
int ml_toml_u64(const struct ml_toml *r, const struct mb_toml_item *item, void *to, uint64_t max);
int ml_toml_u32(const struct ml_toml *r, const struct mb_toml_item *item, void *to, uint64_t max);
int ml_toml_bool(const struct ml_toml *r, const struct mb_toml_item *item, void *to, uint64_t max);

#endif
