/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rnr.h - a requester whose peer has no receive posted.
 *
 * The peer NACKs the packets of such a message one by one, each with the time to wait. The first
 * of them begins a round: until its time is over nothing is sent that lies at or behind the lowest
 * PSN refused. What was under way when the round began belongs to it. After rnr_retry rounds for
 * the oldest unfinished message without progress in between, its receiver will not be waited for.
 * REQ(ext.rnr.wait) REQ(ext.rnr.retry)
 */
#ifndef SOFTMRC_CORE_WINDOW_RNR_H
#define SOFTMRC_CORE_WINDOW_RNR_H

#include <stdbool.h>
#include <stdint.h>

#define MT_RNR_FOREVER 7u

struct mt_rnr {
	uint64_t psn;	   /* lowest NACKed in this round */
	uint64_t began_ns; /* the last round */
	uint64_t until_ns; /* when the last round ends, or ended */
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
/* mt_rnr_blocks says whether psn may not be sent now. */
static inline bool mt_rnr_blocks(const struct mt_rnr *r, uint64_t psn)
{
	return r->waits && psn >= r->psn;
}
/* mt_rnr_end_wait ends the round when its time has come, and says whether it did. */
bool mt_rnr_end_wait(struct mt_rnr *r, uint64_t now_ns);
/* mt_rnr_wait_ns returns the time that a 5-bit code stands for. REQ(ext.rnr.timer) */
uint64_t mt_rnr_wait_ns(uint8_t code);

#endif
