/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reorder.h - the reorder window of a destination: how long a packet on one EV may stay behind one
 * that was sent later on another.
 *
 * It is how far apart the EVs are, largest RTT minus smallest, and what a port may hold besides.
 * The largest sample is that of the slowest EV, and sinks only with later samples of the same EV:
 * those of a hundred others say nothing about it. One whose EV is no longer sampled sinks slowly
 * with all samples.
 *
 * An EV of which nothing was heard yet may be the slowest of all: what is sent on it is given
 * several round trips.
 *
 * Responders coalesce SACKs, so that packets of some EVs never cause one for long. The first packet
 * of an EV that any SACK names is a sample, too, and so is each of the slowest EV; that may be too
 * long by the wait for the SACK, so that only the first may raise the largest.
 */
#ifndef SOFTMRC_CORE_EV_REORDER_H
#define SOFTMRC_CORE_EV_REORDER_H

#include "core/config.h"

struct mt_reorder {
	uint64_t min_ns; /* UINT64_MAX until the first sample */
	uint64_t max_ns;
	uint16_t ev;   /* whose sample the largest is; no EV's before the first */
	uint16_t age;  /* samples since the last one of that EV */
	uint16_t most; /* for so many it is waited */
};

/* mt_reorder_init begins without a sample, for a set of n_evs EVs. */
void mt_reorder_init(struct mt_reorder *r, uint16_t n_evs);

/* mt_reorder_sample takes the RTT of a packet that was sent on this EV. */
void mt_reorder_sample(struct mt_reorder *r, uint16_t ev, uint64_t rtt_ns);
/* mt_reorder_refresh takes how long ago a packet of the slowest EV was sent that a SACK names. */
static inline void mt_reorder_refresh(struct mt_reorder *r, uint64_t rtt_ns)
{
	mt_reorder_sample(r, r->ev, rtt_ns < r->max_ns ? rtt_ns : r->max_ns);
}

/* mt_reorder_retire says that an EV is left: no more samples of it will come. */
void mt_reorder_retire(struct mt_reorder *r, uint16_t ev);
/*
 * mt_reorder_window returns how much later a packet must have been sent to prove that an earlier
 * one is lost, between the bounds of the configuration; the upper one before any sample.
 */
uint64_t mt_reorder_window(const struct mt_reorder *r, const struct mt_timing *t);
/* mt_reorder_window_unknown returns that for an EV of which nothing was heard.
 * REQ(req.loss.unknown-ev) */
uint64_t mt_reorder_window_unknown(const struct mt_reorder *r, const struct mt_timing *t);

#endif
