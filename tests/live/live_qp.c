/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_qp.c - making, changing and reading QPs: defaults, ranges, states, and that a refused call
 * leaves everything as it was. REQ(api.errors)
 */
#include "live/live_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* How a QP must not be made: each edit of a good description is refused with EINVAL. */
static void edit_init(const struct fixture *r, int n, struct mrc_qp_init_attr *init)
{
	static struct ibv_pd strange_pd;
	struct ibv_device_attr limits;

	assert_int_equal(ibv_query_device(r->verbs, &limits), 0);
	switch (n) {
	case 0:
		init->send_cq = NULL;
		break;
	case 1:
		init->recv_cq = NULL;
		break;
	case 2:
		init->pd = NULL;
		break;
	case 3:
		init->pd = &strange_pd;
		break;
	case 4:
		init->send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND;
		break;
	case 5: /* REQ(api.protocol-version) */
		init->protocol_version = (enum mrc_protocol_version)2;
		break;
	case 6:
		init->cap.max_send_wr = 0;
		break;
	case 7:
		init->cap.max_send_wr = (uint32_t)limits.max_qp_wr + 1;
		break;
	case 8:
		init->cap.max_recv_wr = (uint32_t)limits.max_qp_wr + 1;
		break;
	case 9:
		init->cap.max_send_sge = (uint32_t)limits.max_sge + 1;
		break;
	case 10:
		init->cap.max_send_sge = 0;
		break;
	case 11:
		init->cap.max_inline_data = 1u << 20;
		break;
	default:
		fail();
	}
}

