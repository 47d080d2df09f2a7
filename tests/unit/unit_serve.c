/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_serve.c - when a thread that waits for an event runs the poll loop, how long it sleeps, and
 * what it leaves behind: the loop, its deadlines, time and sleep are the test's.
 */
#include "support/test.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "host/datapath/datapath.h"
#include "host/progress/progress.h"

#define NS_PER_S UINT64_C(1000000000)
#define NOW_NS UINT64_C(5000000000)
#define MS UINT64_C(1000000)
/* So long it serves, and so long it does not after it gave up. */
#define SERVE_NS (10 * MS)
#define NOT_SERVED_NS (10 * MS)
#define PORTS 2u

enum ending {
	TIME,	     /* nothing comes */
	EVENT,	     /* the first run of the loop makes an event */
	EVENT_SEEN,  /* the sleep ends with the event's descriptor */
	SLEEP_FAILS, /* the system cannot wait */
};

static struct {
	struct mh_nic nic;
	struct mh_event_queue queue;
	struct mb_link event;
	enum ending ending;
	uint64_t now_ns, deadline_ns, rung_due_ns, tx_deadline_ns;
	uint32_t frames; /* that a run of the loop finds */
	uint32_t runs, kicks, sleeps, taken_over;
	uint64_t slept_ns; /* in the first sleep */
	int raised;	   /* a signal that comes in the first sleep */
	uint64_t not_before_ns;
} t;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (t.now_ns == 0)
		return __real_clock_gettime(clock, ts);
	*ts = (struct timespec){(time_t)(t.now_ns / NS_PER_S), (long)(t.now_ns % NS_PER_S)};
	return 0;
}

__typeof__(mh_loop_run) __real_mh_loop_run, __wrap_mh_loop_run;
uint32_t __wrap_mh_loop_run(struct mh_nic *nic, uint64_t now_ns, bool hold)
{
	assert_false(hold);
	assert_u_eq(now_ns, t.now_ns);
	nic->progress.frames = t.frames;
	t.deadline_ns = UINT64_MAX;
	t.runs++;
	return 0;
}

__typeof__(mh_loop_deadline) __real_mh_loop_deadline, __wrap_mh_loop_deadline;
uint64_t __wrap_mh_loop_deadline(const struct mh_nic *nic)
{
	(void)nic;
	return t.deadline_ns;
}

__typeof__(mh_loop_rung_due) __real_mh_loop_rung_due, __wrap_mh_loop_rung_due;
uint64_t __wrap_mh_loop_rung_due(const struct mh_nic *nic)
{
	(void)nic;
	return t.rung_due_ns;
}

__typeof__(mh_tx_deadline) __real_mh_tx_deadline, __wrap_mh_tx_deadline;
uint64_t __wrap_mh_tx_deadline(const struct mh_nic *nic)
{
	(void)nic;
	return t.tx_deadline_ns;
}

__typeof__(mh_progress_kick_if_late) __real_mh_progress_kick_if_late,
	__wrap_mh_progress_kick_if_late;
void __wrap_mh_progress_kick_if_late(struct mh_nic *nic)
{
	(void)nic;
	t.kicks++;
}

__typeof__(mh_progress_take_over) __real_mh_progress_take_over, __wrap_mh_progress_take_over;
void __wrap_mh_progress_take_over(struct mh_nic *nic)
{
	assert_false(atomic_load(&nic->progress.serving));
	t.taken_over++;
}

__typeof__(mh_progress_collect_fds) __real_mh_progress_collect_fds, __wrap_mh_progress_collect_fds;
nfds_t __wrap_mh_progress_collect_fds(const struct mh_nic *nic, struct pollfd fd[MT_PORTS_MAX])
{
	(void)nic;
	for (uint32_t i = 0; i < PORTS; i++)
		fd[i] = (struct pollfd){.fd = 100 + (int)i, .events = POLLIN};
	return PORTS;
}

