/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_ops.c - the rarer operations of extended QPs: atomics, windows that are bound and made
 * invalid, datagrams, and what the device has not. One of each, seen at the peer.
 */
#include "live/verbs_fixture.h"

#define PEERS                                                              \
	((unsigned int)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE))
#define OPS                                                                                 \
	((uint64_t)IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |                                      \
	 (uint64_t)IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | (uint64_t)IBV_QP_EX_WITH_BIND_MW | \
	 (uint64_t)IBV_QP_EX_WITH_LOCAL_INV | (uint64_t)IBV_QP_EX_WITH_RDMA_READ |          \
	 (uint64_t)IBV_QP_EX_WITH_SEND_WITH_INV | (uint64_t)IBV_QP_EX_WITH_ATOMIC_WRITE)
#define Q_KEY 0x11111111u
#define GRH 40u

static int setup(void **state)
{
	struct verbs_fixture *r;

	verbs_fixture_setup(state);
	r = *state;
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr_ex init = verbs_fixture_init_ex(r, i, OPS);

		r->qp[i] = ibv_create_qp_ex(r->ctx, &init);
		assert_non_null(r->qp[i]);
	}
	for (int i = 0; i < 2; i++)
		verbs_fixture_connect(r, i, PEERS);
	return 0;
}

#define OPS_TEST(function, name) TEST_WITH(setup, verbs_fixture_teardown, function, name)

static struct ibv_qp_ex *start(struct verbs_fixture *r, int i, uint64_t wr_id)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(r->qp[i]);

	assert_non_null(qp);
	ibv_wr_start(qp);
	qp->wr_id = wr_id;
	qp->wr_flags = IBV_SEND_SIGNALED;
	return qp;
}

/* The batch is well, and its only WR ends so. */
static void expect(struct verbs_fixture *r, int i, struct ibv_qp_ex *qp, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	assert_int_equal(ibv_wr_complete(qp), 0);
	wc = verbs_fixture_poll(r->cq[i]);
	assert_u_eq(wc.wr_id, qp->wr_id);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, opcode);
}

/* Eight bytes of QP i's memory, as this processor has them. */
static uint64_t word(const struct verbs_fixture *r, int i, uint32_t offset)
{
	uint64_t n;

	memcpy(&n, r->memory + (size_t)i * VERBS_FIXTURE_BYTES + offset, sizeof(n));
	return n;
}

static void set_word(struct verbs_fixture *r, int i, uint32_t offset, uint64_t n)
{
	memcpy(r->memory + (size_t)i * VERBS_FIXTURE_BYTES + offset, &n, sizeof(n));
}

OPS_TEST(ibv_wr_atomic_cmp_swp, swaps_what_is_equal)
{
	struct verbs_fixture *r = *state;
	struct ibv_sge old = verbs_fixture_sge(r, 0, 0, 8);
	uint64_t at = verbs_fixture_sge(r, 1, 64, 8).addr;
	struct ibv_qp_ex *qp;

	set_word(r, 1, 64, 5);
	for (int round = 0; round < 2; round++) {
		qp = start(r, 0, 1);
		ibv_wr_atomic_cmp_swp(qp, r->mr->rkey, at, 5, 9);
		ibv_wr_set_sge(qp, old.lkey, old.addr, old.length);
		expect(r, 0, qp, IBV_WC_COMP_SWAP);
		assert_u_eq(word(r, 0, 0), round ? 9 : 5);
		assert_u_eq(word(r, 1, 64), 9);
		set_word(r, 0, 0, 0);
	}
}

OPS_TEST(ibv_wr_atomic_fetch_add, adds_and_tells_what_was_there)
{
	struct verbs_fixture *r = *state;
	struct ibv_sge old = verbs_fixture_sge(r, 0, 0, 8);
	struct ibv_qp_ex *qp = start(r, 0, 2);

	set_word(r, 1, 64, 40);
	ibv_wr_atomic_fetch_add(qp, r->mr->rkey, verbs_fixture_sge(r, 1, 64, 8).addr, 2);
	ibv_wr_set_sge(qp, old.lkey, old.addr, old.length);
	expect(r, 0, qp, IBV_WC_FETCH_ADD);
	assert_u_eq(word(r, 0, 0), 40);
	assert_u_eq(word(r, 1, 64), 42);
}

