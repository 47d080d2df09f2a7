/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_ud_qp.c - what is posted to UD QPs in each state, and when it comes out: src/ud/ud_qp.c. */
#include "unit/ud_fixture.h"

/* The memory that is not there: 0: all is; else which block of those to come. */
static uint32_t refuse_nth;

void *__wrap_calloc(size_t n, size_t size);
void *__real_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return refuse_nth && --refuse_nth == 0 ? NULL : __real_calloc(n, size);
}

static bool post_recv(struct adapter *a, uint64_t wr_id)
{
	struct rd_sge sge = {1, 100, 0};
	struct rd_recv_wr wr = {.wr_id = wr_id, .sge = &sge, .n_sge = 1};

	return mu_qp_post_recv(a->qp, &wr);
}

/* ---- the engine and its QPs ---- */

UD_TEST(mu_create, keeps_its_own_evs)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	assert_true(post_send(a->qp, 9, 1));
	assert_u_eq(run(a, 1, 1000), 1);
	test_check_between(a->tx[0].ev, EV_BASE, EV_BASE + EVS - 1, "EV", __FILE__, __LINE__);
}

/* Or all hosts would send to one plane at once when a job begins. */
UD_TEST(mu_create, begins_where_chance_says)
{
	struct adapter *a = *state;
	uint32_t first = a->qp->path.next, differ = 0;

	for (uint64_t seed = 2; seed < 6; seed++) {
		struct mu_engine *e = create_engine(a, seed);
		struct mu_qp *qp = create_qp(e, NULL, &a->user);

		differ += qp->path.next != first;
		mu_qp_destroy(qp);
		mu_destroy(e);
	}
	assert_true(differ > 0);
}

/* Nothing is left of a QP for which there is no memory: the sanitizer looks. */
UD_TEST(mu_qp_create, without_memory)
{
	struct adapter *a = *state;

	for (uint32_t nth = 1; nth <= 3; nth++) {
		refuse_nth = nth;
		assert_null(create_qp(a->e, NULL, &a->user));
		assert_u_eq(refuse_nth, 0);
	}
}

UD_TEST(mu_qp_destroy, with_datagrams_to_send)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	assert_true(post_send(a->qp, 9, 1));
	mu_qp_destroy(a->qp);
	a->qp = NULL;
	assert_u_eq(run(a, 1, 1000), 0);
	assert_u_eq(a->sent, 0);
}

/* ---- states ---- */

UD_TEST(mu_qp_modify, waits_in_sqd_with_what_is_posted)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	assert_true(post_send(a->qp, 9, 1));
	move(a->qp, RD_QPS_SQD);
	assert_u_eq(run(a, 1, 1000), 0);
	assert_u_eq(a->sent, 0);
	move(a->qp, RD_QPS_RTS);
	assert_u_eq(run(a, 1, 1000), 1);
	assert_u_eq(a->user.completions, 1);
}

UD_TEST(mu_qp_modify, nothing_posted_waits_for_no_port)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	assert_u_eq(mu_wanted_ports(a->e, ALL_PORTS), 0);
	assert_true(post_send(a->qp, 9, 1));
	assert_u_eq(mu_wanted_ports(a->e, ALL_PORTS), ALL_PORTS);
}

UD_TEST(mu_qp_modify, reset_forgets)
{
	struct adapter *a = *state;
	struct rd_qp_attr attr;

	make_ready(a->qp);
	assert_true(post_send(a->qp, 9, 1));
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_true(post_recv(a, i));
	assert_false(post_recv(a, DEPTH));
	move(a->qp, RD_QPS_RESET);
	assert_true(mu_qp_modify(a->qp, &(struct rd_qp_attr){0}, RD_QP_STATE));
	mu_qp_query(a->qp, &attr);
	assert_u_eq(attr.state, RD_QPS_RESET);
	assert_u_eq(a->user.completions, 0);
	/* There is room for as many again, and what comes out are these. */
	make_ready(a->qp);
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_true(post_recv(a, 10 + i));
	move(a->qp, RD_QPS_ERR);
	assert_u_eq(a->user.completions, DEPTH);
	for (uint32_t i = 0; i < DEPTH; i++) {
		assert_u_eq(a->user.done[i].wr_id, 10 + i);
		assert_u_eq(a->user.done[i].wr, DEPTH + i + 1);
	}
}

UD_TEST(mu_qp_modify, reset_takes_attributes_back)
{
	struct adapter *a = *state;
	struct rd_qp_attr at_first, attr;

	mu_qp_query(a->qp, &at_first);
	make_ready(a->qp);
	assert_true(mu_qp_modify(a->qp, &(struct rd_qp_attr){.state = RD_QPS_RESET}, RD_QP_STATE));
	mu_qp_query(a->qp, &attr);
	assert_u_eq(attr.q_key, at_first.q_key);
	assert_u_eq(attr.p_key, at_first.p_key);
}

