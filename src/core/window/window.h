/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - the PSNs of a QP: what its requester has sent, what its responder has
 * received, and the timers and packets that follow from both.
 */
#ifndef SOFTMRC_CORE_WINDOW_WINDOW_H
#define SOFTMRC_CORE_WINDOW_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/list.h"
#include "core/types.h"
#include "wire/packet.h"

/*
 * Send window: what a requester knows of each PSN it has sent.
 *
 * A ring of 16-byte records, one for each PSN of the window [una, next): when it was last sent, on
 * which EV, for which WQE, and whether it is outstanding, lost or received. A PSN that the
 * responder NACKed stays in back-off for a while before it counts as lost, see
 * mt_tx_window_nack_backoff. The record of a PSN stays readable after it was acknowledged until the
 * ring comes round, because a late SACK may still name it as its trigger.
 */

/* The map of a SACK says of so many PSNs whether they were received. */
#define MT_SACK_PSNS 64u

enum mt_tx_state {
	MT_TX_UNUSED,
	MT_TX_OUTSTANDING,   /* sent, nothing known */
	MT_TX_LOST,	     /* known lost, to be sent again */
	MT_TX_BACKOFF,	     /* NACKed; becomes LOST when its back-off ends */
	MT_TX_BACKOFF_SHORT, /* trimmed at the last hop; likewise, but never waits long */
	MT_TX_BACKOFF_PATH,  /* trimmed too often on the way; likewise, for a round trip */
	MT_TX_RECEIVED,	     /* the responder has it */
};

struct mt_tx_rec {
	uint64_t sent_ns; /* last time sent */
	uint16_t slot;	  /* of its WQE in the send queue */
	uint16_t ev;	  /* index in the EV set, of the last time sent */
	uint16_t nominal; /* bytes it counts for in congestion control */
	uint8_t state;	  /* enum mt_tx_state */
	uint8_t tries;	  /* times sent again, stops at 255 */
};
/* REQ(mem.records) */
_Static_assert(sizeof(struct mt_tx_rec) == 16, "one record is a quarter of a cache line");

struct mt_tx_window {
	struct mt_tx_rec *recs;	 /* NULL until something is sent */
	uint32_t size;		 /* records, a power of two */
	uint32_t lost;		 /* records that are LOST */
	uint32_t outstanding;	 /* records that are OUTSTANDING */
	uint64_t una;		 /* lowest PSN not known to be received */
	uint64_t next;		 /* next new PSN */
	uint64_t lost_from;	 /* no PSN below this is LOST */
	uint64_t backoff_from;	 /* no PSN below this is in back-off, of either kind */
	uint64_t backoff_due_ns; /* when the first of them becomes LOST; while n_backoff > 0 */
	uint32_t n_backoff;	 /* records that are */
	uint32_t search_from;	 /* low half of the PSN where a search for losses is to go on */
	uint64_t sacked;	 /* of MT_SACK_PSNS from sacked_base on those that SACKs named */
	uint64_t sacked_base;
};

static inline struct mt_tx_rec *mt_tx_rec(const struct mt_tx_window *w, uint64_t psn)
{
	return &w->recs[psn & (w->size - 1)];
}

/* mt_tx_has_rec says whether psn was sent and its record still belongs to it. */
static inline bool mt_tx_has_rec(const struct mt_tx_window *w, uint64_t psn)
{
	return w->recs && psn < w->next && w->next - psn <= w->size &&
	       mt_tx_rec(w, psn)->state != MT_TX_UNUSED;
}

static inline bool mt_tx_is_empty(const struct mt_tx_window *w)
{
	return w->una == w->next;
}

void mt_tx_window_init(struct mt_tx_window *w, uint64_t first_psn);
/* mt_tx_window_attach gives the window its ring of `size` records, while it is empty. */
void mt_tx_window_attach(struct mt_tx_window *w, void *mem, uint32_t size);
/* mt_tx_window_sent takes PSN next into the window; there must be room for it. */
void mt_tx_window_sent(struct mt_tx_window *w, uint64_t now_ns, uint16_t slot, uint16_t ev,
		       uint16_t nominal);
