/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_post.c - posting: what is refused and where a chain stops, and that bytes, immediates,
 * inline data and gathered pieces arrive.
 */
#include "live/live_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <unistd.h>

static void assert_send_refused(struct fixture *r, struct ibv_send_wr *wr, int err)
{
	struct ibv_send_wr *bad = NULL;

	errno = 0;
	assert_int_equal(mrc_post_send(r->qp[0], wr, &bad), err);
	assert_int_equal(errno, err);
	assert_ptr_equal(bad, wr);
}

static void send_ok(struct fixture *r, int i, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	assert_int_equal(mrc_post_send(r->qp[i], wr, &bad), 0);
}

/* REQ(api.post-send.ops) REQ(svc.write-only) */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send, refuses_other_operations)
{
	static const enum ibv_wr_opcode other[] = {
		IBV_WR_SEND,
		IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_LOCAL_INV,
		IBV_WR_BIND_MW,
		IBV_WR_SEND_WITH_INV,
		IBV_WR_TSO,
		(enum ibv_wr_opcode)99,
	};
	struct fixture *r = *state;
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 8);
	struct ibv_wc wc;

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		wr.opcode = other[i];
		assert_send_refused(r, &wr, EINVAL);
	}
	assert_int_equal(mrc_poll_cq(r->cq[0], 1, &wc), 0);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_RTS);
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send, refuses_malformed_requests)
{
	struct fixture *r = *state;
	struct ibv_sge sge[32];
	struct ibv_send_wr wr = fixture_wr(r, 0, sge, 8), *bad;

	wr.send_flags |= 1u << 10;
	assert_send_refused(r, &wr, EINVAL);
	wr = fixture_wr(r, 0, sge, 8);
	wr.num_sge = -1;
	assert_send_refused(r, &wr, EINVAL);
	wr = fixture_wr(r, 0, sge, 8);
	wr.sg_list = NULL;
	assert_send_refused(r, &wr, EINVAL);
	wr = fixture_wr(r, 0, sge, 1);
	for (int i = 1; i < 32; i++)
		sge[i] = sge[0];
	wr.num_sge = 32;
	assert_send_refused(r, &wr, EINVAL);
	wr = fixture_wr(r, 0, sge, 65);
	wr.send_flags |= IBV_SEND_INLINE;
	sge[0].length = 1u << 20;
	assert_send_refused(r, &wr, EINVAL);
	assert_int_equal(mrc_post_send(NULL, &wr, &bad), EINVAL);
	assert_int_equal(mrc_post_send(r->qp[0], NULL, &bad), EINVAL);
}

/* REQ(api.post-send.lkey) */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send,
	  refuses_memory_that_is_not_its_own)
{
	struct fixture *r = *state;
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 8);

	sge.lkey ^= 0x5500;
	assert_send_refused(r, &wr, EFAULT);
	wr = fixture_wr(r, 0, &sge, 8);
	sge.addr -= 1;
	assert_send_refused(r, &wr, EFAULT);
	wr = fixture_wr(r, 0, &sge, 8);
	sge.addr = (uintptr_t)r->memory + FIXTURE_QPS * FIXTURE_BYTES - 7;
	assert_send_refused(r, &wr, EFAULT);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_RTS);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_post_send, refuses_before_rts)
{
	struct fixture *r = *state;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct ibv_recv_wr recv = {0}, *bad;
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 8);

	assert_send_refused(r, &wr, EINVAL);
	errno = 0;
	assert_int_equal(mrc_post_recv(r->qp[0], &recv, &bad), -1);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(bad, &recv);
	assert_int_equal(mrc_modify_qp(r->qp[0], &attr, IBV_QP_STATE, NULL, 0), 0);
	assert_send_refused(r, &wr, EINVAL);
	assert_int_equal(mrc_post_recv(r->qp[0], &recv, &bad), 0);
}

