/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss.h - when a hole is a loss.
 *
 * A dead path never acknowledges anything again, and a lap over the EVs is wider than the 64 PSNs
 * of a SACK; so neither "a later packet of the same EV arrived" nor "n later packets arrived" will
 * do. The rule is time: a PSN is lost when a SACK says that it is missing, and the packet that
 * caused this SACK was sent, on whatever EV, at least one reorder window after it. A packet sent
 * later on the same EV proves it sooner, since a path keeps its order within a traffic class.
 *
 * A SACK says of 64 PSNs, and of the one after cack_psn, whether they are there. Of all others it
 * says nothing, and nothing follows. It describes the responder when it was made, so one that was
 * overtaken proves no less: its trigger's send time is compared, not its time of arrival.
 * REQ(req.loss.explicit)
 */
#ifndef SOFTMRC_CORE_LOSS_H
#define SOFTMRC_CORE_LOSS_H

#include "core/tx_window.h"

/* A SACK, in 64-bit PSNs, with what the sender knows of its trigger. */
struct mt_loss_report {
	uint64_t expected; /* lowest PSN the responder does not have */
	uint64_t base;	   /* PSN of bit 0 */
	uint64_t bitmap;
	uint64_t trigger_sent_ns;
	uint16_t trigger_ev; /* path index */
	bool trigger_first;  /* it was no retransmission: same class as first transmissions */
};

/*
 * mt_loss_find returns the PSNs of [base, base + 64) that are lost as a bitmap, and in *head
 * whether `expected` is, which may lie below base. Changes nothing.
 */
uint64_t mt_loss_find(const struct mt_tx_window *w, const struct mt_loss_report *r,
		      uint64_t window_ns, bool *head);

#endif
