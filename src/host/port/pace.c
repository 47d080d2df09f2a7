/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace.c - the token bucket of a port. All under nic->lock.
 *
 * Whole frames are counted, the largest there are: what is handed to a driver cannot be taken back,
 * so the tokens of a burst must be there before the engine is asked for it.
 */
#include "host/port/nic_ports.h"

#include "base/assert.h"

#define TOKENS_PER_BYTE (8 * UINT64_C(1000000000))
/*
 * Deep enough for what a busy machine makes a thread miss, some ticks of 4 ms: what is not sent
 * then can be made up for. Woken when an eighth is there, so that one wake-up sends several frames.
 */
#define BUCKET_NS UINT64_C(12000000)
#define BUCKET_WAKE 8u
#define BUCKET_FRAMES 2u

void mh_pace_init(struct mh_pace *p, uint64_t rate_bps, uint32_t frame_bytes, uint64_t now_ns)
{
	mb_assert(rate_bps <= MH_PACE_RATE_MAX && frame_bytes >= 1 && frame_bytes <= UINT16_MAX);
	p->rate_bps = rate_bps;
	p->frame = frame_bytes * TOKENS_PER_BYTE;
	p->depth = rate_bps * BUCKET_NS;
	if (p->depth < BUCKET_FRAMES * p->frame)
		p->depth = BUCKET_FRAMES * p->frame;
	p->tokens = p->depth;
	p->filled_ns = now_ns;
}

/* Time may go back by what two threads' clock readings are apart: then nothing is added. */
static void pace_fill(struct mh_pace *p, uint64_t now_ns)
{
	uint64_t dt;

	if (now_ns <= p->filled_ns)
		return;
	dt = now_ns - p->filled_ns;
	p->filled_ns = now_ns;
	/* Dividing first keeps the product below from overflowing after a long silence. */
	if (dt > (p->depth - p->tokens) / p->rate_bps)
		p->tokens = p->depth;
	else
		p->tokens += dt * p->rate_bps;
}

/* At the largest rate a bucket holds 1.5 x 10^9 bytes, and no more frames than that. */
uint32_t mh_pace_frames(struct mh_pace *p, uint64_t now_ns)
{
	if (p->rate_bps == 0)
		return UINT32_MAX;
	pace_fill(p, now_ns);
	return (uint32_t)(p->tokens / p->frame);
}

void mh_pace_consume(struct mh_pace *p, uint32_t bytes)
{
	uint64_t cost = bytes * TOKENS_PER_BYTE;

	p->tokens = p->tokens > cost ? p->tokens - cost : 0;
}

void mh_pace_forgo(struct mh_pace *p, uint64_t now_ns)
{
	if (p->rate_bps == 0)
		return;
	pace_fill(p, now_ns);
	if (p->tokens > p->frame)
		p->tokens = p->frame;
}

uint64_t mh_pace_deadline(const struct mh_pace *p)
{
	uint64_t want = p->depth / BUCKET_WAKE;

	if (want < p->frame)
		want = p->frame;
	if (p->rate_bps == 0 || p->tokens >= want)
		return p->filled_ns;
	return p->filled_ns + (want - p->tokens + p->rate_bps - 1) / p->rate_bps;
}
