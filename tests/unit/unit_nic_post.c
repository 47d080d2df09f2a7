/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_post.c - posting: each wrong WR, full queues, and how many were taken. */
#include "unit/nic_fixture.h"

#include <errno.h>

#include "host/progress/progress.h"

#define POST_TEST(function, name) TEST_WITH(fixture_setup, fixture_teardown, function, name)

struct post_wr {
	struct rd_sge sge[5];
	struct rd_send_wr wr;
};

static void post_good(struct nic_fixture *fixture, struct post_wr *p)
{
	*p = (struct post_wr){.wr = {.sge = p->sge, .n_sge = 1, .rkey = 1}};
	for (int i = 0; i < 5; i++)
		p->sge[i] = (struct rd_sge){(uintptr_t)fixture->buffer, 8, mh_mr_lkey(fixture->mr)};
}

static int post_send(struct nic_fixture *fixture, struct post_wr *p)
{
	uint32_t posted = 99;
	int err = mh_qp_post_send(fixture->qp, &p->wr, 1, &posted);

	assert_u_eq(posted, err ? 0 : 1);
	return err;
}

POST_TEST(mh_qp_post_send, wrong_state)
{
	struct nic_fixture *fixture = *state;
	struct post_wr p;

	post_good(fixture, &p);
	assert_i_eq(post_send(fixture, &p), EINVAL);
}

/* REQ(api.post-send.lkey) */
POST_TEST(mh_qp_post_send, wrong_work_requests)
{
	struct nic_fixture *fixture = *state;
	struct post_wr p;

	assert_i_eq(fixture_connect(fixture), 0);
	post_good(fixture, &p);
	p.wr.flags = 32;
	assert_i_eq(post_send(fixture, &p), EINVAL);
	post_good(fixture, &p);
	p.wr.n_sge = 4;
	assert_i_eq(post_send(fixture, &p), EINVAL);
	post_good(fixture, &p);
	p.sge[0].lkey = 0;
	assert_i_eq(post_send(fixture, &p), EFAULT);
	p.sge[0].lkey = mh_mr_lkey(fixture->mr) ^ 1;
	assert_i_eq(post_send(fixture, &p), EFAULT);
	post_good(fixture, &p);
	p.sge[0].length = FIXTURE_BUFFER + 1;
	assert_i_eq(post_send(fixture, &p), EFAULT);
	post_good(fixture, &p);
	p.sge[0].addr--;
	assert_i_eq(post_send(fixture, &p), EFAULT);
	post_good(fixture, &p);
	/* As long as a message may be, and longer than the memory is. */
	p.sge[0].length = UINT32_MAX;
	assert_i_eq(post_send(fixture, &p), EFAULT);
	p.wr.n_sge = 2;
	p.sge[0].length = p.sge[1].length = 1u << 31;
	assert_i_eq(post_send(fixture, &p), EINVAL);
}

POST_TEST(mh_qp_post_send, memory_of_another_pd)
{
	struct nic_fixture *fixture = *state;
	struct mh_pd *pd;
	struct mh_mr *mr;
	struct post_wr p;

	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_pd_create(fixture->dev, NULL, &pd), 0);
	assert_i_eq(mh_mr_reg(pd, fixture->buffer, 64, (uintptr_t)fixture->buffer, 0, &mr), 0);
	post_good(fixture, &p);
	p.sge[0].lkey = mh_mr_lkey(mr);
	assert_i_eq(post_send(fixture, &p), EFAULT);
	assert_i_eq(mh_mr_dereg(mr), 0);
	assert_i_eq(mh_pd_destroy(pd), 0);
}

POST_TEST(mh_qp_post_send, inline_needs_no_key_but_has_a_limit)
{
	struct nic_fixture *fixture = *state;
	uint8_t bytes[33] = {0};
	struct post_wr p;

	assert_i_eq(fixture_connect(fixture), 0);
	post_good(fixture, &p);
	p.wr.flags = RD_SEND_INLINE;
	p.sge[0] = (struct rd_sge){(uintptr_t)bytes, 32, 0};
	assert_i_eq(post_send(fixture, &p), 0);
	p.sge[0].length = 33;
	assert_i_eq(post_send(fixture, &p), EINVAL);
}

