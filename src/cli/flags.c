/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading command lines: see flags.h. A value is the next word, or follows an equals sign. */
#include "cli/flags.h"

#include "base/near.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_MAX 32u

/* What a number may end with, largest first, and what it is multiplied by then. */
struct unit {
	const char *suffix;
	uint64_t factor;
};

static const struct unit rate_units[] = {{"G", 1000000000}, {"M", 1000000}, {"k", 1000}};
static const struct unit byte_units[] = {
	{"G", 1u << 30}, {"M", 1u << 20}, {"k", 1u << 10}, {"K", 1u << 10}};
static const struct unit time_units[] = {
	{"m", UINT64_C(60000000000)}, {"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool read_digits(const char *text, const char **end, uint64_t *out)
{
	char *after;
	unsigned long long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &after, 10);
	*end = after;
	*out = n;
	return errno == 0;
}

static bool read_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *end;

	return read_digits(text, &end, out) && !*end && *out >= min && *out <= max;
}

static const struct unit *find_unit(const struct unit *units, size_t n, const char *suffix)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(units[i].suffix, suffix) == 0)
			return &units[i];
	return NULL;
}

/* A number and, if wanted or not, one of the units; *out is the product. */
static bool read_scaled(const char *text, const struct unit *units, size_t n_units, bool bare,
			uint64_t *out)
{
	const char *end;
	uint64_t n, factor = 1;

	if (!read_digits(text, &end, &n))
		return false;
	if (*end) {
		const struct unit *unit = find_unit(units, n_units, end);

		if (!unit)
			return false;
		factor = unit->factor;
	} else if (!bare && n) {
		return false;
	}
	return !__builtin_mul_overflow(n, factor, out);
}

int cli_flags_read_rate(const char *text, uint64_t min, uint64_t max, uint64_t *bps)
{
	uint64_t n;

	if (!read_scaled(text, rate_units, COUNT(rate_units), true, &n) || n < min || n > max)
		return -1;
	*bps = n;
	return 0;
}

int cli_flags_read_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *bytes)
{
	uint64_t n;

	if (!read_scaled(text, byte_units, COUNT(byte_units), true, &n) || n < min || n > max)
		return -1;
	*bytes = n;
	return 0;
}

/* Digits of a fraction beyond nanoseconds of a minute say nothing. */
#define FRACTION_DIGITS 11

/* Reads ".5s": adds the part of the unit. */
static bool read_fraction(const char *text, uint64_t *ns)
{
	char digits[FRACTION_DIGITS + 1] = "";
	size_t n = strspn(text, "0123456789");
	const struct unit *unit = find_unit(time_units, COUNT(time_units), text + n);
	long double part;

	if (!n || n > FRACTION_DIGITS || !unit)
		return false;
	memcpy(digits, text, n);
	part = strtold(digits, NULL);
	for (; n; n--)
		part /= 10;
	*ns = (uint64_t)(part * (long double)unit->factor + 0.5L);
	return true;
}

int cli_flags_read_time(const char *text, uint64_t min, uint64_t max, uint64_t *ns)
{
	const char *dot = strchr(text, '.');
	char whole[32];
	uint64_t n, part = 0;

	if (dot) {
		const char *unit = dot + 1 + strspn(dot + 1, "0123456789");
		int len = snprintf(whole, sizeof(whole), "%.*s%s", (int)(dot - text), text, unit);

		if (len < 0 || (size_t)len >= sizeof(whole) || !read_fraction(dot + 1, &part))
			return -1;
		text = whole;
	}
	if (!read_scaled(text, time_units, COUNT(time_units), false, &n) ||
	    __builtin_add_overflow(n, part, &n) || n < min || n > max)
		return -1;
	*ns = n;
	return 0;
}

static void write_scaled(char *out, size_t size, const struct unit *units, size_t n, uint64_t value)
{
	for (size_t i = 0; i < n; i++)
		if (value && value % units[i].factor == 0) {
			snprintf(out, size, "%" PRIu64 "%s", value / units[i].factor,
				 units[i].suffix);
			return;
		}
	snprintf(out, size, "%" PRIu64, value);
}

void cli_flags_write_rate(char *out, size_t size, uint64_t bps)
{
	write_scaled(out, size, rate_units, COUNT(rate_units), bps);
}

void cli_flags_write_bytes(char *out, size_t size, uint64_t bytes)
{
	write_scaled(out, size, byte_units, COUNT(byte_units), bytes);
}

void cli_flags_write_time(char *out, size_t size, uint64_t ns)
{
	write_scaled(out, size, time_units, COUNT(time_units), ns);
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
		return cli_flags_read_rate(text, flag->min, flag->max, flag->out) == 0;
	case CLI_FLAG_BYTES:
		return cli_flags_read_bytes(text, flag->min, flag->max, flag->out) == 0;
	case CLI_FLAG_TIME:
		return cli_flags_read_time(text, flag->min, flag->max, flag->out) == 0;
	case CLI_FLAG_TEXT:
		*(const char **)flag->out = text;
		return *text != '\0';
	}
	return false;
}

static void say_allowed(const struct cli_flag *flag)
{
	char min[32], max[32];

	switch (flag->kind) {
	case CLI_FLAG_SWITCH:
		fprintf(stderr, "no value\n");
		break;
	case CLI_FLAG_U32:
	case CLI_FLAG_U64:
		fprintf(stderr, "a number from %" PRIu64 " to %" PRIu64 "\n", flag->min, flag->max);
		break;
	case CLI_FLAG_RATE:
		cli_flags_write_rate(min, sizeof(min), flag->min);
		cli_flags_write_rate(max, sizeof(max), flag->max);
		fprintf(stderr, "bits per second such as 50M, from %s to %s\n", min, max);
		break;
	case CLI_FLAG_BYTES:
		cli_flags_write_bytes(min, sizeof(min), flag->min);
		cli_flags_write_bytes(max, sizeof(max), flag->max);
		fprintf(stderr, "bytes such as 64k, from %s to %s\n", min, max);
		break;
	case CLI_FLAG_TIME:
		cli_flags_write_time(min, sizeof(min), flag->min);
		cli_flags_write_time(max, sizeof(max), flag->max);
		fprintf(stderr, "a time such as 100ms or 2s, from %s to %s\n", min, max);
		break;
	case CLI_FLAG_TEXT:
		fprintf(stderr, "%s\n", flag->value);
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
		char left[40];

		snprintf(left, sizeof(left), "%s%s%s", flags[i].name, flags[i].value ? " " : "",
			 flags[i].value ? flags[i].value : "");
		printf("  %-16s %s\n", left, flags[i].help);
	}
	printf("  %-16s %s\n", "--help", "this text");
}