/* REQ(api.qp.create) An operation that was left out at creation is refused. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_post_send, refuses_operations_left_out)
{
	struct fixture *r = *state;
	struct mrc_qp_init_attr init = fixture_init_attr(r, 0);
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	assert_int_equal(mrc_destroy_qp(r->qp[0]), 0);
	init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
	r->qp[0] = mrc_create_qp(r->ctx, &init);
	assert_non_null(r->qp[0]);
	assert_int_equal(mrc_get_qpn(r->qp[0], &r->end[0].qpn), 0);
	fixture_connect(r, 0, &r->end[1]);
	fixture_connect(r, 1, &r->end[0]);
	wr = fixture_wr(r, 0, &sge, 8);
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	assert_send_refused(r, &wr, EINVAL);
	wr.opcode = IBV_WR_RDMA_WRITE;
	send_ok(r, 0, &wr);
	assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send, chain_stops_at_the_bad_request)
{
	struct fixture *r = *state;
	struct ibv_sge sge[40];
	struct ibv_send_wr wr[40], *bad = NULL;
	struct ibv_wc wc;

	for (int i = 0; i < 40; i++) {
		wr[i] = fixture_wr(r, 0, &sge[i], 100);
		wr[i].wr_id = (uint64_t)i;
		wr[i].next = i < 39 ? &wr[i + 1] : NULL;
	}
	wr[21].opcode = IBV_WR_SEND;
	assert_int_equal(mrc_post_send(r->qp[0], wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr[21]);
	for (unsigned int i = 0; i < 21; i++) {
		wc = fixture_poll(r, 0);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_u_eq(wc.wr_id, i);
	}
	wr[21] = fixture_wr(r, 0, &sge[21], 100);
	sge[21].lkey = 0x7700;
	wr[21].next = &wr[22];
	assert_int_equal(mrc_post_send(r->qp[0], &wr[18], &bad), EFAULT);
	assert_ptr_equal(bad, &wr[21]);
	for (unsigned int i = 18; i < 21; i++)
		assert_u_eq(fixture_poll(r, 0).wr_id, i);
	assert_int_equal(mrc_poll_cq(r->cq[0], 1, &wc), 0);
}

/* Posts until it is refused, which must be for want of room; returns how many were taken. */
static unsigned int fill_queue(struct fixture *r)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 64), *bad = NULL;
	unsigned int n = 0;
	int err;

	while ((err = mrc_post_send(r->qp[0], &wr, &bad)) == 0 && n < 1000)
		n++;
	assert_int_equal(err, ENOMEM);
	assert_ptr_equal(bad, &wr);
	return n;
}

/* REQ(api.post-send.full) To a peer that does not answer. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_post_send, full_queue)
{
	struct fixture *r = *state;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct mrc_qp_init_attr init;
	struct fixture_end nobody = r->end[1];
	unsigned int n;

	nobody.qpn ^= 1u << 10;
	fixture_connect(r, 0, &nobody);
	n = fill_queue(r);
	assert_int_equal(mrc_query_qp(r->qp[0], NULL, 0, NULL, 0, &init), 0);
	assert_u_eq(n, init.cap.max_send_wr);
	assert_int_equal(mrc_modify_qp(r->qp[0], &attr, IBV_QP_STATE, NULL, 0), 0);
	while (n--)
		assert_int_equal(fixture_poll(r, 0).status, IBV_WC_WR_FLUSH_ERR);
}

/* Not when they are complete: so a CQ of that size cannot overrun. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send, slots_are_freed_by_polling)
{
	struct fixture *r = *state;
	struct mrc_qp_init_attr init;
	unsigned int n = fill_queue(r);

	assert_int_equal(mrc_query_qp(r->qp[0], NULL, 0, NULL, 0, &init), 0);
	assert_u_eq(n, init.cap.max_send_wr);
	usleep(20000); /* all of them complete, and none is polled */
	assert_u_eq(fill_queue(r), 0);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
	assert_u_eq(fill_queue(r), n);
	while (n--)
		assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
}

