/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/topology_preset.h"
#include "lab/lab_fault.h"
#include "support/test.h"

#include <stdio.h>

static struct mf_topology t;
static struct ml_port_state *port;

static int open_lab(void **state)
{
	struct mf_error e;

	(void)state;
	if (!mf_topology_init(&t, &mf_preset_find("lab")->cfg, &e))
		return -1;
	port = calloc(t.n_links, sizeof(*port));
	return port ? 0 : -1;
}

static int shut(void **state)
{
	(void)state;
	free(port);
	return 0;
}

#define FAULT_TEST(function, name) TEST_WITH(open_lab, shut, function, name)

/* Reads "TARGET KIND VALUE WAY"; NULL when it is refused, with why in *e. */
static struct ml_fault *read(const char *words, struct ml_fault *f, struct ml_error *e)
{
	char text[128], *rest = text, *target;
	const char *word[5];
	size_t n = 0;

	snprintf(text, sizeof(text), "%s", words);
	target = strsep(&rest, " ");
	while (n < 5 && (word[n] = strsep(&rest, " ")))
		n++;
	return ml_fault_read(&t, target, word, n, f, e) ? NULL : f;
}

static void refused(const char *words, const char *because)
{
	struct ml_fault f;
	struct ml_error e;

	if (read(words, &f, &e))
		fail_msg("%s was taken", words);
	if (!strstr(e.text, because))
		fail_msg("%s: %s does not say %s", words, e.text, because);
}

FAULT_TEST(ml_fault_read, reads_what_is_written)
{
	static const char *const words[] = {"down",	     "blackhole out", "loss 0.05% in",
					    "corrupt 100%",  "slow 20M",      "duplicate 3%",
					    "reorder 1% out"};
	struct ml_error e;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char line[128], text[2 * ML_VALUE_MAX];
		struct ml_fault f;

		snprintf(line, sizeof(line), "plane0.t0-0.t1-1 %s", words[i]);
		assert_non_null(read(line, &f, &e));
		assert_string_equal(ml_fault_write(&f, text), words[i]);
	}
}

FAULT_TEST(ml_fault_read, says_what_is_wrong)
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
}

static void apply(const char *const *words, size_t n)
{
	struct ml_fault f[8];
	struct ml_error e;

	for (size_t i = 0; i < n; i++)
		if (!read(words[i], &f[i], &e))
			fail_msg("%s", e.text);
	ml_faults_apply(&t, f, n, port);
}

FAULT_TEST(ml_faults_apply, goes_the_ways_it_says)
{
	const char *words[] = {"plane0.t0-0.t1-1 loss 1% out", "host3.plane2 blackhole in"};
	uint32_t up = mf_link_t0_t1(&t, 0, 0, 1, false), nic = mf_link_host_t0(&t, 2, 3, false);

	apply(words, 2);
	assert_u_eq(port[up].loss_ppm, 10000);
	assert_u_eq(port[up ^ 1].loss_ppm, 0);
	assert_false(port[nic].blackhole);
	assert_true(port[nic ^ 1].blackhole);
}

FAULT_TEST(ml_faults_apply, adds_up_what_overlaps)
{
	const char *words[] = {"plane0.t0-0.t1-1 loss 50%", "plane0.t0-0 loss 50%",
			       "plane0.t0-0.t1-1 slow 20M", "plane0 slow 30M"};
	uint32_t up = mf_link_t0_t1(&t, 0, 0, 1, false);

	apply(words, 4);
	assert_u_eq(port[up].loss_ppm, 750000);
	assert_u_eq(port[up].rate_bps, 20000000);
	assert_u_eq(port[mf_link_t0_t1(&t, 0, 0, 0, false)].rate_bps, 30000000);
	assert_u_eq(port[mf_link_t0_t1(&t, 1, 0, 0, false)].rate_bps, 0);
}

FAULT_TEST(ml_faults_apply, swaps_far_ends_and_swaps_them_back)
{
	const char *words[] = {"plane0.t0-0.t1-0 swap plane0.t0-1.t1-1",
			       "plane0.t0-1.t1-1 swap plane0.t0-0.t1-0"};
	uint32_t a = mf_link_t0_t1(&t, 0, 0, 0, false), b = mf_link_t0_t1(&t, 0, 1, 1, false);

	apply(words, 1);
	assert_u_eq(port[a].peer, b ^ 1);
	assert_u_eq(port[b ^ 1].peer, a);
	assert_u_eq(port[b].peer, a ^ 1);
	assert_u_eq(port[a ^ 1].peer, b);
	apply(words, 2);
	assert_u_eq(port[a].peer, a ^ 1);
	assert_u_eq(port[b].peer, b ^ 1);
}
