/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_uc.c - verbs' UC QPs over real sockets: two of one process, connected to each other.
 * What NCCL's port recovery does with them is tried here, too: empty SENDs with an immediate.
 */
#include "live/verbs_fixture.h"

#include <endian.h>

#define UC_TEST(function, name) TEST_WITH(uc_setup, verbs_fixture_teardown, function, name)
#define TO_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define TO_RTS (IBV_QP_STATE | IBV_QP_SQ_PSN)
#define MTU 1024u
#define MESSAGES 5

static void uc_connect(struct verbs_fixture *r, int i)
{
	struct ibv_qp_attr attr = {.port_num = 1,
				   .qp_access_flags = IBV_ACCESS_LOCAL_WRITE,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = r->qp[1 - i]->qp_num,
				   .ah_attr = {.is_global = 1, .port_num = 1}};

	assert_int_equal(ibv_query_gid(r->ctx, 1, 0, &attr.ah_attr.grh.dgid), 0);
	attr.qp_state = IBV_QPS_INIT;
	assert_int_equal(ibv_modify_qp(r->qp[i], &attr, TO_INIT), 0);
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(r->qp[i], &attr, TO_RTR), 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(r->qp[i], &attr, TO_RTS), 0);
}

/* Two UC QPs in RTS, each the other's peer. */
static int make_both(struct verbs_fixture *r)
{
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr init = verbs_fixture_init(r, i);

		init.qp_type = IBV_QPT_UC;
		init.sq_sig_all = 0;
		r->qp[i] = ibv_create_qp(r->pd, &init);
		if (!r->qp[i])
			return -1;
	}
	for (int i = 0; i < 2; i++)
		uc_connect(r, i);
	return 0;
}

static int uc_setup(void **state)
{
	return verbs_fixture_setup(state) ? -1 : make_both(*state);
}

/* As above; both take their receives from one SRQ. */
static int uc_srq_setup(void **state)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = MESSAGES, .max_sge = 1}};
	struct verbs_fixture *r;

	if (verbs_fixture_setup(state))
		return -1;
	r = *state;
	r->srq = ibv_create_srq(r->pd, &init);
	return r->srq ? make_both(r) : -1;
}

static void post_recv(struct verbs_fixture *r, int i, uint32_t bytes)
{
	struct ibv_sge sge = verbs_fixture_sge(r, i, 0, bytes);
	struct ibv_recv_wr *bad,
		wr = {.wr_id = bytes, .sg_list = bytes ? &sge : NULL, .num_sge = bytes ? 1 : 0};

	assert_int_equal(ibv_post_recv(r->qp[i], &wr, &bad), 0);
}

static int post_send(struct verbs_fixture *r, int i, enum ibv_wr_opcode opcode, uint32_t bytes)
{
	struct ibv_sge sge = verbs_fixture_sge(r, i, 0, bytes);
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = opcode,
				       .send_flags = IBV_SEND_SIGNALED};

	return ibv_post_send(r->qp[i], &wr, &bad);
}

/* A list of which the last one is signalled; they come in order, for they follow each other. */
UC_TEST(ibv_post_send, a_list_of_immediates)
{
	struct verbs_fixture *r = *state;
	struct ibv_send_wr wrs[MESSAGES], *bad;
	struct ibv_wc wc;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		post_recv(r, 1, 0);
		wrs[i] = (struct ibv_send_wr){
			.wr_id = i,
			.next = i + 1 < MESSAGES ? &wrs[i + 1] : NULL,
			.opcode = IBV_WR_SEND_WITH_IMM,
			.send_flags = i + 1 < MESSAGES ? 0 : IBV_SEND_SIGNALED,
			.imm_data = htobe32(i),
		};
	}
	assert_int_equal(ibv_post_send(r->qp[0], wrs, &bad), 0);
	wc = verbs_fixture_poll(r->cq[0]);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_SEND);
	assert_u_eq(wc.wr_id, MESSAGES - 1);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		wc = verbs_fixture_poll(r->cq[1]);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, IBV_WC_RECV);
		assert_u_eq(wc.wc_flags, IBV_WC_WITH_IMM);
		assert_u_eq(be32toh(wc.imm_data), i);
		assert_u_eq(wc.byte_len, 0);
	}
}

/* No GRH comes before the bytes, and a message of the path MTU is the longest. */
UC_TEST(ibv_post_send, up_to_the_path_mtu)
{
	struct verbs_fixture *r = *state;
	struct ibv_wc wc;

	test_rand_bytes(r->memory, MTU);
	post_recv(r, 1, MTU);
	assert_int_equal(post_send(r, 0, IBV_WR_SEND, MTU + 1), EINVAL);
	assert_int_equal(post_send(r, 0, IBV_WR_SEND, MTU), 0);
	assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_SUCCESS);
	wc = verbs_fixture_poll(r->cq[1]);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_u_eq(wc.byte_len, MTU);
	assert_u_eq(wc.wc_flags, 0);
	assert_bytes_eq(r->memory + VERBS_FIXTURE_BYTES, r->memory, MTU);
}

