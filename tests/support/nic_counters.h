/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_counters.h - the counters of a device in this process, which others read from its segment. */
#ifndef SUPPORT_NIC_COUNTERS_H
#define SUPPORT_NIC_COUNTERS_H

#include "host/state/shards.h"
#include "host/stats/stats.h"

static inline uint32_t nic_counters(const struct mh_device *dev,
				    struct mh_counter counters[MH_COUNTERS_MAX])
{
	uint32_t n;

	mh_shards_lock(dev->nic);
	n = mh_counters_read(dev->nic, counters);
	mh_shards_unlock(dev->nic);
	return n;
}

#endif
