/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_ev_profile.c - changes of EV profiles: attributes, states, EVs. */
#include "libmrc/libmrc.h"

#include <string.h>

#define EV_ATTRIBUTES                                                                     \
	(MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID | \
	 MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE |                       \
	 MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_FIELDS_OP |                \
	 MRC_CTL_EV_PROFILE_VENDOR_CFG)
#define EV_KNOWN (EV_ATTRIBUTES | MRC_CTL_EV_PROFILE_CUR_STATE | MRC_CTL_EV_PROFILE_EV_OP)

struct modify_call {
	const struct mh_device *dev;
	uint64_t id;
	struct mrc_ctl_ev_profile_attr *attr;
	int mask;
	int entries; /* as asked for: the entries of attr say how many were done */
};

bool ma_ev_call_is_valid(const struct mrc_context *ctx, const struct mrc_ctl_ev_profile_attr *attr,
			 int mask)
{
	const int both = MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP;

	if (!ctx || !attr || (mask & ~EV_KNOWN) || (mask & both) == both)
		return false;
	if ((mask & MRC_CTL_EV_PROFILE_EV_OP) &&
	    (attr->ev_op.entry_count < 0 || (attr->ev_op.entry_count && !attr->ev_op.entries)))
		return false;
	return !(mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP) ||
	       (attr->ev_fields_op.field_count >= 0 &&
		(attr->ev_fields_op.field_count == 0 || attr->ev_fields_op.fields));
}

/* Of the two, one is to change something. */
static bool is_change(const struct mrc_ctl_ev_profile_attr *attr, int mask)
{
	if (mask & MRC_CTL_EV_PROFILE_CUR_STATE)
		return false;
	if ((mask & MRC_CTL_EV_PROFILE_EV_OP) && attr->ev_op.op != MRC_CTL_EV_OP_REPLACE_EV &&
	    attr->ev_op.op != MRC_CTL_EV_OP_MODIFY_EV_STATE)
		return false;
	return !(mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP) ||
	       attr->ev_fields_op.op == MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS;
}

struct mn_ev ma_ev_to_node(const struct mrc_ctl_ev *ev)
{
	struct mn_ev out = {.port = ev->port};

	memcpy(out.val, ev->val, sizeof(out.val));
	return out;
}

/* What a controller may say of an EV; nothing said is GOOD. */
static bool wanted_state(int state, bool *denied)
{
	*denied = state == (int)MRC_CTL_EV_DENIED;
	return *denied || state == 0 || state == (int)MRC_CTL_EV_GOOD;
}

/* The device's own EVs are not in the state, which takes any; a profile has `count` or all. */
static bool is_own_ev(const struct mh_device *dev, uint32_t count, const struct mn_ev *ev)
{
	struct mh_device_attr nic;
	struct mn_ev other;

	mh_device_query(dev, &nic);
	for (uint32_t i = 0; i < (count ? count : nic.evs); i++)
		if (ma_own_ev(dev, &nic, i, &other) && other.port == ev->port &&
		    memcmp(other.val, ev->val, sizeof(ev->val)) == 0)
			return true;
	return false;
}

static int change_ev(struct mn_state *state, const struct mn_device *d,
		     const struct modify_call *call, const struct mrc_ctl_ev_op_entry *entry)
{
	struct mn_ev_op op = {
		.ev = ma_ev_to_node(&entry->ev),
		.replaces = call->attr->ev_op.op == MRC_CTL_EV_OP_REPLACE_EV,
		.all = entry->flags & MRC_CTL_EV_OP_F_ALL_COPIES,
		.with = ma_ev_to_node(&entry->ev_new),
	};

	if (entry->flags & ~(uint32_t)MRC_CTL_EV_OP_F_ALL_COPIES ||
	    !wanted_state((int)entry->state, &op.denied))
		return EINVAL;
	if (call->id < MN_EV_PROFILES && state->ev[call->id].mode == MN_MODE_AUTO && !op.replaces &&
	    !is_own_ev(call->dev, state->ev[call->id].count, &op.ev))
		return ENOENT;
	return mn_ev_modify(state, d, call->id, &op);
}

/* Entry by entry, up to the first that fails; entry_count says how many were done.
 * REQ(ctl.ev-ops) */
