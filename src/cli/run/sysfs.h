/* SPDX-License-Identifier: BSD-2-Clause */
/* device.h - what programs read of an RDMA device below /sys and /dev, for mrc0 and others. */
#ifndef SOFTMRC_CLI_RUN_SYSFS_H
#define SOFTMRC_CLI_RUN_SYSFS_H

#include "cli/run/mount_view.h"

#include <stdbool.h>
#include <stdint.h>

#define RUN_DEVICES_MAX 8

/* What the files say. */
struct run_device {
	char name[16];
	char uverbs[16]; /* the name of its kernel device: uverbs0, or behind real ones */
	uint8_t gid[16];
	uint64_t guid;
	char interface[16]; /* that has the GID's address; empty: none */
	bool up;
};

/*
 * run_device_query opens each device for a moment, notes what it says of itself, and returns how
 * many there are; 0: one has said on stderr why it cannot be opened.
 */
int run_device_query(struct run_device d[RUN_DEVICES_MAX]);

/*
 * run_device_write_sysfs makes /dev/infiniband/uverbs0, /sys/class/infiniband/mrc0 and
 * /sys/class/infiniband_verbs/uverbs0, and the same of the others, in the view that was entered,
 * beside those of real devices. 0, or -1.
 */
int run_device_write_sysfs(const struct run_device *d, int n, struct run_view_error *e);

#endif
