/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_link.h - what ring.c needs of a transport: messages into the next rank's memory, messages
 * out of the previous rank, both in order.
 *
 * All ranks lay out their memory alike, so a place is an offset. A message's bytes may arrive in
 * any order; the message is reported when it is whole. The link needs no credits: the ring's own
 * dependencies guarantee that a place is free before it is written again (see ring.c).
 */
#ifndef EXAMPLES_RING_LINK_H
#define EXAMPLES_RING_LINK_H

#include "ring_rendezvous.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_link {
	const struct ring_link_ops *ops;
	char text[160]; /* describes the link */
};

struct ring_link_ops {
	/*
	 * send queues `bytes` at offset `from` for offset `to` of the next rank. The bytes must
	 * stay until flush, or until a message that depends on them has come around.
	 */
	int (*send)(struct ring_link *link, size_t from, size_t to, size_t bytes);
	/* receive waits until the previous rank's next message, of known place and size, is
	 * whole. */
	int (*receive)(struct ring_link *link, size_t to, size_t bytes);
	/* flush waits until nothing sent needs this memory any more. */
	int (*flush)(struct ring_link *link);
	/* paths is ring_tcp_paths; NULL for a transport that uses all paths. */
	unsigned (*paths)(const struct ring_link *link, unsigned *path, unsigned max);
	bool (*feels_loss)(const struct ring_link *link); /* ring_tcp_feels_loss, or NULL */
	void (*close)(struct ring_link *link);
};

struct ring_link_cfg {
	struct ring_meet *meet;
	uint8_t *memory;
	size_t bytes;
	unsigned messages_max; /* of one all-reduce, on one link */
};

/* Both return NULL after a message on stderr. */
struct ring_link *ring_mrc_open(const struct ring_link_cfg *cfg);
struct ring_link *ring_tcp_open(const struct ring_link_cfg *cfg);

#endif
