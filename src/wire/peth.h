/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peth.h - Reliability probe header, 16 bytes.
 *
 *     0  type:4=0 nh:5=0 reserved:7
 *     2  reserved (8), vendor_info (8)
 *     4  probe_id (16), reserved (8), ext (8), which MRC reserves
 *     8  spdcid (16), dpdcid (16)
 *    12  timestamp, see tseth.h
 */
#ifndef SOFTMRC_WIRE_PETH_H
#define SOFTMRC_WIRE_PETH_H

#include "base/bytes.h"
#include "wire/packet.h"
#include "wire/tseth.h"

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

#endif
