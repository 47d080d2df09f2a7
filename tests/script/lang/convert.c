/* SPDX-License-Identifier: BSD-2-Clause */
/* convert.c - see convert.h. */
#include "convert.h"

#include <string.h>

#include "wire/packet.h"

#define PSN_MASK 0xFFFFFFu
/* What the opcode of a SEND has more than that of a WRITE. */
#define SEND_OPCODES ((unsigned)MW_SEND_FIRST - MW_WRITE_FIRST)

/* ---- from the engine ---- */

static void from_data(const struct mw_packet *pkt, struct packet *p)
{
	const struct mw_data_ext *d = &pkt->data;

	bool send = mw_opcode_info(pkt->bth.opcode)->flags & MW_OP_SEND;

	p->kind = send ? KIND_SEND : KIND_WRITE;
	packet_set(p, F_OPCODE, pkt->bth.opcode - (send ? SEND_OPCODES : 0));
	packet_set(p, F_PSN, pkt->bth.psn);
	packet_set(p, F_MSN, d->meth.msn);
	packet_set(p, F_RQMSN, d->meth.rqmsn);
	packet_set(p, F_LEN, pkt->payload_len);
	packet_set(p, F_DMALEN, d->reth.dmalen);
	packet_set(p, F_AT, send ? d->reth.va : d->reth.va - WORLD_MR_START);
	packet_set(p, F_RKEY, d->reth.rkey);
	if (mw_opcode_info(pkt->bth.opcode)->flags & MW_OP_IMM)
		packet_set(p, F_IMM, d->imm);
	packet_set(p, F_RTX, pkt->bth.rtx);
	packet_set(p, F_ACKREQ, pkt->bth.a);
	packet_set(p, F_SE, pkt->bth.se);
	if (pkt->bth.ts)
		packet_set(p, F_TS, d->tseth.tx_timestamp);
}

static void from_sack(const struct mw_packet *pkt, struct packet *p)
{
	const struct mw_seth *s = &pkt->seth;

	p->kind = KIND_SACK;
	packet_set(p, F_CACK, s->cack_psn);
	packet_set(p, F_OFFSET, (uint64_t)(int64_t)s->sack_offset);
	packet_set(p, F_MAP, s->sack_bitmap);
	packet_set(p, F_OOO, s->ooo_count);
	if (s->pr)
		packet_set(p, F_PROBE, s->probe_id);
	else
		packet_set(p, F_TRIGGER,
			   (uint64_t)(s->cack_psn + (int64_t)s->ack_psn_offset) & PSN_MASK);
	packet_set(p, F_MARK, s->m);
	packet_set(p, F_EV, s->entropy);
	packet_set(p, F_TS, s->tx_timestamp);
	packet_set(p, F_MPR, s->mpr);
	packet_set(p, F_RCVD, s->rcvd_bytes);
	packet_set(p, F_PEN, s->rcv_cwnd_pen);
	packet_set(p, F_RESTORE, s->restore_cwnd);
	packet_set(p, F_RTX, pkt->bth.rtx);
	packet_set(p, F_EXT, s->ext);
}

static void from_nack(const struct mw_packet *pkt, struct packet *p)
{
	p->kind = KIND_NACK;
	packet_set(p, F_PSN, pkt->neth.nack_psn);
	packet_set(p, F_REASON, pkt->neth.reason);
	packet_set(p, F_EV, pkt->neth.entropy);
	packet_set(p, F_TS, pkt->neth.tx_timestamp);
	packet_set(p, F_WAIT, pkt->neth.vendor_info);
}

static void from_endpoint(const struct mw_packet *pkt, struct packet *p)
{
	bool request = pkt->bth.opcode == MW_EP_REQUEST;

	p->kind = request ? KIND_EP_REQUEST : KIND_EP_RESPONSE;
	packet_set(p, F_OP, request ? pkt->erth.op : pkt->eeth.op);
	packet_set(p, F_ID, pkt->bth.psn & 0xFFFF);
	packet_set(p, F_TS, request ? pkt->erth.ts.tx_timestamp : pkt->eeth.tx_timestamp);
	if (request)
		packet_set(p, F_PORTS, pkt->erth.port_status_mask);
}

