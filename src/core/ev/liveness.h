/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * liveness.h - whether a peer answers at all: its trouble must not be taken for that of paths.
 *
 * A peer is an endpoint, that is one engine behind an address. A host with several processes has
 * several; what one of them does says nothing of the others.
 *
 * A peer that stops for a while (a descheduled process, a pause of its machine) is silent on every
 * path at once. When it goes on, it empties its receive queues port after port, so that its first
 * reports say "missing" of what only waits in the next queue.
 *
 *	ALIVE, RESUMING --- while a QP waits, nothing heard for silence_limit_ns ---> SILENT
 *	SILENT --- a packet came ---> RESUMING
 *	SILENT --- no QP waits any more ---> ALIVE
 *	RESUMING --- each plane answered, in a short round ---> ALIVE
 *	RESUMING --- no answer had waited for settle_timeout_ns ---> ALIVE
 *
 * ALIVE: every report counts for all planes.
 *
 * SILENT: the limit is longer than an answer takes and longer than a reorder window. A shorter stop
 * makes no false holes, since the loss rule waits that long. Probes that stay unanswered say
 * nothing about EVs.
 *
 * RESUMING: each plane is sent one probe, which queues behind the data on that plane. What is
 * missing is judged only by reports whose trigger took the same plane: a plane's queue keeps its
 * order. Rounds in which each plane answers something sent since are repeated until one is short,
 * because while one queue is emptied the others fill again. When no answer had waited for twice the
 * limit, a plane that says nothing is dead. A silence soon after another one in which the peer had
 * not stopped is not waited for: paths are lost one after the other then. Nor is one that began
 * before such waiting was over, however long ago: where all that is answered is a probe of a bad EV
 * now and then, each answer ends a silence, and none would ever decide.
 *
 * What was sent before the resumption and proves lost is sent again. It retires no EV when an
 * answer had waited, for then the peer had stopped and its buffers may have run over; otherwise
 * (the peer ran on, and all paths were silent) it retires at most one EV a plane, so that an outage
 * of the network does not empty the set, and a network whose paths are nearly all dead is learnt
 * step by step. A path that died meanwhile is found by the first packet sent on it after the
 * resumption.
 *
 * Overload is the other trouble of an endpoint: it says that it had to throw packets away. Lost
 * ones among those sent until then are resent, and an EV retires only when MT_OVERLOAD_LOSSES of
 * them, sent one after the other at least a round trip apart, were lost on it with none in between
 * that arrived. REQ(req.ev.endpoint)
 */
#ifndef SOFTMRC_CORE_EV_LIVENESS_H
#define SOFTMRC_CORE_EV_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

/* An EV to an overloaded peer is retired after so many losses. */
#define MT_OVERLOAD_LOSSES 8u

enum mt_liveness_state {
	MT_PEER_ALIVE,
	MT_PEER_SILENT,
	MT_PEER_RESUMING,
	MT_PEER_STATES,
};

/* One for each peer, so that all QPs to it share it. */
struct mt_liveness {
	uint64_t rx_ns;		   /* last heard, or when the first QP began to wait */
	uint64_t silence_limit_ns; /* silence that is longer counts */
	uint64_t overloaded_until_ns;
	uint32_t waiting; /* QPs that wait for an answer */
	uint8_t state;	  /* enum mt_liveness_state */
	/* Of the last resumption; zero: there was none. */
	bool stopped;		    /* an answer had waited at the peer */
	bool unsettled;		    /* the silence since began before all planes had answered */
	uint32_t planes;	    /* that were probed */
	uint32_t unanswered;	    /* of these answered nothing sent since round_ns */
	uint32_t retired_planes;    /* planes on which it has retired an EV */
	uint64_t resumed_ns;	    /* when it began */
	uint64_t round_ns;	    /* when its present round began */
	uint64_t settled_ns;	    /* reports on what was sent from here on count for all planes */
	uint64_t settle_timeout_ns; /* twice the limit of the silence before it */
};

enum mt_loss_cause {
	MT_LOSS_UNDECIDED,  /* this report proves nothing */
	MT_LOSS_NOT_PATH,   /* lost, and no fault of the path */
	MT_LOSS_PATH_FAULT, /* lost by its path */
};

/* mt_liveness_init begins without a waiting QP; until an RTT is known no silence is too long. */
void mt_liveness_init(struct mt_liveness *p);
/* mt_liveness_count_waiter counts a QP that begins to wait for the peer, or no longer does. */
void mt_liveness_count_waiter(struct mt_liveness *p, uint64_t now_ns, bool waits);
/* mt_liveness_silence makes a peer SILENT, of which nothing was heard for too long. */
void mt_liveness_silence(struct mt_liveness *p);
/* mt_liveness_heard makes a SILENT peer RESUMING. */
void mt_liveness_heard(struct mt_liveness *p);

/* mt_liveness_is_silent says whether the peer is SILENT, which it becomes as time passes. */
static inline bool mt_liveness_is_silent(struct mt_liveness *p, uint64_t now_ns)
{
	if (p->waiting > 0 && now_ns - p->rx_ns > p->silence_limit_ns)
		mt_liveness_silence(p);
	return p->state == MT_PEER_SILENT;
}

/*
 * mt_liveness_note_rx notes that something came from the peer; true: it was SILENT until now, and
 * mt_liveness_resume must follow.
 */
static inline bool mt_liveness_note_rx(struct mt_liveness *p, uint64_t now_ns)
{
	bool was_silent = mt_liveness_is_silent(p, now_ns);

	p->rx_ns = now_ns;
	if (was_silent)
		mt_liveness_heard(p);
	return was_silent;
}

/* mt_liveness_resume begins the rounds of a RESUMING peer: each of `planes` is sent a probe now. */
void mt_liveness_resume(struct mt_liveness *p, uint64_t now_ns, uint32_t planes);
/* mt_liveness_note_sack takes a report whose trigger went out on `plane` at sent_ns. */
void mt_liveness_note_sack(struct mt_liveness *p, uint64_t now_ns, uint8_t plane, uint64_t sent_ns);
/*
 * mt_liveness_clamp_rtt returns what an RTT sample is worth: the time for which a peer was stopped
 * is no round-trip time, yet when the RTT has really grown, it must be learnt, doubling each time.
 */
uint64_t mt_liveness_clamp_rtt(const struct mt_liveness *p, uint64_t sent_ns, uint64_t rtt_ns);
/*
 * mt_liveness_attribute_loss says what it means that a packet, sent at sent_ns on `plane`, is
 * missing by the rule of window.h in a report whose trigger went out on another or the same plane.
 */
enum mt_loss_cause mt_liveness_attribute_loss(const struct mt_liveness *p, uint64_t sent_ns,
					      uint8_t plane, uint64_t trigger_sent_ns,
					      uint8_t trigger_plane);
/* mt_liveness_note_retired notes that the loss of a packet sent at sent_ns retired an EV of the
 * plane. */
void mt_liveness_note_retired(struct mt_liveness *p, uint64_t sent_ns, uint8_t plane);

/*
 * mt_liveness_set_overload notes that the peer says it has no room: this explains the loss of what
 * was sent up to now and until `until_ns`, whenever it is found.
 */
static inline void mt_liveness_set_overload(struct mt_liveness *p, uint64_t until_ns)
{
	p->overloaded_until_ns = until_ns;
}

static inline bool mt_liveness_was_overloaded(const struct mt_liveness *p, uint64_t sent_ns)
{
	return sent_ns < p->overloaded_until_ns;
}

#endif
