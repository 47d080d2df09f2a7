/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_tx.h - from the engine's descriptors to frames on ports.
 */
#ifndef SOFTMRC_HOST_NIC_TX_H
#define SOFTMRC_HOST_NIC_TX_H

#include "host/nic_context.h"
#include "wire/datagram.h"

/* mh_tx_create makes the buffers for n_ports ports; NULL: no memory. dscp is not kept. */
struct mh_tx *mh_tx_create(uint32_t n_ports, const struct mw_dscp_map *dscp);
void mh_tx_destroy(struct mh_tx *tx);
/*
 * mh_tx_run sends what the engine may send now, as far as ports have room and tokens, and returns
 * how many packets that were. Under nic->lock.
 */
uint32_t mh_tx_run(struct mh_nic *nic, uint64_t now_ns);
/* mh_tx_deadline returns when data that waits for tokens may go out, UINT64_MAX if none waits. */
uint64_t mh_tx_deadline(const struct mh_nic *nic);

/* ---- datagrams, which the engine knows nothing of ---- */

struct mh_tx_datagram {
	struct mw_datagram headers;
	struct rd_gid dest; /* a way leads there, see mh_addr_is_reachable */
	uint32_t port, ev;
	uint8_t traffic_class;
	const struct rd_sge *sge; /* the payload; lkeys were checked, or are MT_LKEY_ADAPTER */
	uint32_t n_sge;		  /* 0 .. RD_SGE_MAX */
};

/* mh_tx_budget returns how many packets a port may send now, MIO_BURST_MAX at most. */
uint32_t mh_tx_budget(struct mh_nic *nic, uint32_t port, uint64_t now_ns);
/*
 * mh_tx_datagram puts a datagram into its port's burst, at most mh_tx_budget of them before
 * mh_tx_flush hands the burst to the driver; until then its memory must stay as it is. false: its
 * memory is gone, and it is not there. Under nic->lock, as the others.
 */
bool mh_tx_datagram(struct mh_nic *nic, const struct mh_tx_datagram *out);
void mh_tx_flush(struct mh_nic *nic, uint32_t port, uint64_t now_ns);

#endif
