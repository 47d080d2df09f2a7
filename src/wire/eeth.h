/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eeth.h - Endpoint response header, 36 bytes, most of them reserved. It is as long as a SACK and
 * has the reflected timestamp in the same place.
 *
 *     0  type:4=0 nh:5=0 reserved:3 op:2 reserved:2
 *     2  reserved (26 bytes)
 *    28  tx_timestamp (16)
 *    30  reserved (6 bytes)
 *
 * The sources disagree about op (bits 3:2 or 5:4 of byte 1); this takes 3:2.
 */
#ifndef SOFTMRC_WIRE_EETH_H
#define SOFTMRC_WIRE_EETH_H

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/packet.h"

#define MW_EETH_BYTES 36u

static inline void mw_eeth_encode(const struct mw_eeth *eeth, uint8_t *out)
{
	mb_assert(eeth->op <= 3);
	memset(out, 0, MW_EETH_BYTES);
	out[1] = (uint8_t)(eeth->op << 2);
	mb_store_be16(out + 28, eeth->tx_timestamp);
}

/* REQ(wire.eeth.layout) REQ(wire.eeth.op) */
static inline void mw_eeth_decode(const uint8_t *in, struct mw_eeth *eeth)
{
	eeth->op = in[1] >> 2 & 3;
	eeth->tx_timestamp = mb_load_be16(in + 28);
}

#endif
