/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_meet_wait.c - calls of mrc/meet.h that wait: for ever, beside signals, and on hosts whose
 * network is set up otherwise.
 */
#include "support/netns.h"
#include "support/test.h"

#include <mrc/meet.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* For what is to happen; a busy machine takes its time. */
#define PATIENCE_MS 60000
/* For what is not to happen. */
#define SHORT_MS 50
#define PORT 40000

static void *say_ready_late(void *arg)
{
	(void)poll(NULL, 0, SHORT_MS);
	assert_int_equal(write(*(int *)arg, "mrc-meet-1 ready\n", 17), 17);
	return NULL;
}

TEST(mrc_meet_sync, waits_for_ever_where_told_so)
{
	pthread_t thread;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(pthread_create(&thread, NULL, say_ready_late, &fds[1]), 0);
	assert_int_equal(mrc_meet_sync(fds[0], fds[0], MRC_MEET_FOREVER), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(fds[0]);
	close(fds[1]);
}

TEST(mrc_meet_sync, waits_no_longer_for_a_peer_that_does_not_read)
{
	int full[2];

	assert_int_equal(pipe(full), 0);
	assert_int_equal(fcntl(full[1], F_SETFL, O_NONBLOCK), 0);
	while (write(full[1], "noise", 5) > 0)
		continue;
	assert_int_equal(mrc_meet_sync(full[0], full[1], SHORT_MS), ETIMEDOUT);
	close(full[0]);
	close(full[1]);
}

static void ignore_signal(int number)
{
	(void)number;
}

/* The time limit is over when it returns. */
static void take_long(int number)
{
	(void)number;
	(void)poll(NULL, 0, 2 * SHORT_MS);
}

/* Handlers run meanwhile, and the time limit stays. */
static void assert_bears(void (*handler)(int), suseconds_t every_us)
{
	struct sigaction on = {.sa_handler = handler}, was;
	struct itimerval often = {.it_interval = {0, every_us}, .it_value = {0, 5000}}, never = {0};
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(sigaction(SIGALRM, &on, &was), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	assert_int_equal(mrc_meet_sync(fds[0], fds[0], SHORT_MS), ETIMEDOUT);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &was, NULL), 0);
	close(fds[0]);
	close(fds[1]);
}

TEST(mrc_meet_sync, bears_signals)
{
	assert_bears(ignore_signal, 5000);
	assert_bears(take_long, 0);
}

static void want_network(void)
{
	const char *why;

	if (!test_netns(&why))
		test_skip(why);
}

static void *call_loopback(void *arg)
{
	int *fd = arg;

	(void)mrc_meet_call("127.0.0.1", PORT, PATIENCE_MS, fd);
	return NULL;
}

/* Nobody listens when the call begins, mostly. */
static void assert_meets_over_ipv4(void)
{
	pthread_t thread;
	int ours = -1, theirs = -1;

	assert_int_equal(pthread_create(&thread, NULL, call_loopback, &theirs), 0);
	assert_int_equal(mrc_meet_listen(NULL, PORT, PATIENCE_MS, &ours), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(write(theirs, "x", 1), 1);
	assert_int_equal(mrc_meet_sync(ours, ours, PATIENCE_MS), EPROTO);
	close(ours);
	close(theirs);
}

/* Sockets of IPv6 are for IPv6 alone there, unless they say otherwise. */
TEST(mrc_meet_listen, takes_ipv4_where_ipv6_is_by_itself)
{
	want_network();
	test_sysctl("net/ipv6/bindv6only", "1");
	assert_meets_over_ipv4();
	test_sysctl("net/ipv6/bindv6only", "0");
}

TEST(mrc_meet_listen, takes_ipv4_where_no_address_is_of_ipv6)
{
	want_network();
	test_sysctl("net/ipv6/conf/all/disable_ipv6", "1");
	assert_meets_over_ipv4();
	test_sysctl("net/ipv6/conf/all/disable_ipv6", "0");
}

/* The kernel hands out but one port, the one that is called: it is connected to itself. */
TEST(mrc_meet_call, does_not_meet_itself)
{
	int fd = -5;

	want_network();
	test_sysctl("net/ipv4/ip_local_port_range", "40000 40000");
	assert_int_equal(mrc_meet_call("127.0.0.1", PORT, SHORT_MS, &fd), ECONNREFUSED);
	assert_int_equal(fd, -5);
	/* Nor does it keep the port from who listens: that ends in time, by nobody's call. */
	assert_int_equal(mrc_meet_listen("127.0.0.1", PORT, SHORT_MS, &fd), ETIMEDOUT);
	test_sysctl("net/ipv4/ip_local_port_range", "32768 60999");
}
