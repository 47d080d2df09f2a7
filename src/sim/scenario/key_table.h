/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key_table.h - tables of the keys that a scenario file may have: kind, range, default and meaning
 * of each, and where its value goes. Errors name file, line, key and value, what is wrong and what
 * is allowed; the documentation of the file format is written from the same tables.
 */
#ifndef SOFTMRC_SIM_SCENARIO_KEY_TABLE_H
#define SOFTMRC_SIM_SCENARIO_KEY_TABLE_H

#include <stddef.h>

#include "base/toml.h"
#include "sim/import/file_error.h"

/* Parts of a whole in which shares are kept: 0.25 is 250000. */
#define MS_SHARE_ONE 1000000u

enum ms_key_kind {
	MS_KEY_BOOLEAN, /* bool */
	MS_KEY_U8,
	MS_KEY_U16,
	MS_KEY_U32,
	MS_KEY_U64,
	MS_KEY_RATE,	/* uint64_t, bits per second: "100G" */
	MS_KEY_BYTES,	/* uint64_t: "64k" */
	MS_KEY_BYTES32, /* uint32_t */
	MS_KEY_TIME,	/* uint64_t, ns: "10us" */
	MS_KEY_TIME32,	/* uint32_t, ns */
	MS_KEY_SHARE,	/* uint32_t, of MS_SHARE_ONE: 0.25; min and max in these parts */
	MS_KEY_REAL,	/* double, any */
	MS_KEY_WORD,	/* uint32_t: which of `words` */
	MS_KEY_WORD8,	/* uint8_t */
	MS_KEY_TEXT,	/* char[max], not empty */
	MS_KEY_LIST,	/* char[max]: an array of strings, joined by commas */
};

struct ms_key {
	const char *name;
	enum ms_key_kind kind;
	size_t offset; /* of the value in what is filled */
	uint64_t min, max;
	const char *const *words; /* of a word: ends with NULL */
	const char *fallback;	  /* what holds when the key is not there, in words */
	const char *help;
};

/*
 * ms_key_find returns which of n keys has this name (behind its table and dot), n: none of them;
 * then *error says so and which is near. `what` is the table, for the message.
 */
size_t ms_key_find(const struct ms_key *keys, size_t n, const char *name, const char *file,
		   const struct mb_toml_item *item, struct ms_file_error *error);
/* ms_key_set reads the value of an item into `into` + key->offset; false: *error says why not. */
bool ms_key_set(const struct ms_key *key, const char *file, const struct mb_toml_item *item,
		void *into, struct ms_file_error *error);
/* ms_key_allowed writes what a key may be, as "a time from 1ns to 10s". */
#define MS_KEY_ALLOWED_BYTES 320u
char *ms_key_allowed(const struct ms_key *key, char out[MS_KEY_ALLOWED_BYTES]);

#endif
