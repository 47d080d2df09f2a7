/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp.c - creating a QP in memory of its owner, posting to its queues, and what its timer does when
 * it fires.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bits.h"
#include "base/serial.h"
#include "core/ext/ext.h"
#include "core/qp/halves.h"

#define QUEUE_MAX 32768u
#define LENGTH_MAX UINT32_MAX
#define FLAGS_ALL \
	((uint32_t)RD_SEND_IMM | RD_SEND_SIGNALED | RD_SEND_SOLICITED | RD_SEND_FENCE | RD_SEND_INV)
#define EXTENSIONS \
	((uint32_t)MW_EXT_SEND | MW_EXT_READ | MW_EXT_ATOMIC | MW_EXT_INV | MW_EXT_ATOMIC_WRITE)
#define ATOMICS (MW_EXT_ATOMIC | MW_EXT_ATOMIC_WRITE)

/*
 * Slots are found by a mask, so their number is a power of two; an empty queue has one that stays
 * unused.
 */
static uint32_t slots_for_depth(uint32_t depth)
{
	return depth ? mb_pow2_ceil(depth) : 1;
}

/* A plain QP has none of this. REQ(ext.free) */
static size_t ext_size(const struct mt_qp_cap *cap)
{
	if (!cap->extensions)
		return 0;
	return sizeof(struct mt_qp_ext) +
	       (size_t)slots_for_depth(cap->rq_depth) * cap->max_recv_sge * sizeof(struct rd_sge) +
	       (cap->extensions & MW_EXT_ATOMIC
			? slots_for_depth(cap->sq_depth) * sizeof(struct mt_operands)
			: 0);
}

_Static_assert((EXTENSIONS & (EXTENSIONS + 1)) == 0, "what may be in `extensions` is a range");

/* A receive of an SRQ is copied to the receive queue of the QP, where it must fit. */
bool mt_qp_cap_check(const struct mt_qp_cap *cap, struct mt_range_error *error)
{
	bool needs_extensions = cap->max_recv_sge > 0 || cap->in_order || cap->srq;

	return mt_in_range(error, "sq_depth", cap->sq_depth, 1, QUEUE_MAX) &&
	       mt_in_range(error, "rq_depth", cap->rq_depth, 0, QUEUE_MAX) &&
	       mt_in_range(error, "max_sge", cap->max_sge, 1, RD_SGE_MAX) &&
	       mt_in_range(error, "extensions", cap->extensions, needs_extensions, EXTENSIONS) &&
	       mt_in_range(error, "max_recv_sge", cap->max_recv_sge,
			   cap->srq ? cap->srq->max_sge : 0, RD_SGE_MAX);
}

/* REQ(mem.qp-size) */
size_t mt_qp_size(const struct mt_qp_cap *cap)
{
	struct mt_range_error error;

	if (!mt_qp_cap_check(cap, &error))
		return 0;
	return sizeof(struct mt_qp) + ext_size(cap) +
	       slots_for_depth(cap->sq_depth) * sizeof(struct mt_wqe) +
	       (size_t)slots_for_depth(cap->sq_depth) * cap->max_sge * sizeof(struct rd_sge) +
	       slots_for_depth(cap->rq_depth) * sizeof(struct mt_rqe);
}

_Static_assert(sizeof(struct mt_qp) % 8 == 0 && sizeof(struct mt_wqe) % 8 == 0 &&
		       sizeof(struct rd_sge) % 8 == 0,
	       "what follows them in a QP's memory is aligned");
_Static_assert(sizeof(struct mt_qp_ext) % 8 == 0 && sizeof(struct mt_rqe) % 8 == 0 &&
		       sizeof(struct mt_operands) % 8 == 0,
	       "the same");

/*
 * Lays the queues out behind the QP, in the order in which mt_qp_size adds them up. One block
 * keeps a QP of small queues in few cache lines.
 */
