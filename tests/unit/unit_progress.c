/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_progress.c - what threads of a program do in progress.c: which posts wait, what a poll says
 * of itself, when it rests, and when the progress thread is kicked or kept away.
 */
#include "unit/progress_fixture.h"

#define PROGRESS_TEST(function, name) TEST_WITH(progress_setup, progress_teardown, function, name)

/* A poll of an empty CQ holds for so long, and what was seen of scheduling for as many. */
#define POLLED_NS (10 * US)
#define ARMED_NS MS
#define HOLDS_NS (10 * MS)
#define UNPOLLED_NS (100 * MS)
#define OVERSUBSCRIBED_NS (2 * MS)

static struct mh_progress *const p = &fix.nic.progress;

/* ---- kicks ---- */

PROGRESS_TEST(mh_progress_kick_if_late, kicks_a_thread_that_would_sleep_too_long)
{
	p->sleeps_until_ns = NOW_NS + 10;
	fix.thread_deadline_ns = NOW_NS + 10;
	mh_progress_kick_if_late(&fix.nic);
	assert_u_eq(fix.kicks, 0);
	fix.thread_deadline_ns = NOW_NS + 9;
	mh_progress_kick_if_late(&fix.nic);
	assert_u_eq(fix.kicks, 1);
	mh_progress_kick_if_late(&fix.nic);
	assert_u_eq(fix.kicks, 1);
	assert_u_eq(p->sleeps_until_ns, NOW_NS + 9);
}

PROGRESS_TEST(mh_progress_kick_if_late, leaves_a_nap_alone)
{
	atomic_store(&p->backing_off, true);
	fix.thread_deadline_ns = NOW_NS;
	mh_progress_kick_if_late(&fix.nic);
	assert_u_eq(fix.kicks, 0);
}

PROGRESS_TEST(mh_progress_take_over, ends_a_nap)
{
	atomic_store(&p->app_found_work_ns, NOW_NS);
	mh_progress_take_over(&fix.nic);
	assert_u_eq(atomic_load(&p->app_found_work_ns), 0);
	assert_u_eq(fix.kicks, 0);
	atomic_store(&p->backing_off, true);
	mh_progress_take_over(&fix.nic);
	assert_u_eq(fix.kicks, 1);
}

/* ---- posts ---- */

/* Whether a post might wait for a poll. */
static bool may_wait(void)
{
	mh_progress_ring(&fix.nic, NOW_NS, 1, 1);
	return fix.polling;
}

PROGRESS_TEST(mh_progress_ring, lets_posts_wait_for_a_program_that_polls)
{
	atomic_store(&p->app_polled_ns, NOW_NS - POLLED_NS + 1);
	assert_true(may_wait());
	atomic_store(&p->app_polled_ns, NOW_NS - POLLED_NS);
	assert_false(may_wait());
	/* What was rung keeps it so. */
	fix.rung_due_ns = NOW_NS + 1;
	assert_true(may_wait());
}

PROGRESS_TEST(mh_progress_ring, lets_none_wait_where_polls_stayed_away_or_the_program_will_block)
{
	fix.rung_due_ns = NOW_NS + 1;
	p->no_gather_until_ns = NOW_NS;
	assert_true(may_wait());
	p->no_gather_until_ns = NOW_NS + 1;
	assert_false(may_wait());
	p->no_gather_until_ns = 0;
	atomic_store(&p->event_armed_ns, NOW_NS - ARMED_NS);
	assert_true(may_wait());
	atomic_store(&p->event_armed_ns, NOW_NS - ARMED_NS + 1);
	assert_false(may_wait());
}

PROGRESS_TEST(mh_progress_ring, sends_what_may_not_wait)
{
	fix.gathers = true;
	mh_progress_ring(&fix.nic, NOW_NS, 3, 1);
	assert_u_eq(fix.posted_wrs, 0);
	fix.gathers = false;
	mh_progress_ring(&fix.nic, NOW_NS, 3, 1);
	assert_u_eq(fix.posted_wrs, 3);
}

