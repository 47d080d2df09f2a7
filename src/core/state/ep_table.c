/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ep_table.c - slots of endpoint requests, found by id, and the lists that they pass through. See
 * the state diagram in the header.
 */
#include "core/state/engine_state.h"

#include <string.h>

#include "base/assert.h"

void mt_ep_init(struct mt_ep_table *t, struct mt_ep_slot *slots, struct mt_ep_slot **chains,
		uint32_t size)
{
	t->slots = slots;
	t->chains = chains;
	t->mask = size - 1;
	t->next_id = 0;
	memset(t->id_parts_end_ns, 0, sizeof(t->id_parts_end_ns));
	mb_link_init(&t->free);
	mb_link_init(&t->ended);
	mb_link_init(&t->quarantined);
	mb_timers_init(&t->timers);
	for (uint32_t i = 0; i < size; i++) {
		slots[i] = (struct mt_ep_slot){.state = MT_EP_FREE};
		chains[i] = NULL;
		mb_timer_init(&slots[i].timer);
		mb_link_init(&slots[i].link);
		mb_list_push(&t->free, &slots[i].link);
	}
}

static struct mt_ep_slot *find_slot(const struct mt_ep_table *t, uint16_t id)
{
	struct mt_ep_slot *s = t->chains[id & t->mask];

	while (s && s->req.id != id)
		s = s->chain;
	return s;
}

static void unlink_slot(struct mt_ep_table *t, const struct mt_ep_slot *slot)
{
	struct mt_ep_slot **at = &t->chains[slot->req.id & t->mask];

	mb_assert(find_slot(t, slot->req.id) == slot);
	while (*at != slot)
		at = &(*at)->chain;
	*at = slot->chain;
}

static void free_slot(struct mt_ep_table *t, struct mt_ep_slot *slot)
{
	unlink_slot(t, slot);
	mb_link_remove(&slot->link);
	slot->state = MT_EP_FREE;
	mb_list_push(&t->free, &slot->link);
}

static void free_quarantined(struct mt_ep_table *t, uint64_t now_ns)
{
	while (!mb_link_is_empty(&t->quarantined)) {
		struct mt_ep_slot *s =
			mb_container_of(t->quarantined.next, struct mt_ep_slot, link);

		if (s->quarantine_end_ns > now_ns)
			return;
		mb_assert(s->state == MT_EP_QUARANTINED);
		free_slot(t, s);
	}
}

/*
 * The next id that no slot has. A part of all ids is entered only when those of it have rested; the
 * other parts are enough for 60,000 requests meanwhile.
 */
static bool choose_id(struct mt_ep_table *t, uint64_t now_ns, uint16_t *id)
{
	do {
		if (t->next_id % MT_EP_IDS_OF_PART == 0 &&
		    t->id_parts_end_ns[t->next_id / MT_EP_IDS_OF_PART] > now_ns)
			return false;
		*id = t->next_id++;
	} while (find_slot(t, *id));
	return true;
}

int mt_ep_alloc(struct mt_ep_table *t, uint64_t now_ns, const struct mt_ep_request *req,
		struct mt_ep_slot **out)
{
	struct mt_ep_slot *s;
	uint16_t id = req->id;

	free_quarantined(t, now_ns);
	if (req->id_given && find_slot(t, id))
		return MT_ERR_EXISTS;
	if (mb_link_is_empty(&t->free))
		return MT_ERR_FULL;
	/* There are fewer slots than ids or, with all 2^16 slots, this one's id is free. */
	if (!req->id_given && !choose_id(t, now_ns, &id))
		return MT_ERR_FULL;
	s = mb_container_of(t->free.next, struct mt_ep_slot, link);
	mb_assert(s->state == MT_EP_FREE && !find_slot(t, id));
	mb_link_remove(&s->link);
	s->req = *req;
	s->req.id = id;
	s->owner = NULL;
	s->state = MT_EP_QUEUED;
	s->chain = t->chains[id & t->mask];
	t->chains[id & t->mask] = s;
	mb_timer_arm(&t->timers, &s->timer, now_ns + req->timeout_ns);
	*out = s;
	return MT_OK;
}

