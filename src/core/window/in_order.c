/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/window/in_order.h"

void mt_in_order_init(struct mt_in_order *o)
{
	mb_link_init(&o->entries);
	o->count = 0;
}

/* Most come in order, so the place is looked for from the end. */
void mt_in_order_insert(struct mt_in_order *o, struct mt_buffered *w)
{
	struct mb_link *before = o->entries.prev;

	while (before != &o->entries &&
	       mb_container_of(before, struct mt_buffered, link)->psn > w->psn)
		before = before->prev;
	mb_link_init(&w->link);
	mb_list_push(before->next, &w->link); /* in front of what follows */
	o->count++;
}

struct mt_buffered *mt_in_order_pop(struct mt_in_order *o, uint64_t expected, uint64_t below)
{
	struct mt_buffered *first;

	if (o->count == 0)
		return NULL;
	first = mb_container_of(o->entries.next, struct mt_buffered, link);
	if (first->psn >= expected || first->msn >= below)
		return NULL;
	mb_link_remove(&first->link);
	o->count--;
	return first;
}
