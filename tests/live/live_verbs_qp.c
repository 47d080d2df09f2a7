/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_qp.c - verbs' own RC QPs over real sockets: two of one process, connected to each
 * other as any program connects them.
 */
#include "support/test.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <time.h>

#define BYTES (1u << 20)
#define DEPTH 64
#define PSN 0xfffff0u /* wraps around soon */

struct pair {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
	struct ibv_mr *mr;
	uint8_t *memory; /* BYTES of each QP */
};

static struct ibv_qp_init_attr init_attr(struct pair *p, int i)
{
	return (struct ibv_qp_init_attr){
		.send_cq = p->cq[i],
		.recv_cq = p->cq[i],
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 2,
			.max_recv_sge = 2,
			.max_inline_data = 64},
		.qp_type = IBV_QPT_RC,
		.qp_context = &p->cq[i],
	};
}

static int pair_open(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct pair *p = calloc(1, sizeof(*p));

	assert_non_null(list);
	assert_non_null(p);
	p->ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	assert_non_null(p->ctx);
	p->memory = calloc(2, BYTES);
	p->pd = ibv_alloc_pd(p->ctx);
	p->mr = ibv_reg_mr(p->pd, p->memory, 2 * BYTES,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	p->channel = ibv_create_comp_channel(p->ctx);
	assert_non_null(p->mr);
	assert_non_null(p->channel);
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr init;

		p->cq[i] = ibv_create_cq(p->ctx, 2 * DEPTH, &p->qp[i], i ? p->channel : NULL, 0);
		assert_non_null(p->cq[i]);
		init = init_attr(p, i);
		p->qp[i] = ibv_create_qp(p->pd, &init);
		assert_non_null(p->qp[i]);
		assert_true(init.cap.max_send_wr >= DEPTH);
	}
	*state = p;
	return 0;
}

static int pair_close(void **state)
{
	struct pair *p = *state;

	for (int i = 0; i < 2; i++)
		assert_int_equal(ibv_destroy_qp(p->qp[i]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ibv_destroy_cq(p->cq[i]), 0);
	assert_int_equal(ibv_destroy_comp_channel(p->channel), 0);
	assert_int_equal(ibv_dereg_mr(p->mr), 0);
	assert_int_equal(ibv_dealloc_pd(p->pd), 0);
	assert_int_equal(ibv_close_device(p->ctx), 0);
	free(p->memory);
	free(p);
	return 0;
}

/* How long a QP waits for answers, and how often. */
struct patience {
	uint8_t timeout, retry_cnt;
};

static const struct patience usual = {14, 7};

static void connect_to(struct pair *p, int i, const union ibv_gid *gid, uint32_t qpn,
		       struct patience patience)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
						      IBV_ACCESS_REMOTE_READ |
						      IBV_ACCESS_REMOTE_ATOMIC};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
				  .path_mtu = IBV_MTU_1024,
				  .dest_qp_num = qpn,
				  .rq_psn = PSN,
				  .max_dest_rd_atomic = 1,
				  .min_rnr_timer = 12,
				  .ah_attr = {.is_global = 1, .port_num = 1, .grh.dgid = *gid}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .timeout = patience.timeout,
				  .retry_cnt = patience.retry_cnt,
				  .rnr_retry = 7,
				  .sq_psn = PSN,
				  .max_rd_atomic = 1};

	assert_int_equal(
		ibv_modify_qp(p->qp[i], &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	assert_int_equal(ibv_modify_qp(p->qp[i], &rtr,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	assert_int_equal(ibv_modify_qp(p->qp[i], &rts,
				       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					       IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
	assert_int_equal(p->qp[i]->state, IBV_QPS_RTS);
}

static int pair_connect(void **state)
{
	union ibv_gid gid;
	struct pair *p;

	pair_open(state);
	p = *state;
	assert_int_equal(ibv_query_gid(p->ctx, 1, 0, &gid), 0);
	for (int i = 0; i < 2; i++)
		connect_to(p, i, &gid, p->qp[1 - i]->qp_num, usual);
	return 0;
}

/* A WRITE of `bytes` from the start of QP 0's memory to QP 1's. */
static struct ibv_send_wr write_wr(const struct pair *p, struct ibv_sge *sge, uint32_t bytes)
{
	*sge = (struct ibv_sge){(uintptr_t)p->memory, bytes, p->mr->lkey};
	return (struct ibv_send_wr){
		.wr_id = 42,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = (uintptr_t)p->memory + BYTES, .rkey = p->mr->rkey},
	};
}

/* Waits, for a minute and more, for the next completion. */
static struct ibv_wc poll_one(struct ibv_cq *cq)
{
	const struct timespec rest = {.tv_nsec = 100000};
	struct ibv_wc wc;
	int n = 0;

	for (int i = 0; i < 600000 && n == 0; i++) {
		n = ibv_poll_cq(cq, 1, &wc);
		if (n == 0)
			nanosleep(&rest, NULL);
	}
	assert_int_equal(n, 1);
	return wc;
}

#define PAIR_TEST(function, name) TEST_WITH(pair_connect, pair_close, function, name)

PAIR_TEST(ibv_post_send, writes)
{
	struct pair *p = *state;
	struct ibv_sge sge;
	struct ibv_send_wr wr = write_wr(p, &sge, BYTES), *bad;
	struct ibv_wc wc;

	test_rand_bytes(p->memory, BYTES);
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), 0);
	wc = poll_one(p->cq[0]);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RDMA_WRITE);
	assert_u_eq(wc.wr_id, 42);
	assert_u_eq(wc.qp_num, p->qp[0]->qp_num);
	assert_bytes_eq(p->memory + BYTES, p->memory, BYTES);
}

/* REQ(ext.response.place) */
PAIR_TEST(ibv_post_send, reads)
{
	struct pair *p = *state;
	struct ibv_sge sge;
	struct ibv_send_wr wr = write_wr(p, &sge, BYTES), *bad;
	struct ibv_wc wc;

	wr.opcode = IBV_WR_RDMA_READ;
	test_rand_bytes(p->memory + BYTES, BYTES);
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), 0);
	wc = poll_one(p->cq[0]);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RDMA_READ);
	assert_u_eq(wc.byte_len, BYTES);
	assert_bytes_eq(p->memory, p->memory + BYTES, BYTES);
}

