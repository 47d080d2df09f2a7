/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_channel.h - completion channels inside host. */
#ifndef SOFTMRC_HOST_NIC_CHANNEL_H
#define SOFTMRC_HOST_NIC_CHANNEL_H

#include "host/nic_context.h"

struct mh_channel {
	struct mh_device *dev;
	struct mh_event_queue events;
	uint32_t n_cqs; /* guarded by nic->lock */
};

#endif
