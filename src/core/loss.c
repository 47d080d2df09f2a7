/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/loss.h"

#include "base/bits.h"

/*
 * On one path a quarter of the window does: order within a path is all but certain, yet neither
 * several hardware queues nor two classes keep it to the nanosecond.
 */
#define SAME_PATH_SHIFT 2

/* REQ(req.loss.same-ev) */
static bool proven(const struct mt_tx_rec *rec, const struct mt_loss_report *r, uint64_t window_ns)
{
	if (rec->state != MT_TX_OUTSTANDING)
		return false;
	if (r->trigger_first && rec->tries == 0 && rec->ev == r->trigger_ev)
		window_ns >>= SAME_PATH_SHIFT;
	return rec->sent_ns + window_ns <= r->trigger_sent_ns;
}

uint64_t mt_loss_find(const struct mt_tx_window *w, const struct mt_loss_report *r,
		      uint64_t window_ns, bool *head)
{
	uint64_t missing = ~r->bitmap, lost = 0;

	*head = r->expected >= w->una && r->expected < w->next &&
		proven(mt_tx_rec(w, r->expected), r, window_ns);
	/* Only PSNs in [una, next): cut off what lies below and above. */
	if (r->base >= w->next || r->base + 64 <= w->una)
		return 0;
	if (r->base < w->una)
		missing &= UINT64_MAX << (w->una - r->base);
	if (w->next - r->base < 64)
		missing &= (UINT64_C(1) << (w->next - r->base)) - 1;
	while (missing) {
		unsigned i = mb_ctz64(missing);
		const struct mt_tx_rec *rec = mt_tx_rec(w, r->base + i);

		missing &= missing - 1;
		if (proven(rec, r, window_ns))
			lost |= UINT64_C(1) << i;
		else if (rec->sent_ns > r->trigger_sent_ns && rec->tries == 0)
			break; /* everything above it was sent later still */
	}
	return lost;
}
