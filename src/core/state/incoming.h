/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * incoming.h - a data packet on its way through the responder, for qp/responder.c and for the
 * steps that only QPs with extensions take, in ext/.
 */
#ifndef SOFTMRC_CORE_STATE_INCOMING_H
#define SOFTMRC_CORE_STATE_INCOMING_H

#include "base/assert.h"
#include "core/state/engine_state.h"
#include "core/state/qp.h"
#include "wire/opcode.h"

struct mt_rx {
	uint64_t now_ns;
	const struct mt_rx_meta *meta;
	const struct mw_packet *pkt;
	const void *payload;
};

struct mt_incoming {
	struct mt_qp *qp;
	const struct mt_rx *rx;
	const struct mw_packet *pkt;
	uint16_t op; /* enum mw_opcode_flags */
	enum mt_rx_place place;
	uint64_t psn;
	uint64_t msn;
	const struct mt_mr *mr;
	struct mt_buffered *buffered; /* where an end of a message is buffered; see in_order.h */
	struct mt_rqe *rqe;	      /* with the extension: the receive that the message takes */
};

static inline struct mt_stats *mt_incoming_stats(const struct mt_incoming *c)
{
	return &c->qp->engine->stats;
}

/*
 * mt_incoming_nak notes an error of the packet's message, which is reported when every earlier
 * message is complete; `recv`: what its receive says, RD_WC_SUCCESS for flushed.
 * REQ(rsp.error.in-order)
 */
static inline void mt_incoming_nak(const struct mt_incoming *c, uint8_t syndrome, uint8_t recv)
{
	struct mt_pending_nak *r = &c->qp->rsp.pending_nak;

	mb_assert(syndrome != 0);
	if (r->syndrome == 0 || c->msn < r->msn)
		*r = (struct mt_pending_nak){.msn = c->msn, .syndrome = syndrome, .recv = recv};
}

/*
 * mt_incoming_may_place says whether the packet may be placed: once a message is known to be
 * erroneous, nothing more of it or of later ones is.
 */
static inline bool mt_incoming_may_place(const struct mt_incoming *c)
{
	const struct mt_pending_nak *nak = &c->qp->rsp.pending_nak;

	return nak->syndrome == 0 || c->msn < nak->msn;
}

#endif
