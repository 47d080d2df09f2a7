/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * barrier.h - where threads wait for each other, many thousand times a second.
 *
 * They spin for a moment and then let others run, since a thread may share its CPU.
 */
#ifndef SOFTMRC_SIM_KERNEL_BARRIER_H
#define SOFTMRC_SIM_KERNEL_BARRIER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define MS_BARRIER_SPINS 4000u

struct ms_barrier {
	_Atomic uint32_t arrived;
	_Atomic uint32_t round;
	uint32_t threads;
};

static inline void ms_barrier_init(struct ms_barrier *b, uint32_t threads)
{
	atomic_init(&b->arrived, 0);
	atomic_init(&b->round, 0);
	b->threads = threads;
}

/* ms_barrier_wait returns when all threads have called it. */
static inline void ms_barrier_wait(struct ms_barrier *b)
{
	uint32_t round = atomic_load_explicit(&b->round, memory_order_relaxed), spins = 0;

	if (b->threads == 1)
		return;
	if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) + 1 == b->threads) {
		atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&b->round, round + 1, memory_order_release);
		return;
	}
	while (atomic_load_explicit(&b->round, memory_order_acquire) == round)
		if (++spins > MS_BARRIER_SPINS)
			sched_yield();
}

#endif
