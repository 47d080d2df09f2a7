/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork.c - forking. All locks are held while the process forks, so that the child gets each NIC in
 * a consistent state, and gives it up: a NIC has a thread, sockets and a slot of its own, and a
 * second user of these would take packets from the parent. The child may open a NIC of its own.
 */
#include "host/fork.h"

#include "host/nic_context.h"

void mh_fork_watch(void)
{
	pthread_atfork(mh_context_lock_all, mh_context_unlock_all, mh_context_leave_inherited);
}