/* REQ(api.post-send.full) */
POST_TEST(mh_qp_post_send, stops_when_the_queue_is_full)
{
	struct nic_fixture *fixture = *state;
	struct rd_send_wr wr[10];
	uint32_t posted = 0;
	struct post_wr p;

	assert_i_eq(fixture_connect(fixture), 0);
	post_good(fixture, &p);
	for (int i = 0; i < 10; i++)
		wr[i] = p.wr;
	assert_i_eq(mh_qp_post_send(fixture->qp, wr, 10, &posted), ENOMEM);
	assert_u_eq(posted, 8);
	assert_i_eq(mh_qp_post_send(fixture->qp, wr, 1, NULL), ENOMEM);
}

POST_TEST(mh_qp_post_send, first_error_in_a_list_is_reported)
{
	struct nic_fixture *fixture = *state;
	struct rd_send_wr wr[3];
	uint32_t posted = 0;
	struct post_wr p;

	assert_i_eq(fixture_connect(fixture), 0);
	post_good(fixture, &p);
	wr[0] = wr[1] = wr[2] = p.wr;
	wr[1].n_sge = 9;
	assert_i_eq(mh_qp_post_send(fixture->qp, wr, 3, &posted), EINVAL);
	assert_u_eq(posted, 1);
}

POST_TEST(mh_qp_post_send, flushed_in_error)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr = {.state = RD_QPS_ERR};
	struct post_wr p;
	struct mh_wc wc;

	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	post_good(fixture, &p);
	p.wr.wr_id = 42;
	assert_i_eq(post_send(fixture, &p), 0);
	assert_i_eq(mh_cq_poll(fixture->cq, 1, &wc), 1);
	assert_u_eq(wc.wr_id, 42);
	assert_u_eq(wc.status, RD_WC_WR_FLUSH_ERR);
	assert_u_eq(wc.qpn, mh_qp_number(fixture->qp));
	assert_ptr_equal(wc.qp_owner, fixture);
}

POST_TEST(mh_qp_post_recv, states_and_limits)
{
	struct rd_recv_wr ids[10] = {0};
	struct nic_fixture *fixture = *state;
	uint32_t posted = 99;

	assert_i_eq(mh_qp_post_recv(fixture->qp, ids, 1, &posted), EINVAL);
	assert_u_eq(posted, 0);
	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_qp_post_recv(fixture->qp, ids, 10, &posted), ENOMEM);
	assert_u_eq(posted, 8);
}

#define TEST_LATER_NS UINT64_C(1000000000)

/* post_after_poll posts as a program does that polls: what it posts waits for the next poll. */
static void post_after_poll(struct nic_fixture *fixture)
{
	struct post_wr p;
	struct mh_wc wc;

	post_good(fixture, &p);
	assert_i_eq(mh_cq_poll(fixture->cq, 1, &wc), 0);
	/* However slow this machine is. */
	atomic_store(&fixture->dev->nic->progress.app_polled_ns, mh_now_ns() + TEST_LATER_NS);
	assert_i_eq(post_send(fixture, &p), 0);
}

POST_TEST(mh_qp_post_send, leaves_although_nobody_polls_again)
{
	struct nic_fixture *fixture = *state;
	struct mio_rx frame;

	assert_i_eq(fixture_connect(fixture), 0);
	for (int i = 0; i < 8; i++) {
		post_after_poll(fixture);
		assert_true(fixture_receive(fixture, &frame) < FIXTURE_PLANES);
	}
}

/* The progress thread is kept from it, which would do so after a while. */
POST_TEST(mh_qp_post_send, leaves_before_its_qp_goes)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr = {.state = RD_QPS_ERR};
	struct mio_rx frame;

	assert_i_eq(fixture_connect(fixture), 0);
	mh_progress_stop(fixture->dev->nic);
	fixture->dev->nic->progress.sleeps_until_ns = 0;
	post_after_poll(fixture);
	assert_true(mh_loop_rung_due(fixture->dev->nic) != UINT64_MAX);
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	assert_true(fixture_receive(fixture, &frame) < FIXTURE_PLANES);
}