static void qp_layout(struct mt_qp *qp, const struct mt_qp_cap *cap)
{
	struct mt_sq *sq = &qp->req.sq;
	struct mt_rq *rq = &qp->rsp.rq;

	sq->wqes = (struct mt_wqe *)(qp + 1);
	sq->depth = cap->sq_depth;
	sq->mask = slots_for_depth(cap->sq_depth) - 1;
	sq->max_sge = cap->max_sge;
	sq->signal_all = cap->signal_all;
	sq->sges = (struct rd_sge *)(sq->wqes + slots_for_depth(cap->sq_depth));
	rq->rqes =
		(struct mt_rqe *)(sq->sges + (size_t)slots_for_depth(cap->sq_depth) * cap->max_sge);
	rq->depth = (uint16_t)cap->rq_depth;
	rq->mask = slots_for_depth(cap->rq_depth) - 1;
	if (!cap->extensions) {
		mb_assert((uint8_t *)(rq->rqes + rq->mask + 1) == (uint8_t *)qp + mt_qp_size(cap));
		return;
	}
	rq->max_sge = cap->max_recv_sge;
	rq->srq = cap->srq;
	qp->ext = (struct mt_qp_ext *)mt_rq_sges(rq, rq->rqes + slots_for_depth(cap->rq_depth));
	mb_assert((uint8_t *)(qp->ext + 1) <= (uint8_t *)qp + mt_qp_size(cap));
	qp->ext->negotiation.offered = cap->extensions;
	if (cap->extensions & MW_EXT_ATOMIC)
		qp->ext->operands = (struct mt_operands *)(qp->ext + 1);
	mt_in_order_init(&qp->ext->in_order);
}

/* Everything is checked before the memory is written, so that a call that fails leaves no trace. */
int mt_qp_init(struct mt_engine *e, void *mem, const struct mt_qp_cap *cap, uint32_t qpn,
	       void *qp_user, struct mt_qp **out)
{
	struct mt_qp **place = &e->qps[qpn & (e->cfg.max_qps - 1)];
	struct mt_qp *qp = mem;

	if (mt_qp_size(cap) == 0 || qpn < MW_QPN_FIRST || qpn > MW_QPN_MAX ||
	    (cap->extensions & ATOMICS && !e->env.atomic))
		return MT_ERR_INVALID;
	if (*place)
		return MT_ERR_EXISTS;
	memset(mem, 0, mt_qp_size(cap));
	qp->engine = e;
	qp->user = qp_user;
	qp->qpn = qpn;
	qp->cap = *cap;
	mt_qp_attr_default(&qp->attr);
	mt_qp_init_links(qp);
	qp_layout(qp, cap);
	*place = qp;
	*out = qp;
	return MT_OK;
}

/* Goes through RESET, which is the one place that gives back all that a QP owns. */
void mt_qp_fini(struct mt_qp *qp)
{
	struct mt_engine *e = qp->engine;
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};
	int r = mt_qp_modify(qp, 0, &reset, RD_QP_STATE);

	mb_assert(r == MT_OK && e->qps[qp->qpn & (e->cfg.max_qps - 1)] == qp);
	e->qps[qp->qpn & (e->cfg.max_qps - 1)] = NULL;
}

/* ---- posting ---- */

static bool sge_allowed(const struct mt_qp *qp, const struct rd_sge *sge)
{
	return sge->length == 0 || sge->lkey == MT_LKEY_ADAPTER ||
	       mt_mr_check(&qp->engine->mrs, sge->lkey, qp->cap.pd, sge->addr, sge->length,
			   MT_MR_LOCAL);
}

/*
 * The total is computed even after an SGE that is not allowed, since a QP with extensions queues
 * such a WR and fails it in order.
 */
static bool sges_allowed(const struct mt_qp *qp, const struct rd_send_wr *wr, uint64_t *total)
{
	bool allowed = true;

	*total = 0;
	for (uint32_t i = 0; i < wr->n_sge; i++) {
		*total += wr->sge[i].length;
		allowed = allowed && sge_allowed(qp, &wr->sge[i]);
	}
	return allowed;
}

