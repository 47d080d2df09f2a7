/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of scenario files: see scenario_keys.h. */
#include "sim/scenario/scenario_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/suggest.h"
#include "sim/import/input.h"

#define KEYS_MAX 64u

static void list_words(const struct ms_key *key, char *out, size_t size)
{
	size_t at = (size_t)snprintf(out, size, "one of");

	for (size_t i = 0; key->words[i] && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s %s", i ? "," : "", key->words[i]);
}

char *ms_key_allowed(const struct ms_key *key, char out[MS_KEY_ALLOWED_BYTES])
{
	char min[MB_QUANTITY_MAX], max[MB_QUANTITY_MAX];
	const size_t size = MS_KEY_ALLOWED_BYTES;

	switch (key->kind) {
	case MS_KEY_BOOLEAN:
		snprintf(out, size, "true or false");
		break;
	case MS_KEY_NUMBER:
		snprintf(out, size, "a number from %" PRIu64 " to %" PRIu64, key->min, key->max);
		break;
	case MS_KEY_RATE:
		snprintf(out, size, "bits per second such as \"100G\", from %s to %s",
			 mb_quantity_write_rate(min, key->min),
			 mb_quantity_write_rate(max, key->max));
		break;
	case MS_KEY_BYTES:
		snprintf(out, size, "bytes such as \"64k\" (powers of 1024), from %s to %s",
			 mb_quantity_write_bytes(min, key->min),
			 mb_quantity_write_bytes(max, key->max));
		break;
	case MS_KEY_TIME:
		snprintf(out, size, "a time such as \"10us\", from %s to %s",
			 mb_quantity_write_time(min, key->min),
			 mb_quantity_write_time(max, key->max));
		break;
	case MS_KEY_SHARE:
		snprintf(out, size, "a share such as 0.25, from %g to %g",
			 (double)key->min / MS_SHARE_ONE, (double)key->max / MS_SHARE_ONE);
		break;
	case MS_KEY_REAL:
		snprintf(out, size, "a number");
		break;
	case MS_KEY_WORD:
		list_words(key, out, size);
		break;
	case MS_KEY_TEXT:
		snprintf(out, size, "a text in quotes, of at most %zu bytes", key->size - 1);
		break;
	case MS_KEY_LIST:
		snprintf(out, size, "an array of texts, such as [\"a\", \"b\"]");
		break;
	}
	return out;
}

size_t ms_key_find(const struct ms_key *keys, size_t n, const char *name, const char *file,
		   const struct mb_toml_item *item, struct ms_file_error *error)
{
	const char *names[KEYS_MAX], *near;
	char all[400] = "";
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(keys[i].name, name) == 0)
			return i;
		names[i] = keys[i].name;
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s", i ? ", " : "", names[i]);
		at = at < sizeof(all) ? at : sizeof(all) - 1;
	}
	near = mb_suggest_find(name, names, n);
	if (near)
		ms_file_set_error(error, file, item->line, "%s: unknown key; did you mean %s?",
				  item->name, near);
	else
		ms_file_set_error(error, file, item->line, "%s: unknown key; there are %s",
				  item->name, all);
	return n;
}

/* is_quantity: numbers are good too, as long as they need no unit. */
static bool is_quantity(const struct mb_toml_item *item)
{
	return item->kind == MB_TOML_STRING || item->kind == MB_TOML_INTEGER;
}

static bool read_integer(const struct ms_key *key, const struct mb_toml_item *item, uint64_t *n)
{
	const struct ms_word word = {item->value, strlen(item->value)};

	return item->kind == MB_TOML_INTEGER && ms_word_u64(&word, key->min, key->max, n);
}

static bool read_share(const struct ms_key *key, const struct mb_toml_item *item, uint64_t *n)
{
	const struct ms_word word = {item->value, strlen(item->value)};

	return (item->kind == MB_TOML_INTEGER || item->kind == MB_TOML_REAL) &&
	       ms_word_parts(&word, 6, n) && *n >= key->min && *n <= key->max;
}

