/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtt.h - round-trip times as the sender's own records give them.
 *
 * Smoothed mean and deviation as TCP keeps them, the smallest and a slowly sinking largest sample.
 * Largest minus smallest is how far apart paths are, and so how long a packet on a slow path may
 * stay behind one that was sent later on a fast path: the reorder window.
 */
#ifndef SOFTMRC_CORE_CC_RTT_H
#define SOFTMRC_CORE_CC_RTT_H

#include "core/config.h"

struct mt_rtt {
	uint64_t smoothed_ns; /* 0 until the first sample */
	uint64_t deviation_ns;
	uint64_t min_ns;
	uint64_t max_ns;
};

static inline void mt_rtt_init(struct mt_rtt *r)
{
	*r = (struct mt_rtt){.min_ns = UINT64_MAX};
}

void mt_rtt_sample(struct mt_rtt *r, uint64_t rtt_ns);
/* mt_rtt_reorder_window returns how much later a packet must have been sent to prove a loss. */
uint64_t mt_rtt_reorder_window(const struct mt_rtt *r, const struct mt_timing *t);
/*
 * mt_rtt_silence returns how long a peer may say nothing before that means anything: no shorter
 * than a reorder window, or a stop could pass unnoticed that makes false holes, and no shorter than
 * an answer takes.
 */
uint64_t mt_rtt_silence(const struct mt_rtt *r, const struct mt_timing *t);
/* mt_rtt_tail_probe returns the silence after which a probe is worth its packet. */
uint64_t mt_rtt_tail_probe(const struct mt_rtt *r, const struct mt_timing *t);

#endif
