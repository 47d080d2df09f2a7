/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * headers.h - the layout of each header of a packet, encoder and decoder together.
 *
 * Numbers are offsets in bytes; behind a field its bits, or its width in brackets. Reserved bits
 * are ignored by decoders and zero from encoders.
 */
#ifndef SOFTMRC_WIRE_HEADERS_H
#define SOFTMRC_WIRE_HEADERS_H

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/packet.h"

/*
 * BTH, Base Transport Header: the first 12 bytes of every packet.
 *
 *     0  opcode
 *     1  se:1 m:1 pad:2 tver:4
 *     2  p_key (16)
 *     4  variant reserved (8)
 *     5  dqp (24)
 *     8  a:1 r:1 rtx:1 ts:1 invariant reserved:4
 *     9  psn (24)
 *
 * Every bit has a field in struct mw_bth, so a BTH survives decoding and encoding unchanged. Where
 * the sources disagree about the order of se and m, this follows InfiniBand.
 */
#define MW_BTH_BYTES 12u

/* mw_bth_dqp returns the QPN alone. */
static inline uint32_t mw_bth_dqp(const uint8_t *in)
{
	return mb_load_be32(in + 4) & 0xFFFFFF;
}

/* mw_bth_encode writes the header to out[0..12). Fields must fit (asserted). */
static inline void mw_bth_encode(const struct mw_bth *bth, uint8_t *out)
{
	uint8_t format, marks;

	mb_assert((bth->dqp | bth->psn) <= 0xFFFFFFu);
	mb_assert(bth->pad <= 3 && (bth->tver | bth->inv_res) <= 0xF);

	format = (uint8_t)(bth->se << 7 | bth->m << 6 | bth->pad << 4 | bth->tver);
	marks = (uint8_t)(bth->a << 7 | bth->r << 6 | bth->rtx << 5 | bth->ts << 4 | bth->inv_res);
	mb_store_be32(out, (uint32_t)bth->opcode << 24 | (uint32_t)format << 16 | bth->p_key);
	mb_store_be32(out + 4, (uint32_t)bth->var_res << 24 | bth->dqp);
	mb_store_be32(out + 8, (uint32_t)marks << 24 | bth->psn);
}

/*
 * mw_bth_decode reads the header from in[0..12). REQ(wire.bth.layout) REQ(wire.bth.se-mig)
 * REQ(wire.bth.ackreq) REQ(wire.bth.rtx) REQ(wire.bth.ts)
 */
static inline void mw_bth_decode(const uint8_t *in, struct mw_bth *bth)
{
	uint32_t word = mb_load_be32(in), dqp = mb_load_be32(in + 4), psn = mb_load_be32(in + 8);

	bth->opcode = (uint8_t)(word >> 24);
	bth->se = (word & 1u << 23) != 0;
	bth->m = (word & 1u << 22) != 0;
	bth->pad = word >> 20 & 3;
	bth->tver = word >> 16 & 0xF;
	bth->p_key = (uint16_t)word;
	bth->var_res = (uint8_t)(dqp >> 24);
	bth->dqp = dqp & 0xFFFFFF;
	bth->a = (psn & 1u << 31) != 0;
	bth->r = (psn & 1u << 30) != 0;
	bth->rtx = (psn & 1u << 29) != 0;
	bth->ts = (psn & 1u << 28) != 0;
	bth->inv_res = psn >> 24 & 0xF;
	bth->psn = psn & 0xFFFFFF;
}

/*
 * TSETH, timestamp header, 4 bytes: on its own behind a METH, and as the tail of PETH and ERTH.
 *
 *     0  tx_timestamp (16)
 *     2  tsr:1 reserved:11 ftype:4
 */
#define MW_TSETH_BYTES 4u

static inline void mw_tseth_encode(const struct mw_tseth *ts, uint8_t *out)
{
	mb_assert(ts->ftype <= 0xF);
	mb_store_be32(out, (uint32_t)ts->tx_timestamp << 16 | (uint32_t)ts->tsr << 15 | ts->ftype);
}

/*
 * mw_tseth_decode reads the header; whether ftype is one that MRC defines is for the caller to
 * judge. REQ(wire.tseth.layout)
 */
static inline void mw_tseth_decode(const uint8_t *in, struct mw_tseth *ts)
{
	uint32_t word = mb_load_be32(in);

	ts->tx_timestamp = (uint16_t)(word >> 16);
	ts->tsr = (word & 1u << 15) != 0;
	ts->ftype = word & 0xF;
}

