/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_serve.c - threads that run the poll loop while they wait for an event of a channel: it is
 * signals, cancellation, fork and other waiters that see a difference if anything does. What is
 * waited for here has no bound but the test's own alarm.
 */
#include "live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/state/nic_context.h"
#include "host/state/shards.h"
#include "support/test.h"
#include "unit/loopback.h"

#define LIMIT_S 180u
#define VOLLEYS 300u
#define ROUNDS 50u
#define BYTES (1u << 20)

/* ---- a device alone, and a thread that waits ---- */

struct waiter {
	struct mh_device *dev;
	struct mh_channel *channel[2];
	struct mh_cq *cq[2];
	pthread_t thread;
	atomic_int result; /* of its last wait; -1: it waits */
	bool mask_changed; /* by a wait */
	uint32_t served;   /* waits that were met while it served */
};

static int waiter_setup(void **state)
{
	static struct waiter w;

	alarm(LIMIT_S);
	setenv("MRC_CONFIG", "/dev/null", 1);
	loopback_env(1);
	w = (struct waiter){.result = -1};
	if (mh_device_open(0, NULL, &w.dev))
		return -1;
	for (int i = 0; i < 2; i++)
		if (mh_channel_create(w.dev, &w.channel[i]) ||
		    mh_cq_create(w.dev, 16, w.channel[i], NULL, &w.cq[i]))
			return -1;
	*state = &w;
	return 0;
}

static int waiter_teardown(void **state)
{
	struct waiter *w = *state;

	for (int i = 0; i < 2; i++)
		if (mh_cq_destroy(w->cq[i]) || mh_channel_destroy(w->channel[i]))
			return -1;
	alarm(0);
	return mh_device_close(w->dev);
}

#define WAITER_TEST(name) TEST_WITH(waiter_setup, waiter_teardown, mh_progress_serve, name)

static void pause_us(long us)
{
	nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

static struct mh_progress *progress_of(struct waiter *w)
{
	return &w->dev->nic->progress;
}

static void raise_event(struct waiter *w, int i)
{
	mh_event_raise(&w->channel[i]->events, &w->cq[i]->completion, false);
}

static void wait_once(struct waiter *w)
{
	sigset_t before, after;
	struct mh_cq *cq;
	int err;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	err = mh_channel_get(w->channel[0], &cq);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int i = 1; i < NSIG; i++)
		w->mask_changed |= sigismember(&before, i) != sigismember(&after, i);
	if (!err)
		mh_cq_ack_events(cq, 1);
	w->result = err;
}

/*
 * AddressSanitizer does not notice that a cancelled thread leaves its functions, and what it then
 * does itself must not lie where their variables did.
 */
__attribute__((noinline, no_sanitize_address)) static void *waiter_main(void *arg)
{
	volatile char room[16384];

	room[0] = 0;
	wait_once(arg);
	return (void *)(uintptr_t)room[0];
}

/* It gives up now and then, so that one that serves may be met too late: the caller tries again. */
static bool start_waiting(struct waiter *w, void *(*wait)(void *))
{
	uint64_t gave_up = 0;

	w->result = -1;
	assert_i_eq(pthread_create(&w->thread, NULL, wait, w), 0);
	while (!progress_of(w)->serving && gave_up++ < 1000)
		pause_us(10);
	w->served += progress_of(w)->serving;
	return progress_of(w)->serving;
}

static bool start_serving(struct waiter *w)
{
	return start_waiting(w, waiter_main);
}

static int end_wait(struct waiter *w)
{
	assert_i_eq(pthread_join(w->thread, NULL), 0);
	assert_false(progress_of(w)->serving);
	assert_false(w->mask_changed);
	return w->result;
}

WAITER_TEST(an_event_of_another_thread_ends_the_wait)
{
	struct waiter *w = *state;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		start_serving(w);
		raise_event(w, 0);
		assert_i_eq(end_wait(w), 0);
	}
	assert_true(w->served > 0);
}

