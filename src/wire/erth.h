/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * erth.h - Endpoint request header, 16 bytes.
 *
 *     0  type:4=0 nh:5=0 reserved:5 op:2   REQ(wire.erth.op)
 *     2  reserved (8), vendor_info (8)
 *     4  port_status_mask (32)
 *     8  reserved (32)
 *    12  timestamp, see tseth.h
 */
#ifndef SOFTMRC_WIRE_ERTH_H
#define SOFTMRC_WIRE_ERTH_H

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/packet.h"
#include "wire/tseth.h"

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

#endif
