/* SPDX-License-Identifier: BSD-2-Clause */
/* tx_window.c - the states of the PSNs in flight, and the counts of each state. See the header. */
#include "core/window/window.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/bits.h"

/*
 * No PSN counts twice, and none outside the window counts. For mb_assert_slow: it runs at each step
 * of a packet, where window_is_consistent would walk the whole window.
 */
static bool counts_fit(const struct mt_tx_window *w)
{
	return (uint64_t)w->outstanding + w->lost + w->n_backoff <= w->next - w->una;
}

void mt_tx_window_init(struct mt_tx_window *w, uint64_t first_psn)
{
	*w = (struct mt_tx_window){.una = first_psn, .next = first_psn, .lost_from = first_psn};
}

void mt_tx_window_attach(struct mt_tx_window *w, void *mem, uint32_t size)
{
	mb_assert(mb_is_pow2(size) && mt_tx_is_empty(w));
	mb_assert(mem);
	w->recs = mem;
	w->size = size;
	for (uint32_t i = 0; i < size; i++)
		w->recs[i] = (struct mt_tx_rec){0};
}

void mt_tx_window_sent(struct mt_tx_window *w, uint64_t now_ns, uint16_t slot, uint16_t ev,
		       uint16_t nominal)
{
	mb_assert(w->next - w->una < w->size);
	mb_assert_slow(w->recs);
	*mt_tx_rec(w, w->next) = (struct mt_tx_rec){
		.sent_ns = now_ns,
		.slot = slot,
		.ev = ev,
		.nominal = nominal,
		.state = MT_TX_OUTSTANDING,
	};
	w->outstanding++;
	w->next++;
	mb_assert_slow(counts_fit(w));
}

void mt_tx_window_resent(struct mt_tx_window *w, uint64_t psn, uint64_t now_ns, uint16_t ev)
{
	struct mt_tx_rec *r = mt_tx_rec(w, psn);

	mb_assert(psn >= w->una && psn < w->next && r->state == MT_TX_LOST);
	r->state = MT_TX_OUTSTANDING;
	r->sent_ns = now_ns;
	r->ev = ev;
	if (r->tries < UINT8_MAX)
		r->tries++;
	mb_assert(w->lost > 0);
	w->lost--;
	w->outstanding++;
	mb_assert_slow(counts_fit(w));
}

void mt_tx_window_lost(struct mt_tx_window *w, uint64_t psn)
{
	struct mt_tx_rec *r = mt_tx_rec(w, psn);

	mb_assert(psn >= w->una && psn < w->next && r->state == MT_TX_OUTSTANDING);
	r->state = MT_TX_LOST;
	mb_assert(w->outstanding > 0);
	w->lost++;
	w->outstanding--;
	if (psn < w->lost_from)
		w->lost_from = psn;
}

#define HOLD_SHIFT_MAX 4u
#define HOLD_SHIFT_BRIEF 1u

static uint64_t backoff_ns(const struct mt_tx_rec *r, uint64_t unit_ns)
{
	uint32_t most = r->state == MT_TX_BACKOFF_SHORT ? HOLD_SHIFT_BRIEF : HOLD_SHIFT_MAX;
	uint32_t shift = r->tries > 1u ? r->tries - 1u : 0;

	if (r->state == MT_TX_BACKOFF_PATH)
		return unit_ns / 2;
	return unit_ns << (shift < most ? shift : most);
}

static uint64_t backoff_end_ns(const struct mt_tx_rec *r, uint64_t psn, uint64_t unit_ns)
{
	uint64_t wait = backoff_ns(r, unit_ns);
	uint64_t hash = psn * UINT64_C(0x9E3779B97F4A7C15) >> 56;

	return r->sent_ns + wait + (wait * hash >> 8);
}

void mt_tx_window_nack_backoff(struct mt_tx_window *w, uint64_t psn, uint64_t unit_ns,
			       enum mt_tx_state state)
{
	struct mt_tx_rec *r = mt_tx_rec(w, psn);
	uint64_t due_ns;