/* A program that posts alone does not look after what arrives. */
PROGRESS_TEST(mh_progress_ring, counts_as_work_what_it_read)
{
	fix.thread_deadline_ns = NOW_NS + 1;
	atomic_store(&p->lock_busy_since_ns, 1);
	mh_progress_ring(&fix.nic, NOW_NS, 1, 1);
	assert_u_eq(fix.kicks, 1);
	assert_u_eq(atomic_load(&p->app_called_ns), NOW_NS);
	assert_u_eq(atomic_load(&p->lock_busy_since_ns), 0);
	assert_u_eq(atomic_load(&p->app_found_work_ns), 0);
	fix.read_work = 1;
	mh_progress_ring(&fix.nic, NOW_NS, 1, 1);
	assert_u_eq(atomic_load(&p->app_found_work_ns), NOW_NS);
	atomic_store(&p->event_armed_ns, NOW_NS);
	mh_progress_ring(&fix.nic, NOW_NS + 1, 1, 1);
	assert_u_eq(atomic_load(&p->app_found_work_ns), NOW_NS);
}

PROGRESS_TEST(mh_progress_flush, sends_and_wakes_the_thread)
{
	fix.thread_deadline_ns = NOW_NS + 1;
	mh_progress_flush(&fix.nic, NOW_NS);
	assert_u_eq(fix.txs, 1);
	assert_u_eq(fix.kicks, 1);
	assert_u_eq(atomic_load(&p->app_called_ns), NOW_NS);
	assert_u_eq(atomic_load(&p->app_found_work_ns), 0);
}

/* ---- programs that will block ---- */

/* Whether the thread takes over when an event is asked for. */
static bool takes_over(const struct mh_channel *channel)
{
	atomic_store(&p->app_found_work_ns, 1);
	mh_progress_end_backoff(&fix.nic, channel);
	return atomic_load(&p->app_found_work_ns) == 0;
}

static const struct mh_channel *channel(uint32_t i)
{
	static const char some[2];

	return (const struct mh_channel *)(const void *)&some[i];
}

PROGRESS_TEST(mh_progress_end_backoff, has_the_thread_take_over_from_who_does_not_serve)
{
	assert_true(takes_over(NULL));
	assert_u_eq(atomic_load(&p->event_armed_ns), NOW_NS);
	atomic_store(&p->app_served_ns, NOW_NS - HOLDS_NS);
	assert_true(takes_over(NULL));
	atomic_store(&p->app_served_ns, NOW_NS - HOLDS_NS + 1);
	assert_false(takes_over(NULL));
	atomic_store(&p->no_serving_until_ns, NOW_NS);
	assert_false(takes_over(NULL));
	atomic_store(&p->no_serving_until_ns, NOW_NS + 1);
	assert_true(takes_over(NULL));
}

PROGRESS_TEST(mh_progress_end_backoff, has_nobody_serve_who_waits_for_a_second_channel)
{
	mh_progress_end_backoff(&fix.nic, channel(0));
	mh_progress_end_backoff(&fix.nic, channel(0));
	assert_u_eq(atomic_load(&p->no_serving_until_ns), 0);
	mh_progress_end_backoff(&fix.nic, channel(1));
	assert_u_eq(atomic_load(&p->no_serving_until_ns), NOW_NS + UNPOLLED_NS);
}

PROGRESS_TEST(mh_progress_forget_channel, forgets_it_in_all_shards)
{
	static struct mh_nic second;

	fix.nic.n_shards = 2;
	fix.nic.shard[0] = &fix.nic;
	fix.nic.shard[1] = &second;
	atomic_store(&p->armed_channel, channel(0));
	atomic_store(&second.progress.armed_channel, channel(1));
	mh_progress_forget_channel(&fix.nic, channel(1));
	assert_ptr_equal(atomic_load(&p->armed_channel), channel(0));
	assert_null(atomic_load(&second.progress.armed_channel));
}

/* ---- polls ---- */

PROGRESS_TEST(mh_progress_collect_fds, takes_the_ports_that_receive)
{
	struct pollfd fds[MT_PORTS_MAX];

	assert_u_eq(mh_progress_collect_fds(&fix.nic, fds), PORTS - 1);
	assert_int_equal(fds[0].fd, PORT_FD);
	assert_int_equal(fds[1].fd, PORT_FD + 2);
	assert_int_equal(fds[1].events, POLLIN);
}

PROGRESS_TEST(mh_progress_poll, lets_who_has_the_lock_for_long_run)
{
	pthread_mutex_lock(&fix.nic.lock);
	mh_progress_poll(&fix.nic, true);
	assert_u_eq(atomic_load(&p->app_called_ns), NOW_NS);
	assert_u_eq(atomic_load(&p->lock_busy_since_ns), NOW_NS);
	fix.now_ns += RUNG_WAIT_NS;
	mh_progress_poll(&fix.nic, true);
	assert_u_eq(fix.yields, 0);
	fix.now_ns++;
	mh_progress_poll(&fix.nic, true);
	assert_u_eq(fix.yields, 1);
	assert_u_eq(atomic_load(&p->lock_busy_since_ns), NOW_NS);
	assert_u_eq(fix.runs, 0);
	pthread_mutex_unlock(&fix.nic.lock);
}

