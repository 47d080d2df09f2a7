/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_progress_thread.c - the progress thread: how it begins and ends, when it does the work and
 * when it leaves that to a program and naps, how long it sleeps, and on what.
 */
#include "unit/progress_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "support/open_fds.h"

/* The descriptors of a sleep: kicks, links, the store, then those of the ports that receive. */
#define FDS_OF_A_NAP 3u
#define FDS (FDS_OF_A_NAP + PORTS - 1)
#define GAP_NS (10 * US)
#define HOLDS_NS (10 * MS)
#define UNPOLLED_NS (100 * MS)
#define AFTER_WORK_NS (5 * MS)

static struct mh_progress *const p = &fix.nic.progress;

static int thread_setup(void **state)
{
	return progress_setup(state) || progress_start();
}

#define START_TEST(function, name) TEST_WITH(progress_setup, progress_teardown, function, name)
#define THREAD_TEST(name) TEST_WITH(thread_setup, progress_teardown, progress_thread, name)

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* ---- beginning and end ---- */

START_TEST(mh_progress_start, keeps_signals_from_the_thread)
{
	sigset_t before, after;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(progress_start(), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int signal = 1; signal < NSIG; signal++)
		assert_int_equal(sigismember(&after, signal), sigismember(&before, signal));
	assert_int_equal(sigismember(&fix.routine_mask, SIGTERM), 1);
	assert_int_equal(sigismember(&fix.routine_mask, SIGSEGV), 0);
	assert_int_equal(sigismember(&fix.routine_mask, SIGBUS), 0);
	assert_true(p->started);
}

START_TEST(mh_progress_start, fails_without_descriptors)
{
	uint32_t fds = test_open_fds();

	fix.eventfd_err = ENFILE;
	assert_int_equal(progress_start(), ENFILE);
	fix.eventfd_err = 0;
	fix.links_err = EMFILE;
	assert_int_equal(progress_start(), EMFILE);
	fix.links_err = ENFILE;
	assert_int_equal(progress_start(), ENFILE);
	assert_false(p->started);
	assert_int_equal(p->kick_fd, -1);
	assert_u_eq(test_open_fds(), fds);
}

/* Ports are then taken to be up for ever. */
START_TEST(mh_progress_start, does_without_news_of_links)
{
	fix.links_err = EPERM;
	assert_int_equal(progress_start(), 0);
	assert_true(p->started);
}

START_TEST(mh_progress_start, gives_back_what_it_took_where_there_is_no_thread)
{
	uint32_t fds = test_open_fds();

	fix.start_err = EAGAIN;
	assert_int_equal(progress_start(), EAGAIN);
	assert_false(p->started);
	assert_u_eq(test_open_fds(), fds);
}

START_TEST(mh_progress_stop, ends_the_thread_that_was_begun)
{
	int kick, links;

	mh_progress_stop(&fix.nic);
	assert_u_eq(fix.joins, 0);
	assert_int_equal(progress_start(), 0);
	kick = p->kick_fd;
	links = p->links_fd;
	mh_progress_stop(&fix.nic);
	assert_u_eq(fix.joins, 1);
	assert_false(is_open(kick));
	assert_false(is_open(links));
	assert_false(p->started);
	mh_progress_stop(&fix.nic);
	assert_u_eq(fix.joins, 1);
}

/* A number that is closed may be a file of the program's by then. */
START_TEST(mh_progress_close_inherited, closes_once_and_joins_nobody)
{
	int kick, again;

	assert_int_equal(progress_start(), 0);
	kick = p->kick_fd;
	mh_progress_close_inherited(&fix.nic);
	assert_false(is_open(kick));
	assert_int_equal(p->kick_fd, -1);
	again = eventfd(0, EFD_CLOEXEC);
	p->kick_fd = again;
	mh_progress_close_inherited(&fix.nic);
	assert_true(is_open(again));
	close(again);
	assert_u_eq(fix.joins, 0);
}

/* ---- the thread does the work ---- */

