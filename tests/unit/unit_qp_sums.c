/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_qp_sums.c - what the statistics say of all QPs, however many there are. */
#include "host/stats/stats.h"
#include "unit/nic_fixture.h"

#include <mrc/stats.h>

#define SUMS_TEST(name) TEST_WITH(fixture_setup, fixture_teardown, mh_qp_sums_step, name)

static struct mrc_stats_segment segment;

/* The peer of the fixture answers nothing: RTTs are the test's. 0: what the engine says. */
static uint64_t srtt_ns[2];
static uint32_t infos;

__typeof__(mt_qp_info) __real_mt_qp_info, __wrap_mt_qp_info;

void __wrap_mt_qp_info(const struct mt_qp *qp, struct mt_qp_info *info)
{
	__real_mt_qp_info(qp, info);
	if (srtt_ns[infos % 2])
		info->srtt_ns = srtt_ns[infos % 2];
	infos++;
}

/* Steps until a round is through; how many that took. */
static uint32_t round_under_lock(struct nic_fixture *fixture, uint64_t now_ns)
{
	static struct mh_qp_sums sums;
	uint32_t before = segment.qps.rounds, steps = 0;

	if (!segment.ports)
		segment.ports = FIXTURE_PLANES;
	while (segment.qps.rounds == before && steps < 1000) {
		mh_qp_sums_step(fixture->dev->nic, &sums, &segment, now_ns);
		steps++;
	}
	assert_u_eq(segment.qps.rounds, before + 1);
	return steps;
}

static uint32_t round_of_steps(struct nic_fixture *fixture, uint64_t now_ns)
{
	uint32_t steps;

	mh_nic_lock(fixture->dev->nic);
	steps = round_under_lock(fixture, now_ns);
	mh_nic_unlock(fixture->dev->nic);
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
	/* What is beside them is not theirs. */
	segment.port[0].evs_retired = 7;
	segment.port[FIXTURE_PLANES].evs[MRC_STATS_EV_GOOD] = 8;
	round_of_steps(fixture, 2000);
	assert_u_eq(segment.port[0].evs_retired, 7);
	assert_u_eq(segment.port[FIXTURE_PLANES].evs[MRC_STATS_EV_GOOD], 8);
	assert_u_eq(segment.qps.of_state[MRC_STATS_QP_RESET], 0);
	assert_u_eq(segment.qps.of_state[MRC_STATS_QP_RTS], 1);
	assert_u_eq(segment.port[0].evs[MRC_STATS_EV_GOOD], FIXTURE_EVS);
	assert_u_eq(segment.port[1].evs[MRC_STATS_EV_GOOD], FIXTURE_EVS);
	assert_u_eq(segment.qps.at_ns, 2000);
}

/* Those that have none yet count for nothing in the mean. */
SUMS_TEST(means_and_maxima_of_rtts)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp *second;

	clear();
	assert_i_eq(mh_qp_create(&fixture->qp->init, &second), 0);
	mh_nic_lock(fixture->dev->nic); /* nobody else asks meanwhile */
	infos = 0;
	srtt_ns[0] = 5000;
	round_under_lock(fixture, 1000);
	assert_u_eq(segment.qps.srtt_mean_ns, 5000);
	assert_u_eq(segment.qps.srtt_max_ns, 5000);
	srtt_ns[1] = 7000;
	round_under_lock(fixture, 2000);
	assert_u_eq(segment.qps.srtt_mean_ns, 6000);
	assert_u_eq(segment.qps.srtt_max_ns, 7000);
	memset(srtt_ns, 0, sizeof(srtt_ns));
	round_under_lock(fixture, 3000);
	assert_u_eq(segment.qps.srtt_mean_ns, 0);
	mh_nic_unlock(fixture->dev->nic);
	assert_i_eq(mh_qp_destroy(second), 0);
}

/* From INIT on it has named its profiles. */
SUMS_TEST(says_which_profiles_are_in_use)
{
	struct nic_fixture *fixture = *state;

	clear();
	round_of_steps(fixture, 1000);
	assert_u_eq(segment.qps.ev_profiles | segment.qps.cc_profiles, 0);
	assert_i_eq(fixture_connect(fixture), 0);
	round_of_steps(fixture, 2000);
	assert_u_eq(segment.qps.ev_profiles, 1);
	assert_u_eq(segment.qps.cc_profiles, 1);
}

/* The last number that a QP may have, and as many ports as the file has room for. */
SUMS_TEST(to_the_last_of_all)
{
	struct nic_fixture *fixture = *state;
	struct mh_nic *nic = fixture->dev->nic;
	uint32_t index = mh_qp_number(fixture->qp) & MH_QPN_INDEX_MASK;

	clear();
	segment.ports = MRC_STATS_PORTS;
	mh_nic_lock(nic);
	nic->qp_by_index[index] = NULL;
	nic->qp_by_index[MH_QPN_INDEX_MASK] = fixture->qp;
	round_under_lock(fixture, 1000);
	nic->qp_by_index[MH_QPN_INDEX_MASK] = NULL;
	nic->qp_by_index[index] = fixture->qp;
	mh_nic_unlock(nic);
	assert_u_eq(segment.qps.of_state[MRC_STATS_QP_RESET], 1);
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
