/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace.h - a token bucket: how much data a port may send now, and when it may send more.
 *
 * The bucket fills at the port's rate and holds twelve milliseconds of it, but at least two frames:
 * a thread that a busy machine wakes a few ticks late makes up for what it missed. Tokens are
 * counted in bits times 10^-9: then filling for dt ns is rate x dt, exact, without division.
 */
#ifndef SOFTMRC_HOST_PACE_H
#define SOFTMRC_HOST_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define MH_PACE_RATE_MAX UINT64_C(1000000000000)

struct mh_pace {
	uint64_t rate_bps; /* 0: no pacing */
	uint64_t frame;	   /* tokens that the largest frame takes */
	uint64_t depth;
	uint64_t tokens;
	uint64_t filled_ns; /* when tokens was right */
};

/* mh_pace_init makes a full bucket; rate_bps 0 .. MH_PACE_RATE_MAX, frame_bytes 1 .. 65535. */
void mh_pace_init(struct mh_pace *p, uint64_t rate_bps, uint32_t frame_bytes, uint64_t now_ns);
/* mh_pace_frames fills the bucket up to now and returns how many largest frames it pays for. */
uint32_t mh_pace_frames(struct mh_pace *p, uint64_t now_ns);
/* mh_pace_consume pays for a frame; what is not there is no debt. */
void mh_pace_consume(struct mh_pace *p, uint32_t bytes);
/*
 * mh_pace_deadline returns when it is worth asking again: an eighth of the bucket is there then,
 * and pays for a frame. Meaningful after mh_pace_frames returned 0; without pacing it is `now`.
 */
uint64_t mh_pace_deadline(const struct mh_pace *p);

#endif
