/* SPDX-License-Identifier: BSD-2-Clause */
/* live_verbs_states.c - moves of QPs that leave a state where it is; what a QP says of itself. */
#include "live/verbs_fixture.h"

#include <poll.h>

#define QPS_TEST(function, name) \
	TEST_WITH(verbs_fixture_setup_qps, verbs_fixture_teardown, function, name)

/* In the state that it is in; the state that it is said to be in counts as well. */
QPS_TEST(ibv_modify_qp, from_a_state_to_itself)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .cur_qp_state = IBV_QPS_RTS,
				   .qp_access_flags = IBV_ACCESS_REMOTE_READ};
	int mask = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS;
	struct ibv_qp_init_attr init;

	assert_int_equal(ibv_modify_qp(r->qp[0], &attr, mask), 0);
	attr.cur_qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(r->qp[0], &attr, mask), EINVAL);
	assert_int_equal(ibv_query_qp(r->qp[0], &attr, mask, &init), 0);
	assert_int_equal(ibv_query_qp(r->qp[0], &attr, mask, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	assert_u_eq(attr.qp_access_flags, IBV_ACCESS_REMOTE_READ);
	verbs_fixture_write(r, 0, 1, 1);
	assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_SUCCESS);
	for (int i = 0; i < 2; i++) {
		attr.qp_state = IBV_QPS_ERR;
		assert_int_equal(ibv_modify_qp(r->qp[0], &attr, IBV_QP_STATE), 0);
	}
	for (int i = 0; i < 2; i++) {
		attr.qp_state = IBV_QPS_RESET;
		assert_int_equal(ibv_modify_qp(r->qp[0], &attr, IBV_QP_STATE), 0);
	}
	/* What it was before is over. */
	assert_int_equal(ibv_query_qp(r->qp[0], &attr, mask, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RESET);
	assert_u_eq(attr.qp_access_flags, 0);
	assert_u_eq(attr.port_num, 0);
	assert_u_eq(attr.timeout, 0);
	assert_int_equal(init.sq_sig_all, 0);
}

/* A queue that is stopped is not stopped once more: one event is all that there is. */
QPS_TEST(ibv_modify_qp, from_sqd_to_itself_is_no_second_stop)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	struct pollfd events = {.fd = r->ctx->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	assert_int_equal(ibv_modify_qp(r->qp[0], &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
			 0);
	event = verbs_fixture_event(r);
	assert_int_equal(event.event_type, IBV_EVENT_SQ_DRAINED);
	ibv_ack_async_event(&event);
	attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	assert_int_equal(ibv_modify_qp(r->qp[0], &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), 0);
	/* It would be there when the call returns. */
	assert_int_equal(poll(&events, 1, 0), 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(r->qp[0], &attr, IBV_QP_STATE), 0);
	verbs_fixture_write(r, 0, 1, 1);
	assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_SUCCESS);
}

TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, ibv_query_qp, signals_all)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_init_attr init = verbs_fixture_init(r, 0), got;
	struct ibv_qp_attr attr;

	init.sq_sig_all = 1;
	r->qp[0] = ibv_create_qp(r->pd, &init);
	assert_non_null(r->qp[0]);
	assert_int_equal(ibv_query_qp(r->qp[0], &attr, 0, &got), 0);
	assert_int_equal(got.sq_sig_all, 1);
}