/* Its eight bytes travel with the call. */
OPS_TEST(ibv_wr_atomic_write, of_bytes_that_change_at_once)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_ex *qp = start(r, 0, 3);
	uint64_t value = 0x1122334455667788;
	struct ibv_sge back = verbs_fixture_sge(r, 0, 0, 8);
	uint64_t at = verbs_fixture_sge(r, 1, 64, 8).addr;

	ibv_wr_atomic_write(qp, r->mr->rkey, at, &value);
	value = 0;
	expect(r, 0, qp, IBV_WC_ATOMIC_WRITE);
	assert_u_eq(word(r, 1, 64), 0x1122334455667788);
	qp = start(r, 0, 4);
	ibv_wr_rdma_read(qp, r->mr->rkey, at);
	ibv_wr_set_sge(qp, back.lkey, back.addr, back.length);
	expect(r, 0, qp, IBV_WC_RDMA_READ);
	assert_u_eq(word(r, 0, 0), 0x1122334455667788);
}

/* ---- windows ---- */

/* Binds a window to all of QP 1's memory; returns the key that the peer writes by. */
static uint32_t bind(struct verbs_fixture *r, struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_mw_bind_info info = {.mr = mr,
					.addr = (uintptr_t)mr->addr,
					.length = mr->length,
					.mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
	uint32_t key = ibv_inc_rkey(mw->rkey);
	struct ibv_qp_ex *qp = start(r, 1, 5);

	ibv_wr_bind_mw(qp, mw, key, &info);
	expect(r, 1, qp, IBV_WC_BIND_MW);
	return key;
}

/* An atomic write by the peer through a key; its status. */
static enum ibv_wc_status write_through(struct verbs_fixture *r, uint32_t key, uint64_t value)
{
	struct ibv_qp_ex *qp = start(r, 0, 6);

	ibv_wr_atomic_write(qp, key, verbs_fixture_sge(r, 1, 64, 8).addr, &value);
	assert_int_equal(ibv_wr_complete(qp), 0);
	return verbs_fixture_poll(r->cq[0]).status;
}

struct window {
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint32_t key;
};

static struct window open_window(struct verbs_fixture *r)
{
	struct window w = {.mr = ibv_reg_mr(r->pd, r->memory + VERBS_FIXTURE_BYTES,
					    VERBS_FIXTURE_BYTES,
					    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
						    IBV_ACCESS_MW_BIND),
			   .mw = ibv_alloc_mw(r->pd, IBV_MW_TYPE_2)};

	assert_non_null(w.mr);
	assert_non_null(w.mw);
	w.key = bind(r, w.mw, w.mr);
	assert_int_equal(write_through(r, w.key, 7), IBV_WC_SUCCESS);
	assert_u_eq(word(r, 1, 64), 7);
	return w;
}

/* Its key is worth nothing any more. */
static void close_window(struct verbs_fixture *r, struct window *w)
{
	assert_int_equal(write_through(r, w->key, 8), IBV_WC_REM_ACCESS_ERR);
	assert_u_eq(word(r, 1, 64), 7);
	assert_int_equal(ibv_dealloc_mw(w->mw), 0);
	assert_int_equal(ibv_dereg_mr(w->mr), 0);
}

OPS_TEST(ibv_wr_local_inv, ends_a_window_that_was_bound)
{
	struct verbs_fixture *r = *state;
	struct window w = open_window(r);
	struct ibv_qp_ex *qp = start(r, 1, 7);

	ibv_wr_local_inv(qp, w.key);
	expect(r, 1, qp, IBV_WC_LOCAL_INV);
	close_window(r, &w);
}

OPS_TEST(ibv_wr_send_inv, ends_a_window_of_the_peer)
{
	struct verbs_fixture *r = *state;
	struct window w = open_window(r);
	struct ibv_recv_wr *bad, recv = {.wr_id = 70};
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;

	assert_int_equal(ibv_post_recv(r->qp[1], &recv, &bad), 0);
	qp = start(r, 0, 8);
	ibv_wr_send_inv(qp, w.key);
	ibv_wr_set_sge_list(qp, 0, NULL);
	expect(r, 0, qp, IBV_WC_SEND);
	wc = verbs_fixture_poll(r->cq[1]);
	assert_u_eq(wc.wr_id, 70);
	assert_int_equal(wc.wc_flags & IBV_WC_WITH_INV, IBV_WC_WITH_INV);
	assert_u_eq(wc.invalidated_rkey, w.key);
	close_window(r, &w);
}

/* ---- what the device has not, and what was not asked for ---- */

OPS_TEST(ibv_wr_complete, fails_as_a_whole)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_ex *qp = start(r, 0, 1);
	uint64_t value = 1;

	ibv_wr_atomic_write(qp, r->mr->rkey, verbs_fixture_sge(r, 1, 64, 8).addr, &value);
	ibv_wr_set_xrc_srqn(qp, 1);
	assert_int_equal(ibv_wr_complete(qp), EOPNOTSUPP);
	qp = start(r, 0, 1);
	ibv_wr_send_tso(qp, &value, 0, 0);
	ibv_wr_send_inv(qp, 1); /* what comes after changes nothing */
	ibv_wr_local_inv(qp, 1);
	ibv_wr_atomic_fetch_add(qp, 1, 0, 1);
	ibv_wr_set_inline_data(qp, &value, sizeof(value));
	assert_int_equal(ibv_wr_complete(qp), EOPNOTSUPP);
	qp = start(r, 0, 1);
	ibv_wr_set_ud_addr(qp, NULL, 0, 0); /* of no WR */
	assert_int_equal(ibv_wr_complete(qp), EINVAL);
	assert_int_equal(ibv_poll_cq(r->cq[0], 1, &(struct ibv_wc){0}), 0);
	assert_u_eq(word(r, 1, 64), 0);
}

