/* SPDX-License-Identifier: BSD-2-Clause */
/* net_traffic.c - see net_traffic.h. */
#include "net_traffic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GUARD 64u
#define GUARD_BYTE 0xa5
#define LARGE_MAX ((size_t)64 << 20)
#define END_BYTES 3u /* sizes of a stream are multiples of 8 */

/* ---- the plan ---- */

struct group {
	int count;
	size_t room[NET_GROUP_MAX], bytes[NET_GROUP_MAX]; /* of the receives, and of the sends */
};

static const int counts[] = {1, 2, 3, 5, 8};
static const size_t small_sizes[] = {
	0,    1,     2,	    3,	   4,	  7,	 8,	 15,	 16,	 63,	 64,
	65,   127,   128,   255,   512,	  1000,	 1024,	 2047,	 4096,	 4097,	 8191,
	8192, 16384, 30000, 32768, 65535, 65536, 100000, 131072, 262144, 524288, 1048576};
static const size_t large_sizes[] = {2u << 20,	      (4u << 20) + 1, 8u << 20,
				     (16u << 20) - 1, 32u << 20,      LARGE_MAX};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

uint64_t plan_groups(const struct plan *p)
{
	switch (p->kind) {
	case PLAN_SWEEP:
		return COUNT(small_sizes) * (p->groups_of_one ? 1 : COUNT(counts));
	case PLAN_LARGE:
		return COUNT(large_sizes);
	case PLAN_RANDOM:
	case PLAN_STREAM:
		break;
	}
	return p->seconds > 0 ? UINT64_MAX : p->groups;
}

static uint64_t mix(const struct plan *p, uint64_t k, uint64_t r)
{
	uint64_t x = (p->seed + k * 16 + r + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 20;
}

static void random_group(const struct plan *p, uint64_t k, struct group *g)
{
	g->count = p->groups_of_one ? 1 : 1 + (int)(mix(p, k, 15) % NET_GROUP_MAX);
	for (int r = 0; r < g->count; r++) {
		uint64_t x = mix(p, k, (uint64_t)r);
		size_t bytes = x % 8 == 0 ? 0 : x % 8 < 5 ? x / 8 % 2000 : x / 8 % 70000;

		/* A quarter meets more room than it needs, and one of eight is cut off. */
		g->bytes[r] = bytes;
		g->room[r] = x % 64 < 16 ? bytes + x % 1000 : x % 64 < 24 ? bytes / 2 : bytes;
	}
}

static void plan_group(const struct plan *p, uint64_t k, struct group *g)
{
	size_t bytes = p->bytes;

	g->count = 1;
	if (p->kind == PLAN_RANDOM) {
		random_group(p, k, g);
		return;
	}
	if (p->kind == PLAN_LARGE)
		bytes = large_sizes[k];
	if (p->kind == PLAN_SWEEP) {
		bytes = small_sizes[k % COUNT(small_sizes)];
		g->count = p->groups_of_one ? 1 : counts[k / COUNT(small_sizes)];
	}
	for (int r = 0; r < g->count; r++)
		g->bytes[r] = g->room[r] = bytes;
}

static int tag_of(uint64_t k, int r)
{
	return (int)(k * 8 % 100000) + r;
}

static uint8_t *slot_of(const struct traffic *t, uint64_t k)
{
	return t->area + k % t->plan->depth * (TRAFFIC_AREA / t->plan->depth & ~(size_t)63);
}

/* Where piece r lies in its slot; both ends leave as much room as the larger side needs. */
static uint8_t *piece_of(const struct traffic *t, const struct group *g, uint64_t k, int r)
{
	uint8_t *at = slot_of(t, k);

	for (int i = 0; i < r; i++)
		at += ((g->room[i] > g->bytes[i] ? g->room[i] : g->bytes[i]) + GUARD + 63) &
		      ~(size_t)63;
	return at;
}

/* ---- the bytes ---- */

static uint64_t word_of(uint64_t key, size_t i)
{
	return (key + i) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t key_of(const struct plan *p, uint64_t k, int r)
{
	return mix(p, k, 64 + (uint64_t)r);
}

static void fill(uint8_t *at, size_t bytes, uint64_t key)
{
	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t word = word_of(key, i / 8);

		memcpy(at + i, &word, bytes - i < 8 ? bytes - i : 8);
	}
}

/* The first byte that is another, or bytes. */
static size_t differs(const uint8_t *at, size_t bytes, uint64_t key)
{
	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t word = word_of(key, i / 8);

		if (memcmp(at + i, &word, bytes - i < 8 ? bytes - i : 8) != 0)
			return i;
	}
	return bytes;
}

/* ---- time and errors ---- */

double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static void group_done(struct traffic *t)
{
	double now = now_s();

	if (t->done > 0 && now - t->last_s > t->gap_s)
		t->gap_s = now - t->last_s;
	t->last_s = now;
	t->done++;
}

void traffic_begin(struct traffic *t, const struct plan *plan)
{
	*t = (struct traffic){.net = t->net,
			      .plan = plan,
			      .comm = t->comm,
			      .mr = t->mr,
			      .area = t->area,
			      .last_s = now_s()};
}

/* ---- sending ---- */

static void prepare(struct traffic *t, const struct group *g)
{
	for (int r = 0; r < g->count && !t->plan->unchecked; r++)
		fill(piece_of(t, g, t->posted, r), g->bytes[r], key_of(t->plan, t->posted, r));
}

