/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_engine.c - the adapter of our engine: its packets become frames, frames its packets. */
#include <inttypes.h>
#include <string.h>

#include "peer_world.h"

#include "wire/dscp.h"
#include "wire/ev_fmt.h"
#include "wire/icrc.h"
#include "wire/ip_udp.h"

#define PD 7u
#define MR_INDEX 1u
#define MW_INDEX 2u
#define UDP_PORT 4791u
#define BATCH 16u
#define SPLITS_MAX 3u
/* A packet that is refused now and then is no reason for a SACK. */
#define REFUSED_BYTES 4096u

/* ---- packets out ---- */

static void copy_payload(struct world *w, const struct mt_tx_desc *d, uint8_t *out)
{
	const struct world_end *e = &w->ends[ENGINE];
	uint64_t skip = d->offset;
	uint32_t left = d->pkt.payload_len;

	for (uint32_t i = 0; i < d->n_sge && left > 0; i++) {
		const struct rd_sge *s = &d->sge[i];
		uint32_t n;

		if (skip >= s->length) {
			skip -= s->length;
			continue;
		}
		n = s->length - skip < left ? (uint32_t)(s->length - skip) : left;
		memcpy(out,
		       (s->lkey == MT_LKEY_ADAPTER ? (const uint8_t *)(uintptr_t)s->addr
						   : e->memory + (s->addr - e->region_va)) +
			       skip,
		       n);
		out += n;
		left -= n;
		skip = 0;
	}
	if (left > 0)
		world_fail(w, "the engine's SGEs lack %u bytes of payload", left);
}

static void add_icrc(const struct mw_ip_udp *ip, const uint8_t *bth, size_t len, uint8_t out[4])
{
	struct mw_icrc_carrier c = {.ip_version = 6,
				    .ip_len = (uint16_t)(ip->len + 8),
				    .udp_sport = ip->sport,
				    .udp_dport = ip->dport,
				    .udp_len = (uint16_t)(ip->len + 8)};

	memcpy(c.src, ip->src, 16);
	memcpy(c.dst, ip->dst, 16);
	mw_icrc_finish(mw_crc32_update(mw_icrc_start(mw_crc32_update, &c, bth), bth + 12, len - 12),
		       out);
}

/* REQ(ext.fence): each op is one message, so that its MSN says which it is. */
static void check_fence(struct world *w, const struct peer_packet *pkt)
{
	const struct peer_sender *s = &w->peer.answers;
	const struct world_end *e = &w->ends[ENGINE];
	size_t requests = 0;

	if (pkt->msn >= e->n_ops || !e->ops[pkt->msn].fence)
		return;
	for (size_t i = 0; i < pkt->msn; i++)
		requests += peer_op_is_request(&e->ops[i]);
	for (size_t i = 0; requests > 0 && (requests > s->messages || i < s->ends[requests - 1]);
	     i++)
		if (requests > s->messages || s->packets[i].delivered == 0) {
			world_fail(w, "op %u begins before its fence", pkt->msn);
			return;
		}
}

/* What the wire cannot tell afterwards. */
static void watch(struct world *w, const struct mt_tx_desc *d, const struct peer_frame *f)
{
	struct peer_packet pkt;
	const char *why;
	bool known = false;

	if (peer_packet_decode(f, true, &pkt, &why) != PEER_OK) {
		world_fail(w, "the engine sends what is malformed: %s", why);
		return;
	}
	peer_watch(&w->peer, &pkt);
	w->owed[OWED_SACK] &=
		!(pkt.opcode == PEER_SACK || pkt.opcode == PEER_SACK + PEER_RESPONSE_BIT);
	w->owed[OWED_MARK] &= pkt.m != 1;
	/* What is refused does not count; leave it to what comes after. */
	if ((pkt.opcode & ~PEER_RESPONSE_BIT) == PEER_SACK ||
	    (pkt.opcode & ~PEER_RESPONSE_BIT) == PEER_NACK)
		w->unsacked[peer_opcode_is_response(pkt.opcode)] = 0;
	w->owed[OWED_PROBE_ANSWER] &= !pkt.pr;
	w->owed[OWED_ENDPOINT_ANSWER] &= pkt.opcode != PEER_EP_RESPONSE;
	if ((pkt.opcode & ~PEER_RESPONSE_BIT) == PEER_NACK || pkt.syndrome > PEER_ACK_POSITIVE)
		memset(w->owed, 0, sizeof(w->owed)); /* refused, or the QP has failed */
	for (uint32_t i = 0; i < w->n_evs; i++)
		known |= w->evs[i].value == d->ev && w->evs[i].port == d->port;
	/* An endpoint request is answered by the EV by which it came. */
	if (!known && pkt.opcode != PEER_EP_RESPONSE)
		world_fail(w, "EV %08" PRIx32 " of port %u is not in the profile", d->ev, d->port);
	if (peer_opcode_is_data(pkt.opcode) && !peer_opcode_is_response(pkt.opcode))
		check_fence(w, &pkt);
	if (w->is_down && d->port == w->down_plane) /* REQ(ep.port.local-down) */
		world_fail(w, "opcode %02x leaves by port %u, which is down", pkt.opcode, d->port);
}

