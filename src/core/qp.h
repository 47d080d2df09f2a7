/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp.h - a queue pair: a composition of modules that do not know each other.
 *
 * requester.c turns WQEs into packets, responder.c takes the peer's packets, completer.c takes
 * what the peer says of ours; qp.c is the life of the whole. Each module below (window, spray,
 * retry, ...) has its own file and is used by exactly one or two of those four.
 */
#ifndef SOFTMRC_CORE_QP_H
#define SOFTMRC_CORE_QP_H

#include "core/agree.h"
#include "core/cc.h"
#include "core/control.h"
#include "core/engine.h"
#include "core/in_order.h"
#include "core/path_set.h"
#include "core/recv_queue.h"
#include "core/retry.h"
#include "core/rnr.h"
#include "core/rtt.h"
#include "core/rx_window.h"
#include "core/sack.h"
#include "core/spray.h"
#include "core/tx_window.h"
#include "core/wimm.h"
#include "core/wq.h"

/*
 * Of functions that only QPs with extensions call: the compiler lays the way of a WRITE out as if
 * they were not there, in straight lines and with its registers free.
 */
#define MT_ASIDE __attribute__((cold))

/* The half of a QP that sends. What every packet needs comes first. */
struct mt_requester {
	struct mt_sq sq;
	struct mt_tx_window window;
	struct mt_retry retry;
	uint64_t post_psn;   /* first PSN of the next WR to be posted */
	uint64_t sent_bytes; /* nominal, each PSN once */
	uint32_t rcvd_units; /* newest rcvd_bytes of a SACK */
	uint16_t rqmsn;	     /* WRITE_WITH_IMM posted so far */
	uint16_t wimm_inflight;
	uint8_t mpr;	  /* the window now, units of 128 PSNs; see mt_completer_sack */
	bool repeat_last; /* send the last packet of the oldest unfinished WQE once more */
	bool timed_out;	  /* the next resend does not ask congestion control */
	bool waits;	  /* counted among those that wait for the peer, see presence.h */
	struct mt_spray spray;
	struct mt_cc cc;
	struct mt_rtt rtt;
	struct mt_retry_limits limits;
};

/* An error in a request, held back until every earlier request is complete. */
struct mt_refusal {
	uint64_t msn;
	uint8_t syndrome; /* of the NAK; 0: none */
	uint8_t recv;	  /* enum mt_wc_status of its receive; 0: flushed as the others */
};

/* The half of a QP that receives. */
struct mt_responder {
	struct mt_rx_window window;
	struct mt_wimm_stash stash;
	struct mt_rq rq;
	struct mt_sacker sacker;
	struct mt_refusal refusal;
	uint64_t msn;	     /* messages complete in order */
	uint64_t rcvd_bytes; /* nominal, each PSN once */
	uint32_t ack_ev;     /* of the last packet that came in, ... */
	uint8_t ack_port;    /* ... and its plane */
	bool ack_due;	     /* a transport ACK or NAK is to be sent */
	bool ack_unheard;    /* an earlier answer seems not to have arrived */
	bool refused;	     /* the NAK of `refusal` is what the ACK says */
};

/* Of an atomic, beside its WQE. */
struct mt_operands {
	uint8_t payload[MW_ATOMIC_BYTES]; /* as it is sent */
	struct mt_sge result;		  /* where what was there goes */
};

struct mt_locals;

/* What a QP with extensions has besides, behind its queues. */
struct mt_qp_ext {
	struct mt_operands *operands;	/* by slot of the send queue, with MW_EXT_ATOMIC */
	struct mt_responses *responses; /* NULL: neither READs nor atomics; see responses.h */
	struct mt_agree agree;
	struct mt_rnr rnr;
	struct mt_in_order in_order;
	struct mt_locals *locals; /* NULL: none were posted; see local.h */
	bool binds;		  /* windows may be bound on it */
	bool invalidates;	  /* a SEND that came and is not complete may invalidate one */
};

struct mt_qp {
	struct mt_engine *engine;
	void *user;
	uint32_t qpn;
	enum mt_qp_state state;
	struct mt_qp_attr attr;
	struct mt_qp_cap cap;
	struct mb_link ready;	   /* may have data to send */
	struct mb_link control;	   /* owes a SACK or a transport ACK */
	struct mb_link completion; /* has something for mt_engine_poll */
	struct mb_link path_user;  /* on paths->users */
	struct mb_link holder;	   /* holds windows of the pool */
	struct mb_timer timer;
	struct mt_path_set *paths; /* NULL before RTR */
	struct mt_peer *peer;	   /* NULL before RTR */
	struct mt_requester req;
	struct mt_responder rsp;
	uint8_t failure; /* enum mt_wc_status that the QP event reports */
	bool failure_unreported;
	bool last_wqe_unreported;
	bool drain_unreported; /* in SQD: that nothing is left of what had begun */
	bool used;	       /* its windows were, since the clock of memory.c came by */
	uint8_t twin;	       /* MW_OF_RESPONSES: it carries answers, see responses.h; else 0 */
	struct mt_qp_ext *ext; /* NULL: plain MRC */
};

static inline bool mt_qp_may_receive(const struct mt_qp *qp)
{
	return qp->state == MT_QPS_RTR || qp->state == MT_QPS_RTS || qp->state == MT_QPS_SQD;
}

static inline bool mt_qp_may_send(const struct mt_qp *qp)
{
	return qp->state == MT_QPS_RTS || qp->state == MT_QPS_SQD;
}

/* mt_qp_dynamic_mpr says whether windows follow what SACKs offer. REQ(req.mpr.dynamic) */
bool mt_qp_dynamic_mpr(const struct mt_qp *qp);

