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
 * A SACK says of 64 PSNs, and of the one after cack_psn, whether they are there; and where its map
 * holds as many PSNs as ooo_count, of all others that they are not. Of the rest it says nothing,
 * and nothing follows. It describes the responder when it was made, so one that was overtaken
 * proves no less: its trigger's send time is compared, not its time of arrival.
 * REQ(req.loss.explicit)
 */
#ifndef SOFTMRC_CORE_QP_LOSS_H
#define SOFTMRC_CORE_QP_LOSS_H

#include "core/qp/tx_window.h"

/* A SACK, in 64-bit PSNs, with what the sender knows of its trigger. */
struct mt_loss_report {
	uint64_t expected;   /* lowest PSN the responder does not have */
	uint64_t base;	     /* first of the 64 PSNs of the map */
	bool complete;	     /* the map holds everything received above expected */
	bool trigger_first;  /* it was no retransmission: same class as first transmissions */
	uint16_t trigger_ev; /* path index */
	uint64_t trigger_sent_ns;
};

/*
 * mt_loss_next finds the lowest PSN from *psn on that the report proves lost; false when there is
 * none. What the report says is received must be marked so before. Changes nothing in the window.
 */
bool mt_loss_next(const struct mt_tx_window *w, const struct mt_loss_report *r, uint64_t window_ns,
		  uint64_t *psn);

#endif
