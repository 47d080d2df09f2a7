/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu_atomic.c - atomic operations of peers with instructions of this CPU, so that they are atomic
 * towards the threads of the program, too.
 */
#include "host/platform/platform.h"

/* A word of the user's memory, whatever the user takes it for. */
typedef uint64_t __attribute__((may_alias)) atomic_word;

uint64_t mh_atomic_add(void *at, uint64_t add)
{
	return __atomic_fetch_add((atomic_word *)at, add, __ATOMIC_SEQ_CST);
}

/* __atomic_compare_exchange_n stores what it found in `from`, whether it swapped or not. */
uint64_t mh_atomic_swap(void *at, uint64_t from, uint64_t to)
{
	__atomic_compare_exchange_n((atomic_word *)at, &from, to, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return from;
}

uint64_t mh_atomic_store(void *at, uint64_t to)
{
	return __atomic_exchange_n((atomic_word *)at, to, __ATOMIC_SEQ_CST);
}
