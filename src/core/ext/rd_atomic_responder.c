/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rd_atomic_responder.c - READs and atomics of the peer: kept until all before them is placed, then
 * executed, once.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "core/ext/ext.h"

/* Whether answers could be sent; the first request says that the peer takes any. */
static bool can_respond(struct mt_qp *qp, uint64_t now_ns)
{
	struct mt_qp *answers = &qp->ext->rd_atomic->qp;

	if (answers->state == RD_QPS_RTR) {
		mt_qp_begin_sending(answers, &answers->attr, now_ns);
		answers->state = RD_QPS_RTS;
	}
	return mt_qp_ensure_records(answers, now_ns);
}

/* The operands are the payload of a request; a READ has none. */
static uint32_t operand_bytes(uint8_t opcode)
{
	if (opcode == MW_READ_REQUEST)
		return 0;
	return opcode == MW_ATOMIC_WRITE ? sizeof(uint64_t) : MW_ATOMIC_BYTES;
}

/*
 * A request without the right operands is malformed. One that the QP does not allow is accepted
 * here, and NAKed in the order of messages.
 */
enum mt_rd_atomic_req_check mt_rd_atomic_check_req(const struct mt_incoming *c)
{
	bool atomic = c->pkt->bth.opcode != MW_READ_REQUEST;
	struct mt_qp *qp = c->qp;

	if (c->pkt->payload_len != operand_bytes(c->pkt->bth.opcode) || (atomic && !c->rx->payload))
		return MT_REQUEST_MALFORMED;
	if (!qp->ext->rd_atomic || qp->attr.max_dest_rd_atomic == 0)
		return MT_REQUEST_ACCEPTED; /* to be NAKed when all before it is complete */
	return can_respond(qp, c->rx->now_ns) ? MT_REQUEST_ACCEPTED : MT_REQUEST_NO_MEMORY;
}

/* Copies the request out of its frame, for it may wait until all before it is placed. */
static struct mt_rd_atomic_req read_request(const struct mt_incoming *c)
{
	const struct mw_data_ext *data = &c->pkt->data;
	const uint8_t *operands = c->rx->payload;
	struct mt_rd_atomic_req q = {
		.psn = c->psn,
		.msn = c->msn,
		.va = data->reth.va,
		.rkey = data->reth.rkey,
		.opcode = c->pkt->bth.opcode,
	};

	if (q.opcode == MW_READ_REQUEST) {
		q.length = data->imm;
		return q;
	}
	if (q.opcode == MW_ATOMIC_WRITE) { /* bytes, not a number */
		memcpy(&q.swap_add, operands, sizeof(q.swap_add));
		return q;
	}
	mb_assert(q.opcode == MW_COMPARE_SWAP || q.opcode == MW_FETCH_ADD);
	q.swap_add = mb_load_be64(operands);
	q.compare = mb_load_be64(operands + 8);
	return q;
}

/*
 * Requests come in any order and are kept by PSN, so that the first one is the next to execute.
 * REQ(ext.read.limit)
 */
void mt_rd_atomic_queue_req(const struct mt_incoming *c)
{
	struct mt_rd_atomic *r = c->qp->ext->rd_atomic;
	uint32_t at;

	if (!r || r->n_queued >= c->qp->attr.max_dest_rd_atomic) {
		mt_incoming_nak(c, MW_NAK_INVALID_REQUEST, RD_WC_SUCCESS);
		return;
	}
	mb_assert(r->n_queued < RD_ATOMIC_MAX);
	at = r->n_queued++;
	for (; at > 0 && r->queued[at - 1].psn > c->psn; at--)
		r->queued[at] = r->queued[at - 1];
	r->queued[at] = read_request(c);
	mb_assert_slow(at == 0 || r->queued[at - 1].psn < c->psn);
}

/* ---- executing ---- */

static void queue_response(struct mt_rd_atomic *r, const struct mt_rd_atomic_req *q,
			   const struct rd_sge *memory, uint64_t original)
{
	struct mt_requester *req = &r->qp.req;
	struct mt_wqe *wqe = mt_sq_alloc(&req->sq);
	uint32_t mtu = r->qp.attr.path_mtu;
	uint32_t packets = q->length ? (q->length - 1) / mtu + 1 : 1;

	mb_assert(wqe && mtu > 0 && packets > 0);
	*wqe = (struct mt_wqe){
		.remote_addr = original,
		.first_psn = req->post_psn,
		.n_packets = packets,
		.length = q->length,
		.n_sge = q->length > 0,
		.first_op = MW_READ_RESPONSE_FIRST,
		.last_op = MW_ATOMIC_RESPONSE,
	};
	if (q->opcode == MW_READ_REQUEST)
		wqe->last_op = packets > 1 ? MW_READ_RESPONSE_LAST : MW_READ_RESPONSE_ONLY;
	mb_assert(wqe >= r->wqes && wqe < r->wqes + RD_ATOMIC_MAX);
	r->sges[wqe - r->wqes] = *memory;
	req->post_psn += packets;
	req->sq.tail++;
	mt_qp_queue_for_tx(&r->qp);
}

