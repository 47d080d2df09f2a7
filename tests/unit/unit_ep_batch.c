/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_ep_batch.c - how long the thread of a batch of endpoint requests sleeps, and what wakes it:
 * in time that moves only while it sleeps.
 */
#include "support/test.h"

#include <errno.h>
#include <time.h>

#include "host/state/nic_context.h"

#define REQUESTS 3u
#define NOW_NS UINT64_C(5000000000)
#define MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

static struct {
	struct mh_ep_batch b;
	struct mh_probe_answer answers[REQUESTS];
	uint64_t now_ns; /* 0: the time of the system */
	uint64_t until_ns[8];
	uint32_t slept, signals;
	uint32_t to_end; /* so many requests end in the first sleep */
} t;

static void answer(uint32_t index, bool answered)
{
	struct mt_event event = {.type = MT_EVENT_ENDPOINT,
				 .wr_id = (uintptr_t)&t.b.items[index],
				 .ep_status = answered ? MT_EP_ANSWERED : MT_EP_TIMED_OUT,
				 .ep_port = (uint8_t)(index + 1),
				 .rtt_ns = 1000 + index,
				 .svc_time_subtracted = index == 1};

	mh_ep_batch_deliver(&event);
}

/* ---- the system ---- */

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (t.now_ns == 0)
		return __real_clock_gettime(clock, ts);
	*ts = (struct timespec){(time_t)(t.now_ns / NS_PER_S), (long)(t.now_ns % NS_PER_S)};
	return 0;
}

int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until)
{
	if (t.now_ns == 0)
		return __real_pthread_cond_timedwait(cond, mutex, until);
	assert_true(t.slept < 8);
	t.until_ns[t.slept] = (uint64_t)until->tv_sec * NS_PER_S + (uint64_t)until->tv_nsec;
	if (t.to_end == 0) {
		t.now_ns = t.until_ns[t.slept++];
		return ETIMEDOUT;
	}
	t.slept++;
	pthread_mutex_unlock(mutex);
	for (; t.to_end > 0; t.to_end--)
		answer(t.to_end - 1, true);
	pthread_mutex_lock(mutex);
	return 0;
}

int __real_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	t.signals++;
	return __real_pthread_cond_signal(cond);
}

static int batch_setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.now_ns = NOW_NS;
	t.b.n = REQUESTS;
	t.b.answers = t.answers;
	return mh_ep_batch_init(&t.b);
}

static int batch_teardown(void **state)
{
	(void)state;
	mh_ep_batch_fini(&t.b);
	t.now_ns = 0;
	return 0;
}

#define BATCH_TEST(function, name) TEST_WITH(batch_setup, batch_teardown, function, name)

/* Whichever request is answered, the answer says which it was; the thread is woken by each end. */
BATCH_TEST(mh_ep_batch_deliver, keeps_what_was_answered)
{
	answer(2, true);
	answer(0, false);
	answer(1, true);
	assert_u_eq(t.signals, 3);
	assert_u_eq(t.b.ended, 3);
	assert_u_eq(t.b.answered, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_u_eq(t.answers[i].index, 2 - i);
		assert_u_eq(t.answers[i].plane, 3 - i);
		assert_u_eq(t.answers[i].rtt_ns, 1002 - i);
		assert_true(t.answers[i].svc_time_subtracted == (i == 1));
	}
}

/* One that the engine has not taken wakes nobody: it is the thread itself that says so. */
BATCH_TEST(mh_ep_batch_end_one, counts_as_ended_and_not_answered)
{
	t.b.posted = 2;
	mh_ep_batch_end_one(&t.b);
	mh_ep_batch_end_one(&t.b);
	assert_u_eq(t.b.ended, 2);
	assert_u_eq(t.b.answered, 0);
	mh_ep_batch_wait(&t.b, false);
	assert_u_eq(t.slept, 0);
}

/* With all of them posted it sleeps until the last has ended; it looks now and then, too. */
BATCH_TEST(mh_ep_batch_wait, for_the_last_one)
{
	t.b.posted = 2;
	answer(0, false);
	t.to_end = 1;
	mh_ep_batch_wait(&t.b, false);
	assert_u_eq(t.slept, 1);
	assert_u_eq(t.until_ns[0], NOW_NS + 100 * MS);
	assert_u_eq(t.b.ended, 2);
}

/* While some have no id yet it sleeps until it is time to ask for one, and no longer. */
BATCH_TEST(mh_ep_batch_wait, until_there_may_be_an_id)
{
	t.b.posted = 2;
	mh_ep_batch_wait(&t.b, true);
	assert_u_eq(t.slept, 1);
	assert_u_eq(t.until_ns[0], NOW_NS + 2 * MS);
	/* What ends meanwhile does not make it ask sooner. */
	t.slept = 0;
	t.to_end = 2;
	mh_ep_batch_wait(&t.b, true);
	assert_u_eq(t.slept, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_u_eq(t.until_ns[i], NOW_NS + 4 * MS);
	/* Nor that there is nothing to wait for. */
	t.slept = 0;
	mh_ep_batch_wait(&t.b, true);
	assert_u_eq(t.slept, 1);
	assert_u_eq(t.now_ns, NOW_NS + 6 * MS);
}

/* On the system's clock that cannot be set: on another one each sleep would be over at once. */
BATCH_TEST(mh_ep_batch_wait, on_the_monotonic_clock)
{
	uint64_t longest = 0;

	t.now_ns = 0;
	for (uint32_t i = 0; i < 5 && longest < 2 * MS; i++) {
		uint64_t began = mh_now_ns(), took;

		mh_ep_batch_wait(&t.b, true);
		took = mh_now_ns() - began;
		longest = took > longest ? took : longest;
	}
	assert_true(longest >= 2 * MS);
}
