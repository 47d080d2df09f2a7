/* SPDX-License-Identifier: BSD-2-Clause */
/* calendar.c - what comes to which unit in which window; see lane.h. */
#include "sim/lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/prefetch.h"

/* Of a chunk to be read soon; the CPU sees by then that the rest is wanted too. */
#define SOON_BYTES 512u

void *ms_vec_push(struct ms_vec *v, size_t size)
{
	if (v->n == v->room) {
		size_t room = v->room ? v->room * 2 : 16;
		void *at = realloc(v->at, room * size);

		if (!at)
			return NULL;
		v->at = at;
		v->room = room;
	}
	return (uint8_t *)v->at + size * v->n++;
}

static struct ms_packet *out_of_memory(struct ms_lane *lane)
{
	atomic_store_explicit(&lane->net->no_memory, true, memory_order_relaxed);
	return &lane->sink;
}

void ms_mark(struct ms_lane *lane, uint32_t unit, uint64_t window)
{
	const struct ms_net *net = lane->net;
	uint32_t slot = (uint32_t)window & (net->slots - 1);

	if (window == lane->window) {
		lane->now_marks[unit / 64] |= UINT64_C(1) << unit % 64;
		return;
	}
	lane->marks[(size_t)slot * net->mark_words + unit / 64] |= UINT64_C(1) << unit % 64;
	lane->marked[slot]++;
}

/* A packet for a later window than boxes reach to. */
static struct ms_packet *post_far(struct ms_lane *lane, uint32_t unit, uint64_t window)
{
	struct ms_far *far = ms_vec_push(&lane->far, sizeof(*far));

	if (!far)
		return out_of_memory(lane);
	far->window = window;
	far->unit = unit;
	return &far->p;
}

/* A packet for a unit of another rank. */
static struct ms_packet *post_parcel(struct ms_lane *lane, uint32_t unit, uint64_t window)
{
	uint32_t rank = lane->net->unit[unit].lane / lane->net->threads;
	struct ms_parcel *parcel = ms_vec_push(&lane->parcels[rank], sizeof(*parcel));

	if (!parcel)
		return out_of_memory(lane);
	parcel->unit = unit;
	parcel->ahead = (uint32_t)(window - lane->window);
	return &parcel->p;
}

/* A packet for a box that is full or empty: a new chunk. */
static struct ms_packet *post_slowly(struct ms_lane *lane, uint32_t unit, uint64_t window,
				     ms_tail *box)
{
	ms_tail tail = ms_tail_extend(&lane->chunks, *box);

	if (!tail)
		return out_of_memory(lane);
	if (!*box)
		ms_mark(lane, unit, window);
	*box = tail + sizeof(struct ms_packet);
	return (struct ms_packet *)(uintptr_t)tail;
}

static struct ms_packet *post_here(struct ms_lane *lane, uint32_t unit, uint64_t window)
{
	const struct ms_net *net = lane->net;
	uint32_t slot = (uint32_t)window & (net->slots - 1);
	ms_tail *box = &lane->box[(size_t)slot * net->units.n + unit];
	struct ms_packet *p;

	if (ms_tail_full(*box))
		return post_slowly(lane, unit, window, box);
	p = (struct ms_packet *)(uintptr_t)*box;
	*box += sizeof(*p);
	__builtin_prefetch(p + 1, 1);
	return p;
}

struct ms_packet *ms_post_at(struct ms_lane *lane, uint32_t unit, uint64_t window, uint32_t at)
{
	const struct ms_net *net = lane->net;
	struct ms_packet *p;

	if (net->ranks > 1 && net->unit[unit].lane / net->threads != net->rank)
		p = post_parcel(lane, unit, window);
	else if (window - lane->window >= net->slots)
		p = post_far(lane, unit, window);
	else
		p = post_here(lane, unit, window);
	p->at = at;
	return p;
}

struct ms_packet *ms_post(struct ms_lane *lane, uint32_t unit, uint64_t at_ps)
{
	const struct ms_net *net = lane->net;
	uint64_t rest = at_ps - lane->start_ps, ahead;

	if (rest < MF_DIVIDEND_END)
		ahead = mf_div_quotient(net->by_window, (uint32_t)rest);
	else
		ahead = rest / net->window_ps;
	return ms_post_at(lane, unit, lane->window + ahead,
			  (uint32_t)(rest - ahead * net->window_ps));
}

static bool room_for_keys(struct ms_lane *lane, uint32_t n)
{
	uint32_t room = lane->keys_room * 2;
	struct ms_key *keys, *other;

	while (room < n)
		room *= 2;
	keys = realloc(lane->keys, room * sizeof(*keys));
	if (keys)
		lane->keys = keys;
	other = realloc(lane->keys_other, room * sizeof(*other));
	if (other)
		lane->keys_other = other;
	if (!keys || !other) {
		out_of_memory(lane);
		return false;
	}
	lane->keys_room = room;
	return true;
}

/*
 * Of one lane's box, in the order in which it was filled: what comes from several ports at one
 * instant is in order then. In a switch all is ordered by time alone, in a group of hosts by host
 * and then by time. Faults, which have no length, come before packets of the same instant.
 */