/* REQ(api.qp.create) */
TEST_WITH(fixture_setup, fixture_teardown, mrc_create_qp, refusals)
{
	struct fixture *r = *state;

	for (int n = 0; n <= 11; n++) {
		struct mrc_qp_init_attr init = fixture_init_attr(r, 0);

		edit_init(r, n, &init);
		errno = 0;
		if (mrc_create_qp(r->ctx, &init))
			fail_msg("edit %d was accepted", n);
		assert_int_equal(errno, EINVAL);
	}
	assert_null(mrc_create_qp(r->ctx, NULL));
	assert_null(mrc_create_qp(NULL, NULL));
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_create_qp, objects_of_other_contexts)
{
	struct fixture *r = *state;
	struct mrc_context *other = mrc_create_context(r->verbs, NULL);
	struct ibv_context *verbs = ibv_open_device(r->verbs->device);
	struct ibv_pd *pd = ibv_alloc_pd(verbs);
	struct mrc_qp_init_attr init = fixture_init_attr(r, 0);

	errno = 0;
	assert_null(mrc_create_qp(other, &init)); /* its CQs are r->ctx's */
	assert_int_equal(errno, EINVAL);
	init.pd = pd;
	errno = 0;
	assert_null(mrc_create_qp(r->ctx, &init));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_close_device(verbs), 0);
	assert_int_equal(mrc_destroy_context(other), 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_create_qp, tells_what_was_granted)
{
	struct fixture *r = *state;
	struct mrc_qp_init_attr init = fixture_init_attr(r, 0), read;
	struct mrc_qp *qp;
	uint32_t qpn;

	init.sq_sig_all = 5;
	init.protocol_version = MRC_PROTOCOL_VERSION_1;
	qp = mrc_create_qp(r->ctx, &init);
	assert_non_null(qp);
	assert_true(init.cap.max_send_wr >= FIXTURE_DEPTH && init.cap.max_inline_data >= 64);
	assert_int_equal(mrc_query_qp(qp, NULL, 0, NULL, 0, &read), 0);
	assert_memory_equal(&read.cap, &init.cap, sizeof(read.cap));
	assert_ptr_equal(read.qp_context, init.qp_context);
	assert_ptr_equal(read.pd, r->pd);
	assert_int_equal(read.sq_sig_all, 5);
	assert_int_equal(read.protocol_version, MRC_PROTOCOL_VERSION_1);
	/* It is what a program gets that does not say. */
	assert_int_equal(fixture_init_attr(r, 0).protocol_version, MRC_PROTOCOL_VERSION_0);
	assert_int_equal(mrc_query_qp(r->qp[0], NULL, 0, NULL, 0, &read), 0);
	assert_int_equal(read.protocol_version, MRC_PROTOCOL_VERSION_1);
	assert_true(read.send_ops_flags & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
	assert_int_equal(mrc_get_qpn(qp, &qpn), 0);
	assert_true(qpn > 2 && qpn < (1u << 24));
	assert_int_equal(mrc_get_qpn(qp, NULL), -1);
	assert_int_equal(mrc_get_qpn(NULL, &qpn), -1);
	assert_int_equal(mrc_destroy_qp(qp), 0);
	assert_int_equal(mrc_destroy_qp(NULL), EINVAL);
}

static void take_picture(const struct fixture *r, struct ibv_qp_attr *v, struct mrc_qp_attr *m)
{
	memset(v, 0, sizeof(*v));
	memset(m, 0, sizeof(*m));
	assert_int_equal(mrc_query_qp(r->qp[0], v, IBV_QP_STATE, m, MRC_QP_MPR, NULL), 0);
}

/* A modify call that must be refused with EINVAL and change nothing. */
static void assert_refused(const struct fixture *r, struct ibv_qp_attr *v, int v_mask,
			   struct mrc_qp_attr *m, int m_mask)
{
	struct ibv_qp_attr v_before, v_after;
	struct mrc_qp_attr m_before, m_after;

	take_picture(r, &v_before, &m_before);
	errno = 0;
	assert_int_equal(mrc_modify_qp(r->qp[0], v, v_mask, m, m_mask), EINVAL);
	assert_int_equal(errno, EINVAL);
	take_picture(r, &v_after, &m_after);
	assert_bytes_eq(&v_after, &v_before, sizeof(v_before));
	assert_bytes_eq(&m_after, &m_before, sizeof(m_before));
}

/* REQ(api.qp.ranges) Each row is refused alone, and together with a field that is fine. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, mrc_ranges)
{
	struct fixture *r = *state;
	static const struct {
		int mask;
		struct mrc_qp_attr attr;
	} bad[] = {
		{MRC_QP_MPR, {.mpr.mpr = 0}},
		{MRC_QP_MPR_DEST, {.mpr.mpr_dest = 0}},
		{MRC_QP_MAX_WIMM, {.wimm.max_wimm = 0}},
		{MRC_QP_MAX_WIMM_DEST, {.wimm.max_wimm_dest = 0}},
		{MRC_QP_MAX_WIMM_DEST, {.wimm.max_wimm_dest = 65535}},
		{MRC_QP_RETRY_CNT, {.retry = {.linear_cnt = 8}}},
		{MRC_QP_RETRY_CNT, {.retry = {.exp_cnt = 26}}},
		{MRC_QP_EV_PROFILE_ID, {.profile.ev_profile_id = 1u << 20}},
		{MRC_QP_EV_PROFILE_ID, {.profile.ev_profile_id = 1ull << 32}},
		{MRC_QP_CC_PROFILE_ID, {.profile.cc_profile_id = 1u << 20}},
		{MRC_QP_CC_PROFILE_ID, {.profile.cc_profile_id = 1ull << 63}},
		{MRC_QP_CAP, {.cap = 1u << 3}},
		{1 << 10, {.timeout = 0}},
		{1 << 30, {.timeout = 0}},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct mrc_qp_attr attr = bad[i].attr;

		assert_refused(r, NULL, 0, &attr, bad[i].mask);
		attr.timeout = 9;
		assert_refused(r, NULL, 0, &attr, bad[i].mask | MRC_QP_TIMEOUT);
		attr.timeout = 25;
		assert_refused(r, NULL, 0, &attr, MRC_QP_TIMEOUT);
	}
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, the_highest_values)
{
	struct fixture *r = *state;
	struct mrc_qp_attr m = {.timeout = 24, .retry = {.linear_cnt = 7, .exp_cnt = 25}}, read;
	int all = MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT;

	assert_int_equal(mrc_modify_qp(r->qp[0], NULL, 0, &m, all), 0);
	assert_int_equal(mrc_query_qp(r->qp[0], NULL, 0, &read, all, NULL), 0);
	assert_u_eq(read.timeout, 24);
	assert_u_eq(read.retry.linear_cnt, 7);
	assert_u_eq(read.retry.exp_cnt, 25);
}

/* Writing is what a peer may do unless the program says otherwise. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, access_that_nobody_named)
{
	struct fixture *r = *state;
	struct ibv_qp_attr v = {.qp_state = IBV_QPS_RESET}, read;

	assert_int_equal(mrc_modify_qp(r->qp[0], &v, IBV_QP_STATE, NULL, 0), 0);
	v.qp_state = IBV_QPS_INIT;
	assert_int_equal(mrc_modify_qp(r->qp[0], &v, IBV_QP_STATE, NULL, 0), 0);
	assert_int_equal(mrc_query_qp(r->qp[0], &read, IBV_QP_ACCESS_FLAGS, NULL, 0, NULL), 0);
	assert_u_eq(read.qp_access_flags, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	/* Later moves leave it. */
	v.qp_access_flags = 0;
	assert_int_equal(mrc_modify_qp(r->qp[0], &v, IBV_QP_ACCESS_FLAGS, NULL, 0), 0);
	v = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .dest_qp_num = r->end[1].qpn,
				 .ah_attr = {.is_global = 1, .grh = {.dgid = r->end[1].gid}}};
	assert_int_equal(
		mrc_modify_qp(r->qp[0], &v, IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN, NULL, 0),
		0);
	assert_int_equal(mrc_query_qp(r->qp[0], &read, IBV_QP_ACCESS_FLAGS, NULL, 0, NULL), 0);
	assert_u_eq(read.qp_access_flags, 0);
}