/* Signals wait, but for those that a thread causes itself, and so does cancellation. */
static void check_held(void)
{
	static const int of_thread[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
	int cancel = PTHREAD_CANCEL_ENABLE;
	sigset_t held;

	pthread_sigmask(SIG_SETMASK, NULL, &held);
	assert_int_equal(sigismember(&held, SIGUSR1), 1);
	assert_int_equal(sigismember(&held, SIGTERM), 1);
	for (size_t i = 0; i < sizeof(of_thread) / sizeof(of_thread[0]); i++)
		assert_int_equal(sigismember(&held, of_thread[i]), 0);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	assert_int_equal(cancel, PTHREAD_CANCEL_DISABLE);
}

int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask)
{
	uint64_t ns = (uint64_t)ts->tv_sec * NS_PER_S + (uint64_t)ts->tv_nsec;

	assert_null(mask);
	assert_u_eq(n, 1 + PORTS);
	assert_int_equal(fds[0].fd, t.queue.own);
	assert_int_equal(fds[2].fd, 101);
	check_held();
	assert_true(t.sleeps < 8);
	if (t.sleeps++ == 0) {
		t.slept_ns = ns;
		if (t.raised)
			raise(t.raised);
	}
	t.now_ns += ns;
	if (t.not_before_ns)
		atomic_store(&t.nic.progress.no_serving_until_ns, t.not_before_ns);
	if (t.ending == SLEEP_FAILS)
		return -1;
	if (t.ending == EVENT_SEEN)
		fds[0].revents = POLLIN;
	return t.ending == EVENT_SEEN;
}

__typeof__(mh_event_is_waiting) __real_mh_event_is_waiting, __wrap_mh_event_is_waiting;
bool __wrap_mh_event_is_waiting(struct mh_event_queue *q)
{
	assert_ptr_equal(q, &t.queue);
	return t.ending == EVENT && t.runs > 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	pthread_mutex_init(&t.nic.lock, NULL);
	t.nic.n_shards = 1;
	t.queue.own = 99;
	t.now_ns = NOW_NS;
	t.deadline_ns = t.rung_due_ns = t.tx_deadline_ns = UINT64_MAX;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	t.now_ns = 0;
	pthread_mutex_destroy(&t.nic.lock);
	return 0;
}

#define SERVE_TEST(name) TEST_WITH(setup, teardown, mh_progress_serve, name)

/* serve waits once, after which signals and cancellation are as they were. */
static int serve(void)
{
	sigset_t before, after;
	int result, cancel;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	result = mh_progress_serve(&t.nic, &t.queue);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int signal = 1; signal < NSIG; signal++)
		assert_int_equal(sigismember(&after, signal), sigismember(&before, signal));
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
	assert_int_equal(cancel, PTHREAD_CANCEL_ENABLE);
	return result;
}

/* ---- who serves ---- */

SERVE_TEST(is_for_a_device_of_one_shard)
{
	t.nic.n_shards = 2;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.kicks, 0);
}

SERVE_TEST(begins_when_the_time_without_is_over)
{
	atomic_store(&t.nic.progress.no_serving_until_ns, NOW_NS + 1);
	assert_int_equal(serve(), 0);
	assert_u_eq(t.kicks, 0);
	atomic_store(&t.nic.progress.no_serving_until_ns, NOW_NS);
	assert_int_equal(serve(), 0);
	assert_true(t.kicks > 0);
}

SERVE_TEST(leaves_it_to_a_thread_that_serves_already)
{
	atomic_store(&t.nic.progress.serving, true);
	assert_int_equal(serve(), 0);
	assert_u_eq(t.kicks, 0);
	assert_u_eq(t.taken_over, 0);
	assert_true(atomic_load(&t.nic.progress.serving));
}

/* ---- what it does ---- */

SERVE_TEST(sleeps_without_a_run_where_nothing_is_due)
{
	assert_int_equal(serve(), 0);
	assert_u_eq(t.runs, 0);
	assert_u_eq(t.sleeps, 1);
	assert_u_eq(t.slept_ns, SERVE_NS);
	assert_u_eq(t.kicks, 1);
	assert_u_eq(t.taken_over, 1);
	assert_false(atomic_load(&t.nic.progress.serving));
}

SERVE_TEST(runs_what_is_due)
{
	t.ending = EVENT_SEEN;
	t.deadline_ns = NOW_NS;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.runs, 1);
	assert_u_eq(t.slept_ns, SERVE_NS);
}

SERVE_TEST(runs_what_a_poll_held_back)
{
	t.ending = EVENT_SEEN;
	t.rung_due_ns = NOW_NS + 1;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.runs, 1);
}

SERVE_TEST(runs_after_a_sleep)
{
	t.deadline_ns = NOW_NS + 6 * MS;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.slept_ns, 6 * MS);
	assert_u_eq(t.runs, 1);
	assert_u_eq(t.now_ns, NOW_NS + SERVE_NS);
}

SERVE_TEST(returns_with_the_event_of_its_run)
{
	t.ending = EVENT;
	t.deadline_ns = NOW_NS;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.sleeps, 0);
	assert_u_eq(t.taken_over, 0);
	assert_u_eq(atomic_load(&t.nic.progress.app_called_ns), NOW_NS);
	assert_u_eq(atomic_load(&t.nic.progress.app_served_ns), NOW_NS);
	assert_u_eq(atomic_load(&t.nic.progress.app_found_work_ns), NOW_NS);
	assert_false(atomic_load(&t.nic.progress.serving));
}

