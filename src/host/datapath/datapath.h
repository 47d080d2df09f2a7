/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * datapath.h - the engine of the NIC, and the ways of packets between it and the ports. All under
 * nic->lock; progress.c decides when.
 */
#ifndef SOFTMRC_HOST_DATAPATH_DATAPATH_H
#define SOFTMRC_HOST_DATAPATH_DATAPATH_H

#include "host/state/nic_context.h"

/* ---- the engine: its configuration, memory and errors: engine_host.c, nic_ud.c ---- */

/* mh_engine_create makes nic->engine from nic->env, with EV profile 0 and CC profile 0; ENOMEM. */
int mh_engine_create(struct mh_nic *nic, uint64_t now_ns);
void mh_engine_destroy(struct mh_nic *nic);
/* mh_engine_grow adds the memory that a call returning MT_ERR_MEMORY missed; false: there is
 * none. */
bool mh_engine_grow(struct mh_nic *nic);
/*
 * mh_engine_ev returns EV i, 0 .. env->evs - 1, of a port: a source port of its own, and with STEV
 * a label of its own; with SRv6 a path.
 */
uint32_t mh_engine_ev(const struct mh_env *env, uint32_t port, uint32_t i);
/* mh_engine_n_evs returns how many EVs profile 0 has, the same number on every port. */
uint16_t mh_engine_n_evs(const struct mh_env *env);
/* mh_engine_min_active returns how many of so many EVs are never assumed bad together. */
uint16_t mh_engine_min_active(uint16_t n_evs);
/* mh_engine_ev_cfg makes a profile of n EVs, in the caller's array, with the device's times. */
void mh_engine_ev_cfg(const struct mh_env *env, const struct mt_ev *evs, uint16_t n,
		      struct mt_ev_profile_cfg *cfg);
/* mh_engine_own_cc fills in CC profile 0. */
void mh_engine_own_cc(const struct mh_env *env, struct mt_cc_profile_cfg *cfg);
/* mh_engine_report_ports tells the engine which ports are up. REQ(ep.port.local-down) */
void mh_engine_report_ports(struct mh_nic *nic, uint64_t now_ns);
/*
 * mh_engine_evs writes the EVs of all ports, port by port in turn, and returns how many.
 */
uint16_t mh_engine_evs(const struct mh_env *env, struct mt_ev evs[MT_EVS_MAX]);
/* mh_engine_place: see `place` of struct mt_env. The memory may be gone. */
bool mh_engine_place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len);
/* mh_nic_create_ud makes nic->ud, when there is an engine; ENOMEM. */
int mh_nic_create_ud(struct mh_nic *nic);
/* mh_engine_errno translates an enum mt_result. */
int mh_engine_errno(int result);

/* MH_ENGINE_CALL makes a call, adding memory and calling again as often as it asks for that. */
#define MH_ENGINE_CALL(nic, result, call) \
	do {                              \
		(result) = (call);        \
	} while ((result) == MT_ERR_MEMORY && mh_engine_grow(nic))

/* ---- from the engine's descriptors to frames on ports: nic_tx.c ---- */

/* mh_tx_create makes the buffers for n_ports ports, to be freed; NULL: no memory. */
struct mh_tx *mh_tx_create(uint32_t n_ports, const struct mw_dscp_map *dscp);
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

/* For the UD engine, see struct mu_env; ctx is the NIC. */

/* mh_tx_budget returns how many packets a port may send now, MIO_BURST_MAX at most. */
uint32_t mh_tx_budget(void *ctx, uint32_t port, uint64_t now_ns);
/* mh_tx_datagram: a way leads to its destination, see mh_addr_is_reachable. */
bool mh_tx_datagram(void *ctx, const struct mt_tx_desc *d, const struct mw_datagram *headers,
		    uint8_t traffic_class);
void mh_tx_flush(void *ctx, uint32_t port, uint64_t now_ns);

/* ---- from ports to the engine: nic_rx.c ---- */

/* mh_rx_init fills in nic->trim_of_dscp. */
void mh_rx_init(struct mh_nic *nic);
/*
 * mh_rx_poll takes as many frames as make a burst of each port, the oldest first, and returns how
 * many that were; *more says that others may wait, which no descriptor need show. Under nic->lock.
 */
uint32_t mh_rx_poll(struct mh_nic *nic, uint64_t now_ns, bool *more);

#endif