/* Returns what was there; the peer's word is at `to`. */
static uint64_t atomic(struct pair *p, enum ibv_wr_opcode opcode, uint64_t compare_add,
		       uint64_t swap)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = write_wr(p, &sge, 8), *bad;
	struct ibv_wc wc;
	uint64_t found;

	wr.opcode = opcode;
	wr.wr.atomic.remote_addr = (uintptr_t)p->memory + BYTES;
	wr.wr.atomic.rkey = p->mr->rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), 0);
	wc = poll_one(p->cq[0]);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_u_eq(wc.byte_len, 8);
	memcpy(&found, p->memory, 8);
	return found;
}

/* REQ(ext.atomic.once) REQ(ext.atomic.local) */
PAIR_TEST(ibv_post_send, atomics)
{
	struct pair *p = *state;
	uint64_t word = UINT64_C(0xfedcba9876543210);

	memcpy(p->memory + BYTES, &word, 8);
	assert_u_eq(atomic(p, IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0), UINT64_C(0xfedcba9876543210));
	assert_u_eq(atomic(p, IBV_WR_ATOMIC_CMP_AND_SWP, 1, 2), UINT64_C(0xfedcba9876543215));
	assert_u_eq(atomic(p, IBV_WR_ATOMIC_CMP_AND_SWP, UINT64_C(0xfedcba9876543215), 77),
		    UINT64_C(0xfedcba9876543215));
	assert_u_eq(atomic(p, IBV_WR_ATOMIC_FETCH_AND_ADD, UINT64_MAX, 0), 77);
	memcpy(&word, p->memory + BYTES, 8);
	assert_u_eq(word, 76);
}

/* REQ(ext.read.access) */
PAIR_TEST(ibv_post_send, a_read_of_what_is_not_allowed)
{
	struct pair *p = *state;
	struct ibv_mr *closed = ibv_reg_mr(p->pd, p->memory, BYTES, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge;
	struct ibv_send_wr wr = write_wr(p, &sge, 8), *bad;

	assert_non_null(closed);
	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr.rdma.rkey = closed->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)p->memory;
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), 0);
	assert_int_equal(poll_one(p->cq[0]).status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(closed), 0);
}

