/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_pool.h - work in many network namespaces: a few threads take one item after the other, so
 * that the caller's own namespace never changes.
 */
#ifndef SOFTMRC_LAB_THREAD_POOL_H
#define SOFTMRC_LAB_THREAD_POOL_H

#include "lab/lab_error.h"

#include <stddef.h>

/* ml_threads_fn does one item; it may enter a namespace. 0, or -1 with a sentence in `e`. */
typedef int (*ml_threads_fn)(void *context, size_t item, struct ml_error *e);

/*
 * ml_threads_run does items 0 .. n-1 on as many threads as the machine has cores, and waits. After
 * a failure no new item is begun. 0, or -1 with the first failure. Items that run at the same time
 * must not touch the same things.
 */
int ml_threads_run(size_t n, ml_threads_fn fn, void *context, struct ml_error *e);

/* ml_threads_call does fn(context, 0, e) on a thread of its own, and waits. */
int ml_threads_call(ml_threads_fn fn, void *context, struct ml_error *e);

#endif
