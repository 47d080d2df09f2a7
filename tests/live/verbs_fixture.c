/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_fixture.c - see verbs_fixture.h. */
#include "live/verbs_fixture.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

#define PATIENCE_MS 60000
#define PSN 0xfffff0u /* wraps around soon */
#define ACCESS_ALL                                                         \
	((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC))

void verbs_fixture_open(struct verbs_fixture *r)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	*r = (struct verbs_fixture){0};
	assert_non_null(list);
	r->ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	assert_non_null(r->ctx);
	r->pd = ibv_alloc_pd(r->ctx);
	r->memory = calloc(2, VERBS_FIXTURE_BYTES);
	r->mr = ibv_reg_mr(r->pd, r->memory, 2 * VERBS_FIXTURE_BYTES, ACCESS_ALL);
	assert_non_null(r->mr);
	for (int i = 0; i < 2; i++) {
		r->cq[i] = ibv_create_cq(r->ctx, 4 * VERBS_FIXTURE_DEPTH, &r->cq[i], NULL, 0);
		assert_non_null(r->cq[i]);
	}
}

struct ibv_qp_init_attr verbs_fixture_init(const struct verbs_fixture *r, int i)
{
	return (struct ibv_qp_init_attr){
		.send_cq = r->cq[i],
		.recv_cq = r->cq[i],
		.srq = r->srq,
		.cap = {.max_send_wr = VERBS_FIXTURE_DEPTH,
			.max_recv_wr = VERBS_FIXTURE_DEPTH,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 64},
		.qp_type = IBV_QPT_RC,
	};
}

struct ibv_qp_init_attr_ex verbs_fixture_init_ex(const struct verbs_fixture *r, int i, uint64_t ops)
{
	struct ibv_qp_init_attr init = verbs_fixture_init(r, i);

	return (struct ibv_qp_init_attr_ex){
		.send_cq = init.send_cq,
		.recv_cq = init.recv_cq,
		.cap = init.cap,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = r->pd,
		.send_ops_flags = ops,
	};
}

void verbs_fixture_connect_patient(struct verbs_fixture *r, int i, unsigned int access,
				   const struct verbs_fixture_patience *p)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = access,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = r->qp[!i]->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = p->min_rnr_timer,
		.ah_attr = {.is_global = 1, .port_num = 1},
		.timeout = p->timeout,
		.retry_cnt = p->retry_cnt,
		.rnr_retry = p->rnr_retry,
		.sq_psn = PSN,
		.max_rd_atomic = 4,
	};

	assert_int_equal(ibv_query_gid(r->ctx, 1, 0, &attr.ah_attr.grh.dgid), 0);
	assert_int_equal(
		ibv_modify_qp(r->qp[i], &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(r->qp[i], &attr,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(r->qp[i], &attr,
				       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					       IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

void verbs_fixture_connect(struct verbs_fixture *r, int i, unsigned int access)
{
	static const struct verbs_fixture_patience usual = {
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 12};

	verbs_fixture_connect_patient(r, i, access, &usual);
}

void verbs_fixture_make(struct verbs_fixture *r)
{
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr init = verbs_fixture_init(r, i);

		if (!r->qp[i])
			r->qp[i] = ibv_create_qp(r->pd, &init);
		assert_non_null(r->qp[i]);
	}
}

void verbs_fixture_qps(struct verbs_fixture *r)
{
	verbs_fixture_make(r);
	for (int i = 0; i < 2; i++)
		verbs_fixture_connect(r, i, ACCESS_ALL);
}

void verbs_fixture_close(struct verbs_fixture *r)
{
	for (int i = 0; i < 2; i++)
		if (r->qp[i])
			assert_int_equal(ibv_destroy_qp(r->qp[i]), 0);
	if (r->srq)
		assert_int_equal(ibv_destroy_srq(r->srq), 0);
	for (int i = 0; i < 2; i++)
		if (r->cq[i])
			assert_int_equal(ibv_destroy_cq(r->cq[i]), 0);
	assert_int_equal(ibv_dereg_mr(r->mr), 0);
	assert_int_equal(ibv_dealloc_pd(r->pd), 0);
	assert_int_equal(ibv_close_device(r->ctx), 0);
	free(r->memory);
}

int verbs_fixture_setup(void **state)
{
	struct verbs_fixture *r = malloc(sizeof(*r));

	assert_non_null(r);
	verbs_fixture_open(r);
	*state = r;
	return 0;
}

int verbs_fixture_setup_qps(void **state)
{
	verbs_fixture_setup(state);
	verbs_fixture_qps(*state);
	return 0;
}

int verbs_fixture_setup_srq(void **state)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = VERBS_FIXTURE_DEPTH, .max_sge = 4}};
	struct verbs_fixture *r;

	verbs_fixture_setup(state);
	r = *state;
	r->srq = ibv_create_srq(r->pd, &init);
	assert_non_null(r->srq);
	verbs_fixture_qps(r);
	return 0;
}

