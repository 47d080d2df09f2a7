/* SPDX-License-Identifier: BSD-2-Clause */
/* srq.c - receives that the QPs of a node share; see shared.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ext/ext.h"
#include "node.h"

/* Tells them from receives of a QP. */
#define WR_ID (UINT64_C(1) << 62)

static void *require(void *p)
{
	if (!p) {
		perror("sim world");
		abort();
	}
	return p;
}

/* Of the very size, so that the address sanitizer sees what lies beyond. */
static void *block(const struct mt_srq_cap *cap)
{
	size_t size = mt_srq_size(cap);

	return memset(require(malloc(size)), 0xA5, size);
}

struct sim_srq *sim_srq_open(struct sim_node *node, uint32_t depth, uint32_t recv_room, uint32_t pd)
{
	struct sim_srq *srq = require(calloc(1, sizeof(*srq)));
	struct mt_srq_cap cap = {.depth = depth, .max_sge = SIM_SGE_MAX, .pd = pd};

	*srq = (struct sim_srq){.node = node,
				.mr = sim_mr_of_pd(node, pd),
				.first = block(&cap),
				.depth = depth,
				.max_sge = SIM_SGE_MAX,
				.recv_room = recv_room};
	if (mt_srq_init(node->engine, srq->first, &cap, srq, &srq->srq) != MT_OK)
		sim_fail(&node->w->check, "node %u: no SRQ of %u receives", node->id, depth);
	return srq;
}

void sim_srq_fini(struct sim_srq *srq)
{
	mt_srq_fini(srq->srq);
	free(srq->recvs);
	free(srq->resized);
	free(srq->first);
	free(srq);
}

/* ---- posting ---- */

static uint64_t in_queue(const struct sim_srq *srq)
{
	return srq->srq->tail - srq->srq->head;
}

/* A limit is reached by what takes receives; what is posted later does not undo that. */
static void note_limit(struct sim_srq *srq)
{
	if (in_queue(srq) >= srq->armed)
		return;
	srq->due = true;
	srq->armed = 0;
}

static void grow_recvs(struct sim_srq *srq)
{
	if (srq->posted < srq->room)
		return;
	srq->room = srq->room ? 2 * srq->room : 64;
	srq->recvs = require(realloc(srq->recvs, srq->room * sizeof(*srq->recvs)));
}

static void add_places(struct sim_srq *srq, const struct rd_sge *sge, uint32_t n)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < n; at += sge[i++].length)
		if (sge[i].length)
			sim_mr_place(srq->mr,
				     &(struct sim_place){.offset = sge[i].addr - srq->mr->start,
							 .len = sge[i].length,
							 .srq = srq,
							 .recv = srq->posted,
							 .at = at});
}

/* What is posted, or taken and not polled, has a place of its own. */
bool sim_srq_post(struct sim_srq *srq)
{
	struct sim_check *check = &srq->node->w->check;
	struct rd_sge sge[SIM_SGE_MAX];
	struct rd_recv_wr wr = {.wr_id = WR_ID | srq->posted, .sge = sge};
	uint64_t taken = srq->mr->taken;
	bool full = srq->posted - srq->done >= srq->depth;
	int result;

	wr.n_sge = (uint32_t)rng_between(&srq->node->w->net.rng, 1, srq->max_sge);
	sim_make_sges(srq->node, srq->mr, srq->recv_room, sge, wr.n_sge);
	note_limit(srq);
	result = mt_srq_post(srq->srq, &wr);
	if (result != (full ? MT_ERR_FULL : MT_OK))
		sim_fail(check,
			 "node %u: mt_srq_post: %d, with %" PRIu64 " receives posted and %" PRIu64
			 " complete of %u",
			 srq->node->id, result, srq->posted, srq->done, srq->depth);
	if (result != MT_OK) {
		srq->mr->taken = taken;
		return false;
	}
	grow_recvs(srq);
	srq->recvs[srq->posted].msg = NULL;
	srq->recvs[srq->posted].done = false;
	add_places(srq, sge, wr.n_sge);
	srq->posted++;
	return true;
}

/* REQ(api.srq.resize) */
void sim_srq_resize(struct sim_srq *srq, uint32_t depth)
{
	struct mt_srq_cap cap = {.depth = depth, .max_sge = srq->max_sge};
	uint64_t held = srq->posted - srq->done;
	void *mem = block(&cap), *former = srq->resized;
	bool fits = depth >= held && depth >= mt_srq_limit(srq->srq);
	int result = mt_srq_resize(srq->srq, mem, depth);

	if (result != (fits ? MT_OK : MT_ERR_INVALID))
		sim_fail(&srq->node->w->check, "node %u: mt_srq_resize to %u: %d, %" PRIu64 " held",
			 srq->node->id, depth, result, held);
	if (result != MT_OK) {
		free(mem);
		return;
	}
	srq->depth = depth;
	srq->resized = mem;
	free(former);
}