/* The immediate travels in the last packet only. */
static uint8_t last_op(const struct mt_wqe *wqe)
{
	bool imm = wqe->flags & RD_SEND_IMM;

	if (wqe->n_packets > 1)
		return imm ? MW_WRITE_LAST_IMM : MW_WRITE_LAST;
	return imm ? MW_WRITE_ONLY_IMM : MW_WRITE_ONLY;
}

/*
 * PSNs and RQMSN are assigned when the WR is posted: they depend on the order of posting only, and
 * retransmissions need them unchanged.
 */
static void fill_wqe(struct mt_qp *qp, struct mt_wqe *wqe, const struct rd_send_wr *wr,
		     uint32_t length)
{
	struct mt_requester *req = &qp->req;
	uint32_t mtu = qp->attr.path_mtu;

	mb_assert(wr->n_sge <= req->sq.max_sge && mtu > 0);
	*wqe = (struct mt_wqe){
		.wr_id = wr->wr_id,
		.remote_addr = wr->remote_addr,
		.first_psn = req->post_psn,
		.n_packets = length ? (length - 1) / mtu + 1 : 1,
		.length = length,
		.rkey = wr->rkey,
		.imm = wr->imm,
		.rqmsn = req->rqmsn,
		.n_sge = (uint8_t)wr->n_sge,
		.flags = (uint8_t)wr->flags,
		.opcode = (uint8_t)wr->opcode,
		.first_op = MW_WRITE_FIRST,
	};
	wqe->last_op = last_op(wqe);
	if (wr->n_sge)
		memcpy(&req->sq.sges[(size_t)(wqe - req->sq.wqes) * req->sq.max_sge], wr->sge,
		       wr->n_sge * sizeof(*wr->sge));
	if (wr->opcode != RD_WR_WRITE)
		mt_wqe_extend(qp, wqe, wr);
	mb_assert_slow(wqe->n_packets > 0 && wqe == mt_sq_at(&req->sq, req->sq.tail));
	req->post_psn += wqe->n_packets;
	req->rqmsn = (uint16_t)(req->rqmsn + (wr->flags & RD_SEND_IMM));
	req->sq.tail++;
}

/*
 * In ERR a WR is accepted and flushed at once, as verbs require. What the WR needs is checked
 * before a slot is taken. REQ(svc.message-size) REQ(api.post-send.full) REQ(api.post-send.lkey)
 */
int mt_qp_post_send(struct mt_qp *qp, uint64_t now_ns, const struct rd_send_wr *wr)
{
	struct mt_wqe *wqe;
	uint64_t length;
	bool allowed;

	if (!mt_qp_may_send(qp) && qp->state != RD_QPS_ERR)
		return MT_ERR_STATE;
	if (wr->n_sge > qp->cap.max_sge || wr->flags & ~FLAGS_ALL)
		return MT_ERR_INVALID;
	allowed = sges_allowed(qp, wr, &length);
	if (!allowed && !qp->ext)
		return MT_ERR_ACCESS;
	if (length > LENGTH_MAX || ((wr->opcode != RD_WR_WRITE || wr->flags & RD_SEND_INV) &&
				    !mt_wr_is_supported(qp, wr, length)))
		return MT_ERR_INVALID;
	wqe = mt_sq_alloc(&qp->req.sq);
	if (!wqe)
		return MT_ERR_FULL;
	if (qp->state != RD_QPS_ERR && !mt_qp_ensure_records(qp, now_ns))
		return MT_ERR_MEMORY;
	fill_wqe(qp, wqe, wr, (uint32_t)length);
	if (!allowed)
		wqe->flags |= MT_WQE_NO_MEMORY;
	if (qp->state == RD_QPS_ERR) {
		mt_sq_flush(&qp->req.sq, RD_WC_WR_FLUSH_ERR);
		mt_qp_queue_for_poll(qp);
	} else {
		mt_qp_queue_for_tx(qp);
		if (qp->ext)
			mt_qp_negotiate(qp, now_ns);
	}
	return MT_OK;
}

