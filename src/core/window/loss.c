/* SPDX-License-Identifier: BSD-2-Clause */
/* loss.c - decides by send times which holes of a SACK are losses. See window.h for the rule. */
#include "base/assert.h"
#include "core/window/window.h"

/*
 * On one path a quarter of the window does: order within a path is all but certain, yet neither
 * several hardware queues nor two classes keep it to the nanosecond.
 */
#define SAME_PATH_SHIFT 2

/*
 * A PSN that was sent so often that trims do not explain it waits longer each time, up to 2^4
 * windows.
 */
#define AGAIN_FROM 3u
#define AGAIN_SHIFT_MAX 4u

static uint32_t again_shift(const struct mt_tx_rec *rec)
{
	uint32_t often = rec->tries > AGAIN_FROM ? rec->tries - AGAIN_FROM : 0;

	return often < AGAIN_SHIFT_MAX ? often : AGAIN_SHIFT_MAX;
}

/*
 * Who resends into a network of which nearly all is dead learns no more by haste.
 * REQ(req.loss.same-ev) REQ(req.loss.again)
 */
static bool is_proven_lost(const struct mt_tx_rec *rec, const struct mt_loss_report *r,
			   uint64_t window_ns)
{
	if (rec->state != MT_TX_OUTSTANDING)
		return false;
	if (r->trigger_first && rec->tries == 0 && rec->ev == r->trigger_ev)
		window_ns >>= SAME_PATH_SHIFT;
	else
		window_ns <<= again_shift(rec);
	return rec->sent_ns + window_ns <= r->trigger_sent_ns;
}

/* First transmissions are in order of time: behind one sent too late none was sent early enough. */
static bool was_sent_too_late(const struct mt_tx_rec *rec, const struct mt_loss_report *r,
			      uint64_t window_ns)
{
	return rec->tries == 0 &&
	       rec->sent_ns + (window_ns >> SAME_PATH_SHIFT) > r->trigger_sent_ns;
}

/* The next PSN from psn on of which the report says something; UINT64_MAX when there is none. */
static uint64_t next_reported(const struct mt_loss_report *r, uint64_t psn)
{
	if (psn <= r->expected)
		return r->expected;
	if (r->complete)
		return psn;
	if (psn < r->base)
		psn = r->base;
	return psn < r->base + MT_SACK_PSNS ? psn : UINT64_MAX;
}

bool mt_loss_next(const struct mt_tx_window *w, const struct mt_loss_report *r, uint64_t window_ns,
		  uint64_t *psn, uint32_t *left)
{
	uint64_t p = *psn < w->una ? w->una : *psn;

	mb_assert(r->expected <= w->next);
	for (p = next_reported(r, p); p < w->next; p = next_reported(r, p + 1)) {
		const struct mt_tx_rec *rec = mt_tx_rec(w, p);

		mb_assert_slow(p >= w->una && p >= *psn);
		*psn = p;
		if (*left == 0)
			return false;
		if (is_proven_lost(rec, r, window_ns))
			return true;
		if (was_sent_too_late(rec, r, window_ns))
			return false;
		--*left;
	}
	return false;
}
