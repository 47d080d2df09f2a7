/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_async.h - asynchronous events of the device as a whole. */
#ifndef SOFTMRC_HOST_NIC_ASYNC_H
#define SOFTMRC_HOST_NIC_ASYNC_H

#include "host/nic_context.h"

/* mh_async_ports_changed tells all openings if the device went down or came up. Under nic->lock. */
void mh_async_ports_changed(struct mh_nic *nic);

#endif
