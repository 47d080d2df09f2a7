/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_device.c - what a controller may know about the device: limits, versions, ports. */
#include "libmrc/libmrc.h"

#include <limits.h>

/* A source port is 16 bits wide. */
#define UDP_EV_BITS 16u

/* The array is const as a whole, but mrc_ctl.h gives it out as const char **. */
static const char *const algorithms[] = {"uet-1.0-nscc", NULL};

/* Ports count from 1; the mask has no bit for a 32nd one. */
static uint32_t port_mask(uint32_t planes)
{
	uint32_t mask = 0;

	for (uint32_t port = 1; port <= planes && port < sizeof(mask) * CHAR_BIT; port++)
		mask |= UINT32_C(1) << port;
	return mask;
}

static void fill_attr(const struct mh_device_attr *nic, void *out)
{
	struct mrc_ctl_device_attr *attr = out;

	*attr = (struct mrc_ctl_device_attr){
		.mrc_ctl_protocol_version = MRC_CTL_PROTOCOL_VERSION_1,
		.ev = {.ev_max_count = nic->evs,
		       .ev_max_width = UDP_EV_BITS,
		       .ev_fmt_mode_mask = MRC_CTL_EV_FMT_MODE_UDP,
		       .ev_mode_mask = MRC_CTL_EV_MODE_AUTO},
		.cc = {.algorithms = (const char **)(uintptr_t)algorithms},
		.phy_port_mask = port_mask(nic->planes),
		.opt_attr = MRC_CTL_OPT_CAP_EP_OP_EV_PROBE,
	};
}

int mrc_ctl_query_device_ex(struct ibv_context *context, struct mrc_context *mcontext,
			    struct mrc_ctl_device_attr *attr, int *supported)
{
	if (mcontext && mcontext->verbs != context)
		return iv_minus_one(EINVAL);
	return iv_minus_one(ma_query_device(context, attr, sizeof(*attr), supported, fill_attr));
}

int mrc_ctl_query_device(struct ibv_context *context, struct mrc_ctl_device_attr *attr)
{
	int supported = 0;
	int err = ma_query_device(context, attr, sizeof(*attr), &supported, fill_attr);

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

int mrc_ctl_query_port(struct mrc_context *context, uint8_t port_num,
		       struct mrc_ctl_port_attr *attr, int attr_mask)
{
	int err = check_port(context, port_num, attr, attr_mask);

	if (err)
		return iv_minus_one(err);
	if (attr_mask & MRC_CTL_PORT_ADMIN_STATE)
		attr->port_admin_state = MRC_CTL_PORT_ADMIN_ENABLED;
	return 0;
}

int mrc_ctl_modify_port(struct mrc_context *context, uint8_t port_num,
			struct mrc_ctl_port_attr *attr, int attr_mask)
{
	int err = check_port(context, port_num, attr, attr_mask);

	if (err)
		return iv_minus_one(err);
	if ((attr_mask & MRC_CTL_PORT_ADMIN_STATE) &&
	    attr->port_admin_state != MRC_CTL_PORT_ADMIN_DISABLED &&
	    attr->port_admin_state != MRC_CTL_PORT_ADMIN_ENABLED)
		return iv_minus_one(EINVAL);
	return iv_minus_one(ENOTSUP);
}
