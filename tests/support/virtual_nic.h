/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtual_nic.h - a software NIC on ports that are memory, in time that stands still until a test
 * moves it: no socket, no thread, no chance. A test gives it frames and sees those that it sends.
 *
 * The NIC is that of its device in this process: mh_device_open and all that is built on it find
 * it.
 * Who links it says --wrap=clock_gettime --wrap=mh_entropy --wrap=ppoll --wrap=aligned_alloc
 * --wrap=free to the linker: what the NIC asks the system for, time, chance and large blocks of
 * memory, then comes from here.
 */
#ifndef SUPPORT_VIRTUAL_NIC_H
#define SUPPORT_VIRTUAL_NIC_H

#include "host/state/nic_context.h"

/* virtual_time_set stops the clocks of this thread at a time; 0: they run as usual. */
void virtual_time_set(uint64_t now_ns);
uint64_t virtual_time(void);

struct virtual_nic;

/* virtual_nic_sent_fn is shown a frame that leaves through a port; it may give frames. */
typedef void (*virtual_nic_sent_fn)(void *ctx, uint32_t port, const struct mio_tx *frame);

/* virtual_nic_settings sets the variables of a text, "NAME=value" lines, or takes them away. */
void virtual_nic_settings(const char *text, bool set);
/* virtual_nic_env reads settings from such a text and from no file. */
void virtual_nic_env(const char *text, uint32_t device, struct mh_env *env);

/* virtual_nic_open makes the NIC of env->device. Time must have been set. */
struct virtual_nic *virtual_nic_open(const struct mh_env *env, virtual_nic_sent_fn sent, void *ctx);
/* virtual_nic_close ends it; what was opened of it must be closed. */
void virtual_nic_close(struct virtual_nic *v);
struct mh_nic *virtual_nic_of(struct virtual_nic *v);

/* Frames that wait at a port; what is given on top is lost. */
#define VIRTUAL_NIC_QUEUE 128u

/* virtual_nic_give lets a copy of a frame arrive; no byte behind it may be read. */
void virtual_nic_give(struct virtual_nic *v, uint32_t port, const struct mio_rx *frame);
/* virtual_nic_block has a port take no data, or take it again. */
void virtual_nic_block(struct virtual_nic *v, uint32_t port, bool blocked);
/* virtual_nic_set_link puts a port up or down, as its interface would. */
void virtual_nic_set_link(struct virtual_nic *v, uint32_t port, bool up);

#endif