/* The calls are there for every extended QP; what it was not made for is refused. */
TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, ibv_wr_complete, of_what_it_was_made_for)
{
	struct verbs_fixture *r = *state;
	struct ibv_mw_bind_info info = {0};

	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr_ex init = verbs_fixture_init_ex(r, i, IBV_QP_EX_WITH_SEND);

		r->qp[i] = ibv_create_qp_ex(r->ctx, &init);
		assert_non_null(r->qp[i]);
	}
	verbs_fixture_qps(r);
	ibv_wr_bind_mw(start(r, 0, 1), NULL, 0, &info);
	assert_int_equal(ibv_wr_complete(ibv_qp_to_qp_ex(r->qp[0])), EINVAL);
	ibv_wr_rdma_read(start(r, 0, 1), r->mr->rkey, 0);
	assert_int_equal(ibv_wr_complete(ibv_qp_to_qp_ex(r->qp[0])), EINVAL);
	ibv_wr_send_imm(start(r, 0, 1), 0);
	assert_int_equal(ibv_wr_complete(ibv_qp_to_qp_ex(r->qp[0])), EINVAL);
}

/* ---- datagrams ---- */

static void ready(struct ibv_qp *qp)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = Q_KEY};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = 7};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

	assert_int_equal(ibv_modify_qp(qp, &init, mask), 0);
	assert_int_equal(ibv_modify_qp(qp, &rtr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static struct ibv_ah *address_of_us(struct verbs_fixture *r)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	struct ibv_ah *ah;

	assert_int_equal(ibv_query_gid(r->ctx, 1, 0, &attr.grh.dgid), 0);
	ah = ibv_create_ah(r->pd, &attr);
	assert_non_null(ah);
	return ah;
}

/* Two UD QPs; what the second receives is in this CQ. */
static void make_ud(struct verbs_fixture *r, struct ibv_cq_ex *cq)
{
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr_ex init = verbs_fixture_init_ex(r, i, IBV_QP_EX_WITH_SEND);

		init.qp_type = IBV_QPT_UD;
		if (i)
			init.recv_cq = ibv_cq_ex_to_cq(cq);
		r->qp[i] = ibv_create_qp_ex(r->ctx, &init);
		assert_non_null(r->qp[i]);
		ready(r->qp[i]);
	}
}

/* From whom it is an extended CQ tells as well. */
TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, ibv_wr_set_ud_addr, says_where_it_goes)
{
	struct verbs_fixture *r = *state;
	struct ibv_cq_init_attr_ex cq_init = {.cqe = 8, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(r->ctx, &cq_init);
	struct ibv_sge from = verbs_fixture_sge(r, 0, 0, 100), to = verbs_fixture_sge(r, 1, 0, 200);
	struct ibv_recv_wr *bad, recv = {.wr_id = 9, .sg_list = &to, .num_sge = 1};
	struct ibv_ah *ah = address_of_us(r);
	struct ibv_qp_ex *qp;

	assert_non_null(cq);
	make_ud(r, cq);
	test_rand_bytes(r->memory, 100);
	assert_int_equal(ibv_post_recv(r->qp[1], &recv, &bad), 0);
	qp = start(r, 0, 8);
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, ah, r->qp[1]->qp_num, Q_KEY);
	ibv_wr_set_sge(qp, from.lkey, from.addr, from.length);
	expect(r, 0, qp, IBV_WC_SEND);
	verbs_fixture_start_poll(ibv_cq_ex_to_cq(cq));
	assert_u_eq(cq->wr_id, 9);
	assert_u_eq(ibv_wc_read_src_qp(cq), r->qp[0]->qp_num);
	assert_u_eq(ibv_wc_read_byte_len(cq), 100 + GRH);
	ibv_end_poll(cq);
	assert_bytes_eq(r->memory + VERBS_FIXTURE_BYTES + GRH, r->memory, 100);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_destroy_qp(r->qp[1]), 0);
	r->qp[1] = NULL;
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}