static void move_to(struct mrc_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr v = {.qp_state = state};

	assert_int_equal(mrc_modify_qp(qp, &v, IBV_QP_STATE, NULL, 0), 0);
}

static uint32_t cap_of(struct mrc_qp *qp)
{
	struct mrc_qp_attr read;

	assert_int_equal(mrc_query_qp(qp, NULL, 0, &read, MRC_QP_CAP, NULL), 0);
	return read.cap;
}

/* What was set in RESET is not taken back by a move that says nothing of it. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, set_in_reset_and_moved_later)
{
	struct fixture *r = *state;
	struct ibv_qp_attr v = {.qp_access_flags = 0}, read;
	struct mrc_qp_attr cap;

	for (uint32_t all = 1; all < 8; all += 2) {
		cap.cap = all; /* the three that there are, with and without each other */
		move_to(r->qp[0], IBV_QPS_RESET);
		assert_int_equal(mrc_modify_qp(r->qp[0], &v, IBV_QP_ACCESS_FLAGS, &cap, MRC_QP_CAP),
				 0);
		move_to(r->qp[0], IBV_QPS_INIT);
		assert_int_equal(mrc_query_qp(r->qp[0], &read, IBV_QP_ACCESS_FLAGS, NULL, 0, NULL),
				 0);
		assert_u_eq(read.qp_access_flags, 0);
		assert_u_eq(cap_of(r->qp[0]), all);
	}
}

