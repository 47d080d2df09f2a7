/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that work in namespaces: see netns.h. */
#include "lab/netns.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 8

struct crew {
	pthread_mutex_t lock;
	size_t n, next;
	ml_threads_fn fn;
	void *context;
	bool failed;
	struct ml_error *e;
};

static bool claim_item(struct crew *c, size_t *item)
{
	bool any;

	pthread_mutex_lock(&c->lock);
	any = !c->failed && c->next < c->n;
	if (any)
		*item = c->next++;
	pthread_mutex_unlock(&c->lock);
	return any;
}

static void report_error(struct crew *c, const struct ml_error *e)
{
	pthread_mutex_lock(&c->lock);
	if (!c->failed)
		*c->e = *e;
	c->failed = true;
	pthread_mutex_unlock(&c->lock);
}

static void *thread_main(void *context)
{
	struct crew *c = context;
	struct ml_error e = {{0}};
	size_t item;

	while (claim_item(c, &item))
		if (c->fn(c->context, item, &e))
			report_error(c, &e);
	return NULL;
}

static int run_threads(struct crew *c, size_t threads)
{
	pthread_t thread[THREADS_MAX];
	size_t started = 0;

	while (started < threads && pthread_create(&thread[started], NULL, thread_main, c) == 0)
		started++;
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	if (!started && c->n)
		return ml_error_set(c->e, "no thread can be started");
	return c->failed ? -1 : 0;
}

int ml_threads_run(size_t n, ml_threads_fn fn, void *context, struct ml_error *e)
{
	struct crew c = {PTHREAD_MUTEX_INITIALIZER, .n = n, .fn = fn, .context = context, .e = e};
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t threads = cores > THREADS_MAX ? THREADS_MAX : cores > 0 ? (size_t)cores : 1;

	return run_threads(&c, threads < n ? threads : n);
}

int ml_threads_call(ml_threads_fn fn, void *context, struct ml_error *e)
{
	struct crew c = {PTHREAD_MUTEX_INITIALIZER, .n = 1, .fn = fn, .context = context, .e = e};

	return run_threads(&c, 1);
}
