/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_cq.c - completion queues and channels, filled by hand. */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>

#include "host/state/nic_context.h"
#include "unit/loopback.h"

/* Of completions that are put in by hand. */
#define NOW_NS UINT64_C(1234567)

struct cq_fixture {
	struct mh_device *dev;
	struct mh_channel *channel;
	struct mh_cq *cq;
};

static int cq_setup(void **state)
{
	struct cq_fixture *fixture = calloc(1, sizeof(*fixture));

	loopback_env(1);
	setenv("MRC_EV_BASE", "53300", 1);
	*state = fixture;
	if (mh_device_open(0, NULL, &fixture->dev) ||
	    mh_channel_create(fixture->dev, &fixture->channel))
		return -1;
	fcntl(mh_channel_fd(fixture->channel), F_SETFL, O_NONBLOCK);
	fcntl(mh_async_fd(fixture->dev), F_SETFL, O_NONBLOCK);
	return mh_cq_create(fixture->dev, 4, fixture->channel, fixture, &fixture->cq);
}

static int cq_teardown(void **state)
{
	struct cq_fixture *fixture = *state;
	int err = mh_cq_destroy(fixture->cq) || mh_channel_destroy(fixture->channel) ||
		  mh_device_close(fixture->dev);

	free(fixture);
	return err;
}

#define CQ_TEST(function, name) TEST_WITH(cq_setup, cq_teardown, function, name)

static bool cq_push(struct cq_fixture *fixture, uint64_t id, uint32_t flags)
{
	struct mh_cqe cqe = {.wc = {.wr_id = id, .flags = flags, .qpn = (uint32_t)id % 2}};

	return mh_cq_add(fixture->cq, &cqe, NOW_NS);
}

static int cq_event(struct cq_fixture *fixture)
{
	struct mh_cq *cq;
	int err = mh_channel_get(fixture->channel, &cq);

	if (err)
		return err;
	assert_ptr_equal(cq, fixture->cq);
	assert_ptr_equal(mh_cq_owner(cq), fixture);
	mh_cq_ack_events(cq, 1);
	return 0;
}

CQ_TEST(mh_cq_create, sizes)
{
	struct cq_fixture *fixture = *state;
	struct mh_cq *cq;

	assert_i_eq(mh_cq_create(fixture->dev, 0, NULL, NULL, &cq), EINVAL);
	assert_i_eq(mh_cq_create(fixture->dev, MH_CQE_MAX + 1, NULL, NULL, &cq), EINVAL);
	assert_i_eq(mh_cq_create(fixture->dev, 100, NULL, NULL, &cq), 0);
	assert_u_between(mh_cq_size(cq), 100, 128);
	mh_cq_req_notify(cq, false);
	assert_i_eq(mh_cq_destroy(cq), 0);
}

CQ_TEST(mh_cq_create, channel_of_another_opening)
{
	struct cq_fixture *fixture = *state;
	struct mh_device *other;
	struct mh_cq *cq;

	assert_i_eq(mh_device_open(0, NULL, &other), 0);
	assert_i_eq(mh_cq_create(other, 4, fixture->channel, NULL, &cq), EINVAL);
	assert_i_eq(mh_device_close(other), 0);
}

/* REQ(api.cq.poll) */
CQ_TEST(mh_cq_poll, oldest_first_and_at_most_n)
{
	struct cq_fixture *fixture = *state;
	struct mh_wc wc[8];

	for (uint64_t id = 0; id < 4; id++)
		assert_true(cq_push(fixture, id, 0));
	assert_i_eq(mh_cq_poll(fixture->cq, 0, wc), 0);
	assert_i_eq(mh_cq_poll(fixture->cq, 3, wc), 3);
	assert_u_eq(wc[2].wr_id, 2);
	assert_true(cq_push(fixture, 4, 0));
	assert_i_eq(mh_cq_poll(fixture->cq, 8, wc), 2);
	assert_u_eq(wc[1].wr_id, 4);
	assert_i_eq(mh_cq_poll(fixture->cq, 8, wc), 0);
}

