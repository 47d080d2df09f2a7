/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring.h - ring all-reduce: every rank ends up with the sum of all ranks' vectors, added in one
 * fixed order, so that the result has the same bits whatever carried it and however often packets
 * were lost.
 *
 *	struct ring *r = ring_open(&cfg);
 *	float *v = ring_vector(r);
 *	... fill in v[0 .. floats-1] ...
 *	ring_all_reduce(r, floats);
 *	ring_close(r);
 *
 * Functions block, print what went wrong on stderr and are to be called from one thread.
 */
#ifndef EXAMPLES_RING_H
#define EXAMPLES_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_RANKS_MAX 32u

enum ring_kind {
	RING_MRC, /* RDMA WRITE with immediate on MRC queue pairs */
	RING_TCP, /* kernel TCP, one connection a plane */
};

struct ring_cfg {
	uint32_t rank;
	uint32_t ranks; /* 1 .. RING_RANKS_MAX; a ring of one rank needs no transport */
	enum ring_kind kind;
	const char *rendezvous; /* directory in which the ranks meet; not used by one rank alone */
	size_t floats;		/* size of the vector, at least RING_RANKS_MAX */
};

struct ring;

/* ring_open meets the neighbours and connects to them; NULL on an error. Waits up to 30 s. */
struct ring *ring_open(const struct ring_cfg *cfg);

/* ring_vector returns the vector that is summed; it belongs to the ring. */
float *ring_vector(struct ring *r);

/*
 * ring_all_reduce replaces the first `floats` elements (at least RING_RANKS_MAX) by the sums over
 * all ranks; every rank must call it with the same number. When it returns, the vector is the
 * caller's again and everything sent has been acknowledged. Returns 0, or -1: a neighbour is gone.
 */
int ring_all_reduce(struct ring *r, size_t floats);

/* ring_transport_text describes what carries the ring, for people to read. */
const char *ring_transport_text(const struct ring *r);

/*
 * ring_tcp_paths tells on which path of each plane the connection to the next rank stays, and
 * returns the number of planes, at most max; 0 for a transport whose packets use all paths.
 */
unsigned ring_tcp_paths(const struct ring *r, unsigned *path, unsigned max);

/*
 * ring_tcp_feels_loss says whether a fault table can make the connections lose a share of their
 * segments, as opposed to all: some kernels refuse the socket filter that it takes.
 */
bool ring_tcp_feels_loss(const struct ring *r);

/* ring_close waits until the neighbours have finished too, then frees all. Returns 0 or -1. */
int ring_close(struct ring *r);

/* ring_abandon frees all without waiting; after an error. */
void ring_abandon(struct ring *r);

#endif
