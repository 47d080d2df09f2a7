/* SPDX-License-Identifier: BSD-2-Clause */
/* live_rig.c - see live_rig.h. */
#include "live/live_rig.h"

#include <time.h>
#include <unistd.h>

#define PATIENCE_S 10

struct mrc_qp_init_attr rig_init_attr(const struct rig *r, int i)
{
	return (struct mrc_qp_init_attr){
		.qp_context = (void *)(uintptr_t)(100 + i),
		.send_cq = r->cq[i],
		.recv_cq = r->cq[i],
		.cap = {.max_send_wr = RIG_DEPTH,
			.max_recv_wr = RIG_DEPTH,
			.max_send_sge = 4,
			.max_recv_sge = 1,
			.max_inline_data = 64},
		.pd = r->pd,
	};
}

static void open_device(struct rig *r)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	assert_non_null(list);
	assert_non_null(list[0]);
	r->verbs = ibv_open_device(list[0]);
	assert_non_null(r->verbs);
	ibv_free_device_list(list);
	r->pd = ibv_alloc_pd(r->verbs);
	assert_non_null(r->pd);
	r->memory = calloc(RIG_QPS, RIG_BYTES);
	assert_non_null(r->memory);
	r->mr = ibv_reg_mr(r->pd, r->memory, RIG_QPS * RIG_BYTES,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(r->mr);
}

static void open_qp(struct rig *r, int i)
{
	struct mrc_qp_init_attr init;

	r->cq[i] = mrc_create_cq(r->ctx, 2 * RIG_DEPTH, &r->cq[i], r->channel, 0);
	assert_non_null(r->cq[i]);
	init = rig_init_attr(r, i);
	r->qp[i] = mrc_create_qp(r->ctx, &init);
	assert_non_null(r->qp[i]);
	assert_int_equal(mrc_get_qpn(r->qp[i], &r->end[i].qpn), 0);
	assert_int_equal(ibv_query_gid(r->verbs, 1, 0, &r->end[i].gid), 0);
	r->end[i].psn = (uint32_t)test_rand() & 0xffffff;
	r->end[i].rkey = r->mr->rkey;
	r->end[i].address = (uintptr_t)r->memory + (size_t)i * RIG_BYTES;
}

void rig_open(struct rig *r)
{
	*r = (struct rig){0};
	open_device(r);
	r->ctx = mrc_create_context(r->verbs, NULL);
	assert_non_null(r->ctx);
	assert_int_equal(mrc_create_comp_channel(r->ctx, &r->channel), 0);
	for (int i = 0; i < RIG_QPS; i++)
		open_qp(r, i);
}

void rig_close(struct rig *r)
{
	for (int i = 0; i < RIG_QPS; i++) {
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

void rig_connect(struct rig *r, int i, const struct rig_end *peer)
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

int rig_setup(void **state)
{
	static struct rig r;

	rig_open(&r);
	*state = &r;
	return 0;
}

int rig_setup_connected(void **state)
{
	struct rig *r;

	rig_setup(state);
	r = *state;
	rig_connect(r, 0, &r->end[1]);
	rig_connect(r, 1, &r->end[0]);
	return 0;
}

int rig_teardown(void **state)
{
	rig_close(*state);
	return 0;
}

struct ibv_send_wr rig_wr(const struct rig *r, int i, struct ibv_sge *sge, uint32_t bytes)
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

void rig_post_recv(struct rig *r, int i, uint64_t wr_id)
{
	struct ibv_recv_wr wr = {.wr_id = wr_id}, *bad;

	assert_int_equal(mrc_post_recv(r->qp[i], &wr, &bad), 0);
}

struct ibv_wc rig_poll(struct rig *r, int i)
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

enum ibv_qp_state rig_state(const struct rig *r, int i)
{
	struct ibv_qp_attr attr;

	assert_int_equal(mrc_query_qp(r->qp[i], &attr, IBV_QP_STATE, NULL, 0, NULL), 0);
	return attr.qp_state;
}
