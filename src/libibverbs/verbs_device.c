/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_device.c - our devices, one unless more are configured, and opening them. */
#include "libibverbs/real_library.h"

#include <endian.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Vendor libraries that a program brings along look at their own fields behind a struct ibv_device
 * to see whether it is theirs. They must find zeros there, not other people's memory.
 */
#define DEVICE_BYTES 4096

struct device {
	union {
		struct ibv_device ibv;
		unsigned char room[DEVICE_BYTES];
	};
	uint64_t guid;
};

static struct device devices[MH_DEVICES_MAX];
static uint32_t n_devices; /* 0: not known yet */

static void device_fill(uint32_t i, uint32_t number, const struct mh_device_attr *attr)
{
	struct ibv_device *dev = &devices[i].ibv;

	dev->node_type = IBV_NODE_CA;
	dev->transport_type = IBV_TRANSPORT_IB;
	snprintf(dev->name, sizeof(dev->name), "%s", attr->name);
	snprintf(dev->dev_name, sizeof(dev->dev_name), "uverbs%u", number);
	snprintf(dev->dev_path, sizeof(dev->dev_path), "/sys/class/infiniband_verbs/uverbs%u",
		 number);
	snprintf(dev->ibdev_path, sizeof(dev->ibdev_path), "/sys/class/infiniband/%s", attr->name);
	devices[i].guid = attr->guid;
}

/* What devices are stays constant while the process lives, so it is filled in once. */
int mv_device_probe(uint32_t first, uint32_t *count)
{
	struct mh_device_attr attr;
	uint32_t n = 0;
	int err = 0;

	mv_lock(MV_LOCK_DEVICES);
	while (!n_devices && n < MH_DEVICES_MAX && !err) {
		err = mh_device_probe(n, &attr);
		if (!err) {
			device_fill(n, first + n, &attr);
			n++;
		}
	}
	/* The first number that is none ends the list. */
	if (err == ENODEV && n > 0)
		err = 0;
	if (!err && n > 0)
		n_devices = n;
	*count = n_devices;
	mv_unlock(MV_LOCK_DEVICES);
	return err;
}

struct ibv_device *mv_device_nth(uint32_t i)
{
	return &devices[i].ibv;
}

bool mv_device_is_ours(const struct ibv_device *device)
{
	uintptr_t at = (uintptr_t)device, start = (uintptr_t)devices;

	return at >= start && at < start + sizeof(devices);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	MV_TO_REAL(mv_real_of_device(device), ibv_get_device_name, (device));
	return device ? device->name : NULL;
}

/* The number of one of our devices, n_devices for any other. */
static uint32_t device_number(const struct ibv_device *device)
{
	uint32_t i = 0;

	while (i < n_devices && &devices[i].ibv != device)
		i++;
	return i;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	uint32_t i = device_number(device);

	MV_TO_REAL(mv_real_of_device(device), ibv_get_device_guid, (device));
	return i < n_devices ? htobe64(devices[i].guid) : 0;
}

static void context_fill(struct mv_context *ctx, struct ibv_device *device)
{
	struct verbs_context *verbs = &ctx->verbs;
	struct ibv_context *ibv = &verbs->context;

	verbs->sz = sizeof(*verbs);
	verbs->query_port = mv_query_port;
	verbs->query_device_ex = mv_query_device_ex;
	verbs->alloc_td = mv_alloc_td;
	verbs->dealloc_td = mv_dealloc_td;
	verbs->alloc_parent_domain = mv_alloc_parent_domain;
	verbs->query_rt_values = mv_query_rt_values;
	verbs->alloc_null_mr = mv_alloc_null_mr;
	verbs->create_srq_ex = mv_create_srq_ex;
	verbs->create_cq_ex = mv_create_cq_ex;
	verbs->create_qp_ex = mv_create_qp_ex;
	ibv->device = device;
	ibv->abi_compat = __VERBS_ABI_IS_EXTENDED;
	ibv->cmd_fd = ctx->no_kernel_fd;
	ibv->async_fd = mh_async_fd(ctx->nic);
	ibv->num_comp_vectors = 1;
	pthread_mutex_init(&ibv->mutex, NULL);
	/* What inline verbs call without looking whether it is there. */
	ibv->ops.poll_cq = mv_poll_cq;
	ibv->ops.req_notify_cq = mv_req_notify_cq;
	ibv->ops.post_send = mv_post_send;
	ibv->ops.post_recv = mv_post_recv;
	ibv->ops.post_srq_recv = mv_post_srq_recv;
	ibv->ops.alloc_mw = mv_alloc_mw;
	ibv->ops.bind_mw = mv_bind_mw;
	ibv->ops.dealloc_mw = mv_dealloc_mw;
}

static void context_free(struct mv_context *ctx)
{
	if (ctx->no_kernel_fd >= 0)
		close(ctx->no_kernel_fd);
	free(ctx);
}

static int open_no_kernel(struct mv_context *ctx, const struct ibv_device *device)
{
	int err;

	ctx->no_kernel_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (ctx->no_kernel_fd >= 0)
		return 0;
	err = errno;
	mh_log(MRC_LOG_ERROR, "%s cannot be opened: /dev/null: %s%s", device->name, strerror(err),
	       err == EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
	return err;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	uint32_t i = device_number(device);
	struct mv_context *ctx;
	int err;

	MV_TO_REAL(mv_real_of_device(device), ibv_open_device, (device));
	if (i == n_devices)
		return iv_null(EINVAL);
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return iv_null(ENOMEM);
	err = open_no_kernel(ctx, device);
	if (!err)
		err = mh_device_open(i, &ctx->verbs.context, &ctx->nic);
	if (err) {
		context_free(ctx);
		return iv_null(err);
	}
	context_fill(ctx, device);
	return &ctx->verbs.context;
}

/*
 * Programs close devices whose objects they forgot (perftest a CQ), and of libibverbs they hear
 * that all is well. What is left stays usable, and goes with the process or with another close.
 */
int ibv_close_device(struct ibv_context *context)
{
	struct mv_context *ctx;
	int err;

	MV_TO_REAL(mv_real_of_context(context), ibv_close_device, (context));
	if (!context)
		return iv_minus_one(EINVAL);
	ctx = mv_context(context);
	err = mh_device_close(ctx->nic);
	if (err == EBUSY)
		return 0;
	if (err)
		return iv_minus_one(err);
	pthread_mutex_destroy(&context->mutex);
	context_free(ctx);
	return 0;
}
