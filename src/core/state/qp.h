/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp.h - a queue pair: a composition of parts that do not know each other, what QPs with extensions
 * keep in addition, and a data packet in the responder.
 *
 * requester.c turns WQEs into packets, responder.c takes the peer's packets, completer.c takes
 * what the peer says of ours; qp.c creates QPs and posts to them. Each part below (window, spray,
 * retry, ...) has its own file and is used by one or two of those four.
 */
#ifndef SOFTMRC_CORE_STATE_QP_H
#define SOFTMRC_CORE_STATE_QP_H

#include "base/assert.h"
#include "core/cc/cc.h"
#include "core/cc/pace.h"
#include "core/engine.h"
#include "core/ev/ev_set.h"
#include "core/ev/spray.h"
#include "core/state/engine_state.h"
#include "core/state/peer.h"
#include "core/window/window.h"
#include "core/window/wq.h"
#include "wire/packet.h"

/*
 * Of functions that only QPs with extensions call: the compiler lays the path of a WRITE out as if
 * they were not there, in straight lines and with its registers free.
 */
#define MT_COLD __attribute__((cold))

/* The half of a QP that sends. What every packet needs comes first. */
struct mt_requester {
	struct mt_sq sq;
	struct mt_tx_window window;
	struct mt_rto rto;
	uint64_t post_psn;    /* first PSN of the next WR to be posted */
	uint32_t acked;	      /* messages that ACKs or answers have acknowledged, low bits */
	uint32_t sack_order;  /* of the newest SACK, see completer.c; low bits */
	uint32_t newly_bytes; /* received since congestion control heard of it, nominal */
	uint16_t rqmsn;	      /* WRITE_WITH_IMM posted so far */
	uint16_t wimm_inflight;
	uint8_t mpr;		 /* the window now, units of 128 PSNs; see mt_completer_sack */
	uint8_t unasked;	 /* packets since one asked for a SACK */
	bool repeat_last;	 /* send the last packet of the oldest unfinished WQE once more */
	bool timed_out;		 /* the next resend does not ask congestion control */
	bool mpr_offered;	 /* a SACK has offered a window */
	bool acks_have_psn : 1;	 /* the peer fills in the PSN of its ACKs ... */
	bool peer_fills_ids : 1; /* ... and the context ids of its SACKs ... */
	bool acks_if_asked : 1;	 /* ... and acknowledges messages, it seems, only when asked */
	uint8_t penalty;	 /* rcv_cwnd_pen of the newest SACK */
	bool waits; /* counted among those that wait for the peer, see core/ev/liveness.h */
	struct mt_spray spray;
	struct mt_cc cc;
	struct mt_pace pace;
	struct mt_rtt rtt;
};

/* An error in a request; its NAK waits until every earlier request is complete. */
struct mt_pending_nak {
	uint64_t msn;
	uint8_t syndrome; /* of the NAK; 0: none */
	uint8_t recv;	  /* enum rd_wc_status of its receive; 0: flushed as the others */
};

/* The half of a QP that receives. What WRITEs without immediates need lies together. */
struct mt_responder {
	struct mt_rq rq;
	struct mt_rx_window window;
	struct mt_sacker sacker;
	struct mt_pending_nak pending_nak;
	uint64_t msn;	     /* messages complete in order */
	uint64_t rcvd_bytes; /* nominal, each PSN once */
	uint32_t ack_ev;     /* of the last packet that came in, ... */
	uint8_t ack_port;    /* ... and its plane */
	bool ack_due;	     /* a transport ACK or NAK is to be sent */
	bool ack_lost_hint;  /* an earlier answer seems not to have arrived */
	bool nak_due;	     /* the ACK reports the NAK in `pending_nak` */
	struct mt_imm_stash stash;
};

/* What an atomic has besides its WQE. */
struct mt_operands {
	uint8_t payload[MW_ATOMIC_BYTES]; /* as it is sent */
	struct rd_sge result;		  /* where what was there goes */
};

struct mt_local_sq;