/* The receive of plain MRC names no memory: only WRITE_WITH_IMM uses it. */
int mt_qp_post_recv(struct mt_qp *qp, uint64_t wr_id)
{
	struct rd_recv_wr wr = {.wr_id = wr_id};

	return mt_qp_post_recv_sges(qp, &wr);
}

/* A QP with an SRQ takes its receives from there, so that its own queue refuses them. */
int mt_qp_post_recv_sges(struct mt_qp *qp, const struct rd_recv_wr *wr)
{
	struct mt_rq *rq = &qp->rsp.rq;

	if (qp->state == RD_QPS_RESET)
		return MT_ERR_STATE;
	if (rq->srq || wr->n_sge > rq->max_sge)
		return MT_ERR_INVALID;
	if (rq->tail - rq->head == rq->depth)
		return MT_ERR_FULL;
	mb_assert(rq->tail - rq->head < rq->depth && rq->head <= rq->used);
	mt_rq_push(rq, wr);
	if (qp->state == RD_QPS_ERR) {
		mt_rq_flush(rq, RD_WC_WR_FLUSH_ERR);
		mt_qp_queue_for_poll(qp);
	}
	return MT_OK;
}

/* ---- what the halves ask for ---- */

/*
 * Asks the responder what it has. The longer the silence, the more EVs are probed at once, since
 * most paths may be dead, in either direction; one answer tells of everything outstanding.
 * REQ(req.probe.tail)
 */
static void send_tail_probes(struct mt_qp *qp)
{
	struct mt_requester *req = &qp->req;
	bool negotiates = qp->ext && qp->ext->negotiation.requested;
	uint16_t evs[MT_RTO_PROBES_MAX];
	uint32_t n =
		mt_spray_pick_tail(&req->spray, qp->ev_set, mt_rto_probe_fanout(&req->rto), evs);

	for (uint32_t i = 0; i < n; i++)
		mt_engine_queue_probe(qp->engine, qp, evs[i],
				      negotiates ? MT_PROBE_NEGOTIATION : MT_PROBE_TAIL);
	qp->engine->stats.tail_probes += n;
}

/*
 * The first packet of a QP with extensions is a probe; work waits for its answer, and for that the
 * timers watch as for any other.
 */
void mt_qp_negotiate(struct mt_qp *qp, uint64_t now_ns)
{
	struct mt_negotiation *a = &qp->ext->negotiation;

	if (a->done || a->requested)
		return;
	mb_assert(qp->ev_set && a->offered != 0);
	a->requested = true;
	send_tail_probes(qp);
	mt_rto_start(&qp->req.rto, now_ns);
	mt_qp_arm(qp);
}

/*
 * A timeout proves nothing about a path: the oldest packet goes again, and its SACK will tell. It
 * goes whatever congestion control says: what fills the window is most likely lost as well.
 *
 * An answer to a READ goes again only when the requester says that it is missing, and until then is
 * asked: it may have told the program here, in a message or otherwise, that it has the answer,
 * whose memory may be gone since. REQ(req.loss.timeout) REQ(ext.response.resend)
 */
static void resend_oldest(struct mt_qp *qp, uint64_t now_ns)
{
	struct mt_requester *req = &qp->req;
	struct mt_tx_window *w = &req->window;

	qp->engine->stats.timeouts++;
	if (qp->response_bit) {
		send_tail_probes(qp);
		return;
	}
	req->timed_out = !mt_tx_is_empty(w);
	if (qp->ext && qp->ext->negotiation.requested) {
		send_tail_probes(qp);
	} else if (mt_tx_is_empty(w)) {
		req->repeat_last = true;
		req->acks_if_asked = true; /* as it seems: to ask costs a SACK, not to ask time */
	} else if (mt_tx_rec(w, w->una)->state == MT_TX_OUTSTANDING) {
		const struct mt_tx_rec *oldest = mt_tx_rec(w, w->una);

		mt_tx_window_lost(w, w->una);
		mt_qp_count_left(qp, oldest);
		req->cc.ops->loss(&req->cc, now_ns, MT_CC_INFERRED, oldest->nominal);
		qp->engine->stats.lost_timeout++;
	}
	mt_qp_queue_for_tx(qp);
}