/* mt_tx_window_resent turns a LOST record back into an OUTSTANDING one. */
void mt_tx_window_resent(struct mt_tx_window *w, uint64_t psn, uint64_t now_ns, uint16_t ev);
/* mt_tx_window_lost marks an OUTSTANDING record LOST. */
void mt_tx_window_lost(struct mt_tx_window *w, uint64_t psn);

static inline bool mt_tx_in_backoff(uint8_t state)
{
	return state >= MT_TX_BACKOFF && state <= MT_TX_BACKOFF_PATH;
}

/*
 * mt_tx_window_nack_backoff puts an OUTSTANDING record into a state of back-off, so that it is not
 * sent again before some time has passed since it was: unit_ns, twice that after the second time it
 * was sent, and so on, up to 16 times; no further than twice if SHORT. On a path it is always half
 * a unit: the queue is empty by then, and other EVs were tried, while the whole window waits behind
 * this one packet. Up to as much again is added by a hash of the PSN, so that packets which were
 * NACKed together do not come back together. REQ(req.loss.nack-wait)
 */
void mt_tx_window_nack_backoff(struct mt_tx_window *w, uint64_t psn, uint64_t unit_ns,
			       enum mt_tx_state state);
/* mt_tx_window_end_backoff turns records whose back-off ends by now_ns into LOST ones. */
void mt_tx_window_end_backoff(struct mt_tx_window *w, uint64_t now_ns, uint64_t unit_ns);
/* mt_tx_window_received marks psn in [una, next) received and returns what it was before. */
enum mt_tx_state mt_tx_window_received(struct mt_tx_window *w, uint64_t psn);
/* mt_tx_window_advance moves una over what is received. */
void mt_tx_window_advance(struct mt_tx_window *w);
/* mt_tx_window_oldest_lost finds the lowest LOST PSN; false when none is.
 * REQ(req.rtx.oldest-first) */
bool mt_tx_window_oldest_lost(struct mt_tx_window *w, uint64_t *psn);

/*
 * When a hole is a loss.
 *
 * A dead path never acknowledges anything again, and a round over the EVs is wider than the 64 PSNs
 * of a SACK; so neither "a later packet of the same EV arrived" nor "n later packets arrived" will
 * do. The rule is time: a PSN is lost when a SACK says that it is missing, and the packet that
 * caused this SACK was sent, on whatever EV, at least one reorder window after it. A packet sent
 * later on the same EV proves it sooner, since a path keeps its order within a traffic class.
 *
 * A SACK says of 64 PSNs, and of the one after cack_psn, whether they are there; and where its map
 * holds as many PSNs as ooo_count, of all others that they are not. Of others it says nothing, and
 * nothing follows. It describes the responder when it was made, so one that was overtaken proves no
 * less: its trigger's send time is compared, not its time of arrival. REQ(req.loss.explicit)
 */

/* A SACK, in 64-bit PSNs, with what the sender knows of its trigger. */
struct mt_loss_report {
	uint64_t expected;   /* lowest PSN the responder does not have */
	uint64_t base;	     /* first of the 64 PSNs of the map */
	bool complete;	     /* the map holds everything received above expected */
	bool trigger_first;  /* it was no retransmission: same class as first transmissions */
	uint16_t trigger_ev; /* index in the EV set */
	uint64_t trigger_sent_ns;
};

/* A SACK may cost so many records at most that it does not find lost. */
#define MT_LOSS_SEARCH 256u

/*
 * mt_loss_next finds the lowest PSN from *psn on that the report proves lost; false when there is
 * none, or when *left records were looked at in vain, with *psn where the search is to go on. What
 * the report says is received must be marked so before. Changes nothing in the window.
 * REQ(req.loss.search-bound)
 */
bool mt_loss_next(const struct mt_tx_window *w, const struct mt_loss_report *r, uint64_t window_ns,
		  uint64_t *psn, uint32_t *left);

/*
 * Retransmission timeout and tail probes: what to do about silence.
 *
 * Loss is normally found by SACKs, see above. Two timers work when none come while something is
 * unfinished. After about two RTTs in which nothing was sent or heard a reliability probe asks the
 * responder what it has; up to three times, each after twice the wait, and again from the start
 * when an answer was heard; each time on more EVs at once. A peer that answers, and of what is sent
 * again has nothing, is asked more and more rarely: something on the way takes probes and not this
 * packet. The ACK timeout comes last: 1.024 us * 2^timeout, `linear` times at that interval, then
 * doubling `exp` times; each sends the oldest packet again. When they are used up the QP fails.
 * Progress starts all of it again. REQ(req.retry.linear-exp) REQ(req.probe.in-vain)
 *
 * A peer that lately took longer than the timeout is given that time: what goes again sooner has
 * mostly arrived. Meanwhile it is probed more than three times, so that a silence that ends is
 * noticed soon after. REQ(req.retry.slow-peer)
 */

