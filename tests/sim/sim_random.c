/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_random.c - the main property: whatever the network does, while one path between two nodes is
 * good every byte is placed once and every completion comes once and in order.
 *
 * MRC_SEEDS=<n> says how many worlds are run (500), MRC_SEED=<number> where they begin: a failure
 * prints the seed of its world, and MRC_SEED=<that> MRC_SEEDS=1 runs it alone. A world that fails
 * is made simpler, as far as it still fails, and explained. A case has 50 worlds at most.
 */
#include <stdio.h>

#include "plan.h"
#include "support/test.h"

#define SEEDS_DEFAULT 500u
#define SEEDS_A_CASE 50u
#define CASES_MAX 1000u
/* Test runs start a process for each lane; see CMakeLists.txt. */
#define LANES 4u

struct block {
	char name[64];
	uint64_t first, n;
};

static struct block blocks[CASES_MAX];

static void run_block(void **state)
{
	const struct block *b = *state;
	uint64_t packets = 0, slowest_ns = 0;

	for (uint64_t i = 0; i < b->n; i++) {
		uint64_t seed = test_seed() + b->first + i;
		struct sim_outcome outcome;
		struct sim_plan plan;

		sim_plan_draw(&plan, seed);
		sim_plan_run(&plan, &outcome, false);
		packets += outcome.packets;
		if (outcome.ended_ns > slowest_ns)
			slowest_ns = outcome.ended_ns;
		if (outcome.failed) {
			printf("# this world again: MRC_SEED=0x%016" PRIx64 " MRC_SEEDS=1\n# %s\n",
			       seed, outcome.why);
			fflush(stdout); /* what follows takes its time */
			sim_plan_explain(&plan);
			fail_msg("world 0x%016" PRIx64 ": %s", seed, outcome.why);
		}
	}
	printf("# %" PRIu64 " worlds, %" PRIu64 " packets, the longest took %.3f ms of its time\n",
	       b->n, packets, (double)slowest_ns / 1e6);
}

static uint64_t seeds_wanted(void)
{
	const char *text = getenv("MRC_SEEDS");
	char *end;
	uint64_t n;

	if (!text || !*text)
		return SEEDS_DEFAULT;
	n = strtoull(text, &end, 0);
	if (*end || n < 1 || n > SEEDS_A_CASE * CASES_MAX) {
		fprintf(stderr, "MRC_SEEDS=%s: want a number from 1 to %u\n", text,
			SEEDS_A_CASE * CASES_MAX);
		exit(2);
	}
	return n;
}

__attribute__((constructor)) static void register_blocks(void)
{
	uint64_t n = seeds_wanted(), a_case = SEEDS_A_CASE;

	/* A lane without a case would fail, so that few worlds are spread over all lanes. */
	if (n < LANES * a_case)
		a_case = (n + LANES - 1) / LANES;
	for (uint64_t i = 0; i < LANES || i * a_case < n; i++) {
		struct block *b = &blocks[i];

		b->first = i * a_case < n ? i * a_case : n;
		b->n = n - b->first < a_case ? n - b->first : a_case;
		snprintf(b->name, sizeof(b->name),
			 "sim_random__worlds_%05" PRIu64 "_to_%05" PRIu64 "_lane_%" PRIu64,
			 b->first, b->first + b->n, i % LANES);
		test_register(b->name, run_block, NULL, NULL, b);
	}
}
