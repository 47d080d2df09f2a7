/* SPDX-License-Identifier: BSD-2-Clause */
/* What the network did: src/cli/perf/perf.h. */
#include "cli/perf/perf.h"

#include "support/test.h"
#include "unit/stats_fixture.h"

static struct mrc_stats_segment s;

TEST(perf_health_of, adds_up)
{
	struct perf_health h;

	fixture_segment(&s, 1);
	s.port[1].rx_overruns = 3;
	perf_health_of(&s, &h);
	assert_true(h.known);
	assert_u_eq(h.retransmits, 5);
	assert_u_eq(h.lost, 0);
	assert_u_eq(h.drops, 3);
	assert_u_eq(h.planes, 2);
	assert_true(h.up[0] && !h.up[1]);
	assert_u_eq(h.evs_good, 2);
	assert_u_eq(h.evs_skip, 1);
	assert_u_eq(h.evs_bad, 1);
}

TEST(perf_health_since, numbers_are_differences_and_states_the_later)
{
	struct perf_health a, b, d;

	fixture_segment(&s, 1);
	s.port[0].tx_bytes = 100;
	perf_health_of(&s, &a);
	s.counter[1].value += 4;
	s.port[0].tx_bytes = 150;
	s.qp[0].ev[0].state = MRC_STATS_EV_DENIED;
	perf_health_of(&s, &b);
	d = perf_health_since(&b, &a);
	assert_u_eq(d.retransmits, 4);
	assert_u_eq(d.sent[0], 50);
	assert_u_eq(d.evs_good, 1);
	assert_u_eq(d.evs_denied, 1);
}

TEST(perf_health_read, unknown_without_statistics)
{
	static struct stats_reader stats;
	struct perf_health h;

	stats_reader_open(&stats, "/nowhere/at/all", 1);
	perf_health_read(&stats, &h);
	assert_false(h.known);
	stats_reader_close(&stats);
}
