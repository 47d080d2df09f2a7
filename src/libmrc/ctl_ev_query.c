/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_ev_query.c - EV profiles as a controller sees them. The EVs of AUTO profiles are those that
 * this process uses, which no state has.
 */
#include "libmrc/libmrc.h"

#include <stdlib.h>
#include <string.h>

/* A profile, and its EVs with their states. */
struct ev_view {
	uint64_t id;
	struct mn_ev_profile p;
	uint32_t n;
	struct mn_ev evs[MH_EVS_MAX];
	enum mrc_ctl_ev_state state[MH_EVS_MAX];
};

bool ma_own_ev(const struct mh_device *dev, const struct mh_device_attr *nic, uint32_t i,
	       struct mn_ev *ev)
{
	uint32_t value;

	if (mh_device_query_ev(dev, i % nic->planes, i / nic->planes, &value))
		return false;
	*ev = (struct mn_ev){.port = (uint8_t)(i % nic->planes + 1)};
	memcpy(ev->val, &value, sizeof(value));
	return true;
}

static void read(const struct mn_state *state, void *ctx)
{
	struct ev_view *v = ctx;

	v->p = state->ev[v->id];
	v->n = v->p.n_evs;
	memcpy(v->evs, &state->evs[v->p.first], v->n * sizeof(v->evs[0]));
}

static void read_own(const struct mh_device *dev, const struct mh_device_attr *nic,
		     struct ev_view *v)
{
	uint32_t all = v->p.count ? v->p.count : nic->evs;

	for (v->n = 0; v->n < all && ma_own_ev(dev, nic, v->n, &v->evs[v->n]);)
		v->n++;
}

static enum mrc_ctl_ev_state state_to_api(enum mh_ev_state state)
{
	switch (state) {
	case MH_EV_GOOD:
		return MRC_CTL_EV_GOOD;
	case MH_EV_BAD:
		return MRC_CTL_EV_ASSUMED_BAD;
	case MH_EV_DENIED:
		return MRC_CTL_EV_DENIED;
	case MH_EV_UNKNOWN:
		break;
	}
	return MRC_CTL_EV_UNKNOWN;
}

/* What was denied stays so while QPs may not use the profile. REQ(ctl.ev-denied) */
static void read_states(struct mh_device *dev, struct ev_view *v)
{
	enum mh_ev_state state[MH_EVS_MAX];

	for (uint32_t i = 0; i < v->n; i++)
		state[i] = MH_EV_UNKNOWN;
	mh_ev_profile_states(dev, (uint32_t)v->id, state);
	for (uint32_t i = 0; i < v->n; i++)
		v->state[i] = v->evs[i].denied ? MRC_CTL_EV_DENIED : state_to_api(state[i]);
}

static int read_view(struct mh_device *dev, const struct mh_device_attr *nic, struct ev_view *v)
{
	int err = mh_node_read(dev, read, v);

	if (err)
		return err;
	if (v->p.mode == MN_MODE_AUTO)
		read_own(dev, nic, v);
	read_states(dev, v);
	return 0;
}

static int query_array(const struct ev_view *v, struct mrc_ctl_ev_profile_attr *attr)
{
	int room = attr->ev_op.entry_count;

	attr->ev_op.entry_count = (int)v->n;
	if (room < (int)v->n)
		return E2BIG;
	for (uint32_t i = 0; i < v->n; i++) {
		struct mrc_ctl_ev_op_entry *entry = &attr->ev_op.entries[i];

		memcpy(entry->ev.val, v->evs[i].val, sizeof(entry->ev.val));
		entry->ev.port = v->evs[i].port;
		entry->state = v->state[i];
	}
	return 0;
}

static int find(const struct ev_view *v, const struct mrc_ctl_ev *ev, enum mrc_ctl_ev_state *state)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (v->evs[i].port == ev->port &&
		    memcmp(v->evs[i].val, ev->val, sizeof(ev->val)) == 0) {
			*state = v->state[i];
			return 0;
		}
	return ENOENT;
}

