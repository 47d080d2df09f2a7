/* SPDX-License-Identifier: BSD-2-Clause */
/* events.h - from the engine's events to CQs, channels and asynchronous events. */
#ifndef SOFTMRC_HOST_EVENTS_H
#define SOFTMRC_HOST_EVENTS_H

#include "host/context.h"

/* mh_events_drain delivers what the engine has to report and returns how much. Under nic->lock. */
uint32_t mh_events_drain(struct mh_nic *nic, uint64_t now_ns);

#endif
