/* SPDX-License-Identifier: BSD-2-Clause */
/* live_fixture.c - see live_fixture.h. */
#include "live/live_fixture.h"

#include <time.h>
#include <unistd.h>

#define PATIENCE_S 60

struct mrc_qp_init_attr fixture_init_attr(const struct fixture *r, int i)
{
	return (struct mrc_qp_init_attr){
		.qp_context = (void *)(uintptr_t)(100 + i),
		.send_cq = r->cq[i],
		.recv_cq = r->cq[i],
		.cap = {.max_send_wr = FIXTURE_DEPTH,
			.max_recv_wr = FIXTURE_DEPTH,
			.max_send_sge = 4,
			.max_recv_sge = 1,
			.max_inline_data = 64},
		.pd = r->pd,
	};
}

static void open_device(struct fixture *r)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	assert_non_null(list);
	assert_non_null(list[0]);
	r->verbs = ibv_open_device(list[0]);
	assert_non_null(r->verbs);
	ibv_free_device_list(list);
	r->pd = ibv_alloc_pd(r->verbs);
	assert_non_null(r->pd);
	r->memory = calloc(FIXTURE_QPS, FIXTURE_BYTES);
	assert_non_null(r->memory);
	r->mr = ibv_reg_mr(r->pd, r->memory, FIXTURE_QPS * FIXTURE_BYTES,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(r->mr);
}

static void open_qp(struct fixture *r, int i)
{
	struct mrc_qp_init_attr init;

	r->cq[i] = mrc_create_cq(r->ctx, 2 * FIXTURE_DEPTH, &r->cq[i], r->channel, 0);
	assert_non_null(r->cq[i]);
	init = fixture_init_attr(r, i);
	r->qp[i] = mrc_create_qp(r->ctx, &init);
	assert_non_null(r->qp[i]);
	assert_int_equal(mrc_get_qpn(r->qp[i], &r->end[i].qpn), 0);
	assert_int_equal(ibv_query_gid(r->verbs, 1, 0, &r->end[i].gid), 0);
	r->end[i].psn = (uint32_t)test_rand() & 0xffffff;
	r->end[i].rkey = r->mr->rkey;
	r->end[i].address = (uintptr_t)r->memory + (size_t)i * FIXTURE_BYTES;
}

void fixture_open(struct fixture *r)
{
	*r = (struct fixture){0};
	open_device(r);
	r->ctx = mrc_create_context(r->verbs, NULL);
	assert_non_null(r->ctx);
	assert_int_equal(mrc_create_comp_channel(r->ctx, &r->channel), 0);
	for (int i = 0; i < FIXTURE_QPS; i++)
		open_qp(r, i);
}

void fixture_close(struct fixture *r)
{
	for (int i = 0; i < FIXTURE_QPS; i++) {
		if (r->qp[i])
			assert_int_equal(mrc_destroy_qp(r->qp[i]), 0);
		if (r->cq[i])
			assert_int_equal(mrc_destroy_cq(r->cq[i]), 0);
	}
	assert_int_equal(mrc_destroy_comp_channel(r->channel), 0);
	assert_int_equal(mrc_destroy_context(r->ctx), 0);
	assert_int_equal(ibv_dereg_mr(r->mr), 0);
	assert_int_equal(ibv_dealloc_pd(r->pd), 0);
	assert_int_equal(ibv_close_device(r->verbs), 0);
	free(r->memory);
}

void fixture_connect(struct fixture *r, int i, const struct fixture_end *peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};

	assert_int_equal(mrc_modify_qp(r->qp[i], &attr, IBV_QP_STATE, NULL, 0), 0);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.ah_attr = {.is_global = 1, .grh = {.dgid = peer->gid}},
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.path_mtu = IBV_MTU_1024,
	};
	assert_int_equal(mrc_modify_qp(r->qp[i], &attr,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_PATH_MTU,
				       NULL, 0),
			 0);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = r->end[i].psn};
	assert_int_equal(mrc_modify_qp(r->qp[i], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN, NULL, 0), 0);
}

int fixture_setup(void **state)
{
	static struct fixture r;

	fixture_open(&r);
	*state = &r;
	return 0;
}

int fixture_setup_connected(void **state)
{
	struct fixture *r;

	fixture_setup(state);
	r = *state;
	fixture_connect(r, 0, &r->end[1]);
	fixture_connect(r, 1, &r->end[0]);
	return 0;
}

int fixture_teardown(void **state)
{
	fixture_close(*state);
	return 0;
}

struct ibv_send_wr fixture_wr(const struct fixture *r, int i, struct ibv_sge *sge, uint32_t bytes)
{
	*sge = (struct ibv_sge){.addr = r->end[i].address, .length = bytes, .lkey = r->mr->lkey};
	return (struct ibv_send_wr){
		.wr_id = 1,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = r->end[!i].address, .rkey = r->end[!i].rkey},
	};
}

void fixture_post_recv(struct fixture *r, int i, uint64_t wr_id)
{
	struct ibv_recv_wr wr = {.wr_id = wr_id}, *bad;

	assert_int_equal(mrc_post_recv(r->qp[i], &wr, &bad), 0);
}

struct ibv_wc fixture_poll(struct fixture *r, int i)
{
	time_t end = time(NULL) + PATIENCE_S;
	struct ibv_wc wc;
	int n;

	do {
		n = mrc_poll_cq(r->cq[i], 1, &wc);
		assert_true(n >= 0);
	} while (n == 0 && time(NULL) <= end);
	if (n == 0)
		fail_msg("no completion on CQ %d within %d s", i, PATIENCE_S);
	return wc;
}

enum ibv_qp_state fixture_state(const struct fixture *r, int i)
{
	struct ibv_qp_attr attr;

	assert_int_equal(mrc_query_qp(r->qp[i], &attr, IBV_QP_STATE, NULL, 0, NULL), 0);
	return attr.qp_state;
}
