/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_mw.c - memory windows of the drop-in: what they let a peer do while they are bound,
 * and that nothing is left of it afterwards; atomic writes; regions of nothing.
 */
#include "live/verbs_fixture.h"

#include <stdlib.h>
#include <string.h>

#define PEERS                                                              \
	((unsigned int)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			IBV_ACCESS_REMOTE_ATOMIC))
#define BYTES 4096u

/* A fixture with connected QPs and a region at QP 1 for windows. */
struct fixture {
	struct verbs_fixture fixture;
	struct ibv_mr *mr;
	uint8_t *bytes;
};

static int open_fixture(void **state)
{
	struct fixture *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	*state = b;
	verbs_fixture_open(&b->fixture);
	verbs_fixture_make(&b->fixture);
	for (int i = 0; i < 2; i++)
		verbs_fixture_connect(&b->fixture, i, PEERS | IBV_ACCESS_LOCAL_WRITE);
	b->bytes = calloc(1, BYTES);
	assert_non_null(b->bytes);
	b->mr = ibv_reg_mr(b->fixture.pd, b->bytes, BYTES,
			   (int)(PEERS | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
	assert_non_null(b->mr);
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *b = *state;

	assert_int_equal(ibv_dereg_mr(b->mr), 0);
	verbs_fixture_close(&b->fixture);
	free(b->bytes);
	free(b);
	return 0;
}

#define MW_TEST(function, name) TEST_WITH(open_fixture, close_fixture, function, name)

static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status,
		   enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = verbs_fixture_poll(cq);

	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.status, status);
	if (status == IBV_WC_SUCCESS)
		assert_int_equal(wc.opcode, opcode);
}

/* The second half of the region. */
static struct ibv_mw_bind_info half(const struct fixture *b, unsigned int access)
{
	return (struct ibv_mw_bind_info){.mr = b->mr,
					 .addr = (uintptr_t)b->bytes + BYTES / 2,
					 .length = BYTES / 2,
					 .mw_access_flags = access};
}

static void post(struct fixture *b, int i, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;

	wr.send_flags |= IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_send(b->fixture.qp[i], &wr, &bad), 0);
}

/* Returns the key under which QP 1's peer finds it. */
static uint32_t bind_2(struct fixture *b, struct ibv_mw *mw, struct ibv_mw_bind_info info)
{
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {.mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = info}};

	post(b, 1, wr);
	expect(b->fixture.cq[1], 1, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
	return wr.bind_mw.rkey;
}

static void one_sided(struct fixture *b, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t addr,
		      enum ibv_wc_status status)
{
	struct ibv_sge sge = verbs_fixture_sge(&b->fixture, 0, 0, 8);
	struct ibv_send_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = opcode};

	wr.wr.rdma.rkey = rkey;
	wr.wr.rdma.remote_addr = addr;
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.compare_add = 5;
	}
	post(b, 0, wr);
	assert_int_equal(verbs_fixture_poll(b->fixture.cq[0]).status, status);
}

