/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_fork.c - what programs ask about fork. Registered memory is not pinned and copied on write
 * like any other, so nothing has to be done to keep it; a child has no NIC until it opens the
 * device. With real devices there is something to do, and the real library does it.
 */
#include "libibverbs/real_library.h"

int ibv_fork_init(void)
{
	/* Programs call it before all else. */
	MV_TO_REAL(mv_real_load(), ibv_fork_init, ());
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	MV_TO_REAL(mv_real(), ibv_is_fork_initialized, ());
	return IBV_FORK_UNNEEDED;
}

int ibv_dontfork_range(void *base, size_t size)
{
	MV_TO_REAL(mv_real(), ibv_dontfork_range, (base, size));
	return 0;
}

int ibv_dofork_range(void *base, size_t size)
{
	MV_TO_REAL(mv_real(), ibv_dofork_range, (base, size));
	return 0;
}