/* So many probes at once are enough to find one path in dozens within a few rounds. */
#define MT_RTO_PROBES_MAX 16u
/* So many answers without progress are no chance: where most paths are dead it takes a few. */
#define MT_RTO_IN_VAIN 4u
/* In place of the time after which to probe, while more is about to be sent. */
#define MT_RTO_NO_PROBE UINT64_MAX

struct mt_rto_limits {
	uint64_t rto_ns;      /* the first timeout, that was agreed on ... */
	uint64_t patience_ns; /* ... and no earlier than this, of core/ev/slowest.h */
	uint8_t linear;
	uint8_t exp; /* RD_RETRY_EXP_FOREVER: no end */
};

struct mt_rto {
	uint64_t step_ns; /* of the last timeout or progress, or of the first packet after idling */
	uint64_t probe_ns; /* from when the waits for probes count: step_ns, or an answer since */
	uint32_t timeouts; /* since progress */
	uint8_t probes;	   /* since probe_ns */
	uint8_t probe_rounds; /* of probes since progress, stops at 255 */
	uint8_t answers;      /* of these rounds were answered, stops at 255 */
	bool armed;	      /* something is unfinished */
};

enum mt_rto_action {
	MT_RTO_WAIT,
	MT_RTO_PROBE,
	MT_RTO_RESEND,
	MT_RTO_GIVE_UP,
};

/*
 * mt_rto_start notes a data packet: silence, as probes understand it, begins after the last one.
 * Says whether the watch begins with it, and with that a deadline.
 */
bool mt_rto_start(struct mt_rto *r, uint64_t now_ns);
/* mt_rto_restart restarts the watch; with nothing unfinished it ends. */
void mt_rto_restart(struct mt_rto *r, uint64_t now_ns, bool unfinished);
/* mt_rto_exclude says that for so long nothing could be expected: that time does not count. */
void mt_rto_exclude(struct mt_rto *r, uint64_t ns);
/* mt_rto_probe_answered notes the answer to a probe: the peer is there, and more probes are worth
 * it. */
void mt_rto_probe_answered(struct mt_rto *r, uint64_t now_ns);
/* mt_rto_probe_fanout returns on how many EVs the probe that is due now goes: 1, 2, 4 ..
 * MT_RTO_PROBES_MAX. */
uint32_t mt_rto_probe_fanout(const struct mt_rto *r);
/* mt_rto_deadline returns when mt_rto_expire must be asked, UINT64_MAX when nothing is watched. */
uint64_t mt_rto_deadline(const struct mt_rto *r, const struct mt_rto_limits *l, uint64_t probe_ns);
/* mt_rto_expire takes at most one step at now, however late it is asked, and says which. */
enum mt_rto_action mt_rto_expire(struct mt_rto *r, const struct mt_rto_limits *l, uint64_t probe_ns,
				 uint64_t now_ns);

/*
 * RNR: a requester whose peer has no receive posted.
 *
 * The peer NACKs the packets of such a message one by one, each with the time to wait. The first
 * of them begins a round: until its time is over nothing is sent that lies at or behind the lowest
 * PSN refused. What was under way when the round began belongs to it. After rnr_retry rounds for
 * the oldest unfinished message without progress in between, its receiver will not be waited for.
 *
 * When the wait is over that lowest packet goes alone, and two for each from there on that is known
 * to be accepted. A peer may post its receives one by one, and share them among many QPs: who sends
 * all again after each wait has all but one refused. REQ(ext.rnr.wait) REQ(ext.rnr.resume)
 * REQ(ext.rnr.retry)
 */

#define MT_RNR_FOREVER 7u

struct mt_rnr {
	uint64_t psn;	   /* lowest NACKed of the last round */
	uint64_t began_ns; /* the last round */
	uint64_t until_ns; /* when the last round ends, or ended; 0: there was none */
	uint64_t una;	   /* lowest PSN without an answer when it began */
	uint8_t tries;	   /* rounds for the oldest message without progress */
	bool waits;	   /* a round goes on */
};

