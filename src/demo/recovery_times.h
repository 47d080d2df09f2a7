/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recovery_times.h - how soon a fault was noticed, and how soon all was well after it: from the
 * events that the processes logged (mrc/stats.h) and from the fault's own rule (mrc/fault.h).
 *
 * The stamps are the processes' own, so looking at them late costs no accuracy. What they do hold
 * is the time that a process waited for a core; recovery_times.h measures how long that was for the
 * demo.
 */
#ifndef SOFTMRC_DEMO_RECOVERY_TIMES_H
#define SOFTMRC_DEMO_RECOVERY_TIMES_H

#include <mrc/stats.h>
#include <stdbool.h>
#include <stdint.h>

#define DEMO_NEVER UINT64_MAX

/* Of one fault; DEMO_NEVER where it has not happened (yet). */
struct demo_times {
	uint64_t found_ns;	/* from the strike to the first EV retired */
	uint64_t left_ns;	/* from the strike to the last data packet that the fault took */
	uint64_t first_good_ns; /* from the end to the first EV that was GOOD again */
	uint64_t all_good_ns;	/* from the end until all EVs of all hosts were GOOD */
	uint64_t struck, ended; /* CLOCK_MONOTONIC; ended: DEMO_NEVER while it lasts */
	uint64_t down;		/* when it struck last: later than struck for one that flaps */
	uint64_t latest_good;	/* stamp of the latest EV that became GOOD after the end */
};

/* What all processes together have, in the order in which events are read. */
struct demo_bad_evs {
	uint32_t n;	/* EVs that are ASSUMED_BAD now */
	bool uncertain; /* events were missed: n is no longer known */
};

/* How late the demo itself is woken, which is what a thread of this machine has to expect. */
struct demo_lateness {
	uint64_t sum_ns, max_ns, n;
};

void demo_times_fault_begin(struct demo_times *t, uint64_t now_ns);
/* demo_times_down notes that a fault that flaps strikes again. */
void demo_times_down(struct demo_times *t, uint64_t now_ns);
/*
 * demo_times_left takes in when the fault last took a data packet (0: never), for faults that take
 * all. To be called again and again while the fault lasts: the longest time counts.
 */
void demo_times_left(struct demo_times *t, uint64_t last_hit_ns);
void demo_times_end(struct demo_times *t, uint64_t now_ns);

/* demo_times_event takes in an event; t: the fault that struck last, NULL: none has yet. */
void demo_times_event(struct demo_times *t, struct demo_bad_evs *bad,
		      const struct mrc_stats_event *event);
/* demo_times_fault_end is called when all that processes logged until now has been taken in. */
void demo_times_fault_end(struct demo_times *t, const struct demo_bad_evs *bad);

/* demo_times_text writes a duration, such as "4.2 ms", "120 ms" or "-" for DEMO_NEVER. */
#define DEMO_TIMES_TEXT 24u
const char *demo_times_text(char text[DEMO_TIMES_TEXT], uint64_t ns);

/* demo_lateness_add takes in one sleep that should have taken asked_ns. */
void demo_lateness_add(struct demo_lateness *l, uint64_t asked_ns, uint64_t took_ns);
/* demo_lateness_mean returns the mean, 0 without any. */
uint64_t demo_lateness_mean(const struct demo_lateness *l);

#endif
