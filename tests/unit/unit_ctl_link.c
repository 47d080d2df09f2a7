/* SPDX-License-Identifier: BSD-2-Clause */
/* What `mrc ctl` takes from whoever answers at the socket: src/cli/ctl/ctl_link.c. */
#include "cli/ctl/ctl.h"
#include "support/test.h"

static struct ctl_link link_of(const char *said, size_t bytes)
{
	struct ctl_link link = {.path = "x"};

	link.f = fmemopen((void *)(uintptr_t)said, bytes, "r");
	assert_non_null(link.f);
	return link;
}

TEST(ctl_link_next, a_value_for_each_line)
{
	static const char said[] = "{\"a\": 1}\n{\"a\": [2,\t3]}\n{\"a\": 4}";
	struct ctl_link link = link_of(said, sizeof(said) - 1);
	size_t n = 0;
	json_t *one;

	for (; (one = ctl_link_next(&link)); n++)
		json_decref(one);
	assert_u_eq(n, 3);
	assert_null(link.wrong);
	ctl_link_close(&link);
}

TEST(ctl_link_next, refuses_what_is_no_json)
{
	static const char *const lines[] = {"{\"a\": 1} {\"b\": 2}\n", "{\"a\":\n1}\n", "\n", "ok"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct ctl_link link = link_of(lines[i], strlen(lines[i]));

		assert_null(ctl_link_next(&link));
		assert_string_equal(link.wrong, "a line that is no JSON");
		ctl_link_close(&link);
	}
}

/* Whose line does not end must not have all memory. */
TEST(ctl_link_next, bounds_a_line)
{
	size_t bytes = CTL_LINE_MAX + 1;
	char *said = malloc(bytes);

	assert_non_null(said);
	for (uint32_t more = 0; more < 2; more++) {
		struct ctl_link link;
		json_t *one;

		memset(said, ' ', bytes);
		said[0] = '[';
		said[CTL_LINE_MAX - 2 + more] = ']';
		said[CTL_LINE_MAX - 1 + more] = '\n';
		link = link_of(said, bytes);
		one = ctl_link_next(&link);
		assert_true((one == NULL) == (more > 0));
		if (more)
			assert_string_equal(link.wrong, "a line of more than 16777216 bytes");
		json_decref(one);
		ctl_link_close(&link);
	}
	free(said);
}
