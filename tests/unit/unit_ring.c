/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring all-reduce over a link of shared memory: ranks are threads, a send copies into the next
 * rank's memory and puts a note into its queue. What the transports do is tested live.
 */
#include "ring.h"
#include "ring_link.h"

#include "support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define RANKS_MAX 8u
#define QUEUE 8192u

static struct memory_link {
	struct ring_link link;
	struct ring_link_cfg cfg;
	struct memory_link *next;
	pthread_mutex_t lock;
	pthread_cond_t change;
	size_t size[QUEUE], place[QUEUE];
	unsigned head, tail;
} links[RANKS_MAX];

static char dir[64];

static int memory_send(struct ring_link *link, size_t from, size_t to, size_t bytes)
{
	struct memory_link *l = (struct memory_link *)link, *next = l->next;

	pthread_mutex_lock(&next->lock);
	memcpy(next->cfg.memory + to, l->cfg.memory + from, bytes);
	next->place[next->tail % QUEUE] = to;
	next->size[next->tail++ % QUEUE] = bytes;
	pthread_cond_signal(&next->change);
	pthread_mutex_unlock(&next->lock);
	return 0;
}

static int memory_receive(struct ring_link *link, size_t to, size_t bytes)
{
	struct memory_link *l = (struct memory_link *)link;
	int rc;

	pthread_mutex_lock(&l->lock);
	while (l->head == l->tail)
		pthread_cond_wait(&l->change, &l->lock);
	rc = l->place[l->head % QUEUE] == to && l->size[l->head % QUEUE] == bytes ? 0 : -1;
	l->head++;
	pthread_mutex_unlock(&l->lock);
	return rc;
}

static int memory_flush(struct ring_link *link)
{
	(void)link;
	return 0;
}

static void memory_close(struct ring_link *link)
{
	(void)link;
}

struct ring_link *ring_mrc_open(const struct ring_link_cfg *cfg)
{
	static const struct ring_link_ops ops = {.send = memory_send,
						 .receive = memory_receive,
						 .flush = memory_flush,
						 .close = memory_close};
	struct memory_link *l = &links[cfg->meet->hello.rank];

	l->link.ops = &ops;
	l->cfg = *cfg;
	l->next = &links[ring_meet_next(cfg->meet)];
	return &l->link;
}

struct ring_link *ring_tcp_open(const struct ring_link_cfg *cfg)
{
	(void)cfg;
	return NULL;
}

struct rank {
	pthread_t thread;
	struct ring_cfg cfg;
	size_t floats, rounds;
	int rc;
	bool good;
};

/* Rank r adds (r + 1) * (i % 13); all sums are small whole numbers, so they are exact. */
static void *run_rank(void *arg)
{
	struct rank *me = arg;
	struct ring *ring = ring_open(&me->cfg);
	float sum = (float)(me->cfg.ranks * (me->cfg.ranks + 1) / 2);
	float *v;

	me->rc = ring ? 0 : -1;
	if (!ring)
		return NULL;
	v = ring_vector(ring);
	me->good = true;
	for (size_t round = 0; round < me->rounds && !me->rc; round++) {
		for (size_t i = 0; i < me->floats; i++)
			v[i] = (float)((me->cfg.rank + 1) * (i % 13 + round));
		me->rc = ring_all_reduce(ring, me->floats);
		for (size_t i = 0; i < me->floats; i++)
			me->good = me->good && v[i] == sum * (float)(i % 13 + round);
	}
	if (ring_close(ring))
		me->rc = -1;
	return NULL;
}

static void run(uint32_t ranks, size_t floats, size_t rounds)
{
	struct rank rank[RANKS_MAX] = {0};

	for (uint32_t i = 0; i < ranks; i++) {
		links[i].head = links[i].tail = 0;
		rank[i].cfg = (struct ring_cfg){.rank = i,
						.ranks = ranks,
						.kind = RING_MRC,
						.rendezvous = dir,
						.floats = floats};
		rank[i].floats = floats;
		rank[i].rounds = rounds;
		pthread_create(&rank[i].thread, NULL, run_rank, &rank[i]);
	}
	for (uint32_t i = 0; i < ranks; i++)
		pthread_join(rank[i].thread, NULL);
	for (uint32_t i = 0; i < ranks; i++) {
		assert_int_equal(rank[i].rc, 0);
		assert_true(rank[i].good);
	}
}

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/unit-ring-XXXXXX");
	assert_non_null(mkdtemp(dir));
	for (unsigned i = 0; i < RANKS_MAX; i++) {
		pthread_mutex_init(&links[i].lock, NULL);
		pthread_cond_init(&links[i].change, NULL);
	}
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

#define RING_TEST(name) TEST_WITH(make_dir, remove_dir, ring_all_reduce, name)

RING_TEST(sums_on_rings_of_any_size)
{
	for (uint32_t ranks = 1; ranks <= RANKS_MAX; ranks++)
		run(ranks, 1000, 2);
}

RING_TEST(sums_vectors_that_do_not_divide_evenly)
{
	run(3, RING_RANKS_MAX, 1);
	run(7, 1001, 1);
	run(5, 99991, 1);
}

RING_TEST(sums_large_vectors_in_slices)
{
	run(2, 1 << 20, 1);
	run(8, 3 << 18, 1);
}

RING_TEST(runs_again_and_again)
{
	run(4, 4096, 50);
}

/* Three numbers of which the small one survives only when it is added last. */
static void *run_order(void *arg)
{
	static const float mine[3] = {1e8f, 1.0f, -1e8f};
	struct rank *me = arg;
	struct ring *ring = ring_open(&me->cfg);
	float *v;

	me->rc = ring ? 0 : -1;
	if (!ring)
		return NULL;
	v = ring_vector(ring);
	for (size_t i = 0; i < 96; i++)
		v[i] = mine[me->cfg.rank];
	me->rc = ring_all_reduce(ring, 96);
	/* Chunk c is summed from rank c on: only in the last third rank 1 comes last. */
	me->good = v[0] == 0.0f && v[31] == 0.0f && v[32] == 0.0f && v[64] == 1.0f && v[95] == 1.0f;
	if (ring_close(ring))
		me->rc = -1;
	return NULL;
}

RING_TEST(adds_in_the_order_of_the_ring)
{
	struct rank rank[3] = {0};

	for (uint32_t i = 0; i < 3; i++) {
		links[i].head = links[i].tail = 0;
		rank[i].cfg = (struct ring_cfg){
			.rank = i, .ranks = 3, .kind = RING_MRC, .rendezvous = dir, .floats = 96};
		pthread_create(&rank[i].thread, NULL, run_order, &rank[i]);
	}
	for (uint32_t i = 0; i < 3; i++)
		pthread_join(rank[i].thread, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(rank[i].rc, 0);
		assert_true(rank[i].good);
	}
}
