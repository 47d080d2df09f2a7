/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rx_window.c - the receive bitmaps: recording PSNs, moving the start, and choosing what a SACK
 * describes. See the header.
 */
#include "core/window/window.h"

#include "base/assert.h"
#include "base/bits.h"

static uint32_t ring_bits(uint32_t limit)
{
	uint32_t bits = mb_pow2_ceil(limit);

	/* Two words at least, so that 64 bits from anywhere never meet themselves. */
	return bits < 2 * MT_SACK_PSNS ? 2 * MT_SACK_PSNS : bits;
}

size_t mt_rx_window_size(uint32_t limit)
{
	return 2 * (size_t)ring_bits(limit) / 8;
}

void mt_rx_window_init(struct mt_rx_window *w, uint32_t limit, uint64_t first_psn)
{
	mb_assert(limit > 0);
	*w = (struct mt_rx_window){
		.first = first_psn,
		.expected = first_psn,
		.top = first_psn,
		.unreported = first_psn,
		.walk = first_psn,
		.size = ring_bits(limit),
		.limit = limit,
	};
}

void mt_rx_window_attach(struct mt_rx_window *w, void *mem)
{
	uint32_t words = w->size / 64;

	mb_assert(mem && w->ahead == 0);
	w->received = mem;
	w->ends = w->received + words;
	for (uint32_t i = 0; i < 2 * words; i++)
		w->received[i] = 0;
}

void mt_rx_window_resize(struct mt_rx_window *w, void *mem, uint32_t limit)
{
	struct mt_rx_window old = *w;

	mb_assert(limit >= w->top - w->expected && (mem || w->ahead == 0));
	w->limit = limit;
	w->size = ring_bits(limit);
	w->received = w->ends = NULL;
	if (!mem)
		return;
	w->ahead = 0;
	mt_rx_window_attach(w, mem);
	w->ahead = old.ahead;
	for (uint64_t psn = old.expected; old.received && psn < old.top; psn++) {
		if (mb_ring_test(old.received, old.size, psn))
			mb_ring_set(w->received, w->size, psn);
		if (mb_ring_test(old.ends, old.size, psn))
			mb_ring_set(w->ends, w->size, psn);
	}
}

enum mt_rx_place mt_rx_window_place(const struct mt_rx_window *w, uint64_t psn)
{
	if (psn < w->first)
		return MT_RX_BEFORE_START;
	if (psn < w->expected)
		return MT_RX_DUP_BEHIND;
	if (psn == w->expected)
		return MT_RX_NEW;
	if (psn - w->expected >= w->limit)
		return MT_RX_FAR;
	if (!w->received)
		return MT_RX_NEW;
	return mb_ring_test(w->received, w->size, psn) ? MT_RX_DUP_AHEAD : MT_RX_NEW;
}

static uint64_t low_bits(unsigned n)
{
	return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* Clears n (1..64) bits from seq on. */
static void clear_run(uint64_t *words, uint32_t size, uint64_t seq, unsigned n)
{
	uint64_t i = seq & (size - 1), next = (i / 64 + 1) & (size / 64 - 1);
	unsigned shift = (unsigned)(i % 64);

	words[i / 64] &= ~(low_bits(n) << shift);
	if (shift + n > 64)
		words[next] &= ~low_bits(shift + n - 64);
}

/*
 * As many bits are set as PSNs lie ahead, an end of a message is set only where its packet is, and
 * the marks are in their order. For mb_assert_slow: it reads both bitmaps.
 */
static bool window_is_consistent(const struct mt_rx_window *w)
{
	uint32_t ahead = 0;

	for (uint32_t i = 0; i < w->size / 64; i++) {
		if (w->ends[i] & ~w->received[i])
			return false;
		ahead += mb_popcount64(w->received[i]);
	}
	return ahead == w->ahead && w->first <= w->expected && w->expected <= w->top;
}

uint32_t mt_rx_window_record(struct mt_rx_window *w, uint64_t psn, bool ends_message)
{
	uint32_t complete = 0;
	unsigned run;

	mb_assert(w->received && mt_rx_window_place(w, psn) == MT_RX_NEW);
	mb_assert_slow(window_is_consistent(w));
	if (psn < w->unreported || w->unreported >= w->top)
		w->unreported = psn; /* all before it was in a SACK */
	if (psn >= w->top)
		w->top = psn + 1;
	if (psn == w->expected && w->ahead == 0) { /* in order: the bitmaps have no part in it */
		w->expected++;
		return ends_message;
	}
	w->ahead++;
	mb_ring_set(w->received, w->size, psn);
	if (ends_message)
		mb_ring_set(w->ends, w->size, psn);
	if (psn != w->expected)
		return 0;
	do {
		uint64_t got = mb_ring_load64(w->received, w->size, w->expected);

		run = got == UINT64_MAX ? 64 : mb_ctz64(~got);
		if (run == 0)
			break;
		complete += mb_popcount64(mb_ring_load64(w->ends, w->size, w->expected) &
					  low_bits(run));
		clear_run(w->received, w->size, w->expected, run);
		clear_run(w->ends, w->size, w->expected, run);
		mb_assert(run <= w->ahead);
		w->expected += run;
		w->ahead -= run;
	} while (run == 64);
	mb_assert(w->expected <= w->top);
	mb_assert_slow(window_is_consistent(w));
	return complete;
}

/*
 * Of the n-th and the next SACK, n even, one looks back, in the order of the Thue-Morse sequence.
 * It has no period, so no rhythm in which SACKs get lost can take all of one kind.
 */
static bool should_walk(uint32_t n)
{
	return mb_popcount64(n) % 2 == 0;
}

/* Picks the first PSN of the report; see the header. */
static uint64_t report_base(struct mt_rx_window *w)
{
	uint64_t newest;

	if (w->top - w->expected <= MT_SACK_PSNS)
		return w->expected;
	if (should_walk(w->wide++)) {
		if (w->walk < w->expected || w->walk >= w->top)
			w->walk = w->expected;
		w->walk += MT_SACK_PSNS;
		return w->walk - MT_SACK_PSNS;
	}
	/* The lowest not yet reported goes to the top of the map: below it are holes to name. */
	newest = w->unreported < w->top ? w->unreported + MT_SACK_PSNS / 2 : w->top;
	if (newest > w->top)
		newest = w->top;
	return newest - w->expected <= MT_SACK_PSNS ? w->expected : newest - MT_SACK_PSNS;
}

uint64_t mt_rx_window_report(struct mt_rx_window *w, uint64_t *base)
{
	uint64_t map;

	if (w->unreported < w->expected)
		w->unreported = w->expected; /* cack_psn says it */
	*base = report_base(w);
	mb_assert(*base >= w->expected && *base <= w->top);
	if (w->ahead == 0)
		return 0;
	mb_assert(w->received);
	map = mb_ring_load64(w->received, w->size, *base);
	if (w->top - *base < MT_SACK_PSNS)
		map &= low_bits((unsigned)(w->top - *base));
	if (*base <= w->unreported && w->unreported < *base + MT_SACK_PSNS)
		w->unreported = *base + MT_SACK_PSNS < w->top ? *base + MT_SACK_PSNS : w->top;
	mb_assert_slow(w->unreported <= w->top);
	return map;
}