int verbs_fixture_teardown(void **state)
{
	verbs_fixture_close(*state);
	free(*state);
	return 0;
}

struct ibv_sge verbs_fixture_sge(const struct verbs_fixture *r, int i, uint32_t offset,
				 uint32_t bytes)
{
	uintptr_t at = (uintptr_t)r->memory + (size_t)i * VERBS_FIXTURE_BYTES + offset;

	return (struct ibv_sge){.addr = at, .length = bytes, .lkey = r->mr->lkey};
}

void verbs_fixture_send(struct verbs_fixture *r, int i, uint64_t wr_id, uint32_t bytes)
{
	struct ibv_sge sge = verbs_fixture_sge(r, i, 0, bytes);
	struct ibv_send_wr *bad, wr = {.wr_id = wr_id,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED};

	assert_int_equal(ibv_post_send(r->qp[i], &wr, &bad), 0);
}

void verbs_fixture_write(struct verbs_fixture *r, int i, uint64_t wr_id, uint32_t bytes)
{
	struct ibv_sge sge = verbs_fixture_sge(r, i, 0, bytes),
		       to = verbs_fixture_sge(r, !i, 0, bytes);
	struct ibv_send_wr *bad, wr = {.wr_id = wr_id,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .send_flags = IBV_SEND_SIGNALED,
				       .wr.rdma = {.remote_addr = to.addr, .rkey = r->mr->rkey}};

	assert_int_equal(ibv_post_send(r->qp[i], &wr, &bad), 0);
}

struct ibv_wc verbs_fixture_poll(struct ibv_cq *cq)
{
	const struct timespec rest = {.tv_nsec = 100000};
	struct ibv_wc wc;
	int n = 0;

	for (int i = 0; i < 10 * PATIENCE_MS && n == 0; i++) {
		n = ibv_poll_cq(cq, 1, &wc);
		if (n == 0)
			nanosleep(&rest, NULL);
	}
	assert_int_equal(n, 1);
	return wc;
}

struct ibv_cq_ex *verbs_fixture_start_poll(struct ibv_cq *cq)
{
	struct ibv_cq_ex *extended = (struct ibv_cq_ex *)cq;
	const struct timespec rest = {.tv_nsec = 100000};
	struct ibv_poll_cq_attr attr = {0};
	int err = ENOENT;

	for (int i = 0; i < 10 * PATIENCE_MS && err == ENOENT; i++) {
		err = ibv_start_poll(extended, &attr);
		if (err)
			nanosleep(&rest, NULL);
	}
	assert_int_equal(err, 0);
	return extended;
}

struct ibv_async_event verbs_fixture_event(struct verbs_fixture *r)
{
	struct pollfd fd = {.fd = r->ctx->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
	assert_int_equal(ibv_get_async_event(r->ctx, &event), 0);
	return event;
}