/*
 * The extension headers of the WRITE packets, which follow the BTH in this order:
 *
 *     METH   4  rqmsn (16), msn (16)
 *     TSETH  4  when bth.ts is set
 *     RETH  16  va (64), rkey (32), dmalen (32)
 *     ImmDt  4  in the two opcodes with immediate data
 *
 * Unlike in RoCE every data packet has a RETH, so that each can be placed on its own.
 */
#define MW_METH_BYTES 4u
#define MW_RETH_BYTES 16u
#define MW_IMM_BYTES 4u
#define MW_DATA_EXT_BYTES_MAX (MW_METH_BYTES + MW_TSETH_BYTES + MW_RETH_BYTES + MW_IMM_BYTES)

/* mw_data_encode writes the headers to out and returns their length. */
static inline size_t mw_data_encode(const struct mw_data_ext *data, bool ts, bool imm, uint8_t *out)
{
	uint8_t *at = out;

	mb_store_be32(at, (uint32_t)data->meth.rqmsn << 16 | data->meth.msn);
	at += MW_METH_BYTES;
	if (ts) {
		mw_tseth_encode(&data->tseth, at);
		at += MW_TSETH_BYTES;
	}
	mb_store_be64(at, data->reth.va);
	mb_store_be32(at + 8, data->reth.rkey);
	mb_store_be32(at + 12, data->reth.dmalen);
	at += MW_RETH_BYTES;
	if (imm) {
		mb_store_be32(at, data->imm);
		at += MW_IMM_BYTES;
	}
	return (size_t)(at - out);
}

/*
 * mw_data_decode reads the headers from in, which holds all of them; those that the packet does
 * not have read as zero. REQ(wire.meth.layout) REQ(wire.tseth.position)
 * REQ(wire.reth.every-packet) REQ(wire.immdt.layout)
 */
static inline void mw_data_decode(const uint8_t *in, bool ts, bool imm, struct mw_data_ext *data)
{
	uint32_t meth = mb_load_be32(in);

	data->meth.rqmsn = (uint16_t)(meth >> 16);
	data->meth.msn = (uint16_t)meth;
	in += MW_METH_BYTES;
	data->tseth = (struct mw_tseth){0};
	if (ts) {
		mw_tseth_decode(in, &data->tseth);
		in += MW_TSETH_BYTES;
	}
	data->reth.va = mb_load_be64(in);
	data->reth.rkey = mb_load_be32(in + 8);
	data->reth.dmalen = mb_load_be32(in + 12);
	in += MW_RETH_BYTES;
	data->imm = imm ? mb_load_be32(in) : 0;
}

/*
 * mw_data_whole_bytes returns how many of `have` bytes behind the BTH belong to headers that are
 * complete. At least a METH must be there.
 */
static inline size_t mw_data_whole_bytes(size_t have, bool ts, bool imm)
{
	size_t end = MW_METH_BYTES;

	if (ts) {
		if (have < end + MW_TSETH_BYTES)
			return end;
		end += MW_TSETH_BYTES;
	}
	if (have < end + MW_RETH_BYTES)
		return end;
	end += MW_RETH_BYTES;
	if (imm && have >= end + MW_IMM_BYTES)
		end += MW_IMM_BYTES;
	return end;
}

/* AETH, acknowledge extended transport header, 4 bytes: syndrome (8), msn (24). */
#define MW_AETH_BYTES 4u

static inline void mw_aeth_encode(const struct mw_aeth *aeth, uint8_t *out)
{
	mb_assert(aeth->msn <= 0xFFFFFFu);
	mb_store_be32(out, (uint32_t)aeth->syndrome << 24 | aeth->msn);
}

/* REQ(wire.aeth.layout) */
static inline void mw_aeth_decode(const uint8_t *in, struct mw_aeth *aeth)
{
	uint32_t word = mb_load_be32(in);

	aeth->syndrome = (uint8_t)(word >> 24);
	aeth->msn = word & 0xFFFFFF;
}

/*
 * SETH, reliability SACK header (28 bytes) with its CC_STATE (8 bytes).
 *
 *     0  type:4=0 nh:5=0 m:2 reserved:3 pr:1 reserved:1
 *     2  ack_psn_offset, signed (16); with pr set: probe_id (16)
 *     4  entropy (32)
 *     8  spdcid (16), dpdcid (16)
 *    12  ext (8), which MRC reserves, cack_psn (24)
 *    16  cc_type:4 cc_fl:4, mpr (8), sack_offset, signed (16)
 *    20  sack_bitmap (64), least significant bit first: PSN cack_psn + sack_offset
 *    28  tx_timestamp (16), reserved:1 ooo_count:15
 *    32  restore_cwnd:1 rcv_cwnd_pen:7, rcvd_bytes (24)
 */
