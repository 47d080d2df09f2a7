/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backpressure.h - overload of the receiving side, and what SACKs ask of its peers for it.
 *
 * Packets that the adapter received and had to throw away are no fault of any path: its peers
 * must send less. After an overflow every SACK carries a window penalty for about one RTT,
 * which halves a sender; further overflow prolongs it. One short episode was a burst, and the
 * SACKs behind it tell senders to restore their window; after a longer one, or one that follows
 * another closely, they grow again. Beside that, QPs that agreed to dynamic MPR are offered smaller
 * windows: an equal part of what the receive buffers hold, which is halved at each
 * period with overflow, and given back in small steps. See docs/design/0007-receiver-pressure.md.
 */
#ifndef SOFTMRC_CORE_STATE_BACKPRESSURE_H
#define SOFTMRC_CORE_STATE_BACKPRESSURE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_backpressure {
	uint64_t began_ns; /* of the newest episode of overflow */
	uint64_t until_ns; /* its end; SACKs ask for less until then. 0: there was none */
	uint64_t cut_ns;   /* when `share` was cut last */
	uint32_t capacity; /* packets that the adapter's buffers hold; 0: not known */
	uint16_t cut;	   /* taken off the windows at cut_ns, in 1/256 */
};

/* mt_backpressure_overflow notes that packets were lost; period_ns is about an RTT. */
void mt_backpressure_overflow(struct mt_backpressure *p, uint64_t now_ns, uint64_t period_ns);
/* mt_backpressure_penalty returns rcv_cwnd_pen for a SACK that leaves now.
 * REQ(rsp.pressure.penalty) */
uint8_t mt_backpressure_penalty(const struct mt_backpressure *p, uint64_t now_ns);
/* mt_backpressure_restore returns r_c for it. */
bool mt_backpressure_restore(const struct mt_backpressure *p, uint64_t now_ns, uint64_t period_ns);
/*
 * mt_backpressure_mpr returns the window, in units of 128 PSNs, that a QP with a window of `mpr` is
 * offered when `receivers` QPs share the buffers; at least 1. REQ(rsp.mpr.dynamic)
 */
uint8_t mt_backpressure_mpr(const struct mt_backpressure *p, uint64_t now_ns, uint64_t period_ns,
			    uint8_t mpr, uint32_t receivers);

#endif
