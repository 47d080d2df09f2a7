/* SPDX-License-Identifier: BSD-2-Clause */
/* The demo's fault table: src/demo/stage.h. */
#include "demo/stage.h"

#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static char path[64];
static struct mrc_fault_table *table;
static const struct mrc_fault_table *reader;

static int open_table(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/unit-demo-faults-%d", (int)getpid());
	unlink(path);
	table = demo_fault_table_open(path, 42);
	assert_non_null(table);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	reader = mmap(NULL, sizeof(*reader), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	assert_ptr_not_equal(reader, MAP_FAILED);
	return 0;
}

static int close_table(void **state)
{
	(void)state;
	munmap((void *)(uintptr_t)reader, sizeof(*reader));
	munmap(table, sizeof(*table));
	unlink(path);
	return 0;
}

TEST_WITH(open_table, close_table, demo_fault_table_open, writes_what_processes_check)
{
	assert_memory_equal(reader->magic, MRC_FAULT_MAGIC, 8);
	assert_u_eq(reader->version, MRC_FAULT_VERSION);
	assert_u_eq(reader->rules, MRC_FAULT_RULES);
	assert_u_eq(reader->seed, 42);
	for (unsigned i = 0; i < MRC_FAULT_RULES; i++)
		assert_u_eq(reader->rule[i].kind, MRC_FAULT_OFF);
}

TEST_WITH(open_table, close_table, demo_fault_table_open, does_not_take_over_a_file)
{
	assert_null(demo_fault_table_open(path, 1));
}

TEST_WITH(open_table, close_table, demo_fault_rule_set, copies_all_but_the_counters)
{
	const struct mrc_fault_rule rule = {
		.kind = MRC_FAULT_DROP,
		.port_mask = 2,
		.path_modulus = 8,
		.path_mask = 0xf0,
		.direction = MRC_FAULT_BOTH,
		.host = {1, 2, 3},
		.chance_ppm = 10000,
		.data_only = 1,
		.hit_data = 99,
	};

	table->rule[3].hit_data = 5;
	demo_fault_rule_set(&table->rule[3], &rule);
	assert_u_eq(reader->rule[3].kind, MRC_FAULT_DROP);
	assert_u_eq(reader->rule[3].port_mask, 2);
	assert_u_eq(reader->rule[3].path_mask, 0xf0);
	assert_u_eq(reader->rule[3].chance_ppm, 10000);
	assert_u_eq(reader->rule[3].data_only, 1);
	assert_memory_equal(reader->rule[3].host, rule.host, 16);
	assert_u_eq(reader->rule[3].hit_data, 5);
}

TEST_WITH(open_table, close_table, demo_fault_rule_set, replaces_a_rule_that_was_off)
{
	const struct mrc_fault_rule rule = {.kind = MRC_FAULT_CORRUPT, .port_mask = 1};

	const struct mrc_fault_rule off = {.kind = MRC_FAULT_OFF, .port_mask = 1};

	demo_fault_rule_set(&table->rule[0], &rule);
	assert_u_eq(reader->rule[0].kind, MRC_FAULT_CORRUPT);
	demo_fault_rule_set(&table->rule[0], &off);
	assert_u_eq(reader->rule[0].kind, MRC_FAULT_OFF);
	assert_u_eq(reader->rule[0].port_mask, 1);
	demo_fault_rule_set(&table->rule[0], &rule);
	assert_u_eq(reader->rule[0].kind, MRC_FAULT_CORRUPT);
}