/* WRITE is an operation of UC that the device has not; READ is none of UC's. */
UC_TEST(ibv_post_send, refusals)
{
	struct verbs_fixture *r = *state;

	assert_int_equal(post_send(r, 0, IBV_WR_RDMA_WRITE, 8), EOPNOTSUPP);
	assert_int_equal(post_send(r, 0, IBV_WR_RDMA_WRITE_WITH_IMM, 8), EOPNOTSUPP);
	assert_int_equal(post_send(r, 0, IBV_WR_RDMA_READ, 8), EINVAL);
	assert_int_equal(post_send(r, 0, IBV_WR_ATOMIC_FETCH_AND_ADD, 8), EINVAL);
}

/*
 * Without a receive a message is gone, and the QPs live on. The first receive may still be there in
 * time for it; the second one is not.
 */
UC_TEST(ibv_post_recv, what_comes_before_it_is_lost)
{
	struct verbs_fixture *r = *state;
	struct ibv_wc wc = {0};

	assert_int_equal(post_send(r, 0, IBV_WR_SEND, 8), 0);
	assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_SUCCESS);
	for (int tries = 0; tries < 2 && wc.byte_len != 16; tries++) {
		post_recv(r, 1, 16);
		assert_int_equal(post_send(r, 0, IBV_WR_SEND, 16), 0);
		assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_SUCCESS);
		wc = verbs_fixture_poll(r->cq[1]);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
	}
	assert_u_eq(wc.byte_len, 16);
}

/* REQ(uc.states) */
UC_TEST(ibv_query_qp, says_what_was_set)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	assert_int_equal(ibv_query_qp(r->qp[0], &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	assert_int_equal(attr.path_mtu, IBV_MTU_1024);
	assert_u_eq(attr.dest_qp_num, r->qp[1]->qp_num);
	assert_u_eq(attr.qkey, 0);
	assert_int_equal(init.qp_type, IBV_QPT_UC);
	attr.qp_state = IBV_QPS_RTS;
	attr.min_rnr_timer = 1;
	assert_int_equal(ibv_modify_qp(r->qp[0], &attr, IBV_QP_MIN_RNR_TIMER), EINVAL);
}

/* The list of operations of an extended one has SENDs and nothing else. */
UC_TEST(ibv_create_qp_ex, sends_only)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_init_attr_ex init =
		verbs_fixture_init_ex(r, 0, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM);
	struct ibv_qp *qp;

	init.qp_type = IBV_QPT_UC;
	qp = ibv_create_qp_ex(r->ctx, &init);
	assert_non_null(qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	init.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE;
	errno = 0;
	assert_null(ibv_create_qp_ex(r->ctx, &init));
	assert_int_equal(errno, EOPNOTSUPP);
}

static uint8_t *memory_of(const struct verbs_fixture *r, int i)
{
	return r->memory + (size_t)i * VERBS_FIXTURE_BYTES;
}

/* Where the SRQ's receives put their bytes: in QP 0's memory, behind what is sent. */
static uint32_t srq_place(uint64_t wr_id)
{
	return VERBS_FIXTURE_BYTES / 2 + 64 * (uint32_t)wr_id;
}

static void post_srq_recv(struct verbs_fixture *r, uint64_t wr_id)
{
	struct ibv_sge sge = verbs_fixture_sge(r, 0, srq_place(wr_id), 64);
	struct ibv_recv_wr *bad, wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};

	assert_int_equal(ibv_post_srq_recv(r->srq, &wr, &bad), 0);
}

/* Each takes one of the SRQ for what its peer sends, and none has receives of its own. */
TEST_WITH(uc_srq_setup, verbs_fixture_teardown, ibv_post_srq_recv, both_take_from_one)
{
	struct verbs_fixture *r = *state;
	struct ibv_recv_wr *bad, wr = {0};

	for (int i = 0; i < 2; i++) {
		test_rand_bytes(memory_of(r, i), 64);
		assert_int_equal(ibv_post_recv(r->qp[i], &wr, &bad), EINVAL);
	}
	for (uint32_t i = 0; i < MESSAGES - 1; i++) {
		int from = (int)i % 2;
		struct ibv_wc wc;

		post_srq_recv(r, i);
		assert_int_equal(post_send(r, from, IBV_WR_SEND, 32 + i), 0);
		assert_int_equal(verbs_fixture_poll(r->cq[from]).opcode, IBV_WC_SEND);
		wc = verbs_fixture_poll(r->cq[!from]);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, IBV_WC_RECV);
		assert_u_eq(wc.qp_num, r->qp[!from]->qp_num);
		assert_u_eq(wc.wr_id, i);
		assert_u_eq(wc.byte_len, 32 + i);
		assert_bytes_eq(r->memory + srq_place(i), memory_of(r, from), 32 + i);
	}
}

/* A program that waits for the receives of a QP that has ended must not wait for ever. */
TEST_WITH(uc_srq_setup, verbs_fixture_teardown, ibv_modify_qp, last_wqe_reached)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_async_event event;

	assert_int_equal(ibv_modify_qp(r->qp[0], &attr, IBV_QP_STATE), 0);
	event = verbs_fixture_event(r);
	assert_int_equal(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_ptr_equal(event.element.qp, r->qp[0]);
	ibv_ack_async_event(&event);
}