UD_TEST(mu_qp_modify, err_flushes_what_is_posted)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_true(post_send(a->qp, 9, 1));
	assert_true(post_recv(a, 8));
	move(a->qp, RD_QPS_ERR);
	assert_u_eq(a->user.completions, DEPTH + 1);
	for (uint32_t i = 0; i <= DEPTH; i++) {
		assert_u_eq(a->user.done[i].status, RD_WC_WR_FLUSH_ERR);
		assert_int_equal(a->user.done[i].is_recv, i == DEPTH);
	}
}

UD_TEST(mu_qp_modify, a_psn_has_24_bits)
{
	struct adapter *a = *state;
	struct rd_qp_attr attr = {.sq_psn = 1u << 24, .q_key = 3};

	assert_false(mu_qp_modify(a->qp, &attr, RD_QP_SQ_PSN | RD_QP_Q_KEY));
	mu_qp_query(a->qp, &attr);
	assert_u_eq(attr.q_key, 0);
	attr.sq_psn = RD_BITS_24;
	assert_true(mu_qp_modify(a->qp, &attr, RD_QP_SQ_PSN));
}

/* And may be anything there. */
UD_TEST(mu_qp_modify, leaves_what_the_mask_does_not_name)
{
	struct adapter *a = *state;
	struct rd_qp_attr attr = {.sq_psn = 5, .q_key = 3, .p_key = 7};

	assert_true(mu_qp_modify(a->qp, &attr, RD_QP_SQ_PSN | RD_QP_Q_KEY | RD_QP_P_KEY));
	attr = (struct rd_qp_attr){.sq_psn = UINT32_MAX, .q_key = 4, .p_key = 8};
	assert_true(mu_qp_modify(a->qp, &attr, RD_QP_Q_KEY));
	attr.q_key = 9;
	assert_true(mu_qp_modify(a->qp, &attr, 0));
	mu_qp_query(a->qp, &attr);
	assert_u_eq(attr.sq_psn, 5);
	assert_u_eq(attr.q_key, 4);
	assert_u_eq(attr.p_key, 7);
}

UD_TEST(mu_qp_modify, receives_of_an_srq_stay_and_the_last_is_told)
{
	struct adapter *a = *state;
	const struct mt_srq_cap cap = {.depth = DEPTH, .max_sge = 1};
	void *mem = malloc(mt_srq_size(&cap));
	struct rd_sge sge = {1, 100, 0};
	struct rd_recv_wr wr = {.sge = &sge, .n_sge = 1};
	struct mt_srq *srq;

	move(a->qp, RD_QPS_INIT);
	move(a->qp, RD_QPS_ERR);
	assert_u_eq(a->user.last_wqes, 0); /* its receives are its own */
	mu_qp_destroy(a->qp);
	assert_i_eq(mt_srq_init(NULL, mem, &cap, NULL, &srq), MT_OK);
	assert_i_eq(mt_srq_post(srq, &wr), MT_OK);
	a->qp = create_qp(a->e, srq, &a->user);
	make_ready(a->qp);
	move(a->qp, RD_QPS_ERR);
	assert_u_eq(a->user.last_wqes, 1);
	assert_u_eq(a->user.completions, 0);
	assert_true(mt_srq_peek(srq, &wr));
	free(mem);
}

/* ---- posting ---- */

UD_TEST(mu_qp_post_send, to_the_highest_number)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	assert_true(post_send(a->qp, 9, MW_QPN_MAX));
	assert_false(post_send(a->qp, 9, MW_QPN_MAX + 1));
}

UD_TEST(mu_qp_post_recv, in_err_is_flushed_at_once)
{
	struct adapter *a = *state;

	assert_false(post_recv(a, 1)); /* in RESET */
	make_ready(a->qp);
	move(a->qp, RD_QPS_ERR);
	assert_true(post_recv(a, 8));
	assert_u_eq(a->user.completions, 1);
	assert_u_eq(a->user.done[0].wr_id, 8);
	assert_u_eq(a->user.done[0].status, RD_WC_WR_FLUSH_ERR);
	assert_true(a->user.done[0].is_recv);
	/* So that there is always room for another one. */
	for (uint32_t i = 0; i < 2 * DEPTH; i++)
		assert_true(post_recv(a, i));
}

/* ---- which states receive ---- */

UD_TEST(mu_receive_expected, in_rtr_rts_and_sqd)
{
	static const enum rd_qp_state order[] = {RD_QPS_INIT, RD_QPS_RTR, RD_QPS_RTS, RD_QPS_SQD,
						 RD_QPS_ERR};
	struct adapter *a = *state;

	assert_false(mu_receive_expected(a->e, QPN));
	for (uint32_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		move(a->qp, order[i]);
		assert_int_equal(mu_receive_expected(a->e, QPN), i >= 1 && i <= 3);
	}
	assert_false(mu_receive_expected(a->e, QPN + 1));
	assert_u_eq(mu_counts(a->e)->ud_drop_no_qp, 4);
}
