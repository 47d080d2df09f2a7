/* SPDX-License-Identifier: BSD-2-Clause */
/* cc_none.c - no congestion control: MPR alone bounds what is in flight. */
#include "core/cc.h"

/* REQ(cc.nscc.null) */
static void none_init(struct mt_cc *cc, const struct mt_cc_profile_cfg *cfg, uint32_t path_mtu,
		      uint64_t now_ns)
{
	(void)cfg;
	(void)path_mtu;
	(void)now_ns;
	cc->cwnd = UINT64_MAX;
}

static void none_ack(struct mt_cc *cc, const struct mt_cc_ack *ack)
{
	(void)cc;
	(void)ack;
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

void mt_cc_init(struct mt_cc *cc, const struct mt_cc_profile_cfg *cfg, uint32_t path_mtu,
		uint64_t now_ns)
{
	*cc = (struct mt_cc){.ops = cfg->kind == MT_CC_NSCC ? &mt_cc_nscc : &mt_cc_none};
	cc->ops->init(cc, cfg, path_mtu, now_ns);
}
