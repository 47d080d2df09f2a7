/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_codec.c - where each field stands, from the lowest bit of a word on.
 *
 *	head	opcode 8, se, a, rtx, ts
 *	body 0	dqp 24, psn 24, time stamp 16
 *
 *		data		SACK			NACK		probe		endpoint
 *	body 1	va		bitmap			entropy, PSN 24	probe id 16	mask 32
 *	body 2	rkey, dmalen	entropy, ack offset or	reason, vendor	vendor info	op, vendor
 *				probe id, sack offset
 *	body 3	imm, rqmsn, msn	rcvd 24, ooo 15, r, p 7,
 *				m 2, pr, mpr 8
 *	body 4	p_key 16, then: payload 16; or spdcid 16, dpdcid 16, cc_fl 8, cc_type 4
 *
 * An ACK has its syndrome and MSN in body 1.
 */
#include "sim/mrc/mrc_nic_state.h"

#include "base/assert.h"
#include "wire/packet.h"

#define FLAG_SE (1u << 8)
#define FLAG_A (1u << 9)
#define FLAG_RTX (1u << 10)
#define FLAG_TS (1u << 11)
#define LOW24 0xFFFFFFu
#define BTH_BYTES 12u
#define TSETH_BYTES 4u

uint32_t ms_frame_bytes(const struct mw_packet *pkt)
{
	const struct mw_opcode_info *op = mw_opcode_info(pkt->bth.opcode);

	return BTH_BYTES + op->ext_len + (op->flags & MW_OP_DATA && pkt->bth.ts ? TSETH_BYTES : 0) +
	       pkt->payload_len + pkt->bth.pad;
}

static uint64_t pack_contexts(uint16_t spdcid, uint16_t dpdcid, uint8_t fl, uint8_t type)
{
	return (uint64_t)spdcid << 16 | (uint64_t)dpdcid << 32 | (uint64_t)fl << 48 |
	       (uint64_t)(type & 0xF) << 56;
}

static uint16_t pack_data(const struct mw_packet *pkt, uint64_t *body)
{
	const struct mw_data_ext *d = &pkt->data;

	mb_assert(pkt->bth.ts && !d->tseth.tsr && d->tseth.ftype == MW_FTYPE_TIMESTAMP &&
		  pkt->payload_len <= UINT16_MAX);
	body[1] = d->reth.va;
	body[2] = d->reth.rkey | (uint64_t)d->reth.dmalen << 32;
	body[3] = d->imm | (uint64_t)d->meth.rqmsn << 32 | (uint64_t)d->meth.msn << 48;
	body[4] = (uint64_t)pkt->payload_len << 16;
	return d->tseth.tx_timestamp;
}

static uint16_t pack_sack(const struct mw_packet *pkt, uint64_t *body)
{
	const struct mw_seth *s = &pkt->seth;
	uint16_t offset = s->pr ? s->probe_id : (uint16_t)s->ack_psn_offset;

	mb_assert(pkt->bth.psn == s->cack_psn);
	body[1] = s->sack_bitmap;
	body[2] = s->entropy | (uint64_t)offset << 32 | (uint64_t)(uint16_t)s->sack_offset << 48;
	body[3] = s->rcvd_bytes | (uint64_t)s->ooo_count << 24 | (uint64_t)s->restore_cwnd << 39 |
		  (uint64_t)s->rcv_cwnd_pen << 40 | (uint64_t)s->m << 47 | (uint64_t)s->pr << 49 |
		  (uint64_t)s->mpr << 50;
	body[4] = pack_contexts(s->spdcid, s->dpdcid, s->cc_fl, s->cc_type);
	return s->tx_timestamp;
}

static uint16_t pack_nack(const struct mw_packet *pkt, uint64_t *body)
{
	const struct mw_neth *n = &pkt->neth;

	body[1] = n->entropy | (uint64_t)n->nack_psn << 32;
	body[2] = n->reason | (uint64_t)n->vendor_info << 8;
	body[4] = pack_contexts(n->spdcid, n->dpdcid, n->cc_fl, n->cc_type);
	return n->tx_timestamp;
}