void sim_srq_arm(struct sim_srq *srq, uint32_t limit)
{
	int result;

	note_limit(srq);
	result = mt_srq_arm(srq->srq, limit);

	if (result != (limit <= srq->depth ? MT_OK : MT_ERR_INVALID))
		sim_fail(&srq->node->w->check, "node %u: mt_srq_arm at %u of %u: %d", srq->node->id,
			 limit, srq->depth, result);
	if (result != MT_OK)
		return;
	srq->armed = limit;
	note_limit(srq);
}

/* ---- judging ---- */

/* REQ(ext.srq.take) REQ(ext.recv.match) */
static bool bind_recv(struct sim_srq *srq, uint64_t n, struct sim_msg *m)
{
	struct sim_flow *f = m->flow;

	if (f->srq != srq || m->recv != SIM_NO_RECV) {
		sim_fail(&srq->node->w->check,
			 "%s: message %zu takes receive %" PRIu64 " of an SRQ, but has %" PRIu64,
			 f->name, m->number, n, m->recv);
		return false;
	}
	m->recv = n;
	srq->recvs[n].msg = m;
	return true;
}

struct sim_msg *sim_srq_take(struct sim_srq *srq, uint64_t n, struct sim_msg *given)
{
	if (!given || given->opcode != RD_WR_SEND || srq->recvs[n].done)
		return NULL;
	if (!srq->recvs[n].msg && !bind_recv(srq, n, given))
		return NULL;
	return srq->recvs[n].msg == given ? given : NULL;
}

/* A QP takes receives in the order of its messages. */
static void check_order(struct sim_srq *srq, struct sim_flow *f, uint64_t n)
{
	if (f->takes_received > 0 && n <= f->last_recv)
		sim_fail(&srq->node->w->check, "%s: receive %" PRIu64 " of the SRQ after %" PRIu64,
			 f->name, n, f->last_recv);
	f->last_recv = n;
}

bool sim_srq_completed(struct sim_srq *srq, struct sim_msg *m, const struct mt_event *ev)
{
	uint64_t n = ev->wr_id - WR_ID;

	if (n >= srq->posted || srq->recvs[n].done) {
		sim_fail(&srq->node->w->check,
			 "node %u: receive %" PRIu64 " of the SRQ completed %s", srq->node->id, n,
			 n < srq->posted ? "twice" : "and was never posted");
		return false;
	}
	srq->recvs[n].done = true;
	srq->done++;
	if (!m)
		return true;
	check_order(srq, m->flow, n);
	if (!srq->recvs[n].msg && !bind_recv(srq, n, m))
		return false;
	if (srq->recvs[n].msg == m)
		return true;
	sim_fail(&srq->node->w->check,
		 "%s: message %zu completes receive %" PRIu64 " of the SRQ, which another has",
		 m->flow->name, m->number, n);
	return false;
}

/* REQ(ext.srq.limit) */
void sim_srq_limit_event(struct sim_srq *srq)
{
	note_limit(srq);
	if (!srq->due)
		sim_fail(&srq->node->w->check,
			 "node %u: SRQ limit %u is said to be reached, with %" PRIu64 " receives",
			 srq->node->id, srq->armed, in_queue(srq));
	srq->due = false;
}

/* All events that were due are polled by now, unless the node is stopped. */
void sim_srq_check(struct sim_srq *srq)
{
	uint64_t held = srq->posted - srq->done;

	if (srq->node->w->net.now_ns < srq->node->stopped_until_ns)
		return;
	note_limit(srq);
	if (srq->due)
		sim_fail(&srq->node->w->check,
			 "node %u: %" PRIu64 " receives in the SRQ, below its limit, and no event",
			 srq->node->id, in_queue(srq));
	if (in_queue(srq) + srq->srq->taken != held)
		sim_fail(&srq->node->w->check,
			 "node %u: the SRQ has %" PRIu64 " receives, %u taken, of %" PRIu64,
			 srq->node->id, in_queue(srq), srq->srq->taken, held);
}

/* No receive is lost, and none is there twice. */
void sim_srq_end(struct sim_srq *srq)
{
	struct sim_check *check = &srq->node->w->check;
	struct rd_recv_wr wr;

	while (!check->failed && mt_srq_pop(srq->srq, &wr)) {
		uint64_t n = wr.wr_id - WR_ID;

		if (n >= srq->posted || srq->recvs[n].done)
			sim_fail(check, "node %u: receive %" PRIu64 " is still in the SRQ",
				 srq->node->id, n);
		else
			srq->recvs[n].done = true;
		srq->done++;
		mt_srq_polled(srq->srq);
	}
	if (srq->done != srq->posted)
		sim_fail(check, "node %u: the SRQ lost %" PRIu64 " of %" PRIu64 " receives",
			 srq->node->id, srq->posted - srq->done, srq->posted);
}