static void stop(uint32_t i, struct pollfd *fds)
{
	(void)i;
	(void)fds;
	atomic_store(&p->stop, true);
}

static void check_fds(uint32_t i, struct pollfd *fds)
{
	assert_int_equal(fds[0].fd, p->kick_fd);
	assert_int_equal(fds[1].fd, p->links_fd);
	assert_int_equal(fds[2].fd, PORT_FD - 1);
	assert_int_equal(fds[3].fd, PORT_FD);
	assert_int_equal(fds[4].fd, PORT_FD + 2);
	stop(i, fds);
}

THREAD_TEST(runs_the_loop_and_sleeps_on_all)
{
	progress_run(check_fds);
	assert_string_equal(fix.name, "mrc-progress");
	assert_u_eq(fix.slack, 1);
	assert_u_eq(fix.inits, 1);
	assert_u_eq(fix.runs, 1);
	assert_false(fix.held);
	assert_u_eq(fix.refreshes, 1);
	assert_u_eq(fix.yields, 0);
	assert_u_eq(fix.slept[0].ns, NEVER);
	assert_u_eq(fix.slept[0].n, FDS);
	assert_false(fix.slept[0].backing_off);
	assert_u_eq(p->sleeps_until_ns, NEVER);
	assert_u_eq(p->no_gather_until_ns, 0);
}

/* How long it sleeps after a run. */
static uint64_t sleeps_for(void)
{
	fix.sleeps = 0;
	progress_run(stop);
	return fix.slept[0].ns;
}

THREAD_TEST(sleeps_until_something_is_due)
{
	fix.thread_deadline_ns = NOW_NS + 2 * AFTER_WORK_NS;
	assert_u_eq(sleeps_for(), 2 * AFTER_WORK_NS);
	assert_u_eq(p->sleeps_until_ns, NOW_NS + 2 * AFTER_WORK_NS);
	fix.store_due_ns = NOW_NS + 3000000001;
	fix.thread_deadline_ns = NEVER;
	assert_u_eq(sleeps_for(), 3000000001);
	fix.thread_deadline_ns = NOW_NS - 1;
	assert_u_eq(sleeps_for(), 0);
}

THREAD_TEST(sleeps_less_after_work_and_not_in_bulk)
{
	fix.work = 1;
	assert_u_eq(sleeps_for(), AFTER_WORK_NS);
	fix.frames = BULK_FRAMES - 1;
	assert_u_eq(sleeps_for(), AFTER_WORK_NS);
	fix.frames = BULK_FRAMES;
	assert_u_eq(sleeps_for(), 0);
}

THREAD_TEST(lets_who_waits_for_the_lock_go_first)
{
	atomic_store(&p->waiters, 1);
	progress_run(stop);
	assert_u_eq(fix.yields, 10);
}

THREAD_TEST(lets_no_post_wait_where_the_program_did_not_poll_again)
{
	fix.rung_due_ns = NOW_NS + 1;
	progress_run(stop);
	assert_u_eq(p->no_gather_until_ns, 0);
	fix.rung_due_ns = NOW_NS;
	progress_run(stop);
	assert_u_eq(p->no_gather_until_ns, NOW_NS + UNPOLLED_NS);
}

THREAD_TEST(follows_a_store_while_there_are_qps)
{
	fix.have_qps = true;
	progress_run(stop);
	assert_false(fix.node.store.followed);
	fix.node.store.info.generation = 1;
	progress_run(stop);
	assert_true(fix.node.store.followed);
	fix.have_qps = false;
	progress_run(stop);
	assert_false(fix.node.store.followed);
}

/* ---- the thread leaves the work to a program ---- */

static uint32_t sleeps_wanted;

/* A program that polls all the time. */
static void poll_again(uint32_t i, struct pollfd *fds)
{
	fix.now_ns += fix.slept[i].ns;
	atomic_store(&p->app_called_ns, fix.now_ns - GAP_NS + 1);
	atomic_store(&p->app_found_work_ns, fix.now_ns - MS + 1);
	if (i + 1 == sleeps_wanted)
		stop(i, fds);
}

