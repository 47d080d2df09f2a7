/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace.h - the gap between the packets of a QP that shares a last hop with many others.
 *
 * A window cannot be less than a packet in each round trip, and of hundreds of senders that is
 * several times what a last hop carries; what it trims takes place there as well. Only the receiver
 * knows how many they are. With the NACK of a packet that was trimmed at its last hop it says how
 * far apart the packets of each must be for all of them to fit. The first goes at a random time
 * within that gap. Packets that arrive without having queued shorten it, since others may have
 * finished: until the next NACK names it again. See docs/design/0039-tails.md. REQ(cc.pace.gap)
 */
#ifndef SOFTMRC_CORE_CC_PACE_H
#define SOFTMRC_CORE_CC_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_pace {
	uint64_t next_ns; /* nothing is sent before; while gap_ns > 0 */
	uint32_t gap_ns;  /* 0: congestion control alone decides */
	bool waiting; /* there was something to send before next_ns: the timer is to wake the QP */
};

/*
 * mt_pace_encode makes the byte of a NACK, of the next longer gap that it can name, in steps of a
 * sixteenth up to 2 ms; mt_pace_decode returns that gap. 0 says nothing. REQ(cc.pace.code)
 */
uint8_t mt_pace_encode(uint64_t gap_ns);
uint32_t mt_pace_decode(uint8_t code);

/* mt_pace_set takes the gap that a NACK names; the next packet goes at random * 2^-32 of it from
 * now. */
void mt_pace_set(struct mt_pace *p, uint64_t now_ns, uint32_t gap_ns, uint32_t random);
/* mt_pace_arrived takes that a packet arrived that had queued so long. REQ(cc.pace.shorter) */
void mt_pace_arrived(struct mt_pace *p, uint64_t delay_ns, uint64_t base_rtt_ns);

/* mt_pace_sent takes that a packet leaves. */
static inline void mt_pace_sent(struct mt_pace *p, uint64_t now_ns)
{
	p->next_ns = now_ns + p->gap_ns;
}

/* mt_pace_may_send says whether one may; if not, the QP waits for it. */
static inline bool mt_pace_may_send(struct mt_pace *p, uint64_t now_ns)
{
	p->waiting = p->gap_ns > 0 && now_ns < p->next_ns;
	return !p->waiting;
}

/*
 * mt_pace_replaces says whether the gap holds back more than a window does: then the window is not
 * asked, which may be full of packets that are lost, and nothing but another packet would show it.
 * REQ(cc.pace.window)
 */
static inline bool mt_pace_replaces(const struct mt_pace *p, uint64_t cwnd, uint32_t bytes,
				    uint64_t base_rtt_ns)
{
	return p->gap_ns > 0 && base_rtt_ns > 0 && p->gap_ns >= base_rtt_ns * bytes / cwnd;
}

#endif
