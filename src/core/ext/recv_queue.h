/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recv_queue.h - which receive a packet is for, with the extension.
 *
 * The n-th message that takes a receive takes the n-th receive posted; each of its packets carries
 * n. So packets of several SENDs may come in any order, and no receive need be looked for. A
 * receive completes when its message and all before it have; until then it remembers what it will
 * say. REQ(ext.recv.match) REQ(ext.recv.order)
 */
#ifndef SOFTMRC_CORE_EXT_RECV_QUEUE_H
#define SOFTMRC_CORE_EXT_RECV_QUEUE_H

#include "core/qp/wq.h"

enum mt_recv_found {
	MT_RECV_POSTED,
	MT_RECV_NOT_YET, /* it is not posted: the sender must wait */
	MT_RECV_PAST,	 /* it is complete: the peer is wrong */
};

/*
 * mt_recv_find looks for the receive with the 16-bit number n and returns it in *rqe. A queue with
 * an SRQ takes what it misses from there.
 */
enum mt_recv_found mt_recv_find(struct mt_rq *rq, uint16_t n, struct mt_rqe **rqe);
/* mt_recv_room returns how many bytes a receive has room for. */
uint64_t mt_recv_room(const struct mt_rq *rq, const struct mt_rqe *rqe);
/* mt_recv_complete_below completes the receives whose turn has come: those of messages below
 * msn. */
bool mt_recv_complete_below(struct mt_rq *rq, uint64_t msn);

/*
 * Walks over the pieces of a receive's memory that [offset, offset + len) of its message takes.
 * REQ(ext.recv.scatter)
 */
struct mt_recv_piece {
	uint64_t addr;
	uint32_t lkey;
	uint32_t len;
};

struct mt_recv_walk {
	const struct rd_sge *sge, *end;
	uint64_t offset; /* in *sge */
	uint32_t left;
};

/* mt_recv_walk begins a walk over bytes that lie inside mt_recv_room. */
struct mt_recv_walk mt_recv_walk(const struct mt_rq *rq, const struct mt_rqe *rqe, uint64_t offset,
				 uint32_t len);
/* mt_sges_walk begins one over n SGEs that are not those of a receive. */
struct mt_recv_walk mt_sges_walk(const struct rd_sge *sge, uint32_t n, uint64_t offset,
				 uint32_t len);
/* mt_recv_next returns the next piece; false when there is none. */
bool mt_recv_next(struct mt_recv_walk *w, struct mt_recv_piece *piece);

#endif
