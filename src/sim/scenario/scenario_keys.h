/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_keys.h - the tables of a scenario file and their keys. */
#ifndef SOFTMRC_SIM_SCENARIO_SCENARIO_KEYS_H
#define SOFTMRC_SIM_SCENARIO_SCENARIO_KEYS_H

#include "base/toml.h"
#include "sim/import/input.h"

#include <stddef.h>

/*
 * Tables of the keys that a scenario file may have: kind, range, default and meaning of each, and
 * where its value goes. Errors name file, line, key and value, what is wrong and what is allowed;
 * the documentation of the file format is written from the same tables.
 */
/* Parts of a whole in which shares are kept: 0.25 is 250000. */
#define MS_SHARE_ONE 1000000u

enum ms_key_kind {
	MS_KEY_BOOLEAN, /* bool */
	MS_KEY_NUMBER,
	MS_KEY_RATE,  /* bits per second: "100G" */
	MS_KEY_BYTES, /* "64k" */
	MS_KEY_TIME,  /* ns: "10us" */
	MS_KEY_SHARE, /* of MS_SHARE_ONE: 0.25; min and max in these parts */
	MS_KEY_WORD,  /* which of `words` */
	MS_KEY_REAL,  /* double, any */
	MS_KEY_TEXT,  /* char[], not empty */
	MS_KEY_LIST,  /* char[]: an array of strings, joined by commas */
};

struct ms_key {
	const char *name;
	enum ms_key_kind kind;
	size_t offset, size; /* of the value in what is filled; numbers have 1, 2, 4 or 8 bytes */
	uint64_t min, max;
	const char *const *words; /* of a word: ends with NULL */
	const char *fallback;	  /* what holds when the key is not there, in words */
	const char *help;
};

/* MS_KEY is the key of a field. */
#define MS_KEY(name, kind, type, field, min, max, words, fallback, help)                          \
	{                                                                                         \
		name, MS_KEY_##kind, offsetof(type, field), sizeof(((type *)0)->field), min, max, \
			words, fallback, help                                                     \
	}

/*
 * ms_key_find returns which of n keys has this name (behind its table and dot), n: none of them;
 * then *error says so and which is near. `what` is the table, for the message.
 */
size_t ms_key_find(const struct ms_key *keys, size_t n, const char *name, const char *file,
		   const struct mb_toml_item *item, struct ms_file_error *error);
/* ms_key_set reads the value of an item into `into` + key->offset; false: *error says why not. */
bool ms_key_set(const struct ms_key *key, const char *file, const struct mb_toml_item *item,
		void *into, struct ms_file_error *error);
/* ms_key_number returns the value at `from` + key->offset of a key up to MS_KEY_WORD. */
uint64_t ms_key_number(const struct ms_key *key, const void *from);
/* ms_key_allowed writes what a key may be, as "a time from 1ns to 10s". */
#define MS_KEY_ALLOWED_BYTES 320u
char *ms_key_allowed(const struct ms_key *key, char out[MS_KEY_ALLOWED_BYTES]);

#define MS_TABLE_KEYS_MAX 40u

struct ms_table {
	const char *name;  /* "": before the first [table] */
	const char *about; /* what it is for; "": its name says that */
	const struct ms_key *keys;
	size_t n_keys;
	size_t offset; /* in struct ms_scenario */
	/* [[tables]] only: */
	size_t stride;	     /* bytes of an element */
	size_t count_offset; /* of the uint32_t that counts elements */
	size_t line_offset;  /* in an element, of the uint32_t for its line */
	uint32_t max;	     /* elements; 0: a [table] */
	/* Read first: other tables' defaults follow from it. */
	bool first;
};

/* ms_scenario_tables returns all tables, *n of them; constant. */
const struct ms_table *ms_scenario_tables(size_t *n);

/* The words of some keys; each ends with NULL. */
extern const char *const ms_load_names[];
extern const char *const ms_class_names[];
extern const char *const ms_rate_of_names[];
extern const char *const ms_rate_effect_names[];

#endif
