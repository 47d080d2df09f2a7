/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_qp.c - making, changing and destroying QPs: each wrong argument and order. */
#include "unit/nic_fixture.h"

#include <errno.h>
#include <fcntl.h>

#include "host/datapath/datapath.h"
#include "host/node/node.h"
#include "host/progress/progress.h"
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

/* ---- the end of a QP ---- */

/* Another one takes its place, which the fixture ends. */
static void destroy_and_replace(struct nic_fixture *fixture)
{
	struct mh_qp_init init = qp_init(fixture);

	assert_i_eq(mh_qp_destroy(fixture->qp), 0);
	assert_i_eq(mh_qp_create(&init, &fixture->qp), 0);
}

/* What waits in either CQ names it, and what waits among events does. */
QP_TEST(mh_qp_destroy, nothing_names_it_afterwards)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp_init init = qp_init(fixture);
	struct rd_qp_attr attr = {.state = RD_QPS_ERR};
	struct rd_recv_wr recv = {.wr_id = 9};
	struct rd_send_wr send = {.rkey = 1};
	struct mh_async_event event;
	struct mh_cq *other;
	struct mh_wc wc;

	assert_i_eq(mh_qp_destroy(fixture->qp), 0);
	assert_i_eq(mh_cq_create(fixture->dev, 4, NULL, NULL, &other), 0);
	init.recv_cq = other;
	init.cap.max_recv_wr = 2;
	assert_i_eq(mh_qp_create(&init, &fixture->qp), 0);
	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	assert_i_eq(mh_qp_post_recv(fixture->qp, &recv, 1, NULL), 0);
	assert_i_eq(mh_qp_post_send(fixture->qp, &send, 1, NULL), 0);
	mh_event_raise(&fixture->dev->events, &fixture->qp->fatal, false);
	mh_event_raise(&fixture->dev->events, &fixture->qp->drained, false);
	mh_event_raise(&fixture->dev->events, &fixture->qp->last_wqe, false);
	assert_true(fixture->cq->head != fixture->cq->tail && other->head != other->tail);
	destroy_and_replace(fixture);
	assert_u_eq(mh_cq_pop(fixture->cq, 1, &wc), 0);
	assert_u_eq(mh_cq_pop(other, 1, &wc), 0);
	fcntl(mh_async_fd(fixture->dev), F_SETFL, O_NONBLOCK);
	assert_i_eq(mh_async_get(fixture->dev, &event), EAGAIN);
	assert_i_eq(mh_cq_destroy(other), 0);
}

/* What was posted leaves before, although it waits for a poll. */
QP_TEST(mh_qp_destroy, sends_what_waits)
{
	struct nic_fixture *fixture = *state;
	struct mh_nic *nic = fixture->dev->nic;
	struct rd_sge sge = {(uintptr_t)fixture->buffer, 8, mh_mr_lkey(fixture->mr)};
	struct rd_send_wr send = {.sge = &sge, .n_sge = 1, .rkey = 1};
	struct mio_rx frame;

	assert_i_eq(fixture_connect(fixture), 0);
	mh_progress_stop(nic);
	nic->progress.sleeps_until_ns = 0;
	atomic_store(&nic->progress.app_polled_ns, mh_now_ns() + UINT64_C(60000000000));
	assert_i_eq(mh_qp_post_send(fixture->qp, &send, 1, NULL), 0);
	assert_true(mh_loop_rung_due(nic) != UINT64_MAX);
	destroy_and_replace(fixture);
	assert_true(fixture_receive(fixture, &frame) < FIXTURE_PLANES);
}

/* ---- changes ---- */

static struct {
	bool there;
	uint32_t loaded, taken;
} hints;

__typeof__(mh_ev_hints_load) __real_mh_ev_hints_load, __wrap_mh_ev_hints_load;
struct mh_ev_hints *__wrap_mh_ev_hints_load(const struct mh_nic *nic)
{
	(void)nic;
	hints.loaded++;
	return hints.there ? malloc(1) : NULL;
}

__typeof__(mh_ev_hints_take) __real_mh_ev_hints_take, __wrap_mh_ev_hints_take;
void __wrap_mh_ev_hints_take(struct mh_nic *nic, struct mt_qp *qp, uint64_t now_ns,
			     const struct mh_ev_hints *found)
{
	(void)nic;
	(void)qp;
	(void)now_ns;
	assert_non_null(found);
	hints.taken++;
}

/* What others know is asked for once, when a QP gets its peer, and taken if it does. */
QP_TEST(mh_qp_modify, takes_hints_when_it_connects)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr = {.state = RD_QPS_RTR};

	memset(&hints, 0, sizeof(hints));
	hints.there = true;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), EINVAL);
	assert_u_eq(hints.loaded, 1);
	assert_u_eq(hints.taken, 0);
	assert_i_eq(fixture_connect(fixture), 0);
	assert_u_eq(hints.loaded, 2);
	assert_u_eq(hints.taken, 1);
	hints.there = false;
	attr.path_mtu = 2048;
	mh_qp_modify(fixture->qp, &attr, RD_QP_PATH_MTU);
	assert_u_eq(hints.loaded, 2);
}

/* What a change makes happen is reported before it returns. */
QP_TEST(mh_qp_modify, reports_what_it_flushes)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr = {.state = RD_QPS_ERR};
	struct rd_recv_wr recv = {.wr_id = 9};
	struct mh_wc wc;

	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_qp_post_recv(fixture->qp, &recv, 1, NULL), 0);
	mh_progress_stop(fixture->dev->nic);
	fixture->dev->nic->progress.sleeps_until_ns = 0;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	assert_u_eq(mh_cq_pop(fixture->cq, 1, &wc), 1);
	assert_u_eq(wc.wr_id, 9);
}

