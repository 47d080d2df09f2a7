/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_objects.c - contexts, channels, CQs and hints: what they refuse, in which order they go, and
 * what a child of fork is told of them.
 * Every refusal returns the documented error and changes nothing. REQ(api.errors)
 */
#include "live/live_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <mrc/meet.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define assert_null_errno(call, err)            \
	do {                                    \
		errno = 0;                      \
		assert_null(call);              \
		assert_int_equal(errno, (err)); \
	} while (0)
/* The call returns the errno value itself and sets errno too. */
#define assert_errno(call, err)                  \
	do {                                     \
		errno = 0;                       \
		assert_int_equal((call), (err)); \
		assert_int_equal(errno, (err));  \
	} while (0)

TEST(mrc_query_version, tells_the_header)
{
	uint32_t current, oldest, vendor, vendor_oldest;

	mrc_query_version(&current, &oldest, &vendor, &vendor_oldest);
	assert_u_eq(current, MRC_API_CURRENT_VERSION);
	assert_u_eq(oldest, MRC_API_LAST_SUPPORTED_VERSION);
	assert_u_eq(vendor, MRC_VENDOR_API_CURRENT_VERSION);
	assert_u_eq(vendor_oldest, MRC_VENDOR_API_LAST_SUPPORTED_VERSION);
	mrc_query_version(NULL, NULL, NULL, NULL);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_query_device, tells_limits)
{
	struct fixture *r = *state;
	struct mrc_device_attr attr = {0}, attr_ex = {0};
	int supported = 0;

	/* REQ(api.query-device) */
	assert_int_equal(mrc_query_device(r->verbs, &attr, &supported), 0);
	assert_int_equal(supported, 1);
	assert_true(attr.mrc_protocol_version & MRC_PROTOCOL_VERSION_1);
	assert_true(attr.wimm_attr.max_wimm && attr.wimm_attr.max_wimm_dest);
	assert_true(attr.mpr_attr.max_mpr && attr.mpr_attr.mpr_resolution);
	assert_true(attr.qp_attr.max_qp_hint);
	assert_u_eq(attr.cap, MRC_DEVICE_CAP_TRIM_NACK | MRC_DEVICE_CAP_DYNAMIC_MPR);
	assert_int_equal(mrc_query_device_ex(r->verbs, r->ctx, &attr_ex, &supported), 0);
	assert_memory_equal(&attr, &attr_ex, sizeof(attr));
	assert_int_equal(mrc_query_device_ex(r->verbs, NULL, &attr_ex, &supported), 0);
}

static int setup_with_service_time(void **state)
{
	setenv("MRC_SVC_TIME", "on", 1);
	return fixture_setup(state);
}

static int teardown_with_service_time(void **state)
{
	unsetenv("MRC_SVC_TIME");
	return fixture_teardown(state);
}

/*
 * REQ(rsp.svc-time) REQ(api.query-device) The device says that it tells. QP 1 takes the time off
 * its RTTs, QP 0 was told that its peer does not tell and lives on without.
 */
