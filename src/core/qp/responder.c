/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder.c - takes the peer's data packets and probes.
 *
 * A data packet passes the checks below in the order in which mt_responder_data and take_new call
 * them; each says whether it goes on. Only when all have passed is anything written, and then at
 * once: packets are placed in the order in which they come. Messages complete in the order in which
 * they were sent.
 */
#include "base/assert.h"
#include "base/serial.h"
#include "core/ext/ext.h"
#include "core/qp/halves.h"
#include "wire/opcode.h"

/*
 * Written where it stays: a copy right after single bytes were stored waits for all of them. A
 * packet without a TSETH leaves the time open. REQ(wire.tseth.optional)
 */
static void set_trigger(struct mt_trigger *t, const struct mt_rx *rx, uint64_t psn,
			bool answer_lost)
{
	*t = (struct mt_trigger){
		.psn = psn,
		.ev = rx->meta->ev,
		.tx_timestamp = rx->pkt->bth.ts ? rx->pkt->data.tseth.tx_timestamp : 0,
		.rx_ns = rx->pkt->bth.ts ? rx->now_ns : 0,
		.port = rx->meta->port,
		.mark = rx->meta->ecn_ce ? MW_MARK_SKIP_ONCE : MW_MARK_NONE,
		.rtx = rx->pkt->bth.rtx,
		.answer_lost = answer_lost,
	};
}

/*
 * The next transport ACK goes back to the plane that this packet took. An answer that seems to be
 * lost takes any EV now and then. REQ(req.reverse.unheard)
 */
static void note_ack_path(struct mt_qp *qp, const struct mt_rx *rx, bool answer_lost)
{
	qp->rsp.ack_port = rx->meta->port;
	qp->rsp.ack_ev = rx->meta->ev;
	qp->rsp.ack_lost_hint |= answer_lost;
}

/* A transport ACK is state: several that are pending become one, with the newest MSN. */
static void queue_ack(struct mt_qp *qp)
{
	mb_assert_slow(qp->state != RD_QPS_RESET && qp->ev_set);
	qp->rsp.ack_due = true;
	mt_qp_queue_control(qp);
}

/* A NACK names its packet, so it is queued and not merged with others. */
static void send_nack(struct mt_qp *qp, const struct mt_rx *rx, uint64_t psn,
		      enum mw_nack_reason reason)
{
	struct mt_control n = {
		.qp = qp,
		.kind = MT_CONTROL_NACK,
		.reason = (uint8_t)reason,
	};

	set_trigger(&n.cause, rx, psn, rx->pkt->bth.rtx);
	mt_engine_queue_control(qp->engine, &n);
}

/*
 * In ERR nothing more is received. A peer that continues to send gets the reason: the NAK once
 * more, which may have been lost, or that the QP failed for a reason of its own.
 * REQ(rsp.nack.unexpected)
 */
static void reply_in_error(struct mt_qp *qp, const struct mt_rx *rx, uint64_t psn)
{
	if (!qp->rsp.nak_due) {
		send_nack(qp, rx, psn, MW_NACK_UNEXP_EVENT);
		return;
	}
	note_ack_path(qp, rx, true);
	queue_ack(qp);
}

/* Packets may come before RTR and after ERR; neither end has failed by that alone. */
static bool check_state(struct mt_incoming *c)
{
	if (mt_qp_may_receive(c->qp))
		return true;
	if (c->qp->state == RD_QPS_ERR)
		reply_in_error(c->qp, c->rx, c->pkt->bth.psn);
	mt_incoming_stats(c)->drop_qp_state++;
	return false;
}

/*
 * A packet of another partition is dropped without an answer, which would show that the QP exists.
 * REQ(rsp.qp.demux)
 */
static bool check_p_key(struct mt_incoming *c)
{
	if (c->pkt->bth.p_key == c->qp->attr.p_key)
		return true;
	mt_incoming_stats(c)->drop_p_key++;
	return false;
}

