/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_meet_calls.c - mrc_meet_call and mrc_meet_listen where the resolver or accept4 fails, and
 * how long they let a host that refuses rest.
 *
 * A program's own functions come before those of shared libraries: getaddrinfo, poll and accept4
 * are ours.
 */
#include "support/test.h"

#include <mrc/meet.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ADDRESSES 3
/* One that the kernel gives to no caller, which could call itself then. */
#define PORT 20000
/* A busy machine takes its time. */
#define PATIENCE_MS 60000

/* What the resolver says, with errno; 0: loopback, ADDRESSES times. */
static int resolver_says, resolver_errno;
static struct sockaddr_in loopback[ADDRESSES];
static struct addrinfo found[ADDRESSES];

/* What was asked of poll without a descriptor: how often to rest, and how long. */
static int rests, rested_ms, longest_ms;

/* With what accept4 fails, each once and in this order, before it accepts; 0 ends them. */
static const int *accept_says;

#pragma GCC visibility push(default)
int getaddrinfo(const char *host, const char *service, const struct addrinfo *want,
		struct addrinfo **out)
{
	(void)host;
	if (resolver_says) {
		if (resolver_errno)
			errno = resolver_errno;
		return resolver_says;
	}
	for (int i = 0; i < ADDRESSES; i++) {
		loopback[i] = (struct sockaddr_in){.sin_family = AF_INET,
						   .sin_port = htons((uint16_t)atoi(service)),
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

int accept4(int fd, __SOCKADDR_ARG address, socklen_t *size, int flags)
{
	if (accept_says && *accept_says) {
		errno = *accept_says++;
		return -1;
	}
	return (int)syscall(SYS_accept4, fd, address.__sockaddr__, size, flags);
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

	/* Where the machine stands still, the time may be over after the first round. */
	for (int limit_ms = 200; limit_ms < PATIENCE_MS; limit_ms *= 2) {
		forget();
		assert_int_equal(mrc_meet_call("host", 1, limit_ms, &fd), ECONNREFUSED);
		assert_true(rests <= limit_ms / 10);
		if (longest_ms >= 20)
			return;
	}
	fail_msg("it rests %d ms at most", longest_ms);
}

/* Until somebody listens. A listener that gives up resets what it has not accepted. */
static void *call_loopback(void *arg)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
				       .sin_port = htons(PORT),
				       .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd, err;

	(void)arg;
	do {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		err = connect(fd, (const struct sockaddr *)&at, sizeof(at)) ? errno : 0;
		close(fd);
	} while (err == ECONNREFUSED && poll(NULL, 0, 10) == 0);
	return NULL;
}

/* What mrc_meet_listen says to a caller where accept4 fails with these first. */
static int listen_with(const int *errors)
{
	pthread_t thread;
	int fd = -5, err;

	accept_says = errors;
	assert_int_equal(pthread_create(&thread, NULL, call_loopback, NULL), 0);
	err = mrc_meet_listen("127.0.0.1", PORT, PATIENCE_MS, &fd);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(*accept_says, 0);
	assert_int_equal(fd < 0, err != 0);
	close(fd);
	return err;
}

/* A caller that is gone again is none; what another one would not help is told. */
TEST(mrc_meet_listen, waits_for_a_caller_that_stays)
{
	forget();
	assert_int_equal(listen_with((int[]){ECONNABORTED, EINTR, EAGAIN, 0}), 0);
	assert_int_equal(listen_with((int[]){EMFILE, 0}), EMFILE);
}