/* What a QP with extensions has besides, behind its queues. */
struct mt_qp_ext {
	struct mt_operands *operands;	/* by slot of the send queue, with MW_EXT_ATOMIC */
	struct mt_rd_atomic *rd_atomic; /* NULL: neither READs nor atomics; see qp.h */
	struct mt_negotiation negotiation;
	struct mt_rnr rnr;
	struct mt_in_order in_order;
	struct mt_local_sq *local_sq; /* NULL: none were posted; see qp.h */
	bool binds;		      /* windows may be bound on it */
	bool invalidates;	      /* a SEND that came and is not complete may invalidate one */
};

/*
 * What packets of both directions need comes first, in three cache lines; then the half that sends,
 * the half that receives, and what few packets need. qp_prefetch.h asks for these parts.
 */
struct mt_qp {
	struct mt_engine *engine;
	void *user;
	struct mt_ev_set *ev_set; /* NULL before RTR */
	struct mt_peer *peer;	  /* NULL before RTR */
	struct mt_qp_ext *ext;	  /* NULL: plain MRC */
	struct mb_link control;	  /* has a control packet to send */
	uint32_t qpn;
	enum rd_qp_state state;
	struct rd_qp_attr attr;
	uint32_t first_probe; /* of the engine's probes, the first that may be this connection's */
	struct mt_control_queue named_control; /* what names a packet, before SACK and ACK */
	uint8_t failure;		       /* enum rd_wc_status that the QP event reports */
	bool failure_unreported : 1;
	bool last_wqe_unreported : 1;
	bool drain_unreported : 1; /* in SQD: that nothing is left of what had begun */
	bool used;		   /* its windows were, since the clock of qp_memory.c came by */
	uint8_t response_bit;	   /* MW_RESPONSE_BIT: it carries answers, see qp.h; else 0 */
	uint32_t period;	   /* in which its peer was counted, see core/state/senders.h */
	struct mb_link ready;	   /* may have data to send */
	struct mb_link completion; /* has something for mt_engine_poll */
	struct mt_requester req;
	struct mt_responder rsp;
	struct mb_timer timer;
	struct mb_link ev_set_user;  /* on ev_set->users */
	struct mb_link window_owner; /* holds windows of the pool */
	struct mt_qp_cap cap;
};
_Static_assert(offsetof(struct mt_qp, attr) == 64, "the state of a QP fills a cache line");
_Static_assert(offsetof(struct mt_qp, req) == 192, "and its attributes and lists two");

static inline bool mt_qp_may_receive(const struct mt_qp *qp)
{
	return qp->state == RD_QPS_RTR || qp->state == RD_QPS_RTS || qp->state == RD_QPS_SQD;
}

static inline bool mt_qp_may_send(const struct mt_qp *qp)
{
	return qp->state == RD_QPS_RTS || qp->state == RD_QPS_SQD;
}

/* mt_qp_uses_dynamic_mpr says whether windows follow what SACKs offer. REQ(req.mpr.dynamic) */
bool mt_qp_uses_dynamic_mpr(const struct mt_qp *qp);

/* mt_qp_has_ext says whether both ends know an extension. */
static inline bool mt_qp_has_ext(const struct mt_qp *qp, enum mw_ext ext)
{
	return qp->ext && qp->ext->negotiation.negotiated & ext;
}

/* mt_qp_has_unfinished says whether the requester waits for anything from its peer. */
static inline bool mt_qp_has_unfinished(const struct mt_qp *qp)
{
	return !mt_tx_is_empty(&qp->req.window) || qp->req.sq.done < qp->req.sq.next ||
	       (qp->ext && qp->ext->negotiation.requested);
}

/* mt_qp_has_begun_wr says whether a send WR of which a packet was sent is not complete. */
static inline bool mt_qp_has_begun_wr(const struct mt_qp *qp)
{
	const struct mt_sq *sq = &qp->req.sq;

	return sq->done < sq->next ||
	       (sq->next < sq->tail && mt_sq_at(sq, sq->next)->first_psn < qp->req.window.next);
}

/*
 * mt_qp_take_* see to it that the QP has the memory named, and that it keeps it for a while; false:
 * the pool is empty. mt_qp_free_memory gives all of it back, whatever it holds.
 */
