/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_qp.c - making, changing and destroying QPs: each wrong argument and order. */
#include "unit/nic_fixture.h"

#include <errno.h>
#include <fcntl.h>

#include "host/datapath/datapath.h"
#include "host/state/nic_context.h"

#define QP_TEST(function, name) TEST_WITH(fixture_setup, fixture_teardown, function, name)

static struct mh_qp_init qp_init(struct nic_fixture *fixture)
{
	return (struct mh_qp_init){.pd = fixture->pd,
				   .send_cq = fixture->cq,
				   .recv_cq = fixture->cq,
				   .cap = {.max_send_wr = 1, .max_send_sge = 1}};
}

QP_TEST(mh_qp_create, capabilities_outside_their_range)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp *qp;

	for (int i = 0; i < 7; i++) {
		struct mh_qp_init init = qp_init(fixture);

		switch (i) {
		case 0:
			init.cap.max_send_wr = 0;
			break;
		case 1:
			init.cap.max_send_wr = MH_WR_MAX + 1;
			break;
		case 2:
			init.cap.max_recv_wr = MH_WR_MAX + 1;
			break;
		case 3:
			init.cap.max_send_sge = 0;
			break;
		case 4:
			init.cap.max_send_sge = RD_SGE_MAX + 1;
			break;
		case 5:
			init.cap.max_recv_sge = RD_SGE_MAX + 1;
			break;
		default:
			init.cap.max_inline = MH_INLINE_MAX + 1;
			break;
		}
		assert_i_eq(mh_qp_create(&init, &qp), EINVAL);
	}
}

QP_TEST(mh_qp_create, largest)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp_init init = qp_init(fixture), got;
	struct mh_qp *qp;

	init.cap = (struct mh_qp_cap){MH_WR_MAX, MH_WR_MAX, RD_SGE_MAX, RD_SGE_MAX, MH_INLINE_MAX};
	init.owner = &init;
	assert_i_eq(mh_qp_create(&init, &qp), 0);
	mh_qp_init_query(qp, &got);
	assert_ptr_equal(got.owner, &init);
	assert_memory_equal(&got.cap, &init.cap, sizeof(got.cap));
	assert_i_eq(mh_qp_destroy(qp), 0);
}

QP_TEST(mh_qp_create, cqs_of_different_openings)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp_init init = qp_init(fixture);
	struct mh_device *other;
	struct mh_qp *qp;

	assert_i_eq(mh_device_open(0, NULL, &other), 0);
	assert_i_eq(mh_cq_create(other, 4, NULL, NULL, &init.recv_cq), 0);
	assert_i_eq(mh_qp_create(&init, &qp), EINVAL);
	init.send_cq = init.recv_cq; /* a PD may be of another opening */
	assert_i_eq(mh_qp_create(&init, &qp), 0);
	assert_i_eq(mh_cq_destroy(init.send_cq), EBUSY);
	assert_i_eq(mh_pd_destroy(fixture->pd), EBUSY);
	assert_i_eq(mh_qp_destroy(qp), 0);
	assert_i_eq(mh_cq_destroy(init.send_cq), 0);
	assert_i_eq(mh_device_close(other), 0);
}

/* Numbers are drawn: of 200 each another, and what follows one is not its neighbour. */
QP_TEST(mh_qp_create, numbers_are_drawn)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp_init init = qp_init(fixture);
	uint32_t numbers[200], neighbours = 0;

	for (uint32_t i = 0; i < 200; i++) {
		struct mh_qp *qp;

		assert_i_eq(mh_qp_create(&init, &qp), 0);
		numbers[i] = mh_qp_number(qp);
		assert_u_eq(numbers[i] >> MH_QPN_INDEX_BITS,
			    mh_qp_number(fixture->qp) >> MH_QPN_INDEX_BITS);
		assert_true((numbers[i] & MH_QPN_INDEX_MASK) >= 16);
		for (uint32_t j = 0; j < i; j++)
			assert_true(numbers[j] != numbers[i]);
		/* One of 128 is so near. */
		if (i > 0)
			neighbours += numbers[i] - numbers[i - 1] + 64 <= 128;
		assert_i_eq(mh_qp_destroy(qp), 0);
	}
	assert_u_between(neighbours, 0, 20);
}

