/* SPDX-License-Identifier: BSD-2-Clause */
/* input.c - input files: see input.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/import/input.h"

/* ---- errors ---- */

static void set_error(struct ms_file_error *error, const char *file, uint32_t line,
		      const char *format, va_list args)
{
	int at;

	if (line > 0)
		at = snprintf(error->text, sizeof(error->text), "%.255s:%u: ", file, line);
	else
		at = snprintf(error->text, sizeof(error->text), "%.255s: ", file);
	vsnprintf(error->text + at, sizeof(error->text) - (size_t)at, format, args);
}

bool ms_file_set_error(struct ms_file_error *error, const char *file, uint32_t line,
		       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_error(error, file, line, format, args);
	va_end(args);
	return false;
}

bool ms_words_refuse(const struct ms_words *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_error(w->error, w->file, w->line, format, args);
	va_end(args);
	return false;
}

bool ms_file_set_no_memory(struct ms_file_error *error, const char *file)
{
	return ms_file_set_error(error, file, 0, "there is not enough memory to read it");
}

/* ---- files ---- */

#define FIRST_BYTES 65536u

/* read_all reads to the end; NULL with errno. */
static char *read_all(FILE *f, size_t *len)
{
	size_t room = FIRST_BYTES;
	char *text = malloc(room);

	*len = 0;
	while (text) {
		size_t got = fread(text + *len, 1, room - *len, f);
		char *grown;

		*len += got;
		if (*len < room) {
			text[*len] = '\0';
			break;
		}
		room *= 2;
		errno = EFBIG;
		grown = room > MS_FILE_BYTES_MAX ? NULL : realloc(text, room);
		if (!grown)
			free(text);
		text = grown;
	}
	if (text && ferror(f)) {
		free(text);
		text = NULL;
	}
	return text;
}

char *ms_file_load(const char *path, struct ms_file_error *error)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	size_t len;

	errno = f ? 0 : errno;
	if (f)
		text = read_all(f, &len);
	if (!text)
		ms_file_set_error(error, path, 0, "cannot be read: %s", strerror(errno));
	if (f)
		fclose(f);
	if (text && memchr(text, '\0', len)) {
		ms_file_set_error(error, path, 0, "is no text");
		free(text);
		return NULL;
	}
	return text;
}

bool ms_file_sibling_path(const char *file, const char *name, char *out, size_t size)
{
	const char *slash = strrchr(file, '/');
	int folder = slash && name[0] != '/' ? (int)(slash - file) + 1 : 0;

	return snprintf(out, size, "%.*s%s", folder, file, name) < (int)size;
}

/* ---- lines of words ---- */

