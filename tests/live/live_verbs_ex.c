/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_ex.c - extended QPs, whose WRs are built by calls, and extended CQs, whose completions
 * are read field by field.
 */
#include "live/verbs_fixture.h"

#define OPS                                                                                   \
	((uint64_t)IBV_QP_EX_WITH_RDMA_WRITE | (uint64_t)IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
	 (uint64_t)IBV_QP_EX_WITH_SEND | (uint64_t)IBV_QP_EX_WITH_SEND_WITH_IMM)
#define TIMES                                            \
	((uint64_t)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
	 (uint64_t)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

/* Both QPs are extended; the CQ of the first one is as well. */
static int setup(void **state)
{
	struct ibv_cq_init_attr_ex cq_init = {.cqe = 4 * VERBS_FIXTURE_DEPTH,
					      .wc_flags = IBV_WC_STANDARD_FLAGS | TIMES};
	struct verbs_fixture *r;

	verbs_fixture_setup(state);
	r = *state;
	assert_int_equal(ibv_destroy_cq(r->cq[0]), 0);
	r->cq[0] = ibv_cq_ex_to_cq(ibv_create_cq_ex(r->ctx, &cq_init));
	assert_non_null(r->cq[0]);
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr_ex init = verbs_fixture_init_ex(r, i, OPS);

		r->qp[i] = ibv_create_qp_ex(r->ctx, &init);
		assert_non_null(r->qp[i]);
	}
	verbs_fixture_qps(r);
	return 0;
}

#define EX_TEST(function, name) TEST_WITH(setup, verbs_fixture_teardown, function, name)

static struct ibv_qp_ex *start(struct verbs_fixture *r, uint64_t wr_id)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(r->qp[0]);

	assert_non_null(qp);
	ibv_wr_start(qp);
	qp->wr_id = wr_id;
	qp->wr_flags = IBV_SEND_SIGNALED;
	return qp;
}

static void recvs(struct verbs_fixture *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ibv_sge sge = verbs_fixture_sge(r, 1, i * 1024, 1024);
		struct ibv_recv_wr *bad, wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		assert_int_equal(ibv_post_recv(r->qp[1], &wr, &bad), 0);
	}
}

static void check_next(struct verbs_fixture *r, uint64_t wr_id, enum ibv_wc_opcode opcode)
{
	struct ibv_cq_ex *cq = verbs_fixture_start_poll(r->cq[0]);

	assert_int_equal(cq->status, IBV_WC_SUCCESS);
	assert_u_eq(cq->wr_id, wr_id);
	assert_int_equal(ibv_wc_read_opcode(cq), opcode);
	assert_u_eq(ibv_wc_read_qp_num(cq), r->qp[0]->qp_num);
	ibv_end_poll(cq);
}

EX_TEST(ibv_wr_complete, one_of_each)
{
	struct verbs_fixture *r = *state;
	struct ibv_sge list[2] = {verbs_fixture_sge(r, 0, 0, 600),
				  verbs_fixture_sge(r, 0, 600, 400)};
	struct ibv_sge to = verbs_fixture_sge(r, 1, 8192, 0);
	struct ibv_qp_ex *qp;

	test_rand_bytes(r->memory, 8192);
	recvs(r, 3);
	qp = start(r, 1);
	ibv_wr_rdma_write(qp, r->mr->rkey, to.addr);
	ibv_wr_set_sge(qp, r->mr->lkey, list[0].addr, 4000);
	qp->wr_id = 2;
	ibv_wr_rdma_write_imm(qp, r->mr->rkey, to.addr + 4000, htobe32(22));
	ibv_wr_set_sge(qp, r->mr->lkey, list[0].addr + 4000, 4000);
	qp->wr_id = 3;
	ibv_wr_send(qp);
	ibv_wr_set_sge_list(qp, 2, list);
	qp->wr_id = 4;
	ibv_wr_send_imm(qp, htobe32(44));
	ibv_wr_set_sge_list(qp, 0, NULL);
	assert_int_equal(ibv_wr_complete(qp), 0);
	check_next(r, 1, IBV_WC_RDMA_WRITE);
	check_next(r, 2, IBV_WC_RDMA_WRITE);
	check_next(r, 3, IBV_WC_SEND);
	check_next(r, 4, IBV_WC_SEND);
	assert_u_eq(be32toh(verbs_fixture_poll(r->cq[1]).imm_data), 22);
	assert_u_eq(verbs_fixture_poll(r->cq[1]).byte_len, 1000);
	assert_u_eq(be32toh(verbs_fixture_poll(r->cq[1]).imm_data), 44);
	assert_bytes_eq(r->memory + VERBS_FIXTURE_BYTES + 8192, r->memory, 8000);
	assert_bytes_eq(r->memory + VERBS_FIXTURE_BYTES + 1024, r->memory, 1000);
}

