/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_random.c - our engine and an implementation that shares nothing with it, in random worlds:
 * every byte has to be right, and every completion has to come once, in order, with its status.
 *
 * MRC_SEEDS=<n> says how many worlds are run, MRC_SEED=<number> where they begin: a failure prints
 * the seed of its world and its options, and MRC_SEED=<that> MRC_SEEDS=1 runs it alone.
 * MRC_PEER=name=value,... sets options, no_faults or trace (of all
 * frames), to find out what matters.
 */
#include <stdio.h>

#include "peer_world.h"
#include "support/test.h"

#define WORLDS_DEFAULT 200u
#define WORLDS_A_CASE 50u
#define CASES_MAX 500u
#define WORLDS_MAX 1000000u

struct block {
	char name[64];
	uint64_t first, n;
};

static struct block blocks[CASES_MAX];

/* Returns whether it went well. */
static bool run_world(uint64_t seed, uint64_t *frames, uint64_t *slowest_ns)
{
	struct world *w = malloc(sizeof(*w));
	bool failed;

	assert_non_null(w);
	world_draw(w, seed, getenv("MRC_PEER"));
	world_run(w);
	*frames += w->frames;
	if (w->now_ns > *slowest_ns)
		*slowest_ns = w->now_ns;
	failed = w->failed;
	if (failed) {
		world_print(w);
		printf("# %s\n", w->why);
	}
	world_fini(w);
	free(w);
	return !failed;
}

static void run_block(void **state)
{
	const struct block *b = *state;
	uint64_t frames = 0, slowest_ns = 0, failed = 0;

	for (uint64_t i = 0; i < b->n; i++)
		failed += !run_world(test_seed() + b->first + i, &frames, &slowest_ns);
	printf("# %" PRIu64 " worlds, %" PRIu64 " frames, the longest took %.3f ms of its time\n",
	       b->n, frames, (double)slowest_ns / 1e6);
	assert_u_eq(failed, 0);
}

static uint64_t worlds_wanted(void)
{
	const char *text = getenv("MRC_SEEDS");
	uint64_t n = text && *text ? strtoull(text, NULL, 0) : WORLDS_DEFAULT;

	if (n < 1 || n > WORLDS_MAX) {
		fprintf(stderr, "MRC_SEEDS=%s: want a number from 1 to %u\n", text, WORLDS_MAX);
		exit(2);
	}
	return n == 1 ? 1 : test_rounds(n);
}

__attribute__((constructor)) static void register_blocks(void)
{
	uint64_t n = worlds_wanted(), each = WORLDS_A_CASE;

	if (n > each * CASES_MAX)
		each = (n + CASES_MAX - 1) / CASES_MAX;
	for (uint64_t i = 0; i * each < n; i++) {
		struct block *b = &blocks[i];

		b->first = i * each;
		b->n = n - b->first < each ? n - b->first : each;
		snprintf(b->name, sizeof(b->name),
			 "peer_random__worlds_%06" PRIu64 "_to_%06" PRIu64, b->first,
			 b->first + b->n - 1);
		test_register(b->name, run_block, NULL, NULL, b);
	}
}
