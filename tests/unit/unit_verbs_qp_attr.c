/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_verbs_qp_attr.c - which moves QPs make, and what its attributes are to the NIC. */
#include "support/test.h"

#include "libibverbs/libibverbs.h"

#define TO_INIT (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR                                                           \
	(IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define TO_RTS                                                                  \
	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | \
	 IBV_QP_MAX_QP_RD_ATOMIC)

static int rc_move(enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	return mv_qp_check_transition(IBV_QPT_RC, from, to, mask);
}

static int ud_move(enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	return mv_qp_check_transition(IBV_QPT_UD, from, to, mask);
}

TEST(mv_qp_check_transition, the_usual_way)
{
	assert_i_eq(rc_move(IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_STATE | TO_INIT), 0);
	assert_i_eq(rc_move(IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_STATE | TO_RTR), 0);
	assert_i_eq(rc_move(IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_STATE | TO_RTS), 0);
	assert_i_eq(rc_move(IBV_QPS_RTS, IBV_QPS_SQD, IBV_QP_STATE), 0);
	assert_i_eq(rc_move(IBV_QPS_SQD, IBV_QPS_RTS, IBV_QP_STATE), 0);
}

/* Each attribute that a move requires is missed when it is not there. */
TEST(mv_qp_check_transition, requires)
{
	for (int bit = 1; bit < 1 << 26; bit <<= 1) {
		if (TO_INIT & bit)
			assert_i_eq(rc_move(IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT & ~bit), EINVAL);
		if (TO_RTR & bit)
			assert_i_eq(rc_move(IBV_QPS_INIT, IBV_QPS_RTR, TO_RTR & ~bit), EINVAL);
		if (TO_RTS & bit)
			assert_i_eq(rc_move(IBV_QPS_RTR, IBV_QPS_RTS, TO_RTS & ~bit), EINVAL);
	}
}

TEST(mv_qp_check_transition, refuses_what_a_move_does_not_know)
{
	assert_i_eq(rc_move(IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT | IBV_QP_AV), EINVAL);
	assert_i_eq(rc_move(IBV_QPS_INIT, IBV_QPS_RTR, TO_RTR | IBV_QP_TIMEOUT), EINVAL);
	assert_i_eq(rc_move(IBV_QPS_RTS, IBV_QPS_ERR, IBV_QP_AV), EINVAL);
	assert_i_eq(rc_move(IBV_QPS_RTS, IBV_QPS_ERR, IBV_QP_STATE), 0);
	assert_i_eq(rc_move(IBV_QPS_RTS, IBV_QPS_RESET, IBV_QP_STATE), 0);
}

TEST(mv_qp_check_transition, moves_that_do_not_exist)
{
	assert_i_eq(rc_move(IBV_QPS_RESET, IBV_QPS_RTR, TO_RTR), EINVAL);
	assert_i_eq(rc_move(IBV_QPS_RESET, IBV_QPS_RTS, TO_RTS), EINVAL);
	assert_i_eq(rc_move(IBV_QPS_INIT, IBV_QPS_RTS, TO_RTS), EINVAL);
	assert_i_eq(rc_move(IBV_QPS_ERR, IBV_QPS_RTS, TO_RTS), EINVAL);
	assert_i_eq(rc_move(IBV_QPS_RTS, (enum ibv_qp_state)77, 0), EINVAL);
}

/* REQ(ud.states) */
TEST(mv_qp_check_transition, of_datagrams)
{
	const int to_init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

	assert_i_eq(ud_move(IBV_QPS_RESET, IBV_QPS_INIT, to_init), 0);
	assert_i_eq(ud_move(IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT), EINVAL);
	assert_i_eq(ud_move(IBV_QPS_INIT, IBV_QPS_RTR, 0), 0);
	assert_i_eq(ud_move(IBV_QPS_INIT, IBV_QPS_RTR, TO_RTR), EINVAL);
	assert_i_eq(ud_move(IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN), 0);
	assert_i_eq(ud_move(IBV_QPS_RTR, IBV_QPS_RTS, 0), EINVAL);
	assert_i_eq(ud_move(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_QKEY), 0);
	assert_i_eq(ud_move(IBV_QPS_RESET, IBV_QPS_RTR, 0), EINVAL);
}

static int uc_move(enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	return mv_qp_check_transition(IBV_QPT_UC, from, to, mask);
}

/* Of RC's attributes those that are not of retries, READs and atomics. REQ(uc.states) */
TEST(mv_qp_check_transition, of_unreliable_connections)
{
	const int to_rtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	assert_i_eq(uc_move(IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT), 0);
	assert_i_eq(uc_move(IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT | IBV_QP_QKEY), EINVAL);
	for (int bit = 1; bit < 1 << 26; bit <<= 1)
		if (to_rtr & bit)
			assert_i_eq(uc_move(IBV_QPS_INIT, IBV_QPS_RTR, to_rtr & ~bit), EINVAL);
	assert_i_eq(uc_move(IBV_QPS_INIT, IBV_QPS_RTR, to_rtr), 0);
	assert_i_eq(uc_move(IBV_QPS_INIT, IBV_QPS_RTR, TO_RTR), EINVAL);
	assert_i_eq(uc_move(IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN), 0);
	assert_i_eq(uc_move(IBV_QPS_RTR, IBV_QPS_RTS, TO_RTS), EINVAL);
	assert_i_eq(uc_move(IBV_QPS_RTR, IBV_QPS_RTS, 0), EINVAL);
	assert_i_eq(uc_move(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_ACCESS_FLAGS), 0);
	assert_i_eq(uc_move(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER), EINVAL);
	assert_i_eq(uc_move(IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_AV), 0);
	assert_i_eq(uc_move(IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_PORT), EINVAL);
}

