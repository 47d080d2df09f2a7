/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_cq.c - completion queues and channels, filled by hand. */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>

#include "host/cq.h"
#include "unit/loopback.h"

struct cq_bed {
	struct mh_device *dev;
	struct mh_channel *channel;
	struct mh_cq *cq;
};

static int cq_setup(void **state)
{
	struct cq_bed *bed = calloc(1, sizeof(*bed));

	loopback_env(1);
	setenv("MRC_EV_BASE", "53300", 1);
	*state = bed;
	if (mh_device_open(NULL, &bed->dev) || mh_channel_create(bed->dev, NULL, &bed->channel))
		return -1;
	fcntl(mh_channel_fd(bed->channel), F_SETFL, O_NONBLOCK);
	fcntl(mh_async_fd(bed->dev), F_SETFL, O_NONBLOCK);
	return mh_cq_create(bed->dev, 4, bed->channel, bed, &bed->cq);
}

static int cq_teardown(void **state)
{
	struct cq_bed *bed = *state;
	int err = mh_cq_destroy(bed->cq) || mh_channel_destroy(bed->channel) ||
		  mh_device_close(bed->dev);

	free(bed);
	return err;
}

#define CQ_TEST(function, name) TEST_WITH(cq_setup, cq_teardown, function, name)

static bool cq_push(struct cq_bed *bed, uint64_t id, uint32_t flags)
{
	struct mh_cqe cqe = {.wc = {.wr_id = id, .flags = flags, .qpn = (uint32_t)id % 2}};

	return mh_cq_push(bed->cq, &cqe);
}

static int cq_event(struct cq_bed *bed)
{
	struct mh_cq *cq;
	int err = mh_channel_get(bed->channel, &cq);

	if (err)
		return err;
	assert_ptr_equal(cq, bed->cq);
	assert_ptr_equal(mh_cq_owner(cq), bed);
	mh_cq_ack_events(cq, 1);
	return 0;
}

CQ_TEST(mh_cq_create, sizes)
{
	struct cq_bed *bed = *state;
	struct mh_cq *cq;

	assert_i_eq(mh_cq_create(bed->dev, 0, NULL, NULL, &cq), EINVAL);
	assert_i_eq(mh_cq_create(bed->dev, MH_CQE_MAX + 1, NULL, NULL, &cq), EINVAL);
	assert_i_eq(mh_cq_create(bed->dev, 100, NULL, NULL, &cq), 0);
	assert_u_between(mh_cq_size(cq), 100, 128);
	mh_cq_req_notify(cq, false);
	assert_i_eq(mh_cq_destroy(cq), 0);
}

CQ_TEST(mh_cq_create, channel_of_another_opening)
{
	struct cq_bed *bed = *state;
	struct mh_device *other;
	struct mh_cq *cq;

	assert_i_eq(mh_device_open(NULL, &other), 0);
	assert_i_eq(mh_cq_create(other, 4, bed->channel, NULL, &cq), EINVAL);
	assert_i_eq(mh_device_close(other), 0);
}

/* REQ(api.cq.poll) */
CQ_TEST(mh_cq_poll, oldest_first_and_at_most_n)
{
	struct cq_bed *bed = *state;
	struct mh_wc wc[8];

	for (uint64_t id = 0; id < 4; id++)
		assert_true(cq_push(bed, id, 0));
	assert_i_eq(mh_cq_poll(bed->cq, 0, wc), 0);
	assert_i_eq(mh_cq_poll(bed->cq, 3, wc), 3);
	assert_u_eq(wc[2].wr_id, 2);
	assert_true(cq_push(bed, 4, 0));
	assert_i_eq(mh_cq_poll(bed->cq, 8, wc), 2);
	assert_u_eq(wc[1].wr_id, 4);
	assert_i_eq(mh_cq_poll(bed->cq, 8, wc), 0);
}

/* REQ(api.cq.overflow) */
CQ_TEST(mh_cq_poll, overrun_keeps_what_was_there)
{
	struct cq_bed *bed = *state;
	struct mh_async_event event;
	struct mh_wc wc[8];

	for (uint64_t id = 0; id < 4; id++)
		assert_true(cq_push(bed, id, 0));
	assert_false(cq_push(bed, 4, 0));
	assert_i_eq(mh_cq_poll(bed->cq, 8, wc), 4);
	assert_false(cq_push(bed, 5, 0));
	assert_i_eq(mh_cq_poll(bed->cq, 8, wc), -EOVERFLOW);
	assert_i_eq(mh_async_get(bed->dev, &event), 0);
	assert_u_eq(event.type, MH_ASYNC_CQ_ERR);
	assert_ptr_equal(event.cq, bed->cq);
	assert_ptr_equal(event.owner, bed);
	mh_async_ack(bed->dev, &event);
	assert_i_eq(mh_async_get(bed->dev, &event), EAGAIN);
}

CQ_TEST(mh_cq_req_notify, one_event_each)
{
	struct cq_bed *bed = *state;

	assert_true(cq_push(bed, 0, 0));
	assert_i_eq(cq_event(bed), EAGAIN);
	mh_cq_req_notify(bed->cq, false);
	assert_i_eq(cq_event(bed), EAGAIN);
	assert_true(cq_push(bed, 1, 0));
	assert_true(cq_push(bed, 2, 0));
	assert_i_eq(cq_event(bed), 0);
	assert_i_eq(cq_event(bed), EAGAIN);
}

CQ_TEST(mh_cq_req_notify, solicited_only)
{
	struct cq_bed *bed = *state;
	struct mh_cqe failed = {.wc = {.status = MH_WC_WR_FLUSH_ERR}};

	mh_cq_req_notify(bed->cq, true);
	assert_true(cq_push(bed, 0, 0));
	assert_i_eq(cq_event(bed), EAGAIN);
	assert_true(cq_push(bed, 1, MH_WC_SOLICITED));
	assert_i_eq(cq_event(bed), 0);
	mh_cq_req_notify(bed->cq, true);
	assert_true(mh_cq_push(bed->cq, &failed));
	assert_i_eq(cq_event(bed), 0);
}

/* Asking for any completion and then for solicited ones only keeps the wider wish. */
CQ_TEST(mh_cq_req_notify, wider_wish_stays)
{
	struct cq_bed *bed = *state;

	mh_cq_req_notify(bed->cq, false);
	mh_cq_req_notify(bed->cq, true);
	assert_true(cq_push(bed, 0, 0));
	assert_i_eq(cq_event(bed), 0);
}

CQ_TEST(mh_cq_req_notify, waiter_hears_of_an_overrun)
{
	struct cq_bed *bed = *state;

	for (uint64_t id = 0; id < 4; id++)
		assert_true(cq_push(bed, id, 0));
	mh_cq_req_notify(bed->cq, true);
	assert_false(cq_push(bed, 4, 0));
	assert_i_eq(cq_event(bed), 0);
	mh_cq_req_notify(bed->cq, false);
	assert_i_eq(cq_event(bed), 0);
}

CQ_TEST(mh_cq_purge, removes_one_qp_only)
{
	struct cq_bed *bed = *state;
	struct mh_wc wc[8];

	for (uint64_t id = 1; id < 5; id++)
		assert_true(cq_push(bed, id, 0));
	mh_cq_purge(bed->cq, 1);
	assert_i_eq(mh_cq_poll(bed->cq, 8, wc), 2);
	assert_u_eq(wc[0].wr_id, 2);
	assert_u_eq(wc[1].wr_id, 4);
	for (uint64_t id = 1; id < 5; id++)
		assert_true(cq_push(bed, id, 0));
}