static int change_evs(struct mn_state *state, const struct mn_device *d,
		      const struct modify_call *call)
{
	struct mrc_ctl_ev_profile_attr *attr = call->attr;
	int err = 0;

	attr->ev_op.entry_count = 0;
	while (!err && attr->ev_op.entry_count < call->entries) {
		err = change_ev(state, d, call, &attr->ev_op.entries[attr->ev_op.entry_count]);
		attr->ev_op.entry_count += !err;
	}
	return err;
}

static uint32_t change_mask(int mask)
{
	static const struct {
		int api;
		uint32_t node;
	} bits[] = {
		{MRC_CTL_EV_PROFILE_STATE, MN_EV_STATE},
		{MRC_CTL_EV_PROFILE_MODE, MN_EV_MODE},
		{MRC_CTL_EV_PROFILE_FMT_ID, MN_EV_FMT},
		{MRC_CTL_EV_PROFILE_COUNT, MN_EV_COUNT},
		{MRC_CTL_EV_PROFILE_MIN_ACTIVE, MN_EV_MIN_ACTIVE},
		{MRC_CTL_EV_PROFILE_EVENT_MASK, MN_EV_EVENT_MASK},
		{MRC_CTL_EV_PROFILE_EV_FIELDS_OP, MN_EV_FIELDS},
		{MRC_CTL_EV_PROFILE_VENDOR_CFG, MN_EV_VENDOR},
	};
	uint32_t out = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (mask & bits[i].api)
			out |= bits[i].node;
	return out;
}

static int change_attributes(struct mn_state *state, const struct mn_device *d,
			     const struct modify_call *call)
{
	const struct mrc_ctl_ev_profile_attr *attr = call->attr;
	struct mn_ev_field field[MN_FIELDS_MAX];
	struct mn_ev_change c = {
		.mask = change_mask(call->mask),
		.state = (uint32_t)attr->profile_state,
		.mode = (uint32_t)attr->ev_mode,
		.fmt = attr->ev_fmt_profile_id,
		.count = attr->ev_count,
		.min_active = attr->ev_min_active,
		.event_mask = (uint32_t)attr->ev_event_mask,
		.field = field,
		.n_fields = (uint32_t)attr->ev_fields_op.field_count,
		.vendor = attr->vendor_cfg,
	};

	for (uint32_t i = 0; c.mask & MN_EV_FIELDS && i < c.n_fields && i < MN_FIELDS_MAX; i++) {
		const struct mrc_ctl_ev_field *f = &attr->ev_fields_op.fields[i];

		field[i] = (struct mn_ev_field){f->width, f->init_val, f->min_val, f->max_val,
						f->mask};
	}
	return mn_ev_profile_modify(state, d, call->id, &c);
}

/* EVs are changed before a profile goes ONLINE with them, and after it was made for them. */
static int change(struct mn_state *state, const struct mn_device *d, void *ctx)
{
	const struct modify_call *call = ctx;
	bool evs = call->mask & MRC_CTL_EV_PROFILE_EV_OP;
	bool attributes = !evs || call->mask & EV_ATTRIBUTES;
	bool evs_first = call->mask & MRC_CTL_EV_PROFILE_STATE &&
			 call->attr->profile_state == MRC_CTL_PROFILE_ONLINE;
	int err = 0;

	if (evs && evs_first)
		err = change_evs(state, d, call);
	if (!err && attributes)
		err = change_attributes(state, d, call);
	if (!err && evs && !evs_first)
		err = change_evs(state, d, call);
	return err;
}

/* REQ(ctl.profile-states) REQ(ctl.ev-modes) */
int mrc_ctl_modify_ev_profile(struct mrc_context *mrc_ctx, uint64_t ev_profile_id,
			      struct mrc_ctl_ev_profile_attr *attr, int attr_mask)
{
	struct modify_call call = {.id = ev_profile_id, .attr = attr, .mask = attr_mask};
	bool in_force;
	int err;

	if (!ma_ev_call_is_valid(mrc_ctx, attr, attr_mask) || !is_change(attr, attr_mask))
		return iv_minus_one(EINVAL);
	call.dev = mrc_ctx->dev;
	call.entries = attr->ev_op.entry_count;
	/* Of a change of attributes that is refused nothing comes. */
	if (attr_mask & MRC_CTL_EV_PROFILE_EV_OP)
		attr->ev_op.entry_count = 0;
	err = mh_node_change(mrc_ctx->dev, change, &call, &in_force);
	if (!in_force && attr_mask & MRC_CTL_EV_PROFILE_EV_OP)
		attr->ev_op.entry_count = 0;
	return iv_minus_one(err);
}
