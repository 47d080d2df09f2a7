/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_read_chakra.c - execution traces of Chakra: nodes out of protobuf, ranks, collectives,
 * how long they take, what is refused. */
#include "sim_graph_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "sim/import/trace.h"
#include "sim/workload/graph.h"

static char folder[64], path[128];
static struct ms_file_error error;
static const struct ms_trace_place place = {.hosts = FIXTURE_HOSTS, .hosts_per_t0 = 8};

/* ---- writing protobuf ---- */

struct message {
	uint8_t bytes[512];
	size_t n;
};

static void put_varint(struct message *m, uint64_t value)
{
	for (; value > 0x7F; value >>= 7)
		m->bytes[m->n++] = (uint8_t)(value | 0x80);
	m->bytes[m->n++] = (uint8_t)value;
}

static void put_number(struct message *m, uint32_t field, uint64_t value)
{
	put_varint(m, field << 3);
	put_varint(m, value);
}

static void put_bytes(struct message *m, uint32_t field, const void *bytes, size_t n)
{
	put_varint(m, field << 3 | 2);
	put_varint(m, n);
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

static void put_attribute(struct message *m, const char *name, uint64_t value)
{
	struct message a = {.n = 0};

	put_bytes(&a, 1, name, strlen(name));
	put_number(&a, 9, value); /* int64_val */
	put_bytes(m, 10, a.bytes, a.n);
}

static struct message node(uint64_t id, uint32_t type, uint64_t us)
{
	struct message m = {.n = 0};

	put_number(&m, 1, id);
	put_bytes(&m, 2, "name", 4);
	put_number(&m, 3, type);
	put_number(&m, 7, us);
	return m;
}

static FILE *open_rank(uint32_t rank)
{
	struct message head = {.n = 0}, length = {.n = 0};
	char name[160];
	FILE *f;

	snprintf(name, sizeof(name), "%s.%u.et", path, rank);
	f = fopen(name, "w");
	assert_non_null(f);
	put_bytes(&head, 1, "0.0.4", 5);
	put_varint(&length, head.n);
	fwrite(length.bytes, 1, length.n, f);
	fwrite(head.bytes, 1, head.n, f);
	return f;
}

static void put_message(FILE *f, const struct message *m)
{
	struct message length = {.n = 0};

	put_varint(&length, m->n);
	fwrite(length.bytes, 1, length.n, f);
	fwrite(m->bytes, 1, m->n, f);
}

static int chakra_setup(void **state)
{
	(void)state;
	memset(&error, 0, sizeof(error));
	snprintf(folder, sizeof(folder), "/tmp/unit_sim_chakra.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/t", folder);
	return 0;
}

static int chakra_teardown(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

#define CHAKRA_TEST(name) TEST_WITH(chakra_setup, chakra_teardown, ms_chakra_read, name)

static uint64_t took(struct ms_graph *g, struct ms_run_cfg *cfg)
{
	assert_string_equal(error.text, "");
	return fixture_graph_took(g, cfg);
}

static void assert_refused(uint32_t ranks, const char *why)
{
	assert_null(ms_chakra_read(path, NULL, ranks, &place, &error));
	if (!strstr(error.text, why))
		print_error("said: %s\nwanted: %s\n", error.text, why);
	assert_non_null(strstr(error.text, why));
}

/* ---- point to point ---- */

static void write_ping(void)
{
	FILE *f = open_rank(0);
	struct message m = node(5, 4, 3);

	put_message(f, &m);
	m = node(6, 5, 0);
	put_number(&m, 5, 5); /* data_deps */
	put_attribute(&m, "comm_size", 4096);
	put_attribute(&m, "comm_dst", 1);
	put_attribute(&m, "comm_tag", 2);
	put_message(f, &m);
	fclose(f);
	f = open_rank(1);
	m = node(1, 6, 0);
	put_attribute(&m, "comm_size", 4096);
	put_attribute(&m, "comm_src", 0);
	put_attribute(&m, "comm_tag", 2);
	put_message(f, &m);
	m = node(2, 4, 7);
	put_bytes(&m, 4, "\x01", 1); /* ctrl_deps, packed */
	put_message(f, &m);
	fclose(f);
}

CHAKRA_TEST(a_send_takes_computes_and_a_latency)
{
	struct ms_run_cfg cfg;
	uint64_t ns, want;

	write_ping();
	ns = took(ms_chakra_read(path, NULL, 2, &place, &error), &cfg);
	want = 3000 + 7000 + ms_latency_ns(&cfg.topology, 0, 1, 4096 + 166);
	assert_u_between(ns, want, want * 103 / 100);
}

CHAKRA_TEST(truncated_files_name_rank_and_node)
{
	char name[160];

	write_ping();
	snprintf(name, sizeof(name), "%s.1.et", path);
	assert_int_equal(truncate(name, 20), 0);
	assert_refused(2, ":2: rank 1: the file is truncated");
	assert_int_equal(truncate(name, 8), 0);
	assert_refused(2, "rank 1: has no nodes");
	assert_int_equal(unlink(name), 0);
	assert_refused(2, "t.1.et: rank 1: cannot be read");
}

CHAKRA_TEST(a_length_that_is_cut_off_is_no_end)
{
	static const struct {
		uint8_t bytes[8];
		size_t n;
	} ends[] = {{{0x80}, 1}, {{0x80, 0x80}, 2}, {{0x80, 0x80, 0x80, 0x80, 0x80, 0}, 6}};

	for (size_t i = 0; i < 3; i++) {
		struct message m = node(1, 4, 1);
		FILE *f = open_rank(0);

		put_message(f, &m);
		fwrite(ends[i].bytes, 1, ends[i].n, f);
		fclose(f);
		assert_refused(2, ":3: rank 0: the file is truncated or no trace of Chakra");
	}
}

CHAKRA_TEST(what_does_not_fit_together_is_refused)
{
	struct message m = node(1, 4, 1);
	FILE *f = open_rank(0);

	put_message(f, &m);
	put_message(f, &m);
	fclose(f);
	assert_refused(2, ":3: rank 0: id 1: appears twice");
	f = open_rank(0);
	put_number(&m, 5, 99);
	put_message(f, &m);
	fclose(f);
	assert_refused(2, ":2: rank 0: depends on id 99");
	f = open_rank(0);
	m = node(1, 9, 1);
	put_message(f, &m);
	fclose(f);
	assert_refused(2, ":2: rank 0: has no known type");
	f = open_rank(0);
	m = node(1, 5, 1);
	put_message(f, &m);
	fclose(f);
	assert_refused(2, ":2: rank 0: has no attribute comm_dst");
}

CHAKRA_TEST(nodes_that_wait_for_each_other_are_named)
{
	struct message m;
	FILE *f;

	write_ping();
	f = open_rank(0);
	m = node(1, 4, 1);
	put_number(&m, 5, 2);
	put_message(f, &m);
	m = node(2, 4, 1);
	put_number(&m, 5, 1);
	put_message(f, &m);
	fclose(f);
	f = open_rank(1);
	m = node(1, 4, 1);
	put_message(f, &m);
	fclose(f);
	assert_refused(2, "rank 0: ");
}

/* ---- collectives ---- */

static void put_collective(FILE *f, uint64_t id, uint64_t kind, uint64_t bytes)
{
	struct message m = node(id, 7, 0);

	put_attribute(&m, "comm_type", kind);
	put_attribute(&m, "comm_size", bytes);
	if (id > 1)
		put_number(&m, 5, id - 1);
	put_message(f, &m);
}

CHAKRA_TEST(one_trace_stands_for_all_ranks)
{
	struct message m = node(1, 4, 20);
	struct ms_run_cfg cfg;
	uint64_t ns, want;
	FILE *f = open_rank(0);

	put_message(f, &m);
	put_collective(f, 2, 0, 8 << 20);
	fclose(f);
	snprintf(path, sizeof(path), "%s/t.0.et", folder);
	ns = took(ms_chakra_read(path, NULL, 8, &place, &error), &cfg);
	/* One T0: 2 (N - 1) / N of the bytes at 2 x 100G, with headers, and 14 latencies. */
	want = 20000 + 14 * (uint64_t)((1 << 20) * 8.0 * 4262 / 4096 / 200 +
				       (double)ms_latency_ns(&cfg.topology, 0, 1, 4262));
	assert_u_between(ns, want * 98 / 100, want * 104 / 100);
}

CHAKRA_TEST(ranks_must_agree_on_collectives)
{
	FILE *f = open_rank(0);

	put_collective(f, 1, 0, 1000);
	fclose(f);
	f = open_rank(1);
	put_collective(f, 1, 0, 2000);
	fclose(f);
	assert_refused(2,
		       ":2: rank 1: collective number 1 of process group '' is of type 0 and 2000");
	f = open_rank(1);
	put_collective(f, 1, 0, 1000);
	put_collective(f, 2, 2, 1000);
	fclose(f);
	assert_refused(2, "t: rank 0: has no collective number 2 of process group '', which rank 1 "
			  "has in line 3; who is in it is not said");
	f = open_rank(1);
	put_collective(f, 1, 12, 1000);
	fclose(f);
	assert_refused(2, ":2: rank 1: comm_type 12: expected 0 to 9");
}

CHAKRA_TEST(one_trace_for_all_ranks_cannot_send_to_one)
{
	write_ping();
	snprintf(path, sizeof(path), "%s/t.0.et", folder);
	assert_refused(2, ":3: rank 0: sends or receives: one trace cannot stand for all ranks");
}

/* ---- process groups ---- */

static void put_in_group(FILE *f, uint64_t id, const char *group, uint64_t bytes)
{
	struct message m = node(id, 7, 0), a = {.n = 0};

	put_attribute(&m, "comm_size", bytes);
	put_bytes(&a, 1, "pg_name", 7);
	put_bytes(&a, 29, group, strlen(group));
	put_bytes(&m, 10, a.bytes, a.n);
	put_message(f, &m);
}

/* What PyTorch writes when process groups are made. */
static void put_groups(FILE *f, uint64_t id, const char *json)
{
	struct message m = {.n = 0}, values = {.n = 0};

	put_number(&m, 1, id);
	put_bytes(&m, 2, "## process_group:init ##", 24);
	put_number(&m, 3, 1);
	put_bytes(&values, 1, json, strlen(json));
	put_bytes(&m, 8, values.bytes, values.n);
	put_message(f, &m);
}

/* Pairs of neighbours: of four ranks each has an all-reduce with its own. */
static void write_pairs(const char *json)
{
	for (uint32_t r = 0; r < 4; r++) {
		FILE *f = open_rank(r);

		put_in_group(f, 2, r < 2 ? "1" : "2", 8 << 20);
		if (json)
			put_groups(f, 1, json);
		fclose(f);
	}
}

/* A ring of two on one T0: half of the bytes twice, at 2 x 100G, with headers. */
static void check_pairs(const char *groups)
{
	struct ms_run_cfg cfg;
	uint64_t ns = took(ms_chakra_read(path, groups, 4, &place, &error), &cfg), want;

	want = 2 * (uint64_t)((4 << 20) * 8.0 * 4262 / 4096 / 200 +
			      (double)ms_latency_ns(&cfg.topology, 0, 1, 4262));
	assert_u_between(ns, want * 98 / 100, want * 104 / 100);
}

CHAKRA_TEST(groups_that_the_trace_says)
{
	write_pairs("['[{\"pg_name\": \"1\", \"ranks\": [0, 1]}, "
		    "{\"pg_name\": \"2\", \"ranks\": [2, 3]}]']");
	check_pairs(NULL);
}

static const char *write_groups(const char *json)
{
	static char name[160];
	FILE *f;

	snprintf(name, sizeof(name), "%s/groups.json", folder);
	f = fopen(name, "w");
	assert_non_null(f);
	fputs(json, f);
	fclose(f);
	return name;
}

CHAKRA_TEST(groups_of_a_file)
{
	write_pairs(NULL);
	check_pairs(write_groups("{\"1\": [0, 1], \"2\": [3, 2]}\n"));
}

CHAKRA_TEST(groups_that_are_wrong)
{
	write_pairs(NULL);
	assert_refused(4, "t: rank 2: has no collective number 1 of process group '1'");
	assert_null(ms_chakra_read(path, write_groups("{\"1\": [0, 9]}"), 4, &place, &error));
	assert_non_null(
		strstr(error.text, "groups.json: process group '1': rank 9: expected 0 to 3"));
	assert_null(ms_chakra_read(path, "/no/such/file", 4, &place, &error));
	assert_non_null(strstr(error.text, "/no/such/file: cannot be read"));
	write_pairs("[{\"pg_name\": \"1\"}]");
	assert_refused(4, ":3: rank 0: process group '1': expected a list of ranks");
}
