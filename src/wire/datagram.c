/* SPDX-License-Identifier: BSD-2-Clause */
/* datagram.c - the packets of UD QPs, from and to bytes. */
#include "wire/datagram.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/headers.h"

/* Of the DETH. */
#define SRC_QPN_AT 5u

/* REQ(ud.deth) */
enum mw_verdict mw_datagram_decode(const uint8_t *bytes, size_t len, struct mw_datagram *dg,
				   size_t *headers_len)
{
	const uint8_t *deth = bytes + MW_BTH_BYTES;
	size_t headers = MW_BTH_BYTES + MW_DETH_BYTES;
	struct mw_bth bth;

	mb_assert(len <= UINT32_MAX);
	if (len < headers)
		return MW_SHORT;
	mw_bth_decode(bytes, &bth);
	if (!mw_is_datagram(bth.opcode))
		return MW_OPCODE;
	if (bth.tver != 0)
		return MW_TVER;
	*dg = (struct mw_datagram){
		.se = bth.se,
		.with_imm = bth.opcode == MW_UD_SEND_ONLY_IMM,
		.pad = bth.pad,
		.p_key = bth.p_key,
		.dqp = bth.dqp,
		.psn = bth.psn,
		.q_key = mb_load_be32(deth),
		.src_qpn = mb_load_be24(deth + SRC_QPN_AT),
	};
	if (dg->with_imm) {
		if (len < headers + MW_IMM_BYTES)
			return MW_SHORT;
		dg->imm = mb_load_be32(bytes + headers);
		headers += MW_IMM_BYTES;
	}
	if (dg->pad > len - headers)
		return MW_PAD;
	dg->payload_len = (uint32_t)(len - headers - dg->pad);
	*headers_len = headers;
	return MW_OK;
}

size_t mw_datagram_encode(const struct mw_datagram *dg, uint8_t *out)
{
	struct mw_bth bth = {
		.opcode = dg->with_imm ? MW_UD_SEND_ONLY_IMM : MW_UD_SEND_ONLY,
		.se = dg->se,
		.pad = dg->pad,
		.p_key = dg->p_key,
		.dqp = dg->dqp,
		.psn = dg->psn,
	};
	uint8_t *deth = out + MW_BTH_BYTES;

	mb_assert(dg->src_qpn <= MW_QPN_MAX);
	mw_bth_encode(&bth, out);
	mb_store_be32(deth, dg->q_key);
	deth[4] = 0;
	mb_store_be24(deth + SRC_QPN_AT, dg->src_qpn);
	if (!dg->with_imm)
		return MW_BTH_BYTES + MW_DETH_BYTES;
	mb_store_be32(deth + MW_DETH_BYTES, dg->imm);
	return MW_DATAGRAM_HEADERS_MAX;
}
