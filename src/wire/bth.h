/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bth.h - Base Transport Header, the first 12 bytes of every packet.
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
#ifndef SOFTMRC_WIRE_BTH_H
#define SOFTMRC_WIRE_BTH_H

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/packet.h"

#define MW_BTH_BYTES 12u

/* mw_bth_encode writes the header to out[0..12). Fields must fit (asserted). */
static inline void mw_bth_encode(const struct mw_bth *bth, uint8_t *out)
{
	mb_assert((bth->dqp | bth->psn) <= 0xFFFFFFu);
	mb_assert(bth->pad <= 3 && (bth->tver | bth->inv_res) <= 0xF);

	out[0] = bth->opcode;
	out[1] = (uint8_t)(bth->se << 7 | bth->m << 6 | bth->pad << 4 | bth->tver);
	mb_store_be16(out + 2, bth->p_key);
	out[4] = bth->var_res;
	mb_store_be24(out + 5, bth->dqp);
	out[8] = (uint8_t)(bth->a << 7 | bth->r << 6 | bth->rtx << 5 | bth->ts << 4 | bth->inv_res);
	mb_store_be24(out + 9, bth->psn);
}

/*
 * mw_bth_decode reads the header from in[0..12). REQ(wire.bth.layout) REQ(wire.bth.se-mig)
 * REQ(wire.bth.ackreq) REQ(wire.bth.rtx) REQ(wire.bth.ts)
 */
static inline void mw_bth_decode(const uint8_t *in, struct mw_bth *bth)
{
	uint8_t format = in[1];
	uint8_t marks = in[8];

	bth->opcode = in[0];
	bth->se = format >> 7 & 1;
	bth->m = format >> 6 & 1;
	bth->pad = format >> 4 & 3;
	bth->tver = format & 0xF;
	bth->p_key = mb_load_be16(in + 2);
	bth->var_res = in[4];
	bth->dqp = mb_load_be24(in + 5);
	bth->a = marks >> 7 & 1;
	bth->r = marks >> 6 & 1;
	bth->rtx = marks >> 5 & 1;
	bth->ts = marks >> 4 & 1;
	bth->inv_res = marks & 0xF;
	bth->psn = mb_load_be24(in + 9);
}

#endif
