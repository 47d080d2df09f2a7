/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_shards.c - the locks of a NIC and of those beside it, and which of them gets a QP. The test
 * links held_mutexes.c, which ends it at a lock that is taken twice or released and not held.
 */
#include "support/test.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "host/state/shards.h"

struct shards_fixture {
	struct mh_nic *nic[MH_SHARDS_MAX];
	struct mh_cq cq;
};

static int shards_setup(void **state)
{
	struct shards_fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	for (uint32_t i = 0; i < MH_SHARDS_MAX; i++) {
		f->nic[i] = calloc(1, sizeof(*f->nic[i]));
		if (!f->nic[i])
			return -1;
		pthread_mutex_init(&f->nic[i]->lock, NULL);
		f->nic[i]->env.shard = i;
	}
	mh_shards_begin(f->nic[0]);
	for (uint32_t i = 1; i < MH_SHARDS_MAX; i++)
		mh_shards_add(f->nic[0], f->nic[i]);
	*state = f;
	return 0;
}

static int shards_teardown(void **state)
{
	struct shards_fixture *f = *state;

	for (uint32_t i = 0; i < MH_SHARDS_MAX; i++) {
		pthread_mutex_destroy(&f->nic[i]->lock);
		free(f->nic[i]);
	}
	free(f);
	return 0;
}

#define SHARDS_TEST(function, name) TEST_WITH(shards_setup, shards_teardown, function, name)

static bool can_be_cancelled(void)
{
	int state = mh_cancel_disable();

	mh_cancel_restore(state);
	return state == PTHREAD_CANCEL_ENABLE;
}

/* Which locks nobody has, a bit each. */
static uint32_t free_locks(const struct shards_fixture *f)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < MH_SHARDS_MAX; i++) {
		if (pthread_mutex_trylock(&f->nic[i]->lock) != 0)
			continue;
		pthread_mutex_unlock(&f->nic[i]->lock);
		mask |= 1u << i;
	}
	return mask;
}

#define ALL ((1u << MH_SHARDS_MAX) - 1)

/* A thread that holds a lock is not ended by pthread_cancel; afterwards it may be. */
SHARDS_TEST(mh_nic_lock, keeps_cancellation_away)
{
	struct shards_fixture *f = *state;

	for (uint32_t i = 0; i < 2; i++) {
		assert_true(can_be_cancelled());
		if (i == 0)
			mh_nic_lock(f->nic[3]);
		else
			assert_true(mh_nic_trylock(f->nic[3]));
		assert_false(can_be_cancelled());
		assert_u_eq(free_locks(f), ALL & ~8u);
		mh_nic_unlock(f->nic[3]);
	}
	assert_true(can_be_cancelled());
	assert_u_eq(free_locks(f), ALL);
	mh_process_lock(mh_process());
	assert_false(can_be_cancelled());
	assert_true(pthread_mutex_trylock(&mh_process()->lock) != 0);
	mh_process_unlock(mh_process());
	assert_true(can_be_cancelled());
}

static void *take_in_turn(void *arg)
{
	struct mh_nic *nic = arg;

	assert_false(mh_nic_trylock(nic));
	assert_true(can_be_cancelled());
	mh_nic_lock(nic);
	assert_false(can_be_cancelled());
	assert_u_eq(nic->progress.waiters, 0);
	mh_nic_unlock(nic);
	return NULL;
}

/* The progress thread lets those go first that wait, and sees them. */
SHARDS_TEST(mh_nic_lock, a_thread_that_waits_is_counted)
{
	struct shards_fixture *f = *state;
	pthread_t thread;

	mh_nic_lock(f->nic[0]);
	assert_i_eq(pthread_create(&thread, NULL, take_in_turn, f->nic[0]), 0);
	while (atomic_load(&f->nic[0]->progress.waiters) == 0)
		continue;
	mh_nic_unlock(f->nic[0]);
	assert_i_eq(pthread_join(thread, NULL), 0);
	assert_true(can_be_cancelled());
}

