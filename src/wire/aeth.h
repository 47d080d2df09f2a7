/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aeth.h - acknowledge extended transport header, 4 bytes: syndrome (8), msn (24).
 */
#ifndef SOFTMRC_WIRE_AETH_H
#define SOFTMRC_WIRE_AETH_H

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/packet.h"

#define MW_AETH_BYTES 4u

static inline void mw_aeth_encode(const struct mw_aeth *aeth, uint8_t *out)
{
	mb_assert(aeth->msn <= 0xFFFFFFu);
	mb_store_be32(out, (uint32_t)aeth->syndrome << 24 | aeth->msn);
}

/* REQ(wire.aeth.layout) */
static inline void mw_aeth_decode(const uint8_t *in, struct mw_aeth *aeth)
{
	aeth->syndrome = in[0];
	aeth->msn = mb_load_be24(in + 1);
}

#endif