/* A number comes back when a packet's life has passed, and not before. */
QP_TEST(mh_qp_create, numbers_rest)
{
	struct nic_fixture *fixture = *state;
	struct mh_nic *nic = fixture->dev->nic;
	struct mh_qp_init init = qp_init(fixture);
	uint32_t first, rested = 1000000000;
	struct mh_qp *qp;

	/* Only one is left. */
	while (nic->qp_indices.n_free > 1)
		mh_numbers_take(&nic->qp_indices, 0);
	assert_i_eq(mh_qp_create(&init, &qp), 0);
	first = mh_qp_number(qp);
	assert_i_eq(mh_qp_destroy(qp), 0);
	assert_i_eq(mh_qp_create(&init, &qp), ENOMEM);
	assert_true(nic->qp_rests.until_ns[0] >= mh_now_ns() + rested / 2);
	nic->qp_rests.until_ns[0] -= rested;
	assert_i_eq(mh_qp_create(&init, &qp), 0);
	assert_u_eq(mh_qp_number(qp), first);
	assert_i_eq(mh_qp_destroy(qp), 0);
}

QP_TEST(mh_qp_modify, wrong_attributes)
{
	static const struct {
		uint32_t mask;
		struct rd_qp_attr attr;
	} rows[] = {
		{1u << 31, {.state = RD_QPS_INIT}},
		{RD_QP_SQD_NOTIFY, {.sqd_notify = true}},
		{RD_QP_STATE | RD_QP_SQD_NOTIFY, {.state = RD_QPS_INIT, .sqd_notify = true}},
		{RD_QP_STATE, {.state = (enum rd_qp_state)6}},
		{RD_QP_STATE, {.state = RD_QPS_RTS}},
		{RD_QP_PATH_MTU, {.path_mtu = 1500}},
		{RD_QP_PATH_MTU, {.path_mtu = 8192}},
		{RD_QP_DEST, {.dest = {{0xFD}}, .dest_qpn = 20}},
		{RD_QP_DEST, {.dest = {{[10] = 0xFF, [11] = 0xFF, 10}}, .dest_qpn = 1u << 24}},
		{RD_QP_MPR, {.mpr = 0}},
		{RD_QP_TIMEOUT, {.timeout = 25}},
		{RD_QP_RETRY, {.retry_linear = 8}},
		{RD_QP_EV_PROFILE, {.ev_profile = 99}},
	};
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr before, after;

	mh_qp_query(fixture->qp, &before);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (mh_qp_modify(fixture->qp, &rows[i].attr, rows[i].mask) != EINVAL)
			fail_msg("row %zu was accepted", i);
	mh_qp_query(fixture->qp, &after);
	assert_memory_equal(&before, &after, sizeof(before));
}

QP_TEST(mh_qp_modify, mtu_beyond_what_the_device_offers)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr = {.path_mtu = 4096};

	fixture->dev->nic->env.mtu = 2048;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_PATH_MTU), EINVAL);
	attr.path_mtu = 2048;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_PATH_MTU), 0);
}

QP_TEST(mh_qp_modify, to_rts_and_back)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr;

	for (int i = 0; i < 3; i++) {
		assert_i_eq(fixture_connect(fixture), 0);
		mh_qp_query(fixture->qp, &attr);
		assert_u_eq(attr.state, RD_QPS_RTS);
		assert_u_eq(attr.dest_qpn, FIXTURE_PEER_QPN);
		assert_u_eq(attr.sq_psn, 2000);
		attr.state = i % 2 ? RD_QPS_ERR : RD_QPS_RESET;
		assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
		attr.state = RD_QPS_RESET;
		assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	}
}

