/* SPDX-License-Identifier: BSD-2-Clause */
/* requester_ext.c - what a requester with extensions does besides: SEND, READ and atomics. */
#include "base/assert.h"
#include "base/bytes.h"
#include "core/ext/ext.h"

/* ---- posting ---- */

static bool request_valid(const struct mt_qp *qp, const struct rd_send_wr *wr, uint64_t length)
{
	if (wr->flags & RD_SEND_IMM || (qp->attr.max_rd_atomic == 0 && qp->state != RD_QPS_ERR))
		return false;
	return wr->opcode == RD_WR_READ ||
	       (wr->n_sge == 1 && length == sizeof(uint64_t)); /* REQ(ext.atomic.local) */
}

/* What of the extensions an operation needs. */
static uint8_t needed_ext(uint8_t opcode, uint32_t flags)
{
	static const uint8_t ext[RD_WR_OPCODES] = {
		[RD_WR_SEND] = MW_EXT_SEND,
		[RD_WR_READ] = MW_EXT_READ,
		[RD_WR_COMPARE_SWAP] = MW_EXT_ATOMIC,
		[RD_WR_FETCH_ADD] = MW_EXT_ATOMIC,
		[RD_WR_ATOMIC_WRITE] = MW_EXT_ATOMIC_WRITE,
	};

	mb_assert(opcode < RD_WR_OPCODES);
	return flags & RD_SEND_INV ? ext[opcode] | MW_EXT_INV : ext[opcode];
}

/* Refuses what the QP was not created for, before a slot is taken. REQ(svc.write-only) */
bool mt_wr_is_supported(const struct mt_qp *qp, const struct rd_send_wr *wr, uint64_t length)
{
	if ((unsigned)wr->opcode >= RD_WR_LOCAL_INV ||
	    needed_ext((uint8_t)wr->opcode, wr->flags) & ~qp->cap.extensions)
		return false;
	if (wr->flags & RD_SEND_INV && (wr->opcode != RD_WR_SEND || wr->flags & RD_SEND_IMM))
		return false;
	return wr->opcode == RD_WR_SEND || request_valid(qp, wr, length);
}

/* An atomic's two numbers are its payload; where its result goes is kept for later. */
static void extend_atomic(struct mt_qp *qp, struct mt_wqe *wqe, const struct rd_send_wr *wr)
{
	struct mt_sq *sq = &qp->req.sq;
	size_t slot = (size_t)(wqe - sq->wqes);
	struct mt_operands *op = &qp->ext->operands[slot];
	bool swaps = wr->opcode == RD_WR_COMPARE_SWAP;

	mb_assert(qp->ext->operands && wr->n_sge == 1);
	mb_store_be64(op->payload, swaps ? wr->swap : wr->compare_add);
	mb_store_be64(op->payload + 8, swaps ? wr->compare_add : 0);
	op->result = wr->sge[0];
	sq->sges[slot * sq->max_sge] = (struct rd_sge){
		.addr = (uintptr_t)op->payload,
		.length = MW_ATOMIC_BYTES,
		.lkey = MT_LKEY_ADAPTER,
	};
	wqe->length = MW_ATOMIC_BYTES;
	wqe->last_op = swaps ? MW_COMPARE_SWAP : MW_FETCH_ADD;
}

/*
 * A SEND uses the next receive of the peer, with or without an immediate, so it always counts in
 * RQMSN.
 */
static void extend_send(struct mt_qp *qp, struct mt_wqe *wqe, const struct rd_send_wr *wr)
{
	bool one = wqe->n_packets == 1;

	wqe->remote_addr = 0;
	wqe->rkey = 0;
	wqe->first_op = MW_SEND_FIRST;
	wqe->last_op = one ? MW_SEND_ONLY : MW_SEND_LAST;
	if (wr->flags & RD_SEND_IMM)
		wqe->last_op = one ? MW_SEND_ONLY_IMM : MW_SEND_LAST_IMM;
	else
		qp->req.rqmsn++;
	if (wr->flags & RD_SEND_INV)
		wqe->last_op = one ? MW_SEND_ONLY_INV : MW_SEND_LAST_INV;
}

