/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomics of peers on memory that others change, too. */
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>

#include "host/platform/platform.h"

#define ROUNDS 50000u

TEST(mh_atomic_add, returns_what_was_there)
{
	uint64_t word = UINT64_MAX;

	assert_u_eq(mh_atomic_add(&word, 3), UINT64_MAX);
	assert_u_eq(word, 2);
}

TEST(mh_atomic_swap, only_what_equals)
{
	uint64_t word = 5;

	assert_u_eq(mh_atomic_swap(&word, 4, 9), 5);
	assert_u_eq(word, 5);
	assert_u_eq(mh_atomic_swap(&word, 5, 9), 5);
	assert_u_eq(word, 9);
}

TEST(mh_atomic_store, whatever_is_there)
{
	uint64_t word = 5;

	assert_u_eq(mh_atomic_store(&word, 9), 5);
	assert_u_eq(word, 9);
}

static _Atomic uint64_t shared;

static void *program(void *unused)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		atomic_fetch_add(&shared, 1);
	return unused;
}

/* The program's own atomics and those of peers do not lose each other's. */
TEST(mh_atomic_add, beside_the_programs_own)
{
	pthread_t thread;

	assert_i_eq(pthread_create(&thread, NULL, program, NULL), 0);
	for (unsigned i = 0; i < ROUNDS; i++)
		mh_atomic_add(&shared, 1);
	assert_i_eq(pthread_join(thread, NULL), 0);
	assert_u_eq(atomic_load(&shared), 2 * ROUNDS);
}