/* REQ(rsp.svc-time) */
QP_TEST(mh_qp_modify, service_time_of_the_peer)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr;

	mh_qp_attr_default(&attr);
	for (int told = 0; told < 2; told++) {
		attr.svc_time_dest = told;
		assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_SVC_TIME_DEST), 0);
		mh_qp_query(fixture->qp, &attr);
		assert_i_eq(attr.svc_time_dest, told);
	}
}

/* REQ(req.sqd.drained) */
QP_TEST(mh_qp_modify, drained_is_told_to_who_asked)
{
	struct rd_qp_attr attr = {.state = RD_QPS_SQD, .sqd_notify = true};
	struct nic_fixture *fixture = *state;
	struct mh_async_event event;
	struct mh_wc wc;

	fcntl(mh_async_fd(fixture->dev), F_SETFL, O_NONBLOCK);
	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	assert_i_eq(mh_cq_poll(fixture->cq, 1, &wc), 0);
	assert_i_eq(mh_async_get(fixture->dev, &event), EAGAIN);
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE | RD_QP_SQD_NOTIFY), 0);
	assert_i_eq(mh_cq_poll(fixture->cq, 1, &wc), 0);
	assert_i_eq(mh_async_get(fixture->dev, &event), 0);
	assert_u_eq(event.type, MH_ASYNC_SQ_DRAINED);
	assert_ptr_equal(event.qp, fixture->qp);
	assert_ptr_equal(event.owner, fixture);
	mh_async_ack(fixture->dev, &event);
	assert_i_eq(mh_async_get(fixture->dev, &event), EAGAIN);
}

QP_TEST(mh_qp_modify, reset_takes_completions_along)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr;
	struct rd_recv_wr ids[2] = {{.wr_id = 5}, {.wr_id = 6}};
	struct mh_wc wc[4];

	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_qp_post_recv(fixture->qp, ids, 2, NULL), 0);
	mh_qp_query(fixture->qp, &attr);
	attr.state = RD_QPS_ERR;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	assert_i_eq(mh_cq_poll(fixture->cq, 1, wc), 1);
	assert_u_eq(wc[0].wr_id, 5);
	assert_u_eq(wc[0].status, RD_WC_WR_FLUSH_ERR);
	attr.state = RD_QPS_RESET;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	assert_i_eq(mh_cq_poll(fixture->cq, 4, wc), 0);
}

QP_TEST(mh_qp_destroy, takes_completions_along)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp_init init = qp_init(fixture);
	struct rd_qp_attr attr = {.state = RD_QPS_INIT};
	struct rd_recv_wr recv = {.wr_id = 9};
	struct mh_qp *qp;
	struct mh_wc wc;

	init.cap.max_recv_wr = 4;
	assert_i_eq(mh_qp_create(&init, &qp), 0);
	assert_i_eq(mh_qp_modify(qp, &attr, RD_QP_STATE), 0);
	assert_i_eq(mh_qp_post_recv(qp, &recv, 1, NULL), 0);
	attr.state = RD_QPS_ERR;
	assert_i_eq(mh_qp_modify(qp, &attr, RD_QP_STATE), 0);
	assert_i_eq(mh_qp_destroy(qp), 0);
	assert_i_eq(mh_cq_poll(fixture->cq, 1, &wc), 0);
}

/* Peers decide how much is wanted: there is a limit, and what lies below it is given. */
QP_TEST(mh_engine_grow, up_to_the_limit)
{
	struct nic_fixture *fixture = *state;
	struct mh_nic *nic = fixture->dev->nic;
	bool grown[4];

	mh_nic_lock(nic);
	nic->env.memory_bytes = nic->chunk_bytes + (3u << 20);
	for (int i = 0; i < 4; i++)
		grown[i] = mh_engine_grow(nic);
	mh_nic_unlock(nic);
	for (int i = 0; i < 4; i++)
		assert_i_eq(grown[i], i < 3);
}
