/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp.h - a queue pair: a composition of modules that do not know each other.
 *
 * requester.c turns WQEs into packets, responder.c takes the peer's packets, completer.c takes
 * what the peer says of ours; qp.c is the life of the whole. Each module below (window, spray,
 * retry, ...) has its own file and is used by exactly one or two of those four.
 */
#ifndef SOFTMRC_CORE_STATE_QP_H
#define SOFTMRC_CORE_STATE_QP_H

#include "core/cc/cc.h"
#include "core/cc/rtt.h"
#include "core/engine.h"
#include "core/ev/ev_set.h"
#include "core/ev/spray.h"
#include "core/state/control.h"
#include "core/window/imm_stash.h"
#include "core/window/in_order.h"
#include "core/window/negotiation.h"
#include "core/window/rnr.h"
#include "core/window/rto.h"
#include "core/window/rx_window.h"
#include "core/window/sack.h"
#include "core/window/tx_window.h"
#include "core/window/wq.h"

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
	uint64_t post_psn;   /* first PSN of the next WR to be posted */
	uint64_t sent_bytes; /* nominal, each PSN once */
	uint32_t rcvd_units; /* newest rcvd_bytes of a SACK */
	uint16_t rqmsn;	     /* WRITE_WITH_IMM posted so far */
	uint16_t wimm_inflight;
	uint8_t mpr;	  /* the window now, units of 128 PSNs; see mt_completer_sack */
	bool repeat_last; /* send the last packet of the oldest unfinished WQE once more */
	bool timed_out;	  /* the next resend does not ask congestion control */
	bool waits;	  /* counted among those that wait for the peer, see liveness.h */
	struct mt_spray spray;
	struct mt_cc cc;
	struct mt_rtt rtt;
	struct mt_rto_limits limits;
};

/* An error in a request; its NAK waits until every earlier request is complete. */
struct mt_pending_nak {
	uint64_t msn;
	uint8_t syndrome; /* of the NAK; 0: none */
	uint8_t recv;	  /* enum rd_wc_status of its receive; 0: flushed as the others */
};

/* The half of a QP that receives. */
struct mt_responder {
	struct mt_rx_window window;
	struct mt_imm_stash stash;
	struct mt_rq rq;
	struct mt_sacker sacker;
	struct mt_pending_nak pending_nak;
	uint64_t msn;	     /* messages complete in order */
	uint64_t rcvd_bytes; /* nominal, each PSN once */
	uint32_t ack_ev;     /* of the last packet that came in, ... */
	uint8_t ack_port;    /* ... and its plane */
	bool ack_due;	     /* a transport ACK or NAK is to be sent */
	bool ack_lost_hint;  /* an earlier answer seems not to have arrived */
	bool nak_due;	     /* the ACK reports the NAK in `pending_nak` */
};

/* Of an atomic, beside its WQE. */
struct mt_operands {
	uint8_t payload[MW_ATOMIC_BYTES]; /* as it is sent */
	struct rd_sge result;		  /* where what was there goes */
};

struct mt_local_sq;

/* What a QP with extensions has besides, behind its queues. */
struct mt_qp_ext {
	struct mt_operands *operands;	/* by slot of the send queue, with MW_EXT_ATOMIC */
	struct mt_rd_atomic *rd_atomic; /* NULL: neither READs nor atomics; see qp_ext.h */
	struct mt_negotiation negotiation;
	struct mt_rnr rnr;
	struct mt_in_order in_order;
	struct mt_local_sq *local_sq; /* NULL: none were posted; see qp_ext.h */
	bool binds;		      /* windows may be bound on it */
	bool invalidates;	      /* a SEND that came and is not complete may invalidate one */
};

struct mt_qp {
	struct mt_engine *engine;
	void *user;
	uint32_t qpn;
	enum rd_qp_state state;
	struct rd_qp_attr attr;
	struct mt_qp_cap cap;
	struct mb_link ready;	     /* may have data to send */
	struct mb_link control;	     /* has a pending SACK or transport ACK */
	struct mb_link completion;   /* has something for mt_engine_poll */
	struct mb_link ev_set_user;  /* on ev_set->users */
	struct mb_link window_owner; /* holds windows of the pool */
	struct mb_timer timer;
	struct mt_ev_set *ev_set; /* NULL before RTR */
	struct mt_peer *peer;	  /* NULL before RTR */
	struct mt_requester req;
	struct mt_responder rsp;
	uint8_t failure; /* enum rd_wc_status that the QP event reports */
	bool failure_unreported;
	bool last_wqe_unreported;
	bool drain_unreported; /* in SQD: that nothing is left of what had begun */
	bool used;	       /* its windows were, since the clock of qp_memory.c came by */
	uint8_t response_bit;  /* MW_RESPONSE_BIT: it carries answers, see qp_ext.h; else 0 */
	struct mt_qp_ext *ext; /* NULL: plain MRC */
};

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
bool mt_qp_ensure_stash(struct mt_qp *qp, uint64_t now_ns);
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
/* mt_qp_queue_for_tx puts the QP among those that may have data to send. */
void mt_qp_queue_for_tx(struct mt_qp *qp);
/* mt_qp_queue_for_poll puts the QP among those that mt_engine_poll asks. */
void mt_qp_queue_for_poll(struct mt_qp *qp);
/* mt_qp_arm sets the QP's timer for its next deadline; an earlier wake-up may stay set. */
void mt_qp_arm(struct mt_qp *qp);
/* mt_qp_nack_backoff_ns returns how long a NACKed packet waits at least: two RTTs, or the floor of
 * probes. */
uint64_t mt_qp_nack_backoff_ns(const struct mt_qp *qp);
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

#endif
