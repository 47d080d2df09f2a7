/* SPDX-License-Identifier: BSD-2-Clause */
/* Work on several threads: src/lab/thread_pool.c. */
#include "lab/netns.h"
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>

#define ITEMS 100u

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
