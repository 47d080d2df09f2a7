/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wake_wheel.c - when hosts are to be woken.
 *
 * A host has one time, net->wake_ps, and mostly one entry in its worker's wheel, in the slot of the
 * window of that time or of an earlier one. An entry is only a reason to look: a host whose time
 * has moved on gets a new entry then. So setting a later time costs nothing, which is what timers
 * of a protocol mostly do.
 */
#include "sim/kernel/worker.h"

#include <string.h>

#define SLOT(window) ((uint32_t)(window) & (MS_WHEEL_SLOTS - 1))

void ms_wheel_insert(struct ms_worker *worker, uint32_t host)
{
	struct ms_net *net = worker->net;
	uint64_t window, *entry = &net->wake_window[host];
	ms_tail *tail;

	if (!net->wake_ps[host])
		return;
	window = (net->wake_ps[host] - 1) / net->window_ps;
	if (window - worker->window >= MS_WHEEL_SLOTS)
		window = worker->window + MS_WHEEL_SLOTS - 1;
	if (*entry && *entry - 1 <= window)
		return;
	tail = &worker->wheel[SLOT(window)];
	if (ms_tail_is_full(*tail)) {
		ms_tail extended = ms_tail_extend(&worker->chunks, *tail);

		if (!extended) {
			atomic_store_explicit(&net->no_memory, true, memory_order_relaxed);
			return;
		}
		*tail = extended;
		worker->wheel_used[SLOT(window) / 64] |= UINT64_C(1) << SLOT(window) % 64;
	}
	*(uint32_t *)(uintptr_t)*tail = host;
	*tail += sizeof(uint32_t);
	*entry = window + 1;
}

/* An entry of this window's slot. */
static void check_host(struct ms_worker *worker, uint32_t host)
{
	struct ms_net *net = worker->net;
	uint32_t group = ms_units_of_host(&net->units, host);

	if (net->wake_window[host] - 1 != worker->window)
		return; /* another entry took its place */
	net->wake_window[host] = 0;
	if (net->wake_ps[host] - 1 < worker->end_ps) {
		worker->due[group] |= UINT64_C(1) << (host - (group << net->units.group_log));
		ms_mark_unit(worker, group, worker->window);
	} else {
		ms_wheel_insert(worker, host);
	}
}

void ms_wheel_advance(struct ms_worker *worker)
{
	uint32_t slot = SLOT(worker->window);
	ms_tail tail = worker->wheel[slot];
	struct ms_chunk *chunk;
	const uint32_t *end;

	if (!tail)
		return;
	worker->wheel[slot] = 0;
	worker->wheel_used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	end = (const uint32_t *)(uintptr_t)tail;
	for (chunk = ms_tail_chunk(tail); chunk;) {
		struct ms_chunk *next = chunk->next;

		for (const uint32_t *host = chunk->number; host < end; host++)
			check_host(worker, *host);
		ms_chunk_free(&worker->chunks, chunk);
		chunk = next;
		end = chunk ? chunk->number + MS_CHUNK_PACKETS * 16 : NULL;
	}
}

uint64_t ms_wheel_next(const struct ms_worker *worker)
{
	for (uint32_t ahead = 1; ahead <= MS_WHEEL_SLOTS;) {
		uint32_t slot = SLOT(worker->window + ahead);
		uint64_t used = worker->wheel_used[slot / 64] >> slot % 64;

		if (used)
			return worker->window + ahead + (uint32_t)__builtin_ctzll(used);
		ahead += 64 - slot % 64;
	}
	return MS_NEVER;
}
