/* SPDX-License-Identifier: BSD-2-Clause */
/* Work on several threads: src/lab/thread_pool.c. */
#include "lab/netns.h"
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define ITEMS 100u

/* ---- the system: its cores, how many threads were begun, and how many there can be ---- */

static struct {
	long cores; /* 0: as many as it has */
	unsigned int begun, most;
} t = {.most = UINT32_MAX};

__typeof__(sysconf) __real_sysconf, __wrap_sysconf;
long __wrap_sysconf(int name)
{
	return name == _SC_NPROCESSORS_ONLN && t.cores ? t.cores : __real_sysconf(name);
}

__typeof__(pthread_create) __real_pthread_create, __wrap_pthread_create;
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
			  void *context)
{
	if (t.begun == t.most)
		return EAGAIN;
	t.begun++;
	return __real_pthread_create(thread, attr, routine, context);
}

struct work {
	atomic_uint done[ITEMS];
	size_t fails_at;
	pthread_t caller;
	atomic_bool on_caller;
};

static int do_item(void *context, size_t item, struct ml_error *e)
{
	struct work *w = context;

	atomic_fetch_add(&w->done[item], 1);
	if (pthread_equal(pthread_self(), w->caller))
		atomic_store(&w->on_caller, true);
	return item >= w->fails_at ? ml_error_set(e, "item %zu", item) : 0;
}

TEST(ml_threads_run, does_every_item_once_on_other_threads)
{
	struct work w = {.fails_at = ITEMS, .caller = pthread_self()};
	struct ml_error e = {{0}};

	assert_i_eq(ml_threads_run(0, do_item, &w, &e), 0);
	assert_u_eq(w.done[0], 0);
	assert_i_eq(ml_threads_run(ITEMS, do_item, &w, &e), 0);
	for (size_t i = 0; i < ITEMS; i++)
		assert_u_eq(w.done[i], 1);
	assert_false(w.on_caller);
	assert_string_equal(e.text, "");
}

/* Items that others had begun are finished, but no more than there can be threads. */
TEST(ml_threads_run, begins_nothing_after_a_failure)
{
	struct work w = {.fails_at = 3, .caller = pthread_self()};
	struct ml_error e = {{0}};
	unsigned int begun = 0;

	assert_i_eq(ml_threads_run(ITEMS, do_item, &w, &e), -1);
	assert_non_null(strstr(e.text, "item "));
	for (size_t i = 0; i < ITEMS; i++)
		begun += w.done[i];
	assert_u_between(begun, 4, 3 + 8);
}

/* How many threads so many items are done on, where the system counts so many cores. */
static unsigned int threads_of(long cores, size_t items)
{
	struct work w = {.fails_at = ITEMS, .caller = pthread_self()};
	struct ml_error e = {{0}};

	t.cores = cores;
	t.begun = 0;
	assert_i_eq(ml_threads_run(items, do_item, &w, &e), 0);
	t.cores = 0;
	for (size_t i = 0; i < ITEMS; i++)
		assert_u_eq(w.done[i], i < items);
	return t.begun;
}

TEST(ml_threads_run, has_a_thread_for_each_core_and_item)
{
	assert_u_eq(threads_of(3, ITEMS), 3);
	assert_u_eq(threads_of(3, 2), 2);
	assert_u_eq(threads_of(8, ITEMS), 8);
	assert_u_eq(threads_of(1000, ITEMS), 8);
	assert_u_eq(threads_of(-1, ITEMS), 1);
	assert_u_eq(threads_of(3, 0), 0);
}

/* One thread does all that several were for; without any nothing is done. */
TEST(ml_threads_run, goes_on_with_the_threads_that_there_are)
{
	struct work w = {.fails_at = ITEMS, .caller = pthread_self()};
	struct ml_error e = {{0}};

	t.most = 1;
	assert_u_eq(threads_of(3, ITEMS), 1);
	t.begun = t.most = 0;
	assert_i_eq(ml_threads_run(1, do_item, &w, &e), -1);
	assert_string_equal(e.text, "no thread can be started");
	assert_u_eq(w.done[0], 0);
	assert_i_eq(ml_threads_run(0, do_item, &w, &e), 0);
	t.most = UINT32_MAX;
}

TEST(ml_threads_call, does_one_item)
{
	struct work w = {.fails_at = ITEMS, .caller = pthread_self()};
	struct ml_error e = {{0}};

	assert_i_eq(ml_threads_call(do_item, &w, &e), 0);
	assert_u_eq(w.done[0], 1);
	assert_u_eq(w.done[1], 0);
	w.fails_at = 0;
	assert_i_eq(ml_threads_call(do_item, &w, &e), -1);
	assert_string_equal(e.text, "item 0");
}