/*
 * What the last timeout sends again waits for a port with room. An attempt that never left must not
 * use up a retry. Without any port retries wait for one to come back, but not for ever: nobody may
 * be there to bring one back. REQ(req.retry.sent) REQ(req.retry.no-port)
 */
static bool resend_waits_for_port(const struct mt_qp *qp, uint64_t now_ns)
{
	const struct mt_requester *req = &qp->req;
	const struct mt_engine *e = qp->engine;

	if (e->ports.up == 0)
		return mt_local_ports_down_ns(&e->ports, now_ns) < e->cfg.timing.no_port_ns;
	return mt_ev_set_is_reachable(qp->ev_set) &&
	       (req->repeat_last || (req->timed_out && req->window.lost > 0));
}

/*
 * Where the only link has just come back, what is sent may be lost until the other end has noted it
 * too, and the neighbour's address that it asked for in vain is asked for again after a second.
 * Until then it is tried, and no retry is used up. REQ(req.retry.no-port)
 */
static bool link_settles(const struct mt_qp *qp, uint64_t now_ns)
{
	const struct mt_engine *e = qp->engine;

	return mt_local_ports_settle(&e->ports, e->cfg.timing.port_notice_ns, now_ns);
}

/* Says whether the peer asked to wait, and there is nothing else to do until then. */
static bool rnr_is_waiting(struct mt_qp *qp, uint64_t now_ns)
{
	struct mt_rnr *rnr = &qp->ext->rnr;
	struct mt_rto *rto = &qp->req.rto;
	uint64_t from_ns = rnr->began_ns > rto->step_ns ? rnr->began_ns : rto->step_ns;

	if (mt_rnr_end_wait(rnr, now_ns)) {
		mt_rto_exclude(rto, now_ns - from_ns);
		mt_qp_queue_for_tx(qp);
	}
	return rnr->waits;
}

/*
 * The back-off of NACKed packets and the wait for a peer without receives come before the ACK
 * timer: during those waits the silence of the peer is no sign of a fault.
 */
void mt_qp_tick(struct mt_qp *qp, uint64_t now_ns)
{
	struct mt_rto_limits limits = mt_qp_rto_limits(qp);
	struct mt_requester *req = &qp->req;

	if (req->window.n_backoff > 0 && now_ns >= req->window.backoff_due_ns) {
		mt_tx_window_end_backoff(&req->window, now_ns, mt_qp_nack_backoff_ns(qp));
		mt_qp_queue_for_tx(qp);
	}
	if (req->pace.waiting && mt_pace_may_send(&req->pace, now_ns))
		mt_qp_queue_for_tx(qp);
	if (qp->ext && rnr_is_waiting(qp, now_ns)) {
		mt_qp_arm(qp);
		return;
	}
	if (resend_waits_for_port(qp, now_ns))
		mt_rto_exclude(&req->rto, now_ns - req->rto.step_ns);
	if (link_settles(qp, now_ns))
		req->rto.timeouts = 0;
	switch (mt_rto_expire(&req->rto, &limits, mt_qp_probe_after_ns(qp), now_ns)) {
	case MT_RTO_WAIT:
		break;
	case MT_RTO_PROBE:
		send_tail_probes(qp);
		break;
	case MT_RTO_RESEND:
		resend_oldest(qp, now_ns);
		break;
	case MT_RTO_GIVE_UP:
		mt_qp_fail(qp, RD_WC_RETRY_EXC_ERR, RD_WC_RETRY_EXC_ERR);
		return;
	}
	mt_qp_arm(qp);
}
