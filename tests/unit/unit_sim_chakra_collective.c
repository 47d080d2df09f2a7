/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_chakra_collective.c - parts of ranks that become collectives of groups. */
#include "support/test.h"

#include "sim/import/trace.h"
#include "sim/workload/graph.h"
#include "sim/workload/workload.h"

#define RANKS 4u
#define PARTS 16u
#define ALL_REDUCE 0u
#define ALL_TO_ALL 6u
#define BARRIER 9u

static const struct ms_trace_place place = {.hosts = RANKS, .hosts_per_t0 = 2};
static struct ms_chakra_groups groups;
static struct ms_file_error error;
static struct ms_trace *trace;
static struct ms_chakra_part parts[PARTS];
static size_t n_parts;

static int fixture_open(void **state)
{
	(void)state;
	error.text[0] = '\0';
	n_parts = 0;
	trace = ms_trace_create("t", &error);
	assert_true(trace && ms_trace_ranks(trace, RANKS, &place, 0));
	return 0;
}

static int fixture_close(void **state)
{
	(void)state;
	ms_trace_destroy(trace);
	ms_chakra_groups_fini(&groups);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(fixture_open, fixture_close, ms_chakra_collectives, name)

static void groups_are(const char *json)
{
	char why[MS_WHY_BYTES];

	assert_true(ms_chakra_groups_read(&groups, json, strlen(json), RANKS, why));
}

/* The next collective of a rank in a group; before it the rank computes so long. */
static struct ms_chakra_part *takes_part(uint32_t rank, const char *group, uint32_t kind,
					 uint64_t bytes, uint64_t ns)
{
	struct ms_chakra_part p = {
		.rank = rank, .kind = kind, .bytes = bytes, .line = (uint32_t)n_parts + 2};

	assert_true(ms_chakra_groups_number(&groups, group, (uint32_t)strlen(group), &p.group));
	for (size_t i = 0; i < n_parts; i++)
		p.order += parts[i].rank == rank && parts[i].group == p.group;
	p.enter = ms_trace_calc(trace, rank, p.line, MS_STREAM_NONE, ns);
	p.over = ms_trace_calc(trace, rank, p.line, MS_STREAM_NONE, 0);
	parts[n_parts] = p;
	return &parts[n_parts++];
}

/* A byte takes a nanosecond, and there are no latencies. */
static struct ms_ideal_cost by_bytes(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes)
{
	(void)ctx;
	(void)src;
	(void)dst;
	return (struct ms_ideal_cost){.busy_ns = bytes};
}

/* When node i was over. */
static uint64_t ends[64];

static void play(void)
{
	struct ms_graph *g;
	struct ms_graph_exec *p;

	assert_true(ms_chakra_collectives(trace, parts, n_parts, &groups));
	g = ms_trace_finish(trace);
	assert_string_equal(error.text, "");
	p = ms_ideal_run(g, 0, by_bytes, NULL);
	assert_non_null(p);
	for (uint32_t i = 0; i < 2 * n_parts; i++)
		ends[i] = p->times[i].end_ns;
	ms_graph_exec_destroy(p);
	ms_graph_destroy(g);
}

static void refused(const char *why)
{
	assert_false(ms_chakra_collectives(trace, parts, n_parts, &groups));
	if (!strstr(error.text, why))
		print_error("said: %s\nwanted: %s\n", error.text, why);
	assert_non_null(strstr(error.text, why));
}

FIXTURE_TEST(groups_do_not_wait_for_each_other)
{
	uint32_t over[RANKS];

	groups_are("{\"1\": [0, 1], \"2\": [2, 3]}");
	for (uint32_t r = 0; r < RANKS; r++)
		over[r] =
			takes_part(r, r < 2 ? "1" : "2", ALL_REDUCE, 1000, r == 3 ? 5000 : 0)->over;
	play();
	/* A ring of two: two steps of half the bytes. */
	assert_u_eq(ends[over[0]], 1000);
	assert_u_eq(ends[over[1]], 1000);
	assert_u_eq(ends[over[2]], 6000);
	assert_u_eq(ends[over[3]], 6000);
}

FIXTURE_TEST(a_rank_may_be_in_several)
{
	uint32_t over[RANKS], across[RANKS];

	groups_are("{\"tp0\": [0, 1], \"tp1\": [2, 3], \"dp0\": [0, 2], \"dp1\": [1, 3]}");
	for (uint32_t r = 0; r < RANKS; r++) {
		over[r] = takes_part(r, r < 2 ? "tp0" : "tp1", ALL_REDUCE, 1000, r == 0 ? 300 : 0)
				  ->over;
		across[r] = takes_part(r, r % 2 ? "dp1" : "dp0", ALL_REDUCE, 2000, 0)->over;
		assert_true(
			ms_trace_add_dependency(trace, parts[n_parts - 1].enter, over[r], false));
	}
	play();
	assert_u_eq(ends[over[1]], 1300);
	assert_u_eq(ends[over[3]], 1000);
	for (uint32_t r = 0; r < RANKS; r++)
		assert_u_eq(ends[across[r]], 3300);
}

FIXTURE_TEST(the_kth_of_a_group_is_the_kth_at_all_its_ranks)
{
	uint32_t over[2][2];

	groups_are("{\"1\": [1, 2]}");
	for (uint32_t k = 0; k < 2; k++)
		for (uint32_t r = 1; r < 3; r++)
			over[k][r - 1] = takes_part(r, "1", ALL_REDUCE, 100 + 1000 * k, 0)->over;
	play();
	/* Both at once; their steps take turns at the port: 50, 550, 50 and 550. */
	assert_u_eq(ends[over[0][0]], 650);
	assert_u_eq(ends[over[1][1]], 1200);
}

FIXTURE_TEST(an_all_to_all_is_shared_among_members)
{
	groups_are("{\"1\": [0, 2, 3]}");
	takes_part(0, "1", ALL_TO_ALL, 3000, 0);
	takes_part(2, "1", ALL_TO_ALL, 3000, 0);
	takes_part(3, "1", ALL_TO_ALL, 3000, 0);
	play();
	for (uint32_t i = 0; i < 3; i++)
		assert_u_eq(ends[2 * i + 1], 2000); /* 1000 to each of two */
}

FIXTURE_TEST(a_group_of_one)
{
	groups_are("{\"1\": [2]}");
	takes_part(2, "1", ALL_REDUCE, 1000, 70);
	play();
	assert_u_eq(ends[1], 70);
}

/* One of which nothing is said, and one that is said to be all. */
FIXTURE_TEST(all_ranks)
{
	groups_are("{\"0\": []}");
	for (uint32_t r = 0; r < RANKS; r++) {
		takes_part(r, "0", BARRIER, 1 << 20, r * 100);
		takes_part(r, "", BARRIER, 1 << 20, 0);
	}
	play();
	for (uint32_t r = 0; r < RANKS; r++) {
		assert_u_eq(ends[4 * r + 1], 300);
		assert_u_eq(ends[4 * r + 3], 0);
	}
}

FIXTURE_TEST(a_rank_that_is_not_in_the_group)
{
	groups_are("{\"1\": [0, 1]}");
	for (uint32_t r = 0; r < 3; r++)
		takes_part(r, "1", ALL_REDUCE, 1000, 0);
	refused("t:4: rank 2: collective of process group '1', in which this rank is not");
}

FIXTURE_TEST(a_member_that_is_missing)
{
	groups_are("{\"1\": [0, 1]}");
	takes_part(1, "1", ALL_REDUCE, 1000, 0);
	refused("t: rank 0: has no collective number 1 of process group '1', which rank 1 has in "
		"line 2");
	assert_null(strstr(error.text, "is not said"));
}

FIXTURE_TEST(members_that_do_not_agree)
{
	groups_are("{\"1\": [0, 1]}");
	takes_part(0, "1", ALL_REDUCE, 1000, 0);
	takes_part(1, "1", ALL_TO_ALL, 1000, 0);
	refused("t:3: rank 1: collective number 1 of process group '1' is of type 6 and 1000 "
		"bytes; "
		"at rank 0 of type 0 and 1000");
}