/* The QP must allow the kind of access, and so must the MR or window. */
static const struct mt_mr *find_mr(const struct mt_qp *qp, const struct mt_rd_atomic_req *q,
				   uint64_t length, uint32_t access)
{
	if (!(qp->attr.access & access))
		return NULL;
	return mt_mr_check_peer(qp, q->rkey, q->va, length, access);
}

/*
 * An answer reads the MR, of a window that of which it is a view: what was allowed when it was
 * came is answered, though the window be invalid since. REQ(ext.mw.read)
 */
static struct rd_sge response_sge(const struct mt_engine *e, const struct mt_mr *mr,
				  const struct mt_rd_atomic_req *q)
{
	const struct mt_mr *region = mr->of != 0 ? &e->mrs.mrs[mr->of] : mr;

	mb_assert(mr->of <= e->mrs.max && region->access & MT_MR_LOCAL);
	return (struct rd_sge){
		.addr = region->origin + (q->va - mr->origin),
		.length = q->length,
		.lkey = region->key,
	};
}

/* Returns the syndrome of its NAK; 0: it is done. REQ(ext.read.access) */
static uint8_t execute_read(struct mt_rd_atomic *r, const struct mt_rd_atomic_req *q)
{
	struct rd_sge memory = {.length = q->length};

	if (q->length > 0) {
		const struct mt_mr *mr = find_mr(r->of, q, q->length, RD_ACCESS_REMOTE_READ);

		if (!mr)
			return MW_NAK_REMOTE_ACCESS;
		memory = response_sge(r->of->engine, mr, q);
	}
	queue_response(r, q, &memory, 0);
	return 0;
}

/*
 * Runs in the adapter, since an atomic must be one with those of the local CPUs on the same
 * memory. REQ(ext.atomic.access) REQ(ext.atomic.aligned) REQ(ext.atomic.write)
 */
static uint8_t execute_atomic(struct mt_rd_atomic *r, const struct mt_rd_atomic_req *q)
{
	const struct mt_env *env = &r->of->engine->env;
	struct mt_atomic op = {
		.swaps = q->opcode == MW_COMPARE_SWAP,
		.stores = q->opcode == MW_ATOMIC_WRITE,
		.swap_add = q->swap_add,
		.compare = q->compare,
	};
	const struct mt_mr *mr;
	uint64_t original;

	if (q->va % sizeof(uint64_t) != 0)
		return MW_NAK_INVALID_REQUEST;
	mr = find_mr(r->of, q, sizeof(uint64_t),
		     op.stores ? RD_ACCESS_REMOTE_WRITE : RD_ACCESS_REMOTE_ATOMIC);
	if (!mr)
		return MW_NAK_REMOTE_ACCESS;
	if (!env->atomic(env->ctx, mr->user, q->va - mr->origin, &op, &original))
		return MW_NAK_REMOTE_OP;
	queue_response(r, q, &(struct rd_sge){0}, original);
	return 0;
}

/*
 * A peer that asks for the n-th time has had all answers but the last few, whatever became of its
 * ACKs; if one of those was not even sent it asks for more at a time than it may.
 */
static bool has_free_response(const struct mt_rd_atomic *r)
{
	uint64_t n = r->qp.req.sq.tail, most = r->of->attr.max_dest_rd_atomic;

	return n < most || n + 1 - most <= r->qp.req.sq.next;
}

uint64_t mt_rd_atomic_implied_ack(const struct mt_rd_atomic *r)
{
	uint64_t n = r->qp.req.sq.tail, most = r->of->attr.max_dest_rd_atomic;

	return n >= most && has_free_response(r) ? n + 1 - most : 0;
}

/*
 * Requests behind a pending NAK are dropped, as the packets of such messages are.
 * REQ(ext.request.order)
 */
bool mt_rd_atomic_next_req(struct mt_qp *qp, uint64_t below, struct mt_rd_atomic_req *request)
{
	struct mt_rd_atomic *r = qp->ext->rd_atomic;

	while (r->n_queued > 0 && r->queued[0].psn < qp->rsp.window.expected &&
	       r->queued[0].msn < below) {
		struct mt_incoming of = {.qp = qp, .msn = r->queued[0].msn};

		mb_assert(r->n_queued <= RD_ATOMIC_MAX);
		*request = r->queued[0];
		r->n_queued--;
		memmove(r->queued, r->queued + 1, r->n_queued * sizeof(*request));
		if (mt_incoming_may_place(&of))
			return true;
	}
	return false;
}

/*
 * Executes a request once: its packet is recorded, so that a retransmission is a duplicate, and
 * the response is kept until the peer has it.
 */
void mt_rd_atomic_execute(struct mt_rd_atomic *r, const struct mt_rd_atomic_req *q)
{
	struct mt_incoming of = {.qp = r->of, .msn = q->msn};
	struct mt_stats *st = &r->of->engine->stats;
	uint8_t nak;

	if (!has_free_response(r))
		nak = MW_NAK_INVALID_REQUEST;
	else if (q->opcode == MW_READ_REQUEST)
		nak = execute_read(r, q);
	else
		nak = execute_atomic(r, q);
	if (nak != 0)
		mt_incoming_nak(&of, nak, RD_WC_SUCCESS);
	else
		st->rx_requests++;
	st->rx_access_errors += nak == MW_NAK_REMOTE_ACCESS;
}
