/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/tx_window.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/bits.h"

void mt_tx_window_init(struct mt_tx_window *w, uint64_t first_psn)
{
	*w = (struct mt_tx_window){.una = first_psn, .next = first_psn, .lost_from = first_psn};
}

void mt_tx_window_attach(struct mt_tx_window *w, void *mem, uint32_t size)
{
	mb_assert(mb_is_pow2(size) && mt_tx_empty(w));
	w->recs = mem;
	w->size = size;
	for (uint32_t i = 0; i < size; i++)
		w->recs[i] = (struct mt_tx_rec){0};
}

void mt_tx_window_sent(struct mt_tx_window *w, uint64_t now_ns, uint16_t slot, uint16_t ev,
		       uint16_t nominal)
{
	mb_assert(w->next - w->una < w->size);
	*mt_tx_rec(w, w->next) = (struct mt_tx_rec){
		.sent_ns = now_ns,
		.slot = slot,
		.ev = ev,
		.nominal = nominal,
		.state = MT_TX_OUTSTANDING,
	};
	w->outstanding++;
	w->next++;
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
	w->lost--;
	w->outstanding++;
}

void mt_tx_window_lost(struct mt_tx_window *w, uint64_t psn)
{
	struct mt_tx_rec *r = mt_tx_rec(w, psn);

	mb_assert(psn >= w->una && psn < w->next && r->state == MT_TX_OUTSTANDING);
	r->state = MT_TX_LOST;
	w->lost++;
	w->outstanding--;
	if (psn < w->lost_from)
		w->lost_from = psn;
}

enum mt_tx_state mt_tx_window_received(struct mt_tx_window *w, uint64_t psn)
{
	struct mt_tx_rec *r = mt_tx_rec(w, psn);
	enum mt_tx_state was = (enum mt_tx_state)r->state;

	mb_assert(psn >= w->una && psn < w->next);
	if (was == MT_TX_LOST)
		w->lost--;
	else if (was == MT_TX_OUTSTANDING)
		w->outstanding--;
	r->state = MT_TX_RECEIVED;
	return was;
}

/* What must hold between calls; for mb_assert_slow. */
static bool consistent(const struct mt_tx_window *w)
{
	uint32_t lost = 0, outstanding = 0;

	for (uint64_t psn = w->una; psn < w->next; psn++) {
		lost += mt_tx_rec(w, psn)->state == MT_TX_LOST;
		outstanding += mt_tx_rec(w, psn)->state == MT_TX_OUTSTANDING;
	}
	return lost == w->lost && outstanding == w->outstanding;
}

void mt_tx_window_advance(struct mt_tx_window *w)
{
	while (w->una < w->next && mt_tx_rec(w, w->una)->state == MT_TX_RECEIVED)
		w->una++;
	mb_assert_slow(consistent(w));
}

bool mt_tx_window_oldest_lost(struct mt_tx_window *w, uint64_t *psn)
{
	if (w->lost == 0) {
		w->lost_from = w->next;
		return false;
	}
	if (w->lost_from < w->una)
		w->lost_from = w->una;
	while (mt_tx_rec(w, w->lost_from)->state != MT_TX_LOST) {
		w->lost_from++;
		mb_assert(w->lost_from < w->next);
	}
	*psn = w->lost_from;
	return true;
}
