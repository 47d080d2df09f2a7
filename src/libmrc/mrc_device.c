/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc_device.c - does a verbs device speak MRC, and within which limits. */
#include "libmrc/libmrc.h"

#include <string.h>

static void fill_attr(const struct mh_device_attr *nic, void *out)
{
	struct mrc_device_attr *attr = out;

	*attr = (struct mrc_device_attr){
		.mrc_protocol_version = MRC_PROTOCOL_VERSION_1,
		.wimm_attr = {.max_wimm = nic->max_wimm, .max_wimm_dest = nic->max_wimm_dest},
		.mpr_attr = {.max_mpr = nic->max_mpr, .mpr_resolution = nic->mpr_resolution},
		.qp_attr = {.max_qp_hint = MA_HINTS_MAX},
		.cap = (nic->trim_nack ? MRC_DEVICE_CAP_TRIM_NACK : 0) |
		       (nic->dynamic_mpr ? MRC_DEVICE_CAP_DYNAMIC_MPR : 0) |
		       (nic->svc_time ? MRC_DEVICE_CAP_SVC_TIME : 0),
	};
}

/* A context that was not opened by our drop-in is another provider's. REQ(api.query-device) */
int ma_query_device(const struct ibv_context *context, void *attr, size_t bytes, int *supported,
		    void (*fill)(const struct mh_device_attr *nic, void *attr))
{
	const struct mh_device *dev;
	struct mh_device_attr nic;

	if (!context || !attr || !supported)
		return EINVAL;
	dev = mh_device_find(context);
	*supported = dev != NULL;
	if (dev) {
		mh_device_query(dev, &nic);
		fill(&nic, attr);
	} else {
		memset(attr, 0, bytes);
	}
	return 0;
}

int mrc_query_device(struct ibv_context *context, struct mrc_device_attr *attr, int *supported)
{
	return iv_minus_one(ma_query_device(context, attr, sizeof(*attr), supported, fill_attr));
}

/* All API versions so far have the same mrc_device_attr. */
int mrc_query_device_ex(struct ibv_context *context, struct mrc_context *mcontext,
			struct mrc_device_attr *attr, int *supported)
{
	if (mcontext && mcontext->verbs != context)
		return iv_minus_one(EINVAL);
	return iv_minus_one(ma_query_device(context, attr, sizeof(*attr), supported, fill_attr));
}