static uint32_t gather_box(struct ms_lane *lane, const struct ms_unit *unit, ms_tail tail,
			   uint32_t n)
{
	uint64_t host_span = unit->tier == MF_HOST ? lane->net->window_ps : 0;
	const struct ms_chunk *last = ms_tail_chunk(tail);

	for (const struct ms_chunk *chunk = last->first;; chunk = chunk->newer) {
		const struct ms_packet *end = chunk->packet + MS_CHUNK_PACKETS;

		if (chunk == last)
			end = (const struct ms_packet *)(uintptr_t)tail;
		else
			mb_prefetch(chunk->newer, SOON_BYTES);
		if (n + MS_CHUNK_PACKETS > lane->keys_room &&
		    !room_for_keys(lane, n + (uint32_t)MS_CHUNK_PACKETS))
			return n;
		for (const struct ms_packet *p = chunk->packet; p < end; p++) {
			uint64_t when = p->at + (p->dst - unit->index) * host_span;

			lane->keys[n].key =
				when << 32 | (p->bytes ? p->port | UINT32_C(1) << 31 : p->port);
			lane->keys[n++].p = p;
		}
		if (chunk == last)
			return n;
	}
}

void ms_gather_soon(const struct ms_lane *lane, uint32_t unit)
{
	const struct ms_net *net = lane->net;
	size_t at = (size_t)lane->slot * net->units.n + unit;

	for (uint32_t i = 0; i < net->threads; i++) {
		ms_tail tail = net->lane[i]->box[at];

		if (tail)
			mb_prefetch(ms_tail_chunk(tail)->first, SOON_BYTES);
	}
}

uint32_t ms_gather(struct ms_lane *lane, uint32_t unit)
{
	const struct ms_net *net = lane->net;
	size_t at = (size_t)lane->slot * net->units.n + unit;
	uint32_t n = 0;

	for (uint32_t i = 0; i < net->threads; i++)
		if (net->lane[i]->box[at])
			n = gather_box(lane, &net->unit[unit], net->lane[i]->box[at], n);
	return n;
}

void ms_release(struct ms_lane *lane, uint32_t unit)
{
	struct ms_net *net = lane->net;
	size_t at = (size_t)lane->slot * net->units.n + unit;

	for (uint32_t i = 0; i < net->threads; i++) {
		ms_tail *box = &net->lane[i]->box[at];
		struct ms_chunk **list =
			i == lane->number ? &lane->chunks.free : &lane->returned[net->round & 1][i];
		struct ms_chunk *chunk = *box ? ms_tail_chunk(*box) : NULL;

		while (chunk) {
			struct ms_chunk *next = chunk->next;

			chunk->next = *list;
			*list = chunk;
			chunk = next;
		}
		if (*box)
			*box = 0;
	}
}

/* Chunks that others read in the last round come home. */
static void take_back(struct ms_lane *lane)
{
	struct ms_net *net = lane->net;

	for (uint32_t i = 0; i < net->threads; i++) {
		struct ms_chunk **list = &net->lane[i]->returned[~net->round & 1][lane->number];

		while (*list) {
			struct ms_chunk *chunk = *list;

			*list = chunk->next;
			ms_chunk_give(&lane->chunks, chunk);
		}
	}
}

/* What was far and is within reach now. */
static void bring_near(struct ms_lane *lane)
{
	struct ms_far *far = lane->far.at;
	size_t kept = 0;

	for (size_t i = 0; i < lane->far.n; i++) {
		if (far[i].window - lane->window < lane->net->slots) {
			struct ms_packet *p = post_here(lane, far[i].unit, far[i].window);

			*p = far[i].p;
		} else {
			far[kept++] = far[i];
		}
	}
	lane->far.n = kept;
}

void ms_calendar_begin(struct ms_lane *lane)
{
	struct ms_net *net = lane->net;

	lane->window = net->window;
	lane->slot = (uint32_t)net->window & (net->slots - 1);
	lane->start_ps = net->window * net->window_ps;
	lane->end_ps = lane->start_ps + net->window_ps;
	take_back(lane);
	if (lane->far.n)
		bring_near(lane);
}

void ms_calendar_end(struct ms_lane *lane)
{
	struct ms_net *net = lane->net;

	if (!lane->marked[lane->slot])
		return;
	memset(lane->marks + (size_t)lane->slot * net->mark_words, 0,
	       net->mark_words * sizeof(*lane->marks));
	lane->marked[lane->slot] = 0;
}

uint64_t ms_calendar_next(const struct ms_lane *lane)
{
	const struct ms_far *far = lane->far.at;
	uint64_t next = MS_NEVER;

	for (uint32_t ahead = 1; ahead < lane->net->slots && next == MS_NEVER; ahead++)
		if (lane->marked[(lane->window + ahead) & (lane->net->slots - 1)])
			next = lane->window + ahead;
	/* It is brought near in the window before its own, since it may be for another lane. */
	for (size_t i = 0; i < lane->far.n; i++)
		if (far[i].window - 1 < next)
			next = far[i].window - 1;
	return next;
}
