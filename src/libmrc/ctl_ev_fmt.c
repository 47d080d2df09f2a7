/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_ev_fmt.c - EV format profiles of the controller API. */
#include "libmrc/libmrc.h"

#include <string.h>

#define FMT_KNOWN                                                          \
	(MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_CUR_STATE | \
	 MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP | MRC_CTL_EV_FMT_VENDOR_CFG)

struct fmt_call {
	uint64_t id;
	struct mrc_ctl_ev_fmt_profile_attr *attr;
	int mask;
	enum mrc_ctl_ev_fmt_mode own; /* format of profile 0 */
	int err;
};

static bool is_arguments_valid(const struct mrc_context *ctx,
			       const struct mrc_ctl_ev_fmt_profile_attr *attr, int mask)
{
	if (!ctx || !attr || (mask & ~FMT_KNOWN))
		return false;
	return !(mask & MRC_CTL_EV_FMT_PROFILE_OP) ||
	       (attr->ev_fmt_op.fmt_field_count >= 0 &&
		(attr->ev_fmt_op.fmt_field_count == 0 || attr->ev_fmt_op.fmt_fields));
}

static int change(struct mn_state *state, const struct mn_device *d, void *ctx)
{
	struct fmt_call *call = ctx;
	const struct mrc_ctl_ev_fmt_profile_attr *attr = call->attr;
	uint8_t width[MN_FIELDS_MAX + 1];
	struct mn_fmt_change c = {.state = (uint32_t)attr->profile_state,
				  .format = (uint32_t)attr->ev_fmt_mode,
				  .width = width,
				  .n_fields = (uint32_t)attr->ev_fmt_op.fmt_field_count,
				  .vendor = attr->vendor_cfg};

	if (call->mask & MRC_CTL_EV_FMT_PROFILE_STATE)
		c.mask |= MN_FMT_STATE;
	if (call->mask & MRC_CTL_EV_FMT_PROFILE_MODE)
		c.mask |= MN_FMT_FORMAT;
	if (call->mask & MRC_CTL_EV_FMT_VENDOR_CFG)
		c.mask |= MN_FMT_VENDOR;
	if (call->mask & MRC_CTL_EV_FMT_PROFILE_OP) {
		c.mask |= MN_FMT_FIELDS;
		for (uint32_t i = 0; i < c.n_fields && i < sizeof(width); i++)
			width[i] = attr->ev_fmt_op.fmt_fields[i].width;
	}
	return mn_fmt_modify(state, d, call->id, &c);
}

/* REQ(ctl.profile-states) REQ(ctl.ev-modes) */
int mrc_ctl_modify_ev_fmt_profile(struct mrc_context *mrc_ctx, uint64_t ev_fmt_profile_id,
				  struct mrc_ctl_ev_fmt_profile_attr *attr, int attr_mask)
{
	struct fmt_call call = {.id = ev_fmt_profile_id, .attr = attr, .mask = attr_mask};

	if (!is_arguments_valid(mrc_ctx, attr, attr_mask) ||
	    (attr_mask & MRC_CTL_EV_FMT_PROFILE_CUR_STATE) ||
	    ((attr_mask & MRC_CTL_EV_FMT_PROFILE_OP) &&
	     attr->ev_fmt_op.op != MRC_CTL_EV_FMT_OP_MODIFY_FIELDS))
		return iv_minus_one(EINVAL);
	return iv_minus_one(mh_node_change(mrc_ctx->dev, change, &call, NULL));
}

/* The device's own format, which no controller makes. */
static struct mn_fmt_profile own_format(enum mrc_ctl_ev_fmt_mode mode)
{
	struct mn_fmt_profile p = {
		.state = MN_ONLINE, .format = (uint8_t)mode, .n_fields = 1, .width = {16, 16}};

	if (mode == MRC_CTL_EV_FMT_MODE_STEV)
		p.n_fields = 2;
	return p;
}

static int read_fields(const struct mn_fmt_profile *p, struct mrc_ctl_ev_fmt_profile_attr *attr)
{
	int room = attr->ev_fmt_op.fmt_field_count;

	attr->ev_fmt_op.fmt_field_count = p->n_fields;
	if (room < p->n_fields)
		return E2BIG;
	for (uint32_t i = 0; i < p->n_fields; i++)
		attr->ev_fmt_op.fmt_fields[i].width = p->width[i];
	return 0;
}

static void read(const struct mn_state *state, void *ctx)
{
	struct fmt_call *call = ctx;
	struct mrc_ctl_ev_fmt_profile_attr *attr = call->attr;
	struct mn_fmt_profile p =
		call->id == MN_OWN_PROFILE ? own_format(call->own) : state->fmt[call->id];

	if (call->mask & MRC_CTL_EV_FMT_PROFILE_OP)
		call->err = read_fields(&p, attr);
	if (call->err)
		return;
	if (call->mask & MRC_CTL_EV_FMT_PROFILE_STATE)
		attr->profile_state = (enum mrc_ctl_profile_state)p.state;
	if (call->mask & MRC_CTL_EV_FMT_PROFILE_CUR_STATE)
		attr->cur_profile_state = (enum mrc_ctl_profile_state)p.state;
	if (call->mask & MRC_CTL_EV_FMT_PROFILE_MODE)
		attr->ev_fmt_mode = (enum mrc_ctl_ev_fmt_mode)p.format;
	if (call->mask & MRC_CTL_EV_FMT_VENDOR_CFG)
		memcpy(attr->vendor_cfg, p.vendor, sizeof(attr->vendor_cfg));
}

int mrc_ctl_query_ev_fmt_profile(struct mrc_context *mrc_ctx, uint64_t ev_fmt_profile_id,
				 struct mrc_ctl_ev_fmt_profile_attr *attr, int attr_mask)
{
	struct fmt_call call = {.id = ev_fmt_profile_id, .attr = attr, .mask = attr_mask};
	struct mh_device_attr nic;
	int err;

	if (!is_arguments_valid(mrc_ctx, attr, attr_mask) || ev_fmt_profile_id >= MN_FMT_PROFILES ||
	    ((attr_mask & MRC_CTL_EV_FMT_PROFILE_OP) &&
	     attr->ev_fmt_op.op != MRC_CTL_EV_FMT_OP_QUERY_FIELDS))
		return iv_minus_one(EINVAL);
	mh_device_query(mrc_ctx->dev, &nic);
	call.own = ma_ev_fmt_mode(&nic);
	err = mh_node_read(mrc_ctx->dev, read, &call);
	return iv_minus_one(err ? err : call.err);
}