/* Inline bytes may change as soon as they are named. */
EX_TEST(ibv_wr_set_inline_data, is_copied_at_once)
{
	struct verbs_fixture *r = *state;
	char first[] = "first", second[] = "second";
	struct ibv_data_buf list[2] = {{first, 5}, {second, 7}};
	struct ibv_qp_ex *qp;

	recvs(r, 2);
	qp = start(r, 1);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, first, 6);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data_list(qp, 2, list);
	memset(first, 'x', 5);
	memset(second, 'x', 6);
	assert_int_equal(ibv_wr_complete(qp), 0);
	assert_u_eq(verbs_fixture_poll(r->cq[1]).byte_len, 6);
	assert_u_eq(verbs_fixture_poll(r->cq[1]).byte_len, 12);
	assert_string_equal((char *)r->memory + VERBS_FIXTURE_BYTES, "first");
	assert_string_equal((char *)r->memory + VERBS_FIXTURE_BYTES + 1024, "firstsecond");
}

/* All of a batch or nothing: whatever was wrong, and wherever. */
EX_TEST(ibv_wr_complete, a_batch_that_is_wrong)
{
	struct verbs_fixture *r = *state;
	struct ibv_sge list[5] = {{0}};
	uint8_t bytes[65] = {0};
	struct ibv_qp_ex *qp = start(r, 1);

	ibv_wr_send(qp);
	ibv_wr_set_sge_list(qp, 5, list); /* too many */
	ibv_wr_send(qp);
	assert_int_equal(ibv_wr_complete(qp), EINVAL);
	qp = start(r, 1);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, bytes, sizeof(bytes)); /* too long */
	assert_int_equal(ibv_wr_complete(qp), EINVAL);
	qp = start(r, 1);
	ibv_wr_rdma_read(qp, 0, 0); /* not asked for */
	ibv_wr_set_sge(qp, 0, 0, 0);
	assert_int_equal(ibv_wr_complete(qp), EINVAL);
	qp = start(r, 1);
	ibv_wr_set_sge(qp, 0, 0, 0); /* of nothing */
	assert_int_equal(ibv_wr_complete(qp), EINVAL);
	qp = start(r, 1);
	ibv_wr_send_tso(qp, bytes, 1, 1); /* never there */
	assert_int_equal(ibv_wr_complete(qp), EOPNOTSUPP);
	qp = start(r, 1);
	for (uint32_t i = 0; i <= VERBS_FIXTURE_DEPTH; i++)
		ibv_wr_send(qp); /* more than there is room for */
	assert_int_equal(ibv_wr_complete(qp), ENOMEM);
	assert_int_equal(ibv_start_poll((struct ibv_cq_ex *)r->cq[0], NULL), ENOENT);
}

EX_TEST(ibv_wr_abort, forgets)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_ex *qp = start(r, 1);

	recvs(r, 1);
	ibv_wr_send(qp);
	ibv_wr_abort(qp);
	qp = start(r, 2);
	assert_int_equal(ibv_wr_complete(qp), 0); /* nothing at all */
	qp = start(r, 3);
	ibv_wr_send(qp);
	assert_int_equal(ibv_wr_complete(qp), 0);
	check_next(r, 3, IBV_WC_SEND);
}

/* The room of a full queue comes back with what is polled. */
EX_TEST(ibv_wr_complete, until_the_queue_is_full)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_ex *qp = start(r, 0);

	for (uint32_t i = 0; i < VERBS_FIXTURE_DEPTH; i++)
		ibv_wr_rdma_write(qp, 0, 0);
	assert_int_equal(ibv_wr_complete(qp), 0);
	qp = start(r, 0);
	ibv_wr_rdma_write(qp, 0, 0);
	assert_int_equal(ibv_wr_complete(qp), ENOMEM);
	check_next(r, 0, IBV_WC_RDMA_WRITE);
	qp = start(r, 0);
	ibv_wr_rdma_write(qp, 0, 0);
	assert_int_equal(ibv_wr_complete(qp), 0);
}

static void refuse_qp(struct verbs_fixture *r, struct ibv_qp_init_attr_ex init, int err)
{
	errno = 0;
	assert_null(ibv_create_qp_ex(r->ctx, &init));
	assert_int_equal(errno, err);
}

TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, ibv_create_qp_ex, refusals)
{
	static const uint64_t absent[] = {IBV_QP_EX_WITH_TSO};
	struct verbs_fixture *r = *state;
	struct ibv_qp_init_attr_ex init = verbs_fixture_init_ex(r, 0, OPS);

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		init.send_ops_flags = OPS | absent[i];
		refuse_qp(r, init, EOPNOTSUPP);
	}
	init.send_ops_flags = 1u << 11;
	refuse_qp(r, init, EINVAL);
	init = verbs_fixture_init_ex(r, 0, OPS);
	init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	init.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	refuse_qp(r, init, EOPNOTSUPP);
	init = verbs_fixture_init_ex(r, 0, OPS);
	init.comp_mask |= IBV_QP_INIT_ATTR_RX_HASH;
	refuse_qp(r, init, EOPNOTSUPP);
	init.comp_mask = 1u << 7;
	refuse_qp(r, init, EINVAL);
	init.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	refuse_qp(r, init, EINVAL); /* no PD */
	init = verbs_fixture_init_ex(r, 0, OPS);
	init.qp_type = IBV_QPT_RAW_PACKET;
	refuse_qp(r, init, EOPNOTSUPP);
}

