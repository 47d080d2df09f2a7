/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_profile.c - profiles and EV events of the controller API. The device takes its EVs and its
 * congestion control from its configuration and offers a controller none to make: these calls
 * refuse, as mrc_ctl_query_device announces.
 */
#include "libmrc/libmrc.h"

static int refuse(const struct mrc_context *ctx, const void *attr)
{
	return iv_minus_one(ctx && attr ? ENOTSUP : EINVAL);
}

int mrc_ctl_modify_ev_fmt_profile(struct mrc_context *mrc_ctx, uint64_t ev_fmt_profile_id,
				  struct mrc_ctl_ev_fmt_profile_attr *attr, int attr_mask)
{
	(void)ev_fmt_profile_id;
	(void)attr_mask;
	return refuse(mrc_ctx, attr);
}

int mrc_ctl_query_ev_fmt_profile(struct mrc_context *mrc_ctx, uint64_t ev_fmt_profile_id,
				 struct mrc_ctl_ev_fmt_profile_attr *attr, int attr_mask)
{
	(void)ev_fmt_profile_id;
	(void)attr_mask;
	return refuse(mrc_ctx, attr);
}

int mrc_ctl_modify_ev_profile(struct mrc_context *mrc_ctx, uint64_t ev_profile_id,
			      struct mrc_ctl_ev_profile_attr *attr, int attr_mask)
{
	const int both = MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP;

	(void)ev_profile_id;
	/* The two kinds of operation exclude each other. */
	return (attr_mask & both) == both ? iv_minus_one(EINVAL) : refuse(mrc_ctx, attr);
}

int mrc_ctl_modify_cc_profile(struct mrc_context *mrc_ctx, uint64_t cc_profile_id,
			      struct mrc_ctl_cc_profile_attr *attr, int attr_mask)
{
	(void)cc_profile_id;
	(void)attr_mask;
	return refuse(mrc_ctx, attr);
}

int mrc_ctl_query_cc_profile(struct mrc_context *mrc_ctx, uint64_t cc_profile_id,
			     struct mrc_ctl_cc_profile_attr *attr, int attr_mask)
{
	(void)cc_profile_id;
	(void)attr_mask;
	return refuse(mrc_ctx, attr);
}

struct mrc_cq *mrc_ctl_create_ev_event_cq(struct mrc_context *mrc_ctx, int cqe, void *cq_context,
					  struct mrc_comp_channel *channel, int comp_vector)
{
	(void)cq_context;
	(void)comp_vector;
	if (!mrc_ctx || cqe < 1 || (channel && channel->ctx != mrc_ctx))
		return iv_null(EINVAL);
	return iv_null(ENOTSUP);
}

int mrc_ctl_poll_ev_event(struct mrc_cq *ev_cq, int num_entries, struct mrc_ctl_ev_event *ev_event)
{
	return -ma_errno(ev_cq && ev_event && num_entries >= 0 ? ENOTSUP : EINVAL);
}
