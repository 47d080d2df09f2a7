/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_verbs_process_locks.c - locks of the drop-in while the process forks:
 * src/libibverbs/process_locks.c. The test links held_mutexes.c, which ends it where one is taken
 * twice or released and not held.
 */
#include "libibverbs/libibverbs.h"
#include "support/test.h"

static const struct mh_fork_locks *announced;
static bool is_watched;

void mh_fork_lock_first(const struct mh_fork_locks *locks)
{
	announced = locks;
}

void mh_fork_watch(void)
{
	is_watched = true;
}

TEST(mv_lock, has_forks_watched)
{
	for (enum mv_lock i = 0; i < MV_LOCKS; i++) {
		is_watched = false;
		mv_lock(i);
		assert_true(is_watched);
		mv_unlock(i);
	}
}

/* Taken and released once each time, they are free between. */
TEST(mv_lock, all_are_taken_by_who_forks)
{
	assert_non_null(announced);
	for (int twice = 0; twice < 2; twice++) {
		announced->lock();
		for (enum mv_lock i = 0; i < MV_LOCKS; i++)
			mv_unlock(i);
		announced->lock();
		announced->unlock();
		for (enum mv_lock i = 0; i < MV_LOCKS; i++) {
			mv_lock(i);
			mv_unlock(i);
		}
	}
}
