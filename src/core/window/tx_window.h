/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tx_window.h - what a requester knows of each PSN it has sent.
 *
 * A ring of 16-byte records, one for each PSN of the window [una, next): when it was last sent, on
 * which EV, for which WQE, and whether it is outstanding, lost or received. A PSN that the
 * responder NACKed stays in back-off for a while before it counts as lost, see
 * mt_tx_window_nack_backoff. The record of a PSN stays readable after it was acknowledged until the
 * ring comes round, because a late SACK may still name it as its trigger.
 */
#ifndef SOFTMRC_CORE_WINDOW_TX_WINDOW_H
#define SOFTMRC_CORE_WINDOW_TX_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum mt_tx_state {
	MT_TX_UNUSED,
	MT_TX_OUTSTANDING,   /* sent, nothing known */
	MT_TX_LOST,	     /* known lost, to be sent again */
	MT_TX_BACKOFF,	     /* NACKed; becomes LOST when its back-off ends */
	MT_TX_BACKOFF_SHORT, /* trimmed too often; likewise, but never waits long */
	MT_TX_RECEIVED,	     /* the responder has it */
};

struct mt_tx_rec {
	uint64_t sent_ns; /* last time sent */
	uint16_t slot;	  /* of its WQE in the send queue */
	uint16_t ev;	  /* index in the path set, of the last time sent */
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
	return state == MT_TX_BACKOFF || state == MT_TX_BACKOFF_SHORT;
}

/*
 * mt_tx_window_nack_backoff marks an OUTSTANDING record BACKOFF, so that it is not sent again
 * before some time has passed since it was: unit_ns, twice that after the second time it was sent,
 * and so on, up to 16 times, or no further than twice if `briefly`; and up to as much again, by a
 * hash of the PSN, so that packets which were NACKed together do not come back together.
 * REQ(req.loss.nack-wait)
 */
void mt_tx_window_nack_backoff(struct mt_tx_window *w, uint64_t psn, uint64_t unit_ns,
			       bool briefly);
/* mt_tx_window_end_backoff turns records whose back-off ends by now_ns into LOST ones. */
void mt_tx_window_end_backoff(struct mt_tx_window *w, uint64_t now_ns, uint64_t unit_ns);
/* mt_tx_window_received marks psn in [una, next) received and returns what it was before. */
enum mt_tx_state mt_tx_window_received(struct mt_tx_window *w, uint64_t psn);
/* mt_tx_window_advance moves una over what is received. */
void mt_tx_window_advance(struct mt_tx_window *w);
/* mt_tx_window_oldest_lost finds the lowest LOST PSN; false when none is.
 * REQ(req.rtx.oldest-first) */
bool mt_tx_window_oldest_lost(struct mt_tx_window *w, uint64_t *psn);

/* ---- losses ---- */

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
 * holds as many PSNs as ooo_count, of all others that they are not. Of others it says nothing,
 * and nothing follows. It describes the responder when it was made, so one that was overtaken
 * proves no less: its trigger's send time is compared, not its time of arrival.
 * REQ(req.loss.explicit)
 */

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