static int convert(const struct ibv_qp_attr *attr, int mask, struct rd_qp_attr *nic)
{
	uint32_t out = 0;

	memset(nic, 0, sizeof(*nic));
	return mv_qp_attr_to_nic(attr, mask, nic, &out);
}

/* 4.096 us x 2^t is 1.024 us x 2^(t + 2), as far as MRC's go. */
TEST(mv_qp_attr_to_nic, timeouts)
{
	struct ibv_qp_attr attr = {.timeout = 14, .retry_cnt = 7};
	struct rd_qp_attr nic;
	int mask = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT;

	assert_i_eq(convert(&attr, mask, &nic), 0);
	assert_u_eq(nic.timeout, 16);
	assert_u_eq(nic.retry_linear, 7);
	assert_u_eq(nic.retry_exp, 0);
	attr.timeout = 31;
	assert_i_eq(convert(&attr, mask, &nic), 0);
	assert_u_eq(nic.timeout, 24);
	attr.timeout = 0; /* for ever */
	assert_i_eq(convert(&attr, mask, &nic), 0);
	assert_u_eq(nic.retry_exp, 25);
	attr.timeout = 32;
	assert_i_eq(convert(&attr, mask, &nic), EINVAL);
	attr = (struct ibv_qp_attr){.timeout = 1, .retry_cnt = 8};
	assert_i_eq(convert(&attr, mask, &nic), EINVAL);
}

TEST(mv_qp_attr_to_nic, address)
{
	struct ibv_qp_attr attr = {.dest_qp_num = 77, .ah_attr = {.is_global = 1, .port_num = 1}};
	struct rd_qp_attr nic;
	int mask = IBV_QP_AV | IBV_QP_DEST_QPN;

	attr.ah_attr.grh.dgid.raw[15] = 9;
	assert_i_eq(convert(&attr, mask, &nic), 0);
	assert_u_eq(nic.dest_qpn, 77);
	assert_u_eq(nic.dest.b[15], 9);
	attr.ah_attr.is_global = 0;
	assert_i_eq(convert(&attr, mask, &nic), EINVAL);
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 2;
	assert_i_eq(convert(&attr, mask, &nic), EINVAL);
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.sgid_index = 4;
	assert_i_eq(convert(&attr, mask, &nic), EINVAL);
	attr.ah_attr.grh.sgid_index = 3;
	assert_i_eq(convert(&attr, mask, &nic), 0);
	attr.dest_qp_num = 1 << 24;
	assert_i_eq(convert(&attr, mask, &nic), EINVAL);
}

/* A peer's WRITE wants the NIC's right to write here as well, and nothing else does. */
TEST(mv_qp_attr_to_nic, rights)
{
	struct ibv_qp_attr attr = {.qp_access_flags = IBV_ACCESS_REMOTE_READ};
	struct rd_qp_attr nic;

	assert_i_eq(convert(&attr, IBV_QP_ACCESS_FLAGS, &nic), 0);
	assert_u_eq(nic.access, RD_ACCESS_REMOTE_READ);
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	assert_i_eq(convert(&attr, IBV_QP_ACCESS_FLAGS, &nic), 0);
	assert_u_eq(nic.access, RD_ACCESS_REMOTE_WRITE | RD_ACCESS_LOCAL_WRITE);
}

TEST(mv_qp_attr_to_nic, greatest_values)
{
	struct ibv_qp_attr attr = {.rnr_retry = 7, .min_rnr_timer = 31};
	struct rd_qp_attr nic;

	assert_i_eq(convert(&attr, IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER, &nic), 0);
	assert_u_eq(nic.rnr_retry, 7);
	assert_u_eq(nic.min_rnr_timer, 31);
}

TEST(mv_qp_attr_to_nic, values_out_of_range)
{
	static const struct {
		struct ibv_qp_attr attr;
		int mask;
	} rows[] = {
		{{.path_mtu = 0}, IBV_QP_PATH_MTU},
		{{.path_mtu = 6}, IBV_QP_PATH_MTU},
		{{.pkey_index = 1}, IBV_QP_PKEY_INDEX},
		{{.port_num = 2}, IBV_QP_PORT},
		{{.rnr_retry = 8}, IBV_QP_RNR_RETRY},
		{{.min_rnr_timer = 32}, IBV_QP_MIN_RNR_TIMER},
		{{.qp_access_flags = 1 << 20}, IBV_QP_ACCESS_FLAGS},
		{{.qp_state = IBV_QPS_SQE}, IBV_QP_STATE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rd_qp_attr nic;

		if (convert(&rows[i].attr, rows[i].mask, &nic) != EINVAL)
			fail_msg("row %zu was accepted", i);
	}
}