static void send(void *ctx, const struct mt_tx_desc *d, uint32_t ports)
{
	struct world *w = ctx;
	const struct mw_dscp_map map = mw_dscp_map_default();
	struct mw_ev_bits bits = mw_ev_encode(MW_EV_STEV, d->ev);
	uint8_t dscp = mw_dscp_encode(
		&map, mw_dscp_class_of_opcode(d->pkt.bth.opcode, d->pkt.bth.rtx, true));
	struct mw_ip_udp ip = {.sport = bits.udp_sport,
			       .flow_label = bits.flow_label,
			       .dport = UDP_PORT,
			       .tos = (uint8_t)(dscp << 2 | 2)};
	struct peer_frame f;
	uint8_t *bth = f.bytes + PEER_CARRIER_BYTES;
	size_t n = mw_packet_encode(&d->pkt, bth);

	(void)ports;
	copy_payload(w, d, bth + n);
	n += d->pkt.payload_len;
	memset(bth + n, 0, d->pkt.bth.pad);
	n += d->pkt.bth.pad;
	memcpy(ip.src, w->connection.other, 16);
	memcpy(ip.dst, d->dst.b, 16);
	ip.len = (uint32_t)n + 4;
	mw_ip_udp_write(&ip, f.bytes);
	add_icrc(&ip, bth, n, bth + n);
	f.len = PEER_CARRIER_BYTES + n + 4;
	watch(w, d, &f);
	world_send(w, ENGINE, d->port, &f);
}

/* ---- packets in ---- */

/*
 * What the engine has to answer before it waits for anything else: ports have room here always.
 * REQ(rsp.sack.trigger.ackreq) REQ(rsp.sack.trigger.ecn) REQ(rsp.sack.trigger.rtx)
 * REQ(rsp.sack.trigger.probe) REQ(rsp.nack.trim) REQ(ep.probe.answer)
 */
static void note_arrival(struct world *w, const struct peer_packet *pkt, bool whole)
{
	if (peer_opcode_is_data(pkt->opcode)) {
		uint32_t *bytes = &w->unsacked[peer_opcode_is_response(pkt->opcode)];
		bool copy = peer_delivered(&w->peer, pkt, whole);
		uint32_t most = w->sack_bytes > w->sack_in_order_bytes ? w->sack_bytes
								       : w->sack_in_order_bytes;

		w->owed[OWED_SACK] |=
			(!whole && !copy) || pkt->ack_request || pkt->rtx || pkt->ecn == 3;
		w->owed[OWED_SACK] |= copy;
		w->owed[OWED_MARK] |= whole && pkt->ecn == 3;
		*bytes += pkt->payload_len > 1024 ? pkt->payload_len : 1024;
		w->owed[OWED_SACK] |=
			*bytes > most + REFUSED_BYTES; /* REQ(rsp.sack.trigger.bytes) */
	}
	w->owed[OWED_PROBE_ANSWER] |= (pkt->opcode & ~PEER_RESPONSE_BIT) == PEER_PROBE;
	w->owed[OWED_ENDPOINT_ANSWER] |= pkt->opcode == PEER_EP_REQUEST;
}

