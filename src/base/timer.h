/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timer.h - timers in a pairing heap whose nodes live in their owners.
 *
 * An engine has one heap. Arming is O(1), taking the earliest is O(log n) amortised, and an
 * engine without timers costs one pointer: a simulation holds 131,072 of them. Deadlines are
 * exact nanoseconds; equal deadlines fire in the order in which they were armed, so that a run is
 * the same every time.
 */
#ifndef SOFTMRC_BASE_TIMER_H
#define SOFTMRC_BASE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#define MB_NEVER UINT64_MAX

struct mb_timer {
	uint64_t deadline_ns; /* MB_NEVER while not armed */
	uint64_t order;	      /* breaks ties between equal deadlines */
	struct mb_timer *child, *sibling,
		*prev; /* prev: parent of a first child, else left sibling */
};

struct mb_timers {
	struct mb_timer *root;
	uint64_t armed; /* how many times a timer was armed; source of `order` */
};

void mb_timers_init(struct mb_timers *h);
void mb_timer_init(struct mb_timer *t);
/* mb_timer_arm sets t to fire at deadline_ns, whether or not it was armed; MB_NEVER disarms. */
void mb_timer_arm(struct mb_timers *h, struct mb_timer *t, uint64_t deadline_ns);
void mb_timer_disarm(struct mb_timers *h, struct mb_timer *t);
/* mb_timers_deadline returns the earliest deadline, MB_NEVER when there is none. */
static inline uint64_t mb_timers_deadline(const struct mb_timers *h)
{
	return h->root ? h->root->deadline_ns : MB_NEVER;
}
/* mb_timers_expire takes one timer that is due at now off the heap; NULL when none is. */
struct mb_timer *mb_timers_expire(struct mb_timers *h, uint64_t now_ns);

static inline bool mb_timer_is_armed(const struct mb_timer *t)
{
	return t->deadline_ns != MB_NEVER;
}

#endif