/* REQ(api.cq.overflow) */
CQ_TEST(mh_cq_poll, overrun_keeps_what_was_there)
{
	struct cq_fixture *fixture = *state;
	struct mh_async_event event;
	struct mh_wc wc[8];

	for (uint64_t id = 0; id < 4; id++)
		assert_true(cq_push(fixture, id, 0));
	assert_false(cq_push(fixture, 4, 0));
	assert_i_eq(mh_cq_poll(fixture->cq, 8, wc), 4);
	assert_false(cq_push(fixture, 5, 0));
	assert_i_eq(mh_cq_poll(fixture->cq, 8, wc), -EOVERFLOW);
	assert_i_eq(mh_async_get(fixture->dev, &event), 0);
	assert_u_eq(event.type, MH_ASYNC_CQ_ERR);
	assert_ptr_equal(event.cq, fixture->cq);
	assert_ptr_equal(event.owner, fixture);
	mh_async_ack(fixture->dev, &event);
	assert_i_eq(mh_async_get(fixture->dev, &event), EAGAIN);
}

CQ_TEST(mh_cq_req_notify, one_event_each)
{
	struct cq_fixture *fixture = *state;

	assert_true(cq_push(fixture, 0, 0));
	assert_i_eq(cq_event(fixture), EAGAIN);
	mh_cq_req_notify(fixture->cq, false);
	assert_i_eq(cq_event(fixture), EAGAIN);
	assert_true(cq_push(fixture, 1, 0));
	assert_true(cq_push(fixture, 2, 0));
	assert_i_eq(cq_event(fixture), 0);
	assert_i_eq(cq_event(fixture), EAGAIN);
}

CQ_TEST(mh_cq_req_notify, solicited_only)
{
	struct cq_fixture *fixture = *state;
	struct mh_cqe failed = {.wc = {.status = RD_WC_WR_FLUSH_ERR}};

	mh_cq_req_notify(fixture->cq, true);
	assert_true(cq_push(fixture, 0, 0));
	assert_i_eq(cq_event(fixture), EAGAIN);
	assert_true(cq_push(fixture, 1, RD_WC_SOLICITED));
	assert_i_eq(cq_event(fixture), 0);
	mh_cq_req_notify(fixture->cq, true);
	assert_true(mh_cq_add(fixture->cq, &failed, NOW_NS));
	assert_i_eq(cq_event(fixture), 0);
}

/* Asking for any completion and then for solicited ones only keeps the wider wish. */
CQ_TEST(mh_cq_req_notify, wider_wish_stays)
{
	struct cq_fixture *fixture = *state;

	mh_cq_req_notify(fixture->cq, false);
	mh_cq_req_notify(fixture->cq, true);
	assert_true(cq_push(fixture, 0, 0));
	assert_i_eq(cq_event(fixture), 0);
}

CQ_TEST(mh_cq_req_notify, waiter_hears_of_an_overrun)
{
	struct cq_fixture *fixture = *state;

	for (uint64_t id = 0; id < 4; id++)
		assert_true(cq_push(fixture, id, 0));
	mh_cq_req_notify(fixture->cq, true);
	assert_false(cq_push(fixture, 4, 0));
	assert_i_eq(cq_event(fixture), 0);
	mh_cq_req_notify(fixture->cq, false);
	assert_i_eq(cq_event(fixture), 0);
}

CQ_TEST(mh_cq_purge, removes_one_qp_only)
{
	struct cq_fixture *fixture = *state;
	struct mh_wc wc[8];

	for (uint64_t id = 1; id < 5; id++)
		assert_true(cq_push(fixture, id, 0));
	mh_cq_purge(fixture->cq, 1);
	assert_i_eq(mh_cq_poll(fixture->cq, 8, wc), 2);
	assert_u_eq(wc[0].wr_id, 2);
	assert_u_eq(wc[1].wr_id, 4);
	for (uint64_t id = 1; id < 5; id++)
		assert_true(cq_push(fixture, id, 0));
}