#define MW_SETH_BYTES 36u

static inline void mw_seth_assert_fits(const struct mw_seth *seth)
{
	mb_assert(seth->m <= 3 && (seth->cc_type | seth->cc_fl) <= 0xF);
	mb_assert((seth->cack_psn | seth->rcvd_bytes) <= 0xFFFFFFu);
	mb_assert(seth->ooo_count <= 0x7FFF && seth->rcv_cwnd_pen <= 0x7F);
}

static inline void mw_seth_encode(const struct mw_seth *seth, uint8_t *out)
{
	uint32_t cc;
	uint16_t trigger;

	mw_seth_assert_fits(seth);
	trigger = seth->pr ? seth->probe_id : (uint16_t)seth->ack_psn_offset;
	cc = (uint32_t)seth->cc_type << 4 | seth->cc_fl;
	mb_store_be32(out, (uint32_t)(seth->m << 5 | seth->pr << 1) << 16 | trigger);
	mb_store_be32(out + 4, seth->entropy);
	mb_store_be32(out + 8, (uint32_t)seth->spdcid << 16 | seth->dpdcid);
	mb_store_be32(out + 12, (uint32_t)seth->ext << 24 | seth->cack_psn);
	mb_store_be32(out + 16, cc << 24 | (uint32_t)seth->mpr << 16 | (uint16_t)seth->sack_offset);
	mb_store_be64(out + 20, seth->sack_bitmap);
	mb_store_be32(out + 28, (uint32_t)seth->tx_timestamp << 16 | seth->ooo_count);
	mb_store_be32(out + 32, (uint32_t)seth->restore_cwnd << 31 |
					(uint32_t)seth->rcv_cwnd_pen << 24 | seth->rcvd_bytes);
}

/*
 * Of ack_psn_offset and probe_id the one that the packet does not carry reads as zero.
 * REQ(wire.seth.layout) REQ(wire.seth.ack-psn-offset) REQ(wire.seth.probe-id)
 * REQ(wire.ccstate.layout)
 */
static inline void mw_seth_decode(const uint8_t *in, struct mw_seth *seth)
{
	uint32_t marks = mb_load_be32(in), ids = mb_load_be32(in + 8), cack = mb_load_be32(in + 12);
	uint32_t cc = mb_load_be32(in + 16), times = mb_load_be32(in + 28);
	uint32_t rcvd = mb_load_be32(in + 32);
	uint16_t trigger = (uint16_t)marks;

	seth->m = marks >> 21 & 3;
	seth->pr = (marks & 1u << 17) != 0;
	seth->ack_psn_offset = seth->pr ? 0 : (int16_t)trigger;
	seth->probe_id = seth->pr ? trigger : 0;
	seth->entropy = mb_load_be32(in + 4);
	seth->spdcid = (uint16_t)(ids >> 16);
	seth->dpdcid = (uint16_t)ids;
	seth->ext = (uint8_t)(cack >> 24);
	seth->cack_psn = cack & 0xFFFFFF;
	seth->cc_type = (uint8_t)(cc >> 28);
	seth->cc_fl = cc >> 24 & 0xF;
	seth->mpr = (uint8_t)(cc >> 16);
	seth->sack_offset = (int16_t)cc;
	seth->sack_bitmap = mb_load_be64(in + 20);
	seth->tx_timestamp = (uint16_t)(times >> 16);
	seth->ooo_count = times & 0x7FFF;
	seth->restore_cwnd = rcvd >> 31;
	seth->rcv_cwnd_pen = rcvd >> 24 & 0x7F;
	seth->rcvd_bytes = rcvd & 0xFFFFFF;
}

/*
 * NETH, reliability NACK header, 20 bytes.
 *
 *     0  type:4=0 nh:5=0 reserved:7
 *     2  reason (8), vendor_info (8)
 *     4  entropy (32)
 *     8  spdcid (16), dpdcid (16)
 *    12  reserved (8), nack_psn (24)
 *    16  cc_type:4 cc_fl:4, reserved (8), tx_timestamp (16)
 */
#define MW_NETH_BYTES 20u

static inline void mw_neth_encode(const struct mw_neth *neth, uint8_t *out)
{
	mb_assert(neth->nack_psn <= 0xFFFFFFu && (neth->cc_type | neth->cc_fl) <= 0xF);

	mb_store_be32(out, (uint32_t)neth->reason << 8 | neth->vendor_info);
	mb_store_be32(out + 4, neth->entropy);
	mb_store_be16(out + 8, neth->spdcid);
	mb_store_be16(out + 10, neth->dpdcid);
	mb_store_be32(out + 12, neth->nack_psn);
	out[16] = (uint8_t)(neth->cc_type << 4 | neth->cc_fl);
	out[17] = 0;
	mb_store_be16(out + 18, neth->tx_timestamp);
}

