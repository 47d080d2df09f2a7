/* SPDX-License-Identifier: BSD-2-Clause */
/* control.c - the queues of control packets that must be sent one by one. See the header. */
#include "core/state/engine_state.h"

#include "base/assert.h"

/* One entry in so many is kept for what must not be lost. */
#define RESERVE_SHARE 4u

void mt_control_init(struct mt_control_pool *p, struct mt_control *entries, uint32_t size)
{
	mb_assert(entries && size > 0 && size <= UINT16_MAX + 1u);
	*p = (struct mt_control_pool){.entries = entries, .size = size, .n_free = size};
	for (uint32_t i = 0; i < size; i++)
		entries[i].next = (uint16_t)(i + 1);
}

/* How many entries a queue may hold now. */
static uint32_t quota(const struct mt_control_pool *p, uint8_t kind)
{
	uint32_t reserve = p->size / RESERVE_SHARE;

	if (kind == MT_CONTROL_NACK || kind == MT_CONTROL_EP_REQUEST)
		return p->n_free;
	return p->n_free > reserve ? p->n_free - reserve : 0;
}

bool mt_control_push(struct mt_control_pool *p, struct mt_control_queue *q,
		     const struct mt_control *c)
{
	uint16_t at = p->first_free;

	mb_assert((c->qp != NULL) == (c->kind < MT_CONTROL_EP_RESPONSE));
	if (q->count >= quota(p, c->kind))
		return false;
	p->first_free = p->entries[at].next;
	p->n_free--;
	p->entries[at] = *c;
	if (q->count++ == 0)
		q->first = at;
	else
		p->entries[q->last].next = at;
	q->last = at;
	return true;
}

bool mt_control_pop(struct mt_control_pool *p, struct mt_control_queue *q, struct mt_control *c)
{
	uint16_t at = q->first;

	if (q->count == 0)
		return false;
	mb_assert(p->n_free < p->size && at < p->size);
	*c = p->entries[at];
	q->first = c->next;
	q->count--;
	p->entries[at].next = p->first_free;
	p->first_free = at;
	p->n_free++;
	return true;
}

void mt_control_clear(struct mt_control_pool *p, struct mt_control_queue *q)
{
	struct mt_control c;

	while (mt_control_pop(p, q, &c))
		;
}
