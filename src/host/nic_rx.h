/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_rx.h - from ports to the engine. */
#ifndef SOFTMRC_HOST_NIC_RX_H
#define SOFTMRC_HOST_NIC_RX_H

#include "host/nic_context.h"

/* mh_rx_init fills in nic->trim_of_dscp. */
void mh_rx_init(struct mh_nic *nic);
/*
 * mh_rx_poll takes as many frames as make a burst of each port, the oldest first, and returns how
 * many that were; *more says that others may wait, which no descriptor need show. Under nic->lock.
 */
uint32_t mh_rx_poll(struct mh_nic *nic, uint64_t now_ns, bool *more);

#endif
