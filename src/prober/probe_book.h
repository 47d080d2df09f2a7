/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_book.h - which probes of a route are under way, and what became of each. Pure: no clock,
 * no socket. Time is counted in steps of the prober, so that a prober that is not run for a while
 * does not take what waits in its sockets for lost.
 */
#ifndef SOFTMRC_PROBER_PROBE_BOOK_H
#define SOFTMRC_PROBER_PROBE_BOOK_H

#include "map/probe_plan.h"

/*
 * Steps in which a probe may come back: 40 ms, longer than what all queues of a path hold. All of a
 * route take one way, so what is still missing when one came that left a step later is lost; unless
 * one was overtaken within PROBE_REORDER_STEPS: what holds a packet until another one has passed
 * may hold the last one of a step until the next.
 */
#define PROBE_WAIT_STEPS MM_PROBE_WAIT_STEPS
#define PROBE_REORDER_STEPS 100u
/* Those of its route that left after it and came of which so many are no chance, as in RFC 5681. */
#define PROBE_OVERTAKES 3u
/* Probes that leave together, so that a packet that is overtaken is seen. */
#define PROBE_PAIR MM_PROBE_PAIR
/* Packets that fill the MTU and leave together, so that a link shows how fast it carries them. */
#define PROBE_TRAIN 4u
/* Pairs of one route in a step at most, and a train in place of one. */
#define PROBE_PAIRS_MAX 23u
/* Those of all steps in which they may come back, rounded up to a power of two. */
#define PROBE_SLOTS 256u

enum probe_verdict {
	PROBE_ANSWERED,
	PROBE_TWICE,	/* a second copy in time: something duplicates */
	PROBE_LATE,	/* it counts as lost */
	PROBE_REPLAYED, /* more copies, or a copy of one that was settled long ago */
	PROBE_FORGED,	/* no such probe was sent */
	PROBE_VERDICTS
};

struct probe_slot {
	uint64_t nonce;
	uint64_t step;	  /* in which it was sent */
	uint64_t came_ns; /* when the first copy came back */
	uint32_t seq;
	uint8_t copies; /* that came back */
	uint8_t place;	/* in a train, from 1; 0: in none */
	bool damaged, overtaken;
	bool told; /* what was wrong with it, but for the question whether it is lost */
};

/* A book of zeros is empty. */
struct probe_book {
	struct probe_slot slot[PROBE_SLOTS];
	uint32_t next, settled;	 /* sequence numbers */
	uint32_t newest;	 /* one above the highest that came back */
	uint64_t came_step;	 /* one above the last step of which some came back */
	uint64_t overtaken_step; /* one above that of which one was overtaken last; 0: none was */
	uint64_t slow_ns;	 /* a train that is spread over more was slowed; 0: never */
	uint32_t train_left;	 /* of the train that is being sent */
};

/* probe_book_send notes a probe and returns its sequence number. */
uint32_t probe_book_send(struct probe_book *b, uint64_t nonce, uint64_t step);

/* probe_book_train makes the next PROBE_TRAIN probes a train. */
void probe_book_train(struct probe_book *b);

/* probe_book_unsend takes back the last one: it did not leave. */
void probe_book_unsend(struct probe_book *b);

/*
 * probe_book_arrive says what a packet is that came back; `whole`: nothing in it was changed;
 * came_ns: when, by any clock that goes on, or 0 where that is not known.
 */
enum probe_verdict probe_book_arrive(struct probe_book *b, uint32_t seq, uint64_t nonce, bool whole,
				     uint64_t came_ns);

/* probe_book_has says whether such a probe was sent lately. */
bool probe_book_has(const struct probe_book *b, uint32_t seq, uint64_t nonce);

/*
 * probe_book_misses says whether some probes of the last step came back and others did not: they
 * may still come.
 */
bool probe_book_misses(const struct probe_book *b, uint64_t step);

/*
 * probe_book_settle counts what is known of probes that was not: what was wrong with those that
 * came back since the last step, and whether those are lost whose time is over. False: nothing, and
 * *counts is zeros.
 */
bool probe_book_settle(struct probe_book *b, uint64_t step, struct mm_counts *counts);
/*
 * probe_counts_doubtful says whether something was bad and not all: of what is dead more probes
 * would say no more.
 */
bool probe_counts_doubtful(const struct mm_counts *c);

#endif
