/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * incoming.h - a data packet on its way through the responder, for responder.c and for the steps
 * that only QPs with extensions take, in responder_ext.c.
 */
#ifndef SOFTMRC_CORE_QP_INCOMING_H
#define SOFTMRC_CORE_QP_INCOMING_H

#include "core/engine/engine_state.h"
#include "core/qp/qp.h"
#include "wire/opcode.h"

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

	if (r->syndrome == 0 || c->msn < r->msn)
		*r = (struct mt_pending_nak){.msn = c->msn, .syndrome = syndrome, .recv = recv};
}

/*
 * mt_incoming_may_place says whether the packet may be placed: once a message is known to be
 * refused, nothing more of it or of later ones is.
 */
static inline bool mt_incoming_may_place(const struct mt_incoming *c)
{
	const struct mt_pending_nak *refusal = &c->qp->rsp.pending_nak;

	return refusal->syndrome == 0 || c->msn < refusal->msn;
}

/* mt_recv_check_room refuses what is longer than its receive, or lies outside itself. */
void mt_recv_check_room(const struct mt_incoming *c);
/* mt_recv_note_end notes at the end of a message what its receive will say. */
void mt_recv_note_end(const struct mt_incoming *c);
/* mt_recv_place puts a SEND into the pieces of its receive. */
void mt_recv_place(const struct mt_incoming *c);

/*
 * mt_ext_admit says whether a packet of the extension is one that both ends know, and hands answers
 * to the QP that takes them.
 */
MT_COLD bool mt_ext_admit(struct mt_incoming *c);
/*
 * mt_ext_run_in_order does what waited for packets that are there now; `msn`: messages complete in
 * order.
 */
MT_COLD void mt_ext_run_in_order(const struct mt_incoming *c, uint64_t msn);

enum mt_rd_atomic_req_check {
	MT_REQUEST_ACCEPTED,
	MT_REQUEST_MALFORMED,
	MT_REQUEST_NO_MEMORY, /* for its answer */
};

/* mt_rd_atomic_check_req looks at a READ or atomic of the peer; mt_rd_atomic_queue_req keeps it for
 * its turn. */
enum mt_rd_atomic_req_check mt_rd_atomic_check_req(const struct mt_incoming *c);
void mt_rd_atomic_queue_req(const struct mt_incoming *c);
/* mt_rd_atomic_execute executes those before which nothing is missing, with MSNs below
 * `below`. */
void mt_rd_atomic_execute(struct mt_qp *qp, uint64_t below, uint64_t now_ns);

enum mt_response_found {
	MT_RESPONSE_PLACED,
	MT_RESPONSE_MALFORMED, /* not what was asked for */
	MT_RESPONSE_NO_MEMORY, /* that of the WR is gone, and the QP in ERR */
};

/* mt_rd_atomic_place_resp places the bytes of an answer; mt_rd_atomic_resp_done follows when its
 * PSN is noted. */
enum mt_response_found mt_rd_atomic_place_resp(const struct mt_incoming *c);
void mt_rd_atomic_resp_done(const struct mt_incoming *c);

/* mt_in_order_must_wait says whether the packet is an end of a WRITE that must wait. */
bool mt_in_order_must_wait(const struct mt_incoming *c);
/* mt_in_order_buffer lets it wait, in c->buffered. */
void mt_in_order_buffer(const struct mt_incoming *c);
/* mt_in_order_place places what waited for the holes that are filled now, of such messages. */
void mt_in_order_place(struct mt_qp *qp, uint64_t below);

#endif
