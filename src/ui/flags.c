/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading command lines: see verb.h. A value is the next word, or follows an equals sign. */
#include "ui/verb.h"

#include "base/quantity.h"
#include "base/suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_MAX 32u

static bool read_digits(const char *text, const char **end, uint64_t *out)
{
	char *after;
	unsigned long long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &after, text[0] == '0' && text[1] == 'x' ? 16 : 10);
	*end = after;
	*out = n;
	return errno == 0;
}

static bool read_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *end;

	return read_digits(text, &end, out) && !*end && *out >= min && *out <= max;
}

static bool store_another(struct ui_flag_texts *texts, const char *text)
{
	if (!*text || texts->n == UI_FLAG_TEXTS_MAX)
		return false;
	texts->text[texts->n++] = text;
	return true;
}

static bool store_flag(const struct ui_flag *flag, void *options, const char *text)
{
	void *out = (char *)options + flag->at;
	uint64_t n;

	switch (flag->kind) {
	case UI_FLAG_SWITCH:
		*(bool *)out = true;
		return true;
	case UI_FLAG_U32:
		if (!read_number(text, flag->min, flag->max, &n))
			return false;
		*(uint32_t *)out = (uint32_t)n;
		return true;
	case UI_FLAG_U64:
		return read_number(text, flag->min, flag->max, out);
	case UI_FLAG_RATE:
		return mb_quantity_read_rate(text, flag->min, flag->max, out);
	case UI_FLAG_BYTES:
		return mb_quantity_read_bytes(text, flag->min, flag->max, out);
	case UI_FLAG_TIME:
		return mb_quantity_read_time(text, flag->min, flag->max, out);
	case UI_FLAG_TEXT:
		*(const char **)out = text;
		return *text != '\0';
	case UI_FLAG_MAYBE:
		*(const char **)out = strcmp(text, "-") == 0 ? "" : text;
		return true;
	case UI_FLAG_TEXTS:
		return store_another(out, text);
	}
	return false;
}

static void say_allowed(const struct ui_flag *flag)
{
	char min[MB_QUANTITY_MAX], max[MB_QUANTITY_MAX];

	switch (flag->kind) {
	case UI_FLAG_SWITCH:
		fprintf(stderr, "no value\n");
		break;
	case UI_FLAG_U32:
	case UI_FLAG_U64:
		fprintf(stderr, "a number from %" PRIu64 " to %" PRIu64 "\n", flag->min, flag->max);
		break;
	case UI_FLAG_RATE:
		fprintf(stderr, "bits per second such as 50M, from %s to %s\n",
			mb_quantity_write_rate(min, flag->min),
			mb_quantity_write_rate(max, flag->max));
		break;
	case UI_FLAG_BYTES:
		fprintf(stderr, "bytes such as 64k, from %s to %s\n",
			mb_quantity_write_bytes(min, flag->min),
			mb_quantity_write_bytes(max, flag->max));
		break;
	case UI_FLAG_TIME:
		fprintf(stderr, "a time such as 100ms or 2s, from %s to %s\n",
			mb_quantity_write_time(min, flag->min),
			mb_quantity_write_time(max, flag->max));
		break;
	case UI_FLAG_TEXT:
	case UI_FLAG_MAYBE:
		fprintf(stderr, "%s\n", flag->value);
		break;
	case UI_FLAG_TEXTS:
		fprintf(stderr, "%s, at most %u times\n", flag->value, UI_FLAG_TEXTS_MAX);
		break;
	}
}

static const struct ui_flag *find_flag(const struct ui_flag_table *table, const char *word)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < table->n; i++)
		if (strlen(table->flag[i].name) == len &&
		    memcmp(table->flag[i].name, word, len) == 0)
			return &table->flag[i];
	return NULL;
}

static enum ui_flags_result refuse_unknown(const struct ui_flag_table *table, const char *word)
{
	const char *near =
		mb_suggest_in_table(word, &table->flag->name, table->n, sizeof(*table->flag));

	fprintf(stderr, "%s: %s: no such flag", table->who, word);
	if (near)
		fprintf(stderr, "; did you mean %s?", near);
	fprintf(stderr, " (%s --help lists all)\n", table->who);
	return UI_FLAGS_ERROR;
}

/* Reads the flag that argv[*i] names, and its value; *i is the last word that it took. */
static enum ui_flags_result read_flag(const struct ui_flag_table *table, const struct ui_flag *flag,
				      void *out, int argc, char **argv, int *i)
{
	const char *equals = strchr(argv[*i], '=');
	const char *text = equals ? equals + 1 : NULL;

	if (flag->kind == UI_FLAG_MAYBE && store_flag(flag, out, text ? text : ""))
		return UI_FLAGS_OK;
	if (flag->kind == UI_FLAG_SWITCH) {
		if (!equals && store_flag(flag, out, ""))
			return UI_FLAGS_OK;
		fprintf(stderr, "%s: %s: want ", table->who, argv[*i]);
	} else {
		if (!text && *i + 1 < argc)
			text = argv[++*i];
		if (text && store_flag(flag, out, text))
			return UI_FLAGS_OK;
		fprintf(stderr, "%s: %s %s: want ", table->who, flag->name,
			text ? text : "(no value)");
	}
	say_allowed(flag);
	return UI_FLAGS_ERROR;
}

/* A dash alone is an operand: standard input, by custom. */
static bool is_operand(const char *word)
{
	return word[0] != '-' || word[1] == '\0';
}

enum ui_flags_result ui_flags_parse(const struct ui_flag_table *table, void *out, int argc,
				    char **argv, const char **operand, size_t max, size_t *n)
{
	size_t operands = 0;

	for (int i = 1; i < argc; i++) {
		const struct ui_flag *flag = find_flag(table, argv[i]);

		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return UI_FLAGS_HELP;
		if (!flag && is_operand(argv[i]) && operands < max) {
			operand[operands++] = argv[i];
			continue;
		}
		if (!flag && is_operand(argv[i]) && max) {
			fprintf(stderr, "%s: %s: unexpected argument\n", table->who, argv[i]);
			return UI_FLAGS_ERROR;
		}
		if (!flag)
			return refuse_unknown(table, argv[i]);
		if (read_flag(table, flag, out, argc, argv, &i) != UI_FLAGS_OK)
			return UI_FLAGS_ERROR;
	}
	if (n)
		*n = operands;
	return UI_FLAGS_OK;
}
