/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_host.h - the engine as it lives in a process: its configuration, memory and errors.
 */
#ifndef SOFTMRC_HOST_ENGINE_HOST_H
#define SOFTMRC_HOST_ENGINE_HOST_H

#include "host/nic_context.h"

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
/* mh_engine_report_ports tells the engine which ports are up. REQ(ep.port.local-down) */
void mh_engine_report_ports(struct mh_nic *nic, uint64_t now_ns);
/*
 * mh_engine_evs writes the EVs of all ports, port by port in turn, and returns how many.
 */
uint16_t mh_engine_evs(const struct mh_env *env, struct mt_ev evs[MT_EVS_MAX]);
/* mh_engine_place: see `place` of struct mt_env. The memory may be gone. */
bool mh_engine_place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len);
/* mh_engine_errno translates an enum mt_result. */
int mh_engine_errno(int result);

/* MH_ENGINE_CALL makes a call, adding memory and calling again as often as it asks for that. */
#define MH_ENGINE_CALL(nic, result, call) \
	do {                              \
		(result) = (call);        \
	} while ((result) == MT_ERR_MEMORY && mh_engine_grow(nic))

#endif