TEST_WITH(setup_with_service_time, teardown_with_service_time, mrc_query_device, service_time)
{
	struct mrc_qp_attr cap = {.cap = MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED}, read = {0};
	struct fixture *r = *state;
	struct mrc_device_attr attr;
	int supported;

	assert_int_equal(mrc_query_device(r->verbs, &attr, &supported), 0);
	assert_true(attr.cap & MRC_DEVICE_CAP_SVC_TIME);
	assert_int_equal(mrc_modify_qp(r->qp[0], NULL, 0, &cap, MRC_QP_CAP), 0);
	for (int i = 0; i < FIXTURE_QPS; i++)
		fixture_connect(r, i, &r->end[!i]);
	for (int i = 0; i < 2 * FIXTURE_QPS; i++) {
		struct ibv_sge sge;
		struct ibv_send_wr wr = fixture_wr(r, i / 2, &sge, FIXTURE_BYTES), *bad;

		assert_int_equal(mrc_post_send(r->qp[i / 2], &wr, &bad), 0);
		assert_int_equal(fixture_poll(r, i / 2).status, IBV_WC_SUCCESS);
	}
	assert_int_equal(mrc_query_qp(r->qp[0], NULL, 0, &read, MRC_QP_CAP, NULL), 0);
	assert_u_eq(read.cap, MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_query_device, foreign_context_is_not_supported)
{
	struct fixture *r = *state;
	struct ibv_context foreign = {0};
	struct mrc_device_attr attr = {.cap = 77};
	int supported = 1;

	assert_int_equal(mrc_query_device(&foreign, &attr, &supported), 0);
	assert_int_equal(supported, 0);
	assert_u_eq(attr.cap, 0);
	assert_null_errno(mrc_create_context(&foreign, NULL), EOPNOTSUPP);
	assert_minus_one(mrc_query_device_ex(&foreign, r->ctx, &attr, &supported), EINVAL);
	assert_minus_one(mrc_query_device(NULL, &attr, &supported), EINVAL);
	assert_minus_one(mrc_query_device(r->verbs, NULL, &supported), EINVAL);
	assert_minus_one(mrc_query_device(r->verbs, &attr, NULL), EINVAL);
}

/* REQ(api.version) */
TEST_WITH(fixture_setup, fixture_teardown, mrc_create_context, version_range)
{
	struct fixture *r = *state;
	const uint32_t good[] = {0, 1, MRC_API_VER(1, 0, 0), MRC_API_CURRENT_VERSION,
				 (uint32_t)MRC_API_VER_LATEST};
	struct mrc_context_attr attr = {0};
	struct mrc_context *ctx;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		attr.mrc_api_version_used = good[i];
		ctx = mrc_create_context(r->verbs, &attr);
		assert_non_null(ctx);
		assert_int_equal(mrc_destroy_context(ctx), 0);
	}
	attr.mrc_api_version_used = MRC_API_CURRENT_VERSION + 1;
	assert_null_errno(mrc_create_context(r->verbs, &attr), EINVAL);
	attr = (struct mrc_context_attr){.mrc_api_version_used = MRC_API_CURRENT_VERSION,
					 .mrc_vendor_api_version_used =
						 MRC_VENDOR_API_CURRENT_VERSION + 1};
	assert_null_errno(mrc_create_context(r->verbs, &attr), EINVAL);
	assert_null_errno(mrc_create_context(NULL, NULL), EINVAL);
}