/* A QP that was made without a list of operations has no calls that build WRs. */
TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, ibv_qp_to_qp_ex, only_of_extended_ones)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_init_attr_ex init = verbs_fixture_init_ex(r, 0, OPS);

	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	r->qp[0] = ibv_create_qp_ex(r->ctx, &init);
	assert_non_null(r->qp[0]);
	assert_null(ibv_qp_to_qp_ex(r->qp[0]));
	assert_null(ibv_qp_to_qp_ex(NULL));
	assert_true(init.cap.max_send_wr >= VERBS_FIXTURE_DEPTH);
}

/* ---- extended CQs ---- */

EX_TEST(ibv_start_poll, fields_of_a_receive)
{
	struct verbs_fixture *r = *state;
	struct ibv_sge sge = verbs_fixture_sge(r, 1, 0, 10);
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND_WITH_IMM,
				       .imm_data = htobe32(99),
				       .sg_list = &sge,
				       .num_sge = 1};
	struct ibv_recv_wr *bad_recv, recv = {.wr_id = 7, .num_sge = 1};
	struct ibv_sge to = verbs_fixture_sge(r, 0, 0, 100);
	struct ibv_cq_ex *cq;

	recv.sg_list = &to;
	assert_int_equal(ibv_post_recv(r->qp[0], &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_send(r->qp[1], &wr, &bad), 0);
	cq = verbs_fixture_start_poll(r->cq[0]);
	assert_u_eq(cq->wr_id, 7);
	assert_int_equal(ibv_wc_read_opcode(cq), IBV_WC_RECV);
	assert_u_eq(ibv_wc_read_byte_len(cq), 10);
	assert_u_eq(be32toh(ibv_wc_read_imm_data(cq)), 99);
	assert_u_eq(ibv_wc_read_wc_flags(cq), IBV_WC_WITH_IMM);
	assert_u_eq(ibv_wc_read_qp_num(cq), r->qp[0]->qp_num);
	assert_u_eq(ibv_wc_read_vendor_err(cq), 0);
	assert_u_eq(ibv_wc_read_slid(cq), 0);
	assert_u_eq(ibv_wc_read_sl(cq), 0);
	assert_u_eq(ibv_wc_read_dlid_path_bits(cq), 0);
	assert_int_equal(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Times lie between those before the WR was posted and after it was polled, and grow. */
EX_TEST(ibv_wc_read_completion_ts, real_times)
{
	struct verbs_fixture *r = *state;
	uint64_t last = clock_ns(CLOCK_MONOTONIC), wall = clock_ns(CLOCK_REALTIME);

	for (int i = 0; i < 10; i++) {
		struct ibv_cq_ex *cq;
		uint64_t at;

		verbs_fixture_write(r, 0, 1, 100);
		cq = verbs_fixture_start_poll(r->cq[0]);
		at = ibv_wc_read_completion_ts(cq);
		assert_true(at >= last && at <= clock_ns(CLOCK_MONOTONIC));
		assert_true(ibv_wc_read_completion_wallclock_ns(cq) >= wall);
		last = at;
		ibv_end_poll(cq);
	}
}

static void refuse_cq(struct verbs_fixture *r, struct ibv_cq_init_attr_ex init, int err)
{
	errno = 0;
	assert_null(ibv_create_cq_ex(r->ctx, &init));
	assert_int_equal(errno, err);
}

TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, ibv_create_cq_ex, refusals)
{
	struct verbs_fixture *r = *state;
	struct ibv_cq_init_attr_ex init = {.cqe = 1};

	init.wc_flags = IBV_WC_EX_WITH_CVLAN;
	refuse_cq(r, init, EOPNOTSUPP);
	init.wc_flags = IBV_WC_EX_WITH_TM_INFO;
	refuse_cq(r, init, EOPNOTSUPP);
	init.wc_flags = 1u << 20;
	refuse_cq(r, init, EOPNOTSUPP);
	init = (struct ibv_cq_init_attr_ex){.cqe = 0};
	refuse_cq(r, init, EINVAL);
	init = (struct ibv_cq_init_attr_ex){.cqe = 1, .comp_vector = 1};
	refuse_cq(r, init, EINVAL);
	init = (struct ibv_cq_init_attr_ex){.cqe = 1, .comp_mask = 4};
	refuse_cq(r, init, EINVAL);
	init = (struct ibv_cq_init_attr_ex){.cqe = 1,
					    .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					    .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN};
	refuse_cq(r, init, EOPNOTSUPP);
}

TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, ibv_create_cq_ex, of_one_thread)
{
	struct verbs_fixture *r = *state;
	struct ibv_cq_init_attr_ex init = {.cqe = 1,
					   .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					   .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(r->ctx, &init);
	struct ibv_poll_cq_attr attr = {.comp_mask = 1};

	assert_non_null(cq);
	assert_int_equal(ibv_start_poll(cq, &attr), EINVAL);
	assert_int_equal(ibv_start_poll(cq, NULL), ENOENT);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}
