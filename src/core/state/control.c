/* SPDX-License-Identifier: BSD-2-Clause */
/* control.c - the ring of control packets that must be sent one by one. See the header. */
#include "core/state/engine_state.h"

#include "base/assert.h"
#include "base/bits.h"

void mt_control_init(struct mt_control_ring *r, struct mt_control *entries, uint32_t size)
{
	mb_assert(entries && mb_is_pow2(size));
	*r = (struct mt_control_ring){.entries = entries, .mask = size - 1};
}

bool mt_control_push(struct mt_control_ring *r, const struct mt_control *c)
{
	mb_assert((c->qp != NULL) == (c->kind < MT_CONTROL_EP_RESPONSE));
	if (r->tail - r->head > r->mask)
		return false;
	r->entries[r->tail++ & r->mask] = *c;
	return true;
}

bool mt_control_pop(struct mt_control_ring *r, struct mt_control *c)
{
	while (r->head != r->tail) {
		mb_assert(r->tail - r->head <= r->mask + 1);
		*c = r->entries[r->head++ & r->mask];
		if (c->qp || c->kind >= MT_CONTROL_EP_RESPONSE)
			return true;
	}
	return false;
}

void mt_control_drop_qp(struct mt_control_ring *r, const struct mt_qp *qp)
{
	mb_assert(qp);
	for (uint32_t i = r->head; i != r->tail; i++)
		if (r->entries[i & r->mask].qp == qp)
			r->entries[i & r->mask].qp = NULL;
}
