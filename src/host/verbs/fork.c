/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork.c - what happens to the NICs when the process forks, and when it exits.
 *
 * All locks are held while the process forks, so that the child gets each NIC in a consistent
 * state, and gives it up: a NIC has a thread, sockets and a slot of its own, and a second user of
 * these would take packets from the parent. The child may open a NIC of its own.
 */
#include "host/progress/progress.h"
#include "host/verbs/verbs.h"

#include <stdlib.h>

#include "host/platform/platform.h"
#include "host/state/shards.h"
#include "host/stats/stats.h"

/*
 * The order of locks is the same as everywhere: those of a library above, the table of NICs, NICs
 * by number, the log. They are released in the opposite order, for each restores the cancellation
 * state that it found.
 */
static void lock_all(void)
{
	struct mh_process *p = mh_process();
	const struct mh_fork_locks *above = atomic_load(&p->above);

	if (above)
		above->lock();
	mh_process_lock(p);
	p->above_locked = above;
	for (uint32_t i = 0; i < MH_DEVICES_MAX; i++)
		if (p->of[i].nic)
			mh_shards_lock(p->of[i].nic);
	mh_log_lock();
}

/* The library above may have been loaded meanwhile. */
static void unlock_process(struct mh_process *p)
{
	const struct mh_fork_locks *above = p->above_locked;

	mh_process_unlock(p);
	if (above)
		above->unlock();
}

static void unlock_all(void)
{
	struct mh_process *p = mh_process();

	mh_log_unlock();
	for (uint32_t i = MH_DEVICES_MAX; i-- > 0;)
		if (p->of[i].nic)
			mh_shards_unlock(p->of[i].nic);
	unlock_process(p);
}

/*
 * The NIC is not freed: handles of the program point to it, and using one must find `inherited`
 * set. What else its locks guard is never touched again.
 */
static void leave_inherited(void)
{
	struct mh_process *p = mh_process();

	mh_log_unlock();
	for (uint32_t i = MH_DEVICES_MAX; i-- > 0;) {
		struct mh_nic *nic = p->of[i].nic;

		if (!nic)
			continue;
		mh_shards_unlock(nic);
		mh_nic_close_inherited(nic);
		p->of[i].inherited = nic;
		p->of[i].nic = NULL;
		p->of[i].users = 0;
	}
	unlock_process(p);
}

/* lock_until takes the locks of all shards; false: one was not to be had in time, and none is. */
static bool lock_until(struct mh_nic *first, const struct timespec *until)
{
	uint32_t n = 0;

	while (n < first->n_shards && pthread_mutex_timedlock(&first->shard[n]->lock, until) == 0)
		n++;
	if (n == first->n_shards)
		return true;
	while (n > 0)
		pthread_mutex_unlock(&first->shard[--n]->lock);
	return false;
}

static void finish_nic(struct mh_nic *first)
{
	for (uint32_t i = 0; i < first->n_shards; i++)
		if (mh_loop_rung_due(first->shard[i]) != UINT64_MAX)
			mh_loop_tx(first->shard[i], mh_now_ns());
	mh_segment_finish(first);
	for (uint32_t i = first->n_shards; i-- > 0;)
		pthread_mutex_unlock(&first->shard[i]->lock);
}

/*
 * Many programs end with the device open. Then what they posted last leaves here, if it waits for a
 * poll, and the statistics get their last numbers. A lock
 * that stays taken is one of a thread that was stopped in the middle: no numbers then.
 */
static void finish_nics(void)
{
	struct mh_process *p = mh_process();
	int cancel_state = mh_cancel_disable();
	struct timespec until;

	if (pthread_mutex_trylock(&p->lock)) {
		mh_cancel_restore(cancel_state);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	for (uint32_t i = 0; i < MH_DEVICES_MAX; i++) {
		struct mh_nic *nic = p->of[i].nic;

		if (nic && lock_until(nic, &until))
			finish_nic(nic);
	}
	pthread_mutex_unlock(&p->lock);
	mh_cancel_restore(cancel_state);
}

/*
 * Not when the library is loaded: an allocator that installs its own handlers after that would be
 * locked before us, and who has a lock of ours may be about to allocate.
 */
static void install_handlers(void)
{
	pthread_atfork(lock_all, unlock_all, leave_inherited);
	atexit(finish_nics);
}

void mh_fork_lock_first(const struct mh_fork_locks *locks)
{
	atomic_store(&mh_process()->above, locks);
}

void mh_fork_watch(void)
{
	static pthread_once_t watching = PTHREAD_ONCE_INIT;

	pthread_once(&watching, install_handlers);
}