void world_engine_rx(struct world *w, const struct world_flight *flight)
{
	const struct mw_dscp_map map = mw_dscp_map_default();
	const struct peer_frame *f = flight->frame;
	struct mt_rx_meta meta = {.port = flight->plane};
	struct mw_ip_udp ip;
	struct peer_packet pkt;
	const char *why;
	size_t headers, len;
	enum mw_dscp_class cls;
	enum peer_verdict verdict = peer_packet_decode(f, true, &pkt, &why);

	if (!mw_ip_udp_read(f->bytes, f->len, &ip, &headers)) {
		world_fail(w, "the engine's side cannot read IP and UDP of a frame");
		return;
	}
	cls = mw_dscp_decode(&map, ip.tos >> 2);
	memcpy(meta.src.b, ip.src, 16);
	meta.ev = mw_ev_decode(MW_EV_STEV, (struct mw_ev_bits){.udp_sport = ip.sport,
							       .flow_label = ip.flow_label});
	meta.ecn_ce = (ip.tos & 3) == 3;
	meta.trim = cls == MW_DSCP_TRIMMED	     ? MT_TRIM_MIDPATH
		    : cls == MW_DSCP_TRIMMED_LASTHOP ? MT_TRIM_LASTHOP
						     : MT_TRIM_NONE;
	meta.icrc_ok = peer_frame_icrc_ok(f);
	len = f->len - headers;
	if (meta.trim == MT_TRIM_NONE)
		len -= 4;
	if (verdict == PEER_OK || verdict == PEER_CUT)
		note_arrival(w, &pkt, verdict == PEER_OK);
	engine_node_rx_bytes(&w->node, w->now_ns, &meta, f->bytes + headers, len);
	engine_node_grow_if_wanted(&w->node);
}

/* ---- memory ---- */

/* REQ(ext.order.wait): the end of a WRITE is placed when all before it has arrived. */
static void check_order(struct world *w, uint64_t end)
{
	const struct world_end *e = &w->ends[PEER];
	const struct peer_sender *s = &w->peer.requests;

	for (size_t i = 0; i < e->n_ops; i++) {
		const struct peer_op *op = &e->ops[i];

		if (op->kind != PEER_OP_WRITE || !op->begun || op->bytes == 0 ||
		    op->remote + op->bytes != end)
			continue;
		for (size_t k = 0; k < s->ends[op->message]; k++)
			if (s->packets[k].delivered == 0) {
				world_fail(w,
					   "the end of op %zu is placed, and PSN %06" PRIx32
					   " is missing",
					   i, s->packets[k].pkt.psn);
				return;
			}
	}
}

static bool place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	struct world *w = ctx;

	if (mr_user != w || offset > WORLD_MEMORY || len > WORLD_MEMORY - offset)
		world_fail(w, "placing %u bytes at %" PRIu64, len, offset);
	else
		memcpy(w->ends[ENGINE].memory + offset, src, len);
	if (w->cap.in_order)
		check_order(w, offset + len);
	return true;
}

static bool atomic(void *ctx, void *mr_user, uint64_t offset, const struct mt_atomic *op,
		   uint64_t *original)
{
	struct world *w = ctx;
	uint8_t *at = w->ends[ENGINE].memory + offset;
	uint64_t now;

	(void)mr_user;
	memcpy(original, at, 8);
	now = op->stores		 ? op->swap_add
	      : !op->swaps		 ? *original + op->swap_add
	      : *original == op->compare ? op->swap_add
					 : *original;
	memcpy(at, &now, 8);
	return true;
}

/* ---- events ---- */

static enum peer_status status_of(uint8_t status)
{
	switch ((enum rd_wc_status)status) {
	case RD_WC_SUCCESS:
		return PEER_SUCCESS;
	case RD_WC_WR_FLUSH_ERR:
		return PEER_FLUSHED;
	case RD_WC_REM_INV_REQ_ERR:
		return PEER_INVALID_REQUEST;
	case RD_WC_REM_ACCESS_ERR:
		return PEER_ACCESS_ERROR;
	case RD_WC_REM_OP_ERR:
		return PEER_OPERATION_ERROR;
	case RD_WC_RETRY_EXC_ERR:
	case RD_WC_FATAL_ERR:
	case RD_WC_LOC_LEN_ERR:
	case RD_WC_LOC_PROT_ERR:
	case RD_WC_RNR_RETRY_EXC_ERR:
	case RD_WC_MW_BIND_ERR:
	case RD_WC_LOC_QP_OP_ERR:
	case RD_WC_STATUSES:
		break;
	}
	return PEER_FATAL;
}

static void event(void *ctx, const struct mt_event *ev)
{
	struct world *w = ctx;
	struct world_end *e = &w->ends[ENGINE];

	if (ev->type == MT_EVENT_SEND && ev->opcode == RD_WR_BIND_MW) {
		if (ev->status != RD_WC_SUCCESS)
			world_fail(w, "the bind of the window: %s", mt_wc_status_name(ev->status));
	} else if (ev->type == MT_EVENT_SEND) {
		if (ev->wr_id >= e->n_ops)
			world_fail(w, "completion of WR %" PRIu64, ev->wr_id);
		else
			world_complete(w, ENGINE, &e->ops[ev->wr_id], status_of(ev->status));
	} else if (ev->type == MT_EVENT_RECV && ev->status == RD_WC_SUCCESS) {
		world_receive(w, ENGINE, ev->wr_id,
			      &(struct peer_received){.has_imm = ev->imm_valid,
						      .has_inv = ev->invalidated,
						      .send = ev->opcode == RD_WR_SEND,
						      .word = ev->imm,
						      .bytes = ev->byte_len});
	} else if (ev->type == MT_EVENT_QP && !w->poisoned) {
		world_fail(w, "the engine's QP went to ERR: %s", mt_wc_status_name(ev->status));
	}
}