void ms_words_init(struct ms_words *w, const char *file, const char *text, char separator,
		   struct ms_file_error *error)
{
	*w = (struct ms_words){.file = file, .error = error, .rest = text, .separator = separator};
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void add_word(struct ms_words *w, const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	while (at < end && is_blank(end[-1]))
		end--;
	if (w->n < MS_WORDS_MAX)
		w->word[w->n] = (struct ms_word){at, (size_t)(end - at)};
	if (w->n <= MS_WORDS_MAX)
		w->n++;
}

/* split_blanks takes the words of a line that are held apart by blanks. */
static void split_blanks(struct ms_words *w, const char *at, const char *end)
{
	while (at < end) {
		const char *begin;

		while (at < end && is_blank(*at))
			at++;
		begin = at;
		while (at < end && !is_blank(*at))
			at++;
		if (at > begin)
			add_word(w, begin, at);
	}
}

/* split_by takes the words of a line that are held apart by a separator. */
static void split_by(struct ms_words *w, const char *at, const char *end)
{
	for (;;) {
		const char *next = memchr(at, w->separator, (size_t)(end - at));

		add_word(w, at, next ? next : end);
		if (!next)
			return;
		at = next + 1;
	}
}

static bool only_blanks(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	return at == end;
}

bool ms_words_next(struct ms_words *w)
{
	while (*w->rest) {
		const char *at = w->rest, *end = at + strcspn(at, "\n"), *comment;

		w->rest = *end ? end + 1 : end;
		w->line++;
		w->n = 0;
		comment = memchr(at, '#', (size_t)(end - at));
		if (comment)
			end = comment;
		if (only_blanks(at, end))
			continue;
		if (w->separator == ' ')
			split_blanks(w, at, end);
		else
			split_by(w, at, end);
		return true;
	}
	return false;
}

bool ms_word_is(const struct ms_word *word, const char *text)
{
	return strlen(text) == word->len && memcmp(word->at, text, word->len) == 0;
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool ms_word_is_nocase(const struct ms_word *word, const char *text)
{
	if (strlen(text) != word->len)
		return false;
	for (size_t i = 0; i < word->len; i++)
		if (to_lower(word->at[i]) != to_lower(text[i]))
			return false;
	return true;
}

char *ms_word_copy(const struct ms_word *word, char out[MS_WORD_BYTES])
{
	size_t len = word->len < MS_WORD_BYTES - 1 ? word->len : MS_WORD_BYTES - 1;

	memcpy(out, word->at, len);
	out[len] = '\0';
	return out;
}

char *ms_words_copy(const struct ms_words *w, uint32_t i, char out[MS_WORD_BYTES])
{
	const struct ms_word nothing = {"nothing", 7};

	return ms_word_copy(i < w->n ? &w->word[i] : &nothing, out);
}

size_t ms_word_find(const struct ms_word *word, const char *const *names, size_t n)
{
	size_t i = 0;

	while (i < n && !ms_word_is(word, names[i]))
		i++;
	return i;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool ms_word_u64(const struct ms_word *word, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;

	if (word->len == 0)
		return false;
	for (size_t i = 0; i < word->len; i++)
		if (!is_digit(word->at[i]) || __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(word->at[i] - '0'), &n))
			return false;
	if (n < min || n > max)
		return false;
	*out = n;
	return true;
}

bool ms_word_parts(const struct ms_word *word, uint32_t decimals, uint64_t *out)
{
	const uint64_t limit = UINT64_C(1000000000000000000);
	uint32_t behind = 0;
	uint64_t n = 0;
	bool point = false, digit = false;

	for (size_t i = 0; i < word->len; i++) {
		char c = word->at[i];

		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (!is_digit(c))
			return false;
		digit = true;
		if (point && behind == decimals)
			continue;
		behind += point;
		n = n * 10 + (uint64_t)(c - '0');
		if (n >= limit)
			return false;
	}
	for (; behind < decimals; behind++) {
		n *= 10;
		if (n >= limit)
			return false;
	}
	*out = n;
	return digit;
}

/* ---- labels: open addressing; at most half of the buckets are taken ---- */

#define FIRST_BUCKETS 1024u

void ms_labels_fini(struct ms_labels *l)
{
	ms_grow_free(&l->text);
	ms_grow_free(&l->label);
	free(l->bucket);
	*l = (struct ms_labels){0};
}

void ms_labels_clear(struct ms_labels *l)
{
	l->text.n = 0;
	l->label.n = 0;
	if (l->bucket)
		memset(l->bucket, 0, l->buckets * sizeof(*l->bucket));
}

/* FNV-1a. */
static uint32_t hash_of(const char *name, uint32_t len)
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619u;
	return hash;
}

/* place_of returns the bucket of a name, or the free one where it would be. */
static size_t place_of(const struct ms_labels *l, const char *name, uint32_t len, uint32_t hash)
{
	size_t i = hash & (l->buckets - 1);

	for (; l->bucket[i]; i = (i + 1) & (l->buckets - 1)) {
		const struct ms_label *x = &l->label.at[l->bucket[i] - 1];

		if (x->hash == hash && x->len == len &&
		    (len == 0 || memcmp(l->text.at + x->at, name, len) == 0))
			break;
	}
	return i;
}

static bool make_room(struct ms_labels *l)
{
	size_t want = l->buckets ? l->buckets * 2 : FIRST_BUCKETS;
	uint32_t *bucket;

	if (l->label.n * 2 < l->buckets)
		return true;
	bucket = calloc(want, sizeof(*bucket));
	if (!bucket)
		return false;
	free(l->bucket);
	l->bucket = bucket;
	l->buckets = want;
	for (size_t k = 0; k < l->label.n; k++) {
		size_t i = l->label.at[k].hash & (want - 1);

		while (bucket[i])
			i = (i + 1) & (want - 1);
		bucket[i] = (uint32_t)k + 1;
	}
	return true;
}

enum ms_labels_result ms_labels_add(struct ms_labels *l, const char *name, uint32_t len,
				    uint32_t value)
{
	const struct ms_label label = {l->text.n, len, hash_of(name, len), value};
	size_t place;

	if (!make_room(l))
		return MS_LABEL_NO_MEMORY;
	place = place_of(l, name, len, label.hash);
	if (l->bucket[place])
		return MS_LABEL_THERE;
	for (uint32_t i = 0; i < len; i++)
		if (!ms_grow_add(&l->text, &name[i]))
			return MS_LABEL_NO_MEMORY;
	if (!ms_grow_add(&l->label, &label))
		return MS_LABEL_NO_MEMORY;
	l->bucket[place] = (uint32_t)l->label.n;
	return MS_LABEL_ADDED;
}

bool ms_labels_find(const struct ms_labels *l, const char *name, uint32_t len, uint32_t *value)
{
	size_t place;

	if (l->buckets == 0)
		return false;
	place = place_of(l, name, len, hash_of(name, len));
	if (!l->bucket[place])
		return false;
	*value = l->label.at[l->bucket[place] - 1].value;
	return true;
}
