/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_device.c - what a controller may know about the device: limits, versions, ports. */
#include "libmrc/libmrc.h"

#include <limits.h>

/* A source port is 16 bits wide, with a flow label 32. */
#define UDP_EV_BITS 16u
#define STEV_EV_BITS 32u

#define OPTIONS                                                                                \
	(MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE | MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE | \
	 MRC_CTL_OPT_CAP_EV_EVENT | MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT |                \
	 MRC_CTL_OPT_CAP_EP_OP_EV_PROBE)

/* The array is const as a whole, but mrc_ctl.h gives it out as const char **. */
static const char *const algorithms[] = {MA_NSCC, NULL};

/* Ports count from 1; the mask has no bit for a 32nd one. */
static uint32_t port_mask(uint32_t planes)
{
	uint32_t mask = 0;

	for (uint32_t port = 1; port <= planes && port < sizeof(mask) * CHAR_BIT; port++)
		mask |= UINT32_C(1) << port;
	return mask;
}

enum mrc_ctl_ev_fmt_mode ma_ev_fmt_mode(const struct mh_device_attr *nic)
{
	return nic->ev_format == MH_EV_STEV ? MRC_CTL_EV_FMT_MODE_STEV : MRC_CTL_EV_FMT_MODE_UDP;
}

static void fill_attr(const struct mh_device_attr *nic, void *out)
{
	struct mrc_ctl_device_attr *attr = out;
	bool stev = nic->ev_format == MH_EV_STEV;

	*attr = (struct mrc_ctl_device_attr){
		.mrc_ctl_protocol_version = MRC_CTL_PROTOCOL_VERSION_1,
		.ev = {.ev_max_fmt_profiles = MN_FMT_PROFILES,
		       .ev_max_profiles = MN_EV_PROFILES,
		       .ev_max_count = MN_EVS_MAX,
		       .ev_free_count = MN_EVS_MAX,
		       .ev_max_count_profile = MN_EVS_PROFILE_MAX,
		       .ev_count_align = 1,
		       .ev_max_width = stev ? STEV_EV_BITS : UDP_EV_BITS,
		       .ev_fmt_mode_mask = (uint32_t)ma_ev_fmt_mode(nic),
		       .ev_mode_mask =
			       MRC_CTL_EV_MODE_AUTO | MRC_CTL_EV_MODE_EXP | MRC_CTL_EV_MODE_GEN},
		.cc = {.cc_max_profiles = MN_CC_PROFILES,
		       .algorithms = (const char **)(uintptr_t)algorithms},
		.phy_port_mask = port_mask(nic->planes),
		.opt_attr = OPTIONS,
	};
}

static void read_free(const struct mn_state *state, void *ctx)
{
	struct mrc_ctl_device_attr *attr = ctx;

	attr->ev.ev_free_count = MN_EVS_MAX - state->n_evs;
}

static int query_device(struct ibv_context *context, struct mrc_ctl_device_attr *attr,
			int *supported)
{
	int err = ma_query_device(context, attr, sizeof(*attr), supported, fill_attr);

	return err || !*supported ? err : mh_node_read(mh_device_find(context), read_free, attr);
}

int mrc_ctl_query_device_ex(struct ibv_context *context, struct mrc_context *mcontext,
			    struct mrc_ctl_device_attr *attr, int *supported)
{
	if (mcontext && mcontext->verbs != context)
		return iv_minus_one(EINVAL);
	return iv_minus_one(query_device(context, attr, supported));
}

int mrc_ctl_query_device(struct ibv_context *context, struct mrc_ctl_device_attr *attr)
{
	int supported = 0;
	int err = query_device(context, attr, &supported);

	return iv_minus_one(!err && !supported ? EOPNOTSUPP : err);
}

void mrc_ctl_query_version(uint32_t *current_version, uint32_t *last_supported_version,
			   uint32_t *vendor_version, uint32_t *last_supported_vendor_version)
{
	if (current_version)
		*current_version = MRC_CTL_API_CURRENT_VERSION;
	if (last_supported_version)
		*last_supported_version = MRC_CTL_API_LAST_SUPPORTED_VERSION;
	if (vendor_version)
		*vendor_version = MRC_CTL_VENDOR_API_CURRENT_VERSION;
	if (last_supported_vendor_version)
		*last_supported_vendor_version = MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION;
}

static int check_port(const struct mrc_context *ctx, uint8_t port_num,
		      const struct mrc_ctl_port_attr *attr, int attr_mask)
{
	struct mh_plane_attr plane;

	if (!ctx || !attr || !port_num || (attr_mask & ~MRC_CTL_PORT_ADMIN_STATE))
		return EINVAL;
	return mh_device_query_plane(ctx->dev, port_num - 1u, &plane);
}

struct port_call {
	uint8_t port;
	struct mrc_ctl_port_attr *attr;
};

/* A port that is suspended, which this API has no word for, carries no traffic either. */
static void read_port(const struct mn_state *state, void *ctx)
{
	const struct port_call *call = ctx;

	call->attr->port_admin_state = state->port_admin[call->port - 1] == MN_PORT_ENABLED
					       ? MRC_CTL_PORT_ADMIN_ENABLED
					       : MRC_CTL_PORT_ADMIN_DISABLED;
}

int mrc_ctl_query_port(struct mrc_context *context, uint8_t port_num,
		       struct mrc_ctl_port_attr *attr, int attr_mask)
{
	struct port_call call = {port_num, attr};
	int err = check_port(context, port_num, attr, attr_mask);

	if (!err && attr_mask & MRC_CTL_PORT_ADMIN_STATE)
		err = mh_node_read(context->dev, read_port, &call);
	return iv_minus_one(err);
}

static int change_port(struct mn_state *state, const struct mn_device *d, void *ctx)
{
	const struct port_call *call = ctx;
	bool up = call->attr->port_admin_state == MRC_CTL_PORT_ADMIN_ENABLED;

	return mn_port_modify(state, d, call->port, up ? MN_PORT_ENABLED : MN_PORT_DOWN);
}

/* REQ(ctl.port-admin) */
int mrc_ctl_modify_port(struct mrc_context *context, uint8_t port_num,
			struct mrc_ctl_port_attr *attr, int attr_mask)
{
	struct port_call call = {port_num, attr};
	int err = check_port(context, port_num, attr, attr_mask);

	if (err || !(attr_mask & MRC_CTL_PORT_ADMIN_STATE))
		return iv_minus_one(err);
	if (attr->port_admin_state != MRC_CTL_PORT_ADMIN_DISABLED &&
	    attr->port_admin_state != MRC_CTL_PORT_ADMIN_ENABLED)
		return iv_minus_one(EINVAL);
	return iv_minus_one(mh_node_change(context->dev, change_port, &call, NULL));
}
