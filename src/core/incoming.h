/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * incoming.h - a data packet on its way through the responder, for responder.c and for the steps
 * that only QPs with extensions take, in responder_ext.c.
 */
#ifndef SOFTMRC_CORE_INCOMING_H
#define SOFTMRC_CORE_INCOMING_H

#include "core/engine_state.h"
#include "core/qp.h"
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
	struct mt_waiter *waiter; /* where an end of a message is put by; see in_order.h */
	struct mt_rqe *rqe;	  /* with the extension: the receive that the message takes */
};

static inline struct mt_stats *mt_incoming_stats(const struct mt_incoming *c)
{
	return &c->qp->engine->stats;
}

/*
 * mt_incoming_refuse notes an error of the packet's message, which is reported when every earlier
 * message is complete; `recv`: what its receive says, MT_WC_SUCCESS for flushed.
 * REQ(rsp.error.in-order)
 */
static inline void mt_incoming_refuse(const struct mt_incoming *c, uint8_t syndrome, uint8_t recv)
{
	struct mt_refusal *r = &c->qp->rsp.refusal;

	if (r->syndrome == 0 || c->msn < r->msn)
		*r = (struct mt_refusal){.msn = c->msn, .syndrome = syndrome, .recv = recv};
}

/*
 * mt_incoming_wanted says whether the packet may be placed: once a message is known to be refused,
 * nothing more of it or of later ones is.
 */
static inline bool mt_incoming_wanted(const struct mt_incoming *c)
{
	const struct mt_refusal *refusal = &c->qp->rsp.refusal;

	return refusal->syndrome == 0 || c->msn < refusal->msn;
}

/* mt_recv_check_room refuses what is longer than its receive, or lies outside itself. */
void mt_recv_check_room(const struct mt_incoming *c);
/* mt_recv_arrived notes at the end of a message what its receive will say. */
void mt_recv_arrived(const struct mt_incoming *c);
/* mt_recv_place puts a SEND into the pieces of its receive. */
void mt_recv_place(const struct mt_incoming *c);

/*
 * mt_ext_admit says whether a packet of the extension is one that both ends know, and hands answers
 * to the QP that takes them.
 */
MT_ASIDE bool mt_ext_admit(struct mt_incoming *c);
/*
 * mt_ext_in_turn does what waited for packets that are there now; `msn`: messages complete in
 * order.
 */
MT_ASIDE void mt_ext_in_turn(const struct mt_incoming *c, uint64_t msn);

enum mt_request_found {
	MT_REQUEST_TAKEN,
	MT_REQUEST_MALFORMED,
	MT_REQUEST_NO_MEMORY, /* for its answer */
};

/* mt_request_check looks at a READ or atomic of the peer; mt_request_keep keeps it for its turn. */
enum mt_request_found mt_request_check(const struct mt_incoming *c);
void mt_request_keep(const struct mt_incoming *c);
/* mt_requests_carry_out carries out those before which nothing is missing, with MSNs below
 * `below`. */
void mt_requests_carry_out(struct mt_qp *qp, uint64_t below, uint64_t now_ns);

enum mt_response_found {
	MT_RESPONSE_PLACED,
	MT_RESPONSE_MALFORMED, /* not what was asked for */
	MT_RESPONSE_NO_MEMORY, /* that of the WR is gone, and the QP in ERR */
};

/* mt_response_place places the bytes of an answer; mt_response_taken follows when its PSN is
 * noted. */
enum mt_response_found mt_response_place(const struct mt_incoming *c);
void mt_response_taken(const struct mt_incoming *c);

/* mt_in_order_waits says whether the packet is an end of a WRITE that must wait. */
bool mt_in_order_waits(const struct mt_incoming *c);
/* mt_in_order_put_by lets it wait, in c->waiter. */
void mt_in_order_put_by(const struct mt_incoming *c);
/* mt_in_order_place places what waited for the holes that are filled now, of such messages. */
void mt_in_order_place(struct mt_qp *qp, uint64_t below);

#endif
