/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_table.c - the ring of probes that are not answered yet. See the header. */
#include "core/state/probe_table.h"

#include "base/assert.h"
#include "base/bits.h"

void mt_probe_table_init(struct mt_probe_table *t, struct mt_probe *slots, uint32_t n,
			 uint64_t life_ns)
{
	mb_assert(slots && mb_is_pow2(n) && n >= 4 && n <= MT_PROBES_MAX);
	*t = (struct mt_probe_table){.slots = slots, .mask = n - 1, .life_ns = life_ns};
}

/*
 * Slots are filled in the order of time: when the one that is `reserve` ahead may be used again,
 * those before it may, too.
 */
static bool has_room(const struct mt_probe_table *t, uint32_t reserve, uint64_t now_ns)
{
	const struct mt_probe *last = &t->slots[(t->next + reserve) & t->mask];

	return !last->used || now_ns - last->sent_ns >= t->life_ns;
}

/* REQ(req.probe.bounded) */
bool mt_probe_add(struct mt_probe_table *t, const struct mt_probe *probe, uint16_t *id)
{
	uint32_t reserve = probe->purpose == MT_PROBE_TAIL ? (t->mask + 1) / 4 : 0;

	mb_assert(probe->qp);
	if (!has_room(t, reserve, probe->sent_ns))
		return false;
	*id = (uint16_t)t->next;
	t->slots[t->next & t->mask] = *probe;
	t->slots[t->next++ & t->mask].used = true;
	return true;
}

/* REQ(req.probe.match) */
bool mt_probe_match(struct mt_probe_table *t, uint16_t id, const struct mt_qp *qp, uint32_t first,
		    struct mt_probe *probe)
{
	uint16_t age = (uint16_t)(t->next - id);
	struct mt_probe *p = &t->slots[id & t->mask];

	mb_assert(qp);
	if (age == 0 || age > t->mask + 1 || age > t->next - first || p->qp != qp)
		return false;
	*probe = *p;
	p->qp = NULL;
	return true;
}
