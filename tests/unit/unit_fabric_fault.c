/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/fault.h"
#include "fabric/topology_toml.h"
#include "support/test.h"

#include <stdio.h>

static struct mf_topology t;

static int open_fabric(void **state)
{
	char why[MF_TOML_ERROR_BYTES];

	(void)state;
	return mf_topology_open("lab", &t, why) ? 0 : -1;
}

#define FAULT_TEST(function, name) TEST_WITH(open_fabric, NULL, function, name)

/* Reads "TARGET KIND VALUE WAY"; NULL when it is refused, with why in *e. */
static struct mf_fault *read(const char *words, struct mf_fault *f, struct mf_error *e)
{
	char target[64];
	const char *blank = strchr(words, ' ');

	snprintf(target, sizeof(target), "%.*s", (int)(blank - words), words);
	return mf_fault_text(&t, target, blank + 1, f, e) ? f : NULL;
}

static void refused(const char *words, const char *because)
{
	struct mf_fault f;
	struct mf_error e;

	if (read(words, &f, &e))
		fail_msg("%s was taken", words);
	if (!strstr(e.what, because))
		fail_msg("%s: %s does not say %s", words, e.what, because);
}

FAULT_TEST(mf_fault_read, reads_what_is_written)
{
	static const char *const words[] = {"down",	     "blackhole out", "loss 0.05% in",
					    "corrupt 100%",  "slow 20M",      "duplicate 3%",
					    "reorder 1% out"};
	struct mf_error e;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char line[128], text[MF_FAULT_TEXT_BYTES];
		struct mf_fault f;

		snprintf(line, sizeof(line), "plane0.t0-0.t1-1 %s", words[i]);
		assert_non_null(read(line, &f, &e));
		assert_string_equal(mf_fault_write(&f, text), words[i]);
	}
}

FAULT_TEST(mf_fault_read, says_what_is_wrong)
{
	refused("host0.plane0 los 1%", "did you mean loss");
	refused("host0.plane0 loss", "needs a SHARE");
	refused("host0.plane0 loss 1", "such as 1%");
	refused("host0.plane0 loss 0%", "more than 0");
	refused("host0.plane0 loss 101%", "at most 100%");
	refused("host0.plane0 loss nan%", "such as 1%");
	refused("host0.plane0 slow fast", "100k to 1T");
	refused("host0.plane0 loss 1% sideways", "out, in or both");
	refused("host0.plane0 down out", "has no direction");
	refused("host0.plane0 down both more", "unexpected argument");
	refused("host0.plane0 stall", "only switches");
	refused("plane0.t0-0 swap plane0.t0-0.t1-0", "only cables");
	refused("plane0.t0-0.t1-0 swap plane0.t0-0.t1-0", "with itself");
	refused("plane0.t0-0.t1-0 swap plane0", "not a cable");
	refused("host99 down", "did you mean");
	refused("host0.plane0 reboot", "only switches reboot");
	refused("host0.plane0 flap", "takes times");
	refused("host0.plane0 xyzzyxyzzy", "there are down, blackhole");
}