void convert_from_wire(const struct mw_packet *pkt, const struct mt_tx_desc *d, struct packet *p)
{
	memset(p, 0, sizeof(*p));
	packet_set(p, F_PLANE, d->port);
	packet_set(p, F_CLASS, d->tclass);
	packet_set(p, F_DQP, pkt->bth.dqp);
	packet_set(p, F_PKEY, pkt->bth.p_key);
	packet_set(p, F_EV, d->ev);
	if (mw_opcode_info(pkt->bth.opcode)->flags & MW_OP_DATA) {
		from_data(pkt, p);
	} else if (pkt->bth.opcode == MW_SACK) {
		from_sack(pkt, p);
		packet_set(p, F_OVER, d->ev);
	} else if (pkt->bth.opcode == MW_NACK) {
		from_nack(pkt, p);
		packet_set(p, F_OVER, d->ev);
	} else if (pkt->bth.opcode == MW_ACK) {
		p->kind = KIND_ACK;
		packet_set(p, F_PSN, pkt->bth.psn);
		packet_set(p, F_MSN, pkt->aeth.msn);
		packet_set(p, F_NAK, pkt->aeth.syndrome);
	} else if (pkt->bth.opcode == MW_PROBE) {
		p->kind = KIND_PROBE;
		packet_set(p, F_PROBE, pkt->peth.probe_id);
		packet_set(p, F_EXT, pkt->peth.ext);
		packet_set(p, F_TS, pkt->peth.ts.tx_timestamp);
	} else {
		from_endpoint(pkt, p);
	}
}

/* ---- what the peer fills in ---- */

static void set_default(struct packet *p, enum field f, uint64_t value)
{
	if (!packet_has(p, f))
		packet_set(p, f, value);
}

static void default_write(const struct world *w, struct packet *p)
{
	uint16_t op = mw_opcode_info((uint8_t)p->value[F_OPCODE])->flags;
	uint32_t mtu = w->config.attr.path_mtu;
	uint64_t index;

	if (!packet_has(p, F_PSN))
		report_fail(w->report, "a WRITE needs a psn");
	index = (p->value[F_PSN] - w->config.attr.rq_psn) & PSN_MASK;
	if (!(op & MW_OP_START && op & MW_OP_END) && !packet_has(p, F_DMALEN))
		report_fail(w->report, "a WRITE of several packets needs a dmalen");
	if (!packet_has(p, F_LEN))
		packet_set(p, F_LEN,
			   op & MW_OP_END && packet_has(p, F_DMALEN)
				   ? (p->value[F_DMALEN] - 1) % mtu + 1
				   : mtu);
	set_default(p, F_DMALEN, p->value[F_LEN]);
	set_default(p, F_AT, p->kind == KIND_SEND && op & MW_OP_START ? 0 : index * mtu);
	set_default(p, F_RKEY, p->kind == KIND_SEND ? 0 : WORLD_KEY);
	set_default(p, F_MSN, w->config.peer_msn & 0xFFFF);
	set_default(p, F_RQMSN, w->config.peer_rqmsn & 0xFFFF);
	set_default(p, F_TS, (0x1000 + p->value[F_PSN]) & 0xFFFF);
}

/* Counts what the SACK says has been received, as a responder would have counted it. */
static uint64_t received_units(struct world *w, const struct packet *p)
{
	uint32_t next = (uint32_t)(p->value[F_CACK] + 1) & PSN_MASK;
	uint64_t base = p->value[F_CACK] + p->value[F_OFFSET];

	for (unsigned i = 0; i < 64; i++) {
		struct seen *s = world_seen(w->sent, (uint32_t)(base + i) & PSN_MASK);

		if (p->value[F_MAP] >> i & 1 && s->valid && s->psn == ((base + i) & PSN_MASK) &&
		    !s->received) {
			s->received = true;
			w->rcvd_bytes += s->nominal;
		}
	}
	for (; ((next - w->rcvd_up_to) & PSN_MASK) - 1 < WORLD_SEEN; w->rcvd_up_to++) {
		struct seen *s = world_seen(w->sent, w->rcvd_up_to & PSN_MASK);

		if (!s->valid || s->psn != (w->rcvd_up_to & PSN_MASK))
			break;
		w->rcvd_bytes += s->received ? 0 : s->nominal;
		s->received = true;
	}
	return ((w->rcvd_bytes + 255) >> 8) & PSN_MASK;
}

static void reflect(struct packet *p, const struct seen *s, bool known)
{
	set_default(p, F_EV, known ? s->ev : 0);
	set_default(p, F_TS, known ? s->ts : 0);
	set_default(p, F_PLANE, known ? s->plane : 0);
	set_default(p, F_OVER, WORLD_PEER_EV);
}

