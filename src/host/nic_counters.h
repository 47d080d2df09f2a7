/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_counters.h - all counters of the process in one list: engine, host, ports. */
#ifndef SOFTMRC_HOST_NIC_COUNTERS_H
#define SOFTMRC_HOST_NIC_COUNTERS_H

#include "host/nic_context.h"

#define MH_COUNTERS_MAX 128u

/* mh_counters_read fills in the list and returns its length. Under nic->lock. */
uint32_t mh_counters_read(const struct mh_nic *nic, struct mh_counter counters[MH_COUNTERS_MAX]);

#endif