SHARDS_TEST(mh_shards_lock, all_or_those_behind_the_first)
{
	struct shards_fixture *f = *state;

	for (uint32_t again = 0; again < 2; again++) {
		mh_shards_lock(f->nic[0]);
		assert_u_eq(free_locks(f), 0);
		mh_shards_unlock(f->nic[0]);
		assert_u_eq(free_locks(f), ALL);
		assert_true(can_be_cancelled());
		mh_nic_lock(f->nic[0]);
		mh_shards_lock_others(f->nic[0]);
		assert_u_eq(free_locks(f), 0);
		mh_shards_unlock_others(f->nic[0]);
		assert_u_eq(free_locks(f), ALL & ~1u);
		assert_false(can_be_cancelled());
		mh_nic_unlock(f->nic[0]);
		assert_true(can_be_cancelled());
	}
}

SHARDS_TEST(mh_shard_lock, that_of_the_first_too)
{
	struct shards_fixture *f = *state;

	for (uint32_t i = 0; i < MH_SHARDS_MAX; i++) {
		mh_shard_lock(f->nic[i]);
		assert_u_eq(free_locks(f), ALL & ~(1u | 1u << i));
		mh_shard_unlock(f->nic[i]);
		assert_u_eq(free_locks(f), ALL);
		assert_true(can_be_cancelled());
	}
}

SHARDS_TEST(mh_shards_least, the_first_of_those_with_the_fewest)
{
	struct shards_fixture *f = *state;
	struct mh_nic *first = f->nic[0];

	assert_false(mh_shards_have_qps(first));
	assert_ptr_equal(mh_shards_least(first), first);
	for (uint32_t i = 0; i < 3 * MH_SHARDS_MAX; i++) {
		struct mh_nic *least = mh_shards_least(first);

		assert_ptr_equal(least, f->nic[i % MH_SHARDS_MAX]);
		least->n_qps++;
		assert_true(mh_shards_have_qps(first));
	}
	f->nic[MH_SHARDS_MAX - 1]->n_qps--;
	assert_ptr_equal(mh_shards_least(first), f->nic[MH_SHARDS_MAX - 1]);
	for (uint32_t i = 0; i < MH_SHARDS_MAX; i++)
		f->nic[i]->n_qps = i == MH_SHARDS_MAX - 1;
	assert_true(mh_shards_have_qps(first));
}

SHARDS_TEST(mh_cq_count_qp, a_bit_for_each_shard_that_has_any)
{
	struct shards_fixture *f = *state;
	struct mh_cq *cq = &f->cq;

	for (uint32_t i = 0; i < 4; i++)
		mh_cq_count_qp(cq, f->nic[i / 2 * 7], true);
	assert_u_eq(cq->n_qps, 4);
	assert_u_eq(cq->shards, 1u | 1u << 7);
	for (uint32_t i = 0; i < 2; i++) {
		mh_cq_count_qp(cq, f->nic[7], false);
		assert_u_eq(cq->shards, i == 0 ? 1u | 1u << 7 : 1u);
	}
	assert_u_eq(cq->n_qps, 2);
	assert_u_eq(cq->n_qps_of[0], 2);
	assert_u_eq(cq->n_qps_of[7], 0);
}

/* As often as it can be, and never longer: with all kicks that it holds it would block. */
SHARDS_TEST(mh_nic_kick, wakes_and_does_not_wait)
{
	struct shards_fixture *f = *state;
	uint64_t full = UINT64_MAX - 1, kicks = 0;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	f->nic[1]->progress.kick_fd = fd;
	mh_nic_kick(f->nic[1]);
	mh_nic_kick(f->nic[1]);
	assert_true(can_be_cancelled());
	assert_i_eq(read(fd, &kicks, sizeof(kicks)), sizeof(kicks));
	assert_u_eq(kicks, 2);
	assert_i_eq(write(fd, &full, sizeof(full)), sizeof(full));
	mh_nic_kick(f->nic[1]);
	close(fd);
	/* Nor is one that is gone any harm. */
	f->nic[1]->progress.kick_fd = -1;
	mh_nic_kick(f->nic[1]);
}
