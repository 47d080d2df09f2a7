/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_examples.c - the example programs do what their first lines say, and refuse bad command
 * lines by naming flag, value and what is allowed.
 *
 * Argument: the folder of the examples.
 */
#include "support/test.h"

#include <stdio.h>
#include <sys/wait.h>

#define OUTPUT_MAX 65536

/* Runs a command line in the folder of the examples; its output, stderr included, is in
 * `output`. */
static int run(const char *command, char *output)
{
	char line[4096];
	size_t n;
	int status;
	FILE *f;

	assert_non_null(test_arg(0));
	snprintf(line, sizeof(line), "cd '%s' || exit 127; exec 2>&1; timeout 60 ./%s", test_arg(0),
		 command);
	f = popen(line, "r");
	assert_non_null(f);
	n = fread(output, 1, OUTPUT_MAX - 1, f);
	output[n] = '\0';
	status = pclose(f);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
		n++;
	return n;
}

static char output[OUTPUT_MAX];

static void assert_has(const char *word)
{
	if (!strstr(output, word))
		fail_msg("no \"%s\" in:\n%s", word, output);
}

/* Succeeds and says this. */
static void assert_says(const char *command, const char *word)
{
	int status = run(command, output);

	if (status)
		fail_msg("%s: exit status %d:\n%s", command, status, output);
	assert_has(word);
}

TEST(hello, both_sides_hear)
{
	assert_says("hello", "Alice: got \"hello from Bob\"");
	assert_has("Bob: got \"hello from Alice\"");
}

TEST(write_bw, sweeps_sizes)
{
	assert_says("write_bw --self --min 512 --max 64k --ms 5 --depth 8", "65536");
	assert_u_eq(count(output, "\n"), 9); /* a head and 8 sizes */
}

TEST(write_bw, json)
{
	assert_says("write_bw --self --min=1 --max=4 --ms=5 --json", "\"bytes\": 4");
	assert_u_eq(count(output, "gbit_s"), 3);
	assert_int_equal(output[0], '{');
	assert_has("\n]}\n");
}

TEST(write_bw, server_and_client)
{
	char command[256];
	unsigned int port = 20000 + (unsigned int)test_rand_below(20000);

	snprintf(command, sizeof(command),
		 "write_bw --port %u & timeout 60 ./write_bw ::1 --port %u --max 1k --ms 5", port,
		 port);
	assert_says(command, "1024");
}

TEST(allreduce, verifies_sums)
{
	assert_says("allreduce --ranks 3 --min 1k --max 8k --rounds 2", "3 ranks, MRC on mrc0");
	assert_u_eq(count(output, "\n"), 6); /* two lines of head and 4 sizes */
	assert_says("allreduce --ranks 2 --max 2k --rounds 1 --transport tcp --json", "bus_gbit_s");
}

TEST(examples, tell_how_they_are_used)
{
	assert_says("write_bw --help", "--depth N");
	assert_says("allreduce --help", "--ranks N");
}

TEST(examples, refuse_bad_command_lines)
{
	static const struct {
		const char *command, *says;
	} bad[] = {
		{"hello there", "there: takes no arguments"},
		{"write_bw --depth 0", "--depth 0: want a number from 1 to 4096"},
		{"write_bw --depth", "--depth (nothing): want a number"},
		{"write_bw --depth=-1", "--depth -1: want"},
		{"write_bw --depth 4k", "--depth 4k: want"},
		{"write_bw --max 2x", "--max 2x: want"},
		{"write_bw --max 99999999999999999999", "--max 99999999999999999999: want"},
		{"write_bw --max 17179869184G", "--max 17179869184G: want"},
		{"write_bw --min 4 --max 2", "--min 4: want at most --max, which is 2"},
		{"write_bw --self=1", "--self=1: takes no value"},
		{"write_bw --self host", "host: --self has no HOST"},
		{"write_bw one two", "two: unexpected argument"},
		{"write_bw --frob", "--frob: no such flag"},
		{"allreduce --ranks 1", "--ranks 1: want a number from 2 to 32"},
		{"allreduce --transport rc", "--transport rc: want mrc or tcp"},
		{"allreduce x", "x: unexpected argument"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(run(bad[i].command, output), 2);
		assert_has(bad[i].says);
	}
}

/* A wrong environment is named once, and the program says what it could not do. */
TEST(examples, refuse_a_bad_environment)
{
	assert_int_equal(setenv("MRC_PORTS", "127.0.0.1,nonsense", 1), 0);
	assert_int_equal(run("hello", output), 1);
	assert_int_equal(unsetenv("MRC_PORTS"), 0);
	assert_has("MRC_PORTS");
	assert_has("nonsense");
	/* Two processes say so, by several writes each, which may mix. */
	assert_has("hello: ");
	assert_has("ibv_get_device_list");
}

TEST(examples, run_over_four_planes)
{
	assert_int_equal(setenv("MRC_PORTS", "127.0.0.1,127.0.1.1,127.0.2.1,127.0.3.1", 1), 0);
	assert_says("write_bw --self --min 64k --max 64k --ms 20", "65536");
	assert_int_equal(unsetenv("MRC_PORTS"), 0);
}
