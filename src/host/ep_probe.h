/* SPDX-License-Identifier: BSD-2-Clause */
/* ep_probe.h - probes of paths that a program asked for, and their answers. */
#ifndef SOFTMRC_HOST_EP_PROBE_H
#define SOFTMRC_HOST_EP_PROBE_H

#include "host/nic_context.h"

/* mh_endpoint_deliver takes an event of type ENDPOINT. Under nic->lock. */
void mh_endpoint_deliver(const struct mt_event *event);

#endif
