/* SPDX-License-Identifier: BSD-2-Clause */
/* live_verbs_srq.c - shared receive queues as programs use them. */
#include "live/verbs_fixture.h"

#define SRQ_TEST(function, name) \
	TEST_WITH(verbs_fixture_setup_srq, verbs_fixture_teardown, function, name)

/* Receives of 2 KiB in two pieces, one after the other from the start of QP 1's memory. */
#define RECV_BYTES 2048u

static int post(struct verbs_fixture *r, uint64_t wr_id)
{
	uint32_t at = (uint32_t)(wr_id * RECV_BYTES) % VERBS_FIXTURE_BYTES;
	struct ibv_sge sge[2] = {verbs_fixture_sge(r, 1, at, 100),
				 verbs_fixture_sge(r, 1, at + 100, RECV_BYTES - 100)};
	struct ibv_recv_wr *bad, wr = {.wr_id = wr_id, .sg_list = sge, .num_sge = 2};

	return ibv_post_srq_recv(r->srq, &wr, &bad);
}

static void posts(struct verbs_fixture *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(post(r, i), 0);
}

static void check_recv(struct verbs_fixture *r, const struct ibv_wc *wc, uint32_t bytes)
{
	uint8_t *to = r->memory + VERBS_FIXTURE_BYTES + wc->wr_id * RECV_BYTES;

	assert_int_equal(wc->status, IBV_WC_SUCCESS);
	assert_int_equal(wc->opcode, IBV_WC_RECV);
	assert_u_eq(wc->byte_len, bytes);
	assert_bytes_eq(to, r->memory, bytes);
}

/* REQ(ext.srq.take) */
SRQ_TEST(ibv_post_srq_recv, sends_find_receives)
{
	struct verbs_fixture *r = *state;
	static const uint32_t sizes[] = {2048, 0, 1, 99, 100, 101, 1024, 1025};

	test_rand_bytes(r->memory, RECV_BYTES);
	posts(r, 8);
	for (uint32_t i = 0; i < 8; i++)
		verbs_fixture_send(r, 0, 100 + i, sizes[i]);
	for (uint32_t i = 0; i < 8; i++) {
		struct ibv_wc wc = verbs_fixture_poll(r->cq[1]);

		assert_u_eq(wc.wr_id, i);
		assert_u_eq(wc.qp_num, r->qp[1]->qp_num);
		check_recv(r, &wc, sizes[i]);
		assert_u_eq(verbs_fixture_poll(r->cq[0]).wr_id, 100 + i);
	}
}

/* Both QPs take from it, each for what its peer sends; nothing is used twice or left over. */
SRQ_TEST(ibv_post_srq_recv, two_qps_take_from_one)
{
	struct verbs_fixture *r = *state;
	uint32_t used = 0;

	posts(r, 16);
	for (int i = 0; i < 8; i++) {
		verbs_fixture_send(r, 0, 100, 1500);
		verbs_fixture_send(r, 1, 100, 10);
	}
	for (int n = 0; n < 32; n++) {
		struct ibv_wc wc = verbs_fixture_poll(r->cq[n & 1]);

		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		if (wc.opcode != IBV_WC_RECV)
			continue;
		assert_int_equal(used & 1u << wc.wr_id, 0);
		used |= 1u << wc.wr_id;
		assert_u_eq(wc.byte_len, wc.qp_num == r->qp[1]->qp_num ? 1500 : 10);
	}
	assert_u_eq(used, 0xffff);
}

/* The sender waits while it is empty; a place is free when its receive was polled. */
SRQ_TEST(ibv_post_srq_recv, empty_and_full)
{
	struct verbs_fixture *r = *state;
	struct ibv_wc wc;

	verbs_fixture_send(r, 0, 7, 100);
	assert_int_equal(ibv_poll_cq(r->cq[0], 1, &wc), 0);
	posts(r, VERBS_FIXTURE_DEPTH);
	wc = verbs_fixture_poll(r->cq[1]);
	check_recv(r, &wc, 100);
	assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_SUCCESS);
	assert_int_equal(post(r, 0), 0);
	assert_int_equal(post(r, 0), ENOMEM);
}

