/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_thread_priority_limits.c - the nice value of a thread, as far as a system allows it that is
 * the test's: src/host/platform/thread_priority.c.
 */
#include "support/test.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/platform/platform.h"

#define BASE 9

static struct {
	int nice, least; /* what there is, and the least that is granted */
	int get_err, set_err, limit_err;
	rlim_t limit;
	uint32_t sets;
	/* Of the scheduler. */
	int attr_err;
	uint32_t policy, slices;
} t;

int __wrap_getpriority(int which, id_t who);
int __wrap_getpriority(int which, id_t who)
{
	assert_true(which == PRIO_PROCESS && who == 0);
	errno = t.get_err ? t.get_err : errno;
	return t.get_err ? -1 : t.nice;
}

int __wrap_setpriority(int which, id_t who, int nice);
int __wrap_setpriority(int which, id_t who, int nice)
{
	assert_true(which == PRIO_PROCESS && who == 0);
	t.sets++;
	errno = EACCES;
	if (t.set_err || nice < t.least)
		return -1;
	t.nice = nice;
	return 0;
}

int __wrap_getrlimit(int resource, struct rlimit *limit);
int __wrap_getrlimit(int resource, struct rlimit *limit)
{
	assert_int_equal(resource, RLIMIT_NICE);
	limit->rlim_cur = t.limit;
	return t.limit_err;
}

/* Of the kernel's struct sched_attr the beginning. */
struct attr_head {
	uint32_t size, policy;
};

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	struct attr_head *attr;
	va_list args;
	long arg[6];

	va_start(args, number);
	for (uint32_t i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	attr = (struct attr_head *)arg[1];
	if (number == SYS_sched_getattr) {
		attr->policy = t.policy;
		return t.attr_err;
	}
	if (number != SYS_sched_setattr)
		return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	assert_u_eq(attr->policy, t.policy);
	t.slices++;
	return -1;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.nice = BASE;
	t.least = -20;
	return 0;
}

#define PRIORITY_TEST(function, name) TEST_WITH(setup, NULL, function, name)

static struct mh_priority priority_of(uint32_t steps)
{
	struct mh_priority p;

	mh_priority_init(&p, steps);
	return p;
}

PRIORITY_TEST(mh_priority_raise, as_it_should)
{
	struct mh_priority p = priority_of(3);

	assert_u_eq(t.sets, 0);
	mh_priority_raise(&p, true);
	mh_priority_raise(&p, true);
	assert_i_eq(t.nice, BASE - 3);
	assert_u_eq(t.sets, 1);
	mh_priority_raise(&p, false);
	mh_priority_raise(&p, false);
	assert_i_eq(t.nice, BASE);
	assert_u_eq(t.sets, 2);
	/* No thread goes lower than this. */
	t.nice = -19;
	p = priority_of(3);
	mh_priority_raise(&p, true);
	assert_i_eq(t.nice, -20);
}

/* -1 is a value as well as an error. */
PRIORITY_TEST(mh_priority_init, at_a_value_that_looks_like_an_error)
{
	struct mh_priority p;

	t.nice = -1;
	errno = EINVAL;
	p = priority_of(3);
	mh_priority_raise(&p, true);
	assert_i_eq(t.nice, -4);
	t.get_err = ESRCH;
	p = priority_of(3);
	mh_priority_raise(&p, true);
	assert_i_eq(t.nice, -4);
}

/* What the limit allows of it; a limit of 15 is nice 5. */
PRIORITY_TEST(mh_priority_raise, as_far_as_the_limit)
{
	struct mh_priority p = priority_of(MH_PRIORITY_MAX);

	t.limit = 15;
	t.least = 5;
	mh_priority_raise(&p, true);
	assert_i_eq(t.nice, 5);
	mh_priority_raise(&p, false);
	assert_i_eq(t.nice, BASE);
	mh_priority_raise(&p, true);
	assert_i_eq(t.nice, 5);
}

/* Raises once, in vain, with so many system calls; then nothing is asked for any more. */
static void expect_in_vain(uint32_t sets)
{
	struct mh_priority p = priority_of(3);

	t.sets = 0;
	for (int again = 0; again < 3; again++) {
		mh_priority_raise(&p, true);
		mh_priority_raise(&p, false);
	}
	assert_u_eq(t.sets, sets);
	assert_i_eq(t.nice, BASE);
}

PRIORITY_TEST(mh_priority_raise, where_nothing_is_allowed)
{
	t.least = BASE;
	t.limit = 20 - BASE;
	expect_in_vain(1);
	t.limit = 0;
	expect_in_vain(1);
	t.limit = 15;
	t.limit_err = -1;
	expect_in_vain(1);
	/* The system thinks otherwise of the limit. */
	t.limit_err = 0;
	expect_in_vain(2);
}

/* Then it stays as it is, and is not asked for again. */
PRIORITY_TEST(mh_priority_raise, where_it_cannot_be_put_back)
{
	struct mh_priority p = priority_of(3);

	mh_priority_raise(&p, true);
	t.set_err = EPERM;
	mh_priority_raise(&p, false);
	mh_priority_raise(&p, false);
	assert_u_eq(t.sets, 2);
	assert_i_eq(t.nice, BASE - 3);
}

/* Slices are of these policies alone. */
PRIORITY_TEST(mh_priority_init, asks_for_slices_where_there_are_such)
{
	t.policy = SCHED_OTHER;
	priority_of(0);
	assert_u_eq(t.slices, 1);
	t.policy = SCHED_BATCH;
	priority_of(0);
	assert_u_eq(t.slices, 2);
	t.policy = SCHED_FIFO;
	priority_of(0);
	t.policy = SCHED_OTHER;
	t.attr_err = -1;
	priority_of(0);
	assert_u_eq(t.slices, 2);
}
