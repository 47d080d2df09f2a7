/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * neth.h - Reliability NACK header, 20 bytes.
 *
 *     0  type:4=0 nh:5=0 reserved:7
 *     2  reason (8), vendor_info (8)
 *     4  entropy (32)
 *     8  spdcid (16), dpdcid (16)
 *    12  reserved (8), nack_psn (24)
 *    16  cc_type:4 cc_fl:4, reserved (8), tx_timestamp (16)
 */
#ifndef SOFTMRC_WIRE_NETH_H
#define SOFTMRC_WIRE_NETH_H

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/packet.h"

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

#endif