bool mt_qp_alloc_records(struct mt_qp *qp, uint64_t now_ns);
static inline bool mt_qp_ensure_records(struct mt_qp *qp, uint64_t now_ns)
{
	qp->used = true;
	return qp->req.window.recs || mt_qp_alloc_records(qp, now_ns);
}
bool mt_qp_ensure_bitmaps(struct mt_qp *qp, uint64_t now_ns);
/* The stash is only for a packet that has its bitmaps. */
bool mt_qp_ensure_stash(struct mt_qp *qp);
/* mt_qp_alloc_buffered returns memory for a packet that is to wait; NULL: there are enough, or
 * none. */
struct mt_buffered *mt_qp_alloc_buffered(struct mt_qp *qp, uint32_t len);
void mt_qp_free_buffered(struct mt_qp *qp, struct mt_buffered *w);
/*
 * mt_qp_resize changes what the responder may have in its window (PSNs) and its stash, keeping what
 * is in them, for which the limits stay large enough; false: memory, and nothing has changed.
 */
bool mt_qp_resize(struct mt_qp *qp, uint32_t limit, uint32_t wimm_limit);
void mt_qp_free_memory(struct mt_qp *qp);
/* mt_qp_init_links makes a QP one that is on no list of the engine. */
void mt_qp_init_links(struct mt_qp *qp);
/* mt_qp_queue_for_tx puts the QP among those that may have data to send. */
void mt_qp_queue_for_tx(struct mt_qp *qp);
/* mt_qp_queue_control puts the QP among those that have a control packet to send. */
void mt_qp_queue_control(struct mt_qp *qp);
/* mt_qp_queue_for_poll puts the QP among those that mt_engine_poll asks. */
void mt_qp_queue_for_poll(struct mt_qp *qp);
/* mt_qp_arm sets the QP's timer for its next deadline; an earlier wake-up may stay set. */
void mt_qp_arm(struct mt_qp *qp);
/* mt_qp_nack_backoff_ns returns how long a NACKed packet waits at least: two RTTs, or the floor of
 * probes. */
uint64_t mt_qp_nack_backoff_ns(const struct mt_qp *qp);
/* mt_qp_rto_limits returns the ACK timeout and the retries of a QP, as its peer answers now. */
struct mt_rto_limits mt_qp_rto_limits(const struct mt_qp *qp);
/* mt_qp_longest_wait_ns returns how long the peer may make one packet wait. */
uint64_t mt_qp_longest_wait_ns(const struct mt_qp *qp);
/* mt_qp_packet_ns returns how long a full packet takes on our link; 0: that is not known. */
uint64_t mt_qp_packet_ns(const struct mt_qp *qp);
/* mt_qp_turn_ns returns how long one port's packet takes, and so its turn; 0: that is not known. */
uint64_t mt_qp_turn_ns(const struct mt_qp *qp);
/* mt_qp_begin_sending and _receiving begin a half of a QP with the PSN and limits in `a`. */
void mt_qp_begin_sending(struct mt_qp *qp, const struct rd_qp_attr *a, uint64_t now_ns);
void mt_qp_begin_receiving(struct mt_qp *qp, const struct rd_qp_attr *a);
/* mt_mr_check_peer is that for what a peer of this QP asks, and so for windows, too. */
const struct mt_mr *mt_mr_check_peer(const struct mt_qp *qp, uint32_t key, uint64_t addr,
				     uint64_t len, uint32_t access);
/* mt_qp_probe_after_ns returns the silence after which a tail probe is due. */
uint64_t mt_qp_probe_after_ns(const struct mt_qp *qp);
/* mt_qp_stop_timer ends the watch over the peer's answers. */
void mt_qp_stop_timer(struct mt_qp *qp);
/*
 * mt_qp_fail moves the QP to ERR by itself: the oldest unfinished send WR gets `oldest` (flushed,
 * when the fault lies in what the peer asked for), all behind it and the receives are flushed; a QP
 * event reports `why`.
 */
void mt_qp_fail(struct mt_qp *qp, enum rd_wc_status oldest, enum rd_wc_status why);

/*
 * Send WRs that need no packet: binding memory windows, invalidating their keys.
 *
 * The count of a WQE is the MSN of its message, and the peer counts messages. So WRs that are none
 * have a ring of their own, and each knows how many WQEs were posted before it. It is executed
 * when all these have been sent in full and before the next one begins, with a fence when READs and
 * atomics among them are answered as well. Completions are taken from both queues in the order of
 * posting. One that fails waits until all before it is complete. REQ(ext.local.turn)
 * REQ(ext.local.order)
 *
 * The ring comes from the pool with the first such WR and goes back in RESET. REQ(ext.free)
 */
