/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc.h - congestion control behind a small interface: how many bytes may be in flight.
 *
 * A QP owns one struct mt_cc. The requester asks mt_cc_may_send and reports what it sends; the
 * completer reports what came back, as event structs. The CC profile of the QP
 * names the algorithm; algorithms know nothing of PSNs, EVs or QPs, and use integers only.
 */
#ifndef SOFTMRC_CORE_CC_CC_H
#define SOFTMRC_CORE_CC_CC_H

#include "core/config.h"

/*
 * NSCC: what it keeps: constants for each profile, a window's state for each QP.
 *
 * Constants that grow with the packet are kept for each byte of it, since QPs of one profile may
 * differ in path MTU; one that a profile states outright is the same for every packet.
 */

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
	bool fast : 1;
	bool qa_wanted : 1; /* a trim or loss in this quick-adapt window */
	bool marks : 1;	    /* the fabric has marked at least once */
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

/* What a data packet counts for: UDP length without payload, and 40 bytes of IP header. */
#define MT_NOMINAL_HEADER 88u

/* A SACK. */
struct mt_cc_ack {
	uint64_t now_ns;
	uint64_t newly_bytes; /* received since the last SACK, nominal */
	uint64_t rtt_ns;      /* 0: no valid sample */
	bool marked;	      /* the trigger was ECN-marked */
	uint8_t penalty;      /* rcv_cwnd_pen */
	bool restore;	      /* r_c */
};

enum mt_cc_loss_kind {
	MT_CC_TRIMMED,	/* a NACK says so */
	MT_CC_NACKED,	/* a NACK: the responder had no room */
	MT_CC_INFERRED, /* a SACK's hole, or a timeout */
};

/* A CC profile of an engine, and what the algorithm makes of it once for all its QPs. */
struct mt_cc_profile {
	struct mt_cc_profile_cfg cfg;
	struct mt_nscc_param nscc;
	bool set;
};

struct mt_cc {
	const struct mt_cc_ops *ops;
	uint64_t cwnd;	  /* bytes */
	int64_t inflight; /* nominal bytes that are outstanding, never negative */
	struct mt_nscc nscc;
};

struct mt_cc_ops {
	const char *name; /* as the controller API spells it */
	bool shrinks;	  /* what the network loses or marks makes the window smaller */
	void (*init)(struct mt_cc *cc, const struct mt_cc_profile *profile, uint32_t path_mtu,
		     uint64_t now_ns);
	void (*ack)(struct mt_cc *cc, const struct mt_cc_ack *ack);
	void (*loss)(struct mt_cc *cc, uint64_t now_ns, enum mt_cc_loss_kind kind, uint32_t bytes);
};

extern const struct mt_cc_ops mt_cc_none;
extern const struct mt_cc_ops mt_cc_nscc;

/*
 * mt_cc_profile_define gives a profile a checked configuration. QPs that use the profile already
 * keep their algorithm and their window, and go by the new constants from their next SACK on.
 */
void mt_cc_profile_define(struct mt_cc_profile *profile, const struct mt_cc_profile_cfg *cfg);
/* mt_cc_init starts the algorithm that the profile names; the profile must outlive the QP. */
void mt_cc_init(struct mt_cc *cc, const struct mt_cc_profile *profile, uint32_t path_mtu,
		uint64_t now_ns);

/*
 * mt_cc_may_send says whether `bytes` more may be in flight. With nothing in flight one packet
 * always may, or a window below one packet would never open again. REQ(req.gate.cwnd)
 * REQ(cc.nscc.can-send)
 */
static inline bool mt_cc_may_send(const struct mt_cc *cc, uint32_t bytes)
{
	return cc->inflight <= 0 || (uint64_t)cc->inflight + bytes <= cc->cwnd;
}

/*
 * Round-trip times as the sender's own records give them.
 *
 * Smoothed mean and deviation as TCP keeps them, and the smallest sample. How far apart EVs are is
 * known of a destination, see core/ev/reorder.h.
 */

struct mt_rtt {
	uint64_t smoothed_ns; /* 0 until the first sample */
	uint64_t deviation_ns;
	uint64_t min_ns;
};

static inline void mt_rtt_init(struct mt_rtt *r)
{
	*r = (struct mt_rtt){.min_ns = UINT64_MAX};
}

void mt_rtt_sample(struct mt_rtt *r, uint64_t rtt_ns);
/*
 * mt_rtt_silence returns how long a peer may say nothing before that means anything: no shorter
 * than a reorder window, or a stop could pass unnoticed that makes false holes, and no shorter than
 * an answer takes.
 */
uint64_t mt_rtt_silence(const struct mt_rtt *r, uint64_t window_ns);
/* mt_rtt_tail_probe returns the silence after which a probe is worth its packet. */
uint64_t mt_rtt_tail_probe(const struct mt_rtt *r, const struct mt_timing *t);

#endif
