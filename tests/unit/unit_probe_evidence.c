/* SPDX-License-Identifier: BSD-2-Clause */
/* What a host counted, of bounded size: src/prober/probe_evidence.h. */
#include "prober/probe_evidence.h"
#include "support/test.h"

static struct probe_evidence e;

static int setup(void **state)
{
	(void)state;
	probe_evidence_init(&e);
	return 0;
}

static const struct mm_counts some = {{10, 9, 9, 9}, {1, 2, 0, 3}};

static struct mm_route_of route(uint32_t link)
{
	return (struct mm_route_of){.peer = MM_NO_HOST, .links = 2, .link = {link, link + 1}};
}

static uint32_t used(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PROBE_EVIDENCE_ROUTES; i++)
		n += e.route[i].step > 0;
	return n;
}

TEST_WITH(setup, NULL, probe_evidence_route, adds_up_and_only_grows)
{
	struct mm_route_of a = route(0), b = route(2);
	uint32_t memo = MM_NO_ROUTE, other = MM_NO_ROUTE;

	probe_evidence_route(&e, &a, &memo, &some);
	probe_evidence_route(&e, &b, &other, &some);
	probe_evidence_route(&e, &a, &memo, &some);
	assert_u_eq(used(), 2);
	assert_u_eq(e.route[memo].known, 20);
	assert_u_eq(e.route[memo].bad[MM_LOST], 2);
	assert_u_eq(e.route[memo].bad[MM_REORDERED], 6);
	/* A memo of another route, or none, finds the right one. */
	other = MM_NO_ROUTE;
	probe_evidence_route(&e, &b, &memo, &some);
	probe_evidence_route(&e, &a, &other, &some);
	assert_u_eq(used(), 2);
	assert_u_eq(e.route[other].known, 30);
	assert_u_eq(e.route[memo].known, 20);
}

TEST_WITH(setup, NULL, probe_evidence_route, leaves_out_what_there_is_no_room_for)
{
	for (uint32_t i = 0; i <= PROBE_EVIDENCE_ROUTES; i++) {
		struct mm_route_of r = route(2 * i);
		uint32_t memo = MM_NO_ROUTE;

		probe_evidence_route(&e, &r, &memo, &some);
		assert_true((memo == MM_NO_ROUTE) == (i == PROBE_EVIDENCE_ROUTES));
	}
	assert_u_eq(e.left_out, 1);
}

TEST_WITH(setup, NULL, probe_evidence_step, forgets_what_is_no_longer_probed)
{
	struct mm_route_of a = route(0), b = route(2);
	uint32_t memo = MM_NO_ROUTE, other = MM_NO_ROUTE;

	probe_evidence_route(&e, &a, &memo, &some);
	probe_evidence_route(&e, &b, &other, &some);
	for (uint32_t i = 0; i < PROBE_EVIDENCE_KEPT_STEPS + PROBE_EVIDENCE_ROUTES + 1; i++) {
		if (i == PROBE_EVIDENCE_KEPT_STEPS - 1)
			assert_u_eq(used(), 2);
		probe_evidence_route(&e, &b, &other, &some);
		probe_evidence_step(&e);
	}
	assert_u_eq(used(), 1);
	assert_u_eq(e.route[other].step, e.step - 1);
}

TEST_WITH(setup, NULL, probe_evidence_step, forgets_what_was_wrong_long_ago)
{
	static const struct mm_counts good = {{1, 1, 1, 1}, {0}}, lost = {{1, 0, 0, 0}, {1}};
	struct mm_route_of a = route(0);
	uint32_t memo = MM_NO_ROUTE;

	probe_evidence_route(&e, &a, &memo, &some);
	for (uint32_t i = 0; i < PROBE_EVIDENCE_BAD_KEPT_STEPS + PROBE_EVIDENCE_ROUTES + 1; i++) {
		if (i == PROBE_EVIDENCE_BAD_KEPT_STEPS - 1)
			assert_u_eq(e.route[memo].bad[MM_REORDERED], 3);
		probe_evidence_route(&e, &a, &memo, i % 1000 ? &good : &lost);
		probe_evidence_step(&e);
	}
	/* It was lost until the end, and all that was lost is told. */
	assert_u_eq(e.route[memo].bad[MM_REORDERED], 0);
	assert_u_eq(e.route[memo].bad[MM_CORRUPTED], 0);
	assert_u_eq(e.route[memo].bad[MM_LOST],
		    1 + (PROBE_EVIDENCE_BAD_KEPT_STEPS + PROBE_EVIDENCE_ROUTES) / 1000 + 1);
}

TEST_WITH(setup, NULL, probe_evidence_stray, counts_a_few_pairs)
{
	for (uint32_t i = 0; i < PROBE_EVIDENCE_SEEN + 2; i++) {
		probe_evidence_stray(&e, 1, i);
		probe_evidence_stray(&e, 1, i);
		probe_evidence_loop(&e, 2, i);
	}
	assert_u_eq(e.stray[3].about, 3);
	assert_u_eq(e.stray[3].times, 2);
	assert_u_eq(e.loop[3].times, 1);
	assert_u_eq(e.loop[3].plane, 2);
	assert_u_eq(e.left_out, 6);
	probe_evidence_plain(&e, MF_PLANES_MAX, 1, 1);
	probe_evidence_plain(&e, 1, 5, 2);
	assert_u_eq(e.plain[1].sent, 5);
	assert_u_eq(e.plain[1].lost, 2);
}