/*
 * What was NACKed: its place in the window, when it was sent, and how long its peer asks to wait.
 */
struct mt_rnr_nack {
	uint64_t psn, una;
	uint64_t sent_ns, now_ns;
	uint64_t wait_ns;
	bool oldest; /* it belongs to the oldest unfinished message */
};

/* mt_rnr_nacked notes a NACK; false: `retries` rounds are over, and this would be another. */
bool mt_rnr_nacked(struct mt_rnr *r, const struct mt_rnr_nack *f, uint8_t retries);
/* mt_rnr_blocks says whether psn may not be sent now, where una is the lowest without an answer. */
static inline bool mt_rnr_blocks(const struct mt_rnr *r, uint64_t una, uint64_t psn)
{
	uint64_t accepted = una > r->psn ? una - r->psn : 0;

	if (r->until_ns == 0 || psn < r->psn)
		return false;
	return r->waits || psn - r->psn > 2 * accepted;
}
/* mt_rnr_end_wait ends the round when its time has come, and says whether it did. */
bool mt_rnr_end_wait(struct mt_rnr *r, uint64_t now_ns);
/* mt_rnr_wait_ns returns the time that a 5-bit code stands for. REQ(ext.rnr.timer) */
uint64_t mt_rnr_wait_ns(uint8_t code);

/*
 * Negotiation: what both ends of a connection know beyond MRC.
 *
 * A QP that offers extensions begins with a reliability probe that says which; the answer says what
 * the peer knows, and how much it has room for. Whatever a probe or its answer leaves at zero, as
 * MRC has it, is nothing. Until it has come nothing else is sent. REQ(ext.agreement)
 */

struct mt_negotiation {
	uint8_t offered;    /* enum mw_ext: what we know */
	uint8_t negotiated; /* what the peer knows as well */
	bool done;	    /* the peer has answered */
	bool requested;	    /* work waits for its answer */
};

/* mt_negotiation_offer returns the byte for our probes and answers. */
static inline uint8_t mt_negotiation_offer(const struct mt_negotiation *a)
{
	return (uint8_t)(MW_EXT_VERSION | a->offered);
}

/* mt_negotiation_rx takes the byte of the peer; what it knows does not change any more. */
static inline void mt_negotiation_rx(struct mt_negotiation *a, uint8_t said)
{
	if (a->negotiated == 0 && (said & MW_EXT_VERSION_MASK) == MW_EXT_VERSION)
		a->negotiated = (uint8_t)(a->offered & said);
	mb_assert((a->negotiated & ~a->offered) == 0);
}

/* mt_negotiation_done says that it has answered; true: for the first time. */
static inline bool mt_negotiation_done(struct mt_negotiation *a)
{
	bool first = !a->done;

	a->done = true;
	a->requested = false;
	return first;
}

/*
 * Receive window: which PSNs a responder has, and which of them end a message.
 *
 * Two bitmaps over the window [expected, expected + MPR): received, and ends-a-message. When the
 * PSN at the window's start arrives, the start moves over everything that is there already, and
 * the message ends it passes are the messages complete in order. While nothing is received above
 * expected the bitmaps are empty and need not be there.
 */

struct mt_rx_window {
	uint64_t *received; /* NULL: not attached */
	uint64_t *ends;
	uint64_t first;	     /* PSN with which the connection began */
	uint64_t expected;   /* ePSN: lowest PSN not received; cack_psn is the one before */
	uint64_t top;	     /* one above the highest PSN received; expected when there is none */
	uint64_t unreported; /* no PSN below this was received without having been in a SACK */
	uint64_t walk;	     /* where the next look back over old holes starts */
	uint32_t size;	     /* bits, a power of two */
	uint32_t limit;	     /* PSNs that may be ahead: MPR x 128 */
	uint32_t ahead;	     /* received above expected: ooo_count */
	uint32_t wide;	     /* SACKs so far that could not name everything */
};

/* What a PSN is to the window. */
enum mt_rx_place {
	MT_RX_NEW,	    /* in the window, not received */
	MT_RX_DUP_BEHIND,   /* received, below expected */
	MT_RX_DUP_AHEAD,    /* received, in the window */
	MT_RX_BEFORE_START, /* from before the connection began: of an earlier life of the QP */
	MT_RX_FAR,	    /* ahead of the window */
};

