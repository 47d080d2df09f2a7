/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_read_goal.c - GOAL as text and binary: what it becomes, how long it takes, what is
 * refused. */
#include "sim_graph_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "sim/import/trace.h"
#include "sim/workload/graph.h"

static char path[] = "/tmp/unit_sim_read_goal.XXXXXX";
static struct ms_file_error error;
static const struct ms_trace_place place = {.hosts = FIXTURE_HOSTS, .hosts_per_t0 = 8};

static struct ms_graph *read_bytes(const void *bytes, size_t n)
{
	char name[sizeof(path)];
	struct ms_graph *g;
	int fd;

	memcpy(name, path, sizeof(name));
	fd = mkstemp(name);
	assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
	memset(&error, 0, sizeof(error));
	g = ms_goal_read(name, &place, &error);
	unlink(name);
	return g;
}

static struct ms_graph *read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static void assert_refused(const char *text, const char *why)
{
	struct ms_graph *g = read_text(text);

	assert_null(g);
	if (!strstr(error.text, why))
		print_error("said: %s\nwanted: %s\n", error.text, why);
	assert_non_null(strstr(error.text, why));
}

#define PING                                                                                     \
	"num_ranks 2\n/* two\n lines */ rank 0 { // begins\nl1: calc 1000\nl2: send 4096b to 1 " \
	"tag 7\n"                                                                                \
	"l2 requires l1\nl3: recv 8192b from 1 tag 9\nl4: calc 500 cpu 1\nl4 requires l3\n}\n"   \
	"rank 1 {\nl1: recv 4096b from 0 tag 7\nl2: send 8192b to 0 tag 9 nic 0\nl2 requires "   \
	"l1\n}\n"

TEST(ms_goal_read, a_ping_takes_its_calcs_and_two_latencies)
{
	struct ms_graph *g = read_text(PING);
	struct ms_run_cfg cfg;
	uint64_t ns, want;

	assert_string_equal(error.text, "");
	assert_u_eq(g->n, 6);
	ns = fixture_graph_took(g, &cfg);
	/* A packet of 4096 bytes with its headers there, two beside each other on two planes
	 * back. */
	want = 1000 + 500 + 2 * ms_latency_ns(&cfg.topology, 0, 1, 4096 + 166);
	assert_u_between(ns, want, want * 104 / 100);
}

TEST(ms_goal_read, calcs_of_one_cpu_follow_each_other)
{
	struct ms_graph *g = read_text("num_ranks 2\nrank 0 {\ncalc 3000 cpu 2\ncalc 4000 cpu 2\n"
				       "calc 5000 cpu 3\na: send 1b to 0\n"
				       "b: recv 1b from 0\n}\nrank 1 {\n}\n");
	struct ms_run_cfg cfg;

	assert_non_null(g);
	assert_u_between(fixture_graph_took(g, &cfg), 7000, 7001);
}

TEST(ms_goal_read, irequires_waits_for_what_the_other_waits_for)
{
	/* b would begin at 0; c begins when b may, so at 2000, and not at its end. */
	struct ms_graph *g = read_text("num_ranks 2\nrank 0 {\na: calc 2000\nb: calc 9000 cpu 1\n"
				       "b requires a\nc: calc 8000 cpu 2\nc irequires b\n}\n");
	struct ms_run_cfg cfg;

	assert_non_null(g);
	assert_u_between(fixture_graph_took(g, &cfg), 11000, 11001);
}

TEST(ms_goal_read, messages_of_one_tag_match_in_order)
{
	struct ms_graph *g = read_text("num_ranks 2\nrank 0 {\nsend 10b to 1 tag 3\n"
				       "send 20b to 1 tag 3\nsend 5b to 1 tag 4\n}\nrank 1 {\n"
				       "recv 5b from 0 tag 4\nrecv 10b from 0 tag 3\n"
				       "recv 20b from 0 tag 3\n}\n");
	uint32_t n;

	assert_non_null(g);
	/* The first receive of tag 3, node 4, waits for the first send, node 0. */
	assert_u_eq(*ms_graph_dependents(g, 0, MS_RECEIVED, &n), 4);
	assert_u_eq(*ms_graph_dependents(g, 1, MS_RECEIVED, &n), 5);
	assert_u_eq(*ms_graph_dependents(g, 2, MS_RECEIVED, &n), 3);
	ms_graph_destroy(g);
}

#define TWO "num_ranks 2\nrank 0 {\n"

