/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The responder's window against an array with one entry a PSN: random arrival orders, all window
 * sizes, PSNs that run across the wrap of 24 bits. And what SACKs promise: none claims a PSN that
 * was not received, and every PSN ahead of expected, hole or not, is told of within a bounded
 * number of SACKs, so that whichever were lost, the next ones make up for it.
 */
#include "support/test.h"

#include "core/window/window.h"

#define PSNS 140000u /* more than four of the largest windows */
#define ORIGIN (UINT64_C(3) << 24)

/* One PSN, by its distance from the first one. */
struct naive {
	bool received, ends;
	uint32_t since; /* SACKs made when its state last changed or was last told of */
};

static struct naive model[PSNS];
static uint64_t first, expected, top, n_ahead; /* distances, but for `first` */
static uint32_t sacks;
static uint64_t words[2 * 32768 / 64];
static struct mt_rx_window w;

/* A SACK tells of 64 PSNs, every second one walks on: after two walks each has had its turn. */
static uint32_t bound(void)
{
	return 4 * (w.limit / 64 + 2);
}

static void begin(uint32_t limit)
{
	memset(model, 0, sizeof(model));
	expected = top = n_ahead = 0;
	sacks = 0;
	first = ORIGIN - test_rand_below(3 * limit);
	assert_true(mt_rx_window_size(limit) <= sizeof(words));
	mt_rx_window_init(&w, limit, first);
	mt_rx_window_attach(&w, words);
}

static enum mt_rx_place place(uint64_t i)
{
	if (i < expected)
		return MT_RX_DUP_BEHIND;
	if (i - expected >= w.limit)
		return MT_RX_FAR;
	return model[i].received ? MT_RX_DUP_AHEAD : MT_RX_NEW;
}

/* Takes PSN i into the model; returns how many messages become complete. */
static uint32_t naive_take(uint64_t i, bool ends)
{
	uint32_t complete = 0;

	for (; top <= i; top++)
		model[top].since = sacks;
	model[i] = (struct naive){.received = true, .ends = ends, .since = sacks};
	n_ahead++;
	for (; model[expected].received; expected++, n_ahead--)
		complete += model[expected].ends;
	return complete;
}

static void arrive(uint64_t i)
{
	bool ends = test_rand_chance(1, 3);
	enum mt_rx_place want = place(i);

	assert_u_eq(mt_rx_window_place(&w, first + i), want);
	if (want != MT_RX_NEW)
		return;
	assert_u_eq(mt_rx_window_record(&w, first + i, ends), naive_take(i, ends));
	assert_u_eq(w.expected, first + expected);
	assert_u_eq(w.ahead, n_ahead);
	assert_u_eq(w.top, first + (top > expected ? top : expected));
}

/* Makes a SACK and checks each of its bits; *from is where its map begins. */
static uint64_t sack(uint64_t *from)
{
	uint64_t base, map = mt_rx_window_report(&w, &base);

	*from = base - first;
	sacks++;
	assert_true(*from >= expected && (*from < top || *from == expected));
	for (unsigned k = 0; k < 64; k++)
		if ((map >> k & 1) != (model[*from + k].received && *from + k < top))
			fail_msg("PSN %" PRIu64 " of [%" PRIu64 ", %" PRIu64 "): wrongly told",
				 *from + k, expected, top);
	return map;
}

/* Whoever is told of starts to wait again; nobody waits longer than the bound. */
static void check_waits(uint64_t from)
{
	for (uint64_t i = expected; i < top; i++) {
		if (i - from < 64)
			model[i].since = sacks;
		if (sacks - model[i].since > bound())
			fail_msg("PSN %" PRIu64 " (expected %" PRIu64 ", top %" PRIu64
				 ") was in none of %u SACKs",
				 i, expected, top, bound());
	}
}

/*
 * Where the next packet lands: the one expected (1 time in `gap`), near the top as spraying makes
 * it, anywhere in the window, or outside of it.
 */
static uint64_t next_arrival(uint64_t gap)
{
	uint64_t i;

	if (test_rand_chance(1, gap))
		return expected;
	switch (test_rand_below(8)) {
	case 0:
		i = expected + test_rand_below(w.limit);
		break;
	case 1:
		i = expected + w.limit + test_rand_below(3) - 1;
		break;
	case 2:
		return expected - test_rand_below(expected < 50 ? expected + 1 : 50);
	default:
		i = top + test_rand_below(8) - (top < 4 ? 0 : 4);
		break;
	}
	return i;
}

/* One life of a window: arrivals and SACKs at random until the array is used up. */
static void live(uint32_t limit, size_t steps)
{
	uint64_t gap = 1 + test_rand_below(200), every = 1 + test_rand_below(8), from;

	begin(limit);
	for (size_t n = 0; n < steps && expected + 2 * limit + 64 < PSNS; n++) {
		arrive(next_arrival(gap));
		if (test_rand_chance(1, every)) {
			sack(&from);
			check_waits(from);
		}
	}
}

/* REQ(rsp.window.any-order) REQ(rsp.window.range) REQ(rsp.sack.bitmap-slides) */
TEST(mt_rx_window, as_an_array)
{
	for (size_t round = 0; round < test_rounds(60); round++)
		live(128 * (1 + (uint32_t)test_rand_below(4)), 1500);
	for (size_t round = 0; round < test_rounds(20); round++)
		live(128 * (1 + (uint32_t)test_rand_below(255)), 1500);
	live(128, 5000);
	live(255 * 128, 5000);
}

/* Fills a share of the window at random; the PSN expected stays out. */
static void scatter(uint32_t percent)
{
	for (uint64_t i = 1; i < w.limit; i++)
		if (test_rand_chance(percent, 100))
			arrive(i);
}

/* What a peer knows after SACKs of which half get lost, and how many it takes until it knows
 * all. */
static uint32_t sacks_until_all_is_known(void)
{
	static bool known[PSNS];
	uint64_t from, unknown = top;
	uint32_t made = 0;

	memset(known, 0, sizeof(known));
	while (unknown > 0) {
		made++;
		sack(&from);
		if (test_rand_chance(1, 2))
			continue; /* lost */
		for (uint64_t i = from; i < from + 64 && i < top; i++) {
			unknown -= !known[i];
			known[i] = true;
		}
		assert_true(made < 40 * bound());
	}
	return made;
}

TEST(mt_rx_window, lost_sacks_are_made_up_for)
{
	static const uint32_t mprs[] = {1, 2, 3, 8, 31, 255};

	for (size_t k = 0; k < sizeof(mprs) / sizeof(mprs[0]); k++) {
		for (uint32_t percent = 5; percent < 100; percent += 30) {
			begin(128 * mprs[k]);
			scatter(percent);
			assert_u_between(sacks_until_all_is_known(), 1, 20 * bound());
		}
	}
}
