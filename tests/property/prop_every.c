/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arithmetic of serial numbers, rings of bits and receive windows, for every input of small width:
 * no seed, nothing left out. Widths and limits are arguments of the code, so this is the code that
 * runs at 24 bits.
 */
#include "support/test.h"

#include "base/bits.h"
#include "base/serial.h"
#include "core/window/window.h"

/* The definition: congruent modulo 2^bits, and at distance [-2^(bits-1), 2^(bits-1)) of near. */
static void check_extend(uint64_t near, uint32_t low, unsigned bits)
{
	uint64_t half = UINT64_C(1) << (bits - 1);
	uint64_t got = mb_serial_extend(near, low, bits);

	if (((got ^ low) & (2 * half - 1)) != 0 || got - (near - half) >= 2 * half)
		fail_msg("%u bits, %" PRIu32 " near %" PRIu64 ": %" PRIu64, bits, low, near, got);
}

/* REQ(req.psn.serial) */
TEST(mb_serial_extend, every_number_of_up_to_8_bits)
{
	static const uint64_t origins[] = {0, UINT64_C(1) << 24, UINT64_C(1) << 32,
					   UINT64_MAX - 600};

	for (unsigned bits = 1; bits <= 8; bits++)
		for (size_t k = 0; k < 4; k++)
			for (uint64_t near = 0; near < 4u << bits; near++)
				for (uint32_t low = 0; low < 1u << bits; low++)
					check_extend(origins[k] + near, low, bits);
}

TEST(mb_serial_extend, every_number_of_16_bits_near_each_quarter)
{
	for (uint64_t near = 0; near < 1 << 16; near += 1 << 14)
		for (uint32_t low = 0; low < 1 << 16; low++)
			for (uint64_t off = 0; off < 3; off++)
				check_extend((UINT64_C(5) << 16) + near + off - 1, low, 16);
}

/* Loading is linear in the bits: what holds for each alone holds for all sets of them. */
TEST(mb_ring, every_bit_seen_from_every_position)
{
	for (uint32_t size = 64; size <= 256; size *= 2) {
		for (uint32_t bit = 0; bit < size; bit++) {
			uint64_t words[4] = {0};

			mb_ring_set(words, size, bit + size);
			for (uint64_t seq = 0; seq < 2 * size; seq++) {
				uint64_t ahead = (bit - seq) & (size - 1);
				uint64_t want = ahead < 64 ? UINT64_C(1) << ahead : 0;

				assert_true(mb_ring_load64(words, size, seq) == want);
				assert_true(mb_ring_test(words, size, seq) == (ahead == 0));
			}
		}
	}
}

/* ---- the receive window ---- */

#define LIMIT_MAX 7u
enum { MISSING, MIDDLE, END };

static uint64_t words[2 * 512 / 64];

/* A window at `first` that has received what `state` says of the PSNs after the first one. */
static struct mt_rx_window window_of(uint64_t first, uint32_t limit, const uint8_t *state)
{
	struct mt_rx_window w;

	mt_rx_window_init(&w, limit, first);
	mt_rx_window_attach(&w, words);
	for (uint32_t i = 1; i < limit; i++)
		if (state[i] != MISSING)
			assert_u_eq(mt_rx_window_record(&w, first + i, state[i] == END), 0);
	return w;
}

/* What the window must say afterwards, by counting. */
static void check_window(struct mt_rx_window *w, uint64_t first, uint32_t limit,
			 const uint8_t *state, uint32_t complete)
{
	uint32_t expected = 0, ends = 0, ahead = 0, top = 0;
	uint64_t base, map = 0;

	for (; expected < limit && state[expected] != MISSING; expected++)
		ends += state[expected] == END;
	for (uint32_t i = expected; i < limit; i++) {
		if (state[i] == MISSING)
			continue;
		ahead++;
		top = i + 1;
		map |= UINT64_C(1) << (i - expected);
	}
	assert_true(w->expected == first + expected && w->ahead == ahead && complete == ends);
	assert_true(w->top == first + (top > expected ? top : expected));
	assert_true(mt_rx_window_report(w, &base) == map && base == w->expected);
	for (uint32_t i = 0; i < expected + limit + 2; i++) {
		enum mt_rx_place want = i < expected			   ? MT_RX_DUP_BEHIND
					: i >= expected + limit		   ? MT_RX_FAR
					: i < limit && state[i] != MISSING ? MT_RX_DUP_AHEAD
									   : MT_RX_NEW;

		assert_true(mt_rx_window_place(w, first + i) == want);
	}
	assert_true(mt_rx_window_place(w, first - 1) == MT_RX_BEFORE_START);
}

/* Each PSN that is missing comes, in each role, to a window in this state. */
static void every_arrival(uint64_t first, uint32_t limit, const uint8_t *state)
{
	for (uint32_t i = 0; i < limit; i++) {
		if (state[i] != MISSING)
			continue;
		for (uint8_t role = MIDDLE; role <= END; role++) {
			struct mt_rx_window w = window_of(first, limit, state);
			uint8_t after[LIMIT_MAX];
			uint32_t complete;

			memcpy(after, state, sizeof(after));
			after[i] = role;
			complete = mt_rx_window_record(&w, first + i, role == END);
			check_window(&w, first, limit, after, complete);
		}
	}
}

static void every_state(uint64_t first, uint32_t limit)
{
	uint32_t states = 1;

	for (uint32_t i = 1; i < limit; i++)
		states *= 3;
	for (uint32_t n = 0; n < states; n++) {
		uint8_t state[LIMIT_MAX] = {MISSING};

		for (uint32_t i = 1, rest = n; i < limit; i++, rest /= 3)
			state[i] = (uint8_t)(rest % 3);
		every_arrival(first, limit, state);
	}
}

/*
 * The ring has two words: windows inside a word, and across the border of each.
 * REQ(rsp.window.any-order) REQ(rsp.window.range)
 */
TEST(mt_rx_window, every_arrival_in_every_state_of_up_to_7_psns)
{
	for (uint32_t limit = 1; limit <= LIMIT_MAX; limit++)
		for (uint64_t border = 256; border <= 320; border += 64)
			for (uint64_t first = border - LIMIT_MAX; first <= border + 1; first++)
				every_state(first, limit);
}

/* The hole before a run of packets is filled: the run counts, whatever its length and place. */
TEST(mt_rx_window, every_run_behind_a_hole)
{
	for (uint64_t first = 1024; first < 1024 + 64; first += 3) {
		for (uint32_t n = 0; n < 200; n++) {
			struct mt_rx_window w;

			mt_rx_window_init(&w, 256, first);
			mt_rx_window_attach(&w, words);
			for (uint32_t i = 1; i <= n; i++)
				mt_rx_window_record(&w, first + i, i % 2);
			if (n + 2 < 256) /* behind another hole */
				mt_rx_window_record(&w, first + n + 2, true);
			assert_u_eq(mt_rx_window_record(&w, first, true), 1 + (n + 1) / 2);
			assert_true(w.expected == first + n + 1 && w.ahead == 1);
		}
	}
}
