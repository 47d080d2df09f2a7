/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_metrics.c - the catalogue names all that a NIC counts, once each, and reads it. */
#include "support/test.h"

#include <stdio.h>

#include "host/state/nic_context.h"
#include "host/stats/stats.h"
#include "stats/metrics.h"
#include "unit/nic_fixture.h"

#define NIC_TEST(function, name) TEST_WITH(fixture_setup, fixture_teardown, function, name)

/* A counter without a row is shown nowhere; a row without its counter says nothing. */
NIC_TEST(stats_metric, has_a_row_for_each_counter_of_a_nic)
{
	struct nic_fixture *fixture = *state;
	struct mh_counter counters[MH_COUNTERS_MAX];
	const struct stats_metric *m;
	uint32_t n, rows = 0;

	mh_nic_lock(fixture->dev->nic);
	n = mh_counters_read(fixture->dev->nic, counters);
	mh_nic_unlock(fixture->dev->nic);
	for (uint32_t i = 0; i < n; i++) {
		m = stats_metric_find(counters[i].name);
		if (!m)
			fail_msg("%s is in no row", counters[i].name);
		assert_string_equal(m->meaning, counters[i].text);
		assert_int_equal(m->type, STATS_COUNTER);
	}
	for (size_t i = 0; (m = stats_metric(i)); i++)
		rows += m->bytes == 0;
	assert_u_eq(rows, n);
}

TEST(stats_metric, has_each_name_once_and_says_what_it_means)
{
	const struct stats_metric *m;

	for (size_t i = 0; (m = stats_metric(i)); i++) {
		assert_ptr_equal(stats_metric_find(m->name), m);
		assert_true(m->meaning[0] != '\0');
		assert_true(m->per_unit == 1 || m->per_unit == 1000000000);
		assert_int_equal(m->per_unit != 1, !strcmp(stats_metric_unit(m), "seconds"));
	}
	assert_null(stats_metric_find("no_such_metric"));
}

/* By OpenMetrics a name ends in its unit. */
TEST(stats_metric_unit, ends_the_name)
{
	const struct stats_metric *m;

	for (size_t i = 0; (m = stats_metric(i)); i++) {
		const char *unit = stats_metric_unit(m);
		size_t len = strlen(m->name), end = strlen(unit);

		if (end)
			assert_true(len > end && m->name[len - end - 1] == '_' &&
				    !strcmp(m->name + len - end, unit));
		assert_null(strstr(m->name, "_total"));
	}
	assert_string_equal(stats_metric_unit(stats_metric_find("tx_data_bytes")), "bytes");
	assert_string_equal(stats_metric_unit(stats_metric_find("tx_data_packets")), "");
}

static uint64_t read_one(const struct mrc_stats_segment *s, const char *name, uint32_t plane,
			 uint32_t which)
{
	uint64_t value = 0;

	assert_true(stats_metric_read(stats_metric_find(name), s,
				      (struct stats_metric_index){plane, which}, &value));
	return value;
}

TEST(stats_metric_read, finds_numbers_of_processes_planes_and_states)
{
	static struct mrc_stats_segment s;
	uint64_t value;

	snprintf(s.counter[0].name, sizeof(s.counter[0].name), "tx_data_bytes");
	s.counter[0].value = 1000000;
	memset(&s.port[0], 0xFF, sizeof(s.port[0])); /* beside numbers of 32 bits */
	s.port[0].tx_bytes = 0;
	s.port[0].up = 1;
	s.port[1].tx_bytes = 77;
	s.port[1].evs[MRC_STATS_EV_DENIED] = 9;
	s.port[31].ev_outage_ns = 5;
	s.qps.stalled_ns = 5000000001; /* more than 32 bits */
	s.qps.of_state[MRC_STATS_QP_ERR] = 4;
	assert_u_eq(read_one(&s, "tx_data_bytes", 0, 0), 1000000);
	assert_u_eq(read_one(&s, "plane_tx_bytes", 0, 0), 0);
	assert_u_eq(read_one(&s, "plane_tx_bytes", 1, 0), 77);
	assert_u_eq(read_one(&s, "plane_up", 0, 0), 1);
	assert_u_eq(read_one(&s, "plane_evs", 1, MRC_STATS_EV_DENIED), 9);
	assert_u_eq(read_one(&s, "plane_ev_outage_seconds", 31, 0), 5);
	assert_u_eq(read_one(&s, "qp_stalled_seconds", 0, 0), 5000000001);
	assert_u_eq(read_one(&s, "qps", 0, MRC_STATS_QP_ERR), 4);
	assert_false(stats_metric_read(stats_metric_find("ud_tx"), &s,
				       (struct stats_metric_index){0, 0}, &value));
}

TEST(stats_plane_imbalance, is_that_of_the_busiest_plane_that_is_up)
{
	static struct mrc_stats_segment now, before;
	uint32_t busiest = 9, idlest = 9;

	now.ports = 3;
	for (uint32_t i = 0; i < 3; i++) {
		now.port[i].up = 1;
		before.port[i].tx_bytes = 1000;
		now.port[i].tx_bytes = 1100;
	}
	now.port[3].up = 1; /* of no plane */
	now.port[3].tx_bytes = 1000000;
	assert_true(stats_plane_imbalance(&now, &before, &busiest, &idlest) == 0);
	assert_u_eq(busiest, 0); /* the first of equals */
	assert_u_eq(idlest, 0);
	now.port[2].tx_bytes = 1000;
	now.port[0].tx_bytes = 1200; /* 200, 100, 0: the mean is 100 */
	assert_true(stats_plane_imbalance(&now, &before, &busiest, &idlest) == 1);
	assert_u_eq(busiest, 0);
	assert_u_eq(idlest, 2);
	now.port[2].up = 0; /* 200, 100 */
	assert_true(stats_plane_imbalance(&now, &before, &busiest, &idlest) > 0.33);
	assert_true(stats_plane_imbalance(&now, &before, &busiest, &idlest) < 0.34);
	assert_u_eq(idlest, 1);
	now.port[1].up = 0;
	assert_true(stats_plane_imbalance(&now, &before, &busiest, &idlest) == -1);
	assert_true(stats_plane_imbalance(&before, &before, &busiest, &idlest) == -1);
}

TEST(stats_state_name, of_a_number_that_is_none)
{
	assert_string_equal(stats_ev_state_name(MRC_STATS_EV_DENIED), "denied");
	assert_string_equal(stats_ev_state_name(MRC_STATS_EV_DENIED + 1), "?");
	assert_string_equal(stats_qp_state_name(MRC_STATS_QP_ERR), "ERR");
	assert_string_equal(stats_qp_state_name(MRC_STATS_QP_ERR + 1), "?");
}
