/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading command lines: see flags.h. A value is the next word, or follows an equals sign. */
#include "cli/flags.h"

#include "base/near.h"
#include "base/quantity.h"

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

static bool store_another(struct cli_flag_texts *texts, const char *text)
{
	if (!*text || texts->n == CLI_FLAG_TEXTS_MAX)
		return false;
	texts->text[texts->n++] = text;
	return true;
}

static bool store(const struct cli_flag *flag, const char *text)
{
	uint64_t n;

	switch (flag->kind) {
	case CLI_FLAG_SWITCH:
		*(bool *)flag->out = true;
		return true;
	case CLI_FLAG_U32:
		if (!read_number(text, flag->min, flag->max, &n))
			return false;
		*(uint32_t *)flag->out = (uint32_t)n;
		return true;
	case CLI_FLAG_U64:
		return read_number(text, flag->min, flag->max, flag->out);
	case CLI_FLAG_RATE:
		return mb_quantity_read_rate(text, flag->min, flag->max, flag->out);
	case CLI_FLAG_BYTES:
		return mb_quantity_read_bytes(text, flag->min, flag->max, flag->out);
	case CLI_FLAG_TIME:
		return mb_quantity_read_time(text, flag->min, flag->max, flag->out);
	case CLI_FLAG_TEXT:
		*(const char **)flag->out = text;
		return *text != '\0';
	case CLI_FLAG_MAYBE:
		*(const char **)flag->out = text;
		return true;
	case CLI_FLAG_TEXTS:
		return store_another(flag->out, text);
	}
	return false;
}

static void say_allowed(const struct cli_flag *flag)
{
	char min[MB_QUANTITY_MAX], max[MB_QUANTITY_MAX];

	switch (flag->kind) {
	case CLI_FLAG_SWITCH:
		fprintf(stderr, "no value\n");
		break;
	case CLI_FLAG_U32:
	case CLI_FLAG_U64:
		fprintf(stderr, "a number from %" PRIu64 " to %" PRIu64 "\n", flag->min, flag->max);
		break;
	case CLI_FLAG_RATE:
		fprintf(stderr, "bits per second such as 50M, from %s to %s\n",
			mb_quantity_write_rate(min, flag->min),
			mb_quantity_write_rate(max, flag->max));
		break;
	case CLI_FLAG_BYTES:
		fprintf(stderr, "bytes such as 64k, from %s to %s\n",
			mb_quantity_write_bytes(min, flag->min),
			mb_quantity_write_bytes(max, flag->max));
		break;
	case CLI_FLAG_TIME:
		fprintf(stderr, "a time such as 100ms or 2s, from %s to %s\n",
			mb_quantity_write_time(min, flag->min),
			mb_quantity_write_time(max, flag->max));
		break;
	case CLI_FLAG_TEXT:
	case CLI_FLAG_MAYBE:
		fprintf(stderr, "%s\n", flag->value);
		break;
	case CLI_FLAG_TEXTS:
		fprintf(stderr, "%s, at most %u times\n", flag->value, CLI_FLAG_TEXTS_MAX);
		break;
	}
}

static const struct cli_flag *find_flag(const struct cli_flag *flags, size_t n, const char *word)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < n; i++)
		if (strlen(flags[i].name) == len && memcmp(flags[i].name, word, len) == 0)
			return &flags[i];
	return NULL;
}

static enum cli_flags_result unknown(const struct cli_flag *flags, size_t n, const char *who,
				     const char *word)
{
	const char *name[FLAGS_MAX];
	const char *near;

	for (size_t i = 0; i < n && i < FLAGS_MAX; i++)
		name[i] = flags[i].name;
	near = mb_near_find(word, name, n < FLAGS_MAX ? n : FLAGS_MAX);
	fprintf(stderr, "%s: %s: no such flag", who, word);
	if (near)
		fprintf(stderr, "; did you mean %s?", near);
	fprintf(stderr, " (%s --help lists all)\n", who);
	return CLI_FLAGS_ERROR;
}

static enum cli_flags_result read_flag(const struct cli_flag *flag, const char *who, int argc,
				       char **argv, int *i)
{
	const char *equals = strchr(argv[*i], '=');
	const char *text = equals ? equals + 1 : NULL;

	if (flag->kind == CLI_FLAG_MAYBE && store(flag, text ? text : ""))
		return CLI_FLAGS_OK;
	if (flag->kind == CLI_FLAG_SWITCH) {
		if (!equals && store(flag, ""))
			return CLI_FLAGS_OK;
		fprintf(stderr, "%s: %s: want ", who, argv[*i]);
	} else {
		if (!text && *i + 1 < argc)
			text = argv[++*i];
		if (text && store(flag, text))
			return CLI_FLAGS_OK;
		fprintf(stderr, "%s: %s %s: want ", who, flag->name, text ? text : "(no value)");
	}
	say_allowed(flag);
	return CLI_FLAGS_ERROR;
}

enum cli_flags_result cli_flags_parse_operands(const struct cli_flag *flags, size_t n_flags,
					       const char *who, int argc, char **argv,
					       const char **operand, size_t max, size_t *n)
{
	*n = 0;
	for (int i = 1; i < argc; i++) {
		const struct cli_flag *flag = find_flag(flags, n_flags, argv[i]);

		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return CLI_FLAGS_HELP;
		if (!flag && argv[i][0] != '-' && *n < max) {
			operand[(*n)++] = argv[i];
			continue;
		}
		if (!flag && argv[i][0] != '-' && max) {
			fprintf(stderr, "%s: %s: one word too many\n", who, argv[i]);
			return CLI_FLAGS_ERROR;
		}
		if (!flag)
			return unknown(flags, n_flags, who, argv[i]);
		if (read_flag(flag, who, argc, argv, &i) != CLI_FLAGS_OK)
			return CLI_FLAGS_ERROR;
	}
	return CLI_FLAGS_OK;
}

enum cli_flags_result cli_flags_parse(const struct cli_flag *flags, size_t n, const char *who,
				      int argc, char **argv)
{
	size_t none;

	return cli_flags_parse_operands(flags, n, who, argc, argv, NULL, 0, &none);
}

void cli_flags_help(const struct cli_flag *flags, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *before = flags[i].value ? " " : "";
		char left[40];

		if (flags[i].kind == CLI_FLAG_MAYBE)
			snprintf(left, sizeof(left), "%s[=%s]", flags[i].name, flags[i].value);
		else
			snprintf(left, sizeof(left), "%s%s%s", flags[i].name, before,
				 flags[i].value ? flags[i].value : "");
		printf("  %-16s %s\n", left, flags[i].help);
	}
	printf("  %-16s %s\n", "--help", "this text");
}
