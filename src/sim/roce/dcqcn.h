/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dcqcn.h - DCQCN, the congestion control of RoCEv2 (Zhu et al., SIGCOMM 2015): the sender's rate.
 *
 * The receiver answers marked packets with a CNP, at most one in cnp_interval. For each the sender
 * remembers its rate as the target and cuts it by half of alpha, its estimate of how much is
 * marked, which rises with each CNP and sinks whenever alpha_timer passes without one. A timer and
 * a byte counter lead the rate back up: the first `fast_rounds` times of either half of the way to
 * the target, then the target rises by rate_ai each time, and by ever more of rate_hai once both
 * have come so far.
 *
 * Timers are not events: what they would have done is done when the rate is asked for, in its
 * order. Whole numbers only, so that every machine gets the same.
 */
#ifndef SOFTMRC_SIM_ROCE_DCQCN_H
#define SOFTMRC_SIM_ROCE_DCQCN_H

#include <stdbool.h>
#include <stdint.h>

/* Parts of a whole in which alpha is kept. */
#define MS_DCQCN_ONE (UINT32_C(1) << 20)

struct ms_dcqcn_cfg {
	uint64_t line_bps;	  /* of the port: the largest rate, 10^6 .. 10^13 */
	uint64_t min_bps;	  /* the smallest, 1 .. line_bps */
	uint64_t rate_ai_bps;	  /* R_AI */
	uint64_t rate_hai_bps;	  /* R_HAI */
	uint64_t alpha_timer_ns;  /* above 0 */
	uint64_t rate_timer_ns;	  /* T, above 0 */
	uint64_t byte_counter;	  /* B, above 0 */
	uint64_t cnp_interval_ns; /* the receiver's */
	uint32_t fast_rounds;	  /* F */
	uint8_t g_shift;	  /* g is 1 / 2^this, 1 .. 16 */
};

/* All zero but for rates: nothing has been marked. */
struct ms_dcqcn {
	uint64_t rate_bps, target_bps; /* R_C, R_T */
	uint64_t alpha_next_ns, rate_next_ns;
	uint64_t bytes; /* since the byte counter was last full */
	uint32_t alpha; /* of MS_DCQCN_ONE */
	uint32_t timer_rounds, byte_rounds;
	bool limited; /* the rate is below the line's, or alpha not yet 0: timers run */
};

/*
 * ms_dcqcn_defaults fills in what the paper publishes for 40G (g 1/256, timers of 55 us, byte
 * counter 10 MB, F 5, R_AI 40 Mb/s, R_HAI ten times that, CNPs 50 us apart), rates and bytes in
 * proportion to the port's rate.
 */
void ms_dcqcn_defaults(struct ms_dcqcn_cfg *cfg, uint64_t line_bps);
/* ms_dcqcn_valid says whether every value is within its range. */
bool ms_dcqcn_valid(const struct ms_dcqcn_cfg *cfg);
/* ms_dcqcn_init begins at line rate, with alpha 1. */
void ms_dcqcn_init(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg);
/* ms_dcqcn_cnp takes a CNP. */
void ms_dcqcn_cnp(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg, uint64_t now_ns);
/* ms_dcqcn_sent counts bytes that were sent. */
void ms_dcqcn_sent(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg, uint64_t now_ns,
		   uint32_t bytes);
/* ms_dcqcn_rate returns the rate at now_ns, not before any time given so far; bits a second. */
uint64_t ms_dcqcn_rate(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg, uint64_t now_ns);

#endif
