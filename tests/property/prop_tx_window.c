/* SPDX-License-Identifier: BSD-2-Clause */
/* The requester's window against an array with one entry a PSN, under random use. */
#include "support/test.h"

#include "core/window/window.h"

#define SIZE 256u
#define PSNS 40000u
#define FIRST UINT64_C(0x1FFFFF0)

static struct mt_tx_rec model[PSNS]; /* by distance from FIRST */
static struct mt_tx_rec ring[SIZE];
static uint64_t una, next, now; /* distances, a clock */
static struct mt_tx_window w;

static void begin(void)
{
	memset(model, 0, sizeof(model));
	memset(ring, 0xFF, sizeof(ring));
	una = next = now = 0;
	mt_tx_window_init(&w, FIRST);
	mt_tx_window_attach(&w, ring, SIZE);
}

static void send(void)
{
	struct mt_tx_rec r = {.sent_ns = now,
			      .slot = (uint16_t)test_rand_below(100),
			      .ev = (uint16_t)test_rand_below(1000),
			      .nominal = (uint16_t)test_rand_below(5000),
			      .state = MT_TX_OUTSTANDING};

	if (next - una >= SIZE || next >= PSNS)
		return;
	model[next++] = r;
	mt_tx_window_sent(&w, now, r.slot, r.ev, r.nominal);
}

static void resend(void)
{
	uint64_t psn;
	uint16_t ev = (uint16_t)test_rand_below(1000);

	if (!mt_tx_window_oldest_lost(&w, &psn))
		return;
	mt_tx_window_resent(&w, psn, now, ev);
	model[psn - FIRST].state = MT_TX_OUTSTANDING;
	model[psn - FIRST].sent_ns = now;
	model[psn - FIRST].ev = ev;
	model[psn - FIRST].tries++;
}

/* Receives or loses one PSN of the window. */
static void touch(bool receive)
{
	uint64_t i = una + (test_rand_chance(1, 3) ? 0 : test_rand_below(next - una));

	if (receive) {
		assert_u_eq(mt_tx_window_received(&w, FIRST + i), model[i].state);
		model[i].state = MT_TX_RECEIVED;
		mt_tx_window_advance(&w);
		while (una < next && model[una].state == MT_TX_RECEIVED)
			una++;
	} else if (model[i].state == MT_TX_OUTSTANDING && test_rand_chance(1, 3)) {
		model[i].state = (uint8_t)(MT_TX_BACKOFF + i % 3);
		mt_tx_window_nack_backoff(&w, FIRST + i, 1u << 20,
					  (enum mt_tx_state)model[i].state);
	} else if (model[i].state == MT_TX_OUTSTANDING) {
		mt_tx_window_lost(&w, FIRST + i);
		model[i].state = MT_TX_LOST;
	}
}

/* Later than any wait of what is held so far. */
static void release(void)
{
	mt_tx_window_end_backoff(&w, UINT64_C(1) << 40, 1u << 20);
	for (uint64_t i = una; i < next; i++)
		if (mt_tx_in_backoff(model[i].state))
			model[i].state = MT_TX_LOST;
}

static void check_oldest_lost(void)
{
	uint64_t i = una, psn = 0;

	while (i < next && model[i].state != MT_TX_LOST)
		i++;
	assert_u_eq(mt_tx_window_oldest_lost(&w, &psn), i < next);
	if (i < next)
		assert_u_eq(psn, FIRST + i);
}

static void check_same(void)
{
	uint32_t lost = 0, outstanding = 0, held = 0;

	assert_u_eq(w.una, FIRST + una);
	assert_u_eq(w.next, FIRST + next);
	for (uint64_t i = next < SIZE ? 0 : next - SIZE; i < next; i++) {
		assert_memory_equal(mt_tx_rec(&w, FIRST + i), &model[i], sizeof(model[i]));
		assert_true(mt_tx_has_rec(&w, FIRST + i));
		lost += i >= una && model[i].state == MT_TX_LOST;
		outstanding += i >= una && model[i].state == MT_TX_OUTSTANDING;
		held += i >= una && mt_tx_in_backoff(model[i].state);
	}
	assert_u_eq(w.lost, lost);
	assert_u_eq(w.outstanding, outstanding);
	assert_u_eq(w.n_backoff, held);
	assert_false(mt_tx_has_rec(&w, FIRST + next));
	if (next > SIZE)
		assert_false(mt_tx_has_rec(&w, FIRST + next - SIZE - 1));
	check_oldest_lost();
}

static void operate(uint64_t patience)
{
	now++;
	switch (test_rand_below(9)) {
	case 0:
	case 1:
	case 2:
		send();
		break;
	case 3:
		resend();
		break;
	case 4:
		if (una < next)
			touch(false);
		break;
	case 5:
		if (test_rand_chance(1, 8))
			release();
		break;
	default:
		if (una < next && test_rand_chance(1, patience))
			touch(true);
	}
}

/* REQ(req.rtx.oldest-first) REQ(req.loss.accumulate) */
TEST(mt_tx_window, as_an_array)
{
	for (size_t round = 0; round < test_rounds(60); round++) {
		uint64_t patience = 1 + test_rand_below(4);

		begin();
		for (int i = 0; i < 5000; i++) {
			operate(patience);
			if (i % 8 == 0)
				check_same();
		}
		assert_true(next > SIZE);
	}
}
