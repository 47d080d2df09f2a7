/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu_atomic.h - peers' atomic operations on memory of this process. */
#ifndef SOFTMRC_HOST_CPU_ATOMIC_H
#define SOFTMRC_HOST_CPU_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

/*
 * mh_atomic_add and mh_atomic_swap change the 8 bytes at `at`, aligned, with the processor's own
 * atomic instructions, and return what was there: swap stores `to` if that equals `from`. They are
 * atomic towards each other, towards atomics of the program, and of any process that maps the
 * memory. Any thread.
 */
uint64_t mh_atomic_add(void *at, uint64_t add);
uint64_t mh_atomic_swap(void *at, uint64_t from, uint64_t to);
/* mh_atomic_store stores `to` whatever is there, and returns that. */
uint64_t mh_atomic_store(void *at, uint64_t to);

#endif
