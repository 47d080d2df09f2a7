/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_priority.c - the nice value of a thread, with and without a right to lower it. */
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/platform/platform.h"

static int nice_now(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

/* A thread of its own: what one thread gives up another one keeps. */
static void in_thread(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	assert_i_eq(pthread_create(&thread, NULL, body, arg), 0);
	assert_i_eq(pthread_join(thread, NULL), 0);
}

static void *raise_and_lower(void *arg)
{
	struct mh_priority p;
	int *seen = arg;

	mh_priority_init(&p, 3);
	seen[0] = nice_now();
	mh_priority_raise(&p, true);
	seen[1] = nice_now();
	mh_priority_raise(&p, true);
	mh_priority_raise(&p, false);
	seen[2] = nice_now();
	return NULL;
}

/* As far as the system allows: by three steps, or not at all; and back in any case. */
TEST(mh_priority_raise, goes_down_and_back)
{
	int seen[3], before = nice_now();

	in_thread(raise_and_lower, seen);
	assert_i_eq(seen[0], before);
	assert_true(seen[1] <= before && seen[1] >= before - 3);
	assert_i_eq(seen[2], before);
	assert_i_eq(nice_now(), before);
}

/* struct sched_attr of the kernel, as far as the slice. */
struct slice {
	uint32_t size, policy;
	uint64_t flags;
	uint32_t nice, priority;
	uint64_t ns, deadline_ns, period_ns;
};

static void *read_slice(void *arg)
{
	struct slice *slice = arg;
	struct mh_priority p;

	mh_priority_init(&p, 0);
	if (syscall(SYS_sched_getattr, 0, slice, sizeof(*slice), 0) != 0)
		slice->ns = 0;
	return NULL;
}

/* Whatever rights there are: so the thread goes before one that spins. */
TEST(mh_priority_init, asks_for_short_slices)
{
	struct slice before = {0}, slice = {0};

	if (syscall(SYS_sched_getattr, 0, &before, sizeof(before), 0) != 0 || before.ns == 0)
		test_skip("this kernel tells no slices, as from Linux 6.12 on");
	in_thread(read_slice, &slice);
	assert_u_eq(slice.policy, before.policy);
	assert_u_eq(slice.nice, before.nice);
	assert_u_eq(slice.ns, 100000);
}

static void *raise_by_none(void *arg)
{
	struct mh_priority p;
	int *seen = arg;

	mh_priority_init(&p, 0);
	mh_priority_raise(&p, true);
	seen[0] = nice_now();
	return NULL;
}

TEST(mh_priority_raise, by_no_steps_changes_nothing)
{
	int seen[1], before = nice_now();

	in_thread(raise_by_none, seen);
	assert_i_eq(seen[0], before);
}

#define BASE 9
#define CANNOT 3

static void *raise_to_limit(void *arg)
{
	int *seen = arg;
	struct mh_priority p;

	mh_priority_init(&p, MH_PRIORITY_MAX);
	mh_priority_raise(&p, true);
	seen[0] = nice_now();
	mh_priority_raise(&p, false);
	seen[1] = nice_now();
	return NULL;
}

/* A user without rights but this limit, in a child, which gives them up for good. */
static int limited(rlim_t limit, int raised)
{
	struct rlimit r = {limit, limit};
	int seen[2] = {0, 0};

	if (setpriority(PRIO_PROCESS, 0, BASE) || setrlimit(RLIMIT_NICE, &r) || setuid(65534))
		return CANNOT;
	in_thread(raise_to_limit, seen);
	return seen[0] == raised && seen[1] == BASE ? 0 : 1;
}

static int limited_in_child(rlim_t limit, int raised)
{
	pid_t pid = fork();
	int status = -1;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(limited(limit, raised));
	assert_i_eq(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A limit of 15 is nice 5; one of 11 is where the thread is already. */
TEST(mh_priority_raise, stops_at_the_limit)
{
	int status = limited_in_child(15, 5);

	if (status == CANNOT)
		test_skip("cannot become another user with a limit of its own");
	assert_i_eq(status, 0);
	assert_i_eq(limited_in_child(11, BASE), 0);
	assert_i_eq(limited_in_child(0, BASE), 0);
}
