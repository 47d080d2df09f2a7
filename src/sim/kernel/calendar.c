/* SPDX-License-Identifier: BSD-2-Clause */
/* calendar.c - what comes to which unit in which window, and in which order; see worker.h. */
#include "sim/kernel/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/prefetch.h"

/* Of a chunk to be read soon; the CPU sees by then that the rest is wanted too. */
#define SOON_BYTES 512u

static struct ms_packet *out_of_memory(struct ms_worker *worker)
{
	atomic_store_explicit(&worker->net->no_memory, true, memory_order_relaxed);
	return &worker->sink;
}

void ms_mark_unit(struct ms_worker *worker, uint32_t unit, uint64_t window)
{
	const struct ms_net *net = worker->net;
	uint32_t slot = (uint32_t)window & (net->slots - 1);

	if (window == worker->window) {
		worker->now_marks[unit / 64] |= UINT64_C(1) << unit % 64;
		return;
	}
	worker->marks[(size_t)slot * net->mark_words + unit / 64] |= UINT64_C(1) << unit % 64;
	worker->marked[slot]++;
}

/* A packet for a later window than inboxes reach to. */
static struct ms_packet *post_far(struct ms_worker *worker, uint32_t unit, uint64_t window)
{
	struct ms_far_packet *far = ms_grow_place(&worker->far);

	if (!far)
		return out_of_memory(worker);
	far->window = window;
	far->unit = unit;
	return &far->p;
}

/* A packet for a unit of another rank. */
static struct ms_packet *post_remote_packet(struct ms_worker *worker, uint32_t unit,
					    uint64_t window)
{
	uint32_t rank = worker->net->unit[unit].worker / worker->net->threads;
	struct ms_remote_packet *remote = ms_grow_place(&worker->remote_packets[rank].list);

	if (!remote)
		return out_of_memory(worker);
	remote->unit = unit;
	remote->ahead = (uint32_t)(window - worker->window);
	return &remote->p;
}

/* A packet for a inbox that is full or empty: a new chunk. */
static struct ms_packet *post_slowly(struct ms_worker *worker, uint32_t unit, uint64_t window,
				     ms_tail *inbox)
{
	ms_tail tail = ms_tail_extend(&worker->chunks, *inbox);

	if (!tail)
		return out_of_memory(worker);
	if (!*inbox)
		ms_mark_unit(worker, unit, window);
	*inbox = tail + sizeof(struct ms_packet);
	return (struct ms_packet *)(uintptr_t)tail;
}

static struct ms_packet *post_here(struct ms_worker *worker, uint32_t unit, uint64_t window)
{
	const struct ms_net *net = worker->net;
	uint32_t slot = (uint32_t)window & (net->slots - 1);
	ms_tail *inbox = &worker->inbox[(size_t)slot * net->units.n + unit];
	struct ms_packet *p;

	if (ms_tail_is_full(*inbox))
		return post_slowly(worker, unit, window, inbox);
	p = (struct ms_packet *)(uintptr_t)*inbox;
	*inbox += sizeof(*p);
	__builtin_prefetch(p + 1, 1);
	return p;
}

struct ms_packet *ms_schedule_arrival_at(struct ms_worker *worker, uint32_t unit, uint64_t window,
					 uint32_t at)
{
	const struct ms_net *net = worker->net;
	struct ms_packet *p;

	if (net->ranks > 1 && net->unit[unit].worker / net->threads != net->rank)
		p = post_remote_packet(worker, unit, window);
	else if (window - worker->window >= net->slots)
		p = post_far(worker, unit, window);
	else
		p = post_here(worker, unit, window);
	p->at = at;
	return p;
}

struct ms_packet *ms_schedule_arrival(struct ms_worker *worker, uint32_t unit, uint64_t at_ps)
{
	const struct ms_net *net = worker->net;
	uint64_t rest = at_ps - worker->start_ps, ahead;