/* Into two pieces of the peer's memory, from inline bytes that are gone when it goes. */
PAIR_TEST(ibv_post_send, sends_with_an_immediate)
{
	struct pair *p = *state;
	uint8_t *to = p->memory + BYTES;
	struct ibv_sge pieces[2] = {{(uintptr_t)to, 10, p->mr->lkey},
				    {(uintptr_t)to + 1000, 500, p->mr->lkey}};
	struct ibv_recv_wr recv = {.wr_id = 7, .sg_list = pieces, .num_sge = 2}, *bad_recv;
	uint8_t bytes[40];
	struct ibv_sge sge;
	struct ibv_send_wr wr = write_wr(p, &sge, 0), *bad;
	struct ibv_wc wc;

	test_rand_bytes(bytes, sizeof(bytes));
	sge = (struct ibv_sge){(uintptr_t)bytes, sizeof(bytes), 0};
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = htobe32(0xCAFE);
	wr.send_flags |= IBV_SEND_INLINE;
	assert_int_equal(ibv_post_recv(p->qp[1], &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), 0);
	wc = poll_one(p->cq[1]);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_u_eq(wc.byte_len, sizeof(bytes));
	assert_u_eq(be32toh(wc.imm_data), 0xCAFE);
	assert_bytes_eq(to, bytes, 10);
	assert_bytes_eq(to + 1000, bytes + 10, 30);
	wc = poll_one(p->cq[0]);
	assert_int_equal(wc.opcode, IBV_WC_SEND);
}

PAIR_TEST(ibv_post_send, what_is_too_long_for_its_receive)
{
	struct pair *p = *state;
	struct ibv_sge room = {(uintptr_t)p->memory + BYTES, 99, p->mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &room, .num_sge = 1}, *bad_recv;
	struct ibv_sge sge;
	struct ibv_send_wr wr = write_wr(p, &sge, 100), *bad;

	wr.opcode = IBV_WR_SEND;
	assert_int_equal(ibv_post_recv(p->qp[1], &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), 0);
	assert_int_equal(poll_one(p->cq[1]).status, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(poll_one(p->cq[0]).status, IBV_WC_REM_INV_REQ_ERR);
}

PAIR_TEST(ibv_get_cq_event, an_immediate_wakes_the_peer)
{
	struct pair *p = *state;
	struct ibv_recv_wr recv = {.wr_id = 7}, *bad_recv;
	struct ibv_sge sge;
	struct ibv_send_wr wr = write_wr(p, &sge, 3000), *bad;
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.imm_data = htobe32(0x12345678);
	assert_int_equal(p->channel->refcnt, 1);
	assert_int_equal(ibv_req_notify_cq(p->cq[1], 0), 0);
	assert_int_equal(ibv_post_recv(p->qp[1], &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), 0);
	assert_int_equal(ibv_get_cq_event(p->channel, &cq, &context), 0);
	assert_ptr_equal(cq, p->cq[1]);
	assert_ptr_equal(context, &p->qp[1]);
	ibv_ack_cq_events(cq, 1);
	wc = poll_one(cq);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_u_eq(wc.wr_id, 7);
	assert_u_eq(wc.byte_len, 3000);
	assert_u_eq(be32toh(wc.imm_data), 0x12345678);
	assert_true(wc.wc_flags & IBV_WC_WITH_IMM);
}

/* A chain stops at the WR that is wrong; those before it are done. */
PAIR_TEST(ibv_post_send, names_the_wr_at_fault)
{
	static const enum ibv_wr_opcode absent[] = {IBV_WR_TSO, IBV_WR_DRIVER1};
	struct pair *p = *state;
	struct ibv_sge sge;
	struct ibv_send_wr wr[3], *bad = NULL;

	for (int i = 0; i < 3; i++)
		wr[i] = write_wr(p, &sge, 100);
	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		wr[1].opcode = absent[i];
		assert_int_equal(ibv_post_send(p->qp[0], wr, &bad), EOPNOTSUPP);
		assert_ptr_equal(bad, &wr[1]);
		assert_int_equal(poll_one(p->cq[0]).status, IBV_WC_SUCCESS);
	}
	wr[1].opcode = (enum ibv_wr_opcode)200;
	assert_int_equal(ibv_post_send(p->qp[0], &wr[1], &bad), EINVAL);
	wr[1].opcode = IBV_WR_RDMA_WRITE;
	wr[1].num_sge = 17;
	assert_int_equal(ibv_post_send(p->qp[0], &wr[1], &bad), EINVAL);
	wr[1].num_sge = 1;
	wr[1].send_flags = 1 << 30;
	assert_int_equal(ibv_post_send(p->qp[0], &wr[1], &bad), EINVAL);
}

