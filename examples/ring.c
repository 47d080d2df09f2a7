/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring all-reduce over two neighbour links.
 *
 * The vector is cut into as many chunks as there are ranks. In the first N-1 hops (reduce-scatter)
 * rank r passes chunk r - hop on and receives the partial sum of the chunk before it, to which it
 * adds its own; chunk c is thus summed in the order c, c+1, ... c-1. Then rank r holds the sum of
 * chunk r+1, and N-1 more hops (all-gather) carry the sums around. Each chunk travels in slices,
 * and a slice is passed on as soon as it has come in, so that the link never waits for a chunk.
 *
 * Why nothing is overwritten too early, without any credits: partial sums land in a scratch area,
 * one place a chunk; sums land in the vector. The previous rank writes to a scratch place again in
 * its next all-reduce, which it begins after it has all sums of this one, and each of those was
 * made from the partial sum that this rank had read from there. It writes a sum into the vector
 * only after this rank's own contribution to that very sum has gone around.
 */
#include "ring.h"
#include "ring_link.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Small enough to stream through the ring, large enough that one is several packets on a plane. */
#define SLICE_BYTES 65536u
#define SLICES_MAX 16u

struct ring {
	struct ring_cfg cfg;
	struct ring_meet meet;
	struct ring_link *link;
	float *memory; /* the vector, then scratch of the same size */
	size_t bytes;
};

/* How one all-reduce of `floats` elements is cut. */
struct cut {
	size_t floats;
	uint32_t ranks;
	unsigned slices;
};

struct span {
	size_t first, count; /* floats */
};

static struct cut make_cut(size_t floats, uint32_t ranks)
{
	size_t slices = floats / ranks * sizeof(float) / SLICE_BYTES;

	if (slices < 1)
		slices = 1;
	if (slices > SLICES_MAX)
		slices = SLICES_MAX;
	return (struct cut){.floats = floats, .ranks = ranks, .slices = (unsigned)slices};
}

static struct span find_slice(const struct cut *cut, uint32_t chunk, unsigned slice)
{
	size_t begin = cut->floats * chunk / cut->ranks;
	size_t len = cut->floats * (chunk + 1) / cut->ranks - begin;
	size_t first = len * slice / cut->slices;

	return (struct span){.first = begin + first,
			     .count = len * (slice + 1) / cut->slices - first};
}

static struct ring_link *open_link(struct ring *r)
{
	struct ring_link_cfg cfg = {
		.meet = &r->meet,
		.memory = (uint8_t *)r->memory,
		.bytes = r->bytes,
		.messages_max = 2 * (r->cfg.ranks - 1) * SLICES_MAX,
	};

	return r->cfg.kind == RING_MRC ? ring_mrc_open(&cfg) : ring_tcp_open(&cfg);
}

static int meet_and_link(struct ring *r)
{
	struct ring_hello hello = {
		.rank = r->cfg.rank,
		.ranks = r->cfg.ranks,
		.kind = (uint32_t)r->cfg.kind,
		.floats = r->cfg.floats,
	};

	if (ring_meet_open(&r->meet, r->cfg.rendezvous, &hello))
		return -1;
	r->link = open_link(r);
	if (!r->link)
		return -1;
	/* Nobody may send before its peer has posted receives or accepted. */
	return ring_meet_barrier(&r->meet);
}

struct ring *ring_open(const struct ring_cfg *cfg)
{
	struct ring *r = calloc(1, sizeof(*r));

	if (!r) {
		fprintf(stderr, "ring: out of memory\n");
		return NULL;
	}
	r->cfg = *cfg;
	r->bytes = 2 * cfg->floats * sizeof(float);
	ring_meet_init(&r->meet);
	r->memory =
		mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->memory == MAP_FAILED) {
		fprintf(stderr, "ring: no memory for a vector of %zu floats: %s\n", cfg->floats,
			strerror(errno));
		free(r);
		return NULL;
	}
	if (cfg->ranks > 1 && meet_and_link(r)) {
		ring_abandon(r);
		return NULL;
	}
	return r;
}

float *ring_vector(struct ring *r)
{
	return r->memory;
}

const char *ring_transport_text(const struct ring *r)
{
	return r->link ? r->link->text : "none: one rank alone";
}

unsigned ring_tcp_paths(const struct ring *r, unsigned *path, unsigned max)
{
	return r->link && r->link->ops->paths ? r->link->ops->paths(r->link, path, max) : 0;
}

bool ring_tcp_feels_loss(const struct ring *r)
{
	return r->link && r->link->ops->feels_loss && r->link->ops->feels_loss(r->link);
}

static void add_slice(struct ring *r, const struct span *slice)
{
	float *restrict sum = r->memory + slice->first;
	const float *restrict partial = r->memory + r->cfg.floats + slice->first;

	for (size_t i = 0; i < slice->count; i++)
		sum[i] = partial[i] + sum[i];
}

/* Sends the slice as it stands in the vector: a partial sum to the peer's scratch, a sum home. */
static int pass_on(struct ring *r, const struct span *slice, bool is_sum)
{
	size_t from = slice->first * sizeof(float);
	size_t scratch = r->cfg.floats * sizeof(float);

	return r->link->ops->send(r->link, from, is_sum ? from : scratch + from,
				  slice->count * sizeof(float));
}

static int take_in(struct ring *r, const struct span *slice, bool is_sum)
{
	size_t to = slice->first * sizeof(float);
	size_t scratch = r->cfg.floats * sizeof(float);

	if (r->link->ops->receive(r->link, is_sum ? to : scratch + to,
				  slice->count * sizeof(float)))
		return -1;
	if (!is_sum)
		add_slice(r, slice);
	return 0;
}

/* Receives the chunk of one hop slice by slice and passes each on, unless it has come home. */
static int run_hop(struct ring *r, const struct cut *cut, uint32_t hop)
{
	uint32_t n = cut->ranks;
	uint32_t hops = 2 * (n - 1);
	uint32_t chunk = (r->cfg.rank + 2 * n - hop - 1) % n;
	bool is_sum = hop >= n - 1;

	for (unsigned s = 0; s < cut->slices; s++) {
		struct span slice = find_slice(cut, chunk, s);

		if (take_in(r, &slice, is_sum))
			return -1;
		if (hop + 1 < hops && pass_on(r, &slice, hop + 1 >= n - 1))
			return -1;
	}
	return 0;
}

int ring_all_reduce(struct ring *r, size_t floats)
{
	struct cut cut = make_cut(floats, r->cfg.ranks);

	if (r->cfg.ranks == 1)
		return 0;
	for (unsigned s = 0; s < cut.slices; s++) {
		struct span slice = find_slice(&cut, r->cfg.rank, s);

		if (pass_on(r, &slice, false))
			return -1;
	}
	for (uint32_t hop = 0; hop < 2 * (cut.ranks - 1); hop++)
		if (run_hop(r, &cut, hop))
			return -1;
	return r->link->ops->flush(r->link);
}

void ring_abandon(struct ring *r)
{
	if (!r)
		return;
	if (r->link)
		r->link->ops->close(r->link);
	ring_meet_fini(&r->meet);
	munmap(r->memory, r->bytes);
	free(r);
}

int ring_close(struct ring *r)
{
	/* A neighbour may still need an acknowledgement from here: leave together. */
	int rc = r->link ? ring_meet_barrier(&r->meet) : 0;

	ring_abandon(r);
	return rc;
}
