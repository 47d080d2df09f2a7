/* SPDX-License-Identifier: BSD-2-Clause */
/* timer.c - timers of one owner in a pairing heap, the earliest deadline at its root. */
#include "base/timer.h"

#include <stddef.h>

#include "base/assert.h"

static bool is_earlier(const struct mb_timer *a, const struct mb_timer *b)
{
	if (a->deadline_ns != b->deadline_ns)
		return a->deadline_ns < b->deadline_ns;
	return a->order < b->order;
}

/* Joins two heaps: the later root becomes the first child of the is_earlier one. */
static struct mb_timer *merge_heaps(struct mb_timer *a, struct mb_timer *b)
{
	if (!a)
		return b;
	if (!b)
		return a;
	if (is_earlier(b, a)) {
		struct mb_timer *t = a;

		a = b;
		b = t;
	}
	b->sibling = a->child;
	if (b->sibling)
		b->sibling->prev = b;
	b->prev = a;
	a->child = b;
	a->prev = a->sibling = NULL;
	return a;
}

/* The two passes of a pairing heap: join neighbours left to right, then all from the right. */
static struct mb_timer *merge_children(struct mb_timer *first)
{
	struct mb_timer *pairs = NULL, *all = NULL;

	while (first) {
		struct mb_timer *a = first, *b = first->sibling;

		first = b ? b->sibling : NULL;
		a->sibling = a->prev = NULL;
		if (b)
			b->sibling = b->prev = NULL;
		a = merge_heaps(a, b);
		a->sibling = pairs;
		pairs = a;
	}
	while (pairs) {
		struct mb_timer *next = pairs->sibling;

		pairs->sibling = NULL;
		all = merge_heaps(all, pairs);
		pairs = next;
	}
	return all;
}

void mb_timers_init(struct mb_timers *h)
{
	h->root = NULL;
	h->armed = 0;
}

void mb_timer_init(struct mb_timer *t)
{
	t->deadline_ns = MB_NEVER;
	t->order = 0;
	t->child = t->sibling = t->prev = NULL;
}

void mb_timer_disarm(struct mb_timers *h, struct mb_timer *t)
{
	struct mb_timer *rest;

	if (!mb_timer_is_armed(t))
		return;
	rest = merge_children(t->child);
	if (t == h->root) {
		h->root = rest;
	} else {
		mb_assert(t->prev != NULL);
		if (t->prev->child == t)
			t->prev->child = t->sibling;
		else
			t->prev->sibling = t->sibling;
		if (t->sibling)
			t->sibling->prev = t->prev;
		h->root = merge_heaps(h->root, rest);
	}
	mb_timer_init(t);
}

void mb_timer_arm(struct mb_timers *h, struct mb_timer *t, uint64_t deadline_ns)
{
	mb_timer_disarm(h, t);
	if (deadline_ns == MB_NEVER)
		return;
	t->deadline_ns = deadline_ns;
	t->order = h->armed++;
	h->root = merge_heaps(h->root, t);
}

struct mb_timer *mb_timers_expire(struct mb_timers *h, uint64_t now_ns)
{
	struct mb_timer *t = h->root;

	if (!t || t->deadline_ns > now_ns)
		return NULL;
	mb_timer_disarm(h, t);
	return t;
}