/*
 * Extends PSN and MSN to 64 bits and looks where the PSN lies. A duplicate is not placed again,
 * but it is answered: its sender may have missed the SACK or the ACK. REQ(rsp.window.any-order)
 * REQ(rsp.window.duplicate-above) REQ(rsp.window.ahead) REQ(rsp.window.ancient)
 * REQ(rsp.nack.trim-duplicate)
 */
static bool check_psn(struct mt_incoming *c)
{
	const struct mt_responder *rsp = &c->qp->rsp;

	c->psn = mb_psn_extend(rsp->window.expected, c->pkt->bth.psn);
	c->msn = mb_serial_extend(rsp->msn, c->pkt->data.meth.msn, 16);
	c->place = mt_rx_window_place(&rsp->window, c->psn);
	switch (c->place) {
	case MT_RX_NEW:
		return true;
	case MT_RX_DUP_BEHIND:
		queue_ack(c->qp); /* REQ(rsp.window.duplicate-below) */
		mt_incoming_stats(c)->rx_duplicates++;
		return true;
	case MT_RX_DUP_AHEAD:
		mt_incoming_stats(c)->rx_duplicates++;
		return true;
	case MT_RX_BEFORE_START:
		mt_incoming_stats(c)->drop_old_psn++;
		return false;
	case MT_RX_FAR:
		mt_incoming_stats(c)->drop_far_psn++;
		send_nack(c->qp, c->rx, c->psn, MW_NACK_PSN_OOR_WINDOW);
		return false;
	}
	mb_unreachable();
}

/*
 * A trimmed packet has lost its payload. The NACK makes the sender repeat it without waiting for a
 * SACK to show the hole. REQ(rsp.trim.by-dscp) REQ(rsp.trim.never-placed)
 * REQ(rsp.nack.trim-last-hop) REQ(rsp.nack.trim)
 */
static bool check_trim(struct mt_incoming *c)
{
	struct mt_engine *e = c->qp->engine;
	uint8_t trim = c->rx->meta->trim;

	if (trim == MT_TRIM_NONE)
		return true;
	mt_incoming_stats(c)->rx_trimmed++;
	if (trim == MT_TRIM_LASTHOP)
		mt_senders_trimmed(&e->senders, c->rx->now_ns, mt_qp_packet_ns(c->qp),
				   e->cfg.timing.backpressure_ns);
	send_nack(c->qp, c->rx, c->psn,
		  trim == MT_TRIM_LASTHOP ? MW_NACK_TRIMMED_LASTHOP : MW_NACK_TRIMMED);
	return false;
}

/*
 * Every packet but the last is full; the last holds what is left, which an ONLY packet proves.
 * REQ(rsp.place.payload-length)
 */
static bool length_fits(const struct mt_incoming *c)
{
	uint32_t len = c->pkt->payload_len, mtu = c->qp->attr.path_mtu;
	uint32_t whole = c->pkt->data.reth.dmalen;
	bool start = c->op & MW_OP_START, end = c->op & MW_OP_END;

	if (start && end)
		return len == whole && len <= mtu;
	if (whole <= mtu)
		return false;
	if (!end)
		return len == mtu;
	return len == (whole - 1) % mtu + 1;
}

/*
 * Each message has a packet at least, so that as many messages as packets can lie between what is
 * complete and this packet. REQ(rsp.place.msn)
 */
static bool msn_fits(const struct mt_incoming *c)
{
	const struct mt_responder *rsp = &c->qp->rsp;

	return c->msn >= rsp->msn && c->msn - rsp->msn <= c->psn - rsp->window.expected;
}

/*
 * A packet that contradicts its own message is malformed. It is dropped, not NAKed: damage that
 * the ICRC missed must not end a QP.
 */
static bool check_length(struct mt_incoming *c)
{
	if (length_fits(c) && msn_fits(c))
		return true;
	mt_incoming_stats(c)->drop_malformed++;
	return false;
}

