/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `train`. */
#include "train_args.h"

#include "support/test.h"

#include <stdio.h>

static struct train_args args;
static char said[500];

static enum train_args_result parse(int argc, char **argv)
{
	FILE *catcher = tmpfile(), *real = stderr;
	enum train_args_result rc;
	size_t n;

	assert_non_null(catcher);
	stderr = catcher;
	rc = train_args_parse(&args, argc, argv);
	stderr = real;
	rewind(catcher);
	n = fread(said, 1, sizeof(said) - 1, catcher);
	said[n] = '\0';
	fclose(catcher);
	return rc;
}

#define PARSE(...) \
	parse((int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)), (char *[]){__VA_ARGS__})

TEST(train_args_parse, has_defaults_for_one_rank_alone)
{
	assert_int_equal(PARSE("train"), TRAIN_ARGS_RUN);
	assert_u_eq(args.ranks, 1);
	assert_u_eq(args.params, 1048576);
	assert_int_equal(args.transport, RING_MRC);
	assert_null(args.report);
}

TEST(train_args_parse, reads_every_flag)
{
	assert_int_equal(PARSE("train", "--rank", "3", "--ranks=8", "--rendezvous", "/tmp/x",
			       "--transport", "tcp", "--steps", "7", "--params", "262144",
			       "--batch", "9", "--rate", "0.5", "--seed", "11", "--data", "/d",
			       "--report", "/r", "--json"),
			 TRAIN_ARGS_RUN);
	assert_u_eq(args.rank, 3);
	assert_u_eq(args.ranks, 8);
	assert_string_equal(args.rendezvous, "/tmp/x");
	assert_int_equal(args.transport, RING_TCP);
	assert_u_eq(args.steps, 7);
	assert_u_eq(args.params, 262144);
	assert_u_eq(args.batch, 9);
	assert_true(args.rate == 0.5);
	assert_u_eq(args.seed, 11);
	assert_string_equal(args.data, "/d");
	assert_string_equal(args.report, "/r");
	assert_true(args.json);
}

TEST(train_args_parse, names_flag_value_and_what_is_allowed)
{
	assert_int_equal(PARSE("train", "--params", "1000000"), TRAIN_ARGS_WRONG);
	assert_string_equal(
		said, "train: --params 1000000: want a multiple of 256 from 262144 to 16777216\n");
	assert_int_equal(PARSE("train", "--transport", "rdma"), TRAIN_ARGS_WRONG);
	assert_string_equal(said, "train: --transport rdma: want mrc or tcp\n");
	assert_int_equal(PARSE("train", "--steps"), TRAIN_ARGS_WRONG);
	assert_string_equal(said, "train: --steps: value missing; want 1 to 1000000\n");
	assert_int_equal(PARSE("train", "--json=1"), TRAIN_ARGS_WRONG);
	assert_int_equal(PARSE("train", "steps"), TRAIN_ARGS_WRONG);
	assert_int_equal(PARSE("train", "--rate", "nan"), TRAIN_ARGS_WRONG);
	assert_int_equal(PARSE("train", "--rate", "0"), TRAIN_ARGS_WRONG);
	assert_int_equal(PARSE("train", "--batch", "1e3"), TRAIN_ARGS_WRONG);
}

TEST(train_args_parse, checks_flags_against_each_other)
{
	assert_int_equal(PARSE("train", "--rank", "1"), TRAIN_ARGS_WRONG);
	assert_string_equal(said, "train: --rank 1: want 0 to 0 with --ranks 1\n");
	assert_int_equal(PARSE("train", "--ranks", "2"), TRAIN_ARGS_WRONG);
	assert_non_null(strstr(said, "--rendezvous"));
}
