/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tx.h - from the engine's descriptors to frames on ports.
 */
#ifndef SOFTMRC_HOST_TX_H
#define SOFTMRC_HOST_TX_H

#include "host/context.h"

/* mh_tx_create makes the buffers for n_ports ports; NULL: no memory. */
struct mh_tx *mh_tx_create(uint32_t n_ports);
void mh_tx_destroy(struct mh_tx *tx);
/*
 * mh_tx_pump sends what the engine may send now, as far as ports have room and tokens, and returns
 * how many packets that were. Under nic->lock.
 */
uint32_t mh_tx_pump(struct mh_nic *nic, uint64_t now_ns);
/* mh_tx_next returns when data that waits for tokens may go out, UINT64_MAX if none waits. */
uint64_t mh_tx_next(const struct mh_nic *nic);

#endif
