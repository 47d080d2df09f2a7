/* SPDX-License-Identifier: BSD-2-Clause */
/* engine_events.h - from the engine's events to CQs, channels and asynchronous events. */
#ifndef SOFTMRC_HOST_ENGINE_EVENTS_H
#define SOFTMRC_HOST_ENGINE_EVENTS_H

#include "host/nic_cq.h"

/* mh_engine_events_drain delivers what the engine has to report and returns how much. Under
 * nic->lock. */
uint32_t mh_engine_events_drain(struct mh_nic *nic, uint64_t now_ns);
/* mh_engine_fail_marked_qps puts the QPs of nic->failed to ERR. Under nic->lock. */
void mh_engine_fail_marked_qps(struct mh_nic *nic, uint64_t now_ns);

#endif