static void default_sack(struct world *w, struct packet *p)
{
	const struct seen *s;

	if (!packet_has(p, F_CACK))
		report_fail(w->report, "a SACK needs a cack");
	set_default(p, F_MAP, 0);
	set_default(p, F_OFFSET, 1);
	set_default(p, F_OOO, (uint64_t)__builtin_popcountll(p->value[F_MAP]));
	set_default(p, F_MPR, w->config.attr.mpr);
	set_default(p, F_RCVD, received_units(w, p));
	if (packet_has(p, F_PROBE)) {
		s = world_seen(w->probes, (uint32_t)p->value[F_PROBE]);
		reflect(p, s, s->valid);
		return;
	}
	set_default(p, F_TRIGGER, p->value[F_CACK]);
	s = world_seen(w->sent, (uint32_t)p->value[F_TRIGGER]);
	reflect(p, s, s->valid && s->psn == p->value[F_TRIGGER]);
	set_default(p, F_RTX, s->valid && s->psn == p->value[F_TRIGGER] && s->rtx);
}

static void default_nack(struct world *w, struct packet *p)
{
	const struct seen *s;

	if (!packet_has(p, F_PSN) || !packet_has(p, F_REASON))
		report_fail(w->report, "a NACK needs a psn and a reason");
	s = world_seen(w->sent, (uint32_t)p->value[F_PSN]);
	reflect(p, s, s->valid && s->psn == p->value[F_PSN]);
}

static void default_others(struct world *w, struct packet *p)
{
	if (p->kind == KIND_ACK) {
		struct mt_qp_info info;

		if (!packet_has(p, F_MSN))
			report_fail(w->report, "an ACK needs an msn");
		set_default(p, F_NAK, MW_ACK_NO_CREDIT);
		mt_qp_info(w->qp, &info);
		set_default(p, F_PSN, (info.psn_next - 1) & PSN_MASK);
	} else if (p->kind == KIND_PROBE) {
		if (!packet_has(p, F_PROBE))
			report_fail(w->report, "a PROBE needs its id: probe N");
		set_default(p, F_TS, 0x7A7A);
	} else if (!packet_has(p, F_OP) || !packet_has(p, F_ID)) {
		report_fail(w->report, "an endpoint packet needs an op and an id");
	} else if (p->kind == KIND_EP_RESPONSE) {
		const struct seen *s = world_seen(w->requests, (uint32_t)p->value[F_ID]);

		set_default(p, F_TS, s->ts);
		set_default(p, F_PLANE, s->plane);
	}
}

void convert_defaults(struct world *w, struct packet *p)
{
	bool endpoint = p->kind == KIND_EP_REQUEST || p->kind == KIND_EP_RESPONSE;

	set_default(p, F_DQP, endpoint ? MW_QPN_ENDPOINT : WORLD_QPN);
	set_default(p, F_PKEY, w->config.attr.p_key);
	if (packet_is_data(p->kind))
		default_write(w, p);
	else if (p->kind == KIND_SACK)
		default_sack(w, p);
	else if (p->kind == KIND_NACK)
		default_nack(w, p);
	else
		default_others(w, p);
	set_default(p, F_EV, WORLD_PEER_EV);
	set_default(p, F_PLANE, 0);
	if (p->value[F_PLANE] >= w->config.engine.n_ports)
		report_fail(w->report, "plane %u does not exist, there are %u",
			    (unsigned)p->value[F_PLANE], w->config.engine.n_ports);
}

/* ---- to the engine ---- */

static void to_data(const struct packet *p, struct mw_packet *pkt)
{
	bool send = p->kind == KIND_SEND;

	pkt->bth.opcode = (uint8_t)(p->value[F_OPCODE] + (send ? SEND_OPCODES : 0));
	pkt->bth.psn = (uint32_t)p->value[F_PSN];
	pkt->bth.a = p->value[F_ACKREQ];
	pkt->bth.rtx = p->value[F_RTX];
	pkt->bth.se = p->value[F_SE];
	pkt->bth.ts = !p->value[F_NOTS];
	pkt->payload_len = (uint32_t)p->value[F_LEN];
	pkt->bth.pad = (uint8_t)(-pkt->payload_len & 3);
	pkt->data = (struct mw_data_ext){
		.meth = {.msn = (uint16_t)p->value[F_MSN], .rqmsn = (uint16_t)p->value[F_RQMSN]},
		.tseth = {.tx_timestamp = (uint16_t)p->value[F_TS], .ftype = MW_FTYPE_TIMESTAMP},
		.reth = {.va = (send ? 0 : WORLD_MR_START) + p->value[F_AT],
			 .rkey = (uint32_t)p->value[F_RKEY],
			 .dmalen = (uint32_t)p->value[F_DMALEN]},
		.imm = (uint32_t)p->value[F_IMM],
	};
}