/*
 * A request is accepted only when there is memory for its response, since a request that was
 * received is not asked for again.
 */
MT_COLD static bool check_request(struct mt_incoming *c)
{
	switch (mt_rd_atomic_check_req(c)) {
	case MT_REQUEST_ACCEPTED:
		return true;
	case MT_REQUEST_MALFORMED:
		mt_incoming_stats(c)->drop_malformed++;
		return false;
	case MT_REQUEST_NO_MEMORY:
		mt_incoming_stats(c)->drop_no_memory++;
		send_nack(c->qp, c->rx, c->psn, MW_NACK_NO_RESOURCE);
		return false;
	}
	mb_unreachable();
}

/*
 * With the extension a message that needs a receive waits at the sender until there is one. A
 * WRITE_WITH_IMM needs it when its immediate comes. REQ(ext.rnr.nack)
 */
MT_COLD static bool check_recv(struct mt_incoming *c)
{
	bool send = c->op & MW_OP_SEND;

	mb_assert_slow(c->qp->ext && c->msn >= c->qp->rsp.msn);
	if (c->op & MW_OP_REQUEST)
		return check_request(c);
	if (!(send || c->op & MW_OP_IMM) || !mt_qp_has_ext(c->qp, MW_EXT_SEND))
		return true;
	switch (mt_recv_find(&c->qp->rsp.rq, c->pkt->data.meth.rqmsn, &c->rqe)) {
	case MT_RECV_POSTED:
		if (send)
			mt_recv_check_room(c);
		return true;
	case MT_RECV_NOT_YET:
		mt_incoming_stats(c)->rnr_nacks++;
		send_nack(c->qp, c->rx, c->psn, MW_NACK_RNR);
		return false;
	case MT_RECV_PAST:
		mt_incoming_nak(c, MW_NAK_INVALID_REQUEST, RD_WC_SUCCESS);
		return true;
	}
	mb_unreachable();
}

/*
 * Of the shortages that a NACK can name: no memory for the bitmaps, none for the stash, and none
 * for a packet that must wait, where any must. REQ(rsp.nack.shortage) REQ(ext.order.bound)
 */
static bool check_memory(struct mt_incoming *c)
{
	enum mw_nack_reason missing;

	if (!mt_qp_ensure_bitmaps(c->qp, c->rx->now_ns))
		missing = MW_NACK_NO_BITMAP;
	else if (c->op & MW_OP_IMM && !mt_qp_has_ext(c->qp, MW_EXT_SEND) &&
		 !mt_qp_ensure_stash(c->qp))
		missing = MW_NACK_NO_RESOURCE;
	else if (mt_in_order_must_wait(c) &&
		 !(c->buffered = mt_qp_alloc_buffered(c->qp, c->pkt->payload_len)))
		missing = MW_NACK_NO_PKT_BUFFER;
	else
		return true;
	mt_incoming_stats(c)->drop_no_memory++;
	send_nack(c->qp, c->rx, c->psn, missing);
	return false;
}

/*
 * Each packet names its memory by itself, so each is checked: packets of a message come in any
 * order. REQ(rsp.place.access-nak)
 */
static void check_access(struct mt_incoming *c)
{
	const struct mw_reth *reth = &c->pkt->data.reth;
	struct mt_qp *qp = c->qp;

	if (c->pkt->payload_len == 0 || c->op & MW_OP_EXT)
		return; /* nothing is touched by key, so none is asked for */
	if (qp->attr.access & RD_ACCESS_REMOTE_WRITE)
		c->mr = mt_mr_check_peer(qp, reth->rkey, reth->va, c->pkt->payload_len,
					 RD_ACCESS_REMOTE_WRITE);
	if (!c->mr) {
		mt_incoming_stats(c)->rx_access_errors++;
		mt_incoming_nak(c, MW_NAK_REMOTE_ACCESS, RD_WC_SUCCESS);
	}
}