THREAD_TEST(naps_longer_and_longer_while_a_program_polls)
{
	static const uint64_t naps[] = {100 * US, 200 * US, 400 * US, 800 * US, MS, MS};

	atomic_store(&p->app_found_work_ns, NOW_NS - MS + 1);
	sleeps_wanted = 6;
	progress_run(poll_again);
	for (uint32_t i = 0; i < 6; i++) {
		assert_u_eq(fix.slept[i].ns, naps[i]);
		assert_u_eq(fix.slept[i].n, FDS_OF_A_NAP);
		assert_true(fix.slept[i].backing_off);
	}
	assert_u_eq(fix.runs, 0);
	/* It was not met at other things. */
	assert_string_equal(fix.raised, "00");
}

/* Whether it naps at first. */
static bool naps(void)
{
	fix.sleeps = 0;
	progress_run(stop);
	assert_u_eq(fix.slept[0].n, fix.slept[0].backing_off ? FDS_OF_A_NAP : FDS);
	return fix.slept[0].backing_off;
}

THREAD_TEST(does_the_work_that_no_program_found_lately)
{
	assert_false(naps());
	atomic_store(&p->app_found_work_ns, NOW_NS - MS);
	assert_false(naps());
	atomic_store(&p->serving, true);
	assert_true(naps());
	atomic_store(&p->app_found_work_ns, 0);
	assert_false(naps());
	/* Soon after the machine began. */
	atomic_store(&p->serving, false);
	fix.now_ns = 1;
	assert_false(naps());
}

THREAD_TEST(keeps_the_statistics_fresh)
{
	atomic_store(&p->app_found_work_ns, NOW_NS);
	fix.segment_deadline_ns = NOW_NS + 1;
	assert_true(naps());
	fix.segment_deadline_ns = NOW_NS;
	assert_false(naps());
}

/* What the program does during the first nap: it called the NIC last at such a time. */
static uint64_t called_ns;

static void compute(uint32_t i, struct pollfd *fds)
{
	if (i == 0) {
		fix.now_ns += fix.slept[0].ns;
		atomic_store(&p->app_called_ns, called_ns);
		atomic_store(&p->app_found_work_ns, fix.now_ns);
	} else {
		stop(i, fds);
	}
}

/* Whether it naps again, after a nap. */
static bool naps_again(uint64_t called)
{
	fix.sleeps = 0;
	fix.now_ns = NOW_NS;
	called_ns = called;
	atomic_store(&p->app_found_work_ns, NOW_NS);
	progress_run(compute);
	assert_true(fix.slept[0].backing_off);
	return fix.slept[1].backing_off;
}

#define AFTER_NAP (NOW_NS + 100 * US)

THREAD_TEST(does_the_work_of_a_program_that_has_other_things_to_do)
{
	assert_true(naps_again(AFTER_NAP - GAP_NS + 1));
	assert_u_eq(fix.runs, 0);
	assert_false(naps_again(AFTER_NAP - GAP_NS));
	assert_u_eq(fix.runs, 1);
	/* One that serves is at it. */
	atomic_store(&p->serving, true);
	assert_true(naps_again(0));
	atomic_store(&p->serving, false);
	/* It holds the lock: it is inside. */
	pthread_mutex_lock(&fix.nic.lock);
	assert_true(naps_again(0));
	pthread_mutex_unlock(&fix.nic.lock);
	assert_string_equal(fix.raised, "");
}

/* A program that served lately does other things between, and will serve again. */
THREAD_TEST(naps_no_more_than_once_for_a_program_that_serves_now_and_then)
{
	atomic_store(&p->app_served_ns, NOW_NS);
	atomic_store(&p->app_called_ns, NOW_NS);
	atomic_store(&p->app_found_work_ns, NOW_NS);
	assert_true(naps());
	atomic_store(&p->app_called_ns, 0);
	assert_false(naps());
	assert_u_eq(fix.runs, 1);
}

