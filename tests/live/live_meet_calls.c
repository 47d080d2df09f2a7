/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_meet_calls.c - mrc_meet_call and mrc_meet_listen where the resolver fails, and how long they
 * let a host that refuses rest.
 *
 * A program's own functions come before those of shared libraries: getaddrinfo and poll are ours.
 */
#include "support/test.h"

#include <mrc/meet.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#define ADDRESSES 3

/* What the resolver says, with errno; 0: loopback, ADDRESSES times. */
static int resolver_says, resolver_errno;
static struct sockaddr_in loopback[ADDRESSES];
static struct addrinfo found[ADDRESSES];

/* What was asked of poll without a descriptor: how often to rest, and how long. */
static int rests, rested_ms, longest_ms;

#pragma GCC visibility push(default)
int getaddrinfo(const char *host, const char *service, const struct addrinfo *want,
		struct addrinfo **out)
{
	(void)host, (void)service;
	if (resolver_says) {
		if (resolver_errno)
			errno = resolver_errno;
		return resolver_says;
	}
	for (int i = 0; i < ADDRESSES; i++) {
		loopback[i] = (struct sockaddr_in){.sin_family = AF_INET,
						   .sin_port = htons(1),
						   .sin_addr = {htonl(INADDR_LOOPBACK)}};
		found[i] = (struct addrinfo){.ai_family = AF_INET,
					     .ai_socktype = want->ai_socktype,
					     .ai_addr = (struct sockaddr *)&loopback[i],
					     .ai_addrlen = sizeof(loopback[i]),
					     .ai_next = i + 1 < ADDRESSES ? &found[i + 1] : NULL};
	}
	*out = found;
	return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
	(void)list;
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	struct timespec t = {.tv_sec = timeout_ms / 1000,
			     .tv_nsec = (long)(timeout_ms % 1000) * 1000000};

	if (n == 0) {
		rests++;
		rested_ms += timeout_ms;
		longest_ms = timeout_ms > longest_ms ? timeout_ms : longest_ms;
	}
	return ppoll(fds, n, timeout_ms < 0 ? NULL : &t, NULL);
}
#pragma GCC visibility pop

static void forget(void)
{
	resolver_says = rests = rested_ms = longest_ms = 0;
}

static void assert_fails(int says, int number, int call_err, int listen_err)
{
	int fd = -5;

	resolver_says = says;
	resolver_errno = number;
	errno = EDOM; /* of a call before */
	assert_int_equal(mrc_meet_call("host", 1, MRC_MEET_FOREVER, &fd), call_err);
	assert_int_equal(errno, call_err);
	errno = EDOM;
	assert_int_equal(mrc_meet_listen("192.0.2.1", 1, MRC_MEET_FOREVER, &fd), listen_err);
	assert_int_equal(errno, listen_err);
	assert_int_equal(fd, -5);
}

/* Each says what it is, and none waits for a limit. */
TEST(mrc_meet_tcp, tells_why_a_name_has_no_address)
{
	assert_fails(EAI_NONAME, 0, EADDRNOTAVAIL, EINVAL);
	assert_fails(EAI_FAIL, 0, EADDRNOTAVAIL, EINVAL);
	assert_fails(EAI_MEMORY, 0, ENOMEM, ENOMEM);
	assert_fails(EAI_SYSTEM, EMFILE, EMFILE, EMFILE);
	/* Some modules of the resolver fail and leave no number. */
	assert_fails(EAI_SYSTEM, 0, EADDRNOTAVAIL, EINVAL);
	assert_fails(EAI_AGAIN, 0, EAGAIN, EAGAIN);
}

/* Every address was asked; then there is no time left to rest. */
TEST(mrc_meet_call, does_not_rest_beyond_its_time_limit)
{
	int fd = -5;

	forget();
	assert_int_equal(mrc_meet_call("host", 1, 0, &fd), ECONNREFUSED);
	assert_int_equal(rested_ms, 0);
	assert_int_equal(mrc_meet_call("host", 1, 10, &fd), ECONNREFUSED);
	assert_true(longest_ms <= 10);
	assert_int_equal(fd, -5);
}

/* It rests between two rounds: a host that refuses is not asked without end. */
TEST(mrc_meet_call, rests_between_rounds)
{
	int fd = -5;

	forget();
	assert_int_equal(mrc_meet_call("host", 1, 200, &fd), ECONNREFUSED);
	assert_true(longest_ms >= 20);
	assert_true(rests <= 20);
}