/* mt_rx_window_size returns the bytes of both bitmaps for a window of `limit` PSNs. */
size_t mt_rx_window_size(uint32_t limit);
/* mt_rx_window_init begins a window without bitmaps. */
void mt_rx_window_init(struct mt_rx_window *w, uint32_t limit, uint64_t first_psn);
/* mt_rx_window_attach gives it mt_rx_window_size bytes for them; needed before anything is
 * taken. */
void mt_rx_window_attach(struct mt_rx_window *w, void *mem);
/*
 * mt_rx_window_resize gives the window another limit, at least what it holds already, and memory
 * for it: mt_rx_window_size(limit) bytes, or NULL while nothing lies above expected. What it held
 * before is the caller's again.
 */
void mt_rx_window_resize(struct mt_rx_window *w, void *mem, uint32_t limit);
/* mt_rx_window_place classifies psn, in 64 bits. REQ(rsp.window.range) */
enum mt_rx_place mt_rx_window_place(const struct mt_rx_window *w, uint64_t psn);
/* mt_rx_window_record records a NEW psn and returns how many messages became complete in order. */
uint32_t mt_rx_window_record(struct mt_rx_window *w, uint64_t psn, bool ends_message);
/*
 * mt_rx_window_report chooses the 64 PSNs that the next SACK describes, and marks them reported.
 * The window of PSNs may be 500 times wider than a SACK. When everything ahead of expected fits,
 * it starts there; otherwise SACKs alternate between the newest PSNs not yet reported and a walk
 * over all older ones, so that every hole is named again and again, whatever SACK is lost.
 * REQ(rsp.sack.bitmap-slides)
 */
uint64_t mt_rx_window_report(struct mt_rx_window *w, uint64_t *base);

/*
 * SACKs: when a responder sends one, and what is in it.
 *
 * Five triggers: enough bytes since the last one, AckReq, an ECN mark, a retransmission, a
 * reliability probe. The first, second and fourth ask for state, so that several become one SACK;
 * the other two must name their packet and are queued one by one. REQ(rsp.sack.coalesce)
 */

/* A packet counts at least this much towards the byte trigger, so that small ones are not
 * forgotten. */
#define MT_SACK_PACKET_MIN 1024u

/* What a SACK or NACK reflects of the packet that caused it. */
struct mt_trigger {
	uint64_t psn;
	uint64_t rx_ns; /* when it came, for the service time; 0: it brought no stamp */
	uint32_t ev;
	uint16_t tx_timestamp;
	uint16_t probe_id;
	uint8_t port; /* it came in on; the answer leaves on the same plane */
	uint8_t mark; /* enum mw_path_mark */
	bool rtx;
	bool probe;	  /* it was a reliability probe */
	bool answer_lost; /* it suggests that an earlier answer did not arrive */
};

struct mt_sacker {
	struct mt_trigger trigger; /* the newest packet that asked, while due */
	uint32_t bytes;		   /* since the last SACK */
	bool due;
	bool asked;	/* by AckReq, an rtx or a copy, not by bytes alone */
	bool peer_asks; /* it has asked before the end of a message: it needs no other trigger */
};

/*
 * mt_sacker_packet counts an accepted or repeated data packet, and says whether a SACK is due now;
 * then the caller makes the packet the trigger. `asked`: it wants one by AckReq or as an rtx.
 */
bool mt_sacker_packet(struct mt_sacker *s, uint32_t payload, bool asked, uint32_t threshold);
/*
 * mt_sacker_is_due says whether the SACK that was due is so still: packets of a burst that overtook
 * others may be in order again, so that fewer bytes than `threshold` are no reason any more.
 */
bool mt_sacker_is_due(struct mt_sacker *s, uint32_t threshold);
/* mt_sacker_sent starts counting again. */
void mt_sacker_sent(struct mt_sacker *s);

/*
 * mt_sack_build writes the SETH for a SACK caused by t. rcvd_bytes is the nominal count of new
 * bytes so far, mpr the window in units of 128 PSNs. REQ(wire.seth.layout)
 * REQ(rsp.sack.reflect-ev) REQ(rsp.sack.reflect-time) REQ(rsp.sack.mark)
 */