/* REQ(wire.neth.layout) */
static inline void mw_neth_decode(const uint8_t *in, struct mw_neth *neth)
{
	neth->reason = in[2];
	neth->vendor_info = in[3];
	neth->entropy = mb_load_be32(in + 4);
	neth->spdcid = mb_load_be16(in + 8);
	neth->dpdcid = mb_load_be16(in + 10);
	neth->nack_psn = mb_load_be24(in + 13);
	neth->cc_type = in[16] >> 4;
	neth->cc_fl = in[16] & 0xF;
	neth->tx_timestamp = mb_load_be16(in + 18);
}

/*
 * PETH, reliability probe header, 16 bytes.
 *
 *     0  type:4=0 nh:5=0 reserved:7
 *     2  reserved (8), vendor_info (8)
 *     4  probe_id (16), reserved (8), ext (8), which MRC reserves
 *     8  spdcid (16), dpdcid (16)
 *    12  timestamp
 */
#define MW_PETH_BYTES 16u

static inline void mw_peth_encode(const struct mw_peth *peth, uint8_t *out)
{
	mb_store_be32(out, peth->vendor_info);
	mb_store_be32(out + 4, (uint32_t)peth->probe_id << 16 | peth->ext);
	mb_store_be16(out + 8, peth->spdcid);
	mb_store_be16(out + 10, peth->dpdcid);
	mw_tseth_encode(&peth->ts, out + 12);
}

/* REQ(wire.peth.layout) */
static inline void mw_peth_decode(const uint8_t *in, struct mw_peth *peth)
{
	peth->vendor_info = in[3];
	peth->probe_id = mb_load_be16(in + 4);
	peth->ext = in[7];
	peth->spdcid = mb_load_be16(in + 8);
	peth->dpdcid = mb_load_be16(in + 10);
	mw_tseth_decode(in + 12, &peth->ts);
}

/*
 * ERTH, endpoint request header, 16 bytes.
 *
 *     0  type:4=0 nh:5=0 reserved:5 op:2   REQ(wire.erth.op)
 *     2  reserved (8), vendor_info (8)
 *     4  port_status_mask (32)
 *     8  reserved (32)
 *    12  timestamp
 */
#define MW_ERTH_BYTES 16u

static inline void mw_erth_encode(const struct mw_erth *erth, uint8_t *out)
{
	mb_assert(erth->op <= 3);
	mb_store_be32(out, (uint32_t)erth->op << 16 | erth->vendor_info);
	mb_store_be32(out + 4, erth->port_status_mask);
	mb_store_be32(out + 8, 0);
	mw_tseth_encode(&erth->ts, out + 12);
}

/* REQ(wire.erth.layout) */
static inline void mw_erth_decode(const uint8_t *in, struct mw_erth *erth)
{
	erth->op = in[1] & 3;
	erth->vendor_info = in[3];
	erth->port_status_mask = mb_load_be32(in + 4);
	mw_tseth_decode(in + 12, &erth->ts);
}

/*
 * EETH, endpoint response header, 36 bytes, most of them reserved. It is as long as a SACK and
 * has the reflected timestamp in the same place.
 *
 *     0  type:4=0 nh:5=0 reserved:3 op:2 reserved:2
 *     2  reserved (26 bytes)
 *    28  tx_timestamp (16)
 *    30  reserved (6 bytes)
 *
 * The sources disagree about op (bits 3:2 or 5:4 of byte 1); this takes 3:2.
 */
#define MW_EETH_BYTES 36u

static inline void mw_eeth_encode(const struct mw_eeth *eeth, uint8_t *out)
{
	mb_assert(eeth->op <= 3 && eeth->op_high <= 3);
	memset(out, 0, MW_EETH_BYTES);
	out[1] = (uint8_t)(eeth->op_high << 4 | eeth->op << 2);
	mb_store_be16(out + 28, eeth->tx_timestamp);
}

/* REQ(wire.eeth.layout) REQ(wire.eeth.op) */
static inline void mw_eeth_decode(const uint8_t *in, struct mw_eeth *eeth)
{
	eeth->op = in[1] >> 2 & 3;
	eeth->op_high = in[1] >> 4 & 3;
	eeth->tx_timestamp = mb_load_be16(in + 28);
}

#endif
