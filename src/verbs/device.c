/* SPDX-License-Identifier: BSD-2-Clause */
/* device.c - the list of devices, which has one entry, and opening it. */
#include "verbs/verbs.h"

#include <endian.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Vendor libraries that a program brings along look at their own fields behind a struct ibv_device
 * to see whether it is theirs. They must find zeros there, not other people's memory.
 */
#define DEVICE_BYTES 4096

static union {
	struct ibv_device ibv;
	unsigned char room[DEVICE_BYTES];
} the_device;
static uint64_t the_guid;
static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;

static void device_fill(const struct mh_device_attr *attr)
{
	struct ibv_device *dev = &the_device.ibv;

	dev->node_type = IBV_NODE_CA;
	dev->transport_type = IBV_TRANSPORT_IB;
	snprintf(dev->name, sizeof(dev->name), "%s", attr->name);
	snprintf(dev->dev_name, sizeof(dev->dev_name), "uverbs0");
	snprintf(dev->dev_path, sizeof(dev->dev_path), "/sys/class/infiniband_verbs/uverbs0");
	snprintf(dev->ibdev_path, sizeof(dev->ibdev_path), "/sys/class/infiniband/%s", attr->name);
	the_guid = attr->guid;
}

/* What the device is stays constant while the process lives, so it is filled in once. */
static int device_probe(void)
{
	struct mh_device_attr attr;
	int err = 0;

	pthread_mutex_lock(&device_lock);
	if (!the_guid) {
		err = mh_device_probe(&attr);
		if (!err)
			device_fill(&attr);
	}
	pthread_mutex_unlock(&device_lock);
	return err;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list;
	int err = device_probe();

	if (num_devices)
		*num_devices = 0;
	if (err)
		return mv_null(err);
	list = calloc(2, sizeof(struct ibv_device *));
	if (!list)
		return mv_null(ENOMEM);
	list[0] = &the_device.ibv;
	if (num_devices)
		*num_devices = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device ? device->name : NULL;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return device == &the_device.ibv ? htobe64(the_guid) : 0;
}

static void context_fill(struct mv_context *ctx)
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
	verbs->create_srq_ex = mv_create_srq_ex;
	verbs->create_cq_ex = mv_create_cq_ex;
	verbs->create_qp_ex = mv_create_qp_ex;
	ibv->device = &the_device.ibv;
	ibv->abi_compat = __VERBS_ABI_IS_EXTENDED;
	ibv->cmd_fd = ctx->no_kernel_fd;
	ibv->async_fd = mh_async_fd(ctx->nic);
	ibv->num_comp_vectors = 1;
	pthread_mutex_init(&ibv->mutex, NULL);
	mv_ops_fill(&ibv->ops);
}

static void context_free(struct mv_context *ctx)
{
	if (ctx->no_kernel_fd >= 0)
		close(ctx->no_kernel_fd);
	free(ctx);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct mv_context *ctx;
	int err;

	if (device != &the_device.ibv)
		return mv_null(EINVAL);
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return mv_null(ENOMEM);
	ctx->no_kernel_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	err = ctx->no_kernel_fd < 0 ? errno : mh_device_open(&ctx->verbs.context, &ctx->nic);
	if (err) {
		context_free(ctx);
		return mv_null(err);
	}
	context_fill(ctx);
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

	if (!context)
		return mv_minus_one(EINVAL);
	ctx = mv_context(context);
	err = mh_device_close(ctx->nic);
	if (err == EBUSY)
		return 0;
	if (err)
		return mv_minus_one(err);
	pthread_mutex_destroy(&context->mutex);
	context_free(ctx);
	return 0;
}
