/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc.h - congestion control behind a small interface: how many bytes may be in flight.
 *
 * A QP owns one struct mt_cc. The requester asks mt_cc_may_send and reports what it sends; the
 * completer reports what came back, as event structs. Which algorithm works behind it is the QP's
 * CC profile; algorithms do not know of PSNs, paths or QPs, and use integers only.
 */
#ifndef SOFTMRC_CORE_CC_CC_H
#define SOFTMRC_CORE_CC_CC_H

#include "core/cc/cc_nscc.h"
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
	int64_t inflight; /* bytes; may go below zero, see completer.c */
	struct mt_nscc nscc;
};

struct mt_cc_ops {
	const char *name; /* as the controller API spells it */
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

#endif
