/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_fork.c - what a fork and the end of a process do to its NICs: src/host/verbs/fork.c. The
 * test links held_mutexes.c, which ends a process at a lock that is not taken or not released.
 *
 * Each case is a process that has opened nothing before, so that what it asks for at its exit comes
 * after what fork.c does there.
 */
#include "unit/nic_fixture.h"

#include <errno.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/progress/progress.h"
#include "host/state/shards.h"
#include "host/stats/stats.h"
#include "support/open_fds.h"
#include "support/sleeping_threads.h"

/* Cases of cmocka go on in a child where one fails. */
#define check(condition)                                                                       \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			fprintf(stderr, "unit_fork.c:%d: not so: %s\n", __LINE__, #condition); \
			_exit(1);                                                              \
		}                                                                              \
	} while (0)

static void in_a_process(void (*body)(void))
{
	static int depth;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		depth++;
		body();
		_exit(0);
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	if (depth > 0)
		check(status == 0);
	assert_i_eq(status, 0);
}

static bool can_be_cancelled(void)
{
	int state = mh_cancel_disable();

	mh_cancel_restore(state);
	return state == PTHREAD_CANCEL_ENABLE;
}

static bool is_free(pthread_mutex_t *lock)
{
	return pthread_mutex_trylock(lock) == 0 && pthread_mutex_unlock(lock) == 0;
}

/* ---- forks ---- */

#define DEVICES 2u
#define SHARDS 2u

static uint32_t fds_before;
static struct mh_device *dev[DEVICES];
static struct mh_cq *ev_cq[DEVICES]; /* with a thread each, which hears for it */

static void expect_locks_free(void)
{
	check(can_be_cancelled());
	check(is_free(&mh_process()->lock));
	for (uint32_t i = 0; i < DEVICES; i++)
		for (uint32_t k = 0; k < SHARDS; k++)
			check(is_free(&dev[i]->nic->shard[k]->lock));
}

static void open_its_own(void)
{
#ifndef __SANITIZE_THREAD__ /* which starts no threads in a child of several */
	struct mh_device *own;

	check(mh_device_open(1, NULL, &own) == 0);
	check(own->nic != dev[1]->nic && mh_device_is_up(own));
	check(mh_device_close(own) == 0);
#endif
}

/* The child has none of it, neither the descriptors, and opens what it wants. */
static void inherit(void)
{
	struct mh_process *p = mh_process();

	check(can_be_cancelled());
	/* The programs' descriptors of events are left, and ours beside them. */
	check(test_open_fds() == fds_before + 2 * DEVICES);
	for (uint32_t i = 0; i < DEVICES; i++) {
		check(!mh_device_is_up(dev[i]));
		check(!p->of[i].nic && p->of[i].users == 0);
		check(p->of[i].inherited == dev[i]->nic && !dev[i]->nic->segment);
	}
	open_its_own();
	expect_locks_free();
}

static void fork_twice(void)
{
	loopback_env(DEVICES);
	setenv("MRC_DEVICES", "2", 1);
	setenv("MRC_SHARDS", "2", 1);
	setenv("MRC_EV_BASE", "53500", 1);
	setenv("MRC_EVS", "4", 1);
	check(is_free(&mh_process()->lock));
	fds_before = test_open_fds();
	for (uint32_t i = 0; i < DEVICES; i++) {
		check(mh_device_open(i, NULL, &dev[i]) == 0);
		check(mh_ev_cq_create(dev[i], 8, NULL, NULL, &ev_cq[i]) == 0 && ev_cq[i]->listener);
	}
	test_wait_for_threads();
	for (uint32_t i = 0; i < 2; i++) {
		in_a_process(inherit);
		expect_locks_free();
		check(mh_device_is_up(dev[0]) && mh_device_is_up(dev[1]));
	}
	for (uint32_t i = 0; i < DEVICES; i++)
		check(mh_cq_destroy(ev_cq[i]) == 0 && mh_device_close(dev[i]) == 0);
	check(test_open_fds() == fds_before);
}

TEST(fork, leaves_all_locks_free_and_the_child_nothing)
{
	in_a_process(fork_twice);
}

/* Locks of a library above: taken before those of the process, and released after them. */

static uint32_t above_taken, above_released;

static void take_above(void)
{
	check(is_free(&mh_process()->lock));
	above_taken++;
}

static void release_above(void)
{
	check(is_free(&mh_process()->lock));
	above_released++;
}

static void expect_released(void)
{
	check(above_taken == 1 && above_released == 1);
}

static void (*first_call)(void); /* of the process */

static void fork_under_a_library(void)
{
	static const struct mh_fork_locks locks = {take_above, release_above};

	mh_fork_lock_first(&locks);
	first_call();
	in_a_process(expect_released);
	expect_released();
}

TEST(mh_fork_lock_first, locks_before_all_others)
{
	first_call = mh_fork_watch;
	in_a_process(fork_under_a_library);
}

static void call_log_set(void)
{
	check(mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL) == 0);
}

static void call_probe(void)
{
	struct mh_device_attr attr;

	loopback_env(1);
	check(mh_device_probe(0, &attr) == 0);
}

static void call_open(void)
{
	struct mh_device *none;

	check(mh_device_open(MH_DEVICES_MAX, NULL, &none) == ENODEV);
}

static void call_find(void)
{
	check(!mh_device_find(NULL));
}