/*
 * Keeps the immediate until all earlier messages are complete. A peer that has more of them in
 * flight than agreed on breaks the contract of the QP.
 */
static void check_imm(struct mt_incoming *c)
{
	struct mt_responder *rsp = &c->qp->rsp;

	if (c->op & MW_OP_IMM && !mt_qp_has_ext(c->qp, MW_EXT_SEND)) {
		struct mt_imm w = {
			.psn = c->psn,
			.msn = c->msn,
			.imm = c->pkt->data.imm,
			.byte_len = c->pkt->data.reth.dmalen,
			.solicited = c->pkt->bth.se,
		};

		if (!mt_imm_stash_insert(&rsp->stash, c->pkt->data.meth.rqmsn, &w))
			mt_incoming_nak(c, MW_NAK_INVALID_REQUEST,
					RD_WC_SUCCESS); /* REQ(rsp.wimm.limit) */
	} else if (c->rqe) {
		mt_recv_note(c);
	}
}

/*
 * Packets of a NAKed message that came before the error was known may have been placed: WRITEs land
 * in any order until an immediate or a completion says that they have landed.
 * REQ(rsp.place.at-once) REQ(rsp.place.once)
 */
static void place(struct mt_incoming *c)
{
	const struct mt_env *env = &c->qp->engine->env;

	if (c->buffered) {
		mt_in_order_buffer(c);
		return;
	}
	if (c->mr && mt_incoming_may_place(c)) {
		mb_assert_slow(c->pkt->payload_len <= c->mr->length);
		if (env->place(env->ctx, c->mr->user, c->pkt->data.reth.va - c->mr->origin,
			       c->rx->payload, c->pkt->payload_len))
			mt_incoming_stats(c)->rx_data_bytes += c->pkt->payload_len;
		else
			mt_incoming_nak(c, MW_NAK_REMOTE_OP,
					RD_WC_SUCCESS); /* REQ(rsp.place.memory-gone) */
	}
}

/*
 * Gives immediates whose earlier messages are complete to receive WRs. No receive WR is an error,
 * not a wait. REQ(rsp.wimm.no-receive) REQ(rsp.complete.in-order) REQ(svc.no-rnr)
 * REQ(rsp.complete.write-silent) REQ(rsp.state.early)
 */
static void deliver_immediates(struct mt_incoming *c)
{
	struct mt_responder *rsp = &c->qp->rsp;
	struct mt_imm w;

	while (mt_imm_stash_pop(&rsp->stash, rsp->window.expected, rsp->msn, &w)) {
		struct mt_rqe *rqe = mt_rq_at(&rsp->rq, rsp->rq.used);

		if (rsp->rq.used == rsp->rq.tail &&
		    !(rsp->rq.srq && mt_srq_fill(&rsp->rq, rsp->rq.used))) {
			rsp->pending_nak = (struct mt_pending_nak){
				.msn = w.msn, .syndrome = MW_NAK_INVALID_REQUEST};
			rsp->msn = w.msn;
			return;
		}
		mb_assert(rsp->rq.used < rsp->rq.tail);
		rqe->status = RD_WC_SUCCESS;
		rqe->imm = w.imm;
		rqe->byte_len = w.byte_len;
		rqe->solicited = w.solicited;
		rqe->with_imm = true;
		rsp->rq.used++;
		mt_qp_queue_for_poll(c->qp);
	}
}

/* The event of our own QP reports the error in the same words as the NAK. */
static enum rd_wc_status nak_status(uint8_t syndrome)
{
	if (syndrome == MW_NAK_REMOTE_ACCESS)
		return RD_WC_REM_ACCESS_ERR;
	return syndrome == MW_NAK_REMOTE_OP ? RD_WC_REM_OP_ERR : RD_WC_REM_INV_REQ_ERR;
}

/*
 * Sends the NAK when all messages before the erroneous one are complete, so that their WRs still
 * succeed at the peer.
 */