/* REQ(ext.mw.bind) REQ(ext.mw.rkey) */
MW_TEST(ibv_bind_mw, write_read_and_atomic_through_type_1)
{
	struct fixture *b = *state;
	struct ibv_mw *mw = ibv_alloc_mw(b->fixture.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.wr_id = 3, .send_flags = IBV_SEND_SIGNALED, .bind_info = half(b, PEERS)};
	uint64_t at = bind.bind_info.addr;
	uint32_t old;

	assert_non_null(mw);
	old = mw->rkey;
	assert_int_equal(ibv_bind_mw(b->fixture.qp[1], mw, &bind), 0);
	expect(b->fixture.cq[1], 3, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
	assert_int_equal(mw->rkey >> 8, old >> 8);
	assert_int_not_equal(mw->rkey, old);
	memset(b->fixture.memory, 0x11, 8);
	one_sided(b, IBV_WR_RDMA_WRITE, mw->rkey, at, IBV_WC_SUCCESS);
	assert_int_equal(b->bytes[BYTES / 2 + 7], 0x11);
	one_sided(b, IBV_WR_ATOMIC_FETCH_AND_ADD, mw->rkey, at, IBV_WC_SUCCESS);
	assert_int_equal(b->bytes[BYTES / 2], 0x16);
	one_sided(b, IBV_WR_RDMA_READ, mw->rkey, at, IBV_WC_SUCCESS);
	assert_memory_equal(b->fixture.memory, b->bytes + BYTES / 2, 8);
	assert_int_equal(ibv_dereg_mr(b->mr), EBUSY); /* REQ(ext.mw.holds-mr) */
	assert_int_not_equal(ibv_rereg_mr(b->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
					  IBV_ACCESS_LOCAL_WRITE),
			     0);
	old = mw->rkey;
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	one_sided(b, IBV_WR_RDMA_WRITE, old, at, IBV_WC_REM_ACCESS_ERR);
}

MW_TEST(ibv_bind_mw, type_1_to_nothing)
{
	struct fixture *b = *state;
	struct ibv_mw *mw = ibv_alloc_mw(b->fixture.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.wr_id = 3, .bind_info = half(b, PEERS)};
	struct ibv_mw_bind nothing = {.wr_id = 4, .send_flags = IBV_SEND_SIGNALED};
	uint32_t key;

	assert_non_null(mw);
	assert_int_equal(ibv_bind_mw(b->fixture.qp[1], mw, &bind), 0);
	key = mw->rkey;
	assert_int_equal(ibv_bind_mw(b->fixture.qp[1], mw, &nothing), 0);
	expect(b->fixture.cq[1], 4, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
	one_sided(b, IBV_WR_RDMA_READ, key, bind.bind_info.addr, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* REQ(ext.mw.invalidate) */
MW_TEST(ibv_post_send, local_inv)
{
	struct fixture *b = *state;
	struct ibv_mw *mw = ibv_alloc_mw(b->fixture.pd, IBV_MW_TYPE_2);
	struct ibv_mw_bind_info info = half(b, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED);
	uint32_t key;

	assert_non_null(mw);
	key = bind_2(b, mw, info);
	memset(b->bytes + BYTES / 2, 0x77, 16);
	one_sided(b, IBV_WR_RDMA_READ, key, 8, IBV_WC_SUCCESS);
	assert_int_equal(b->fixture.memory[0], 0x77);
	post(b, 1,
	     (struct ibv_send_wr){.wr_id = 2, .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = key});
	expect(b->fixture.cq[1], 2, IBV_WC_SUCCESS, IBV_WC_LOCAL_INV);
	one_sided(b, IBV_WR_RDMA_READ, key, 8, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* REQ(ext.mw.rights) */
MW_TEST(ibv_post_send, rights_that_a_window_has_not)
{
	struct fixture *b = *state;
	struct ibv_mw *mw = ibv_alloc_mw(b->fixture.pd, IBV_MW_TYPE_2);
	uint32_t key;

	assert_non_null(mw);
	key = bind_2(b, mw, half(b, IBV_ACCESS_REMOTE_READ));
	one_sided(b, IBV_WR_RDMA_WRITE, key, (uintptr_t)b->bytes + BYTES / 2,
		  IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(b->bytes[BYTES / 2], 0);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* REQ(ext.local.error) */
MW_TEST(ibv_post_send, binds_that_may_not_be)
{
	struct fixture *b = *state;
	struct ibv_mw *mw = ibv_alloc_mw(b->fixture.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr *bad, wr = {.wr_id = 1,
				       .opcode = IBV_WR_BIND_MW,
				       .bind_mw = {.mw = mw, .bind_info = half(b, PEERS)}};

	assert_non_null(mw);
	wr.bind_mw.rkey = mw->rkey ^ 0x100; /* of another index */
	assert_int_equal(ibv_post_send(b->fixture.qp[1], &wr, &bad), EINVAL);
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_ON_DEMAND;
	assert_int_equal(ibv_post_send(b->fixture.qp[1], &wr, &bad), EINVAL);
	wr.bind_mw.bind_info = half(b, PEERS);
	wr.bind_mw.bind_info.length++;
	post(b, 1, wr);
	expect(b->fixture.cq[1], 1, IBV_WC_MW_BIND_ERR, IBV_WC_BIND_MW);
	post(b, 0, (struct ibv_send_wr){.wr_id = 2, .opcode = IBV_WR_LOCAL_INV});
	expect(b->fixture.cq[0], 2, IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOCAL_INV);
	errno = 0;
	assert_null(ibv_alloc_mw(b->fixture.pd, (enum ibv_mw_type)3));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void post_recv(struct fixture *b, int i, uint64_t wr_id)
{
	struct ibv_sge sge = verbs_fixture_sge(&b->fixture, i, 1024, 64);
	struct ibv_recv_wr *bad, wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};

	assert_int_equal(ibv_post_recv(b->fixture.qp[i], &wr, &bad), 0);
}

/* REQ(ext.send.inv) REQ(ext.send.inv-refused) */
MW_TEST(ibv_post_send, send_with_inv)
{
	struct fixture *b = *state;
	struct ibv_mw *mw = ibv_alloc_mw(b->fixture.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = {.wr_id = 5, .opcode = IBV_WR_SEND_WITH_INV};
	struct ibv_wc wc;

	assert_non_null(mw);
	wr.invalidate_rkey = bind_2(b, mw, half(b, PEERS));
	post_recv(b, 1, 20);
	post_recv(b, 1, 21);
	post(b, 0, wr);
	expect(b->fixture.cq[0], 5, IBV_WC_SUCCESS, IBV_WC_SEND);
	wc = verbs_fixture_poll(b->fixture.cq[1]);
	assert_int_equal(wc.wr_id, 20);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_INV);
	assert_int_equal(wc.invalidated_rkey, wr.invalidate_rkey);
	post(b, 0, wr); /* it is invalid now */
	expect(b->fixture.cq[0], 5, IBV_WC_REM_ACCESS_ERR, IBV_WC_SEND);
	expect(b->fixture.cq[1], 21, IBV_WC_REM_INV_REQ_ERR, IBV_WC_RECV);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* From memory, and from the call; REQ(ext.atomic.write) */
MW_TEST(ibv_post_send, atomic_write)
{
	struct fixture *b = *state;
	struct ibv_sge sge = verbs_fixture_sge(&b->fixture, 0, 8, 8);
	struct ibv_send_wr wr = {
		.wr_id = 6, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_WRITE};
	uint64_t value = UINT64_C(0x8877665544332211);

	wr.wr.rdma.rkey = b->mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)b->bytes + 16;
	memcpy(b->fixture.memory + 8, "12345678", 8);
	post(b, 0, wr);
	expect(b->fixture.cq[0], 6, IBV_WC_SUCCESS, IBV_WC_ATOMIC_WRITE);
	assert_memory_equal(b->bytes + 16, "12345678", 8);
	sge.addr = (uintptr_t)&value;
	wr.send_flags = IBV_SEND_INLINE;
	post(b, 0, wr);
	expect(b->fixture.cq[0], 6, IBV_WC_SUCCESS, IBV_WC_ATOMIC_WRITE);
	assert_memory_equal(b->bytes + 16, &value, 8);
	wr.wr.rdma.remote_addr++;
	post(b, 0, wr);
	expect(b->fixture.cq[0], 6, IBV_WC_REM_INV_REQ_ERR, IBV_WC_ATOMIC_WRITE);
}

/* What is sent from it is zero, what is received there is gone. REQ(api.null-mr) */
MW_TEST(ibv_alloc_null_mr, zeros_and_nothing)
{
	struct fixture *b = *state;
	struct ibv_mr *null = ibv_alloc_null_mr(b->fixture.pd);
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = {
		.wr_id = 6, .sg_list = sge, .num_sge = 2, .opcode = IBV_WR_RDMA_WRITE};

	assert_non_null(null);
	sge[0] = verbs_fixture_sge(&b->fixture, 0, 8, 8);
	sge[1] = (struct ibv_sge){.addr = 12345, .length = 2000, .lkey = null->lkey};
	memset(b->bytes, 0x55, BYTES);
	memset(b->fixture.memory, 0x22, 64);
	wr.wr.rdma.rkey = b->mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)b->bytes;
	post(b, 0, wr);
	expect(b->fixture.cq[0], 6, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	assert_int_equal(b->bytes[7], 0x22);
	for (uint32_t i = 8; i < 2008; i++)
		assert_int_equal(b->bytes[i], 0);
	assert_int_equal(b->bytes[2008], 0x55);
	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr.rdma.remote_addr += 2000;
	post(b, 0, wr);
	expect(b->fixture.cq[0], 6, IBV_WC_SUCCESS, IBV_WC_RDMA_READ);
	assert_int_equal(b->fixture.memory[15], 0);
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr.rdma.rkey = null->lkey; /* peers have no right to it */
	post(b, 0, wr);
	expect(b->fixture.cq[0], 6, IBV_WC_REM_ACCESS_ERR, IBV_WC_RDMA_WRITE);
	assert_int_not_equal(ibv_rereg_mr(null, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
					  IBV_ACCESS_LOCAL_WRITE),
			     0);
	assert_int_equal(ibv_dereg_mr(null), 0);
}