/* Sanitizers see a byte read behind it. REQ(api.version) */
TEST_WITH(fixture_setup, fixture_teardown, mrc_create_context, of_a_program_of_1_0_0)
{
	struct fixture *r = *state;
	uint32_t *attr = malloc(sizeof(*attr)); /* all that the structure had */
	struct mrc_context *ctx;

	assert_non_null(attr);
	*attr = MRC_API_VER(1, 0, 0);
	ctx = mrc_create_context(r->verbs, (struct mrc_context_attr *)(void *)attr);
	assert_non_null(ctx);
	assert_int_equal(mrc_destroy_context(ctx), 0);
	free(attr);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_destroy_context, busy_while_it_has_objects)
{
	struct fixture *r = *state;
	struct mrc_context *ctx = mrc_create_context(r->verbs, NULL);
	struct mrc_qp_hint_init_attr attr = {0};
	struct mrc_qp_hint *hint = mrc_create_qp_hint(ctx, &attr);
	struct mrc_comp_channel *channel;
	struct mrc_cq *cq;

	assert_non_null(hint);
	assert_minus_one(mrc_destroy_context(ctx), EBUSY);
	assert_int_equal(mrc_destroy_qp_hint(hint), 0);
	assert_int_equal(mrc_create_comp_channel(ctx, &channel), 0);
	assert_minus_one(mrc_destroy_context(ctx), EBUSY);
	cq = mrc_create_cq(ctx, 1, NULL, channel, 0);
	assert_non_null(cq);
	assert_errno(mrc_destroy_comp_channel(channel), EBUSY);
	assert_int_equal(mrc_destroy_cq(cq), 0);
	assert_int_equal(mrc_destroy_comp_channel(channel), 0);
	assert_int_equal(mrc_destroy_context(ctx), 0);
	assert_minus_one(mrc_destroy_context(NULL), EINVAL);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_destroy, wrong_order_is_busy_and_harmless)
{
	struct fixture *r = *state;

	assert_minus_one(mrc_destroy_context(r->ctx), EBUSY);
	assert_errno(mrc_destroy_comp_channel(r->channel), EBUSY);
	assert_errno(mrc_destroy_cq(r->cq[0]), EBUSY);
	assert_int_equal(ibv_dealloc_pd(r->pd), EBUSY);
	assert_int_equal(ibv_close_device(r->verbs), 0); /* it stays as long as it is used */
	/* all of them still work */
	fixture_connect(r, 0, &r->end[1]);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_RTS);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_create_comp_channel, arguments)
{
	struct fixture *r = *state;
	struct mrc_comp_channel *channel = NULL;
	struct mrc_cq *cq;
	void *user;
	int fd = -1;

	assert_errno(mrc_create_comp_channel(NULL, &channel), EINVAL);
	assert_errno(mrc_create_comp_channel(r->ctx, NULL), EINVAL);
	assert_minus_one(mrc_get_comp_channel_fd(NULL, &fd), EINVAL);
	assert_minus_one(mrc_get_comp_channel_fd(r->channel, NULL), EINVAL);
	assert_errno(mrc_destroy_comp_channel(NULL), EINVAL);
	assert_int_equal(mrc_get_comp_channel_fd(r->channel, &fd), 0);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_minus_one(mrc_get_cq_event(r->channel, &cq, &user), EAGAIN);
	assert_minus_one(mrc_get_cq_event(NULL, &cq, &user), EINVAL);
	assert_minus_one(mrc_get_cq_event(r->channel, NULL, &user), EINVAL);
	assert_minus_one(mrc_get_cq_event(r->channel, &cq, NULL), EINVAL);
	mrc_ack_cq_events(NULL, 1);
	mrc_ack_cq_events(r->cq[0], 5);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_create_cq, arguments)
{
	struct fixture *r = *state;
	struct ibv_device_attr limits;
	struct mrc_context *other = mrc_create_context(r->verbs, NULL);
	struct mrc_cq *cq;

	assert_int_equal(ibv_query_device(r->verbs, &limits), 0);
	assert_null_errno(mrc_create_cq(NULL, 1, NULL, NULL, 0), EINVAL);
	assert_null_errno(mrc_create_cq(r->ctx, 0, NULL, NULL, 0), EINVAL);
	assert_null_errno(mrc_create_cq(r->ctx, -1, NULL, NULL, 0), EINVAL);
	assert_null_errno(mrc_create_cq(r->ctx, limits.max_cqe + 1, NULL, NULL, 0), EINVAL);
	assert_null_errno(mrc_create_cq(r->ctx, 1, NULL, NULL, 1), EINVAL);
	assert_null_errno(mrc_create_cq(r->ctx, 1, NULL, NULL, -1), EINVAL);
	assert_null_errno(mrc_create_cq(other, 1, NULL, r->channel, 0), EINVAL);
	cq = mrc_create_cq(other, limits.max_cqe, NULL, NULL, 0);
	assert_non_null(cq);
	assert_int_equal(mrc_destroy_cq(cq), 0);
	assert_errno(mrc_destroy_cq(NULL), EINVAL);
	assert_int_equal(mrc_destroy_context(other), 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_poll_cq, arguments)
{
	struct fixture *r = *state;
	struct ibv_wc wc[2];

	assert_int_equal(mrc_poll_cq(r->cq[0], 2, wc), 0);
	assert_int_equal(mrc_poll_cq(r->cq[0], 0, NULL), 0);
	assert_minus_one(mrc_poll_cq(r->cq[0], -1, wc), EINVAL);
	assert_minus_one(mrc_poll_cq(r->cq[0], 1, NULL), EINVAL);
	assert_minus_one(mrc_poll_cq(NULL, 1, wc), EINVAL);
	assert_errno(mrc_req_notify_cq(NULL, 0), EINVAL);
}

/* REQ(api.hint) */
TEST_WITH(fixture_setup, fixture_teardown, mrc_qp_hint, keeps_what_the_mask_names)
{
	struct fixture *r = *state;
	struct mrc_qp_hint_init_attr init = {.attr = {.num_qps_per_peer = 2,
						      .num_send_peers = 3,
						      .num_remote_recv_peers = 4,
						      .vendor_cfg = {9}}};
	struct mrc_qp_hint *hint = mrc_create_qp_hint(r->ctx, &init);
	struct mrc_qp_hint_attr attr = {.num_send_peers = 8, .num_qps_per_peer = 8};

	assert_non_null(hint);
	assert_int_equal(mrc_modify_qp_hint(hint, &attr, MRC_QP_HINT_NUM_SEND_PEERS), 0);
	attr = (struct mrc_qp_hint_attr){.num_remote_recv_peers = 55};
	assert_int_equal(mrc_query_qp_hint(hint, &attr,
					   MRC_QP_HINT_NUM_SEND_PEERS |
						   MRC_QP_HINT_NUM_QPS_PER_PEER |
						   MRC_QP_HINT_VENDOR_CFG),
			 0);
	assert_int_equal(attr.num_send_peers, 8);
	assert_int_equal(attr.num_qps_per_peer, 2);
	assert_int_equal(attr.num_remote_recv_peers, 55);
	assert_int_equal(attr.vendor_cfg[0], 9);
	assert_int_equal(mrc_destroy_qp_hint(hint), 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_qp_hint, refusals)
{
	struct fixture *r = *state;
	struct mrc_qp_hint_init_attr init = {.attr = {.num_send_peers = -1}};
	struct mrc_qp_hint_attr attr = {0}, negative = {.num_qps_per_peer = -1};
	struct mrc_qp_hint *hint;

	assert_null_errno(mrc_create_qp_hint(r->ctx, &init), EINVAL);
	assert_null_errno(mrc_create_qp_hint(r->ctx, NULL), EINVAL);
	assert_null_errno(mrc_create_qp_hint(NULL, &init), EINVAL);
	init.attr.num_send_peers = 0;
	hint = mrc_create_qp_hint(r->ctx, &init);
	assert_minus_one(mrc_query_qp_hint(hint, &attr, 1 << 5), EINVAL);
	assert_minus_one(mrc_query_qp_hint(NULL, &attr, 0), EINVAL);
	assert_minus_one(mrc_query_qp_hint(hint, NULL, 0), EINVAL);
	assert_minus_one(mrc_modify_qp_hint(hint, &negative, MRC_QP_HINT_NUM_QPS_PER_PEER), EINVAL);
	negative = (struct mrc_qp_hint_attr){0, -1, -1, {0}};
	assert_minus_one(mrc_modify_qp_hint(hint, &negative, MRC_QP_HINT_NUM_REMOTE_RECV_PEERS),
			 EINVAL);
	assert_int_equal(mrc_modify_qp_hint(hint, &negative, MRC_QP_HINT_NUM_QPS_PER_PEER), 0);
	assert_minus_one(mrc_modify_qp_hint(hint, &attr, 1 << 5), EINVAL);
	assert_minus_one(mrc_destroy_qp_hint(NULL), EINVAL);
	assert_int_equal(mrc_query_qp_hint(hint, &attr, MRC_QP_HINT_NUM_QPS_PER_PEER), 0);
	assert_int_equal(attr.num_qps_per_peer, 0);
	assert_int_equal(mrc_destroy_qp_hint(hint), 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_qp_hint, busy_while_a_qp_names_it)
{
	struct fixture *r = *state;
	struct mrc_qp_hint_init_attr init = {0};
	struct mrc_qp_hint *hint = mrc_create_qp_hint(r->ctx, &init);
	struct mrc_qp_attr attr = {.qp_hint = hint};

	assert_int_equal(mrc_modify_qp(r->qp[0], NULL, 0, &attr, MRC_QP_HINT), 0);
	assert_int_equal(mrc_modify_qp(r->qp[1], NULL, 0, &attr, MRC_QP_HINT), 0);
	assert_minus_one(mrc_destroy_qp_hint(hint), EBUSY);
	attr.qp_hint = NULL;
	assert_int_equal(mrc_modify_qp(r->qp[0], NULL, 0, &attr, MRC_QP_HINT), 0);
	assert_minus_one(mrc_destroy_qp_hint(hint), EBUSY);
	assert_int_equal(mrc_destroy_qp(r->qp[1]), 0);
	r->qp[1] = NULL;
	assert_int_equal(mrc_destroy_qp_hint(hint), 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_create_qp_hint, limit)
{
	struct fixture *r = *state;
	struct mrc_device_attr limits;
	struct mrc_qp_hint_init_attr init = {0};
	struct mrc_qp_hint **hint;
	int supported;

	assert_int_equal(mrc_query_device(r->verbs, &limits, &supported), 0);
	hint = calloc(limits.qp_attr.max_qp_hint, sizeof(struct mrc_qp_hint *));
	for (uint32_t i = 0; i < limits.qp_attr.max_qp_hint; i++) {
		hint[i] = mrc_create_qp_hint(r->ctx, &init);
		assert_non_null(hint[i]);
	}
	assert_null_errno(mrc_create_qp_hint(r->ctx, &init), ENOSPC);
	for (uint32_t i = 0; i < limits.qp_attr.max_qp_hint; i++)
		assert_int_equal(mrc_destroy_qp_hint(hint[i]), 0);
	free(hint);
}

/* ---- a child ---- */

/* Says in the child which call it was. */
static bool holds(bool yes, const char *what)
{
	if (!yes)
		fprintf(stderr, "# in a child: not so: %s, errno %d\n", what, errno);
	return yes;
}

#define FAILS(call, value, err) \
	(errno = 0, holds((call) == (value) && errno == (err), #call " is " #value))
#define FAILS_ERRNO(call) FAILS(call, ENODEV, ENODEV)
#define FAILS_MINUS_ONE(call) FAILS(call, -1, ENODEV)

static bool qp_fails(const struct fixture *r)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .cur_qp_state = IBV_QPS_RESET};
	struct ibv_sge sge;
	struct ibv_send_wr send = fixture_wr(r, 0, &sge, 8), *bad_send;
	struct ibv_recv_wr recv = {.wr_id = 1}, *bad_recv;
	struct mrc_qp_attr vendor = {.vendor_cfg = {1}};
	struct mrc_meet_end end;

	return FAILS_ERRNO(
		       mrc_modify_qp(r->qp[0], &init, IBV_QP_STATE | IBV_QP_CUR_STATE, NULL, 0)) &&
	       FAILS_ERRNO(mrc_modify_qp(r->qp[0], NULL, 0, &vendor, MRC_QP_VENDOR_CFG)) &&
	       FAILS_ERRNO(mrc_post_send(r->qp[0], &send, &bad_send)) &&
	       FAILS_MINUS_ONE(mrc_post_recv(r->qp[0], &recv, &bad_recv)) &&
	       FAILS_ERRNO(mrc_meet_describe(r->qp[0], r->mr, &end)) &&
	       FAILS_ERRNO(mrc_destroy_qp(r->qp[0]));
}

static bool hint_fails(const struct fixture *r, struct mrc_qp_hint *hint)
{
	struct mrc_qp_hint_init_attr init = {0};
	int mask = MRC_QP_HINT_NUM_SEND_PEERS;

	return FAILS(mrc_create_qp_hint(r->ctx, &init), NULL, ENODEV) &&
	       FAILS_MINUS_ONE(mrc_query_qp_hint(hint, &init.attr, mask)) &&
	       FAILS_MINUS_ONE(mrc_modify_qp_hint(hint, &init.attr, mask)) &&
	       FAILS_MINUS_ONE(mrc_destroy_qp_hint(hint)) &&
	       FAILS_MINUS_ONE(mrc_destroy_context(r->ctx));
}

static bool others_fail(const struct fixture *r)
{
	struct mrc_comp_channel *channel;
	struct mrc_async_event event;
	struct mrc_cq *cq;
	struct ibv_wc wc;
	void *user;
	int fd = -1;

	return FAILS_MINUS_ONE(mrc_get_comp_channel_fd(r->channel, &fd)) &&
	       holds(fd == -1, "no descriptor is given") &&
	       FAILS_MINUS_ONE(mrc_poll_cq(r->cq[0], 1, &wc)) &&
	       FAILS_ERRNO(mrc_req_notify_cq(r->cq[0], 0)) &&
	       FAILS_MINUS_ONE(mrc_get_cq_event(r->channel, &cq, &user)) &&
	       FAILS_MINUS_ONE(mrc_get_async_event(r->ctx, &event)) &&
	       FAILS_ERRNO(mrc_create_comp_channel(r->ctx, &channel)) &&
	       FAILS(mrc_create_cq(r->ctx, 1, NULL, NULL, 0), NULL, ENODEV) &&
	       FAILS_ERRNO(mrc_destroy_cq(r->cq[0])) &&
	       FAILS_ERRNO(mrc_destroy_comp_channel(r->channel)) &&
	       FAILS_MINUS_ONE(mrc_destroy_context(r->ctx));
}

/* What is said there of a QP, and of the parent's verbs context and PD. */
static bool is_told(const struct fixture *r)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct mrc_qp_init_attr how = fixture_init_attr(r, 0);
	struct mrc_qp_attr mrc_attr = {.vendor_cfg = {1}};
	struct mrc_device_attr device;
	int supported = 1;

	return mrc_query_qp(r->qp[0], &attr, IBV_QP_STATE, &mrc_attr, MRC_QP_HINT, NULL) == 0 &&
	       holds(attr.qp_state == IBV_QPS_ERR, "mrc_query_qp says ERR") &&
	       holds(!mrc_attr.qp_hint && !mrc_attr.vendor_cfg[0], "mrc_query_qp has no hint") &&
	       mrc_query_device(r->verbs, &device, &supported) == 0 &&
	       holds(supported == 0, "mrc_query_device finds none") &&
	       FAILS(mrc_create_context(r->verbs, NULL), NULL, EOPNOTSUPP) &&
	       FAILS(mrc_create_qp(r->ctx, &how), NULL, EINVAL);
}

static bool batch_fails(struct ibv_qp_ex *ex)
{
	ibv_wr_send(ex); /* of a batch that was begun before the fork */
	if (!holds(ibv_wr_complete(ex) == ENODEV, "a batch of the parent fails"))
		return false;
	ibv_wr_start(ex);
	ibv_wr_abort(ex);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	return holds(ibv_wr_complete(ex) == ENODEV, "a batch fails");
}

static bool verbs_fail(struct ibv_cq_ex *cq, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	struct ibv_poll_cq_attr poll = {0};
	struct ibv_qp_init_attr init;

	return batch_fails(ibv_qp_to_qp_ex(qp)) &&
	       holds(ibv_start_poll(cq, &poll) == ENODEV, "ibv_start_poll fails") &&
	       holds(ibv_next_poll(cq) == ENODEV, "ibv_next_poll fails") &&
	       holds(ibv_req_notify_cq(ibv_cq_ex_to_cq(cq), 0) == ENODEV,
		     "ibv_req_notify_cq fails") &&
	       holds(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == ENODEV, "ibv_modify_qp fails") &&
	       holds(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 &&
			     attr.qp_state == IBV_QPS_ERR,
		     "ibv_query_qp says ERR");
}

/* A QP with the calls that build WRs. */
static struct ibv_qp *make_verbs_qp(const struct fixture *r, struct ibv_cq_ex *cq)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = ibv_cq_ex_to_cq(cq),
		.recv_cq = ibv_cq_ex_to_cq(cq),
		.cap = {1, 1, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = r->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(r->verbs, &init);

	assert_non_null(qp);
	return qp;
}

/* What was opened belongs to who opened it; the parent goes on with it. */
TEST_WITH(fixture_setup, fixture_teardown, mrc, fails_in_a_child)
{
	struct fixture *r = *state;
	struct ibv_cq_init_attr_ex cq_init = {.cqe = 1, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(r->verbs, &cq_init);
	struct mrc_qp_hint_init_attr hint_init = {0};
	static struct mrc_qp_hint *hint; /* static: valgrind looks for it in the child, too */
	struct ibv_qp *qp;
	int status = -1;
	pid_t child;

	hint = mrc_create_qp_hint(r->ctx, &hint_init);
	assert_non_null(hint);
	assert_non_null(cq);
	qp = make_verbs_qp(r, cq);
	ibv_wr_start(ibv_qp_to_qp_ex(qp));
	child = fork();
	if (child == 0)
		_exit(qp_fails(r) && hint_fails(r, hint) && others_fail(r) && is_told(r) &&
				      verbs_fail(cq, qp)
			      ? 0
			      : 1);
	ibv_wr_abort(ibv_qp_to_qp_ex(qp));
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_RESET);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	assert_int_equal(mrc_destroy_qp_hint(hint), 0);
}
