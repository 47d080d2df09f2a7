/* SPDX-License-Identifier: BSD-2-Clause */
/* live_api_locks.c - what the API keeps beside the NIC is read and changed under a lock. */
#include "live/live_fixture.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "libmrc/libmrc.h"

#define PATIENCE_MS 60000

static _Atomic(pthread_mutex_t *) watched; /* the lock of the context, while the test holds it */
static atomic_bool is_waited_for;

/* It stands before that of the C library for all that the test links. */
__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static _Atomic(void *) found;
	void *at = atomic_load(&found);
	__typeof__(&pthread_mutex_lock) next;

	if (!at)
		atomic_store(&found, at = dlsym(RTLD_NEXT, "pthread_mutex_lock"));
	memcpy(&next, &at, sizeof(at));
	if (mutex == atomic_load(&watched))
		atomic_store(&is_waited_for, true);
	return next(mutex);
}

struct call {
	struct fixture *r;
	struct mrc_qp_hint *hint;
	int (*fn)(struct call *c);
	int result;
	atomic_bool is_done;
};

static int create_hint(struct call *c)
{
	struct mrc_qp_hint_init_attr init = {0};

	c->hint = mrc_create_qp_hint(c->r->ctx, &init);
	return !c->hint;
}

static int query_hint(struct call *c)
{
	struct mrc_qp_hint_attr attr;

	return mrc_query_qp_hint(c->hint, &attr, MRC_QP_HINT_NUM_SEND_PEERS);
}

static int modify_hint(struct call *c)
{
	struct mrc_qp_hint_attr attr = {0};

	return mrc_modify_qp_hint(c->hint, &attr, MRC_QP_HINT_NUM_SEND_PEERS);
}

static int destroy_hint(struct call *c)
{
	return mrc_destroy_qp_hint(c->hint);
}

static int modify_qp(struct call *c)
{
	struct mrc_qp_attr attr = {.vendor_cfg = {1}};

	return mrc_modify_qp(c->r->qp[0], NULL, 0, &attr, MRC_QP_VENDOR_CFG);
}

static int query_qp(struct call *c)
{
	struct mrc_qp_attr attr;

	return mrc_query_qp(c->r->qp[0], NULL, 0, &attr, MRC_QP_VENDOR_CFG, NULL);
}

static int destroy_qp(struct call *c)
{
	struct mrc_qp *qp = c->r->qp[0];

	c->r->qp[0] = NULL;
	return mrc_destroy_qp(qp);
}

/* It is refused, for there are objects. */
static int destroy_context(struct call *c)
{
	return mrc_destroy_context(c->r->ctx) != -1;
}

static void *make_call(void *arg)
{
	struct call *c = arg;

	c->result = c->fn(c);
	atomic_store(&c->is_done, true);
	return NULL;
}

/* Whether somebody comes to wait for the lock before the call is over. */
static bool waits(struct call *c)
{
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		if (atomic_load(&c->is_done) || atomic_load(&is_waited_for))
			break;
		poll(NULL, 0, 1);
	}
	return atomic_load(&is_waited_for) && !atomic_load(&c->is_done);
}

static void waits_for_lock(struct call *c, int (*fn)(struct call *c))
{
	pthread_mutex_t *lock = &c->r->ctx->lock;
	pthread_t thread;

	c->fn = fn;
	atomic_store(&c->is_done, false);
	pthread_mutex_lock(lock);
	atomic_store(&is_waited_for, false);
	atomic_store(&watched, lock);
	assert_int_equal(pthread_create(&thread, NULL, make_call, c), 0);
	assert_true(waits(c));
	atomic_store(&watched, NULL);
	pthread_mutex_unlock(lock);
	pthread_join(thread, NULL);
	assert_int_equal(c->result, 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_context, locks_hints_and_what_qps_keep)
{
	struct call c = {.r = *state};

	waits_for_lock(&c, create_hint);
	waits_for_lock(&c, query_hint);
	waits_for_lock(&c, modify_hint);
	waits_for_lock(&c, destroy_hint);
	waits_for_lock(&c, modify_qp);
	waits_for_lock(&c, query_qp);
	waits_for_lock(&c, destroy_qp);
	waits_for_lock(&c, destroy_context);
}
