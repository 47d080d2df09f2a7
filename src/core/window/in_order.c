/* SPDX-License-Identifier: BSD-2-Clause */
/* in_order.c - the list of buffered ends of messages, sorted by PSN. See the header. */
#include "core/window/window.h"

#include "base/assert.h"

/* Every entry is counted, and PSNs ascend. For mb_assert_slow: it walks the list. */
static bool list_is_consistent(const struct mt_in_order *o)
{
	const struct mb_link *l = o->entries.next;
	uint32_t count = 0;

	for (; l != &o->entries; l = l->next) {
		if (l->next != &o->entries &&
		    mb_container_of(l, struct mt_buffered, link)->psn >=
			    mb_container_of(l->next, struct mt_buffered, link)->psn)
			return false;
		count++;
	}
	return count == o->count;
}

void mt_in_order_init(struct mt_in_order *o)
{
	mb_link_init(&o->entries);
	o->count = 0;
}

/* Most come in order, so the place is looked for from the end. */
void mt_in_order_insert(struct mt_in_order *o, struct mt_buffered *w)
{
	struct mb_link *before = o->entries.prev;

	mb_assert(o->count < MT_IN_ORDER_MAX);
	while (before != &o->entries &&
	       mb_container_of(before, struct mt_buffered, link)->psn > w->psn)
		before = before->prev;
	mb_link_init(&w->link);
	mb_list_push(before->next, &w->link); /* in front of what follows */
	o->count++;
	mb_assert_slow(list_is_consistent(o));
}

struct mt_buffered *mt_in_order_pop(struct mt_in_order *o, uint64_t expected, uint64_t below)
{
	struct mt_buffered *first;

	if (o->count == 0)
		return NULL;
	mb_assert(!mb_link_is_empty(&o->entries));
	first = mb_container_of(o->entries.next, struct mt_buffered, link);
	if (first->psn >= expected || first->msn >= below)
		return NULL;
	mb_link_remove(&first->link);
	o->count--;
	mb_assert((o->count == 0) == mb_link_is_empty(&o->entries));
	return first;
}