/* A handle of before a fork says what a program gives up: all else is as of a new QP. */
QP_TEST(mh_qp_query, of_a_forked_child)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr, plain;

	memset(&attr, 0xFF, sizeof(attr));
	memset(&plain, 0xFF, sizeof(plain));
	mh_qp_attr_default(&plain);
	plain.state = RD_QPS_ERR;
	fixture->dev->nic->inherited = true;
	mh_qp_query(fixture->qp, &attr);
	fixture->dev->nic->inherited = false;
	assert_memory_equal(&attr, &plain, sizeof(attr));
}

/* What the mask does not name is not looked at. */
QP_TEST(mh_qp_modify, of_what_the_mask_names)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr, plain;

	memset(&attr, 0xFF, sizeof(attr));
	memset(&plain, 0xFF, sizeof(plain));
	mh_qp_attr_default(&attr);
	mt_qp_attr_default(&plain);
	assert_memory_equal(&attr, &plain, sizeof(attr));
	attr.state = (enum rd_qp_state)77;
	attr.path_mtu = 2048;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_PATH_MTU), 0);
}

static char said[512];

static void hear(void *context, enum mrc_log_level level, const char *text)
{
	(void)context;
	(void)level;
	snprintf(said, sizeof(said), "%s", text);
}

/* Where paths are rows, a peer that is in none is named. */
QP_TEST(mh_qp_modify, says_whom_no_row_holds)
{
	struct nic_fixture *fixture = *state;
	struct mh_env *env = &fixture->dev->nic->env;
	struct rd_qp_attr attr = {.path_mtu = 2048, .dest = {{0xFD}}, .dest_qpn = 20};

	assert_i_eq(mrc_log_set(MRC_LOG_ERROR, hear, NULL), 0);
	env->srv6.n_rows = 1;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_PATH_MTU), 0);
	assert_i_eq(fixture_connect(fixture), 0);
	assert_string_equal(said, "");
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_DEST), EINVAL);
	env->srv6.n_rows = 0;
	assert_i_eq(mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL), 0);
	assert_non_null(strstr(said, "no SRv6 path leads to fd00::"));
}

/* All places of both queues are free again, and nothing of before is told. */
QP_TEST(mh_qp_modify, reset_frees_all_places)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr = {.state = RD_QPS_ERR};
	struct rd_recv_wr recv[8] = {0};
	struct rd_send_wr send[8] = {0};
	struct mh_qp_init init = qp_init(fixture);
	struct mh_cq *other;
	struct mh_wc wc;

	assert_i_eq(mh_qp_destroy(fixture->qp), 0);
	assert_i_eq(mh_cq_create(fixture->dev, 8, NULL, NULL, &other), 0);
	init.recv_cq = other;
	init.cap.max_send_wr = init.cap.max_recv_wr = 8;
	assert_i_eq(mh_qp_create(&init, &fixture->qp), 0);
	for (int again = 0; again < 2; again++) {
		assert_i_eq(fixture_connect(fixture), 0);
		attr.state = RD_QPS_ERR;
		assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
		assert_i_eq(mh_qp_post_recv(fixture->qp, recv, 8, NULL), 0);
		assert_i_eq(mh_qp_post_send(fixture->qp, send, 8, NULL), 0);
		attr.state = RD_QPS_RESET;
		assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
		assert_u_eq(mh_cq_pop(fixture->cq, 1, &wc), 0);
		assert_u_eq(mh_cq_pop(other, 1, &wc), 0);
	}
	assert_u_eq(mh_qp_send_wrs_free(fixture->qp), 8);
	destroy_and_replace(fixture);
	assert_i_eq(mh_cq_destroy(other), 0);
}

/* Of datagrams none is half sent; of messages what has begun is waited for. REQ(req.sqd.drained) */
QP_TEST(mh_qp_modify, drained_at_once_or_later)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp_init init = qp_init(fixture);
	struct rd_sge sge = {(uintptr_t)fixture->buffer, 8, mh_mr_lkey(fixture->mr)};
	struct rd_send_wr send = {.sge = &sge, .n_sge = 1, .rkey = 1};
	struct mh_async_event event;
	struct rd_qp_attr attr;
	struct mh_qp *ud;

	fcntl(mh_async_fd(fixture->dev), F_SETFL, O_NONBLOCK);
	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_qp_post_send(fixture->qp, &send, 1, NULL), 0);
	mh_qp_attr_default(&attr);
	attr.state = RD_QPS_SQD;
	attr.sqd_notify = true;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE | RD_QP_SQD_NOTIFY), 0);
	assert_i_eq(mh_async_get(fixture->dev, &event), EAGAIN);
	init.type = MH_QPT_UD;
	assert_i_eq(mh_qp_create(&init, &ud), 0);
	for (enum rd_qp_state to = RD_QPS_INIT; to <= RD_QPS_SQD; to++) {
		uint32_t mask = RD_QP_STATE;

		if (to == RD_QPS_INIT)
			mask |= RD_QP_Q_KEY;
		if (to == RD_QPS_SQD)
			mask |= RD_QP_SQD_NOTIFY;
		assert_i_eq(mh_async_get(fixture->dev, &event), EAGAIN);
		attr.state = to;
		assert_i_eq(mh_qp_modify(ud, &attr, mask), 0);
	}
	assert_i_eq(mh_async_get(fixture->dev, &event), 0);
	assert_u_eq(event.type, MH_ASYNC_SQ_DRAINED);
	assert_ptr_equal(event.qp, ud);
	mh_async_ack(fixture->dev, &event);
	assert_i_eq(mh_qp_destroy(ud), 0);
}