/* Without a completion to poll, places stay taken. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send,
	  only_unsignaled_requests_fill_the_queue)
{
	struct fixture *r = *state;
	struct mrc_qp_init_attr init;
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 8), *bad;
	struct ibv_wc wc;

	assert_int_equal(mrc_query_qp(r->qp[0], NULL, 0, NULL, 0, &init), 0);
	for (uint32_t i = 0; i < init.cap.max_send_wr; i++) {
		wr.send_flags = 0;
		send_ok(r, 0, &wr);
		assert_int_equal(mrc_poll_cq(r->cq[0], 1, &wc), 0);
	}
	usleep(20000);
	assert_int_equal(mrc_post_send(r->qp[0], &wr, &bad), ENOMEM);
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_recv, full_queue)
{
	struct fixture *r = *state;
	struct mrc_qp_init_attr init;
	struct ibv_recv_wr wr[3] = {{.next = &wr[1]}, {.next = &wr[2]}, {.next = NULL}}, *bad;

	assert_int_equal(mrc_query_qp(r->qp[1], NULL, 0, NULL, 0, &init), 0);
	for (uint32_t i = 1; i < init.cap.max_recv_wr; i++)
		fixture_post_recv(r, 1, i);
	errno = 0;
	assert_int_equal(mrc_post_recv(r->qp[1], wr, &bad), -1);
	assert_int_equal(errno, ENOMEM);
	assert_ptr_equal(bad, &wr[1]);
	wr[0].num_sge = 100;
	errno = 0;
	assert_int_equal(mrc_post_recv(r->qp[1], wr, &bad), -1);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(bad, &wr[0]);
	assert_int_equal(mrc_post_recv(NULL, wr, &bad), -1);
	assert_int_equal(mrc_post_recv(r->qp[1], NULL, &bad), -1);
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_recv, as_many_pieces_as_granted)
{
	struct fixture *r = *state;
	struct mrc_qp_init_attr init;
	struct ibv_sge sge[64] = {{0}};
	struct ibv_recv_wr wr = {.sg_list = sge}, *bad;

	assert_int_equal(mrc_query_qp(r->qp[1], NULL, 0, NULL, 0, &init), 0);
	assert_true(init.cap.max_recv_sge < 64);
	for (uint32_t i = 0; i < 64; i++)
		sge[i] = (struct ibv_sge){(uintptr_t)r->memory, 1, r->mr->lkey};
	wr.num_sge = (int)init.cap.max_recv_sge;
	assert_int_equal(mrc_post_recv(r->qp[1], &wr, &bad), 0);
	wr.num_sge++;
	assert_int_equal(mrc_post_recv(r->qp[1], &wr, &bad), -1);
}

/* Sizes around packet boundaries and up to the whole buffer, all bytes compared. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send, bytes_arrive)
{
	static const uint32_t sizes[] = {0,    1,    2,	    1023,   1024,
					 1025, 4096, 65536, 100001, FIXTURE_BYTES};
	struct fixture *r = *state;
	uint8_t *from = r->memory, *to = r->memory + FIXTURE_BYTES;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ibv_sge sge;
		struct ibv_send_wr wr = fixture_wr(r, 0, &sge, sizes[i]);

		test_rand_bytes(from, sizes[i]);
		memset(to, 0, FIXTURE_BYTES);
		send_ok(r, 0, &wr);
		assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
		assert_bytes_eq(to, from, sizes[i]);
		for (size_t j = sizes[i]; j < FIXTURE_BYTES; j++)
			if (to[j])
				fail_msg("byte %zu behind a WRITE of %u changed", j, sizes[i]);
	}
}

/* REQ(api.post-recv) */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send, immediate_and_length_arrive)
{
	struct fixture *r = *state;
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 5000);
	struct ibv_wc wc;

	fixture_post_recv(r, 1, 4711);
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.imm_data = htonl(0x12345678);
	send_ok(r, 0, &wr);
	wc = fixture_poll(r, 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_u_eq(wc.wr_id, 4711);
	assert_u_eq(ntohl(wc.imm_data), 0x12345678);
	assert_u_eq(wc.byte_len, 5000);
	assert_u_eq(wc.qp_num, r->end[1].qpn);
	assert_true(wc.wc_flags & IBV_WC_WITH_IMM);
	wc = fixture_poll(r, 0);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RDMA_WRITE);
	assert_u_eq(wc.qp_num, r->end[0].qpn);
	assert_false(wc.wc_flags & IBV_WC_WITH_IMM);
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send, pieces_are_gathered)
{
	struct fixture *r = *state;
	uint8_t *from = r->memory, *to = r->memory + FIXTURE_BYTES;
	struct ibv_sge sge[4];
	struct ibv_send_wr wr = fixture_wr(r, 0, sge, 3000);

	test_rand_bytes(from, 9000);
	for (unsigned int i = 0; i < 4; i++)
		sge[i] = (struct ibv_sge){.addr = (uintptr_t)from + 6000 - 2000 * i,
					  .length = i == 2 ? 0 : 700 + i,
					  .lkey = r->mr->lkey};
	wr.num_sge = 4;
	send_ok(r, 0, &wr);
	assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
	assert_bytes_eq(to, from + 6000, 700);
	assert_bytes_eq(to + 700, from + 4000, 701);
	assert_bytes_eq(to + 1401, from, 703);
}

/* The bytes are the caller's again, and need no MR. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send, inline_bytes_are_copied)
{
	struct fixture *r = *state;
	uint8_t mine[64], copy[64];
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, sizeof(mine));

	for (int round = 0; round < 50; round++) {
		test_rand_bytes(mine, sizeof(mine));
		memcpy(copy, mine, sizeof(mine));
		sge.addr = (uintptr_t)mine;
		sge.lkey = 0;
		wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
		send_ok(r, 0, &wr);
		memset(mine, 0xee, sizeof(mine));
		assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
		assert_bytes_eq(r->memory + FIXTURE_BYTES, copy, sizeof(copy));
	}
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_post_send, only_signaled_requests_complete)
{
	struct fixture *r = *state;
	struct ibv_wc wc;

	for (uint64_t i = 0; i < 200; i++) {
		struct ibv_sge sge;
		struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 10);

		wr.wr_id = i;
		wr.send_flags = i % 10 == 9 ? IBV_SEND_SIGNALED : 0;
		send_ok(r, 0, &wr);
		if (i % 10 == 9)
			assert_u_eq(fixture_poll(r, 0).wr_id, i);
	}
	assert_int_equal(mrc_poll_cq(r->cq[0], 1, &wc), 0);
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_modify_qp, err_flushes)
{
	struct fixture *r = *state;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 10);
	struct ibv_wc wc;

	fixture_post_recv(r, 0, 5);
	assert_int_equal(mrc_modify_qp(r->qp[0], &attr, IBV_QP_STATE, NULL, 0), 0);
	wr.send_flags = 0;
	wr.wr_id = 6;
	send_ok(r, 0, &wr); /* a flush is always told */
	for (int i = 0; i < 2; i++) {
		wc = fixture_poll(r, 0);
		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
		assert_true(wc.wr_id == 5 || wc.wr_id == 6);
	}
}
