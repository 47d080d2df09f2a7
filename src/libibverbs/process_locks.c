/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process_locks.c - locks of what a process has once of the drop-in. A child of fork lists and
 * opens devices of its own, so nobody holds one of them while the process forks.
 */
#include <pthread.h>

#include "libibverbs/libibverbs.h"

static pthread_mutex_t locks[MV_LOCKS] = {
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
};

static void lock_all(void)
{
	for (size_t i = 0; i < MV_LOCKS; i++)
		pthread_mutex_lock(&locks[i]);
}

static void unlock_all(void)
{
	for (size_t i = MV_LOCKS; i-- > 0;)
		pthread_mutex_unlock(&locks[i]);
}

/* Before there is a thread that could take one. */
__attribute__((constructor)) static void announce(void)
{
	static const struct mh_fork_locks all = {lock_all, unlock_all};

	mh_fork_lock_first(&all);
}

void mv_lock(enum mv_lock which)
{
	mh_fork_watch();
	pthread_mutex_lock(&locks[which]);
}

void mv_unlock(enum mv_lock which)
{
	pthread_mutex_unlock(&locks[which]);
}
