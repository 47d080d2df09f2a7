/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_spans.c - spans of one kind on one link are looked at together: at each instant at which
 * one begins or ends the worst of those that hold is found, and a change is written when it is
 * another than before. Few spans ever overlap, so that looking back at all of a group is cheap
 * enough: groups are cut where nothing holds any more.
 */
#include "sim/scenario/scenario.h"

#include <stdlib.h>

#include "fabric/fabric_node.h"

#define NEVER UINT64_MAX

void ms_fault_spans_fini(struct ms_fault_spans *l)
{
	ms_grow_free(&l->list);
}

bool ms_fault_spans_add(struct ms_fault_spans *l, const struct ms_fault_span *span)
{
	if (span->from_ps >= span->until_ps)
		return true;
	return l->list.n < MS_SPANS_MAX && ms_grow_add(&l->list, span);
}

bool ms_fault_spans_link(struct ms_fault_spans *l, struct ms_fault_span span,
			 enum mf_direction direction)
{
	uint32_t link = span.link;

	if (direction != MF_DIRECTION_IN && !ms_fault_spans_add(l, &span))
		return false;
	span.link = mf_link_reverse(link);
	return direction == MF_DIRECTION_OUT || ms_fault_spans_add(l, &span);
}

/* ---- changes ---- */

static int by_group(const void *a, const void *b)
{
	const struct ms_fault_span *x = a, *y = b;
	const uint64_t p[] = {x->link, x->kind, x->from_ps}, q[] = {y->link, y->kind, y->from_ps};

	return ms_compare(p, q, MS_COUNT(p));
}

static int by_time(const void *a, const void *b)
{
	const struct ms_fault *x = a, *y = b;
	const uint64_t p[] = {x->at_ps, x->link, x->kind}, q[] = {y->at_ps, y->link, y->kind};

	return ms_compare(p, q, MS_COUNT(p));
}

/* A rate of all there is, and nothing lost: what holds without a span. */
static uint32_t value_without_span(uint8_t kind)
{
	return kind == MS_FAULT_RATE ? 1000000 : 0;
}

static uint32_t worse_value(uint8_t kind, uint32_t a, uint32_t b)
{
	return (kind == MS_FAULT_RATE) == (a < b) ? a : b;
}

/* worst_span returns what holds at a time, of the n spans at s. */
static uint32_t worst_span(const struct ms_fault_span *s, uint32_t n, uint64_t at)
{
	uint32_t value = value_without_span(s->kind);

	for (uint32_t i = 0; i < n; i++)
		if (s[i].from_ps <= at && at < s[i].until_ps)
			value = worse_value(s->kind, value,
					    s[i].kind == MS_FAULT_DOWN ? 1 : s[i].value);
	return value;
}

/* next_change returns the first time after `at` at which a span begins or ends. */
static uint64_t next_change(const struct ms_fault_span *s, uint32_t n, uint64_t at)
{
	uint64_t next = NEVER;

	for (uint32_t i = 0; i < n; i++) {
		if (s[i].from_ps > at && s[i].from_ps < next)
			next = s[i].from_ps;
		if (s[i].until_ps > at && s[i].until_ps < next)
			next = s[i].until_ps;
	}
	return next;
}

/* group_of counts the spans from s on that hang together: one link, one kind, no gap. */
static uint32_t group_of(const struct ms_fault_span *s, uint32_t n)
{
	uint64_t until = s->until_ps;
	uint32_t i = 1;

	while (i < n && s[i].link == s->link && s[i].kind == s->kind && s[i].from_ps <= until) {
		until = s[i].until_ps > until ? s[i].until_ps : until;
		i++;
	}
	return i;
}

static uint32_t write_group(const struct ms_fault_span *s, uint32_t n, struct ms_fault *out)
{
	uint32_t holds = value_without_span(s->kind), written = 0;

	for (uint64_t at = s->from_ps; at != NEVER; at = next_change(s, n, at)) {
		uint32_t value = worst_span(s, n, at);

		if (value == holds)
			continue;
		out[written] = (struct ms_fault){
			.at_ps = at, .link = s->link, .value = value, .kind = s->kind};
		if (s->kind == MS_FAULT_DOWN) {
			out[written].kind = value ? MS_FAULT_DOWN : MS_FAULT_UP;
			out[written].value = 0;
		}
		holds = value;
		written++;
	}
	return written;
}

bool ms_fault_spans_events(struct ms_fault_spans *l, struct ms_fault **events, uint32_t *n)
{
	/* A span begins once and ends once. */
	struct ms_fault *out = malloc(2 * sizeof(*out) * l->list.n + 1);

	*n = 0;
	*events = out;
	if (!out)
		return false;
	if (l->list.n == 0)
		return true;
	qsort(l->list.at, l->list.n, sizeof(*l->list.at), by_group);
	for (uint32_t i = 0; i < l->list.n;) {
		const struct ms_fault_span *span = &l->list.at[i];
		uint32_t group = group_of(span, (uint32_t)l->list.n - i);

		*n += write_group(span, group, out + *n);
		i += group;
	}
	qsort(out, *n, sizeof(*out), by_time);
	return true;
}