static void report_nak(struct mt_qp *qp)
{
	struct mt_responder *rsp = &qp->rsp;

	if (rsp->pending_nak.syndrome == 0 || rsp->msn < rsp->pending_nak.msn)
		return;
	mb_assert_slow(!rsp->nak_due && rsp->msn == rsp->pending_nak.msn);
	rsp->msn = rsp->pending_nak.msn;
	rsp->nak_due = true;
	mt_qp_fail(qp, RD_WC_WR_FLUSH_ERR, nak_status(rsp->pending_nak.syndrome));
	queue_ack(qp);
}

static void track(struct mt_incoming *c)
{
	struct mt_responder *rsp = &c->qp->rsp;
	uint32_t complete = mt_rx_window_record(&rsp->window, c->psn, c->op & MW_OP_END);

	mb_assert_slow(c->place == MT_RX_NEW && c->psn < rsp->window.top);
	if (c->qp->ext)
		mt_responder_run_in_order(c, rsp->msn + complete);
	mt_incoming_stats(c)->rx_data_packets++;
	rsp->rcvd_bytes += c->pkt->payload_len + MT_NOMINAL_HEADER;
	rsp->msn += complete;
	if (rsp->pending_nak.syndrome != 0 && rsp->msn > rsp->pending_nak.msn)
		rsp->msn = rsp->pending_nak.msn;
	if (complete > 0) {
		if (!mt_qp_has_ext(c->qp, MW_EXT_SEND))
			deliver_immediates(c);
		else
			mt_recv_complete(c->qp);
		queue_ack(c->qp);
	}
	report_nak(c->qp);
}

/* A response is placed before its PSN is recorded: what cannot be placed must stay a hole. */
MT_COLD static bool rx_response(struct mt_incoming *c)
{
	enum mt_response_found found;
	uint64_t below;

	mb_assert(c->qp->response_bit);
	found = mt_rd_atomic_place_resp(c);

	if (found != MT_RESPONSE_PLACED) {
		mt_incoming_stats(c)->drop_malformed += found == MT_RESPONSE_MALFORMED;
		return false;
	}
	track(c);
	if (!mt_rd_atomic_resp_done(c, &below))
		return false;
	mt_completer_response(mt_rd_atomic_of(c->qp)->of, below, c->rx->now_ns);
	return true;
}

/*
 * What goes to memory, or stays, without a key in the packet; false: nothing of it was taken that
 * is to be acknowledged.
 */
MT_COLD static bool scatter(struct mt_incoming *c)
{
	if (c->op & MW_OP_RESPONSE)
		return rx_response(c);
	if (c->op & MW_OP_REQUEST)
		mt_rd_atomic_queue_req(c);
	else
		mt_recv_place(c);
	track(c);
	return true;
}

/* A mark is answered by a SACK of its own. REQ(rsp.sack.trigger.ecn) */
static void echo_mark(struct mt_incoming *c, bool answer_lost)
{
	struct mt_control echo = {.qp = c->qp, .kind = MT_CONTROL_SACK};

	set_trigger(&echo.cause, c->rx, c->psn, answer_lost);
	mt_incoming_stats(c)->rx_ecn++;
	mt_engine_queue_control(c->qp->engine, &echo);
}

/*
 * A peer that asks before the end of a message looks after its window by itself, so that fewer
 * SACKs do; but only while nothing is missing. REQ(rsp.sack.in-order)
 */
uint32_t mt_responder_sack_bytes(const struct mt_qp *qp)
{
	const struct mt_timing *t = &qp->engine->cfg.timing;

	return qp->rsp.sacker.peer_asks && qp->rsp.window.ahead == 0 &&
			       t->sack_in_order_bytes > t->sack_bytes
		       ? t->sack_in_order_bytes
		       : t->sack_bytes;
}

/*
 * Decides whether the packet gets a SACK, and remembers where it came from: answers return on the
 * plane that has just worked. A copy shows that its sender does not know of the first.
 */
