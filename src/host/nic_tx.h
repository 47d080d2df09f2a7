/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_tx.h - from the engine's descriptors to frames on ports.
 */
#ifndef SOFTMRC_HOST_NIC_TX_H
#define SOFTMRC_HOST_NIC_TX_H

#include "host/nic_context.h"

/* mh_tx_create makes the buffers for n_ports ports; NULL: no memory. dscp is not kept. */
struct mh_tx *mh_tx_create(uint32_t n_ports, const struct mw_dscp_map *dscp);
void mh_tx_destroy(struct mh_tx *tx);
/*
 * mh_tx_run sends what the engine may send now, as far as ports have room and tokens, and returns
 * how many packets that were. Under nic->lock.
 */
uint32_t mh_tx_run(struct mh_nic *nic, uint64_t now_ns);
/*
 * mh_tx_deadline returns when data or datagrams that wait for tokens may go out, UINT64_MAX if none
 * do.
 */
uint64_t mh_tx_deadline(const struct mh_nic *nic);

/* ---- for the UD engine: see struct mu_env; ctx is the NIC ---- */

/* mh_tx_budget returns how many packets a port may send now, MIO_BURST_MAX at most. */
uint32_t mh_tx_budget(void *ctx, uint32_t port, uint64_t now_ns);
/* mh_tx_datagram: a way leads to its destination, see mh_addr_is_reachable. */
bool mh_tx_datagram(void *ctx, const struct mu_tx *out);
void mh_tx_flush(void *ctx, uint32_t port, uint64_t now_ns);

#endif
