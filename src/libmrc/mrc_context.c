/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc_context.c - the MRC context, parent of all other MRC objects. */
#include "libmrc/libmrc.h"

#include <stdlib.h>

/* REQ(api.version) Versions compare as numbers; the all-ones "latest" stands for the current
 * one. */
static bool version_known(uint32_t used, uint32_t current)
{
	return used <= current || used == (uint32_t)MRC_API_VER_LATEST;
}

/*
 * The structure of 1.0.0 ends before the vendor's version: what a program of that version has
 * behind it is not ours to read.
 */
static bool attr_valid(const struct mrc_context_attr *attr)
{
	if (!version_known(attr->mrc_api_version_used, MRC_API_CURRENT_VERSION))
		return false;
	return attr->mrc_api_version_used < MRC_API_VER(1, 0, 1) ||
	       version_known(attr->mrc_vendor_api_version_used, MRC_VENDOR_API_CURRENT_VERSION);
}

struct mrc_context *mrc_create_context(struct ibv_context *vcontext,
				       struct mrc_context_attr *context_attr)
{
	const struct mh_device *device;
	struct mrc_context *ctx;
	int err;

	if (!vcontext || (context_attr && !attr_valid(context_attr)))
		return iv_null(EINVAL);
	device = mh_device_find(vcontext);
	if (!device)
		return iv_null(EOPNOTSUPP);
	ctx = calloc(1, sizeof(*ctx));
	err = ctx ? mh_device_open(mh_device_index(device), ctx, &ctx->dev) : ENOMEM;
	if (err)
		return iv_drop(ctx, err);
	ctx->verbs = vcontext;
	ctx->api_version =
		context_attr ? context_attr->mrc_api_version_used : MRC_API_CURRENT_VERSION;
	pthread_mutex_init(&ctx->lock, NULL);
	return ctx;
}

int ma_context_lock(struct mrc_context *ctx)
{
	if (mh_device_is_inherited(ctx->dev))
		return ENODEV;
	pthread_mutex_lock(&ctx->lock);
	return 0;
}

void ma_context_unlock(struct mrc_context *ctx)
{
	pthread_mutex_unlock(&ctx->lock);
}

int mrc_destroy_context(struct mrc_context *mrc_ctx)
{
	bool hints;
	int err;

	if (!mrc_ctx)
		return iv_minus_one(EINVAL);
	err = ma_context_lock(mrc_ctx);
	if (err)
		return iv_minus_one(err);
	hints = mrc_ctx->n_hints != 0;
	ma_context_unlock(mrc_ctx);
	if (hints)
		return iv_minus_one(EBUSY);
	err = mh_device_close(mrc_ctx->dev);
	if (err)
		return iv_minus_one(err);
	pthread_mutex_destroy(&mrc_ctx->lock);
	free(mrc_ctx);
	return 0;
}
