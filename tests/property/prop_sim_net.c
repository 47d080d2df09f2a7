/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel against the reference, in random worlds: every host sees the same packets at the same
 * picosecond, with the same marks, and both count the same losses.
 */
#include "support/test.h"

#include <stdio.h>

#include "sim_world.h"

static void compare_logs(const struct actor *a, const struct actor *b, uint32_t host)
{
	for (uint32_t i = 0; i < a->n && i < b->n && i < LOG_MAX; i++) {
		if (a->log[i].t != b->log[i].t || a->log[i].what != b->log[i].what)
			fail_msg("host %u, %u: %" PRIu64 " ps %" PRIx64 ", reference %" PRIu64
				 " ps %" PRIx64,
				 host, i, a->log[i].t, a->log[i].what, b->log[i].t, b->log[i].what);
	}
	assert_u_eq(a->n, b->n);
}

static void compare_counters(const struct ms_counters *a, const struct ms_counters *b)
{
	assert_u_eq(a->injected, b->injected);
	assert_u_eq(a->delivered, b->delivered);
	assert_u_eq(a->hops, b->hops);
	assert_u_eq(a->trims, b->trims);
	assert_u_eq(a->ecn_marks, b->ecn_marks);
	assert_u_eq(a->corrupted, b->corrupted);
	assert_u_eq(a->waiting, b->waiting);
	assert_u_eq(a->flying, b->flying);
	for (uint32_t i = 0; i < MS_DROPS; i++)
		assert_u_eq(a->dropped[i], b->dropped[i]);
}

/* REQ(sim.queue.exact) REQ(sim.same-bits) REQ(sim.fault.exact) REQ(sim.accounted) */
TEST(ms_net, is_the_reference)
{
	struct ms_counters sum = {0};

	for (size_t round = 0; round < test_long_rounds(60); round++) {
		struct ms_counters fast, slow, more;
		struct actor *kept;
		struct world w;

		world_init(&w);
		world_run(&w, NULL, 1, MS_NEVER, &fast);
		kept = world_take_log(&w);
		world_run_reference(&w, &slow);
		for (uint32_t i = 0; i < w.cfg.topology.n_hosts; i++)
			compare_logs(&kept[i], &w.actor[i], i);
		compare_counters(&fast, &slow);
		world_run(&w, NULL, 2 + (uint32_t)test_rand_below(2), 1 + test_rand_below(9000000),
			  &more);
		assert_u_eq(more.hash, fast.hash);
		for (uint32_t i = 0; i < w.cfg.topology.n_hosts; i++)
			compare_logs(&kept[i], &w.actor[i], i);
		sum.hops += fast.hops;
		sum.trims += fast.trims;
		sum.ecn_marks += fast.ecn_marks;
		sum.corrupted += fast.corrupted;
		for (uint32_t i = 0; i < MS_DROPS; i++)
			sum.dropped[i] += fast.dropped[i];
		free(kept);
		world_fini(&w);
	}
	/* Everything that can happen has happened. */
	assert_true(sum.trims > 0 && sum.ecn_marks > 0 && sum.corrupted > 0);
	for (uint32_t i = 0; i < MS_DROP_NO_ROUTE; i++)
		assert_true(sum.dropped[i] > 0);
	printf("# %" PRIu64 " hops compared\n", sum.hops);
}