	if (rest < MF_DIVIDEND_END)
		ahead = mf_div_quotient(net->by_window, (uint32_t)rest);
	else
		ahead = rest / net->window_ps;
	return ms_schedule_arrival_at(worker, unit, worker->window + ahead,
				      (uint32_t)(rest - ahead * net->window_ps));
}

static bool room_for_keys(struct ms_worker *worker, uint32_t n)
{
	uint32_t room = worker->keys_room * 2;
	struct ms_key *keys, *other;

	while (room < n)
		room *= 2;
	keys = realloc(worker->keys, room * sizeof(*keys));
	if (keys)
		worker->keys = keys;
	other = realloc(worker->keys_other, room * sizeof(*other));
	if (other)
		worker->keys_other = other;
	if (!keys || !other) {
		out_of_memory(worker);
		return false;
	}
	worker->keys_room = room;
	return true;
}

/*
 * Of one worker's inbox, in the order in which it was filled: what comes from several ports at one
 * instant is in order then. In a switch all is ordered by time alone, in a group of hosts by host
 * and then by time. Faults, which have no length, come before packets of the same instant.
 */
static uint32_t gather_inbox(struct ms_worker *worker, const struct ms_unit *unit, ms_tail tail,
			     uint32_t n)
{
	uint64_t host_span = unit->tier == MF_HOST ? worker->net->window_ps : 0;
	const struct ms_chunk *last = ms_tail_chunk(tail);

	for (const struct ms_chunk *chunk = last->first;; chunk = chunk->newer) {
		const struct ms_packet *end = chunk->packet + MS_CHUNK_PACKETS;

		if (chunk == last)
			end = (const struct ms_packet *)(uintptr_t)tail;
		else
			mb_prefetch(chunk->newer, SOON_BYTES);
		if (n + MS_CHUNK_PACKETS > worker->keys_room &&
		    !room_for_keys(worker, n + (uint32_t)MS_CHUNK_PACKETS))
			return n;
		for (const struct ms_packet *p = chunk->packet; p < end; p++) {
			uint64_t when = p->at + (p->dst - unit->index) * host_span;

			worker->keys[n].key =
				when << 32 | (p->bytes ? p->port | UINT32_C(1) << 31 : p->port);
			worker->keys[n++].p = p;
		}
		if (chunk == last)
			return n;
	}
}

void ms_prefetch_arrivals(const struct ms_worker *worker, uint32_t unit)
{
	const struct ms_net *net = worker->net;
	size_t at = (size_t)worker->slot * net->units.n + unit;

	for (uint32_t i = 0; i < net->threads; i++) {
		ms_tail tail = net->worker[i]->inbox[at];

		if (tail)
			mb_prefetch(ms_tail_chunk(tail)->first, SOON_BYTES);
	}
}

uint32_t ms_gather_arrivals(struct ms_worker *worker, uint32_t unit)
{
	const struct ms_net *net = worker->net;
	size_t at = (size_t)worker->slot * net->units.n + unit;
	uint32_t n = 0;

	for (uint32_t i = 0; i < net->threads; i++)
		if (net->worker[i]->inbox[at])
			n = gather_inbox(worker, &net->unit[unit], net->worker[i]->inbox[at], n);
	return n;
}

void ms_release_arrivals(struct ms_worker *worker, uint32_t unit)
{
	struct ms_net *net = worker->net;
	size_t at = (size_t)worker->slot * net->units.n + unit;

	for (uint32_t i = 0; i < net->threads; i++) {
		ms_tail *inbox = &net->worker[i]->inbox[at];
		struct ms_chunk **list = i == worker->number ? &worker->chunks.free
							     : &worker->returned[net->round & 1][i];
		struct ms_chunk *chunk = *inbox ? ms_tail_chunk(*inbox) : NULL;

		while (chunk) {
			struct ms_chunk *next = chunk->next;

			chunk->next = *list;
			*list = chunk;
			chunk = next;
		}
		if (*inbox)
			*inbox = 0;
	}
}