/* ---- queues of a QP in ERR, which is flushed at once ---- */

static void fail_qp(struct nic_fixture *fixture)
{
	struct rd_qp_attr attr = {.state = RD_QPS_ERR};

	/* What happens is what the posts do. */
	mh_progress_stop(fixture->dev->nic);
	fixture->dev->nic->progress.sleeps_until_ns = 0;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
}

/* A place is free when its completion was polled, whatever the engine has done with the WR. */
POST_TEST(mh_qp_post_recv, flushed_ones_have_their_places_until_they_are_polled)
{
	struct nic_fixture *fixture = *state;
	struct rd_recv_wr recv = {.wr_id = 1};
	struct mh_wc wc;

	assert_i_eq(fixture_connect(fixture), 0);
	fail_qp(fixture);
	for (int i = 0; i < 8; i++)
		assert_i_eq(mh_qp_post_recv(fixture->qp, &recv, 1, NULL), 0);
	assert_i_eq(mh_qp_post_recv(fixture->qp, &recv, 1, NULL), ENOMEM);
	assert_u_eq(mh_cq_pop(fixture->cq, 1, &wc), 1);
	assert_u_eq(wc.status, RD_WC_WR_FLUSH_ERR);
	assert_i_eq(mh_qp_post_recv(fixture->qp, &recv, 1, NULL), 0);
	assert_i_eq(mh_qp_post_recv(fixture->qp, &recv, 1, NULL), ENOMEM);
}

POST_TEST(mh_qp_post_send, flushed_ones_have_their_places_until_they_are_polled)
{
	struct nic_fixture *fixture = *state;
	struct post_wr p;
	struct mh_wc wc;

	assert_i_eq(fixture_connect(fixture), 0);
	fail_qp(fixture);
	post_good(fixture, &p);
	assert_u_eq(mh_qp_send_wrs_free(fixture->qp), 8);
	for (int i = 0; i < 8; i++)
		assert_i_eq(post_send(fixture, &p), 0);
	assert_u_eq(mh_qp_send_wrs_free(fixture->qp), 0);
	assert_i_eq(post_send(fixture, &p), ENOMEM);
	assert_u_eq(mh_cq_pop(fixture->cq, 1, &wc), 1);
	assert_u_eq(mh_qp_send_wrs_free(fixture->qp), 1);
	assert_i_eq(post_send(fixture, &p), 0);
}

/* ---- other kinds ---- */

static struct mh_qp *make_qp(struct nic_fixture *fixture, enum mh_qp_type type, struct mh_srq *srq)
{
	struct mh_qp_init init = {.pd = fixture->pd,
				  .send_cq = fixture->cq,
				  .recv_cq = fixture->cq,
				  .srq = srq,
				  .type = type,
				  .extended = true,
				  .cap = {.max_send_wr = 2,
					  .max_recv_wr = 2,
					  .max_send_sge = 2,
					  .max_recv_sge = 2,
					  .max_inline = 16}};
	struct mh_qp *qp = NULL;

	assert_i_eq(mh_qp_create(&init, &qp), 0);
	return qp;
}

static void to_init(struct mh_qp *qp, bool ud)
{
	struct rd_qp_attr attr;

	mh_qp_attr_default(&attr);
	attr.state = RD_QPS_INIT;
	assert_i_eq(mh_qp_modify(qp, &attr, RD_QP_STATE | (ud ? (uint32_t)RD_QP_Q_KEY : 0)), 0);
}