/* Works, and computes: met away from its polling in sleeps 0, 2 and 4, each time after a while. */
static void miss(uint32_t i, struct pollfd *fds)
{
	fix.now_ns += i % 2 == 0 ? fix.slept[i].ns : HOLDS_NS;
	atomic_store(&p->app_found_work_ns, fix.now_ns);
	if (i + 1 == sleeps_wanted)
		stop(i, fds);
}

THREAD_TEST(raises_its_priority_where_a_program_is_away_again_and_again)
{
	atomic_store(&p->app_found_work_ns, NOW_NS);
	sleeps_wanted = 2;
	progress_run(miss);
	assert_true(fix.slept[0].backing_off);
	assert_false(fix.slept[1].backing_off);
	assert_string_equal(fix.raised, "");
	fix.sleeps = 0;
	atomic_store(&p->app_found_work_ns, fix.now_ns);
	sleeps_wanted = 4;
	progress_run(miss);
	assert_true(fix.slept[2].backing_off);
	assert_false(fix.slept[3].backing_off);
	assert_string_equal(fix.raised, "1");
}

/* Away, away for a while, there, and away: that is no second time in a row. */
static void miss_and_poll(uint32_t i, struct pollfd *fds)
{
	fix.now_ns += i == 1 ? HOLDS_NS - 1 : i == 2 ? 1 : fix.slept[i].ns;
	atomic_store(&p->app_called_ns, i == 3 ? fix.now_ns : 0);
	atomic_store(&p->app_found_work_ns, fix.now_ns);
	if (i == 5)
		stop(i, fds);
}

THREAD_TEST(takes_up_its_naps_after_a_while)
{
	static const bool napped[] = {true, false, false, true, true, false};

	atomic_store(&p->app_found_work_ns, NOW_NS);
	fix.thread_deadline_ns = 1;
	progress_run(miss_and_poll);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(fix.slept[i].backing_off, napped[i]);
	assert_string_equal(fix.raised, "");
}

/* ---- what a program left, in a nap ---- */

THREAD_TEST(sends_in_a_nap_what_is_overdue)
{
	atomic_store(&p->app_found_work_ns, NOW_NS);
	fix.rung_due_ns = NOW_NS + 1;
	assert_true(naps());
	assert_u_eq(fix.runs, 0);
	fix.rung_due_ns = NOW_NS;
	pthread_mutex_lock(&fix.nic.lock);
	assert_true(naps());
	pthread_mutex_unlock(&fix.nic.lock);
	assert_u_eq(fix.runs, 0);
	assert_true(naps());
	assert_u_eq(fix.runs, 1);
	assert_u_eq(p->no_gather_until_ns, NOW_NS + UNPOLLED_NS);
}

/* Each nap of a program that polls finds something overdue. */
static void leave_rung(uint32_t i, struct pollfd *fds)
{
	poll_again(i, fds);
	fix.rung_due_ns = fix.now_ns;
}

THREAD_TEST(naps_no_longer_while_something_is_overdue)
{
	atomic_store(&p->app_found_work_ns, NOW_NS);
	sleeps_wanted = 3;
	progress_run(leave_rung);
	assert_u_eq(fix.slept[1].ns, 100 * US);
	assert_u_eq(fix.slept[2].ns, 100 * US);
}

/* Who serves sleeps until what was due when it went to sleep. */
THREAD_TEST(does_in_a_nap_what_is_due_while_a_program_serves)
{
	atomic_store(&p->app_found_work_ns, NOW_NS);
	fix.deadline_ns = NOW_NS;
	assert_true(naps());
	assert_u_eq(fix.runs, 0);
	atomic_store(&p->serving, true);
	fix.deadline_ns = NOW_NS + 1;
	assert_true(naps());
	assert_u_eq(fix.runs, 0);
	fix.deadline_ns = NOW_NS;
	assert_true(naps());
	assert_u_eq(fix.runs, 1);
	assert_u_eq(p->no_gather_until_ns, 0);
}