struct mt_local_wqe {
	struct mt_local_wr wr;
	uint64_t before; /* WQEs posted before it since RESET */
	uint8_t status;	 /* enum rd_wc_status, once executed */
};

/* head <= next <= tail: not polled, executed | not executed */
struct mt_local_sq {
	uint64_t head, next, tail;
	uint32_t mask; /* slots - 1 */
	struct mt_local_wqe ring[];
};

/* mt_local_wqe_at returns the local WR with this number. */
static inline struct mt_local_wqe *mt_local_wqe_at(struct mt_local_sq *l, uint64_t n)
{
	return &l->ring[n & l->mask];
}

/* mt_local_wr_pending says whether any is not executed. */
static inline bool mt_local_wr_pending(const struct mt_qp *qp)
{
	return qp->ext && qp->ext->local_sq && qp->ext->local_sq->next < qp->ext->local_sq->tail;
}
/* mt_local_wr_flush completes what was not executed as flushed. */
void mt_local_wr_flush(struct mt_qp *qp);

/*
 * READs and atomics of a QP, asked for and answered.
 *
 * A request is a message of one packet among all the others. Its answer goes back as a message in
 * PSNs of its own, with SACKs, retransmission and congestion control like any. So besides the QP
 * there is a second one, with the same number, whose packets are distinguished by their opcodes: it
 * sends answers to the peer and takes the peer's. Its messages are the answers, in the order of
 * the requests: the n-th answers the n-th request, which says where its bytes go; nothing on the
 * wire names our memory. REQ(ext.response.space)
 *
 * As responder a QP keeps requests that came ahead of a hole and carries them out when all before
 * them is placed. What an atomic found is in its answer, which is kept until it is acknowledged.
 * REQ(ext.request.order) REQ(ext.atomic.once)
 *
 * All of this is one block of the pool that a QP takes in the move to RTR or RTS if it may have
 * READs or atomics, and gives back in RESET. REQ(ext.free)
 */

/* A request that waits for what lies before it. */
struct mt_rd_atomic_req {
	uint64_t psn, msn;
	uint64_t va;
	uint64_t swap_add, compare;
	uint32_t rkey;
	uint32_t length; /* of a READ */
	uint8_t opcode;	 /* enum mw_opcode */
};

struct mt_rd_atomic {
	struct mt_qp qp;  /* that carries answers */
	struct mt_qp *of; /* whose they are */
	/* As requester: requests are counted from 0 as they begin. */
	uint64_t req_msns[RD_ATOMIC_MAX];     /* MSNs, by number modulo */
	struct mt_parts resps[RD_ATOMIC_MAX]; /* likewise, of READs: what came of the answer */
	uint64_t n_requested;
	uint64_t n_completed; /* whole, in order */
	uint64_t nak_msn;     /* gets a NAK, which is handled when all before it is complete ... */
	uint8_t nak;	      /* ... its syndrome, 0: none */
	/* As responder. */
	uint32_t n_queued;
	struct mt_rd_atomic_req queued[RD_ATOMIC_MAX]; /* by PSN */
	struct mt_wqe wqes[RD_ATOMIC_MAX];
	struct rd_sge sges[RD_ATOMIC_MAX];
};

/* mt_rd_atomic_of returns that of a QP of answers. */
static inline struct mt_rd_atomic *mt_rd_atomic_of(struct mt_qp *answers)
{
	return mb_container_of(answers, struct mt_rd_atomic, qp);
}

/* mt_rd_atomic_outstanding returns how many requests of a QP are not answered. */
static inline uint64_t mt_rd_atomic_outstanding(const struct mt_qp *qp)
{
	const struct mt_rd_atomic *r = qp->ext->rd_atomic;

	return r ? r->n_requested - r->n_completed : 0;
}
/* mt_rd_atomic_stop ends answering: what was not sent never will be. */
void mt_rd_atomic_stop(struct mt_rd_atomic *r);

/*
 * A data packet in the responder, for qp/responder.c and for the steps that only QPs with
 * extensions take, in ext/.
 */

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
	struct mt_buffered *buffered; /* where an end of a message is buffered; see window.h */
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