PROGRESS_TEST(mh_progress_poll, says_when_it_found_nothing)
{
	fix.thread_deadline_ns = NOW_NS;
	fix.run_takes_ns = 7;
	mh_progress_poll(&fix.nic, true);
	assert_u_eq(fix.runs, 1);
	assert_true(fix.held);
	assert_u_eq(p->last_empty_poll_ns, NOW_NS);
	assert_u_eq(atomic_load(&p->app_called_ns), NOW_NS);
	assert_u_eq(atomic_load(&p->app_polled_ns), NOW_NS);
	assert_u_eq(atomic_load(&p->app_found_work_ns), 0);
	assert_u_eq(fix.kicks, 1);
	assert_u_eq(fix.sleeps, 0);
}

PROGRESS_TEST(mh_progress_poll, says_when_it_found_something)
{
	fix.work = 1;
	fix.run_takes_ns = 7;
	p->no_gather_until_ns = NOW_NS + 1;
	p->last_empty_poll_ns = NOW_NS - OVERSUBSCRIBED_NS;
	mh_progress_poll(&fix.nic, true);
	assert_false(fix.held);
	assert_u_eq(p->last_empty_poll_ns, 0);
	assert_u_eq(atomic_load(&p->app_called_ns), NOW_NS + 7);
	assert_u_eq(atomic_load(&p->app_polled_ns), NOW_NS + 7);
	assert_u_eq(atomic_load(&p->app_found_work_ns), NOW_NS + 7);
	assert_u_eq(fix.sleeps, 0);
}

/* Nobody is kept from the NIC, and nobody ends the thread, while it rests. */
static void check_rest(uint32_t i, struct pollfd *fds)
{
	int cancel = PTHREAD_CANCEL_ENABLE;

	(void)i;
	assert_int_equal(fds[0].fd, PORT_FD);
	assert_int_equal(fds[1].fd, PORT_FD + 2);
	assert_int_equal(pthread_mutex_trylock(&fix.nic.lock), 0);
	pthread_mutex_unlock(&fix.nic.lock);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	assert_int_equal(cancel, PTHREAD_CANCEL_DISABLE);
}

/* Whether a poll that finds nothing rests; the last one did so at such a time. */
static bool rests(uint64_t last_empty_ns, bool alone)
{
	uint32_t before = fix.sleeps;
	int cancel;

	fix.on_sleep = check_rest;
	p->last_empty_poll_ns = last_empty_ns;
	mh_progress_poll(&fix.nic, alone);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
	assert_int_equal(cancel, PTHREAD_CANCEL_ENABLE);
	return fix.sleeps > before;
}

PROGRESS_TEST(mh_progress_poll, rests_on_its_ports_while_others_want_the_core)
{
	assert_false(rests(NOW_NS - OVERSUBSCRIBED_NS + 1, true));
	assert_false(rests(0, true));
	assert_true(rests(NOW_NS - OVERSUBSCRIBED_NS, true));
	assert_u_eq(fix.slept[0].n, PORTS - 1);
	assert_u_eq(fix.slept[0].ns, RUNG_WAIT_NS);
	assert_u_eq(fix.yields, 0);
	/* It is at its polling until then. */
	assert_u_eq(atomic_load(&p->app_called_ns), NOW_NS + RUNG_WAIT_NS);
	/* For a while each poll does. */
	fix.now_ns = NOW_NS + HOLDS_NS - 1;
	assert_true(rests(fix.now_ns, true));
	fix.now_ns = NOW_NS + HOLDS_NS;
	assert_false(rests(fix.now_ns, true));
}

PROGRESS_TEST(mh_progress_poll, does_not_rest_before_it_blocks_or_with_other_shards)
{
	assert_false(rests(NOW_NS - OVERSUBSCRIBED_NS, false));
	atomic_store(&p->event_armed_ns, NOW_NS);
	assert_false(rests(NOW_NS - OVERSUBSCRIBED_NS, true));
}

PROGRESS_TEST(mh_progress_poll, yields_where_the_system_cannot_wait)
{
	fix.sleep_err = 12;
	assert_true(rests(NOW_NS - OVERSUBSCRIBED_NS, true));
	assert_u_eq(fix.yields, 1);
}