void mt_sack_build(struct mt_rx_window *w, const struct mt_trigger *t, uint64_t rcvd_bytes,
		   uint8_t mpr, struct mw_seth *seth);

/*
 * Stash of immediates that arrived before earlier messages were complete.
 *
 * A WRITE_WITH_IMM completes at the responder when all earlier requests are complete. Its
 * immediate may arrive long before that and is stashed under its RQMSN. The stash has as many
 * places as the requester may have WRITE_WITH_IMM in flight. REQ(rsp.wimm.stash)
 */

struct mt_imm {
	uint64_t psn; /* of the packet that carried it */
	uint64_t msn;
	uint32_t imm;
	uint32_t byte_len;
	bool solicited;
	bool valid;
};

struct mt_imm_stash {
	struct mt_imm *slots; /* NULL: not attached */
	uint32_t size;	      /* places, a power of two */
	uint32_t limit;	      /* in-flight limit: max_wimm_dest */
	uint32_t filled;      /* places in use */
	uint64_t next;	      /* RQMSN of the next one to deliver */
};

size_t mt_imm_stash_size(uint32_t limit);
/* mt_imm_stash_init begins a stash without places. */
void mt_imm_stash_init(struct mt_imm_stash *st, uint32_t limit);
/* mt_imm_stash_attach gives it mt_imm_stash_size bytes for them; needed before anything is put. */
void mt_imm_stash_attach(struct mt_imm_stash *st, void *mem);
/*
 * mt_imm_stash_resize gives the stash another limit, at least mt_imm_stash_span, and memory:
 * mt_imm_stash_size(limit) bytes, or NULL while it is empty. What it held before is the caller's
 * again.
 */
void mt_imm_stash_resize(struct mt_imm_stash *st, void *mem, uint32_t limit);
/* mt_imm_stash_span returns the least limit that holds what is stashed. */
uint32_t mt_imm_stash_span(const struct mt_imm_stash *st);
/* mt_imm_stash_insert stashes w under its 16-bit rqmsn; false: the requester has more in flight
 * than agreed. */
bool mt_imm_stash_insert(struct mt_imm_stash *st, uint16_t rqmsn, const struct mt_imm *w);
/* mt_imm_stash_pop removes the next one if its packet lies below expected and its message below
 * msn. */
bool mt_imm_stash_pop(struct mt_imm_stash *st, uint64_t expected, uint64_t msn, struct mt_imm *w);

/*
 * Messages in order: their ends, which wait until all before them is placed.
 *
 * Packets of an MRC QP are placed as they come. Programs made for RC watch memory: one message
 * brings data, and the end of it, or a short message behind it, is the flag. So on QPs that keep
 * this order a LAST or ONLY packet of a WRITE that comes ahead of a hole is buffered, with its
 * bytes, and placed when every PSN below its own is. FIRST and MIDDLE packets need no order among
 * themselves. As many wait as MT_IN_ORDER_MAX; others get a NACK and come again.
 * REQ(ext.order.wait) REQ(ext.order.bound)
 */

/* A megabyte of full packets: more than the losses of a busy QP let wait. */
#define MT_IN_ORDER_MAX 256u

/* A packet that waits; its bytes follow it in memory. */
struct mt_buffered {
	struct mb_link link;
	uint64_t psn;
	uint64_t msn;
	uint64_t va;
	uint32_t rkey;
	uint32_t len;
	bool bytes; /* false where packets carry no payload */
};

struct mt_in_order {
	struct mb_link entries; /* by PSN, lowest first */
	uint32_t count;
};

static inline size_t mt_buffered_size(uint32_t len)
{
	return sizeof(struct mt_buffered) + len;
}

static inline void *mt_buffered_bytes(struct mt_buffered *w)
{
	return w + 1;
}

void mt_in_order_init(struct mt_in_order *o);
/* mt_in_order_insert adds a packet whose PSN is not there. */
void mt_in_order_insert(struct mt_in_order *o, struct mt_buffered *w);
/*
 * mt_in_order_pop removes the lowest packet if its PSN is below `expected` and its MSN below
 * `below`; else NULL.
 */
struct mt_buffered *mt_in_order_pop(struct mt_in_order *o, uint64_t expected, uint64_t below);

#endif