/* It waits on when it has given up. */
WAITER_TEST(nothing_for_long)
{
	struct waiter *w = *state;

	start_serving(w);
	while (progress_of(w)->serving)
		pause_us(1000);
	assert_i_eq(w->result, -1);
	raise_event(w, 0);
	assert_i_eq(end_wait(w), 0);
}

WAITER_TEST(a_channel_that_does_not_block)
{
	struct waiter *w = *state;
	struct mh_cq *cq;
	int fd = mh_channel_fd(w->channel[0]);

	assert_i_eq(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
	assert_i_eq(mh_channel_get(w->channel[0], &cq), EAGAIN);
	raise_event(w, 0);
	assert_i_eq(mh_channel_get(w->channel[0], &cq), 0);
	mh_cq_ack_events(cq, 1);
	assert_i_eq(mh_channel_get(w->channel[0], &cq), EAGAIN);
}

static bool is_pending(struct waiter *w, bool *by_run)
{
	struct mh_nic *nic = w->dev->nic;
	bool pending;

	mh_nic_lock(nic);
	pending = nic->rx_pending;
	*by_run = nic->progress.sleeps_until_ns != 1;
	mh_nic_unlock(nic);
	return pending;
}

/*
 * One that serves is asleep, and a thread of the program makes something due: the progress thread
 * does it within a nap. When it keeps the statistics fresh it does so anyway, which is known by
 * what it then writes: tried again.
 */
WAITER_TEST(what_is_due_meanwhile)
{
	struct waiter *w = *state;
	struct mh_nic *nic = w->dev->nic;
	bool by_run = true;

	progress_of(w)->serving = true;
	progress_of(w)->app_found_work_ns = mh_now_ns();
	mh_nic_kick(nic);
	while (by_run) {
		mh_nic_lock(nic);
		nic->progress.sleeps_until_ns = 1;
		nic->rx_pending = true;
		mh_nic_unlock(nic);
		while (is_pending(w, &by_run))
			pause_us(100);
	}
	progress_of(w)->serving = false;
}

/* ---- signals ---- */

static atomic_uint handled;

static void count_signal(int signal)
{
	(void)signal;
	handled++;
}

static void handle_with(int flags)
{
	struct sigaction action = {.sa_handler = count_signal, .sa_flags = flags};

	handled = 0;
	assert_i_eq(sigaction(SIGUSR1, &action, NULL), 0);
}

/*
 * The handler runs, and the wait ends. As a rule one signal is enough. Just when the thread gives
 * up and begins to wait in another way, as before any wait, one may come too early.
 */
WAITER_TEST(a_signal_ends_the_wait)
{
	struct waiter *w = *state;
	uint32_t sent = 0;

	handle_with(0);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		start_serving(w);
		while (w->result == -1) {
			assert_i_eq(pthread_kill(w->thread, SIGUSR1), 0);
			for (uint64_t ms = 0; ms < 100 && w->result == -1; ms++)
				pause_us(1000);
			sent++;
		}
		assert_i_eq(end_wait(w), EINTR);
	}
	assert_true(w->served > 0 && handled >= ROUNDS && sent < ROUNDS + ROUNDS / 5);
}

/*
 * ThreadSanitizer runs a handler when the call of the system is left that its signal met. A read
 * of who has given up serving is not left: the kernel restarts it.
 */
static bool is_held_back(struct waiter *w)
{
#ifdef __SANITIZE_THREAD__
	return !progress_of(w)->serving;
#else
	(void)w;
	return false;
#endif
}

/* A handler that was installed so runs, and nothing else is to be noticed. */
WAITER_TEST(a_signal_whose_handler_restarts)
{
	struct waiter *w = *state;

	handle_with(SA_RESTART);
	start_serving(w);
	for (uint32_t i = 1; i <= 20; i++) {
		assert_i_eq(pthread_kill(w->thread, SIGUSR1), 0);
		while (handled < i && !is_held_back(w))
			pause_us(100);
	}
	assert_i_eq(w->result, -1);
	raise_event(w, 0);
	assert_i_eq(end_wait(w), 0);
}

