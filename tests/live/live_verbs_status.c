/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_status.c - how work fails, at both ends: which status the work at fault has, that what
 * was posted behind it is flushed, and that times are those that the QP asked for.
 */
#include "live/verbs_fixture.h"

#include <stdlib.h>
#include <time.h>

#define ACCESS ((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000;
}

static void connect_both(struct verbs_fixture *r, const struct verbs_fixture_patience *p)
{
	verbs_fixture_make(r);
	for (int i = 0; i < 2; i++)
		verbs_fixture_connect_patient(r, i, ACCESS, p);
}

static void post_recv(struct verbs_fixture *r, int i, uint64_t wr_id, uint32_t bytes)
{
	struct ibv_sge sge = verbs_fixture_sge(r, i, 0, bytes);
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(r->qp[i], &wr, &bad), 0);
}

static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc = verbs_fixture_poll(cq);

	if (wc.wr_id != wr_id || wc.status != status)
		fail_msg("%llu: %s; want %llu: %s", (unsigned long long)wc.wr_id,
			 ibv_wc_status_str(wc.status), (unsigned long long)wr_id,
			 ibv_wc_status_str(status));
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

#define STATUS_TEST(name) \
	TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, ibv_wc_status, name)

/* How long a peer that is gone goes unnoticed; no machine makes that shorter than was asked for. */
static uint64_t silence_us(struct verbs_fixture *r, const struct verbs_fixture_patience *p)
{
	uint64_t begin;

	connect_both(r, p);
	assert_int_equal(ibv_destroy_qp(r->qp[1]), 0);
	r->qp[1] = NULL;
	begin = now_us();
	verbs_fixture_write(r, 0, 1, 100);
	verbs_fixture_write(r, 0, 2, 100);
	expect(r->cq[0], 1, IBV_WC_RETRY_EXC_ERR);
	begin = now_us() - begin;
	expect(r->cq[0], 2, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(state_of(r->qp[0]), IBV_QPS_ERR);
	assert_int_equal(ibv_destroy_qp(r->qp[0]), 0);
	r->qp[0] = NULL;
	return begin;
}

/* 4.096 us x 2^15 is 134 ms, 2^17 is 537 ms. REQ(req.retry.linear-exp) */
STATUS_TEST(retry_exceeded_after_timeout_and_retry_cnt)
{
	const struct verbs_fixture_patience once = {.timeout = 15, .retry_cnt = 0, .rnr_retry = 7},
					    thrice = {.timeout = 15,
						      .retry_cnt = 2,
						      .rnr_retry = 7},
					    longer = {
						    .timeout = 17, .retry_cnt = 0, .rnr_retry = 7};

	assert_u_between(silence_us(*state, &once), 134000, 20000000);
	assert_u_between(silence_us(*state, &thrice), 3 * 134000, 20000000);
	assert_u_between(silence_us(*state, &longer), 536000, 20000000);
}

/* Code 22 is 20.48 ms. REQ(ext.rnr.nack) */
STATUS_TEST(rnr_retry_exceeded_after_so_many_waits)
{
	const struct verbs_fixture_patience p = {
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 3, .min_rnr_timer = 22};
	struct verbs_fixture *r = *state;
	uint64_t begin;

	connect_both(r, &p);
	begin = now_us();
	verbs_fixture_send(r, 0, 1, 100);
	verbs_fixture_send(r, 0, 2, 100);
	expect(r->cq[0], 1, IBV_WC_RNR_RETRY_EXC_ERR);
	assert_u_between(now_us() - begin, 3 * 20480, 20000000);
	expect(r->cq[0], 2, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(state_of(r->qp[0]), IBV_QPS_ERR);
	assert_int_equal(state_of(r->qp[1]), IBV_QPS_RTS); /* it was only not ready */
}

/* Longer than all of retry_cnt, and than six waits. */
STATUS_TEST(rnr_retry_of_seven_waits_for_ever)
{
	const struct verbs_fixture_patience p = {
		.timeout = 13, .retry_cnt = 1, .rnr_retry = 7, .min_rnr_timer = 20};
	const struct timespec pause = {.tv_nsec = 300000000};
	struct verbs_fixture *r = *state;
	struct ibv_wc wc;

	connect_both(r, &p);
	verbs_fixture_send(r, 0, 1, 100);
	nanosleep(&pause, NULL);
	assert_int_equal(ibv_poll_cq(r->cq[0], 1, &wc), 0);
	post_recv(r, 1, 9, 100);
	expect(r->cq[1], 9, IBV_WC_SUCCESS);
	expect(r->cq[0], 1, IBV_WC_SUCCESS);
}

/* What a requester has done wrong stops the responder, too. */
static void fail_both(struct verbs_fixture *r, enum ibv_wc_status requester)
{
	verbs_fixture_send(r, 0, 2, 10);
	expect(r->cq[0], 1, requester);
	expect(r->cq[0], 2, IBV_WC_WR_FLUSH_ERR);
	for (int i = 0; i < 2; i++)
		assert_int_equal(state_of(r->qp[i]), IBV_QPS_ERR);
}

STATUS_TEST(access_error_flushes_the_responders_receives)
{
	const struct verbs_fixture_patience p = {
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1};
	struct verbs_fixture *r = *state;
	struct ibv_sge sge = verbs_fixture_sge(r, 0, 0, 100);
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	connect_both(r, &p);
	post_recv(r, 1, 7, 100);
	post_recv(r, 1, 8, 100);
	wr.wr.rdma.rkey = r->mr->rkey;
	wr.wr.rdma.remote_addr =
		(uintptr_t)r->memory + 2 * VERBS_FIXTURE_BYTES - 99; /* one too far */
	assert_int_equal(ibv_post_send(r->qp[0], &wr, &bad), 0);
	fail_both(r, IBV_WC_REM_ACCESS_ERR);
	expect(r->cq[1], 7, IBV_WC_WR_FLUSH_ERR);
	expect(r->cq[1], 8, IBV_WC_WR_FLUSH_ERR);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(r->memory[VERBS_FIXTURE_BYTES + i], 0);
}

STATUS_TEST(a_send_too_long_is_told_at_both_ends)
{
	const struct verbs_fixture_patience p = {
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1};
	struct verbs_fixture *r = *state;

	connect_both(r, &p);
	post_recv(r, 1, 7, 99);
	post_recv(r, 1, 8, 100);
	verbs_fixture_send(r, 0, 1, 100);
	fail_both(r, IBV_WC_REM_INV_REQ_ERR);
	expect(r->cq[1], 7, IBV_WC_LOC_LEN_ERR);
	expect(r->cq[1], 8, IBV_WC_WR_FLUSH_ERR);
}

/* Each end by itself: what was posted before, and what is posted later. */
STATUS_TEST(flush_of_all_that_is_posted_in_err)
{
	const struct verbs_fixture_patience p = {
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1};
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	struct verbs_fixture *r = *state;

	connect_both(r, &p);
	post_recv(r, 0, 5, 10);
	assert_int_equal(ibv_modify_qp(r->qp[0], &err, IBV_QP_STATE), 0);
	post_recv(r, 0, 6, 10);
	expect(r->cq[0], 5, IBV_WC_WR_FLUSH_ERR);
	expect(r->cq[0], 6, IBV_WC_WR_FLUSH_ERR);
	verbs_fixture_write(r, 0, 7, 10);
	expect(r->cq[0], 7, IBV_WC_WR_FLUSH_ERR);
}

/* The end of a message comes last, but what is asked is the order of all its bytes. */
STATUS_TEST(data_is_not_in_order)
{
	const struct verbs_fixture_patience p = {
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1};
	struct verbs_fixture *r = *state;

	connect_both(r, &p);
	assert_int_equal(ibv_query_qp_data_in_order(r->qp[0], IBV_WR_RDMA_WRITE, 0), 0);
	assert_int_equal(ibv_query_qp_data_in_order(r->qp[0], IBV_WR_SEND, 0), 0);
}