void mt_ep_sent(struct mt_ep_slot *slot, uint64_t now_ns, uint16_t stamp)
{
	mb_assert(slot->state == MT_EP_QUEUED);
	slot->state = MT_EP_SENT;
	slot->sent_ns = now_ns;
	slot->stamp = stamp;
}

static void end_request(struct mt_ep_table *t, struct mt_ep_slot *slot, uint64_t now_ns,
			enum mt_ep_status status)
{
	mb_assert(slot->state == MT_EP_QUEUED || slot->state == MT_EP_SENT);
	mb_timer_disarm(&t->timers, &slot->timer);
	slot->state = MT_EP_ENDED;
	slot->status = (uint8_t)status;
	slot->ended_ns = now_ns;
	mb_list_push(&t->ended, &slot->link);
}

/* An operation of 0 leaves both places 0. REQ(wire.eeth.op) */
static bool op_matches(const struct mt_ep_response *a, uint8_t op)
{
	return a->op == op || (op != 0 && a->op_high == op);
}

/* REQ(ep.probe.match) REQ(ep.probe.rtt) */
struct mt_ep_slot *mt_ep_match_response(struct mt_ep_table *t, const struct mt_ep_response *a)
{
	struct mt_ep_slot *s = find_slot(t, a->id);
	uint64_t elapsed, service;

	if (!s || s->state != MT_EP_SENT || !op_matches(a, s->req.op) ||
	    memcmp(&s->req.dst, a->src, sizeof(*a->src)) != 0)
		return NULL;
	elapsed = a->now_ns - s->sent_ns;
	service = (uint64_t)(uint16_t)(a->stamp - s->stamp) << a->ts_shift;
	/* The peer may tell its service time whether or not this end does. */
	if (service > elapsed)
		return NULL;
	s->rtt_ns = elapsed - service;
	s->svc_time_subtracted = a->svc_time || service > 0;
	s->answer_port = a->port;
	end_request(t, s, a->now_ns, MT_EP_ANSWERED);
	return s;
}

struct mt_ep_slot *mt_ep_expire_next(struct mt_ep_table *t, uint64_t now_ns)
{
	struct mb_timer *timer = mb_timers_expire(&t->timers, now_ns);
	struct mt_ep_slot *s;

	if (!timer)
		return NULL;
	s = mb_container_of(timer, struct mt_ep_slot, timer);
	end_request(t, s, now_ns, MT_EP_TIMED_OUT);
	return s;
}

struct mt_ep_slot *mt_ep_next_ended(const struct mt_ep_table *t)
{
	if (mb_link_is_empty(&t->ended))
		return NULL;
	return mb_container_of(t->ended.next, struct mt_ep_slot, link);
}

void mt_ep_release(struct mt_ep_table *t, struct mt_ep_slot *slot, uint64_t from_ns,
		   uint64_t rest_ns)
{
	uint64_t *end_ns = &t->id_parts_end_ns[slot->req.id / MT_EP_IDS_OF_PART];

	mb_assert(slot->state != MT_EP_FREE && slot->state != MT_EP_QUARANTINED);
	mb_timer_disarm(&t->timers, &slot->timer);
	if (*end_ns < from_ns + rest_ns)
		*end_ns = from_ns + rest_ns;
	free_slot(t, slot);
}

void mt_ep_quarantine(struct mt_ep_table *t, struct mt_ep_slot *slot, uint64_t from_ns,
		      uint64_t rest_ns)
{
	mb_assert(slot->state != MT_EP_FREE && slot->state != MT_EP_QUARANTINED);
	mb_timer_disarm(&t->timers, &slot->timer);
	mb_link_remove(&slot->link);
	slot->state = MT_EP_QUARANTINED;
	slot->quarantine_end_ns = from_ns + rest_ns;
	mb_list_push(&t->quarantined, &slot->link);
}
