/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_cq_poll.c - which shards a poll of a CQ runs, who is told that a program waits, and what
 * CQs and channels leave behind: src/host/verbs/nic_cq.c and nic_channel.c, on a device of three
 * shards. What the poll loop would do is the test's.
 */
#include "support/open_fds.h"

#include <errno.h>
#include <fcntl.h>

#include "host/node/node.h"
#include "host/progress/progress.h"
#include "host/state/shards.h"
#include "unit/loopback.h"

#define SHARDS 3u

static struct {
	uint32_t polls, polled[8]; /* shards, in turn */
	bool alone[8];
	struct mh_cq *fills; /* the first poll adds a completion to this CQ */
	uint32_t told[SHARDS], forgotten, waits;
	int wait_err, event_err, listener_err;
	size_t no_memory; /* for blocks of such elements */
} t;

__typeof__(mh_progress_poll) __real_mh_progress_poll, __wrap_mh_progress_poll;
void __wrap_mh_progress_poll(struct mh_nic *nic, bool alone)
{
	const struct mh_cqe cqe = {.wc = {.wr_id = 1}};

	assert_true(t.polls < 8);
	t.polled[t.polls] = nic->env.shard;
	t.alone[t.polls++] = alone;
	if (t.fills && !t.fills->evs)
		assert_true(mh_cq_add(t.fills, &cqe, 1));
	else if (t.fills)
		mh_cq_add_ev_event(t.fills, &(struct mh_ev_event){.profile = 1});
	t.fills = NULL;
}

__typeof__(mh_progress_end_backoff) __real_mh_progress_end_backoff, __wrap_mh_progress_end_backoff;
void __wrap_mh_progress_end_backoff(struct mh_nic *nic, const struct mh_channel *channel)
{
	assert_non_null(channel);
	t.told[nic->env.shard]++;
}

__typeof__(mh_progress_forget_channel) __real_mh_progress_forget_channel,
	__wrap_mh_progress_forget_channel;
void __wrap_mh_progress_forget_channel(struct mh_nic *first, const struct mh_channel *channel)
{
	t.forgotten++;
	__real_mh_progress_forget_channel(first, channel);
}

__typeof__(mh_progress_serve) __real_mh_progress_serve, __wrap_mh_progress_serve;
int __wrap_mh_progress_serve(struct mh_nic *nic, struct mh_event_queue *q)
{
	(void)nic;
	(void)q;
	t.waits++;
	return t.wait_err;
}

__typeof__(mh_event_open) __real_mh_event_open, __wrap_mh_event_open;
int __wrap_mh_event_open(struct mh_event_queue *q)
{
	return t.event_err ? t.event_err : __real_mh_event_open(q);
}

__typeof__(mh_ev_listener_start) __real_mh_ev_listener_start, __wrap_mh_ev_listener_start;
int __wrap_mh_ev_listener_start(struct mh_nic *nic, struct mh_cq *cq, struct mh_ev_listener **l)
{
	return t.listener_err ? t.listener_err : __real_mh_ev_listener_start(nic, cq, l);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return t.no_memory && size == t.no_memory ? NULL : __real_calloc(n, size);
}

/* ---- a device with a QP in each shard; those of the first and the last share a CQ ---- */

struct poll_fixture {
	struct mh_device *dev;
	struct mh_pd *pd;
	struct mh_channel *channel;
	struct mh_cq *two, *one, *none;
	struct mh_qp *qp[SHARDS];
};

static struct mh_qp *make_qp(struct poll_fixture *f, struct mh_cq *cq)
{
	struct mh_qp_init init = {.pd = f->pd,
				  .send_cq = cq,
				  .recv_cq = cq,
				  .cap = {.max_send_wr = 1, .max_send_sge = 1}};
	struct mh_qp *qp = NULL;

	return mh_qp_create(&init, &qp) == 0 ? qp : NULL;
}

static int poll_setup(void **state)
{
	struct poll_fixture *f = calloc(1, sizeof(*f));

	memset(&t, 0, sizeof(t));
	loopback_env(1);
	setenv("MRC_SHARDS", "3", 1);
	setenv("MRC_EV_BASE", "53700", 1);
	setenv("MRC_EVS", "4", 1);
	*state = f;
	if (!f || mh_device_open(0, NULL, &f->dev) || mh_pd_create(f->dev, NULL, &f->pd) ||
	    mh_channel_create(f->dev, &f->channel) ||
	    mh_cq_create(f->dev, 4, f->channel, NULL, &f->two) ||
	    mh_cq_create(f->dev, 4, f->channel, NULL, &f->one) ||
	    mh_cq_create(f->dev, 4, f->channel, NULL, &f->none))
		return -1;
	for (uint32_t i = 0; i < SHARDS; i++) {
		f->qp[i] = make_qp(f, i == 1 ? f->one : f->two);
		if (!f->qp[i] || f->qp[i]->nic != f->dev->nic->shard[i])
			return -1;
	}
	return 0;
}

