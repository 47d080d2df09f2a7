/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_rx.c - a packet's first steps: integrity, then the QP it is for, then the half of it.
 *
 * Everything here may come from an unknown sender. A packet reaches a QP only with a right ICRC (a
 * trimmed one has none left), a known QPN and the address of that QP's peer as its source.
 */
#include <string.h>

#include "base/assert.h"
#include "core/endpoint/endpoint.h"
#include "core/ext/ext.h"
#include "core/qp/halves.h"
#include "core/state/qp_prefetch.h"
#include "wire/opcode.h"

/* REQ(rsp.peer-check) */
static struct mt_qp *find_qp(struct mt_engine *e, uint32_t qpn, const struct rd_gid *src)
{
	struct mt_qp *qp = e->qps[qpn & (e->cfg.max_qps - 1)];

	if (!qp || qp->qpn != qpn) {
		e->stats.drop_no_qp++;
		return NULL;
	}
	if (!qp->ev_set) {
		e->stats.drop_qp_state++;
		return NULL;
	}
	if (memcmp(&qp->attr.dest, src, sizeof(qp->attr.dest)) != 0) {
		e->stats.drop_src_mismatch++;
		return NULL;
	}
	return qp;
}

/*
 * Control packets in the PSNs of answers go to the QP of answers, as what they are to any QP.
 * REQ(rsp.qp.demux)
 */
static void rx_control(struct mt_qp *qp, const struct mt_rx *rx)
{
	uint8_t opcode = rx->pkt->bth.opcode;

	if (rx->pkt->bth.p_key != qp->attr.p_key) {
		qp->engine->stats.drop_p_key++;
		return;
	}
	for (;;) {
		switch (opcode) {
		case MW_PROBE:
			mt_responder_probe(qp, rx);
			return;
		case MW_SACK:
			mt_completer_sack(qp, rx);
			return;
		case MW_NACK:
			mt_completer_nack(qp, rx);
			return;
		case MW_ACK:
			mt_completer_ack(qp, rx);
			return;
		default:
			qp = mt_rd_atomic_control_qp(qp, opcode);
			if (!qp)
				return;
			opcode ^= MW_RESPONSE_BIT;
		}
	}
}

static void rx_dispatch(struct mt_qp *qp, const struct mt_rx *rx)
{
	if (mw_opcode_row(rx->pkt->bth.opcode)->flags & MW_OP_DATA)
		mt_responder_data(qp, rx);
	else
		rx_control(qp, rx);
}

static bool is_data(uint8_t opcode)
{
	return mw_opcode_row(opcode)->flags & MW_OP_DATA;
}

void mt_engine_prefetch_qp(const struct mt_engine *e, uint32_t qpn, uint8_t opcode)
{
	const struct mt_qp *qp = e->qps[qpn & (e->cfg.max_qps - 1)];

	if (qp)
		mt_qp_prefetch(qp, is_data(opcode));
}

void mt_engine_prefetch_qp_parts(const struct mt_engine *e, uint32_t qpn, uint8_t opcode)
{
	const struct mt_qp *qp = e->qps[qpn & (e->cfg.max_qps - 1)];

	if (qp && qp->ev_set)
		mt_qp_prefetch_parts(qp, is_data(opcode));
}

bool mt_engine_rx_expected(struct mt_engine *e, const struct mt_rx_meta *meta, uint32_t qpn,
			   uint8_t opcode, size_t len)
{
	uint16_t op = mw_opcode_row(opcode)->flags;

	if (op == 0 || (!(op & MW_OP_DATA) && len > MW_HEADERS_MAX)) {
		e->stats.drop_decode++;
		return false;
	}
	return op & MW_OP_ENDPOINT || find_qp(e, qpn, &meta->src);
}

/* REQ(wire.icrc.bad) */
void mt_engine_rx(struct mt_engine *e, uint64_t now_ns, const struct mt_rx_meta *meta,
		  const struct mw_packet *pkt, const void *payload)
{
	struct mt_rx rx = {.now_ns = now_ns, .meta = meta, .pkt = pkt, .payload = payload};
	uint16_t op = mw_opcode_row(pkt->bth.opcode)->flags;
	struct mt_qp *qp;

	if (op == 0 || meta->port >= e->cfg.n_ports) {
		e->stats.drop_decode++;
		return;
	}
	/* Only data packets are ever trimmed; anything else without a right ICRC is noise. */
	if (!meta->icrc_ok && (meta->trim == MT_TRIM_NONE || !(op & MW_OP_DATA))) {
		e->stats.drop_icrc++;
		return;
	}
	if (op & MW_OP_ENDPOINT) {
		mt_endpoint_rx(e, now_ns, meta, pkt);
		return;
	}
	qp = find_qp(e, pkt->bth.dqp, &meta->src);
	if (!qp)
		return;
	if (mt_liveness_note_rx(&qp->peer->liveness, now_ns))
		mt_peer_resume(e, qp->peer, now_ns);
	mb_assert_slow(qp->engine == e && qp->state != RD_QPS_RESET);
	rx_dispatch(qp, &rx);
}

void mt_engine_rx_overflow(struct mt_engine *e, uint64_t now_ns, uint64_t packets)
{
	if (packets == 0)
		return;
	e->stats.rx_overflows += packets;
	mt_backpressure_overflow(&e->backpressure, now_ns, e->cfg.timing.backpressure_ns);
}

void mt_engine_rx_capacity(struct mt_engine *e, uint32_t packets)
{
	e->backpressure.capacity = packets;
}

void mt_engine_rx_bytes(struct mt_engine *e, uint64_t now_ns, const struct mt_rx_meta *meta,
			const void *bytes, size_t len)
{
	struct mw_packet pkt;
	size_t headers;

	if (mw_packet_decode(bytes, len, meta->trim != MT_TRIM_NONE, &pkt, &headers) != MW_OK) {
		e->stats.drop_decode++;
		return;
	}
	mt_engine_rx(e, now_ns, meta, &pkt, (const uint8_t *)bytes + headers);
}