	mb_assert(psn >= w->una && psn < w->next && r->state == MT_TX_OUTSTANDING);
	mb_assert(mt_tx_in_backoff((uint8_t)state));
	r->state = (uint8_t)state;
	mb_assert(w->outstanding > 0);
	due_ns = backoff_end_ns(r, psn, unit_ns);
	w->outstanding--;
	if (w->n_backoff == 0 || psn < w->backoff_from)
		w->backoff_from = psn;
	if (w->n_backoff == 0 || due_ns < w->backoff_due_ns)
		w->backoff_due_ns = due_ns;
	w->n_backoff++;
	mb_assert_slow(counts_fit(w));
}

/*
 * Looks at all records in back-off. What is nearly due goes along, so that this is at most four
 * times a unit of time.
 */
void mt_tx_window_end_backoff(struct mt_tx_window *w, uint64_t now_ns, uint64_t unit_ns)
{
	uint64_t psn = w->backoff_from < w->una ? w->una : w->backoff_from;
	uint64_t first_held = w->next, first_lost = w->lost_from;

	w->backoff_due_ns = UINT64_MAX;
	for (uint32_t left = w->n_backoff; left > 0; psn++) {
		struct mt_tx_rec *r = mt_tx_rec(w, psn);
		uint64_t due_ns;

		mb_assert(psn < w->next);
		if (!mt_tx_in_backoff(r->state))
			continue;
		left--;
		due_ns = backoff_end_ns(r, psn, unit_ns);
		if (due_ns <= now_ns + unit_ns / 4) {
			r->state = MT_TX_LOST;
			w->n_backoff--;
			w->lost++;
			first_lost = psn < first_lost ? psn : first_lost;
			continue;
		}
		first_held = psn < first_held ? psn : first_held;
		w->backoff_due_ns = due_ns < w->backoff_due_ns ? due_ns : w->backoff_due_ns;
	}
	w->backoff_from = first_held;
	w->lost_from = first_lost;
	mb_assert_slow(counts_fit(w));
}

enum mt_tx_state mt_tx_window_received(struct mt_tx_window *w, uint64_t psn)
{
	struct mt_tx_rec *r = mt_tx_rec(w, psn);
	enum mt_tx_state was = (enum mt_tx_state)r->state;

	mb_assert(psn >= w->una && psn < w->next);
	mb_assert_slow(was != MT_TX_UNUSED);
	if (was == MT_TX_LOST)
		w->lost--;
	else if (was == MT_TX_OUTSTANDING)
		w->outstanding--;
	else if (mt_tx_in_backoff(r->state))
		w->n_backoff--;
	r->state = MT_TX_RECEIVED;
	return was;
}

/* What must hold between calls; for mb_assert_slow. */
static bool window_is_consistent(const struct mt_tx_window *w)
{
	uint32_t lost = 0, outstanding = 0, backoff = 0;

	for (uint64_t psn = w->una; psn < w->next; psn++) {
		lost += mt_tx_rec(w, psn)->state == MT_TX_LOST;
		outstanding += mt_tx_rec(w, psn)->state == MT_TX_OUTSTANDING;
		backoff += mt_tx_in_backoff(mt_tx_rec(w, psn)->state);
	}
	return lost == w->lost && outstanding == w->outstanding && backoff == w->n_backoff;
}

void mt_tx_window_advance(struct mt_tx_window *w)
{
	while (w->una < w->next && mt_tx_rec(w, w->una)->state == MT_TX_RECEIVED)
		w->una++;
	mb_assert_slow(window_is_consistent(w));
}

bool mt_tx_window_oldest_lost(struct mt_tx_window *w, uint64_t *psn)
{
	if (w->lost == 0) {
		w->lost_from = w->next;
		return false;
	}
	mb_assert(w->una < w->next);
	if (w->lost_from < w->una)
		w->lost_from = w->una;
	while (mt_tx_rec(w, w->lost_from)->state != MT_TX_LOST) {
		w->lost_from++;
		mb_assert(w->lost_from < w->next);
	}
	*psn = w->lost_from;
	return true;
}