/* The immediate of a WRITE takes a receive and leaves its memory alone. */
SRQ_TEST(ibv_post_srq_recv, a_write_with_an_immediate_takes_one)
{
	struct verbs_fixture *r = *state;
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				       .imm_data = htobe32(77),
				       .send_flags = IBV_SEND_SIGNALED};
	struct ibv_wc wc;

	posts(r, 1);
	assert_int_equal(ibv_post_send(r->qp[0], &wr, &bad), 0);
	wc = verbs_fixture_poll(r->cq[1]);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_u_eq(be32toh(wc.imm_data), 77);
	assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_SUCCESS);
}

/* What a receive names is looked at when it is used. REQ(ext.recv.scatter) */
SRQ_TEST(ibv_post_srq_recv, memory_that_is_none)
{
	struct verbs_fixture *r = *state;
	struct ibv_sge sge = verbs_fixture_sge(r, 1, 0, 100);
	struct ibv_recv_wr *bad, wr = {.wr_id = 5, .sg_list = &sge, .num_sge = 1};
	struct ibv_wc wc;

	sge.lkey++;
	assert_int_equal(ibv_post_srq_recv(r->srq, &wr, &bad), 0);
	verbs_fixture_send(r, 0, 6, 100);
	wc = verbs_fixture_poll(r->cq[1]);
	assert_int_equal(wc.status, IBV_WC_LOC_PROT_ERR);
	assert_u_eq(wc.wr_id, 5);
	assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_REM_OP_ERR);
}

/* REQ(ext.srq.limit) */
SRQ_TEST(ibv_modify_srq, limit)
{
	struct verbs_fixture *r = *state;
	struct ibv_srq_attr attr = {.srq_limit = 3};
	struct ibv_async_event event;

	posts(r, 4);
	assert_int_equal(ibv_modify_srq(r->srq, &attr, IBV_SRQ_LIMIT), 0);
	assert_int_equal(ibv_query_srq(r->srq, &attr), 0);
	assert_u_eq(attr.srq_limit, 3);
	assert_u_eq(attr.max_wr, VERBS_FIXTURE_DEPTH);
	assert_u_eq(attr.max_sge, 4);
	for (int i = 0; i < 2; i++)
		verbs_fixture_send(r, 0, 1, 1);
	event = verbs_fixture_event(r);
	assert_int_equal(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(event.element.srq, r->srq);
	ibv_ack_async_event(&event);
	assert_int_equal(ibv_query_srq(r->srq, &attr), 0);
	assert_u_eq(attr.srq_limit, 0);
	attr.srq_limit = VERBS_FIXTURE_DEPTH + 1;
	assert_int_equal(ibv_modify_srq(r->srq, &attr, IBV_SRQ_LIMIT), EINVAL);
	assert_int_equal(ibv_modify_srq(r->srq, &attr, 0), 0);
	attr.srq_limit = VERBS_FIXTURE_DEPTH;
	assert_int_equal(ibv_modify_srq(r->srq, &attr, IBV_SRQ_LIMIT), 0);
	verbs_fixture_send(r, 0, 1, 1);
	event = verbs_fixture_event(r);
	assert_int_equal(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	ibv_ack_async_event(&event);
}

/* A QP that is put to ERR takes no receive any more, and says so. REQ(ext.srq.last) */
SRQ_TEST(ibv_modify_qp, last_wqe_reached)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_async_event event;
	struct ibv_wc wc;

	posts(r, 2);
	assert_int_equal(ibv_modify_qp(r->qp[1], &attr, IBV_QP_STATE), 0);
	event = verbs_fixture_event(r);
	assert_int_equal(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_ptr_equal(event.element.qp, r->qp[1]);
	ibv_ack_async_event(&event);
	assert_int_equal(ibv_poll_cq(r->cq[1], 1, &wc), 0);
	verbs_fixture_send(r, 1, 9, 10);
	wc = verbs_fixture_poll(r->cq[1]);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_u_eq(wc.wr_id, 9);
}

static void refuse(struct verbs_fixture *r, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = max_wr, .max_sge = max_sge}};

	errno = 0;
	assert_null(ibv_create_srq(r->pd, &init));
	assert_int_equal(errno, EINVAL);
}

