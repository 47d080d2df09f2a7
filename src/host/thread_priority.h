/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_priority.h - whether the progress thread goes before other threads of its core.
 *
 * A thread that spins on its memory keeps its core until its slice is over, most of a tick of 4 ms,
 * and with as many spinning threads as cores what they wait for lies in a socket all the while.
 * With a lower nice value the progress thread, which reads it, goes first. It takes a right to
 * lower that: CAP_SYS_NICE, or RLIMIT_NICE as far as it reaches.
 */
#ifndef SOFTMRC_HOST_THREAD_PRIORITY_H
#define SOFTMRC_HOST_THREAD_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

#define MH_PRIORITY_MAX 20u

/* Of one thread. */
struct mh_priority {
	int base;	/* its nice value when it is not raised */
	uint32_t steps; /* how many lower it is when it is; 0: never */
	bool raised;
};

/* mh_priority_init takes the calling thread as it is; 0 .. MH_PRIORITY_MAX steps. */
void mh_priority_init(struct mh_priority *p, uint32_t steps);
/*
 * mh_priority_raise lowers the nice value of the calling thread, whose priority it must be, or puts
 * it back. What the system allows counts: less, or nothing from the first refusal on.
 */
void mh_priority_raise(struct mh_priority *p, bool raised);

#endif
