/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_change.c - objects of verbs that change after they were made: registrations made
 * again, CQs of another size; PDs under other names; clocks; functions of newer releases.
 */
#include "live/verbs_fixture.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define QPS_TEST(function, name) \
	TEST_WITH(verbs_fixture_setup_qps, verbs_fixture_teardown, function, name)
#define FIXTURE_TEST(function, name) \
	TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, function, name)

/* ---- registrations ---- */

static struct ibv_mr *reg(struct verbs_fixture *r, unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_mr(r->pd, r->memory + VERBS_FIXTURE_BYTES, 4096, access);

	assert_non_null(mr);
	return mr;
}

/* A WRITE of ten bytes with this key to this address. */
static enum ibv_wc_status write_to(struct verbs_fixture *r, const struct ibv_mr *mr, void *to)
{
	struct ibv_sge sge = verbs_fixture_sge(r, 0, 0, 10);
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .send_flags = IBV_SEND_SIGNALED,
				       .wr.rdma = {(uintptr_t)to, mr->rkey}};

	assert_int_equal(ibv_post_send(r->qp[0], &wr, &bad), 0);
	return verbs_fixture_poll(r->cq[0]).status;
}

QPS_TEST(ibv_rereg_mr, access)
{
	struct verbs_fixture *r = *state;
	struct ibv_mr *mr = reg(r, IBV_ACCESS_LOCAL_WRITE);

	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
			 0);
	assert_int_equal(write_to(r, mr, mr->addr), IBV_WC_SUCCESS);
	assert_int_equal(
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE),
		0);
	assert_int_equal(write_to(r, mr, mr->addr), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

QPS_TEST(ibv_rereg_mr, translation)
{
	struct verbs_fixture *r = *state;
	struct ibv_mr *mr = reg(r, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	uint8_t *before = mr->addr, *after = before + 8192;

	test_rand_bytes(r->memory, 10);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, after, 100, 0), 0);
	assert_ptr_equal(mr->addr, after);
	assert_u_eq(mr->length, 100);
	assert_int_equal(write_to(r, mr, after), IBV_WC_SUCCESS);
	assert_bytes_eq(after, r->memory, 10);
	assert_int_equal(write_to(r, mr, before), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

QPS_TEST(ibv_rereg_mr, pd)
{
	struct verbs_fixture *r = *state;
	struct ibv_mr *mr = reg(r, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	struct ibv_pd *pd = ibv_alloc_pd(r->ctx);

	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	assert_ptr_equal(mr->pd, pd);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(write_to(r, mr, mr->addr), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void refuse_rereg(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
			 int access, int err)
{
	errno = 0;
	assert_int_equal(ibv_rereg_mr(mr, flags, pd, addr, length, access), IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(errno, err);
}

/* What is refused changes nothing. */
QPS_TEST(ibv_rereg_mr, refusals)
{
	struct verbs_fixture *r = *state;
	struct ibv_mr *mr = reg(r, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *sealed = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	refuse_rereg(mr, 0, NULL, NULL, 0, 0, EINVAL);
	refuse_rereg(mr, 8, NULL, NULL, 0, 0, EINVAL);
	refuse_rereg(mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0, EINVAL);
	refuse_rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, r->memory, 0, 0, EINVAL);
	refuse_rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, sealed, page, 0, EFAULT);
	refuse_rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE,
		     EINVAL);
	refuse_rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_ON_DEMAND,
		     EOPNOTSUPP);
	refuse_rereg(NULL, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0, EINVAL);
	assert_int_equal(write_to(r, mr, mr->addr), IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(sealed, page);
}

/* A receive is looked at when it is used, as the registration is then. REQ(ext.recv.scatter) */
QPS_TEST(ibv_post_recv, memory_that_is_none)
{
	struct verbs_fixture *r = *state;
	struct ibv_sge sge = verbs_fixture_sge(r, 1, 0, 100);
	struct ibv_recv_wr *bad, wr = {.wr_id = 5, .sg_list = &sge, .num_sge = 1};

	sge.lkey = 0;
	assert_int_equal(ibv_post_recv(r->qp[1], &wr, &bad), 0);
	verbs_fixture_send(r, 0, 6, 100);
	assert_int_equal(verbs_fixture_poll(r->cq[1]).status, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_REM_OP_ERR);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

static void post_write(struct verbs_fixture *r, uint64_t wr_id, uint32_t lkey)
{
	struct ibv_sge sge = {.addr = (uintptr_t)r->memory, .length = 100, .lkey = lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = wr_id,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .send_flags = IBV_SEND_SIGNALED};

	wr.wr.rdma.remote_addr = verbs_fixture_sge(r, 1, 0, 100).addr;
	wr.wr.rdma.rkey = r->mr->rkey;
	assert_int_equal(ibv_post_send(r->qp[0], &wr, &bad), 0);
}

/* What is before it completes, what is behind it is flushed; the peer notices nothing.
 * REQ(ext.send.local) */
QPS_TEST(ibv_post_send, memory_that_is_none)
{
	static const enum ibv_wc_status want[] = {IBV_WC_SUCCESS, IBV_WC_SUCCESS,
						  IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR};
	struct verbs_fixture *r = *state;

	post_write(r, 0, r->mr->lkey);
	post_write(r, 1, r->mr->lkey);
	post_write(r, 2, r->mr->lkey ^ 0x55);
	post_write(r, 3, r->mr->lkey);
	for (uint64_t i = 0; i < 4; i++) {
		struct ibv_wc wc = verbs_fixture_poll(r->cq[0]);

		assert_u_eq(wc.wr_id, i);
		assert_int_equal(wc.status, want[i]);
	}
	assert_int_equal(state_of(r->qp[0]), IBV_QPS_ERR);
	assert_int_equal(state_of(r->qp[1]), IBV_QPS_RTS);
}

/* As the very first request, key 0, which is nobody's. */
QPS_TEST(ibv_post_send, key_zero)
{
	struct verbs_fixture *r = *state;

	post_write(r, 7, 0);
	assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_LOC_PROT_ERR);
}

/* ---- CQs ---- */

/* What it holds stays, in its order. */
QPS_TEST(ibv_resize_cq, keeps_completions)
{
	struct verbs_fixture *r = *state;
	struct ibv_wc wc;

	for (uint64_t i = 0; i < 10; i++)
		verbs_fixture_write(r, 0, i, 1);
	wc = verbs_fixture_poll(r->cq[0]);
	assert_u_eq(wc.wr_id, 0);
	verbs_fixture_write(r, 1, 0, 1);
	verbs_fixture_poll(
		r->cq[1]); /* behind which the other nine have come as well, or soon do */
	assert_int_equal(ibv_resize_cq(r->cq[0], 1000), 0);
	assert_true(r->cq[0]->cqe >= 1000);
	for (uint64_t i = 1; i < 10; i++)
		assert_u_eq(verbs_fixture_poll(r->cq[0]).wr_id, i);
	assert_int_equal(ibv_resize_cq(r->cq[0], 3), 0);
	assert_true(r->cq[0]->cqe >= 3 && r->cq[0]->cqe < 1000);
	verbs_fixture_write(r, 0, 77, 1);
	assert_u_eq(verbs_fixture_poll(r->cq[0]).wr_id, 77);
}

/* Flushed WRs are complete at once. */
QPS_TEST(ibv_resize_cq, refusals)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_device_attr dev;

	assert_int_equal(ibv_query_device(r->ctx, &dev), 0);
	assert_int_equal(ibv_modify_qp(r->qp[0], &attr, IBV_QP_STATE), 0);
	for (uint64_t i = 0; i < 5; i++)
		verbs_fixture_write(r, 0, i, 1);
	assert_int_equal(ibv_resize_cq(r->cq[0], 4), EINVAL);
	assert_int_equal(ibv_resize_cq(r->cq[0], 0), EINVAL);
	assert_int_equal(ibv_resize_cq(r->cq[0], dev.max_cqe + 1), EINVAL);
	assert_int_equal(ibv_resize_cq(NULL, 4), EINVAL);
	assert_int_equal(ibv_resize_cq(r->cq[0], 5), 0);
	for (uint64_t i = 0; i < 5; i++)
		assert_u_eq(verbs_fixture_poll(r->cq[0]).wr_id, i);
}

/* ---- domains ---- */

/* QPs and MRs of a parent domain are of its PD. */
FIXTURE_TEST(ibv_alloc_parent_domain, is_its_pd)
{
	struct verbs_fixture *r = *state;
	struct ibv_td_init_attr td_init = {0};
	struct ibv_td *td = ibv_alloc_td(r->ctx, &td_init);
	struct ibv_parent_domain_init_attr init = {.pd = r->pd, .td = td};
	struct ibv_pd *domain = ibv_alloc_parent_domain(r->ctx, &init);
	struct ibv_qp_init_attr qp_init = verbs_fixture_init(r, 0);

	assert_non_null(td);
	assert_non_null(domain);
	r->qp[0] = ibv_create_qp(domain, &qp_init);
	verbs_fixture_qps(r);
	verbs_fixture_write(r, 0, 1, 100);
	assert_int_equal(verbs_fixture_poll(r->cq[0]).status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_dealloc_td(td), EBUSY);
	assert_int_equal(ibv_dealloc_pd(r->pd), EBUSY);
	assert_int_equal(ibv_destroy_qp(r->qp[0]), 0);
	r->qp[0] = NULL;
	assert_int_equal(ibv_dealloc_pd(domain), 0);
	assert_int_equal(ibv_dealloc_td(td), 0);
}

FIXTURE_TEST(ibv_alloc_parent_domain, refusals)
{
	struct verbs_fixture *r = *state;
	struct ibv_td_init_attr td_init = {.comp_mask = 1};
	struct ibv_parent_domain_init_attr init = {.pd = NULL};

	assert_null(ibv_alloc_td(r->ctx, &td_init));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(ibv_alloc_parent_domain(r->ctx, &init));
	assert_int_equal(errno, EINVAL);
	init = (struct ibv_parent_domain_init_attr){.pd = r->pd, .comp_mask = 4};
	errno = 0;
	assert_null(ibv_alloc_parent_domain(r->ctx, &init));
	assert_int_equal(errno, EINVAL);
}

/* ---- clocks ---- */

FIXTURE_TEST(ibv_query_rt_values_ex, is_the_clock_of_completions)
{
	struct verbs_fixture *r = *state;
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	struct ibv_device_attr_ex attr;
	struct timespec before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_int_equal(ibv_query_rt_values_ex(r->ctx, &values), 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(values.raw_clock.tv_sec >= before.tv_sec);
	assert_true(values.raw_clock.tv_sec <= after.tv_sec);
	values.comp_mask = IBV_VALUES_MASK_RESERVED;
	assert_int_equal(ibv_query_rt_values_ex(r->ctx, &values), EINVAL);
	assert_int_equal(ibv_query_device_ex(r->ctx, NULL, &attr), 0);
	assert_u_eq(attr.completion_timestamp_mask, UINT64_MAX);
	assert_u_eq(attr.hca_core_clock, 1000000); /* kHz: it counts ns */
}

/* ---- newer releases ---- */

/* Every function of a node is there for programs that ask for it by its name and node. */
TEST(libibverbs, has_the_nodes_of_newer_releases)
{
	static const char *const names[][2] = {
		{"IBVERBS_1.15", "ibv_alloc_dmah"},
		{"IBVERBS_1.15", "ibv_reg_mr_ex"},
		{"IBVERBS_1.16", "ibv_query_port_speed"},
		{"IBVERBS_1.17", "ibv_alloc_buf"},
		{"IBVERBS_1.18", "ibv_create_comp_cntr"},
		{"IBVERBS_1.18", "_ibv_query_comp_cntr_caps"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!dlvsym(RTLD_DEFAULT, names[i][1], names[i][0]))
			fail_msg("no %s in %s", names[i][1], names[i][0]);
	assert_null(dlvsym(RTLD_DEFAULT, "ibv_reg_mr_ex", "IBVERBS_1.14"));
}

FIXTURE_TEST(ibv_query_port_speed, is_that_of_all_planes)
{
	struct verbs_fixture *r = *state;
	union {
		void *symbol;
		int (*call)(struct ibv_context *, uint32_t, uint64_t *);
	} query = {.symbol = dlsym(RTLD_DEFAULT, "ibv_query_port_speed")};
	uint64_t speed = 0;

	assert_non_null(query.symbol);
	assert_int_equal(query.call(r->ctx, 1, &speed), 0);
	assert_true(speed > 0);
	assert_int_equal(query.call(r->ctx, 2, &speed), EINVAL);
}