static sigjmp_buf way_out;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(way_out, 1);
}

static void *leaving_main(void *arg)
{
	struct waiter *w = arg;
	int cancel_state;

	if (sigsetjmp(way_out, 1) == 0) {
		wait_once(w);
		return NULL;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel_state);
	w->result = cancel_state == PTHREAD_CANCEL_ENABLE ? EINTR : ECANCELED;
	return NULL;
}

/* Nothing of the wait is left behind by a handler that does not return. */
WAITER_TEST(a_signal_whose_handler_leaves)
{
	struct waiter *w = *state;
	struct sigaction action = {.sa_handler = leave};

	assert_i_eq(sigaction(SIGUSR1, &action, NULL), 0);
	for (uint32_t left = 0; left < ROUNDS / 10;) {
		bool serving = start_waiting(w, leaving_main);

		if (serving)
			assert_i_eq(pthread_kill(w->thread, SIGUSR1), 0);
		else
			raise_event(w, 0);
		assert_i_eq(end_wait(w), serving ? EINTR : 0);
		left += serving;
	}
}

/* ---- cancellation, fork ---- */

WAITER_TEST(a_thread_that_is_cancelled)
{
	struct waiter *w = *state;
	void *result;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		start_serving(w);
		assert_i_eq(pthread_cancel(w->thread), 0);
		assert_i_eq(pthread_join(w->thread, &result), 0);
		assert_ptr_equal(result, PTHREAD_CANCELED);
		assert_false(progress_of(w)->serving);
		assert_true(mh_device_is_up(w->dev)); /* nic->lock is free */
	}
	assert_true(w->served > 0);
	start_serving(w);
	raise_event(w, 0);
	assert_i_eq(end_wait(w), 0);
}

WAITER_TEST(a_fork_of_another_thread)
{
	struct waiter *w = *state;
	struct mh_cq *cq;
	int status;

	for (uint32_t i = 0; i < ROUNDS && w->served < 5; i++) {
		pid_t child;

		start_serving(w);
		child = fork();
		assert_true(child >= 0);
		if (child == 0)
			_exit(mh_channel_get(w->channel[0], &cq) == ENODEV ? 0 : 1);
		assert_i_eq(waitpid(child, &status, 0), child);
		assert_i_eq(status, 0);
		raise_event(w, 0);
		assert_i_eq(end_wait(w), 0);
	}
	assert_true(w->served > 0);
}

/* ---- several channels ---- */

WAITER_TEST(a_second_thread_waits_by_itself)
{
	struct waiter *w = *state;
	struct mh_cq *cq;

	start_serving(w);
	raise_event(w, 1);
	assert_i_eq(mh_channel_get(w->channel[1], &cq), 0);
	assert_ptr_equal(cq, w->cq[1]);
	mh_cq_ack_events(cq, 1);
	assert_i_eq(w->result, -1);
	raise_event(w, 0);
	assert_i_eq(end_wait(w), 0);
}

/* Who has an event of one channel may be about to wait for what comes by the other. */
WAITER_TEST(who_uses_two_channels_does_not_serve)
{
	struct waiter *w = *state;

	mh_cq_req_notify(w->cq[0], false);
	mh_cq_req_notify(w->cq[0], false);
	assert_u_eq(progress_of(w)->no_serving_until_ns, 0);
	mh_cq_req_notify(w->cq[1], false);
	assert_true(progress_of(w)->no_serving_until_ns > mh_now_ns());
	progress_of(w)->no_serving_until_ns = UINT64_MAX;
	w->result = -1;
	assert_i_eq(pthread_create(&w->thread, NULL, waiter_main, w), 0);
	for (uint32_t i = 0; i < 20; i++) {
		assert_false(progress_of(w)->serving);
		pause_us(100);
	}
	raise_event(w, 0);
	assert_i_eq(end_wait(w), 0);
}