/* A wrong rkey fails at both ends: a status here, an event there, and both QPs are in ERR. */
PAIR_TEST(ibv_get_async_event, an_access_violation_is_told_at_both_ends)
{
	struct pair *p = *state;
	struct ibv_sge sge;
	struct ibv_send_wr wr = write_wr(p, &sge, 100), *bad;
	struct ibv_async_event event;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	wr.wr.rdma.rkey ^= 0xff;
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), 0);
	assert_int_equal(poll_one(p->cq[0]).status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_get_async_event(p->ctx, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
	assert_ptr_equal(event.element.qp, p->qp[1]);
	ibv_ack_async_event(&event);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ibv_query_qp(p->qp[i], &attr, IBV_QP_STATE, &init), 0);
		assert_int_equal(attr.qp_state, IBV_QPS_ERR);
		assert_int_equal(p->qp[i]->state, IBV_QPS_ERR);
	}
}

PAIR_TEST(ibv_query_qp, tells_what_was_set)
{
	struct pair *p = *state;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	assert_int_equal(ibv_query_qp(p->qp[0], &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	assert_int_equal(attr.path_mtu, IBV_MTU_1024);
	assert_u_eq(attr.dest_qp_num, p->qp[1]->qp_num);
	assert_u_eq(attr.timeout, 14);
	assert_u_eq(attr.retry_cnt, 7);
	assert_u_eq(attr.rnr_retry, 7);
	assert_u_eq(attr.max_rd_atomic, 1);
	assert_u_eq(attr.port_num, 1);
	assert_u_eq(attr.qp_access_flags,
		    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	assert_ptr_equal(init.send_cq, p->cq[0]);
	assert_true(init.cap.max_send_wr >= DEPTH);
	assert_ptr_equal(p->qp[0]->qp_context, &p->cq[0]);
}

/* Once more from RESET, with nothing left of what was. */
PAIR_TEST(ibv_modify_qp, reset_and_again)
{
	struct pair *p = *state;
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_sge sge;
	struct ibv_send_wr wr = write_wr(p, &sge, 5000), *bad;
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(p->ctx, 1, 0, &gid), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ibv_modify_qp(p->qp[i], &reset, IBV_QP_STATE), 0);
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), EINVAL);
	for (int i = 0; i < 2; i++)
		connect_to(p, i, &gid, p->qp[1 - i]->qp_num, usual);
	test_rand_bytes(p->memory, 5000);
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), 0);
	assert_int_equal(poll_one(p->cq[0]).status, IBV_WC_SUCCESS);
	assert_bytes_eq(p->memory + BYTES, p->memory, 5000);
}

TEST_WITH(pair_open, pair_close, ibv_create_qp, refusals)
{
	struct pair *p = *state;
	struct ibv_qp_init_attr init = init_attr(p, 0);

	init.qp_type = IBV_QPT_RAW_PACKET;
	errno = 0;
	assert_null(ibv_create_qp(p->pd, &init));
	assert_int_equal(errno, EOPNOTSUPP);
	init = init_attr(p, 0);
	init.cap.max_inline_data = 1 << 20;
	errno = 0;
	assert_null(ibv_create_qp(p->pd, &init));
	assert_int_equal(errno, EINVAL);
	init = init_attr(p, 0);
	init.recv_cq = NULL;
	errno = 0;
	assert_null(ibv_create_qp(p->pd, &init));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_cq(p->cq[0]), EBUSY);
	errno = 0;
	assert_null(ibv_create_cq(p->ctx, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(ibv_create_cq(p->ctx, 1, NULL, NULL, 1));
	assert_int_equal(errno, EINVAL);
}

/* What the peer never answers ends in bounded time: 2^(8 + 2) x 1.024 us, the floor, 2 timeouts. */
TEST_WITH(pair_open, pair_close, ibv_modify_qp, a_peer_that_is_not_there_is_found)
{
	struct pair *p = *state;
	const struct patience little = {8, 1};
	struct ibv_sge sge;
	struct ibv_send_wr wr = write_wr(p, &sge, 100), *bad;
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(p->ctx, 1, 0, &gid), 0);
	connect_to(p, 0, &gid, 0x123456, little); /* of a process that there is not */
	assert_int_equal(ibv_post_send(p->qp[0], &wr, &bad), 0);
	assert_int_equal(poll_one(p->cq[0]).status, IBV_WC_RETRY_EXC_ERR);
}
