/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tseth.h - timestamp header, 4 bytes: on its own behind a METH, and as the tail of PETH and ERTH.
 *
 *     0  tx_timestamp (16)
 *     2  tsr:1 reserved:11 ftype:4
 */
#ifndef SOFTMRC_WIRE_TSETH_H
#define SOFTMRC_WIRE_TSETH_H

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/packet.h"

#define MW_TSETH_BYTES 4u

static inline void mw_tseth_encode(const struct mw_tseth *ts, uint8_t *out)
{
	mb_assert(ts->ftype <= 0xF);
	mb_store_be16(out, ts->tx_timestamp);
	mb_store_be16(out + 2, (uint16_t)(ts->tsr << 15 | ts->ftype));
}

/*
 * mw_tseth_decode reads the header; whether ftype is one that MRC defines is for the caller to
 * judge. REQ(wire.tseth.layout)
 */
static inline void mw_tseth_decode(const uint8_t *in, struct mw_tseth *ts)
{
	uint16_t format = mb_load_be16(in + 2);

	ts->tx_timestamp = mb_load_be16(in);
	ts->tsr = format >> 15 & 1;
	ts->ftype = format & 0xF;
}

#endif