static int query_states(const struct ev_view *v, struct mrc_ctl_ev_profile_attr *attr)
{
	int n = attr->ev_op.entry_count, err = 0;

	attr->ev_op.entry_count = 0;
	while (!err && attr->ev_op.entry_count < n) {
		struct mrc_ctl_ev_op_entry *entry = &attr->ev_op.entries[attr->ev_op.entry_count];

		err = find(v, &entry->ev, &entry->state);
		attr->ev_op.entry_count += !err;
	}
	return err;
}

static int query_fields(const struct ev_view *v, struct mrc_ctl_ev_profile_attr *attr)
{
	int room = attr->ev_fields_op.field_count;

	attr->ev_fields_op.field_count = v->p.n_fields;
	if (room < v->p.n_fields)
		return E2BIG;
	for (uint32_t i = 0; i < v->p.n_fields; i++) {
		const struct mn_ev_field *f = &v->p.field[i];

		attr->ev_fields_op.fields[i] =
			(struct mrc_ctl_ev_field){f->width, f->init, f->min, f->max, f->mask};
	}
	return 0;
}

static int query_op(const struct ev_view *v, struct mrc_ctl_ev_profile_attr *attr, int mask)
{
	if (mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP)
		return query_fields(v, attr);
	if (!(mask & MRC_CTL_EV_PROFILE_EV_OP))
		return 0;
	return attr->ev_op.op == MRC_CTL_EV_OP_QUERY_EV_ARRAY ? query_array(v, attr)
							      : query_states(v, attr);
}

static void query_attributes(const struct ev_view *v, const struct mh_device_attr *nic,
			     struct mrc_ctl_ev_profile_attr *attr, int mask)
{
	bool own = v->id == MN_OWN_PROFILE;

	if (mask & MRC_CTL_EV_PROFILE_STATE)
		attr->profile_state = (enum mrc_ctl_profile_state)v->p.state;
	if (mask & MRC_CTL_EV_PROFILE_CUR_STATE)
		attr->cur_profile_state = (enum mrc_ctl_profile_state)v->p.state;
	if (mask & MRC_CTL_EV_PROFILE_MODE)
		attr->ev_mode = (enum mrc_ctl_ev_mode)v->p.mode;
	if (mask & MRC_CTL_EV_PROFILE_FMT_ID)
		attr->ev_fmt_profile_id = v->p.fmt;
	if (mask & MRC_CTL_EV_PROFILE_COUNT)
		attr->ev_count = v->n;
	if (mask & MRC_CTL_EV_PROFILE_MIN_ACTIVE)
		attr->ev_min_active = own ? nic->min_active : v->p.min_active;
	if (mask & MRC_CTL_EV_PROFILE_EVENT_MASK)
		attr->ev_event_mask = v->p.event_mask;
	if (mask & MRC_CTL_EV_PROFILE_VENDOR_CFG)
		memcpy(attr->vendor_cfg, v->p.vendor, sizeof(attr->vendor_cfg));
}

/* Of the operations, those that change nothing. */
static bool is_query(const struct mrc_ctl_ev_profile_attr *attr, int mask)
{
	if ((mask & MRC_CTL_EV_PROFILE_EV_OP) && attr->ev_op.op != MRC_CTL_EV_OP_QUERY_EV_ARRAY &&
	    attr->ev_op.op != MRC_CTL_EV_OP_QUERY_EV_STATE)
		return false;
	return !(mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP) ||
	       attr->ev_fields_op.op == MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS;
}

int mrc_ctl_query_ev_profile(struct mrc_context *mrc_ctx, uint64_t ev_profile_id,
			     struct mrc_ctl_ev_profile_attr *attr, int attr_mask)
{
	struct mh_device_attr nic;
	struct ev_view *v;
	int err;

	if (!ma_ev_call_is_valid(mrc_ctx, attr, attr_mask) || !is_query(attr, attr_mask) ||
	    ev_profile_id >= MN_EV_PROFILES)
		return iv_minus_one(EINVAL);
	mh_device_query(mrc_ctx->dev, &nic);
	v = malloc(sizeof(*v));
	if (!v)
		return iv_minus_one(ENOMEM);
	v->id = ev_profile_id;
	err = read_view(mrc_ctx->dev, &nic, v);
	if (!err)
		err = query_op(v, attr, attr_mask);
	if (!err)
		query_attributes(v, &nic, attr, attr_mask);
	free(v);
	return iv_minus_one(err);
}
