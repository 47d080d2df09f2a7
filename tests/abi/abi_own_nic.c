/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abi_own_nic.c - the example of a NIC around libmrc-core writes whatever its wire loses.
 *
 * Argument: the program own_nic.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

struct outcome {
	unsigned long long sent, lost, again;
	bool ev_bad;
};

static struct outcome run_example(const char *words)
{
	struct outcome o = {0};
	char command[4096], line[256];
	bool complete = false;
	FILE *f;

	assert_non_null(test_arg(0));
	snprintf(command, sizeof(command), "'%s' %s", test_arg(0), words);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		o.ev_bad |= strstr(line, "is ASSUMED_BAD") != NULL;
		complete |= sscanf(line,
				   "WRITE of 4194304 bytes complete after %*f us: %llu packets "
				   "sent, %llu of them lost, %llu sent again",
				   &o.sent, &o.lost, &o.again) == 3;
	}
	assert_int_equal(pclose(f), 0);
	assert_true(complete);
	return o;
}

TEST(own_nic, a_wire_that_loses_nothing)
{
	struct outcome o = run_example("0");

	assert_u_eq(o.lost, 0);
	assert_u_eq(o.again, 0);
	assert_false(o.ev_bad);
	assert_true(o.sent > 1024); /* packets of 4 KiB, and SACKs */
}

TEST(own_nic, every_loss_is_made_good)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		char words[16];
		struct outcome o;

		snprintf(words, sizeof(words), "%u %u", seed, seed);
		o = run_example(words);
		assert_true(o.lost > 0 && o.again > 0);
		assert_true(o.ev_bad);
	}
}
