/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_cancel.c - threads that pthread_cancel ends while they post and poll. A call into the
 * library holds locks while it is in system calls at which a cancelled thread would end, and ends
 * with them released; calls that wait for events end at once.
 */
#include "live/live_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define CANCELS 2000u /* stacks of threads are expensive there */
#else
#define CANCELS 10000u
#endif
#define BYTES 4096u
/* A busy machine does not come to all of them: a cancelled thread waits for a core three times. */
#define CANCELS_LEAST 200u
#define CANCELS_S 40
#define LIMIT_S 480u

struct traffic {
	struct fixture *r;
	int qp;
	atomic_uint posted, completed, wrong;
	atomic_bool stop;
};

static void poll_some(struct traffic *t)
{
	struct ibv_wc wc[8];
	int n = mrc_poll_cq(t->r->cq[t->qp], 8, wc);

	for (int i = 0; i < n; i++)
		t->wrong += wc[i].status != IBV_WC_SUCCESS;
	t->completed += n > 0 ? (unsigned int)n : 0;
}

/* A post is refused when the queue is full. */
static void post_one(struct traffic *t)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(t->r, t->qp, &sge, BYTES), *bad;

	t->posted += mrc_post_send(t->r->qp[t->qp], &wr, &bad) == 0;
}

static void *work_until_cancelled(void *arg)
{
	struct traffic *t = arg;

	while (!t->stop) {
		post_one(t);
		poll_some(t);
		mrc_req_notify_cq(t->r->cq[t->qp], 0);
		pthread_testcancel();
	}
	return NULL;
}

static void *work_until_stopped(void *arg)
{
	struct traffic *t = arg;

	while (!t->stop) {
		post_one(t);
		poll_some(t);
	}
	return NULL;
}

static void cancel_one(struct traffic *t)
{
	pthread_t thread;
	void *result;

	assert_i_eq(pthread_create(&thread, NULL, work_until_cancelled, t), 0);
	for (uint64_t spins = test_rand() % 20000; spins > 0; spins--)
		atomic_signal_fence(memory_order_seq_cst);
	assert_i_eq(pthread_cancel(thread), 0);
	assert_i_eq(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
}

static void wait_until_complete(struct traffic *t)
{
	while (t->completed < t->posted)
		poll_some(t);
	assert_u_eq(t->completed, t->posted);
	assert_u_eq(t->wrong, 0);
}

static void check_fork(struct fixture *r)
{
	pid_t child = fork();
	struct ibv_wc wc;
	int status;

	if (child == 0)
		_exit(mrc_poll_cq(r->cq[0], 1, &wc) < 0 ? 0 : 1);
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_i_eq(status, 0);
}

TEST_WITH(fixture_setup_connected, fixture_teardown, pthread_cancel, while_posting_and_polling)
{
	struct traffic cancelled = {.r = *state, .qp = 0};
	struct traffic other = {.r = *state, .qp = 1};
	time_t until = time(NULL) + CANCELS_S;
	pthread_t thread;

	alarm(LIMIT_S); /* a lock that is never released would be waited for for ever */
	assert_i_eq(pthread_create(&thread, NULL, work_until_stopped, &other), 0);
	for (uint32_t i = 0; i < CANCELS && (i < CANCELS_LEAST || time(NULL) < until); i++)
		cancel_one(&cancelled);
	wait_until_complete(&cancelled);
	other.stop = true;
	assert_i_eq(pthread_join(thread, NULL), 0);
	wait_until_complete(&other);
	assert_true(cancelled.posted > 0 && other.posted > 0);
	check_fork(*state);
	alarm(0);
}

static void *wait_for_events(void *arg)
{
	struct fixture *r = arg;
	struct ibv_async_event event;

	ibv_get_async_event(r->verbs, &event);
	return NULL;
}

/* Programs end a thread that waits for events so; it holds nothing meanwhile. */
TEST_WITH(fixture_setup_connected, fixture_teardown, pthread_cancel, while_waiting_for_events)
{
	struct traffic t = {.r = *state, .qp = 0};
	pthread_t thread;
	void *result;

	alarm(LIMIT_S);
	assert_i_eq(pthread_create(&thread, NULL, wait_for_events, *state), 0);
	poll(NULL, 0, 10);
	assert_i_eq(pthread_cancel(thread), 0);
	assert_i_eq(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	post_one(&t);
	wait_until_complete(&t);
	alarm(0);
}
