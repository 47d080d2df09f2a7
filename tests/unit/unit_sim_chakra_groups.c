/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_chakra_groups.c - who is in which process group, in each form in which it is said. */
#include "support/test.h"

#include "sim/import/trace.h"
#include "sim/workload/workload.h"

#define RANKS 4u

static struct ms_chakra_groups groups;
static char why[MS_WHY_BYTES];

static int groups_fini(void **state)
{
	(void)state;
	ms_chakra_groups_fini(&groups);
	return 0;
}

#define GROUPS_TEST(function, name) TEST_WITH(NULL, groups_fini, function, name)

static bool says(const char *json)
{
	return ms_chakra_groups_read(&groups, json, strlen(json), RANKS, why);
}

static const struct ms_chakra_group *group(const char *name)
{
	uint32_t number;

	assert_true(ms_chakra_groups_number(&groups, name, (uint32_t)strlen(name), &number));
	return &groups.group.at[number];
}

static void check_ranks(const char *name, const uint32_t *want, uint32_t n)
{
	assert_true(group(name)->said);
	assert_u_eq(group(name)->n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_u_eq(group(name)->rank[i], want[i]);
}

static void refused(const char *json, const char *reason)
{
	why[0] = '\0';
	assert_false(says(json));
	if (!strstr(why, reason))
		print_error("said: %s\nwanted: %s\n", why, reason);
	assert_non_null(strstr(why, reason));
}

GROUPS_TEST(ms_chakra_groups_number, in_the_order_in_which_they_are_met)
{
	uint32_t number;

	for (uint32_t i = 0; i < 2; i++) {
		assert_true(ms_chakra_groups_number(&groups, "first", 5, &number));
		assert_u_eq(number, 0);
		assert_true(ms_chakra_groups_number(&groups, NULL, 0, &number));
		assert_u_eq(number, 1);
		assert_true(ms_chakra_groups_number(&groups, "firs", 4, &number));
		assert_u_eq(number, 2);
	}
	assert_false(group("first")->said);
}

GROUPS_TEST(ms_chakra_group_name, long_ones_are_cut)
{
	char name[MS_CHAKRA_NAME_BYTES], text[100];
	uint32_t number;

	memset(text, 'g', sizeof(text));
	assert_true(ms_chakra_groups_number(&groups, text, sizeof(text), &number));
	assert_u_eq(strlen(ms_chakra_group_name(&groups, number, name)), MS_CHAKRA_NAME_BYTES - 1);
	assert_true(ms_chakra_groups_number(&groups, NULL, 0, &number));
	assert_string_equal(ms_chakra_group_name(&groups, number, name), "");
	/* Two that only begin alike are two. */
	assert_true(ms_chakra_groups_number(&groups, text, sizeof(text) - 1, &number));
	assert_u_eq(number, 2);
}

GROUPS_TEST(ms_chakra_groups_read, a_file_of_names)
{
	assert_true(says("{\"1\": [0, 1], \"tp\": [3, 2], \"all\": []}"));
	check_ranks("1", (const uint32_t[]){0, 1}, 2);
	check_ranks("tp", (const uint32_t[]){3, 2}, 2);
	check_ranks("all", NULL, 0);
	assert_null(group("all")->rank);
}

GROUPS_TEST(ms_chakra_groups_read, what_pytorch_writes)
{
	assert_true(says("['[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [], "
			 "\"group_size\": 4}, {\"pg_name\": \"7\", \"ranks\": [1, 3]}]']"));
	check_ranks("0", NULL, 0);
	check_ranks("7", (const uint32_t[]){1, 3}, 2);
	assert_true(says("[]"));
}

GROUPS_TEST(ms_chakra_groups_read, the_same_may_be_said_again)
{
	assert_true(says("{\"1\": [0, 1], \"2\": []}"));
	assert_true(says(
		"[{\"pg_name\": \"1\", \"ranks\": [0, 1]}, {\"pg_name\": \"2\", \"ranks\": []}]"));
	refused("{\"1\": [1, 0]}", "process group '1': other ranks were said before");
	refused("{\"1\": [0]}", "other ranks were said before");
	refused("{\"1\": []}", "other ranks were said before");
	refused("{\"2\": [0]}", "process group '2': other ranks were said before");
}

GROUPS_TEST(ms_chakra_groups_read, refusals)
{
	refused("", "process groups: are no JSON");
	refused("{\"1\": [0, 1]", "are no JSON");
	refused("{\"1\": [0], \"1\": [1]}", "are no JSON: duplicate");
	refused("['[{\"pg_name\": \"0\"']", "are no JSON");
	refused("{\"1\": 3}", "process group '1': expected a list of ranks");
	refused("{\"1\": [4]}", "process group '1': rank 4: expected 0 to 3");
	refused("{\"1\": [-1]}", "process group '1': rank -1: expected 0 to 3");
	refused("{\"1\": [\"a\"]}", "process group '1': rank -1: expected 0 to 3");
	refused("{\"1\": [2, 2]}", "process group '1': rank 2 appears twice");
	refused("{\"1\": [0, 1, 2, 3, 0]}", "has more ranks than there are, 4");
	refused("[{\"ranks\": [1]}]", "process group number 1: has no pg_name");
	refused("[{\"pg_name\": \"3\"}]", "process group '3': expected a list of ranks");
	refused("[5]", "process group number 1: has no pg_name");
	assert_false(group("1")->said);
}