SRQ_TEST(ibv_create_srq, refusals)
{
	struct verbs_fixture *r = *state;
	struct ibv_device_attr dev;
	struct ibv_recv_wr wr = {0}, *bad = NULL;

	assert_int_equal(ibv_query_device(r->ctx, &dev), 0);
	assert_true(dev.max_srq > 0 && dev.max_srq_wr > 0 && dev.max_srq_sge > 0);
	refuse(r, 0, 1);
	refuse(r, (uint32_t)dev.max_srq_wr + 1, 1);
	refuse(r, 1, (uint32_t)dev.max_srq_sge + 1);
	assert_int_equal(ibv_destroy_srq(r->srq), EBUSY);
	assert_int_equal(ibv_destroy_srq(NULL), EINVAL);
	assert_int_equal(ibv_post_recv(r->qp[0], &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	wr.num_sge = 5;
	wr.sg_list = (struct ibv_sge[5]){{0}};
	assert_int_equal(ibv_post_srq_recv(r->srq, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
}

TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, ibv_create_srq_ex, basic_ones_only)
{
	struct verbs_fixture *r = *state;
	struct ibv_srq_init_attr_ex init = {.attr = {.max_wr = 3, .max_sge = 1},
					    .comp_mask =
						    IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
					    .srq_type = IBV_SRQT_BASIC,
					    .pd = r->pd};
	struct ibv_srq *srq = ibv_create_srq_ex(r->ctx, &init);
	struct ibv_srq_attr granted;

	assert_non_null(srq);
	assert_int_equal(ibv_dealloc_pd(r->pd), EBUSY);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	/* What a basic one does not need is allowed to be there. */
	init.comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
	init.cq = r->cq[0];
	srq = ibv_create_srq_ex(r->ctx, &init);
	assert_non_null(srq);
	assert_int_equal(ibv_query_srq(srq, &granted), 0);
	assert_true(granted.max_wr >= 3);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	init.attr.max_wr = UINT32_MAX;
	assert_null(ibv_create_srq_ex(r->ctx, &init));
	assert_int_equal(errno, EINVAL);
	init.attr.max_wr = 3;
	init.srq_type = IBV_SRQT_TM;
	assert_null(ibv_create_srq_ex(r->ctx, &init));
	assert_int_equal(errno, EOPNOTSUPP);
	init.comp_mask = IBV_SRQ_INIT_ATTR_RESERVED | IBV_SRQ_INIT_ATTR_PD;
	assert_null(ibv_create_srq_ex(r->ctx, &init));
	assert_int_equal(errno, EINVAL);
}

/* Larger and smaller, with what it holds. REQ(api.srq.resize) */
SRQ_TEST(ibv_modify_srq, max_wr)
{
	struct verbs_fixture *r = *state;
	struct ibv_srq_attr attr = {.max_wr = VERBS_FIXTURE_DEPTH * 4, .srq_limit = 1};
	struct ibv_wc wc;

	posts(r, VERBS_FIXTURE_DEPTH);
	assert_int_equal(ibv_modify_srq(r->srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), 0);
	posts(r, VERBS_FIXTURE_DEPTH);
	assert_int_equal(ibv_query_srq(r->srq, &attr), 0);
	assert_u_eq(attr.max_wr, VERBS_FIXTURE_DEPTH * 4);
	attr.max_wr = 2 * VERBS_FIXTURE_DEPTH - 1;
	assert_int_equal(ibv_modify_srq(r->srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
	attr.max_wr = 2 * VERBS_FIXTURE_DEPTH;
	attr.srq_limit = attr.max_wr + 1;
	assert_int_equal(ibv_modify_srq(r->srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), EINVAL);
	assert_int_equal(ibv_query_srq(r->srq, &attr), 0);
	assert_u_eq(attr.max_wr, VERBS_FIXTURE_DEPTH * 4);
	attr.max_wr = 2 * VERBS_FIXTURE_DEPTH;
	assert_int_equal(ibv_modify_srq(r->srq, &attr, IBV_SRQ_MAX_WR), 0);
	for (uint32_t i = 0; i < 10; i++) {
		verbs_fixture_send(r, 0, i, 1);
		wc = verbs_fixture_poll(r->cq[1]);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_SUCCESS);
	}
	attr.max_wr = 0;
	assert_int_equal(ibv_modify_srq(r->srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
}
