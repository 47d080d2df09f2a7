/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of `train`: a table of flags, each with its own small reader. A flag's value is
 * the next word, or follows an equals sign.
 */
#include "train_args.h"
#include "train_model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flag {
	const char *name;
	const char *value; /* how --help calls it; NULL: the flag has no value */
	const char *text;
	const char *allowed; /* ends "want ..." in an error */
	bool (*read)(struct train_args *args, const char *value);
};

static bool read_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n < min || n > max)
		return false;
	*out = n;
	return true;
}

static bool read_u32(const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
	uint64_t n;

	if (!read_number(text, min, max, &n))
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool read_rank(struct train_args *a, const char *v)
{
	return read_u32(v, 0, RING_RANKS_MAX - 1, &a->rank);
}

static bool read_ranks(struct train_args *a, const char *v)
{
	return read_u32(v, 1, RING_RANKS_MAX, &a->ranks);
}

static bool read_rendezvous(struct train_args *a, const char *v)
{
	a->rendezvous = v;
	return *v != '\0';
}

static bool read_transport(struct train_args *a, const char *v)
{
	a->transport = strcmp(v, "tcp") == 0 ? RING_TCP : RING_MRC;
	return strcmp(v, "tcp") == 0 || strcmp(v, "mrc") == 0;
}

static bool read_steps(struct train_args *a, const char *v)
{
	return read_u32(v, 1, 1000000, &a->steps);
}

static bool read_params(struct train_args *a, const char *v)
{
	return read_number(v, TRAIN_PARAMS_MIN, TRAIN_PARAMS_MAX, &a->params) &&
	       a->params % TRAIN_ROW == 0;
}

static bool read_batch(struct train_args *a, const char *v)
{
	return read_u32(v, 1, 1000000, &a->batch);
}

static bool read_rate(struct train_args *a, const char *v)
{
	char *end;

	a->rate = strtod(v, &end);
	return end != v && !*end && isfinite(a->rate) && a->rate > 0 && a->rate <= 100;
}

static bool read_seed(struct train_args *a, const char *v)
{
	return read_number(v, 0, UINT64_MAX, &a->seed);
}

static bool read_data(struct train_args *a, const char *v)
{
	a->data = v;
	return *v != '\0';
}

static bool read_report(struct train_args *a, const char *v)
{
	a->report = v;
	return *v != '\0';
}

static bool read_json(struct train_args *a, const char *v)
{
	(void)v;
	a->json = true;
	return true;
}

static const struct flag flags[] = {
	{"--rank", "R", "this process's place in the ring (0)", "0 to 31", read_rank},
	{"--ranks", "N", "processes in the job (1)", "1 to 32", read_ranks},
	{"--rendezvous", "DIR", "directory in which the ranks find each other",
	 "the name of a directory", read_rendezvous},
	{"--transport", "mrc|tcp", "what carries the gradients (mrc)", "mrc or tcp",
	 read_transport},
	{"--steps", "N", "training steps (100)", "1 to 1000000", read_steps},
	{"--params", "N", "floats summed in each step (1048576 = 4 MiB)",
	 "a multiple of 256 from 262144 to 16777216", read_params},
	{"--batch", "N", "positions of the text per rank and step (1024)", "1 to 1000000",
	 read_batch},
	{"--rate", "X", "learning rate (0.25)", "a number above 0, at most 100", read_rate},
	{"--seed", "N", "which positions are drawn (1)", "0 to 18446744073709551615", read_seed},
	{"--data", "PATH", "text file, or directory of files (" TRAIN_TEXT_DEFAULT ")",
	 "a file or directory", read_data},
	{"--report", "FILE", "write a line of JSON per step", "the name of a file", read_report},
	{"--json", NULL, "print JSON instead of text", NULL, read_json},
};

#define FLAGS (sizeof(flags) / sizeof(flags[0]))

static void print_help(void)
{
	printf("usage: train [--rank R --ranks N --rendezvous DIR] [FLAG...]\n"
	       "Trains a byte-level language model on text, the gradient summed over all ranks\n"
	       "by a ring all-reduce. Run once for each rank. MRC_PORTS and MRC_PACE set the\n"
	       "addresses and the pace of both transports (docs/configuration.md).\n\n");
	for (size_t i = 0; i < FLAGS; i++) {
		char left[40];

		snprintf(left, sizeof(left), "%s%s%s", flags[i].name, flags[i].value ? " " : "",
			 flags[i].value ? flags[i].value : "");
		printf("  %-22s %s\n", left, flags[i].text);
	}
}

static const struct flag *find_flag(const char *word)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < FLAGS; i++)
		if (strlen(flags[i].name) == len && strncmp(flags[i].name, word, len) == 0)
			return &flags[i];
	return NULL;
}

/* Reads the flag at argv[*i] and moves *i on to its value if that is a word of its own. */
static bool read_flag(struct train_args *args, int argc, char **argv, int *i)
{
	const char *word = argv[*i];
	const char *equals = strchr(word, '=');
	const struct flag *flag = find_flag(word);
	const char *value = equals ? equals + 1 : NULL;

	if (!flag) {
		fprintf(stderr, "train: %s: no such flag; train --help lists them\n", word);
		return false;
	}
	if (!flag->value && equals) {
		fprintf(stderr, "train: %s: this flag has no value\n", word);
		return false;
	}
	if (flag->value && !value && *i + 1 < argc)
		value = argv[++*i];
	if (flag->value && !value) {
		fprintf(stderr, "train: %s: value missing; want %s\n", flag->name, flag->allowed);
		return false;
	}
	if (flag->read(args, value))
		return true;
	fprintf(stderr, "train: %s %s: want %s\n", flag->name, value, flag->allowed);
	return false;
}

static bool check_together(const struct train_args *args)
{
	if (args->rank >= args->ranks) {
		fprintf(stderr, "train: --rank %u: want 0 to %u with --ranks %u\n", args->rank,
			args->ranks - 1, args->ranks);
		return false;
	}
	if (args->ranks > 1 && !args->rendezvous) {
		fprintf(stderr,
			"train: --rendezvous: value missing; with --ranks %u want a directory\n",
			args->ranks);
		return false;
	}
	return true;
}

enum train_args_result train_args_parse(struct train_args *args, int argc, char **argv)
{
	*args = (struct train_args){
		.ranks = 1,
		.transport = RING_MRC,
		.steps = 100,
		.params = 1048576,
		.batch = 1024,
		.rate = 0.25,
		.seed = 1,
		.data = TRAIN_TEXT_DEFAULT,
	};
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			print_help();
			return TRAIN_ARGS_DONE;
		}
		if (!read_flag(args, argc, argv, &i))
			return TRAIN_ARGS_WRONG;
	}
	return check_together(args) ? TRAIN_ARGS_RUN : TRAIN_ARGS_WRONG;
}
