/* SPDX-License-Identifier: BSD-2-Clause */
/* How ranks find each other: each rank is a thread here. */
#include "ring_rendezvous.h"

#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define RANKS 4u

static char dir[64];
static atomic_uint arrived;

struct rank {
	pthread_t thread;
	struct ring_hello hello;
	struct ring_meet meet;
	uint32_t from_next, from_prev;
	unsigned arrived_after; /* how many had arrived when this one left the barrier */
	int rc;
};

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/unit-ring-meet-XXXXXX");
	assert_non_null(mkdtemp(dir));
	arrived = 0;
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	/* Also a check: nothing may be left in it. */
	return rmdir(dir);
}

static void *run_rank(void *arg)
{
	struct rank *r = arg;
	uint32_t mine = r->hello.rank * 10;

	usleep((useconds_t)(r->hello.rank * 3000));
	ring_meet_init(&r->meet);
	r->rc = ring_meet_open(&r->meet, dir, &r->hello);
	if (!r->rc)
		r->rc = ring_meet_swap(&r->meet, &mine, &mine, &r->from_next, &r->from_prev,
				       sizeof(mine));
	usleep((useconds_t)((RANKS - r->hello.rank) * 3000));
	arrived++;
	if (!r->rc)
		r->rc = ring_meet_barrier(&r->meet);
	r->arrived_after = arrived;
	return NULL;
}

static void run(struct rank *rank, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		pthread_create(&rank[i].thread, NULL, run_rank, &rank[i]);
	for (uint32_t i = 0; i < n; i++)
		pthread_join(rank[i].thread, NULL);
	for (uint32_t i = 0; i < n; i++)
		ring_meet_fini(&rank[i].meet);
}

TEST_WITH(make_dir, remove_dir, ring_meet_open, joins_neighbours_of_any_ring)
{
	for (uint32_t n = 2; n <= RANKS; n++) {
		struct rank rank[RANKS] = {0};

		for (uint32_t i = 0; i < n; i++)
			rank[i].hello = (struct ring_hello){.rank = i, .ranks = n, .floats = 5};
		arrived = 0;
		run(rank, n);
		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(rank[i].rc, 0);
			assert_u_eq(rank[i].from_next, (i + 1) % n * 10);
			assert_u_eq(rank[i].from_prev, (i + n - 1) % n * 10);
			assert_u_eq(rank[i].arrived_after, n);
		}
	}
}

TEST_WITH(make_dir, remove_dir, ring_meet_open, refuses_a_rank_of_another_job)
{
	struct rank rank[2] = {0};

	for (uint32_t i = 0; i < 2; i++)
		rank[i].hello = (struct ring_hello){.rank = i, .ranks = 2, .floats = 5 + i};
	run(rank, 2);
	assert_int_equal(rank[0].rc, -1);
	assert_int_equal(rank[1].rc, -1);
}

TEST_WITH(make_dir, remove_dir, ring_meet_broken, notices_that_a_neighbour_left)
{
	struct rank rank[2] = {0};

	for (uint32_t i = 0; i < 2; i++) {
		rank[i].hello = (struct ring_hello){.rank = i, .ranks = 2};
		pthread_create(&rank[i].thread, NULL, run_rank, &rank[i]);
	}
	for (uint32_t i = 0; i < 2; i++)
		pthread_join(rank[i].thread, NULL);
	assert_false(ring_meet_broken(&rank[0].meet));
	ring_meet_fini(&rank[1].meet);
	assert_true(ring_meet_broken(&rank[0].meet));
	ring_meet_fini(&rank[0].meet);
}

TEST(ring_meet_open, refuses_a_directory_whose_name_is_too_long)
{
	const struct ring_hello hello = {.ranks = 2};
	struct ring_meet meet;
	char name[200];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ring_meet_init(&meet);
	assert_int_equal(ring_meet_open(&meet, name, &hello), -1);
}
