/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc_nscc.h - what NSCC keeps: constants for each profile, a window's state for each QP.
 *
 * Constants that grow with the packet are kept for each byte of it, since QPs of one profile may
 * differ in path MTU; one that a profile states outright is the same for every packet.
 */
#ifndef SOFTMRC_CORE_CC_CC_NSCC_H
#define SOFTMRC_CORE_CC_CC_NSCC_H

#include "core/config.h"

/* `fixed` bytes, or when that is 0 so many bytes (times 65536) for each byte of a packet. */
struct mt_nscc_amount {
	uint64_t fixed;
	uint64_t per_byte_q16;
};

/* Constants, derived from the profile. */
struct mt_nscc_param {
	uint64_t link_kbps;
	uint64_t max_cwnd;  /* 0: 1.5 bandwidth-delay products of the base RTT */
	uint64_t alpha_q30; /* per ns of delay saved and byte of a packet, times 2^30 */
	struct mt_nscc_amount fair, eta, adjust;
	uint64_t fast_q16;
	uint64_t target_ns, qa_threshold_ns, adjust_period_ns;
	uint32_t base_rtt_ns, base_rtt_min_ns;
	uint32_t fast_delay_ns; /* a delay below this is none */
	uint32_t gamma_q16, max_md_jump_q16;
	uint8_t qa_gate;
	bool quick_adapt, trimming;
};

/* State, of one QP. */
struct mt_nscc {
	const struct mt_nscc_param *p;
	uint64_t inc;	       /* accumulated increase, bytes squared */
	uint64_t adjust_bytes; /* received since the last adjustment */
	uint64_t adjust_ns;    /* when the last period ended */
	uint64_t avg_delay_q8; /* ns, times 256 */
	uint64_t decrease_ns;  /* last multiplicative decrease */
	uint64_t fast_bytes;   /* received in a row without delay */
	uint64_t qa_end_ns;    /* of the quick-adapt window; 0: none has begun */
	uint64_t qa_bytes;     /* received in it */
	int64_t ignore_bytes;  /* marks do not count until these have drained */
	uint64_t saved_cwnd;   /* before the receiver's penalty; 0: none */
	uint32_t base_rtt_ns;
	uint16_t mtu; /* a full packet, nominal bytes */
	bool fast;
	bool qa_wanted; /* a trim or loss in this quick-adapt window */
	bool marks;	/* the fabric has marked at least once */
};

/* mt_nscc_derive makes the constants of a profile of kind MT_CC_NSCC. */
void mt_nscc_derive(struct mt_nscc_param *p, const struct mt_cc_profile_cfg *cfg);
/* mt_nscc_max_wnd returns the largest window in bytes, which follows the base RTT. */
uint64_t mt_nscc_max_wnd(const struct mt_nscc *n);
/* mt_nscc_amount_of returns an amount for this QP's packet. */
static inline uint64_t mt_nscc_amount_of(const struct mt_nscc *n, struct mt_nscc_amount a)
{
	return a.fixed ? a.fixed : a.per_byte_q16 * n->mtu >> 16;
}

#endif
