/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake.h - a libibverbs.so.1 that stands for the system's own, with one device that no kernel knows
 * and a driver that is loaded as vendors' are. It counts its calls; each of them leaves FAKE_ERRNO.
 * A list fails with the errno value that the variable FAKE_FAILS holds; with FAKE_UNPLUGGED set it
 * allows drivers to destroy what is of a device without its kernel.
 */
#ifndef LIVE_REAL_FAKE_H
#define LIVE_REAL_FAKE_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#define FAKE_NODE "IBVERBS_PRIVATE_34"
#define FAKE_NAME "fake0"
/* Its kernel device has this number, so ours have those behind it. */
#define FAKE_NUMBER 3
/* No function of ours leaves this. */
#define FAKE_ERRNO EUCLEAN
#define FAKE_INT 77

/* What a driver registers: it makes contexts. */
struct fake_driver {
	struct ibv_context *(*alloc)(struct ibv_device *device);
};

/* How often a function was called; NULL: all of them together. To be found with dlsym. */
typedef unsigned int fake_calls_function(const char *name);
fake_calls_function fake_calls;

/* What passes between driver and library under the private node; the library checks it. */
void verbs_register_driver_34(const struct fake_driver *driver);
struct ibv_context *_verbs_init_and_alloc_context(struct ibv_device *device);
void verbs_set_ops(struct ibv_context *context, int a, int b, int c, int d, int e, int f, int g,
		   int h, int i);
void __verbs_log(struct ibv_context *context, unsigned int level, const char *format, ...);

#endif