static void to_sack(const struct packet *p, struct mw_packet *pkt)
{
	uint32_t distance = (uint32_t)(p->value[F_TRIGGER] - p->value[F_CACK]) & PSN_MASK;

	pkt->bth.opcode = MW_SACK;
	pkt->bth.psn = (uint32_t)p->value[F_CACK];
	pkt->bth.rtx = p->value[F_RTX];
	pkt->seth = (struct mw_seth){
		.m = (uint8_t)p->value[F_MARK],
		.pr = packet_has(p, F_PROBE),
		.ack_psn_offset = (int16_t)(distance >= 0x800000 ? (int32_t)distance - 0x1000000
								 : (int32_t)distance),
		.probe_id = (uint16_t)p->value[F_PROBE],
		.entropy = (uint32_t)p->value[F_EV],
		.cack_psn = (uint32_t)p->value[F_CACK],
		.mpr = (uint8_t)p->value[F_MPR],
		.sack_offset = (int16_t)p->value[F_OFFSET],
		.sack_bitmap = p->value[F_MAP],
		.tx_timestamp = (uint16_t)p->value[F_TS],
		.ext = (uint8_t)p->value[F_EXT],
		.ooo_count = (uint16_t)p->value[F_OOO],
		.restore_cwnd = p->value[F_RESTORE],
		.rcv_cwnd_pen = (uint8_t)p->value[F_PEN],
		.rcvd_bytes = (uint32_t)p->value[F_RCVD],
	};
}

static void to_nack(const struct packet *p, struct mw_packet *pkt)
{
	pkt->bth.opcode = MW_NACK;
	pkt->bth.psn = (uint32_t)p->value[F_PSN];
	pkt->neth = (struct mw_neth){
		.reason = (uint8_t)p->value[F_REASON],
		.vendor_info = (uint8_t)p->value[F_WAIT],
		.entropy = (uint32_t)p->value[F_EV],
		.nack_psn = (uint32_t)p->value[F_PSN],
		.cc_type = 2,
		.tx_timestamp = (uint16_t)p->value[F_TS],
	};
}

static void to_endpoint(const struct packet *p, struct mw_packet *pkt)
{
	struct mw_tseth ts = {.tx_timestamp = (uint16_t)p->value[F_TS],
			      .ftype = MW_FTYPE_TIMESTAMP};

	pkt->bth.psn = (uint32_t)p->value[F_ID];
	if (p->kind == KIND_EP_REQUEST) {
		pkt->bth.opcode = MW_EP_REQUEST;
		pkt->erth = (struct mw_erth){.op = (uint8_t)p->value[F_OP],
					     .port_status_mask = (uint32_t)p->value[F_PORTS],
					     .ts = ts};
	} else {
		pkt->bth.opcode = MW_EP_RESPONSE;
		pkt->eeth = (struct mw_eeth){.op = (uint8_t)p->value[F_OP],
					     .tx_timestamp = ts.tx_timestamp};
	}
}

void convert_to_wire(const struct packet *p, struct mw_packet *pkt, struct mt_rx_meta *meta)
{
	bool reflects = p->kind == KIND_SACK || p->kind == KIND_NACK;

	*pkt = (struct mw_packet){
		.bth = {.dqp = (uint32_t)p->value[F_DQP], .p_key = (uint16_t)p->value[F_PKEY]}};
	if (packet_is_data(p->kind)) {
		to_data(p, pkt);
	} else if (p->kind == KIND_SACK) {
		to_sack(p, pkt);
	} else if (p->kind == KIND_NACK) {
		to_nack(p, pkt);
	} else if (p->kind == KIND_ACK) {
		pkt->bth.opcode = MW_ACK;
		pkt->bth.psn = (uint32_t)p->value[F_PSN];
		pkt->aeth = (struct mw_aeth){.syndrome = (uint8_t)p->value[F_NAK],
					     .msn = (uint32_t)p->value[F_MSN]};
	} else if (p->kind == KIND_PROBE) {
		pkt->bth.opcode = MW_PROBE;
		pkt->peth = (struct mw_peth){.probe_id = (uint16_t)p->value[F_PROBE],
					     .ext = (uint8_t)p->value[F_EXT],
					     .ts = {.tx_timestamp = (uint16_t)p->value[F_TS],
						    .ftype = MW_FTYPE_TIMESTAMP}};
	} else {
		to_endpoint(p, pkt);
	}
	meta->ev = (uint32_t)p->value[reflects ? F_OVER : F_EV];
	meta->port = (uint8_t)p->value[F_PLANE];
	meta->trim = (uint8_t)p->value[F_TRIM];
	meta->ecn_ce = p->value[F_CE];
	meta->icrc_ok = !p->value[F_BADCRC] && !p->value[F_TRIM];
}
