/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/in_order.h"

void mt_in_order_init(struct mt_in_order *o)
{
	mb_link_init(&o->waiters);
	o->count = 0;
}

/* Most come in order, so the place is looked for from the end. */
void mt_in_order_put(struct mt_in_order *o, struct mt_waiter *w)
{
	struct mb_link *before = o->waiters.prev;

	while (before != &o->waiters &&
	       mb_container_of(before, struct mt_waiter, link)->psn > w->psn)
		before = before->prev;
	mb_link_init(&w->link);
	mb_list_push(before->next, &w->link); /* in front of what follows */
	o->count++;
}

struct mt_waiter *mt_in_order_take(struct mt_in_order *o, uint64_t expected, uint64_t below)
{
	struct mt_waiter *first;

	if (o->count == 0)
		return NULL;
	first = mb_container_of(o->waiters.next, struct mt_waiter, link);
	if (first->psn >= expected || first->msn >= below)
		return NULL;
	mb_link_remove(&first->link);
	o->count--;
	return first;
}
