/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_meet.h - how the ranks of a ring find each other: UNIX sockets in a directory.
 *
 * Rank r listens on DIR/rank-<r>.sock, calls on the next rank and is called on by the previous
 * one. Over these two connections neighbours check that they belong to the same job, exchange what
 * their transports need, hold barriers, and notice when the other is gone.
 */
#ifndef EXAMPLES_RING_MEET_H
#define EXAMPLES_RING_MEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_MEET_TIMEOUT_MS 30000

/* What neighbours tell each other first; all but the rank must be equal. */
struct ring_hello {
	uint32_t rank, ranks;
	uint32_t kind; /* enum ring_kind */
	uint32_t reserved;
	uint64_t floats;
};

struct ring_meet {
	struct ring_hello hello;
	int next_fd, prev_fd; /* -1: not connected */
};

/* ring_meet_init makes ring_meet_fini safe. */
void ring_meet_init(struct ring_meet *m);
/* ring_meet_open waits for both neighbours; 0, or -1 after a message on stderr. */
int ring_meet_open(struct ring_meet *m, const char *dir, const struct ring_hello *hello);
void ring_meet_fini(struct ring_meet *m);

uint32_t ring_meet_next(const struct ring_meet *m);
uint32_t ring_meet_prev(const struct ring_meet *m);

/*
 * ring_meet_swap gives `size` bytes to each neighbour and takes as many from each. All ranks must
 * call it with the same size, at most 4096. 0, or -1 after a message on stderr.
 */
int ring_meet_swap(struct ring_meet *m, const void *to_next, const void *to_prev, void *from_next,
		   void *from_prev, size_t size);

/* ring_meet_barrier returns when every rank has called it; 0, or -1 after a message. */
int ring_meet_barrier(struct ring_meet *m);

/* ring_meet_broken says, with a message on stderr, whether a neighbour has left. Does not block. */
bool ring_meet_broken(const struct ring_meet *m);

#endif