/* One that is gone is nobody's to wait for, nor is one that lies where it was. */
WAITER_TEST(a_channel_that_is_gone_is_no_second_one)
{
	struct waiter *w = *state;
	struct mh_channel *channel;
	struct mh_cq *cq;

	assert_i_eq(mh_channel_create(w->dev, &channel), 0);
	assert_i_eq(mh_cq_create(w->dev, 16, channel, NULL, &cq), 0);
	mh_cq_req_notify(cq, false);
	assert_ptr_equal(progress_of(w)->armed_channel, channel);
	assert_i_eq(mh_cq_destroy(cq), 0);
	assert_i_eq(mh_channel_destroy(channel), 0);
	assert_null(progress_of(w)->armed_channel);
	mh_cq_req_notify(w->cq[0], false);
	assert_u_eq(progress_of(w)->no_serving_until_ns, 0);
}

/*
 * What a poll left for the next one, and the thread found overdue: the program computes between its
 * waits, and for a while nothing is left so, or each ACK would wait for the end of a nap. The
 * thread is awake here, and does not come from a nap.
 */
WAITER_TEST(what_is_overdue_when_the_thread_is_awake)
{
	struct waiter *w = *state;
	struct mh_nic *nic = w->dev->nic;
	uint64_t sent_at_once_ns;

	mh_nic_lock(nic);
	assert_u_eq(nic->progress.app_found_work_ns, 0);
	assert_u_eq(nic->progress.no_gather_until_ns, 0);
	nic->progress.rung_ns = mh_now_ns() - 1000000;
	mh_nic_unlock(nic);
	mh_nic_kick(nic);
	while (nic->progress.rung_ns)
		pause_us(100);
	mh_nic_lock(nic);
	sent_at_once_ns = nic->progress.no_gather_until_ns;
	mh_nic_unlock(nic);
	assert_u_between(sent_at_once_ns, 1, UINT64_MAX);
}

/* ---- two processes ---- */

/* take_one waits for the next completion, asleep; whether it served, it adds to *served. */
static struct mh_wc take_one(struct live_side *s, uint32_t *served)
{
	struct mh_wc wc;
	struct mh_cq *cq;
	int n;

	for (;;) {
		mh_cq_req_notify(s->cq, false);
		n = mh_cq_poll(s->cq, 1, &wc);
		live_check(n >= 0);
		if (n == 1)
			break;
		live_check(mh_channel_get(s->channel, &cq) == 0 && cq == s->cq);
		mh_cq_ack_events(cq, 1);
		*served += s->dev->nic->progress.app_served_ns != 0;
	}
	live_check(wc.status == RD_WC_SUCCESS);
	return wc;
}

/* volley sends to and fro, and returns when all that was sent is complete, too. */
static void volley(struct live_side *s, bool first, uint32_t n)
{
	uint32_t served = 0, sent = 0, received = 0, done = 0;

	live_post_recv(s, n);
	live_barrier(s);
	while (received < n || done < n) {
		if (sent < n && (first ? sent == received : sent < received)) {
			live_write(s, sent++, 0, 8, (uint32_t)RD_SEND_SIGNALED | RD_SEND_IMM, 1);
			continue;
		}
		if (take_one(s, &served).opcode == RD_WC_WRITE)
			done++;
		else
			received++;
	}
	live_check(served > 0);
}

/*
 * When the other side is done with its events and computes, or waits for something else, its
 * progress thread does the work.
 */
static void serve_initiator(struct live_side *s)
{
	volley(s, true, VOLLEYS);
	live_fill(s->buffer, BYTES, 5);
	live_write_pieces(s, 4, BYTES / 4);
	live_barrier(s);
	live_barrier(s);
}

static void serve_target(struct live_side *s)
{
	volley(s, false, VOLLEYS);
	live_barrier(s);
	live_check(live_compare(s->buffer, BYTES, 5));
	live_barrier(s);
}

TEST(mh_progress_serve, a_ping_pong_and_then_other_work)
{
	struct live_setup setup = {.bytes = BYTES};

	live_run(&setup, serve_initiator, serve_target);
}
