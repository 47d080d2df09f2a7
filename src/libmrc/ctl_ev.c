/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_ev.c - the device's own EV profile, number 0: all EVs of all ports, to be read only. */
#include "libmrc/libmrc.h"

#include <string.h>

#define OWN_PROFILE 0u
#define EV_KNOWN                                                                                \
	(MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_CUR_STATE | MRC_CTL_EV_PROFILE_MODE |    \
	 MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE | \
	 MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_OP |                             \
	 MRC_CTL_EV_PROFILE_EV_FIELDS_OP | MRC_CTL_EV_PROFILE_VENDOR_CFG)

/* What the profile has and does not show. */
#define NOT_SHOWN                                                          \
	(MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EV_FIELDS_OP | \
	 MRC_CTL_EV_PROFILE_VENDOR_CFG)

/* EV i of the profile, where consecutive EVs are of different ports; false: there are no more. */
static bool ev_at(const struct mh_device *dev, uint32_t planes, uint32_t i, struct mrc_ctl_ev *ev)
{
	uint32_t value;

	if (mh_device_query_ev(dev, i % planes, i / planes, &value))
		return false;
	*ev = (struct mrc_ctl_ev){.port = (uint8_t)(i % planes + 1)};
	memcpy(ev->val, &value, sizeof(value));
	return true;
}

static bool has_ev(const struct mh_device *dev, uint32_t planes, const struct mrc_ctl_ev *ev)
{
	struct mrc_ctl_ev other;

	for (uint32_t i = 0; ev_at(dev, planes, i, &other); i++)
		if (memcmp(&other, ev, sizeof(other)) == 0)
			return true;
	return false;
}

static int query_array(const struct mh_device *dev, const struct mh_device_attr *nic,
		       struct mrc_ctl_ev_profile_attr *attr)
{
	int room = attr->ev_op.entry_count;

	attr->ev_op.entry_count = (int)nic->evs;
	if (room < (int)nic->evs)
		return E2BIG;
	for (uint32_t i = 0; i < nic->evs; i++) {
		ev_at(dev, nic->planes, i, &attr->ev_op.entries[i].ev);
		attr->ev_op.entries[i].state = MRC_CTL_EV_UNKNOWN;
	}
	return 0;
}

static int query_states(const struct mh_device *dev, const struct mh_device_attr *nic,
			struct mrc_ctl_ev_profile_attr *attr)
{
	for (int i = 0; i < attr->ev_op.entry_count; i++) {
		if (!has_ev(dev, nic->planes, &attr->ev_op.entries[i].ev))
			return ENOENT;
		attr->ev_op.entries[i].state = MRC_CTL_EV_UNKNOWN;
	}
	return 0;
}

static int query_evs(const struct mh_device *dev, const struct mh_device_attr *nic,
		     struct mrc_ctl_ev_profile_attr *attr)
{
	if (attr->ev_op.entry_count < 0 || (attr->ev_op.entry_count && !attr->ev_op.entries))
		return EINVAL;
	switch (attr->ev_op.op) {
	case MRC_CTL_EV_OP_QUERY_EV_ARRAY:
		return query_array(dev, nic, attr);
	case MRC_CTL_EV_OP_QUERY_EV_STATE:
		return query_states(dev, nic, attr);
	case MRC_CTL_EV_OP_REPLACE_EV:
	case MRC_CTL_EV_OP_MODIFY_EV_STATE:
		break;
	}
	return EINVAL;
}

static int check(const struct mrc_context *ctx, uint64_t id,
		 const struct mrc_ctl_ev_profile_attr *attr, int mask)
{
	const int both = MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP;

	if (!ctx || !attr || (mask & ~EV_KNOWN) || (mask & both) == both)
		return EINVAL;
	if (id != OWN_PROFILE)
		return ENOENT;
	return mask & NOT_SHOWN ? ENOTSUP : 0;
}

int mrc_ctl_query_ev_profile(struct mrc_context *mrc_ctx, uint64_t ev_profile_id,
			     struct mrc_ctl_ev_profile_attr *attr, int attr_mask)
{
	int err = check(mrc_ctx, ev_profile_id, attr, attr_mask);
	struct mh_device_attr nic;

	if (err)
		return iv_minus_one(err);
	mh_device_query(mrc_ctx->dev, &nic);
	if (attr_mask & MRC_CTL_EV_PROFILE_EV_OP)
		err = query_evs(mrc_ctx->dev, &nic, attr);
	if (err)
		return iv_minus_one(err);
	if (attr_mask & MRC_CTL_EV_PROFILE_STATE)
		attr->profile_state = MRC_CTL_PROFILE_ONLINE;
	if (attr_mask & MRC_CTL_EV_PROFILE_CUR_STATE)
		attr->cur_profile_state = MRC_CTL_PROFILE_ONLINE;
	if (attr_mask & MRC_CTL_EV_PROFILE_MODE)
		attr->ev_mode = MRC_CTL_EV_MODE_AUTO;
	if (attr_mask & MRC_CTL_EV_PROFILE_FMT_ID)
		attr->ev_fmt_profile_id = 0;
	if (attr_mask & MRC_CTL_EV_PROFILE_COUNT)
		attr->ev_count = nic.evs;
	if (attr_mask & MRC_CTL_EV_PROFILE_EVENT_MASK)
		attr->ev_event_mask = 0;
	return 0;
}
