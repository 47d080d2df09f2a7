/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_qp_sums.c - what the statistics say of all QPs, however many there are. */
#include "host/stats/stats.h"
#include "unit/nic_fixture.h"

#include <mrc/stats.h>

#define SUMS_TEST(name) TEST_WITH(fixture_setup, fixture_teardown, mh_qp_sums_step, name)

static struct mrc_stats_segment segment;

/* Steps until a round is through; how many that took. */
static uint32_t round_of_steps(struct nic_fixture *fixture, uint64_t now_ns)
{
	static struct mh_qp_sums sums;
	uint32_t before = segment.qps.rounds, steps = 0;

	segment.ports = FIXTURE_PLANES;
	mh_nic_lock(fixture->dev->nic);
	while (segment.qps.rounds == before && steps < 1000) {
		mh_qp_sums_step(fixture->dev->nic, &sums, &segment, now_ns);
		steps++;
	}
	mh_nic_unlock(fixture->dev->nic);
	assert_u_eq(segment.qps.rounds, before + 1);
	return steps;
}

static int clear(void)
{
	memset(&segment, 0, sizeof(segment));
	return 0;
}

SUMS_TEST(counts_states_and_evs)
{
	struct nic_fixture *fixture = *state;

	clear();
	assert_u_eq(round_of_steps(fixture, 1000), 1);
	assert_u_eq(segment.qps.of_state[MRC_STATS_QP_RESET], 1);
	assert_u_eq(segment.port[0].evs[MRC_STATS_EV_GOOD], 0);
	assert_i_eq(fixture_connect(fixture), 0);
	round_of_steps(fixture, 2000);
	assert_u_eq(segment.qps.of_state[MRC_STATS_QP_RESET], 0);
	assert_u_eq(segment.qps.of_state[MRC_STATS_QP_RTS], 1);
	assert_u_eq(segment.port[0].evs[MRC_STATS_EV_GOOD], FIXTURE_EVS);
	assert_u_eq(segment.port[1].evs[MRC_STATS_EV_GOOD], FIXTURE_EVS);
	assert_u_eq(segment.qps.at_ns, 2000);
}

/* Bad and denied EVs times the time since the last round. */
SUMS_TEST(adds_up_outage_from_the_second_round_on)
{
	struct nic_fixture *fixture = *state;

	clear();
	assert_i_eq(fixture_connect(fixture), 0);
	mh_nic_lock(fixture->dev->nic);
	assert_i_eq(mt_qp_ev_deny(fixture->qp->mt, mh_now_ns(), 1, true), MT_OK);
	mh_nic_unlock(fixture->dev->nic);
	round_of_steps(fixture, 1000);
	assert_u_eq(segment.port[1].evs[MRC_STATS_EV_DENIED], 1);
	assert_u_eq(segment.port[1].ev_outage_ns, 0);
	round_of_steps(fixture, 1300);
	round_of_steps(fixture, 1400);
	assert_u_eq(segment.port[1].ev_outage_ns, 400);
	assert_u_eq(segment.port[0].ev_outage_ns, 0);
}

static void post_to_nobody(struct nic_fixture *fixture)
{
	struct rd_sge sge = {(uintptr_t)fixture->buffer, 64, mh_mr_lkey(fixture->mr)};
	struct rd_send_wr wr = {.sge = &sge, .n_sge = 1};

	assert_i_eq(mh_qp_post_send(fixture->qp, &wr, 1, NULL), 0);
}

/* The peer of the fixture answers nothing. */
SUMS_TEST(finds_qps_that_stand_still)
{
	struct nic_fixture *fixture = *state;

	clear();
	assert_i_eq(fixture_connect(fixture), 0);
	round_of_steps(fixture, 1000);
	round_of_steps(fixture, 2000);
	assert_u_eq(segment.qps.stalled_ns, 0);
	post_to_nobody(fixture);
	round_of_steps(fixture, 3000);
	round_of_steps(fixture, 3500);
	assert_true(segment.qps.inflight_bytes >= 64);
	assert_true(segment.qps.stalled_ns >= 500);
	assert_true(segment.qps.stalled_ns <= 1500);
}

#define MANY 700u

/* 700 QPs of 8 EVs are more than one step, and more than the file shows. */
SUMS_TEST(goes_through_many_in_steps_and_loses_none)
{
	struct nic_fixture *fixture = *state;
	static struct mh_qp *qp[MANY];
	struct mh_qp *first = fixture->qp;
	struct mh_qp_init init = first->init;

	clear();
	assert_i_eq(fixture_connect(fixture), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_i_eq(mh_qp_create(&init, &qp[i]), 0);
		fixture->qp = qp[i];
		assert_i_eq(fixture_connect(fixture), 0);
	}
	fixture->qp = first;
	assert_u_eq(round_of_steps(fixture, 1000), 2);
	assert_u_eq(segment.qps.of_state[MRC_STATS_QP_RTS], MANY + 1);
	assert_u_eq(segment.port[0].evs[MRC_STATS_EV_GOOD], (MANY + 1) * FIXTURE_EVS);
	assert_u_eq(segment.port[1].evs[MRC_STATS_EV_GOOD], (MANY + 1) * FIXTURE_EVS);
	for (uint32_t i = 0; i < MANY; i++)
		assert_i_eq(mh_qp_destroy(qp[i]), 0);
	round_of_steps(fixture, 2000);
	assert_u_eq(segment.qps.of_state[MRC_STATS_QP_RTS], 1);
}