static void call_find_pd(void)
{
	check(!mh_pd_find(NULL));
}

/* Whatever a program calls first takes a lock. */
TEST(mh_fork_watch, from_the_first_call_on)
{
	static void (*const calls[])(void) = {call_log_set, call_probe, call_open, call_find,
					      call_find_pd};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		first_call = calls[i];
		in_a_process(fork_under_a_library);
	}
}

/* ---- exits ---- */

static struct nic_fixture *fixture;
static uint32_t finished; /* segments */
static bool leaves;	  /* what was posted last */
static pthread_mutex_t *held;

__typeof__(mh_segment_finish) __real_mh_segment_finish, __wrap_mh_segment_finish;
void __wrap_mh_segment_finish(struct mh_nic *nic)
{
	finished++;
	__real_mh_segment_finish(nic);
}

static void after(void)
{
	struct mh_nic *first = fixture->dev->nic;
	struct mio_rx frame;

	check(can_be_cancelled());
	check(finished == (held ? 0 : 1));
	check(held == &mh_process()->lock || is_free(&mh_process()->lock));
	for (uint32_t i = 0; i < first->n_shards; i++)
		check(held == &first->shard[i]->lock || is_free(&first->shard[i]->lock));
	if (leaves)
		check(fixture_receive(fixture, &frame) < FIXTURE_PLANES);
	else
		check(mio_port_rx(fixture->peer[0], 0, &frame, 1) +
			      mio_port_rx(fixture->peer[1], 0, &frame, 1) ==
		      0);
	_exit(0);
}

/* What is posted to a QP waits for a poll, and nobody is there but who exits. */
static void post_and_exit(const char *shards)
{
	struct rd_send_wr wr = {.n_sge = 1, .rkey = 1};
	struct rd_sge sge = {.length = 8};
	void *state;

	check(atexit(after) == 0);
	setenv("MRC_SHARDS", shards, 1);
	check(fixture_setup(&state) == 0);
	fixture = state;
	check(fixture_connect(fixture) == 0);
	for (uint32_t i = 0; i < fixture->dev->nic->n_shards; i++) {
		mh_progress_stop(fixture->dev->nic->shard[i]);
		fixture->dev->nic->shard[i]->progress.sleeps_until_ns = 0;
	}
	/* It polled a moment ago, however slow this machine is. */
	atomic_store(&fixture->qp->nic->progress.app_polled_ns, mh_now_ns() + 60000000000u);
	sge.addr = (uintptr_t)fixture->buffer;
	sge.lkey = mh_mr_lkey(fixture->mr);
	wr.sge = &sge;
	check(mh_qp_post_send(fixture->qp, &wr, 1, NULL) == 0);
	check(mh_loop_rung_due(fixture->qp->nic) != UINT64_MAX);
}

static void exit_usually(void)
{
	leaves = true;
	post_and_exit("2");
	exit(0);
}

TEST(exit, sends_what_waits_and_finishes_the_statistics)
{
	in_a_process(exit_usually);
}

static pthread_mutex_t *briefly; /* a lock that a thread has until it is waited for */
static struct timespec exit_began;
static atomic_bool is_wanted;

/* Whoever has it gets a second to release it, and on a busy machine here as long as it takes. */
__typeof__(pthread_mutex_timedlock) __real_pthread_mutex_timedlock, __wrap_pthread_mutex_timedlock;
int __wrap_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	struct timespec later = *until;

	if (mutex == briefly) {
		check(until->tv_sec > exit_began.tv_sec);
		later.tv_sec += 60;
		atomic_store(&is_wanted, true);
	}
	return __real_pthread_mutex_timedlock(mutex, &later);
}

static void *hold(void *ready)
{
	check(pthread_mutex_lock(held ? held : briefly) == 0);
	atomic_store((atomic_bool *)ready, true);
	while (held)
		pause();
	while (!atomic_load(&is_wanted))
		sched_yield();
	pthread_mutex_unlock(briefly);
	return NULL;
}

static void start_holding(void)
{
	static atomic_bool ready;
	pthread_t thread;

	check(pthread_create(&thread, NULL, hold, &ready) == 0 && pthread_detach(thread) == 0);
	while (!atomic_load(&ready))
		continue;
}

static void exit_in_a_moment(void)
{
	leaves = true;
	post_and_exit("2");
	briefly = &fixture->dev->nic->shard[1]->lock;
	start_holding();
	clock_gettime(CLOCK_REALTIME, &exit_began);
	exit(0);
}

TEST(exit, waits_for_a_lock_that_is_released)
{
	in_a_process(exit_in_a_moment);
}

/* Whoever holds it was stopped in the middle, and will not release it. */
static void hold_for_ever(pthread_mutex_t *lock)
{
	held = lock;
	start_holding();
}

static void exit_without_a_shard(void)
{
	post_and_exit("2");
	hold_for_ever(&fixture->dev->nic->shard[1]->lock);
	exit(0);
}

TEST(exit, does_not_wait_for_ever_for_a_lock)
{
	in_a_process(exit_without_a_shard);
}

static void exit_without_the_table(void)
{
	post_and_exit("1");
	hold_for_ever(&mh_process()->lock);
	exit(0);
}

TEST(exit, does_not_wait_for_the_table_of_nics)
{
	in_a_process(exit_without_the_table);
}