SERVE_TEST(returns_with_the_event_of_another_thread)
{
	t.ending = EVENT_SEEN;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.sleeps, 1);
	assert_u_eq(t.taken_over, 0);
	assert_u_eq(atomic_load(&t.nic.progress.app_served_ns), t.now_ns);
}

/* A second channel was used meanwhile: no serving from now on, or just no longer. */
SERVE_TEST(keeps_the_thread_away_only_where_it_will_serve_again)
{
	t.ending = EVENT_SEEN;
	t.not_before_ns = NOW_NS + SERVE_NS + 1;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.taken_over, 1);
	assert_u_eq(atomic_load(&t.nic.progress.app_found_work_ns), 0);
	atomic_store(&t.nic.progress.no_serving_until_ns, 0);
	t.not_before_ns = t.now_ns + SERVE_NS;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.taken_over, 1);
	assert_u_eq(atomic_load(&t.nic.progress.app_found_work_ns), t.now_ns);
}

SERVE_TEST(gives_up_where_the_system_cannot_wait)
{
	t.ending = SLEEP_FAILS;
	atomic_store(&t.nic.progress.app_served_ns, 1);
	assert_int_equal(serve(), 0);
	assert_u_eq(t.sleeps, 1);
	assert_u_eq(t.taken_over, 1);
	assert_u_eq(atomic_load(&t.nic.progress.app_served_ns), 0);
	assert_u_eq(atomic_load(&t.nic.progress.app_called_ns), t.now_ns);
}

SERVE_TEST(leaves_bulk_to_the_progress_thread)
{
	t.ending = EVENT_SEEN;
	t.deadline_ns = NOW_NS;
	t.frames = BULK_FRAMES - 1;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.sleeps, 1);
	t.frames = BULK_FRAMES;
	t.deadline_ns = t.now_ns;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.sleeps, 1);
	assert_u_eq(t.taken_over, 1);
	assert_u_eq(atomic_load(&t.nic.progress.no_serving_until_ns), t.now_ns + NOT_SERVED_NS);
}

SERVE_TEST(leaves_ports_without_room_to_the_progress_thread)
{
	t.tx_deadline_ns = NOW_NS + MS;
	assert_int_equal(serve(), 0);
	assert_u_eq(t.sleeps, 0);
	assert_u_eq(t.taken_over, 1);
	assert_u_eq(atomic_load(&t.nic.progress.no_serving_until_ns), NOW_NS + NOT_SERVED_NS);
}

/* ---- signals ---- */

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	(void)signal;
	handled++;
}

/* serve_with waits once while SIGURG comes, for which there is such a handler. */
static int serve_with(void (*handler)(int), int flags, enum ending ending)
{
	struct sigaction action = {.sa_flags = flags}, before;
	int result;

	action.sa_handler = handler;
	sigemptyset(&action.sa_mask);
	sigaction(SIGURG, &action, &before);
	handled = 0;
	t.sleeps = 0;
	t.ending = ending;
	t.raised = SIGURG;
	result = serve();
	sigaction(SIGURG, &before, NULL);
	return result;
}

SERVE_TEST(says_that_a_handler_ends_the_wait)
{
	assert_int_equal(serve_with(handle, 0, TIME), EINTR);
	assert_int_equal(handled, 1);
}

SERVE_TEST(goes_on_after_a_handler_that_restarts_and_without_one)
{
	assert_int_equal(serve_with(handle, SA_RESTART, TIME), 0);
	assert_int_equal(handled, 1);
	assert_int_equal(serve_with(SIG_IGN, 0, TIME), 0);
	assert_int_equal(serve_with(SIG_DFL, 0, TIME), 0);
}

SERVE_TEST(has_its_event_whatever_signal_came)
{
	assert_int_equal(serve_with(handle, 0, EVENT_SEEN), 0);
	assert_int_equal(handled, 1);
}

SERVE_TEST(does_not_end_for_a_signal_that_did_not_come)
{
	struct sigaction action = {.sa_handler = handle}, before;

	sigaction(SIGUSR2, &action, &before);
	assert_int_equal(serve(), 0);
	sigaction(SIGUSR2, &before, NULL);
}

/* The program held it itself: it goes on waiting. */
SERVE_TEST(does_not_end_for_a_signal_that_the_program_holds)
{
	sigset_t urgent, before;

	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	pthread_sigmask(SIG_BLOCK, &urgent, &before);
	assert_int_equal(serve_with(handle, 0, TIME), 0);
	assert_int_equal(handled, 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
