/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_cc.c - CC profiles of the controller API. REQ(ctl.cc-profile) */
#include "libmrc/libmrc.h"

#include <string.h>

#define CC_KNOWN                                                                                  \
	(MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CUR_STATE | MRC_CTL_CC_PROFILE_ALGORITHM | \
	 MRC_CTL_CC_PROFILE_CONFIG | MRC_CTL_CC_PROFILE_VENDOR_CFG)

struct cc_call {
	uint64_t id;
	struct mrc_ctl_cc_profile_attr *attr;
	int mask;
	bool own_nscc; /* what profile 0 has */
};

static struct mn_nscc nscc_from_api(const struct mrc_ctl_cc_nscc_cfg *c)
{
	return (struct mn_nscc){
		.disable_qa = c->disable_qa != 0,
		.qa_gate = c->qa_gate,
		.adjust_bytes_threshold = c->adjust_bytes_threshold,
		.adjust_period_threshold_ns = c->adjust_period_threshold,
		.base_rtt_ns = c->base_rtt,
		.max_cwnd_bytes = c->max_cwnd,
		.qa_threshold_ns = c->qa_threshold,
		.target_delay_ns = c->target_delay,
		.eta = c->eta,
		.fi = c->fi,
		.fi_scale = c->fi_scale,
		.gamma = c->gamma,
		.max_md_jump = c->max_md_jump,
	};
}

static struct mrc_ctl_cc_nscc_cfg nscc_to_api(const struct mn_nscc *c)
{
	return (struct mrc_ctl_cc_nscc_cfg){
		.disable_qa = c->disable_qa,
		.qa_gate = c->qa_gate,
		.adjust_bytes_threshold = c->adjust_bytes_threshold,
		.adjust_period_threshold = c->adjust_period_threshold_ns,
		.base_rtt = c->base_rtt_ns,
		.max_cwnd = c->max_cwnd_bytes,
		.qa_threshold = c->qa_threshold_ns,
		.target_delay = c->target_delay_ns,
		.eta = c->eta,
		.fi = c->fi,
		.fi_scale = c->fi_scale,
		.gamma = c->gamma,
		.max_md_jump = c->max_md_jump,
	};
}

static int change(struct mn_state *state, const struct mn_device *d, void *ctx)
{
	struct cc_call *call = ctx;
	const struct mrc_ctl_cc_profile_attr *attr = call->attr;
	struct mn_cc_change c = {.state = (uint32_t)attr->profile_state,
				 .vendor = attr->vendor_cfg};
	struct mn_nscc nscc;

	if (call->mask & MRC_CTL_CC_PROFILE_STATE)
		c.mask |= MN_CC_STATE;
	if (call->mask & MRC_CTL_CC_PROFILE_VENDOR_CFG)
		c.mask |= MN_CC_VENDOR;
	if (call->mask & MRC_CTL_CC_PROFILE_ALGORITHM) {
		c.mask |= MN_CC_ALGORITHM;
		if (attr->algorithm && strcmp(attr->algorithm, MA_NSCC) != 0)
			return EINVAL;
		c.algorithm = attr->algorithm ? MN_CC_NSCC : MN_CC_NONE;
	}
	if (call->mask & MRC_CTL_CC_PROFILE_CONFIG) {
		c.mask |= MN_CC_CONFIG;
		nscc = nscc_from_api(attr->cc_config);
		c.nscc = &nscc;
	}
	return mn_cc_modify(state, d, call->id, &c);
}

int mrc_ctl_modify_cc_profile(struct mrc_context *mrc_ctx, uint64_t cc_profile_id,
			      struct mrc_ctl_cc_profile_attr *attr, int attr_mask)
{
	struct cc_call call = {.id = cc_profile_id, .attr = attr, .mask = attr_mask};

	if (!mrc_ctx || !attr || (attr_mask & ~CC_KNOWN) ||
	    (attr_mask & MRC_CTL_CC_PROFILE_CUR_STATE) ||
	    ((attr_mask & MRC_CTL_CC_PROFILE_CONFIG) && !attr->cc_config))
		return iv_minus_one(EINVAL);
	return iv_minus_one(mh_node_change(mrc_ctx->dev, change, &call, NULL));
}

/* The structure that cc_config points to is the caller's, as it is when a profile is changed. */
static void write_config(const struct mn_nscc *nscc, const struct mrc_ctl_cc_profile_attr *attr)
{
	struct mrc_ctl_cc_nscc_cfg cfg = nscc_to_api(nscc);

	memcpy((void *)(uintptr_t)attr->cc_config, &cfg, sizeof(cfg));
}

static void read(const struct mn_state *state, void *ctx)
{
	struct cc_call *call = ctx;
	struct mrc_ctl_cc_profile_attr *attr = call->attr;
	const struct mn_cc_profile *p = &state->cc[call->id];
	bool nscc = call->id == MN_OWN_PROFILE ? call->own_nscc : p->algorithm == MN_CC_NSCC;

	if (call->mask & MRC_CTL_CC_PROFILE_STATE)
		attr->profile_state = (enum mrc_ctl_profile_state)p->state;
	if (call->mask & MRC_CTL_CC_PROFILE_CUR_STATE)
		attr->cur_profile_state = (enum mrc_ctl_profile_state)p->state;
	if (call->mask & MRC_CTL_CC_PROFILE_ALGORITHM)
		attr->algorithm = nscc ? MA_NSCC : NULL;
	if (call->mask & MRC_CTL_CC_PROFILE_CONFIG)
		write_config(&p->nscc, attr);
	if (call->mask & MRC_CTL_CC_PROFILE_VENDOR_CFG)
		memcpy(attr->vendor_cfg, p->vendor, sizeof(attr->vendor_cfg));
}

int mrc_ctl_query_cc_profile(struct mrc_context *mrc_ctx, uint64_t cc_profile_id,
			     struct mrc_ctl_cc_profile_attr *attr, int attr_mask)
{
	struct cc_call call = {.id = cc_profile_id, .attr = attr, .mask = attr_mask};
	struct mh_device_attr nic;

	if (!mrc_ctx || !attr || (attr_mask & ~CC_KNOWN) || cc_profile_id >= MN_CC_PROFILES ||
	    ((attr_mask & MRC_CTL_CC_PROFILE_CONFIG) && !attr->cc_config))
		return iv_minus_one(EINVAL);
	mh_device_query(mrc_ctx->dev, &nic);
	call.own_nscc = nic.nscc;
	return iv_minus_one(mh_node_read(mrc_ctx->dev, read, &call));
}