/* Sends of a group are posted in another order than their receives. */
static bool post_sends(struct traffic *t)
{
	struct group g;
	bool last = t->plan->seconds > 0 && t->stop;

	if (t->over || t->posted == plan_groups(t->plan) || t->posted - t->done >= t->plan->depth)
		return false;
	plan_group(t->plan, t->posted, &g);
	if (t->next == 0)
		prepare(t, &g);
	while (t->next < g.count) {
		int r = (int)((uint64_t)(t->next * 3 + 1) + t->posted) % g.count;
		void **request = &t->request[t->posted % t->plan->depth][t->next];

		if (g.count % 3 == 0)
			r = g.count - 1 - t->next;
		*request = NULL;
		if (net_isend(t->net, t->comm, piece_of(t, &g, t->posted, r),
			      last ? END_BYTES : g.bytes[r], tag_of(t->posted, r), t->mr, request))
			fail("isend of group %llu failed", (unsigned long long)t->posted);
		if (!*request)
			return false;
		t->next++;
	}
	t->next = 0;
	t->posted++;
	t->over = last;
	return true;
}

static bool take_sends(struct traffic *t)
{
	struct group g;
	int done, bytes;

	if (t->done == t->posted)
		return false;
	plan_group(t->plan, t->done, &g);
	for (int i = 0; i < g.count; i++) {
		void **request = &t->request[t->done % t->plan->depth][i];

		if (!*request)
			continue;
		bytes = 0;
		if (net_test(t->net, *request, &done, &bytes))
			fail("a send of group %llu failed", (unsigned long long)t->done);
		if (!done)
			return false;
		*request = NULL;
		t->bytes += (uint64_t)bytes;
	}
	group_done(t);
	return true;
}

bool traffic_send(struct traffic *t)
{
	bool posted = post_sends(t);

	return take_sends(t) || posted;
}

/* ---- receiving ---- */

static bool post_receives(struct traffic *t)
{
	void *data[NET_GROUP_MAX], *mrs[NET_GROUP_MAX];
	void **request = &t->request[t->posted % t->plan->depth][0];
	int tags[NET_GROUP_MAX];
	struct group g;

	if (t->over || t->posted == plan_groups(t->plan) || t->posted - t->done >= t->plan->depth)
		return false;
	plan_group(t->plan, t->posted, &g);
	for (int r = 0; r < g.count; r++) {
		data[r] = piece_of(t, &g, t->posted, r);
		mrs[r] = t->mr;
		tags[r] = tag_of(t->posted, r);
		if (!t->plan->unchecked)
			memset(data[r], GUARD_BYTE, g.room[r] + GUARD);
	}
	*request = NULL;
	if (net_irecv(t->net, t->comm, g.count, data, g.room, tags, mrs, request))
		fail("irecv of group %llu failed", (unsigned long long)t->posted);
	if (!*request)
		return false;
	t->posted++;
	return true;
}

static void compare_piece(const struct traffic *t, const struct group *g, int r)
{
	const uint8_t *at = piece_of(t, g, t->done, r);
	size_t bytes = g->bytes[r] < g->room[r] ? g->bytes[r] : g->room[r], i;

	if ((size_t)t->sizes[r] != bytes)
		fail("group %llu, receive %d of %d: %d bytes arrived, %zu were sent",
		     (unsigned long long)t->done, r, g->count, t->sizes[r], bytes);
	i = differs(at, bytes, key_of(t->plan, t->done, r));
	if (i < bytes)
		fail("group %llu, receive %d of %d: byte %zu of %zu is wrong",
		     (unsigned long long)t->done, r, g->count, i, bytes);
	for (i = bytes; i < g->room[r] + GUARD; i++)
		if (at[i] != GUARD_BYTE)
			fail("group %llu, receive %d of %d: byte %zu behind the %zu was written",
			     (unsigned long long)t->done, r, g->count, i, bytes);
}

static void compare(struct traffic *t)
{
	struct group g;

	plan_group(t->plan, t->done, &g);
	for (int r = 0; r < g.count; r++)
		t->bytes += (uint64_t)t->sizes[r];
	if (t->plan->seconds > 0 && t->sizes[0] == (int)END_BYTES) {
		t->over = true;
		return;
	}
	for (int r = 0; r < g.count && !t->plan->unchecked; r++)
		compare_piece(t, &g, r);
}

/* Asks for a flush of the group that has arrived; a plugin that needs none gives no request. */
static void flush(struct traffic *t)
{
	void *data[NET_GROUP_MAX], *mrs[NET_GROUP_MAX];
	struct group g;

	plan_group(t->plan, t->done, &g);
	for (int r = 0; r < g.count; r++) {
		data[r] = piece_of(t, &g, t->done, r);
		mrs[r] = t->mr;
	}
	t->flushing = NULL;
	if (net_iflush(t->net, t->comm, g.count, data, t->sizes, mrs, &t->flushing))
		fail("iflush of group %llu failed", (unsigned long long)t->done);
	t->flushes += t->flushing != NULL;
}

static bool is_done(struct traffic *t, void *request, int *sizes)
{
	int done = 0;

	if (net_test(t->net, request, &done, sizes))
		fail("a request of group %llu failed", (unsigned long long)t->done);
	return done;
}

static bool take_receives(struct traffic *t)
{
	if (t->over || t->done == t->posted)
		return false;
	if (!t->arrived) {
		if (!is_done(t, t->request[t->done % t->plan->depth][0], t->sizes))
			return false;
		t->arrived = true;
		if (t->plan->flush)
			flush(t);
	}
	if (t->flushing && !is_done(t, t->flushing, NULL))
		return false;
	t->flushing = NULL;
	t->arrived = false;
	compare(t);
	group_done(t);
	return true;
}

bool traffic_receive(struct traffic *t)
{
	bool posted = post_receives(t);

	return take_receives(t) || posted;
}
