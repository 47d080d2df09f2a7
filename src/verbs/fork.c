/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork.c - what programs ask about fork. Registered memory is not pinned and copied on write like
 * any other, so nothing has to be done to keep it; a child has no NIC until it opens the device.
 */
#include "verbs/verbs.h"

int ibv_fork_init(void)
{
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

int ibv_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

int ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}
