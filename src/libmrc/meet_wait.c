/* SPDX-License-Identifier: BSD-2-Clause */
/* meet_wait.c - waiting for a descriptor, as long as a time limit allows. */
#include "libmrc/meet.h"

#include <poll.h>
#include <time.h>

#define NS_PER_MS 1000000

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 * NS_PER_MS + t.tv_nsec;
}

int ma_meet_limit_init(struct ma_meet_limit *limit, int timeout_ms)
{
	if (timeout_ms < MRC_MEET_FOREVER)
		return EINVAL;
	limit->end_ns = timeout_ms == MRC_MEET_FOREVER ? INT64_MAX
						       : now_ns() + (int64_t)timeout_ms * NS_PER_MS;
	return 0;
}

struct ma_meet_limit ma_meet_limit_sooner(struct ma_meet_limit limit, int ms)
{
	int64_t end_ns = now_ns() + (int64_t)ms * NS_PER_MS;

	return end_ns < limit.end_ns ? (struct ma_meet_limit){.end_ns = end_ns} : limit;
}

bool ma_meet_limit_is_over(struct ma_meet_limit limit)
{
	return now_ns() >= limit.end_ns;
}

/* For poll(2): rounded up, so that it does not wake early and spin. It fits, as the limit's did. */
static int ms_left(struct ma_meet_limit limit)
{
	int64_t left_ms;

	if (limit.end_ns == INT64_MAX)
		return -1;
	left_ms = (limit.end_ns - now_ns() + NS_PER_MS - 1) / NS_PER_MS;
	return left_ms < 0 ? 0 : (int)left_ms;
}

void ma_meet_pause(int ms, struct ma_meet_limit limit)
{
	(void)poll(NULL, 0, ms_left(ma_meet_limit_sooner(limit, ms)));
}

int ma_meet_wait(int fd, short events, struct ma_meet_limit limit)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n;

	if (fd < 0)
		return EBADF; /* which poll(2) passes over, and waits */
	do
		n = poll(&p, 1, ms_left(limit));
	while ((n < 0 && errno == EINTR) || (n == 0 && !ma_meet_limit_is_over(limit)));
	if (n < 0)
		return errno;
	/* An error of the descriptor is told by reading or writing. */
	return n == 0 ? ETIMEDOUT : 0;
}
