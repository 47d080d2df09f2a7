/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * presence.h - is the peer there? Its trouble must not be taken for that of paths.
 *
 * A peer that stops for a while (a descheduled process, a pause of its machine) is silent on every
 * path at once. When it goes on, it takes what waits in its queues, port after port, so that its
 * first reports say "missing" of what only waits in the next queue. Hence:
 *
 * Silence: nothing was heard of the peer, on any plane, for longer than an answer takes and longer
 * than a reorder window, while some QP waits for it. A shorter stop makes no false holes, since the
 * loss rule waits that long.
 *
 * Waking: it was heard again. Each plane is sent one probe, which queues behind the data on that
 * plane. What is missing is judged only by reports whose trigger took the same plane: a plane's
 * queue keeps its order. Reports count for all planes again once each plane has answered something
 * sent since, in rounds until one is short, because while one queue is emptied the others fill
 * again; or when no answer had waited for twice the length of a silence: then a plane that says
 * nothing is dead. Silences that repeat without a stop wait only the first time.
 *
 * What was sent before the waking and proves lost is sent again. It retires no EV when an answer
 * had waited, for then the peer had stopped and its buffers may have run over; otherwise (nobody
 * stopped, all paths were silent) at most one EV a plane, so that a network that was away for a
 * moment does not empty the set, and one whose paths are nearly all dead is learnt step by step.
 * A path that died meanwhile is found by the first packet sent on it after the waking.
 *
 * Crowding is the other trouble of an endpoint: it says that it had to throw packets away. Lost
 * ones among those sent until then are resent, and an EV retires only when MT_CROWDED_LOSSES of
 * them, sent one after the other at least a round trip apart, were lost on it with none in between
 * that arrived. REQ(req.ev.endpoint)
 */
#ifndef SOFTMRC_CORE_PRESENCE_H
#define SOFTMRC_CORE_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

/* A dead path of a crowded peer is left after so many losses. */
#define MT_CROWDED_LOSSES 8u

/* Beside each path set: all QPs to one destination hear of it together. */
struct mt_presence {
	uint64_t since_ns;    /* last heard, or when the first QP began to wait */
	uint64_t limit_ns;    /* silence that is longer counts */
	uint64_t woke_ns;     /* end of the last silence; 0: there was none */
	uint64_t settled_ns;  /* reports on what was sent from here on count for all planes */
	uint64_t patience_ns; /* of the last silence: twice its limit */
	uint64_t crowded_until_ns;
	uint32_t waiting;  /* QPs that wait for an answer */
	uint64_t round_ns; /* woke_ns, or the end of the last round of answers */
	uint32_t planes;   /* that were probed */
	uint32_t unproven; /* of these answered nothing sent since round_ns */
	uint32_t spent;	   /* planes on which the last silence has retired an EV */
	bool stopped;	   /* an answer had waited at the peer */
};

enum mt_verdict {
	MT_VERDICT_OPEN,      /* this report proves nothing */
	MT_VERDICT_BLAMELESS, /* lost, and no fault of the path */
	MT_VERDICT_GUILTY,    /* lost by its path */
};

/* mt_presence_init begins with nobody waiting; until an RTT is known no silence is too long. */
void mt_presence_init(struct mt_presence *p);
/* mt_presence_wait counts a QP that begins to wait for the peer, or no longer does. */
void mt_presence_wait(struct mt_presence *p, uint64_t now_ns, bool waits);

/* mt_presence_silent says whether the peer is silent now. */
static inline bool mt_presence_silent(const struct mt_presence *p, uint64_t now_ns)
{
	return p->waiting > 0 && now_ns - p->since_ns > p->limit_ns;
}

/* mt_presence_heard notes that something came from the peer; true: it had been silent until now. */
static inline bool mt_presence_heard(struct mt_presence *p, uint64_t now_ns)
{
	bool was_silent = mt_presence_silent(p, now_ns);

	p->since_ns = now_ns;
	return was_silent;
}

/* mt_presence_wake begins a waking in which each of `planes` (a mask) is sent a probe. */
void mt_presence_wake(struct mt_presence *p, uint64_t now_ns, uint32_t planes);
/* mt_presence_report takes a report whose trigger went out on `plane` at sent_ns. */
void mt_presence_report(struct mt_presence *p, uint64_t now_ns, uint8_t plane, uint64_t sent_ns);
/*
 * mt_presence_rtt returns what an RTT sample is worth: the time for which a peer was stopped is no
 * round-trip time, yet when the RTT has really grown, it must be learnt, doubling each time.
 */
uint64_t mt_presence_rtt(const struct mt_presence *p, uint64_t sent_ns, uint64_t rtt_ns);
/*
 * mt_presence_judge says what it means that a packet, sent at sent_ns on `plane`, is missing by the
 * rule of loss.h in a report whose trigger went out on another or the same plane.
 */
enum mt_verdict mt_presence_judge(const struct mt_presence *p, uint64_t sent_ns, uint8_t plane,
				  uint64_t trigger_sent_ns, uint8_t trigger_plane);
/* mt_presence_spend notes that the loss of a packet sent at sent_ns retired an EV of the plane. */
void mt_presence_spend(struct mt_presence *p, uint64_t sent_ns, uint8_t plane);

/*
 * mt_presence_crowd notes that the peer says it has no room: this explains the loss of what was
 * sent up to now and until `until_ns`, whenever it is found.
 */
static inline void mt_presence_crowd(struct mt_presence *p, uint64_t until_ns)
{
	p->crowded_until_ns = until_ns;
}

static inline bool mt_presence_crowded(const struct mt_presence *p, uint64_t sent_ns)
{
	return sent_ns < p->crowded_until_ns;
}

#endif