static bool stamp_plain(const struct mw_tseth *ts)
{
	return !ts->tsr && ts->ftype == MW_FTYPE_TIMESTAMP;
}

static uint16_t pack_probe(const struct mw_packet *pkt, uint64_t *body)
{
	const struct mw_peth *p = &pkt->peth;

	mb_assert(stamp_plain(&p->ts));
	body[1] = p->probe_id;
	body[2] = p->vendor_info;
	body[4] = pack_contexts(p->spdcid, p->dpdcid, 0, 0);
	return p->ts.tx_timestamp;
}

static uint16_t pack_endpoint(const struct mw_packet *pkt, uint64_t *body)
{
	if (pkt->bth.opcode == MW_EP_RESPONSE) {
		body[2] = pkt->eeth.op;
		return pkt->eeth.tx_timestamp;
	}
	mb_assert(stamp_plain(&pkt->erth.ts));
	body[1] = pkt->erth.port_status_mask;
	body[2] = pkt->erth.op | (uint64_t)pkt->erth.vendor_info << 8;
	return pkt->erth.ts.tx_timestamp;
}

static uint16_t pack_rest(const struct mw_packet *pkt, uint64_t *body)
{
	switch (pkt->bth.opcode) {
	case MW_ACK:
		body[1] = pkt->aeth.syndrome | (uint64_t)pkt->aeth.msn << 8;
		return 0;
	case MW_SACK:
		return pack_sack(pkt, body);
	case MW_NACK:
		return pack_nack(pkt, body);
	case MW_PROBE:
		return pack_probe(pkt, body);
	case MW_EP_REQUEST:
	case MW_EP_RESPONSE:
		return pack_endpoint(pkt, body);
	default:
		return pack_data(pkt, body);
	}
}

/* REQ(sim.frame) */
void ms_frame_pack(const struct mw_packet *pkt, struct ms_packet *to)
{
	const struct mw_bth *b = &pkt->bth;
	uint16_t stamp;

	mb_assert(!b->m && !b->r && b->tver == 0 && b->var_res == 0 && b->inv_res == 0);
	to->body[1] = to->body[2] = to->body[3] = to->body[4] = 0;
	stamp = pack_rest(pkt, to->body);
	to->body[0] = b->dqp | (uint64_t)b->psn << 24 | (uint64_t)stamp << 48;
	to->body[4] |= b->p_key;
	to->head = (uint16_t)(b->opcode | (b->se ? FLAG_SE : 0) | (b->a ? FLAG_A : 0) |
			      (b->rtx ? FLAG_RTX : 0) | (b->ts ? FLAG_TS : 0));
}

static void unpack_data(const uint64_t *body, struct mw_packet *pkt)
{
	pkt->payload_len = (uint16_t)(body[4] >> 16);
	pkt->bth.pad = (uint8_t)(-pkt->payload_len & 3);
	pkt->data = (struct mw_data_ext){
		.meth = {.rqmsn = (uint16_t)(body[3] >> 32), .msn = (uint16_t)(body[3] >> 48)},
		.tseth = {.tx_timestamp = (uint16_t)(body[0] >> 48), .ftype = MW_FTYPE_TIMESTAMP},
		.reth =
			{
				.va = body[1],
				.rkey = (uint32_t)body[2],
				.dmalen = (uint32_t)(body[2] >> 32),
			},
		.imm = (uint32_t)body[3],
	};
}