static bool read_real(const struct mb_toml_item *item, char *into)
{
	const double real = strtod(item->value, NULL);

	if (item->kind != MB_TOML_INTEGER && item->kind != MB_TOML_REAL)
		return false;
	memcpy(into, &real, sizeof(real));
	return true;
}

static bool read_word(const struct ms_key *key, const struct mb_toml_item *item, uint64_t *n)
{
	if (item->kind != MB_TOML_STRING)
		return false;
	for (*n = 0; key->words[*n]; ++*n)
		if (strcmp(key->words[*n], item->value) == 0)
			return true;
	return false;
}

/* read_text copies a text, or an array of them. */
static bool read_text(const struct ms_key *key, const struct mb_toml_item *item, char *into)
{
	size_t size = strlen(item->value) + 1;

	if (key->kind == MS_KEY_LIST ? item->kind != MB_TOML_ARRAY || item->of != MB_TOML_STRING
				     : item->kind != MB_TOML_STRING)
		return false;
	if (size == 1 || size > key->size)
		return false;
	memcpy(into, item->value, size);
	return true;
}

/* A number in each of the widths that a field may have. */
struct widths {
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
};

static void *width_of(struct widths *w, size_t size)
{
	return size == 1   ? (void *)&w->u8
	       : size == 2 ? (void *)&w->u16
	       : size == 4 ? (void *)&w->u32
			   : (void *)&w->u64;
}

uint64_t ms_key_number(const struct ms_key *key, const void *from)
{
	struct widths w = {0};

	memcpy(width_of(&w, key->size), (const char *)from + key->offset, key->size);
	return w.u8 | w.u16 | w.u32 | w.u64;
}

static bool read_value(const struct ms_key *key, const struct mb_toml_item *item, uint64_t *n,
		       char *into)
{
	switch (key->kind) {
	case MS_KEY_BOOLEAN:
		*n = strcmp(item->value, "true") == 0;
		return item->kind == MB_TOML_BOOLEAN;
	case MS_KEY_NUMBER:
		return read_integer(key, item, n);
	case MS_KEY_RATE:
		return is_quantity(item) &&
		       mb_quantity_read_rate(item->value, key->min, key->max, n);
	case MS_KEY_BYTES:
		return is_quantity(item) &&
		       mb_quantity_read_bytes(item->value, key->min, key->max, n);
	case MS_KEY_TIME:
		return is_quantity(item) &&
		       mb_quantity_read_time(item->value, key->min, key->max, n);
	case MS_KEY_SHARE:
		return read_share(key, item, n);
	case MS_KEY_REAL:
		return read_real(item, into);
	case MS_KEY_WORD:
		return read_word(key, item, n);
	case MS_KEY_TEXT:
	case MS_KEY_LIST:
		return read_text(key, item, into);
	}
	return false;
}

bool ms_key_set(const struct ms_key *key, const char *file, const struct mb_toml_item *item,
		void *into, struct ms_file_error *error)
{
	char allowed[MS_KEY_ALLOWED_BYTES];
	const char *near = NULL;
	uint64_t n = 0;
	size_t words = 0;

	if (read_value(key, item, &n, (char *)into + key->offset)) {
		struct widths w = {(uint8_t)n, (uint16_t)n, (uint32_t)n, n};

		/* The others were written where they were read. */
		if (key->kind <= MS_KEY_WORD)
			memcpy((char *)into + key->offset, width_of(&w, key->size), key->size);
		return true;
	}
	if (key->kind == MS_KEY_WORD && item->kind == MB_TOML_STRING) {
		while (key->words[words])
			words++;
		near = mb_suggest_find(item->value, key->words, words);
	}
	return ms_file_set_error(error, file, item->line, "%s = %.80s: %s%s%sexpected %s",
				 item->name, item->value, near ? "did you mean " : "",
				 near ? near : "", near ? "? " : "", ms_key_allowed(key, allowed));
}
