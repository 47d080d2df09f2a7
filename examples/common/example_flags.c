/* SPDX-License-Identifier: BSD-2-Clause */
/* flags.c - see ui/verb.h. Accepts `--flag VALUE` and `--flag=VALUE`. */
#include "common/example_flags.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_choices(FILE *to, const struct flag *flag)
{
	for (size_t i = 0; flag->choices[i]; i++)
		fprintf(to, "%s%s", i ? " or " : "", flag->choices[i]);
}

static void print_allowed(FILE *to, const struct flag *flag)
{
	if (flag->kind == FLAG_CHOICE)
		print_choices(to, flag);
	else
		fprintf(to, "a number from %" PRIu64 " to %" PRIu64 "%s", flag->min, flag->max,
			flag->kind == FLAG_BYTES ? ", perhaps with k, M or G" : "");
}

static void print_help(const struct flags *f)
{
	printf("%s %s\n\n%s\n\n", f->program, f->synopsis, f->about);
	for (size_t i = 0; i < f->n; i++) {
		const struct flag *flag = &f->table[i];

		printf("  %s%s%s\n        %s", flag->name, flag->value ? " " : "",
		       flag->value ? flag->value : "", flag->help);
		if (flag->kind == FLAG_NUMBER || flag->kind == FLAG_BYTES)
			printf(" (%" PRIu64 " to %" PRIu64 ", else %" PRIu64 ")", flag->min,
			       flag->max, *(const uint64_t *)flag->out);
		printf("\n");
	}
	printf("  --help\n        this text\n");
}

static int print_bad_value(const struct flags *f, const struct flag *flag, const char *value)
{
	fprintf(stderr, "%s: %s %s: want ", f->program, flag->name, value);
	print_allowed(stderr, flag);
	fprintf(stderr, "\n");
	return -1;
}

/* Shift of a size suffix; -1: it is none. */
static int suffix_shift(const char *suffix)
{
	if (*suffix == '\0')
		return 0;
	if (suffix[1] != '\0')
		return -1;
	switch (*suffix) {
	case 'k':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	default:
		return -1;
	}
}

static int set_number(const struct flags *f, const struct flag *flag, const char *value)
{
	unsigned long long number;
	int shift;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 0);
	shift = flag->kind == FLAG_BYTES ? suffix_shift(end) : *end ? -1 : 0;
	if (errno || end == value || strchr(value, '-') || shift < 0)
		return print_bad_value(f, flag, value);
	if (number > (UINT64_MAX >> shift))
		return print_bad_value(f, flag, value);
	number <<= shift;
	if (number < flag->min || number > flag->max)
		return print_bad_value(f, flag, value);
	*(uint64_t *)flag->out = number;
	return 0;
}

static int set_choice(const struct flags *f, const struct flag *flag, const char *value)
{
	for (size_t i = 0; flag->choices[i]; i++) {
		if (strcmp(flag->choices[i], value) == 0) {
			*(uint64_t *)flag->out = i;
			return 0;
		}
	}
	return print_bad_value(f, flag, value);
}

static int set_flag(const struct flags *f, const struct flag *flag, const char *value)
{
	if (flag->kind == FLAG_CHOICE)
		return set_choice(f, flag, value);
	return set_number(f, flag, value);
}

/* The flag that `arg` begins with; *value is what follows `=`, or NULL. */
static const struct flag *find_flag(const struct flags *f, const char *arg, const char **value)
{
	size_t len = strcspn(arg, "=");

	*value = arg[len] ? arg + len + 1 : NULL;
	for (size_t i = 0; i < f->n; i++)
		if (strlen(f->table[i].name) == len && strncmp(f->table[i].name, arg, len) == 0)
			return &f->table[i];
	return NULL;
}

/* Takes the flag argv[i], perhaps with the argument after it. Returns how many it took, or -1. */
static int take_flag(const struct flags *f, char **argv, int i)
{
	const char *value;
	const struct flag *flag = find_flag(f, argv[i], &value);

	if (strcmp(argv[i], "--help") == 0) {
		print_help(f);
		exit(0);
	}
	if (!flag) {
		fprintf(stderr, "%s: %s: no such flag; --help lists them\n", f->program, argv[i]);
		return -1;
	}
	if (flag->kind == FLAG_SWITCH) {
		if (value) {
			fprintf(stderr, "%s: %s: takes no value\n", f->program, argv[i]);
			return -1;
		}
		*(bool *)flag->out = true;
		return 1;
	}
	if (value)
		return set_flag(f, flag, value) ? -1 : 1;
	if (!argv[i + 1])
		return print_bad_value(f, flag, "(nothing)");
	return set_flag(f, flag, argv[i + 1]) ? -1 : 2;
}

int flags_parse(const struct flags *f, int argc, char **argv, const char **operands)
{
	size_t n = 0;

	for (int i = 1; i < argc;) {
		int took = 1;

		if (argv[i][0] == '-') {
			took = take_flag(f, argv, i);
		} else if (n < f->operands_max) {
			operands[n++] = argv[i];
		} else {
			fprintf(stderr, "%s: %s: unexpected argument; --help\n", f->program,
				argv[i]);
			took = -1;
		}
		if (took < 0)
			return -1;
		i += took;
	}
	return (int)n;
}
