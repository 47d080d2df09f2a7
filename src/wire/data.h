/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * data.h - the extension headers of the WRITE packets, which follow the BTH in this order:
 *
 *     METH   4  rqmsn (16), msn (16)
 *     TSETH  4  when bth.ts is set, see tseth.h
 *     RETH  16  va (64), rkey (32), dmalen (32)
 *     ImmDt  4  in the two opcodes with immediate data
 *
 * Unlike in RoCE every data packet has a RETH, so that each can be placed on its own.
 */
#ifndef SOFTMRC_WIRE_DATA_H
#define SOFTMRC_WIRE_DATA_H

#include "base/bytes.h"
#include "wire/packet.h"
#include "wire/tseth.h"

#define MW_METH_BYTES 4u
#define MW_RETH_BYTES 16u
#define MW_IMM_BYTES 4u
#define MW_DATA_EXT_BYTES_MAX (MW_METH_BYTES + MW_TSETH_BYTES + MW_RETH_BYTES + MW_IMM_BYTES)

/* mw_data_encode writes the headers to out and returns their length. */
static inline size_t mw_data_encode(const struct mw_data_ext *data, bool ts, bool imm, uint8_t *out)
{
	uint8_t *at = out;

	mb_store_be16(at, data->meth.rqmsn);
	mb_store_be16(at + 2, data->meth.msn);
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
	data->meth.rqmsn = mb_load_be16(in);
	data->meth.msn = mb_load_be16(in + 2);
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

#endif