/* ---- what wakes it ---- */

static struct pollfd woken[FDS_OF_A_NAP]; /* revents of a sleep */

static void wake(uint32_t i, struct pollfd *fds)
{
	for (uint32_t k = 0; k < FDS_OF_A_NAP; k++)
		fds[k].revents = woken[k].revents;
	stop(i, fds);
}

static void wake_by(short kick, short links, short store)
{
	woken[0].revents = kick;
	woken[1].revents = links;
	woken[2].revents = store;
	fix.sleeps = 0;
	progress_run(wake);
}

THREAD_TEST(takes_kicks)
{
	uint64_t value;

	assert_int_equal(eventfd_write(p->kick_fd, 1), 0);
	wake_by(0, 0, 0);
	assert_int_equal(eventfd_read(p->kick_fd, &value), 0);
	assert_int_equal(eventfd_write(p->kick_fd, 1), 0);
	wake_by(POLLIN, 0, 0);
	assert_int_equal(eventfd_read(p->kick_fd, &value), -1);
	/* Another thread was first. */
	wake_by(POLLIN, 0, 0);
	assert_u_eq(fix.naps, 0);
}

THREAD_TEST(does_not_spin_where_kicks_have_no_way_in)
{
	int kick = p->kick_fd;

	wake_by(POLLERR, 0, 0);
	wake_by(POLLHUP, 0, 0);
	wake_by(POLLNVAL, 0, 0);
	assert_u_eq(fix.naps, 3);
	p->kick_fd = -1;
	wake_by(POLLIN, 0, 0);
	p->kick_fd = kick;
	assert_u_eq(fix.naps, 4);
}

THREAD_TEST(looks_at_links_that_changed)
{
	wake_by(0, 0, 0);
	assert_u_eq(fix.drains, 0);
	wake_by(0, POLLIN, 0);
	assert_u_eq(fix.drains, 1);
	assert_u_eq(fix.updates, 0);
	fix.links_drained = true;
	wake_by(0, POLLIN, 0);
	assert_u_eq(fix.updates, 1);
	assert_u_eq(fix.reports + fix.txs, 0);
	fix.links_changed = true;
	wake_by(0, POLLIN, 0);
	assert_u_eq(fix.updates, 2);
	assert_u_eq(fix.reports, 1);
	assert_u_eq(fix.txs, 1);
}

THREAD_TEST(asks_again_for_links_that_could_not_be_asked_for)
{
	fix.nic.ports.links_due_ns = NOW_NS + 1;
	wake_by(0, 0, 0);
	assert_u_eq(fix.drains, 1);
	assert_u_eq(fix.updates, 0);
	fix.nic.ports.links_due_ns = NOW_NS;
	wake_by(0, 0, 0);
	assert_u_eq(fix.updates, 1);
}

THREAD_TEST(takes_a_store_that_changed)
{
	wake_by(0, 0, 0);
	assert_u_eq(fix.looks, 0);
	wake_by(0, 0, POLLIN);
	assert_u_eq(fix.looks, 1);
	assert_u_eq(fix.takes, 0);
	fix.store_changed = true;
	wake_by(0, 0, POLLIN);
	assert_u_eq(fix.takes, 1);
	assert_u_eq(fix.txs, 1);
	assert_u_eq(fix.reports, 0);
	fix.store_moves_ports = true;
	fix.store_due_ns = NOW_NS + 1;
	wake_by(0, 0, 0);
	assert_u_eq(fix.looks, 2);
	fix.store_due_ns = NOW_NS;
	wake_by(0, 0, 0);
	assert_u_eq(fix.takes, 2);
	assert_u_eq(fix.reports, 1);
}

THREAD_TEST(yields_where_the_system_cannot_wait)
{
	fix.sleep_err = ENOMEM;
	wake_by(POLLIN, POLLIN, POLLIN);
	assert_u_eq(fix.yields, 1);
	assert_u_eq(fix.drains + fix.looks, 0);
}