/* mt_qp_has says whether both ends know an extension. */
static inline bool mt_qp_has(const struct mt_qp *qp, enum mw_ext ext)
{
	return qp->ext && qp->ext->agree.both & ext;
}

/* mt_qp_unfinished says whether the requester waits for anything from its peer. */
static inline bool mt_qp_unfinished(const struct mt_qp *qp)
{
	return !mt_tx_empty(&qp->req.window) || qp->req.sq.done < qp->req.sq.next ||
	       (qp->ext && qp->ext->agree.asked);
}

/* mt_qp_begun says whether a send WR of which a packet was sent is not complete. */
static inline bool mt_qp_begun(const struct mt_qp *qp)
{
	const struct mt_sq *sq = &qp->req.sq;

	return sq->done < sq->next ||
	       (sq->next < sq->tail && mt_sq_at(sq, sq->next)->first_psn < qp->req.window.next);
}

/*
 * mt_qp_take_* see to it that the QP has the memory named, and that it keeps it for a while; false:
 * the pool is empty. mt_qp_give_memory gives all of it back, whatever it holds.
 */
bool mt_qp_get_records(struct mt_qp *qp, uint64_t now_ns);
static inline bool mt_qp_take_records(struct mt_qp *qp, uint64_t now_ns)
{
	qp->used = true;
	return qp->req.window.recs || mt_qp_get_records(qp, now_ns);
}
bool mt_qp_take_bitmaps(struct mt_qp *qp, uint64_t now_ns);
bool mt_qp_take_stash(struct mt_qp *qp, uint64_t now_ns);
/* mt_qp_take_waiter returns memory for a packet that is to wait; NULL: there are enough, or
 * none. */
struct mt_waiter *mt_qp_take_waiter(struct mt_qp *qp, uint32_t len);
void mt_qp_give_waiter(struct mt_qp *qp, struct mt_waiter *w);
/*
 * mt_qp_resize changes what the responder may have in its window (PSNs) and its stash, keeping what
 * is in them, for which the limits stay large enough; false: memory, and nothing has changed.
 */
bool mt_qp_resize(struct mt_qp *qp, uint32_t limit, uint32_t wimm_limit);
void mt_qp_give_memory(struct mt_qp *qp);
/* mt_qp_wake puts the QP among those that may have data to send. */
void mt_qp_wake(struct mt_qp *qp);
/* mt_qp_completes puts the QP among those that mt_engine_poll asks. */
void mt_qp_completes(struct mt_qp *qp);
/* mt_qp_arm sets the QP's timer for its next deadline; an earlier wake-up may stay set. */
void mt_qp_arm(struct mt_qp *qp);
/* mt_qp_hold_ns returns how long a refused packet waits at least: two RTTs, or the floor of
 * probes. */
uint64_t mt_qp_hold_ns(const struct mt_qp *qp);
/* mt_qp_ask asks a peer that has not spoken yet what it knows beyond MRC. */
void mt_qp_ask(struct mt_qp *qp, uint64_t now_ns);
/* mt_qp_begin_sending and _receiving begin a half of a QP with the PSN and limits in `a`. */
void mt_qp_begin_sending(struct mt_qp *qp, const struct mt_qp_attr *a, uint64_t now_ns);
void mt_qp_begin_receiving(struct mt_qp *qp, const struct mt_qp_attr *a);
/* mt_qp_rest ends the watch over the peer's answers. */
void mt_qp_rest(struct mt_qp *qp);
/* mt_qp_tick does what the QP's timer fired for. */
void mt_qp_tick(struct mt_qp *qp, uint64_t now_ns);
/*
 * mt_qp_fail moves the QP to ERR by itself: the oldest unfinished send WR gets `oldest` (flushed,
 * when the fault lies in what the peer asked for), all behind it and the receives are flushed; a QP
 * event reports `why`.
 */
void mt_qp_fail(struct mt_qp *qp, enum mt_wc_status oldest, enum mt_wc_status why);
/*
 * mt_qp_retire_path tells the path set, the counters and whoever polls that a path is bad, with all
 * EVs that lead over it; mt_qp_path_revived that one which the set has revived is well again.
 */
void mt_qp_path_revived(struct mt_qp *qp, uint16_t path, uint64_t now_ns);
void mt_qp_retire_path(struct mt_qp *qp, uint16_t path, uint64_t now_ns, enum mt_ev_cause cause);

/* ---- the halves ---- */

enum mt_next {
	MT_NEXT_SENT,	 /* *desc is filled in */
	MT_NEXT_BLOCKED, /* nothing to send, or a window is closed */
	MT_NEXT_NO_ROOM, /* no port with room has a usable path */
};

enum mt_next mt_requester_next(struct mt_qp *qp, uint64_t now_ns, uint32_t free_ports,
			       struct mt_tx_desc *desc);

struct mt_rx {
	uint64_t now_ns;
	const struct mt_rx_meta *meta;
	const struct mw_packet *pkt;
	const void *payload;
};

void mt_responder_data(struct mt_qp *qp, const struct mt_rx *rx);
void mt_responder_probe(struct mt_qp *qp, const struct mt_rx *rx);
void mt_completer_sack(struct mt_qp *qp, const struct mt_rx *rx);
void mt_completer_nack(struct mt_qp *qp, const struct mt_rx *rx);
void mt_completer_ack(struct mt_qp *qp, const struct mt_rx *rx);
/* mt_completer_answered takes that answers to requests of the QP came; see responses.h. */
void mt_completer_answered(struct mt_qp *qp, uint64_t now_ns);
/* mt_completer_implied takes that the peer has all messages below msn, of which all was sent. */
void mt_completer_implied(struct mt_qp *qp, uint64_t msn, uint64_t now_ns);

#endif