static void fail(void *ctx, const char *what, int result)
{
	world_fail(ctx, "%s: %d", what, result);
}

/* ---- set-up ---- */

/* Of type 2, over the whole region. */
static void bind_window(struct world *w)
{
	const struct world_end *e = &w->ends[ENGINE];
	struct mt_local_wr wr = {.opcode = RD_WR_BIND_MW,
				 .addr = e->region_va,
				 .length = WORLD_MEMORY,
				 .lkey = e->key,
				 .rkey = w->connection.other_window_key,
				 .window = MW_INDEX,
				 .access = RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ |
					   RD_ACCESS_REMOTE_ATOMIC,
				 .flags = RD_SEND_SIGNALED,
				 .zero_based = w->connection.other_window_va == 0};
	int result = mt_mw_add(w->node.engine, MW_INDEX << 8, PD, RD_MW_TYPE_2);

	if (result == MT_OK)
		ENGINE_NODE_CALL(&w->node, result, mt_qp_post_local(w->qp, &wr));
	if (result != MT_OK)
		world_fail(w, "making and binding the window: %d", result);
}

/* Of one QP: receives are taken as from a queue of its own, in order. REQ(ext.srq.take) */
static void open_srq(struct world *w)
{
	const struct mt_srq_cap cap = {
		.depth = w->cap.rq_depth, .max_sge = w->cap.max_recv_sge, .pd = PD};
	int result = mt_srq_init(w->node.engine, engine_node_block(&w->node, mt_srq_size(&cap)),
				 &cap, w, &w->cap.srq);

	if (result != MT_OK)
		world_fail(w, "mt_srq_init: %d", result);
}

static void connect(struct world *w)
{
	int result;

	if (w->shares_receives)
		open_srq(w);
	w->qp = engine_node_qp(&w->node, &w->cap, w->connection.other_qpn, w);
	if (!w->qp)
		return;
	result = engine_node_bring_to(&w->node, w->qp, 0, &w->attr, RD_QPS_RTS);
	if (result != MT_OK)
		world_fail(w, "the QP's way to RTS: %d", result);
	else if (w->connection.other_window_key)
		bind_window(w);
}

void world_engine_open(struct world *w)
{
	struct engine_node_ops ops = {
		.env = {.ctx = w, .place = place, .atomic = atomic},
		.send = send,
		.event = event,
		.fail = fail,
	};
	struct engine_node_cfg cfg = {
		.ev_profile = {.evs = w->evs,
			       .n_evs = (uint16_t)w->n_evs,
			       .n_active = (uint16_t)w->n_evs,
			       .min_active = 1,
			       .revive_probes = 3,
			       .probe_interval_ns = 50000,
			       .probe_interval_max_ns = 800000},
		.cc_profiles = &w->cc,
		.n_cc_profiles = 1,
		.memory_least = 65536,
	};
	const struct world_end *e = &w->ends[ENGINE];
	int result;

	mt_engine_cfg_default(&cfg.engine, w->n_planes);
	cfg.engine.max_qps = 4;
	cfg.engine.max_mrs = 4;
	cfg.engine.seed = world_random(w);
	cfg.engine.timing.idle_ns = w->idle_ns;
	cfg.engine.timing.sack_bytes = w->sack_bytes;
	cfg.engine.timing.sack_in_order_bytes = w->sack_in_order_bytes;
	engine_node_open(&w->node, &ops, &cfg, 0);
	if (w->failed)
		return;
	result = mt_mr_add(w->node.engine, e->key, PD, e->region_va, WORLD_MEMORY,
			   RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ |
				   RD_ACCESS_REMOTE_ATOMIC | RD_ACCESS_MW_BIND,
			   w);
	if (result != MT_OK)
		world_fail(w, "mt_mr_add: %d", result);
	else
		connect(w);
}

/* ---- posting ---- */