/* Chunks that others read in the last round come home. */
static void take_back(struct ms_worker *worker)
{
	struct ms_net *net = worker->net;

	for (uint32_t i = 0; i < net->threads; i++) {
		struct ms_chunk **list = &net->worker[i]->returned[~net->round & 1][worker->number];

		while (*list) {
			struct ms_chunk *chunk = *list;

			*list = chunk->next;
			ms_chunk_free(&worker->chunks, chunk);
		}
	}
}

/* What was far and is within reach now. */
static void bring_near(struct ms_worker *worker)
{
	struct ms_far_packet *far = worker->far.at;
	size_t kept = 0;

	for (size_t i = 0; i < worker->far.n; i++) {
		if (far[i].window - worker->window < worker->net->slots) {
			struct ms_packet *p = post_here(worker, far[i].unit, far[i].window);

			*p = far[i].p;
		} else {
			far[kept++] = far[i];
		}
	}
	worker->far.n = kept;
}

void ms_calendar_begin(struct ms_worker *worker)
{
	struct ms_net *net = worker->net;

	worker->window = net->window;
	worker->slot = (uint32_t)net->window & (net->slots - 1);
	worker->start_ps = net->window * net->window_ps;
	worker->end_ps = worker->start_ps + net->window_ps;
	take_back(worker);
	if (worker->far.n)
		bring_near(worker);
}

void ms_calendar_end(struct ms_worker *worker)
{
	struct ms_net *net = worker->net;

	if (!worker->marked[worker->slot])
		return;
	memset(worker->marks + (size_t)worker->slot * net->mark_words, 0,
	       net->mark_words * sizeof(*worker->marks));
	worker->marked[worker->slot] = 0;
}

uint64_t ms_calendar_next(const struct ms_worker *worker)
{
	const struct ms_far_packet *far = worker->far.at;
	uint64_t next = MS_NEVER;

	for (uint32_t ahead = 1; ahead < worker->net->slots && next == MS_NEVER; ahead++)
		if (worker->marked[(worker->window + ahead) & (worker->net->slots - 1)])
			next = worker->window + ahead;
	/* It is brought near in the window before its own, since it may be for another worker. */
	for (size_t i = 0; i < worker->far.n; i++)
		if (far[i].window - 1 < next)
			next = far[i].window - 1;
	return next;
}

/* ---- order ---- */

/* Below this many keys the buckets cost more than they save. */
#define FEW 24u

static void insertion_sort(struct ms_key *keys, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct ms_key k = keys[i];
		uint32_t j = i;

		for (; j > 0 && keys[j - 1].key > k.key; j--)
			keys[j] = keys[j - 1];
		keys[j] = k;
	}
}

struct ms_key *ms_order(struct ms_key *keys, struct ms_key *other, uint32_t n, uint64_t span,
			uint32_t *counts)
{
	uint32_t buckets = MS_ORDER_BUCKETS, sum = 0;
	uint64_t scale;

	if (n <= FEW) {
		insertion_sort(keys, n);
		return keys;
	}
	if (n < buckets / 2)
		buckets = mb_pow2_ceil(n) * 2;
	/* when * scale / 2^32 is below buckets, and rises with when. */
	scale = ((uint64_t)buckets << 32) / span;
	memset(counts, 0, (buckets + 1) * sizeof(*counts));
	for (uint32_t i = 0; i < n; i++)
		counts[(uint32_t)((keys[i].key >> 32) * scale >> 32)]++;
	for (uint32_t b = 0; b < buckets; b++) {
		uint32_t here = counts[b];

		counts[b] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < n; i++)
		other[counts[(uint32_t)((keys[i].key >> 32) * scale >> 32)]++] = keys[i];
	insertion_sort(other, n);
	return other;
}
