/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunks and slabs: what is written is read again, and what is given back is used again. */
#include "sim/kernel/memory.h"

#include "support/test.h"

/* Appends n packets to a list, by hand, as boxes do. */
static ms_tail fill(struct ms_chunks *c, uint32_t n)
{
	ms_tail tail = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct ms_packet *p;

		if (ms_tail_is_full(tail))
			tail = ms_tail_extend(c, tail);
		assert_true(tail != 0);
		p = (struct ms_packet *)(uintptr_t)tail;
		*p = (struct ms_packet){.port = i};
		tail += sizeof(*p);
	}
	return tail;
}

/* Newest chunk first; gives the chunks back. */
static uint32_t drain(struct ms_chunks *c, ms_tail tail)
{
	const struct ms_packet *end = (const struct ms_packet *)(uintptr_t)tail;
	struct ms_chunk *k = tail ? ms_tail_chunk(tail) : NULL;
	uint32_t n = 0;

	while (k) {
		struct ms_chunk *next = k->next;

		for (const struct ms_packet *p = k->packet; p < end; p++)
			n += p->port + 1;
		ms_chunk_free(c, k);
		k = next;
		end = k ? k->packet + MS_CHUNK_PACKETS : NULL;
	}
	return n;
}

TEST(ms_tail, holds_what_was_appended)
{
	struct ms_chunks c;

	ms_chunks_init(&c, 3);
	for (uint32_t n = 0; n < 200; n++)
		assert_u_eq(drain(&c, fill(&c, n)), n * (n + 1) / 2);
	ms_chunks_fini(&c);
}

TEST(ms_chunk_alloc, uses_what_was_given_back)
{
	struct ms_chunks c;
	size_t bytes;

	ms_chunks_init(&c, 0);
	drain(&c, fill(&c, 10000));
	bytes = c.bytes;
	for (int i = 0; i < 20; i++)
		drain(&c, fill(&c, 10000));
	assert_u_eq(c.bytes, bytes);
	ms_chunks_fini(&c);
}

TEST(ms_slab, grows_and_keeps)
{
	enum { N = 50000 };
	uint32_t *number = calloc(N, sizeof(*number));
	struct ms_slab s = {0};
	uint32_t room;

	assert_non_null(number);
	for (uint32_t i = 0; i < N; i++) {
		number[i] = ms_slab_alloc(&s);
		assert_true(number[i] != 0);
		s.packet[number[i]].port = i;
	}
	for (uint32_t i = 0; i < N; i++)
		assert_u_eq(s.packet[number[i]].port, i);
	room = s.room;
	for (uint32_t i = 0; i < N; i++)
		ms_slab_free(&s, number[i]);
	for (uint32_t i = 0; i < N; i++)
		assert_true(ms_slab_alloc(&s) != 0);
	assert_u_eq(s.room, room);
	ms_slab_fini(&s);
	free(number);
}
