/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_provider.c - a driver of the fake library, which finds it under the name libibverbs.so.1 as
 * drivers of vendors do: it registers when it is loaded and is called when a device is opened.
 */
#include "live/real/fake.h"

static struct ibv_context *alloc(struct ibv_device *device)
{
	struct ibv_context *context = _verbs_init_and_alloc_context(device);

	/* As many arguments as ibv_cmd_* have, and such that vary, one of them no integer. */
	verbs_set_ops(context, 1, 2, 3, 4, 5, 6, 7, 8, 9);
	__verbs_log(context, 1, "%d %f", 5, 2.5);
	return context;
}

static const struct fake_driver driver = {alloc};

__attribute__((constructor)) static void come(void)
{
	verbs_register_driver_34(&driver);
}