static void acknowledge(struct mt_incoming *c)
{
	struct mt_qp *qp = c->qp;
	struct mt_sacker *sacker = &qp->rsp.sacker;
	bool answer_lost = c->pkt->bth.rtx || c->place != MT_RX_NEW;

	sacker->peer_asks |= c->pkt->bth.a && !(c->op & MW_OP_END) && !answer_lost;
	note_ack_path(qp, c->rx, answer_lost);
	if (c->pkt->bth.rtx && c->place != MT_RX_NEW)
		mt_responder_doubt_reverse_evs(qp, c->rx->now_ns);
	if (c->rx->meta->ecn_ce) {
		echo_mark(c, answer_lost);
	} else if (mt_sacker_packet(sacker, c->pkt->payload_len, c->pkt->bth.a || answer_lost,
				    mt_responder_sack_bytes(qp))) {
		set_trigger(&sacker->trigger, c->rx, c->psn, answer_lost);
		mt_qp_queue_control(qp);
	}
	if (c->rx->now_ns >= qp->ev_set->reverse_ev_next_ns)
		mt_responder_probe_reverse_ev(qp, c->rx->now_ns);
}

/* Takes a packet that is new, and says whether it is to be acknowledged. */
static bool take_new(struct mt_incoming *c)
{
	if (!check_trim(c) || !check_length(c))
		return false;
	if (c->qp->ext && !check_recv(c))
		return false;
	if (!check_memory(c))
		return false;
	check_access(c);
	check_imm(c);
	if (c->op & MW_OP_EXT)
		return scatter(c);
	place(c);
	track(c);
	return true;
}

void mt_responder_data(struct mt_qp *qp, const struct mt_rx *rx)
{
	struct mt_incoming c = {
		.qp = qp,
		.rx = rx,
		.pkt = rx->pkt,
		.op = mw_opcode_row(rx->pkt->bth.opcode)->flags,
	};

	if (c.op & MW_OP_EXT && !mt_ext_admit(&c)) {
		mt_incoming_stats(&c)
			->drop_decode++; /* as one who never heard of it. REQ(ext.strict) */
		return;
	}
	if (!check_state(&c) || !check_p_key(&c) || !check_psn(&c))
		return;
	mt_senders_note(&qp->engine->senders, &qp->period);
	if (c.place == MT_RX_NEW && !take_new(&c))
		return;
	acknowledge(&c);
}

/* A probe asks for a SACK now, and for the transport ACK in case that was lost. */
void mt_responder_probe(struct mt_qp *qp, const struct mt_rx *rx)
{
	struct mt_control answer = {
		.qp = qp,
		.kind = MT_CONTROL_SACK,
		.cause =
			{
				.ev = rx->meta->ev,
				.tx_timestamp = rx->pkt->peth.ts.tx_timestamp,
				.rx_ns = rx->now_ns,
				.probe_id = rx->pkt->peth.probe_id,
				.port = rx->meta->port,
				.mark = rx->meta->ecn_ce ? MW_MARK_SKIP_ONCE : MW_MARK_NONE,
				.probe = true,
				.answer_lost = true,
			},
	};
	struct mt_stats *st = &qp->engine->stats;

	if (qp->state == RD_QPS_ERR) {
		reply_in_error(qp, rx, qp->rsp.window.expected - 1);
		st->drop_qp_state++;
		return;
	}
	if (!mt_qp_may_receive(qp)) {
		st->drop_qp_state++;
		return;
	}
	st->rx_probes++;
	if (qp->ext)
		mt_negotiation_rx(&qp->ext->negotiation, rx->pkt->peth.ext);
	note_ack_path(qp, rx, true);
	mt_responder_doubt_reverse_evs(qp, rx->now_ns);
	mt_engine_queue_control(qp->engine, &answer); /* REQ(rsp.sack.trigger.probe) */
	if (qp->rsp.msn > 0)
		queue_ack(qp);
}