static int poll_teardown(void **state)
{
	struct poll_fixture *f = *state;
	int err = 0;

	memset(&t, 0, sizeof(t));
	for (uint32_t i = 0; i < SHARDS; i++)
		err |= mh_qp_destroy(f->qp[i]);
	err |= mh_cq_destroy(f->two) | mh_cq_destroy(f->one) | mh_cq_destroy(f->none);
	err |= mh_channel_destroy(f->channel) | mh_pd_destroy(f->pd) | mh_device_close(f->dev);
	unsetenv("MRC_SHARDS");
	free(f);
	return err;
}

#define POLL_TEST(function, name) TEST_WITH(poll_setup, poll_teardown, function, name)

static uint32_t mask_polled(void)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < t.polls; i++)
		mask |= 1u << t.polled[i];
	return mask;
}

/* ---- polls ---- */

/* A poll that finds nothing runs the shards that have QPs of the CQ, the next time in turn. */
POLL_TEST(mh_cq_poll, runs_the_shards_of_its_qps)
{
	struct poll_fixture *f = *state;
	struct mh_wc wc;

	assert_i_eq(mh_cq_poll(f->one, 0, &wc), 0);
	assert_u_eq(t.polls, 0);
	assert_i_eq(mh_cq_poll(f->one, 1, &wc), 0);
	assert_u_eq(t.polls, 1);
	assert_u_eq(t.polled[0], 1);
	assert_true(t.alone[0]);
	for (uint32_t turn = 0; turn < 2; turn++) {
		t.polls = 0;
		assert_i_eq(mh_cq_poll(f->two, 1, &wc), 0);
		assert_u_eq(t.polls, 2);
		assert_u_eq(mask_polled(), 1u | 1u << 2);
		assert_u_eq(t.polled[0], turn == 0 ? 0 : 2);
		assert_false(t.alone[0] || t.alone[1]);
	}
	t.polls = 0;
	assert_i_eq(mh_cq_poll(f->none, 1, &wc), 0);
	assert_u_eq(t.polls, SHARDS);
	assert_u_eq(mask_polled(), 7);
	assert_false(t.alone[0] || t.alone[1] || t.alone[2]);
}

POLL_TEST(mh_cq_poll, ends_with_what_it_finds)
{
	struct poll_fixture *f = *state;
	struct mh_wc wc;

	t.fills = f->two;
	assert_i_eq(mh_cq_poll(f->two, 1, &wc), 1);
	assert_u_eq(t.polls, 1);
	/* What is there needs no poll at all. */
	t.polls = 0;
	assert_true(mh_cq_add(f->two, &(struct mh_cqe){.wc = {.wr_id = 2}}, 1));
	assert_i_eq(mh_cq_poll(f->two, 1, &wc), 1);
	assert_u_eq(wc.wr_id, 2);
	assert_u_eq(t.polls, 0);
}

POLL_TEST(mh_ev_cq_poll, as_a_cq_without_qps)
{
	struct poll_fixture *f = *state;
	struct mh_ev_event event;
	struct mh_cq *cq;

	assert_i_eq(mh_ev_cq_create(f->dev, 1, NULL, NULL, &cq), 0);
	assert_ptr_equal(f->dev->nic->ev_cqs.next, &cq->ev_link);
	assert_i_eq(mh_ev_cq_poll(cq, 0, &event), 0);
	assert_u_eq(t.polls, 0);
	assert_i_eq(mh_ev_cq_poll(cq, 1, &event), 0);
	assert_u_eq(mask_polled(), 7);
	t.polls = 0;
	t.fills = cq;
	assert_i_eq(mh_ev_cq_poll(cq, 1, &event), 1);
	mh_cq_add_ev_event(cq, &event);
	t.polls = 0;
	assert_i_eq(mh_ev_cq_poll(cq, 1, &event), 1);
	assert_u_eq(t.polls, 0);
	assert_i_eq(mh_ev_cq_poll(f->one, 1, &event), -EINVAL);
	assert_i_eq(mh_cq_destroy(cq), 0);
	assert_ptr_equal(f->dev->nic->ev_cqs.next, &f->dev->nic->ev_cqs);
}

/* The first, where nothing else is, and all that may have something for it. */
POLL_TEST(mh_cq_req_notify, tells_the_shards_of_its_qps)
{
	struct poll_fixture *f = *state;
	struct mh_cq *of_none;

	mh_cq_req_notify(f->one, false);
	assert_u_eq(t.told[0] * 100 + t.told[1] * 10 + t.told[2], 110);
	mh_cq_req_notify(f->two, false);
	assert_u_eq(t.told[0] * 100 + t.told[1] * 10 + t.told[2], 211);
	mh_cq_req_notify(f->none, false);
	assert_u_eq(t.told[0] * 100 + t.told[1] * 10 + t.told[2], 311);
	assert_i_eq(mh_cq_create(f->dev, 1, NULL, NULL, &of_none), 0);
	mh_cq_req_notify(of_none, false);
	assert_u_eq(t.told[0], 3);
	assert_i_eq(mh_cq_destroy(of_none), 0);
}

