/* SPDX-License-Identifier: BSD-2-Clause */
/* no_forks.c - what locks of the drop-in ask of the NIC, where tests have none and do not fork. */
#include "host/nic.h"

void mh_fork_watch(void)
{
}

void mh_fork_lock_first(const struct mh_fork_locks *locks)
{
	(void)locks;
}