TEST(ms_goal_read, names_rank_and_line)
{
	assert_refused(TWO "send 1b to 1\n}\n",
		       ":3: rank 0: send to 1, tag 0: rank 1 has no receive");
	assert_refused(TWO "recv 1b from 1 tag 2\n}\n",
		       ":3: rank 0: recv from 1, tag 2: rank 1 sends");
	assert_refused(TWO "send 9b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
		       ":6: rank 1: recv of 8 bytes from 0, tag 0: line 3");
	assert_refused(TWO "a: calc 1\nb: calc 1\na requires b\nb requires a\n}\n", "rank 0");
	assert_refused(TWO "calc 1\n", ":3: rank 0: the file ends before the rank's closing brace");
	assert_refused(TWO "send 1b to 2\n}\n", ":3: rank 0: peer 2: expected a number up to 1");
	assert_refused(TWO "recv 1b from -1\n}\n", ":3: rank 0: recv from any rank");
	assert_refused(TWO "a requires b\n}\n", ":3: rank 0: a: unknown label");
	assert_refused(TWO "a: calc 1\na: calc 2\n}\n", ":4: rank 0: label a: appears twice");
	assert_refused(TWO "calc 1 cpu 99\n}\n", ":3: rank 0: cpu 99: expected 0 to 15");
	assert_refused(TWO "send 1 to 1\n}\n", ":3: rank 0: 1: expected a number of bytes");
	assert_refused(TWO "jump 1\n}\n", ":3: rank 0: jump: expected send, recv or calc");
	assert_refused("rank 0 {\n", ":1: rank: expected num_ranks before");
	assert_refused("num_ranks 33\n", ":1: 33 ranks: expected 2 to 32");
	assert_refused(TWO "}\nrank 0 {\n", ":4: rank 0: appears twice");
	assert_refused("", "has no num_ranks");
	assert_refused("num_ranks 2 3\n", ":1: expected the end of the line behind num_ranks 2");
	assert_refused(PING "/* and\nso on", ":17: the file ends within a comment");
}

/* ---- binary ---- */

static uint8_t image[4096];
static size_t filled;

static void put(uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		image[filled++] = (uint8_t)(value >> (8 * i));
}

static void put_operation(uint8_t type, uint32_t peer, uint64_t size, uint32_t tag,
			  const uint32_t dependents[2], uint32_t starts)
{
	put(0, 4);
	put(type, 1);
	put(peer, 4);
	put(size, 8);
	put(tag, 4);
	put(0, 1);
	put(0, 1);
	put(dependents[0], 4);
	put(dependents[1], 4);
	put(starts, 4);
	put(0, 4);
}

/* The ping above, but for the calc at its end. */
static void make_image(void)
{
	const uint32_t none[2] = {0, 0}, first[2] = {1, 0};

	filled = 0;
	put(4223, 8);
	put(2, 4);
	put(0, 2);
	put(38, 8); /* rank 0: behind this table */
	put(38 + 12 + 3 * 39 + 4, 8);
	put(38 + 12 + 3 * 39 + 4, 8);
	put(38 + 12 + 3 * 39 + 4 + 12 + 2 * 39 + 4, 8);
	put(3, 4);
	put(1, 4);
	put(0, 4);
	put_operation(3, 0, 1000, 0, first, 0);
	put_operation(1, 1, 4096, 7, none, 0);
	put_operation(2, 1, 8192, 9, none, 0);
	put(1, 4); /* operation 1 waits for operation 0 */
	put(2, 4);
	put(1, 4);
	put(0, 4);
	put_operation(2, 0, 4096, 7, first, 0);
	put_operation(1, 0, 8192, 9, none, 0);
	put(1, 4);
}

TEST(ms_goal_read, binary_says_the_same_as_text)
{
	struct ms_graph *g;
	struct ms_run_cfg cfg;
	uint64_t ns, want;

	make_image();
	g = read_bytes(image, filled);
	assert_string_equal(error.text, "");
	assert_u_eq(g->n, 5);
	ns = fixture_graph_took(g, &cfg);
	want = fixture_graph_took(read_text(PING), &cfg) - 500;
	assert_u_between(ns, want, want);
}

TEST(ms_goal_read, truncated_binary_names_the_rank)
{
	make_image();
	for (size_t n = 8; n < filled; n++) {
		assert_null(read_bytes(image, n));
		assert_non_null(strstr(error.text, n < 14 ? "ends in its head" : "rank "));
	}
}

TEST(ms_goal_read, a_byte_of_zero_is_no_end_of_line)
{
	static const char text[] = TWO "calc 1 \0 cpu 99\n}\n";

	assert_null(read_bytes(text, sizeof(text) - 1));
	assert_non_null(strstr(error.text, ":3: rank 0: has a byte of zero"));
}

TEST(ms_goal_read, binary_out_of_bounds_is_refused)
{
	make_image();
	image[8 + 38 + 12 + 4] = 9; /* type of rank 0's first operation */
	assert_null(read_bytes(image, filled));
	assert_non_null(strstr(error.text, ":1: rank 0: type 9: expected 1"));
	make_image();
	image[8 + 38 + 12 + 3 * 39] = 77; /* who waits for it */
	assert_null(read_bytes(image, filled));
	assert_non_null(strstr(error.text, ":1: rank 0: dependent 77: the rank has 3 operations"));
	make_image();
	image[8 + 38 + 12 + 23] = 200; /* how many do */
	assert_null(read_bytes(image, filled));
	assert_non_null(strstr(error.text, "lie behind the end"));
}
