/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held_mutexes.c - ends a test whose thread unlocks a mutex that it does not hold, or locks one
 * that it holds: the C library says nothing of the first, and waits for ever at the second. These
 * functions stand before those of the C library for all that the test links.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ThreadSanitizer has functions of its own there, and sees as much. */
#ifndef __SANITIZE_THREAD__

#define HELD_MAX 64

/* Of a process that forks the child's one thread holds what the thread that forks did. */
static _Thread_local struct {
	const pthread_mutex_t *mutex[HELD_MAX];
	size_t n;
} held;

static void end(const char *what)
{
	fprintf(stderr, "a mutex that the thread %s\n", what);
	abort();
}

static size_t place_of(const pthread_mutex_t *mutex)
{
	size_t i = 0;

	while (i < held.n && held.mutex[i] != mutex)
		i++;
	return i;
}

static int note_locked(const pthread_mutex_t *mutex, int result)
{
	if (result)
		return result;
	if (held.n == HELD_MAX)
		end("locks, beside too many others");
	held.mutex[held.n++] = mutex;
	return 0;
}

#define NEXT(function, name)                              \
	static __typeof__(name) *function;                \
	if (!function) {                                  \
		void *found = dlsym(RTLD_NEXT, #name);    \
		memcpy(&function, &found, sizeof(found)); \
	}

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	NEXT(next, pthread_mutex_lock)
	if (place_of(mutex) < held.n)
		end("locks twice");
	return note_locked(mutex, next(mutex));
}

__attribute__((visibility("default"))) int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	NEXT(next, pthread_mutex_trylock)
	return note_locked(mutex, next(mutex));
}

__attribute__((visibility("default"))) int pthread_mutex_timedlock(pthread_mutex_t *mutex,
								   const struct timespec *until)
{
	NEXT(next, pthread_mutex_timedlock)
	return note_locked(mutex, next(mutex, until));
}

__attribute__((visibility("default"))) int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	size_t i = place_of(mutex);

	NEXT(next, pthread_mutex_unlock)
	if (i == held.n)
		end("unlocks and does not hold");
	held.mutex[i] = held.mutex[--held.n];
	return next(mutex);
}

#endif
