/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seth.h - Reliability SACK header (28 bytes) with its CC_STATE (8 bytes).
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
 *
 * Reserved bits are ignored by the decoder and zero from the encoder.
 */
#ifndef SOFTMRC_WIRE_SETH_H
#define SOFTMRC_WIRE_SETH_H

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/packet.h"

#define MW_SETH_BYTES 36u

static inline void mw_seth_assert_fits(const struct mw_seth *seth)
{
	mb_assert(seth->m <= 3 && (seth->cc_type | seth->cc_fl) <= 0xF);
	mb_assert((seth->cack_psn | seth->rcvd_bytes) <= 0xFFFFFFu);
	mb_assert(seth->ooo_count <= 0x7FFF && seth->rcv_cwnd_pen <= 0x7F);
}

static inline void mw_seth_encode(const struct mw_seth *seth, uint8_t *out)
{
	mw_seth_assert_fits(seth);

	mb_store_be16(out, (uint16_t)(seth->m << 5 | seth->pr << 1));
	mb_store_be16(out + 2, seth->pr ? seth->probe_id : (uint16_t)seth->ack_psn_offset);
	mb_store_be32(out + 4, seth->entropy);
	mb_store_be16(out + 8, seth->spdcid);
	mb_store_be16(out + 10, seth->dpdcid);
	mb_store_be32(out + 12, (uint32_t)seth->ext << 24 | seth->cack_psn);
	out[16] = (uint8_t)(seth->cc_type << 4 | seth->cc_fl);
	out[17] = seth->mpr;
	mb_store_be16(out + 18, (uint16_t)seth->sack_offset);
	mb_store_be64(out + 20, seth->sack_bitmap);
	mb_store_be16(out + 28, seth->tx_timestamp);
	mb_store_be16(out + 30, seth->ooo_count);
	out[32] = (uint8_t)(seth->restore_cwnd << 7 | seth->rcv_cwnd_pen);
	mb_store_be24(out + 33, seth->rcvd_bytes);
}

/*
 * Of ack_psn_offset and probe_id the one that the packet does not carry reads as zero.
 * REQ(wire.seth.layout) REQ(wire.seth.ack-psn-offset) REQ(wire.seth.probe-id)
 * REQ(wire.ccstate.layout)
 */
static inline void mw_seth_decode(const uint8_t *in, struct mw_seth *seth)
{
	uint16_t marks = mb_load_be16(in);
	uint16_t trigger = mb_load_be16(in + 2);

	seth->m = marks >> 5 & 3;
	seth->pr = marks >> 1 & 1;
	seth->ack_psn_offset = seth->pr ? 0 : (int16_t)trigger;
	seth->probe_id = seth->pr ? trigger : 0;
	seth->entropy = mb_load_be32(in + 4);
	seth->spdcid = mb_load_be16(in + 8);
	seth->dpdcid = mb_load_be16(in + 10);
	seth->ext = in[12];
	seth->cack_psn = mb_load_be24(in + 13);
	seth->cc_type = in[16] >> 4;
	seth->cc_fl = in[16] & 0xF;
	seth->mpr = in[17];
	seth->sack_offset = (int16_t)mb_load_be16(in + 18);
	seth->sack_bitmap = mb_load_be64(in + 20);
	seth->tx_timestamp = mb_load_be16(in + 28);
	seth->ooo_count = mb_load_be16(in + 30) & 0x7FFF;
	seth->restore_cwnd = in[32] >> 7;
	seth->rcv_cwnd_pen = in[32] & 0x7F;
	seth->rcvd_bytes = mb_load_be24(in + 33);
}

#endif
