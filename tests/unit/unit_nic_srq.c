/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_nic_srq.c - shared receive queues to their bounds, and what SRQs and QPs leave behind where
 * there is no memory for them. */
#include "unit/nic_fixture.h"

#include <errno.h>
#include <fcntl.h>

#include "host/progress/progress.h"

/* Of blocks that are taken from now on this one, from 1, is not to be had; 0: all are. */
static uint32_t missing;
static bool engine_is_full;

static bool fails(void)
{
	return missing > 0 && --missing == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

__typeof__(mt_qp_init) __real_mt_qp_init, __wrap_mt_qp_init;
int __wrap_mt_qp_init(struct mt_engine *e, void *memory, const struct mt_qp_cap *cap, uint32_t qpn,
		      void *user, struct mt_qp **qp)
{
	return engine_is_full ? MT_ERR_MEMORY : __real_mt_qp_init(e, memory, cap, qpn, user, qp);
}

static uint32_t srqs_ended;

__typeof__(mt_srq_fini) __real_mt_srq_fini, __wrap_mt_srq_fini;
void __wrap_mt_srq_fini(struct mt_srq *srq)
{
	srqs_ended++;
	__real_mt_srq_fini(srq);
}

/* A QP that fails with an event that is drained now; and whether some were since packets left. */
static struct mh_qp *failing;
static bool is_drained, was_drained;

__typeof__(mh_progress_flush) __real_mh_progress_flush, __wrap_mh_progress_flush;
void __wrap_mh_progress_flush(struct mh_nic *nic, uint64_t now_ns)
{
	__real_mh_progress_flush(nic, now_ns);
	is_drained = false;
}

__typeof__(mh_engine_events_drain) __real_mh_engine_events_drain, __wrap_mh_engine_events_drain;
uint32_t __wrap_mh_engine_events_drain(struct mh_nic *nic, uint64_t now_ns)
{
	uint32_t n = __real_mh_engine_events_drain(nic, now_ns);

	if (failing)
		mb_list_push(&nic->failed, &failing->failed);
	is_drained = true;
	return n;
}

__typeof__(mt_qp_fini) __real_mt_qp_fini, __wrap_mt_qp_fini;
void __wrap_mt_qp_fini(struct mt_qp *qp)
{
	was_drained = is_drained;
	__real_mt_qp_fini(qp);
}

/* The progress thread takes no memory, nor the last of it. */
static int srq_setup(void **state)
{
	struct nic_fixture *fixture;
	int err;

	missing = 0;
	engine_is_full = false;
	failing = NULL;
	srqs_ended = 0;
	err = fixture_setup(state);
	if (err)
		return err;
	fixture = *state;
	mh_progress_stop(fixture->dev->nic);
	fixture->dev->nic->progress.sleeps_until_ns = 0;
	fcntl(mh_async_fd(fixture->dev), F_SETFL, O_NONBLOCK);
	return 0;
}

static struct mh_qp_init small_qp(const struct nic_fixture *fixture)
{
	return (struct mh_qp_init){
		.pd = fixture->pd,
		.send_cq = fixture->cq,
		.recv_cq = fixture->cq,
		.cap = {.max_send_wr = 1, .max_send_sge = 1, .max_inline = 8},
	};
}

#define SRQ_TEST(function, name) TEST_WITH(srq_setup, fixture_teardown, function, name)

SRQ_TEST(mh_srq_create, to_its_bounds)
{
	static const struct mh_srq_cap good[] = {{1, 0}, {MH_WR_MAX, 1}, {2, RD_SGE_MAX}},
				       bad[] = {{0, 1}, {MH_WR_MAX + 1, 1}, {2, RD_SGE_MAX + 1}};
	struct nic_fixture *fixture = *state;
	struct mh_srq_cap cap;
	struct mh_srq *srq;
	uint32_t limit;

	for (size_t i = 0; i < 3; i++) {
		assert_i_eq(mh_srq_create(fixture->pd, &bad[i], NULL, &srq), EINVAL);
		assert_i_eq(mh_srq_create(fixture->pd, &good[i], NULL, &srq), 0);
		mh_srq_query(srq, &cap, &limit);
		assert_memory_equal(&cap, &good[i], sizeof(cap));
		assert_u_eq(limit, 0);
		assert_i_eq(mh_srq_resize(srq, 0), EINVAL);
		assert_i_eq(mh_srq_resize(srq, MH_WR_MAX + 1), EINVAL);
		assert_i_eq(mh_srq_resize(srq, MH_WR_MAX), 0);
		assert_i_eq(mh_srq_resize(srq, 1), 0);
		mh_srq_query(srq, &cap, &limit);
		assert_u_eq(cap.max_wr, 1);
		assert_i_eq(mh_srq_destroy(srq), 0);
	}
}

/* It may be reached already; then it is told before the call returns. */
SRQ_TEST(mh_srq_arm, tells_at_once_what_is_reached)
{
	struct nic_fixture *fixture = *state;
	const struct mh_srq_cap cap = {.max_wr = 4, .max_sge = 1};
	struct rd_recv_wr wr[3] = {0};
	struct mh_async_event event;
	struct mh_srq *srq;

	assert_i_eq(mh_srq_create(fixture->pd, &cap, fixture, &srq), 0);
	assert_i_eq(mh_srq_post(srq, wr, 3, NULL), 0);
	assert_i_eq(mh_srq_arm(srq, 3), 0);
	assert_i_eq(mh_async_get(fixture->dev, &event), EAGAIN);
	assert_i_eq(mh_srq_arm(srq, 4), 0);
	assert_i_eq(mh_async_get(fixture->dev, &event), 0);
	assert_u_eq(event.type, MH_ASYNC_SRQ_LIMIT);
	assert_ptr_equal(event.srq, srq);
	assert_ptr_equal(event.owner, fixture);
	mh_async_ack(fixture->dev, &event);
	/* What nobody takes goes with the SRQ. */
	mh_event_raise(&fixture->dev->events, &srq->limit, false);
	assert_i_eq(mh_srq_destroy(srq), 0);
	assert_i_eq(mh_async_get(fixture->dev, &event), EAGAIN);
}

SRQ_TEST(mh_srq_create, without_memory)
{
	struct nic_fixture *fixture = *state;
	const struct mh_srq_cap cap = {.max_wr = 4, .max_sge = 1};
	uint32_t objects = fixture->pd->objects;
	struct mh_srq *srq = NULL;

	for (uint32_t block = 1; block <= 2; block++) {
		missing = block;
		assert_i_eq(mh_srq_create(fixture->pd, &cap, NULL, &srq), ENOMEM);
		assert_u_eq(missing, 0);
		assert_u_eq(fixture->pd->objects, objects);
	}
	assert_i_eq(mh_srq_create(fixture->pd, &cap, NULL, &srq), 0);
	assert_u_eq(fixture->pd->objects, objects + 1);
	missing = 1;
	assert_i_eq(mh_srq_resize(srq, 8), ENOMEM);
	assert_u_eq(srq->cap.max_wr, 4);
	assert_i_eq(mh_srq_destroy(srq), 0);
	assert_u_eq(fixture->pd->objects, objects);
}

/* Whichever block is not there, and where the engine has no place for it: its number is free. */
SRQ_TEST(mh_qp_create, without_memory)
{
	struct nic_fixture *fixture = *state;
	struct mh_nic *nic = fixture->dev->nic;
	struct mh_qp_init init = small_qp(fixture);
	uint32_t objects = fixture->pd->objects, free = nic->qp_indices.n_free;
	struct mh_qp *qp = NULL;

	for (uint32_t block = 1; block <= 4; block++) {
		missing = block;
		assert_i_eq(mh_qp_create(&init, &qp), ENOMEM);
		assert_u_eq(missing, 0);
	}
	/* What it may have it has: else it would be given 4 GiB, a chunk after the other. */
	nic->env.memory_bytes = nic->chunk_bytes;
	engine_is_full = true;
	assert_i_eq(mh_qp_create(&init, &qp), ENOMEM);
	engine_is_full = false;
	assert_u_eq(nic->qp_indices.n_free, free);
	assert_u_eq(nic->n_qps, 1);
	assert_u_eq(fixture->pd->objects, objects);
	assert_i_eq(mh_qp_create(&init, &qp), 0);
	assert_u_eq(nic->qp_indices.n_free, free - 1);
	assert_i_eq(mh_qp_destroy(qp), 0);
}

SRQ_TEST(mh_srq_destroy, when_no_qp_has_it)
{
	struct nic_fixture *fixture = *state;
	const struct mh_srq_cap cap = {.max_wr = 4, .max_sge = 1};
	struct mh_qp_init init = small_qp(fixture);
	struct mh_qp *qp;

	init.extended = true;
	assert_i_eq(mh_srq_create(fixture->pd, &cap, NULL, &init.srq), 0);
	assert_i_eq(mh_qp_create(&init, &qp), 0);
	assert_i_eq(mh_srq_destroy(init.srq), EBUSY);
	assert_u_eq(srqs_ended, 0);
	assert_i_eq(mh_qp_destroy(qp), 0);
	assert_i_eq(mh_srq_destroy(init.srq), 0);
	assert_u_eq(srqs_ended, 1);
}

/* Events name it that nobody has taken yet, and one of them makes it fail. */
SRQ_TEST(mh_qp_destroy, leaves_nothing_that_names_it)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp_init init = small_qp(fixture);
	struct mh_qp *qp;

	assert_i_eq(mh_qp_create(&init, &qp), 0);
	failing = qp;
	assert_i_eq(mh_qp_destroy(qp), 0);
	failing = NULL;
	assert_true(was_drained);
	assert_true(mb_link_is_empty(&fixture->dev->nic->failed));
}
