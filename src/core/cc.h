/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc.h - congestion control behind a small interface: how many bytes may be in flight.
 *
 * A QP owns one struct mt_cc. The requester asks mt_cc_may_send and reports what it sends; the
 * completer reports what came back, as event structs. Which algorithm works behind it is the QP's
 * CC profile; algorithms do not know of PSNs, paths or QPs, and use integers only.
 */
#ifndef SOFTMRC_CORE_CC_H
#define SOFTMRC_CORE_CC_H

#include "core/config.h"

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
	MT_CC_REFUSED,	/* a NACK: the responder had no room */
	MT_CC_INFERRED, /* a SACK's hole, or a timeout */
};

/* Parameters of NSCC, derived once from the profile; see cc_nscc.c. */
struct mt_nscc_param {
	uint64_t link_bps, max_cwnd; /* as in the profile */
	uint64_t base_rtt_ns, target_ns, max_wnd, mtu;
	uint64_t alpha_q20; /* bytes per ns, times 2^20 */
	uint64_t fair, eta, fast_q16, fast_delay_ns;
	bool quick_adapt;
	bool trimming;
};

struct mt_nscc {
	struct mt_nscc_param p;
	uint64_t inc;	       /* accumulated increase, bytes squared */
	uint64_t adjust_bytes; /* received since the last adjustment */
	uint64_t adjust_ns;    /* when that was */
	uint64_t avg_delay_ns;
	uint64_t decrease_ns; /* last multiplicative decrease */
	uint64_t fast_bytes;  /* received in a row without delay */
	bool fast;
	uint64_t qa_end_ns, qa_bytes;
	bool qa_wanted;	      /* a trim or loss in this quick-adapt window */
	int64_t ignore_bytes; /* marks do not count until these have drained */
	uint64_t saved_cwnd;  /* before the receiver's penalty; 0: none */
};

struct mt_cc {
	const struct mt_cc_ops *ops;
	uint64_t cwnd;	  /* bytes */
	int64_t inflight; /* bytes; may go below zero, see completer.c */
	struct mt_nscc nscc;
};

struct mt_cc_ops {
	const char *name; /* as the controller API spells it */
	void (*init)(struct mt_cc *cc, const struct mt_cc_profile_cfg *cfg, uint32_t path_mtu,
		     uint64_t now_ns);
	void (*ack)(struct mt_cc *cc, const struct mt_cc_ack *ack);
	void (*loss)(struct mt_cc *cc, uint64_t now_ns, enum mt_cc_loss_kind kind, uint32_t bytes);
};

extern const struct mt_cc_ops mt_cc_none;
extern const struct mt_cc_ops mt_cc_nscc;

/* mt_cc_init starts the algorithm that the profile names. */
void mt_cc_init(struct mt_cc *cc, const struct mt_cc_profile_cfg *cfg, uint32_t path_mtu,
		uint64_t now_ns);

/*
 * mt_cc_may_send says whether `bytes` more may be in flight. With nothing in flight one packet
 * always may, or a window below one packet would never open again. REQ(req.gate.cwnd)
 */
static inline bool mt_cc_may_send(const struct mt_cc *cc, uint32_t bytes)
{
	return cc->inflight <= 0 || (uint64_t)cc->inflight + bytes <= cc->cwnd;
}

#endif
