/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_priority.c - the nice value of one thread; on Linux every thread has its own.
 *
 * What the system refuses once it is not asked for again (steps = 0): a system call each time the
 * thread backs off would cost more than the priority gains.
 */
#include "host/platform/platform.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE_LEAST (-20)
/* RLIMIT_NICE counts from here: 1 allows 19, 40 allows -20. */
#define NICE_OF_LIMIT 20

/* The kernel's struct sched_attr in its first form, which not every C library has. */
struct slice_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

/* The least that the kernel takes, and more than a run of the poll loop mostly needs. */
#define SLICE_NS 100000u

/*
 * A thread with shorter slices than the one that runs goes first when it wakes. Anybody may ask for
 * that, from Linux 6.12 on; kernels before know no slices of a thread and change nothing.
 */
static void ask_for_short_slices(void)
{
	struct slice_attr attr = {0};

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) != 0 ||
	    (attr.policy != SCHED_OTHER && attr.policy != SCHED_BATCH))
		return;
	attr.size = sizeof(attr);
	attr.runtime_ns = SLICE_NS;
	/* Where it is refused things are as they were. */
	(void)!syscall(SYS_sched_setattr, 0, &attr, 0);
}

void mh_priority_init(struct mh_priority *p, uint32_t steps)
{
	ask_for_short_slices();
	*p = (struct mh_priority){.steps = steps};
	/* getpriority returns -1 as a value, too: only errno tells an error. */
	errno = 0;
	p->base = getpriority(PRIO_PROCESS, 0);
	if (errno)
		p->steps = 0;
}

/* priority_allowed returns the least nice value that the limit of this process allows. */
static int priority_allowed(const struct mh_priority *p)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NICE, &limit) || limit.rlim_cur <= (rlim_t)(NICE_OF_LIMIT - p->base))
		return p->base;
	return NICE_OF_LIMIT - (int)limit.rlim_cur;
}

static bool priority_lower(struct mh_priority *p)
{
	int nice = p->base - (int)p->steps;
	int allowed;

	if (nice < NICE_LEAST)
		nice = NICE_LEAST;
	if (setpriority(PRIO_PROCESS, 0, nice) == 0)
		return true;
	/* Without CAP_SYS_NICE the limit may still allow a part of it. */
	allowed = priority_allowed(p);
	return allowed < p->base && setpriority(PRIO_PROCESS, 0, allowed) == 0;
}

void mh_priority_raise(struct mh_priority *p, bool raised)
{
	if (p->steps == 0 || p->raised == raised)
		return;
	if (raised)
		p->raised = priority_lower(p);
	else
		p->raised = setpriority(PRIO_PROCESS, 0, p->base) != 0;
	if (p->raised != raised)
		p->steps = 0;
}