/* A datagram's receive may name more than it will ever get; a message's may not. */
POST_TEST(mh_qp_post_recv, more_than_a_message_may_have)
{
	struct nic_fixture *fixture = *state;
	uint32_t lkey = mh_mr_lkey(fixture->mr);
	struct rd_sge sge[3] = {{(uintptr_t)fixture->buffer, 1u << 31, lkey},
				{(uintptr_t)fixture->buffer, 1u << 31, lkey},
				{(uintptr_t)fixture->buffer, 1, lkey}};
	struct rd_recv_wr wr = {.sge = sge, .n_sge = 2};
	struct mh_qp *rc = make_qp(fixture, MH_QPT_RC, NULL);
	struct mh_qp *ud = make_qp(fixture, MH_QPT_UD, NULL);

	to_init(rc, false);
	to_init(ud, true);
	assert_i_eq(mh_qp_post_recv(rc, &wr, 1, NULL), EINVAL);
	sge[1].length = 0;
	assert_i_eq(mh_qp_post_recv(ud, &wr, 1, NULL), 0);
	sge[1].length = 1u << 31;
	assert_i_eq(mh_qp_post_recv(ud, &wr, 1, NULL), 0);
	wr.n_sge = 3;
	assert_i_eq(mh_qp_post_recv(ud, &wr, 1, NULL), EINVAL);
	assert_i_eq(mh_qp_destroy(rc), 0);
	assert_i_eq(mh_qp_destroy(ud), 0);
}

/* As many SGEs as it has, and no receives but by it. */
POST_TEST(mh_srq_post, to_its_bounds)
{
	struct nic_fixture *fixture = *state;
	struct rd_sge sge[2] = {{(uintptr_t)fixture->buffer, 8, mh_mr_lkey(fixture->mr)},
				{(uintptr_t)fixture->buffer, 8, mh_mr_lkey(fixture->mr)}};
	struct rd_recv_wr wr = {.sge = sge, .n_sge = 1};
	struct mh_srq_cap cap = {.max_wr = 2, .max_sge = 1};
	struct mh_srq *srq;
	struct mh_qp *qp;

	assert_i_eq(mh_srq_create(fixture->pd, &cap, NULL, &srq), 0);
	qp = make_qp(fixture, MH_QPT_RC, srq);
	to_init(qp, false);
	assert_i_eq(mh_qp_post_recv(qp, &wr, 1, NULL), EINVAL);
	assert_i_eq(mh_srq_post(srq, &wr, 1, NULL), 0);
	wr.n_sge = 2;
	assert_i_eq(mh_srq_post(srq, &wr, 1, NULL), EINVAL);
	wr.n_sge = 0;
	assert_i_eq(mh_srq_post(srq, &wr, 1, NULL), 0);
	assert_i_eq(mh_srq_post(srq, &wr, 1, NULL), ENOMEM);
	assert_i_eq(mh_srq_destroy(srq), EBUSY);
	assert_i_eq(mh_qp_destroy(qp), 0);
	assert_i_eq(mh_srq_destroy(srq), 0);
}

/* What needs no packet has a place as well; what is read cannot be inline. */
POST_TEST(mh_qp_post_send, local_work_requests_and_reads)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp *qp = make_qp(fixture, MH_QPT_RC, NULL);
	struct rd_qp_attr attr = {.state = RD_QPS_ERR};
	struct rd_send_wr local = {.opcode = RD_WR_LOCAL_INV, .rkey = 1};
	struct post_wr p;

	to_init(qp, false);
	assert_i_eq(mh_qp_modify(qp, &attr, RD_QP_STATE), 0);
	post_good(fixture, &p);
	p.wr.opcode = RD_WR_READ;
	p.wr.flags = RD_SEND_INLINE;
	assert_i_eq(mh_qp_post_send(qp, &p.wr, 1, NULL), EINVAL);
	assert_u_eq(mh_qp_send_wrs_free(qp), 2);
	assert_i_eq(mh_qp_post_send(qp, &local, 1, NULL), 0);
	assert_u_eq(mh_qp_send_wrs_free(qp), 1);
	assert_i_eq(mh_qp_post_send(qp, &local, 1, NULL), 0);
	assert_i_eq(mh_qp_post_send(qp, &local, 1, NULL), ENOMEM);
	assert_i_eq(mh_qp_destroy(qp), 0);
}