/* Nobody named them: the peer NACKs trims and may tell service times, also after another RESET. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, capabilities_that_nobody_named)
{
	struct mrc_qp_attr cap = {.cap = MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED};
	struct fixture *r = *state;

	assert_u_eq(cap_of(r->qp[0]), 0);
	move_to(r->qp[0], IBV_QPS_RESET);
	move_to(r->qp[0], IBV_QPS_INIT);
	assert_u_eq(cap_of(r->qp[0]), 0);
	assert_int_equal(mrc_modify_qp(r->qp[0], NULL, 0, &cap, MRC_QP_CAP), 0);
	assert_u_eq(cap_of(r->qp[0]), MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED);
	move_to(r->qp[0], IBV_QPS_RESET);
	assert_u_eq(cap_of(r->qp[0]), 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, foreign_hint)
{
	struct fixture *r = *state;
	struct mrc_context *other = mrc_create_context(r->verbs, NULL);
	struct mrc_qp_hint_init_attr init = {0};
	struct mrc_qp_attr attr = {.qp_hint = mrc_create_qp_hint(other, &init)};

	assert_non_null(attr.qp_hint);
	assert_refused(r, NULL, 0, &attr, MRC_QP_HINT);
	assert_int_equal(mrc_destroy_qp_hint(attr.qp_hint), 0);
	assert_int_equal(mrc_destroy_context(other), 0);
}

static struct ibv_qp_attr good_vattr(const struct fixture *r)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.cur_qp_state = IBV_QPS_INIT,
		.path_mtu = IBV_MTU_1024,
		.rq_psn = 5,
		.sq_psn = 6,
		.dest_qp_num = r->end[1].qpn,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.ah_attr = {.is_global = 1, .grh = {.dgid = r->end[1].gid}},
	};
}

#define TO_RTR (IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN)

/* A QP in INIT, as all that follow expect. */
static void to_init(const struct fixture *r)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};

	assert_int_equal(mrc_modify_qp(r->qp[0], &attr, IBV_QP_STATE, NULL, 0), 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, verbs_ranges)
{
	struct fixture *r = *state;
	struct ibv_qp_attr v;

	to_init(r);
#define REFUSE(edit, mask)                                   \
	do {                                                 \
		v = good_vattr(r);                           \
		edit;                                        \
		assert_refused(r, &v, (int)(mask), NULL, 0); \
	} while (0)
	REFUSE(v.cur_qp_state = IBV_QPS_RTS, TO_RTR | IBV_QP_CUR_STATE);
	REFUSE(v.path_mtu = (enum ibv_mtu)0, TO_RTR | IBV_QP_PATH_MTU);
	REFUSE(v.path_mtu = (enum ibv_mtu)6, TO_RTR | IBV_QP_PATH_MTU);
	REFUSE(v.rq_psn = 1u << 24, TO_RTR | IBV_QP_RQ_PSN);
	REFUSE(v.sq_psn = 1u << 24, TO_RTR | IBV_QP_SQ_PSN);
	REFUSE(v.dest_qp_num = 1u << 24, TO_RTR);
	REFUSE(v.pkey_index = 1, TO_RTR | IBV_QP_PKEY_INDEX);
	REFUSE(v.qp_access_flags = IBV_ACCESS_MW_BIND, TO_RTR | IBV_QP_ACCESS_FLAGS);
	REFUSE(v.ah_attr.is_global = 0, TO_RTR);
	REFUSE(v.ah_attr.grh.sgid_index = 4, TO_RTR);
	REFUSE(v.ah_attr.grh.dgid.raw[0] = 0xfe, TO_RTR);
	REFUSE((void)0, IBV_QP_STATE | IBV_QP_AV);
	REFUSE((void)0, IBV_QP_STATE | IBV_QP_DEST_QPN);
	REFUSE((void)0, IBV_QP_STATE);
	REFUSE(v.qp_state = IBV_QPS_SQE, IBV_QP_STATE);
	REFUSE(v.qp_state = IBV_QPS_UNKNOWN, IBV_QP_STATE);
	REFUSE((void)0, TO_RTR | IBV_QP_CAP);
	REFUSE((void)0, TO_RTR | IBV_QP_QKEY);
	REFUSE((void)0, TO_RTR | IBV_QP_RATE_LIMIT);
#undef REFUSE
	v = good_vattr(r);
	v.rq_psn = v.sq_psn = 0xFFFFFF;
	assert_int_equal(mrc_modify_qp(r->qp[0], &v,
				       TO_RTR | IBV_QP_CUR_STATE | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN,
				       NULL, 0),
			 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, null_arguments)
{
	struct fixture *r = *state;
	struct mrc_qp_attr attr = {0};

	assert_int_equal(mrc_modify_qp(NULL, NULL, 0, NULL, 0), EINVAL);
	assert_int_equal(mrc_modify_qp(r->qp[0], NULL, IBV_QP_STATE, NULL, 0), EINVAL);
	assert_int_equal(mrc_modify_qp(r->qp[0], NULL, 0, NULL, MRC_QP_MPR), EINVAL);
	assert_int_equal(mrc_modify_qp(r->qp[0], NULL, 0, NULL, 0), 0);
	assert_int_equal(mrc_query_qp(NULL, NULL, 0, NULL, 0, NULL), EINVAL);
	assert_int_equal(mrc_query_qp(r->qp[0], NULL, IBV_QP_STATE, NULL, 0, NULL), EINVAL);
	assert_int_equal(mrc_query_qp(r->qp[0], NULL, 0, NULL, MRC_QP_MPR, NULL), EINVAL);
	assert_int_equal(mrc_query_qp(r->qp[0], NULL, 0, &attr, 1 << 12, NULL), EINVAL);
}

/* Runs mrc_modify_qp with stderr in a pipe and returns how many bytes it wrote there. */
static size_t said_by_modify(const struct fixture *r, struct ibv_qp_attr *v, int mask, char *text,
			     size_t size)
{
	int fds[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	dup2(fds[1], STDERR_FILENO);
	assert_int_equal(mrc_modify_qp(r->qp[0], v, mask, NULL, 0), 0);
	dup2(saved, STDERR_FILENO);
	n = read(fds[0], text, size - 1);
	close(fds[0]);
	close(fds[1]);
	close(saved);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* REQ(api.qp.modify.refused) Each is named the first time that this process sets it. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, classic_attributes_are_named_once)
{
	struct ibv_qp_attr v = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct fixture *r = *state;
	char text[512];

	said_by_modify(r, &v, IBV_QP_STATE | IBV_QP_ALT_PATH, text, sizeof(text));
	assert_non_null(strstr(text, "IBV_QP_ALT_PATH has no effect"));
	assert_u_eq(said_by_modify(r, &v, IBV_QP_ALT_PATH, text, sizeof(text)), 0);
}

/* REQ(api.qp.modify.refused) Common code sets classic attributes; they have no effect here. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, classic_attributes_have_no_effect)
{
	struct fixture *r = *state;
	struct mrc_qp_attr before, after;
	struct ibv_qp_attr v = good_vattr(r), read;
	int classic = IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		      IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC |
		      IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;

	to_init(r);
	take_picture(r, &read, &before);
	v.port_num = 77;
	v.timeout = 99;
	v.retry_cnt = 99;
	v.rnr_retry = 99;
	assert_int_equal(mrc_modify_qp(r->qp[0], &v, TO_RTR | classic, NULL, 0), 0);
	take_picture(r, &read, &after);
	assert_bytes_eq(&after, &before, sizeof(after));
	assert_int_equal(read.timeout, 0);
	assert_int_equal(read.qp_state, IBV_QPS_RTR);
}

/* REQ(api.qp.query) */
TEST_WITH(fixture_setup, fixture_teardown, mrc_query_qp, returns_what_was_set)
{
	struct fixture *r = *state;
	struct ibv_qp_attr v = good_vattr(r), v_read;
	struct mrc_qp_attr m = {.mpr = {.mpr = 3, .mpr_dest = 4},
				.wimm = {.max_wimm = 5, .max_wimm_dest = 6},
				.timeout = 12,
				.retry = {.linear_cnt = 2, .exp_cnt = 3},
				.cap = MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED,
				.vendor_cfg = {1, 2, 3}},
			   m_read;
	int all = MRC_QP_MPR | MRC_QP_MPR_DEST | MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST |
		  MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT | MRC_QP_CAP | MRC_QP_VENDOR_CFG | MRC_QP_HINT |
		  MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID;

	to_init(r);
	assert_int_equal(mrc_modify_qp(r->qp[0], &v,
				       TO_RTR | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN |
					       IBV_QP_ACCESS_FLAGS,
				       &m, all),
			 0);
	memset(&m_read, 0, sizeof(m_read));
	assert_int_equal(
		mrc_query_qp(r->qp[0], &v_read, IBV_QP_STATE | IBV_QP_CAP, &m_read, all, NULL), 0);
	assert_bytes_eq(&m_read, &m, sizeof(m));
	assert_int_equal(v_read.qp_state, IBV_QPS_RTR);
	assert_int_equal(v_read.cur_qp_state, IBV_QPS_RTR);
	assert_int_equal(v_read.path_mtu, IBV_MTU_1024);
	assert_u_eq(v_read.rq_psn, 5);
	assert_u_eq(v_read.sq_psn, 6);
	assert_u_eq(v_read.dest_qp_num, r->end[1].qpn);
	assert_u_eq(v_read.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	assert_bytes_eq(v_read.ah_attr.grh.dgid.raw, r->end[1].gid.raw, 16);
	assert_true(v_read.cap.max_send_wr >= FIXTURE_DEPTH);
}

/* REQ(api.qp.modify.order) From each state, which moves exist. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_modify_qp, state_machine)
{
	struct fixture *r = *state;
	enum ibv_qp_state path[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
				    IBV_QPS_ERR};

	for (size_t at = 0; at < 5; at++) {
		struct ibv_qp_attr v = good_vattr(r);

		assert_int_equal(fixture_state(r, 0), path[at]);
		for (size_t to = at + 2; to < 4; to++) {
			v.qp_state = path[to];
			assert_refused(r, &v, TO_RTR, NULL, 0);
		}
		if (at == 4)
			break;
		v.qp_state = path[at + 1];
		assert_int_equal(mrc_modify_qp(r->qp[0], &v,
					       path[at + 1] == IBV_QPS_RTR ? TO_RTR : IBV_QP_STATE,
					       NULL, 0),
				 0);
	}
	for (int to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		struct ibv_qp_attr v = good_vattr(r);

		v.qp_state = (enum ibv_qp_state)to;
		assert_refused(r, &v, IBV_QP_STATE, NULL, 0);
	}
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_modify_qp, reset_takes_attributes_back)
{
	struct fixture *r = *state;
	struct ibv_qp_attr v = {.qp_state = IBV_QPS_RESET};
	struct mrc_qp_hint_init_attr init = {0};
	struct mrc_qp_hint *hint = mrc_create_qp_hint(r->ctx, &init);
	struct mrc_qp_attr m = {.vendor_cfg = {7}, .qp_hint = hint};

	assert_int_equal(mrc_modify_qp(r->qp[0], NULL, 0, &m, MRC_QP_VENDOR_CFG | MRC_QP_HINT), 0);
	assert_int_equal(mrc_modify_qp(r->qp[0], &v, IBV_QP_STATE, NULL, 0), 0);
	assert_int_equal(mrc_query_qp(r->qp[0], &v, IBV_QP_STATE, &m, MRC_QP_VENDOR_CFG, NULL), 0);
	assert_int_equal(v.qp_state, IBV_QPS_RESET);
	assert_int_equal(m.vendor_cfg[0], 0);
	assert_null(m.qp_hint);
	assert_int_equal(mrc_destroy_qp_hint(hint), 0);
	/* and it can be used again */
	fixture_connect(r, 0, &r->end[1]);
}
