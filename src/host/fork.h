/* SPDX-License-Identifier: BSD-2-Clause */
/* fork.h - what happens to the NICs when the process forks, and when it exits. */
#ifndef SOFTMRC_HOST_FORK_H
#define SOFTMRC_HOST_FORK_H

#include "host/nic_context.h"

/* mh_fork_watch installs the handlers, once per process, before its first NIC is made. */
void mh_fork_watch(void);

#endif
