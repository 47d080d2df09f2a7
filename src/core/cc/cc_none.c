/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc_none.c - no congestion control: MPR alone bounds what is in flight, as long as the responder
 * does not ask for less. That is flow control and is heard by every algorithm: a penalty shrinks a
 * window that starts at what is in flight, and afterwards it goes away at once (r_c) or by growing.
 */
#include "base/assert.h"
#include "core/cc/cc.h"

#define UNLIMITED UINT64_MAX

/* REQ(cc.nscc.null) */
static void none_init(struct mt_cc *cc, const struct mt_cc_profile *profile, uint32_t path_mtu,
		      uint64_t now_ns)
{
	(void)profile;
	(void)path_mtu;
	(void)now_ns;
	cc->cwnd = UNLIMITED;
}

/* A packet of the largest MTU always fits. */
#define CWND_MIN (4096u + MT_NOMINAL_HEADER)
/* What the widest MPR holds: such a window limits no QP. */
#define CWND_MAX ((uint64_t)RD_MPR_MAX * MT_MPR_UNIT * CWND_MIN)
/* Without r_c the window grows by a quarter in each RTT. */
#define GROWTH 4u

/* REQ(cc.none.penalty) */
static void none_ack(struct mt_cc *cc, const struct mt_cc_ack *ack)
{
	uint64_t cut = ack->penalty * (ack->newly_bytes / 128), floor = cut + CWND_MIN;

	if (ack->penalty) {
		if (cc->cwnd == UNLIMITED)
			cc->cwnd = (uint64_t)cc->inflight;
		if (cc->cwnd < floor)
			cc->cwnd = floor;
		cc->cwnd -= cut;
	} else if (cc->cwnd != UNLIMITED) {
		cc->cwnd += ack->newly_bytes / GROWTH;
		if (cc->cwnd >= CWND_MAX || ack->restore)
			cc->cwnd = UNLIMITED;
	}
	mb_assert(cc->cwnd >= CWND_MIN && cc->inflight >= 0);
}

static void none_loss(struct mt_cc *cc, uint64_t now_ns, enum mt_cc_loss_kind kind, uint32_t bytes)
{
	(void)cc;
	(void)now_ns;
	(void)kind;
	(void)bytes;
}

const struct mt_cc_ops mt_cc_none = {
	.name = "none",
	.init = none_init,
	.ack = none_ack,
	.loss = none_loss,
};