static uint32_t split(struct world *w, const struct peer_op *op, struct rd_sge *sge)
{
	const struct world_end *e = &w->ends[ENGINE];
	uint32_t left = op->bytes, n = 0;
	uint64_t at = e->region_va + op->local;

	while (left > 0) {
		uint32_t bytes = left;

		if (n + 1 < SPLITS_MAX && !(peer_op_is_request(op) && op->kind != PEER_OP_READ))
			bytes = 1 + world_below(w, left);
		sge[n++] = (struct rd_sge){.addr = at, .length = bytes, .lkey = e->key};
		at += bytes;
		left -= bytes;
	}
	return n;
}

static int post(struct world *w, size_t i)
{
	static const enum rd_wr_opcode opcodes[PEER_OP_KINDS] = {
		[PEER_OP_WRITE] = RD_WR_WRITE,	       [PEER_OP_SEND] = RD_WR_SEND,
		[PEER_OP_READ] = RD_WR_READ,	       [PEER_OP_COMPARE_SWAP] = RD_WR_COMPARE_SWAP,
		[PEER_OP_FETCH_ADD] = RD_WR_FETCH_ADD, [PEER_OP_ATOMIC_WRITE] = RD_WR_ATOMIC_WRITE,
	};
	const struct peer_op *op = &w->ends[ENGINE].ops[i];
	struct rd_sge sge[SPLITS_MAX];
	struct rd_send_wr wr = {
		.wr_id = i,
		.sge = sge,
		.n_sge = split(w, op, sge),
		.flags = (op->silent ? 0u : RD_SEND_SIGNALED) | (op->has_imm ? RD_SEND_IMM : 0u) |
			 (op->fence ? RD_SEND_FENCE : 0u) |
			 (op->solicited ? RD_SEND_SOLICITED : 0u) |
			 (op->has_inv ? RD_SEND_INV : 0u),
		.imm = op->imm,
		.rkey = op->rkey,
		.remote_addr = op->remote +
			       (op->windowed ? w->connection.window_va : w->connection.region_va),
		.opcode = opcodes[op->kind],
		.compare_add = op->kind == PEER_OP_FETCH_ADD ? op->operand : op->compare,
		.swap = op->operand,
	};

	return engine_node_post(&w->node, w->qp, w->now_ns, &wr);
}

static void post_ops(struct world *w)
{
	struct world_end *e = &w->ends[ENGINE];

	for (size_t i = 0; i < e->n_ops; i++) {
		int result;

		if (e->ops[i].posted)
			continue;
		if (e->ops[i].post_at_ns > w->now_ns)
			return;
		result = post(w, i);
		if (result == MT_ERR_FULL)
			return;
		if (result != MT_OK)
			world_fail(w, "mt_qp_post_send: %d", result);
		e->ops[i].posted = true;
	}
}

static void post_receives(struct world *w)
{
	struct world_end *e = &w->ends[ENGINE];

	for (; e->posted < e->n_receives; e->posted++) {
		struct rd_sge sge = {.addr = e->region_va + e->receives[e->posted],
				     .length = e->receive_bytes[e->posted],
				     .lkey = e->key};
		struct rd_recv_wr wr = {.wr_id = e->posted, .sge = &sge, .n_sge = 1};
		int result;

		if (e->receive_at_ns[e->posted] > w->now_ns)
			return;
		result = w->cap.srq	       ? mt_srq_post(w->cap.srq, &wr)
			 : w->cap.max_recv_sge ? mt_qp_post_recv_sges(w->qp, &wr)
					       : mt_qp_post_recv(w->qp, e->posted);
		if (result != MT_OK)
			world_fail(w, "posting receive %zu: %d", e->posted, result);
	}
}

void world_engine_run(struct world *w)
{
	struct rd_qp_attr attr;

	engine_node_tick(&w->node, w->now_ns);
	mt_qp_query(w->qp, &attr);
	if (attr.state == RD_QPS_RTS) {
		post_receives(w);
		post_ops(w);
	}
	do
		engine_node_send(&w->node, w->now_ns, BATCH);
	while (engine_node_poll(&w->node) > 0 && !w->failed);
	mt_qp_query(w->qp, &attr);
	for (int i = 0; i < OWED_KINDS; i++)
		if (w->owed[i] && attr.state == RD_QPS_RTS)
			world_fail(w, "the engine owes an answer of kind %d", i);
	memset(w->owed, 0, sizeof(w->owed));
}

void world_engine_port(struct world *w, uint8_t plane, bool up)
{
	int result = mt_engine_port_set(w->node.engine, w->now_ns, plane, up);

	if (result != MT_OK)
		world_fail(w, "mt_engine_port_set: %d", result);
}