/* ---- channels ---- */

/* A program that would sleep runs the poll loop first; one that need not, does not. */
POLL_TEST(mh_channel_get, serves_while_it_waits)
{
	struct poll_fixture *f = *state;
	struct mh_cq *cq = NULL;

	t.wait_err = EINTR;
	assert_i_eq(mh_channel_get(f->channel, &cq), EINTR);
	assert_u_eq(t.waits, 1);
	mh_event_raise(&f->channel->events, &f->one->completion, false);
	assert_i_eq(mh_channel_get(f->channel, &cq), 0);
	assert_ptr_equal(cq, f->one);
	mh_cq_ack_events(cq, 1);
	fcntl(mh_channel_fd(f->channel), F_SETFL, O_NONBLOCK);
	assert_i_eq(mh_channel_get(f->channel, &cq), EAGAIN);
	assert_u_eq(t.waits, 1);
}

POLL_TEST(mh_channel_destroy, leaves_nothing)
{
	struct poll_fixture *f = *state;
	struct mh_channel *channel;
	uint32_t before = test_open_fds();
	struct mh_cq *cq;

	assert_i_eq(mh_channel_create(f->dev, &channel), 0);
	fcntl(mh_channel_fd(channel), F_SETFL, O_NONBLOCK);
	assert_i_eq(mh_cq_create(f->dev, 1, channel, NULL, &cq), 0);
	/* Nobody takes this one. */
	mh_event_raise(&channel->events, &cq->completion, false);
	assert_i_eq(mh_channel_destroy(channel), EBUSY);
	assert_u_eq(t.forgotten, 0);
	assert_i_eq(mh_cq_destroy(cq), 0);
	assert_i_eq(mh_channel_get(channel, &cq), EAGAIN);
	assert_i_eq(mh_channel_destroy(channel), 0);
	assert_u_eq(t.forgotten, 1);
	assert_u_eq(test_open_fds(), before);
}

/* ---- what cannot be made ---- */

POLL_TEST(mh_cq_create, to_the_bounds)
{
	struct poll_fixture *f = *state;
	struct mh_cq *cq;

	assert_i_eq(mh_cq_create(f->dev, MH_CQE_MAX, NULL, NULL, &cq), 0);
	assert_u_eq(mh_cq_size(cq), MH_CQE_MAX);
	assert_i_eq(mh_cq_resize(cq, 1), 0);
	assert_i_eq(mh_cq_resize(cq, 0), EINVAL);
	assert_i_eq(mh_cq_resize(cq, MH_CQE_MAX + 1), EINVAL);
	assert_u_eq(mh_cq_size(cq), 1);
	assert_i_eq(mh_cq_resize(cq, MH_CQE_MAX), 0);
	assert_u_eq(mh_cq_size(cq), MH_CQE_MAX);
	assert_i_eq(mh_cq_destroy(cq), 0);
	assert_i_eq(mh_ev_cq_create(f->dev, MH_CQE_MAX, NULL, NULL, &cq), 0);
	assert_i_eq(mh_cq_destroy(cq), 0);
	assert_i_eq(mh_ev_cq_create(f->dev, 0, NULL, NULL, &cq), EINVAL);
	assert_i_eq(mh_ev_cq_create(f->dev, MH_CQE_MAX + 1, NULL, NULL, &cq), EINVAL);
}

POLL_TEST(mh_cq_create, leaves_nothing_where_it_fails)
{
	struct poll_fixture *f = *state;
	uint32_t objects = f->dev->objects, before = test_open_fds();
	struct mh_device *other;
	struct mh_channel *channel;
	struct mh_cq *cq;

	t.event_err = EMFILE;
	assert_i_eq(mh_channel_create(f->dev, &channel), EMFILE);
	t.event_err = 0;
	t.listener_err = ENOMEM;
	assert_i_eq(mh_ev_cq_create(f->dev, 4, f->channel, NULL, &cq), ENOMEM);
	t.listener_err = 0;
	t.no_memory = sizeof(struct mh_cqe);
	assert_i_eq(mh_cq_create(f->dev, 4, NULL, NULL, &cq), ENOMEM);
	assert_i_eq(mh_ev_cq_create(f->dev, 4, NULL, NULL, &cq), ENOMEM);
	assert_i_eq(mh_cq_resize(f->one, 8), ENOMEM);
	assert_u_eq(mh_cq_size(f->one), 4);
	t.no_memory = 0;
	assert_u_eq(f->dev->objects, objects);
	assert_u_eq(f->channel->n_cqs, 3);
	assert_i_eq(mh_device_open(0, NULL, &other), 0);
	assert_i_eq(mh_ev_cq_create(other, 4, f->channel, NULL, &cq), EINVAL);
	assert_i_eq(mh_device_close(other), 0);
	assert_u_eq(test_open_fds(), before);
}