/*
 * A SEND goes to no address, and counts where receives are counted. A request is one packet; a
 * READ's says how much it wants where others have their immediate.
 */
void mt_wqe_extend(struct mt_qp *qp, struct mt_wqe *wqe, const struct rd_send_wr *wr)
{
	mb_assert(qp->ext && wr->opcode != RD_WR_WRITE);
	if (wr->opcode == RD_WR_SEND) {
		extend_send(qp, wqe, wr);
		return;
	}
	wqe->flags |= MT_WQE_AWAITS_RESPONSE;
	wqe->n_packets = 1;
	if (wr->opcode == RD_WR_ATOMIC_WRITE) {
		wqe->last_op = MW_ATOMIC_WRITE;
		return;
	}
	wqe->imm = wqe->length;
	wqe->length = 0;
	wqe->last_op = MW_READ_REQUEST;
	if (wr->opcode != RD_WR_READ)
		extend_atomic(qp, wqe, wr);
}

/* ---- beginning ---- */

static bool is_writable(const struct mt_qp *qp, const struct rd_sge *sge)
{
	return sge->length == 0 || mt_mr_check(&qp->engine->mrs, sge->lkey, qp->cap.pd, sge->addr,
					       sge->length, RD_ACCESS_LOCAL_WRITE);
}

/*
 * Checks the memory for the response before the request is sent: an atomic whose result has no
 * place must not be executed.
 */
static bool has_room(const struct mt_qp *qp, const struct mt_wqe *wqe)
{
	const struct rd_sge *sge = mt_sq_sges(&qp->req.sq, wqe);

	mb_assert(wqe->flags & MT_WQE_AWAITS_RESPONSE);
	if (wqe->opcode == RD_WR_ATOMIC_WRITE)
		return true; /* what was there goes nowhere */
	if (wqe->opcode != RD_WR_READ)
		return is_writable(qp, &qp->ext->operands[wqe - qp->req.sq.wqes].result);
	for (uint32_t i = 0; i < wqe->n_sge; i++)
		if (!is_writable(qp, &sge[i]))
			return false;
	return true;
}

/* Fails the QP when all before this WQE is complete; until then it waits. */
static void fail_in_order(struct mt_qp *qp, enum rd_wc_status status)
{
	if (qp->req.sq.done == qp->req.sq.next)
		mt_qp_fail(qp, status, status);
}

/*
 * The responder has a fixed number of RD/atomic resources and NAKs a request beyond them.
 * REQ(ext.read.limit) REQ(ext.read.local)
 */
static bool can_request(struct mt_qp *qp, const struct mt_wqe *wqe)
{
	if (mt_rd_atomic_outstanding(qp) >= qp->attr.max_rd_atomic)
		return false;
	if (has_room(qp, wqe))
		return true;
	fail_in_order(qp, RD_WC_LOC_PROT_ERR);
	return false;
}

/*
 * A WR that can never begin fails here instead of at the peer, after all earlier ones are
 * complete. REQ(ext.strict-peer) REQ(ext.fence) REQ(ext.send.local)
 */
bool mt_ext_may_begin(struct mt_qp *qp, const struct mt_wqe *wqe)
{
	uint8_t ext = needed_ext(wqe->opcode, wqe->flags);

	mb_assert(qp->ext && qp->state == RD_QPS_RTS);
	if (mt_local_wr_pending(qp) && !mt_local_wr_execute(qp))
		return false;
	if (!qp->ext->negotiation.done)
		return false;
	if (wqe->flags & MT_WQE_NO_MEMORY) {
		fail_in_order(qp, RD_WC_LOC_PROT_ERR);
		return false;
	}
	if (ext & ~qp->ext->negotiation.negotiated) {
		fail_in_order(qp, RD_WC_REM_OP_ERR);
		return false;
	}
	if (wqe->flags & RD_SEND_FENCE && mt_rd_atomic_outstanding(qp) > 0)
		return false;
	return !(wqe->flags & MT_WQE_AWAITS_RESPONSE) || can_request(qp, wqe);
}
