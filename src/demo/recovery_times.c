/* SPDX-License-Identifier: BSD-2-Clause */
/* Detection and recovery: see measure.h. */
#include "demo/measure.h"

#include <stddef.h>
#include <stdio.h>

#define ONE_DIGIT_BELOW_NS 9950000u

void demo_times_fault_begin(struct demo_times *t, uint64_t now_ns)
{
	*t = (struct demo_times){
		.found_ns = DEMO_NEVER,
		.left_ns = DEMO_NEVER,
		.first_good_ns = DEMO_NEVER,
		.all_good_ns = DEMO_NEVER,
		.struck = now_ns,
		.ended = DEMO_NEVER,
		.down = now_ns,
	};
}

void demo_times_left(struct demo_times *t, uint64_t last_hit_ns)
{
	/* A sender reads the clock, then the rule: its stamp may lie a little before the strike. */
	uint64_t ns = last_hit_ns > t->down ? last_hit_ns - t->down : 0;

	if (!last_hit_ns || (last_hit_ns < t->down && t->down != t->struck))
		return;
	if (t->left_ns == DEMO_NEVER || ns > t->left_ns)
		t->left_ns = ns;
}

static void take_bad(struct demo_times *t, uint64_t at_ns)
{
	if (at_ns < t->struck || t->ended != DEMO_NEVER)
		return;
	if (at_ns - t->struck < t->found_ns)
		t->found_ns = at_ns - t->struck;
}

static void take_good(struct demo_times *t, uint64_t at_ns)
{
	if (t->ended == DEMO_NEVER || at_ns < t->ended)
		return;
	if (at_ns - t->ended < t->first_good_ns)
		t->first_good_ns = at_ns - t->ended;
	if (at_ns > t->latest_good)
		t->latest_good = at_ns;
}

void demo_times_event(struct demo_times *t, struct demo_bad_evs *bad,
		      const struct mrc_stats_event *event)
{
	if (event->kind != MRC_STATS_EVENT_EV)
		return;
	if (event->state == MRC_STATS_EV_ASSUMED_BAD) {
		bad->n++;
		if (t)
			take_bad(t, event->at_ns);
	} else if (event->state == MRC_STATS_EV_GOOD) {
		bad->uncertain |= bad->n == 0;
		bad->n -= bad->n > 0;
		if (t)
			take_good(t, event->at_ns);
	}
}

void demo_times_fault_end(struct demo_times *t, const struct demo_bad_evs *bad)
{
	if (!t || t->ended == DEMO_NEVER || t->all_good_ns != DEMO_NEVER || bad->n > 0 ||
	    bad->uncertain)
		return;
	t->all_good_ns = t->latest_good ? t->latest_good - t->ended : 0;
}

const char *demo_times_text(char text[DEMO_TIMES_TEXT], uint64_t ns)
{
	if (ns == DEMO_NEVER)
		snprintf(text, DEMO_TIMES_TEXT, "-");
	else
		snprintf(text, DEMO_TIMES_TEXT, "%.*f ms", ns < ONE_DIGIT_BELOW_NS,
			 (double)ns / 1e6);
	return text;
}

void demo_lateness_add(struct demo_lateness *l, uint64_t asked_ns, uint64_t took_ns)
{
	uint64_t late = took_ns > asked_ns ? took_ns - asked_ns : 0;

	l->sum_ns += late;
	l->max_ns = late > l->max_ns ? late : l->max_ns;
	l->n++;
}

uint64_t demo_lateness_mean(const struct demo_lateness *l)
{
	return l->n ? l->sum_ns / l->n : 0;
}