static void unpack_sack(const uint64_t *body, struct mw_packet *pkt)
{
	uint16_t offset = (uint16_t)(body[2] >> 32);
	bool pr = body[3] >> 49 & 1;

	pkt->seth = (struct mw_seth){
		.m = body[3] >> 47 & 3,
		.pr = pr,
		.ack_psn_offset = pr ? 0 : (int16_t)offset,
		.probe_id = pr ? offset : 0,
		.entropy = (uint32_t)body[2],
		.spdcid = (uint16_t)(body[4] >> 16),
		.dpdcid = (uint16_t)(body[4] >> 32),
		.cack_psn = pkt->bth.psn,
		.cc_type = body[4] >> 56 & 0xF,
		.cc_fl = (uint8_t)(body[4] >> 48),
		.mpr = (uint8_t)(body[3] >> 50),
		.sack_offset = (int16_t)(body[2] >> 48),
		.sack_bitmap = body[1],
		.tx_timestamp = (uint16_t)(body[0] >> 48),
		.ooo_count = body[3] >> 24 & 0x7FFF,
		.restore_cwnd = body[3] >> 39 & 1,
		.rcv_cwnd_pen = body[3] >> 40 & 0x7F,
		.rcvd_bytes = body[3] & LOW24,
	};
}

static void unpack_nack(const uint64_t *body, struct mw_packet *pkt)
{
	pkt->neth = (struct mw_neth){
		.reason = (uint8_t)body[2],
		.vendor_info = (uint8_t)(body[2] >> 8),
		.entropy = (uint32_t)body[1],
		.spdcid = (uint16_t)(body[4] >> 16),
		.dpdcid = (uint16_t)(body[4] >> 32),
		.nack_psn = (uint32_t)(body[1] >> 32),
		.cc_type = body[4] >> 56 & 0xF,
		.cc_fl = (uint8_t)(body[4] >> 48),
		.tx_timestamp = (uint16_t)(body[0] >> 48),
	};
}

static struct mw_tseth stamp_of(const uint64_t *body)
{
	return (struct mw_tseth){.tx_timestamp = (uint16_t)(body[0] >> 48),
				 .ftype = MW_FTYPE_TIMESTAMP};
}

static void unpack_rest(const uint64_t *body, struct mw_packet *pkt)
{
	switch (pkt->bth.opcode) {
	case MW_ACK:
		pkt->aeth = (struct mw_aeth){.syndrome = (uint8_t)body[1],
					     .msn = (uint32_t)(body[1] >> 8)};
		return;
	case MW_SACK:
		unpack_sack(body, pkt);
		return;
	case MW_NACK:
		unpack_nack(body, pkt);
		return;
	case MW_PROBE:
		pkt->peth = (struct mw_peth){
			.vendor_info = (uint8_t)body[2],
			.probe_id = (uint16_t)body[1],
			.spdcid = (uint16_t)(body[4] >> 16),
			.dpdcid = (uint16_t)(body[4] >> 32),
			.ts = stamp_of(body),
		};
		return;
	case MW_EP_REQUEST:
		pkt->erth = (struct mw_erth){
			.op = (uint8_t)body[2],
			.vendor_info = (uint8_t)(body[2] >> 8),
			.port_status_mask = (uint32_t)body[1],
			.ts = stamp_of(body),
		};
		return;
	case MW_EP_RESPONSE:
		pkt->eeth = (struct mw_eeth){.op = (uint8_t)body[2],
					     .tx_timestamp = (uint16_t)(body[0] >> 48)};
		return;
	default:
		unpack_data(body, pkt);
	}
}

void ms_frame_unpack(const struct ms_packet *from, struct mw_packet *pkt)
{
	uint32_t head = from->head;

	pkt->payload_len = 0;
	pkt->bth = (struct mw_bth){
		.opcode = (uint8_t)head,
		.se = head & FLAG_SE,
		.p_key = (uint16_t)from->body[4],
		.dqp = (uint32_t)from->body[0] & LOW24,
		.a = head & FLAG_A,
		.rtx = head & FLAG_RTX,
		.ts = head & FLAG_TS,
		.psn = from->body[0] >> 24 & LOW24,
	};
	unpack_rest(from->body, pkt);
}
