/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet.c - whole packets: the BTH, then what its opcode calls for.
 *
 * The opcode table says which headers follow and how long they are, so a packet needs one length
 * check; behind it every field is a load from a known offset. headers.h has the layouts.
 */
#include "wire/packet.h"

#include <string.h>

#include "base/assert.h"
#include "wire/headers.h"
#include "wire/opcode.h"

_Static_assert(MW_BTH_BYTES + MW_SETH_BYTES <= MW_HEADERS_MAX, "room for a SACK");
_Static_assert(MW_BTH_BYTES + MW_EETH_BYTES <= MW_HEADERS_MAX, "room for an endpoint response");
_Static_assert(MW_BTH_BYTES + MW_DATA_EXT_BYTES_MAX <= MW_HEADERS_MAX, "room for any data packet");

static enum mw_verdict decode_data(const uint8_t *bytes, size_t len,
				   const struct mw_opcode_info *info, struct mw_packet *pkt,
				   size_t *headers_len)
{
	bool ts = pkt->bth.ts;
	size_t head = MW_BTH_BYTES + info->ext_len + (ts ? MW_TSETH_BYTES : 0);

	if (len < head)
		return MW_SHORT;
	if (len - head < pkt->bth.pad) /* REQ(wire.bth.pad) */
		return MW_PAD;
	mw_data_decode(bytes + MW_BTH_BYTES, ts, info->flags & MW_OP_EXT_WORD, &pkt->data);
	if (ts && pkt->data.tseth.ftype != MW_FTYPE_TIMESTAMP)
		return MW_HEADER;
	pkt->payload_len = (uint32_t)(len - head) - pkt->bth.pad;
	*headers_len = head;
	return MW_OK;
}

/*
 * A switch cuts at a byte count, not between headers. The headers that are whole are decoded from a
 * copy filled up with zeros; part of a header is of no use and counts as head, not as payload. The
 * pad was at the end that is gone.
 */
static enum mw_verdict decode_cut_data(const uint8_t *bytes, size_t len,
				       const struct mw_opcode_info *info, struct mw_packet *pkt,
				       size_t *headers_len)
{
	uint8_t ext[MW_DATA_EXT_BYTES_MAX] = {0};
	bool ts = pkt->bth.ts;
	bool word = info->flags & MW_OP_EXT_WORD;
	size_t whole;

	if (len < MW_BTH_BYTES + MW_METH_BYTES)
		return MW_SHORT;
	whole = mw_data_whole_bytes(len - MW_BTH_BYTES, ts, word);
	memcpy(ext, bytes + MW_BTH_BYTES, whole);
	mw_data_decode(ext, ts, word, &pkt->data);
	if (ts && whole > MW_METH_BYTES && pkt->data.tseth.ftype != MW_FTYPE_TIMESTAMP)
		return MW_HEADER;
	if (whole < info->ext_len + (ts ? MW_TSETH_BYTES : 0))
		whole = len - MW_BTH_BYTES;
	*headers_len = MW_BTH_BYTES + whole;
	pkt->payload_len = (uint32_t)(len - *headers_len);
	return MW_OK;
}

/* All control headers but the AETH open with type:4 and nh:5, for which MRC defines only zero. */
static bool type_and_nh_are_zero(const uint8_t *ext)
{
	return mb_load_be16(ext) >> 7 == 0;
}

static enum mw_verdict decode_control_ext(const uint8_t *ext, enum mw_header_kind kind,
					  struct mw_packet *pkt)
{
	if (kind != MW_HDR_AETH && !type_and_nh_are_zero(ext))
		return MW_HEADER;
	switch (kind) {
#define DECODE(KIND, field)                            \
	case MW_HDR_##KIND:                            \
		mw_##field##_decode(ext, &pkt->field); \
		break;
		MW_CONTROL_HEADERS(DECODE)
#undef DECODE
	case MW_HDR_DATA:
		mb_unreachable();
	}
	if ((kind == MW_HDR_PETH && pkt->peth.ts.ftype != MW_FTYPE_TIMESTAMP) ||
	    (kind == MW_HDR_ERTH && pkt->erth.ts.ftype != MW_FTYPE_TIMESTAMP))
		return MW_HEADER;
	return MW_OK;
}

static enum mw_verdict decode_control(const uint8_t *bytes, size_t len,
				      const struct mw_opcode_info *info, struct mw_packet *pkt,
				      size_t *headers_len)
{
	size_t head = MW_BTH_BYTES + info->ext_len;

	if (len < head)
		return MW_SHORT;
	if (len > head)
		return MW_LENGTH;
	if (pkt->bth.pad != 0)
		return MW_PAD;
	pkt->payload_len = 0;
	*headers_len = head;
	return decode_control_ext(bytes + MW_BTH_BYTES, info->kind, pkt);
}

enum mw_verdict mw_packet_decode(const uint8_t *bytes, size_t len, bool cut, struct mw_packet *pkt,
				 size_t *headers_len)
{
	const struct mw_opcode_info *info;

	mb_assert(len <= UINT32_MAX);
	if (len < MW_BTH_BYTES)
		return MW_SHORT;
	mw_bth_decode(bytes, &pkt->bth);
	info = mw_opcode_row(pkt->bth.opcode);
	if (info->flags == 0) /* REQ(wire.opcode.unknown) */
		return MW_OPCODE;
	if (pkt->bth.tver != 0) /* REQ(wire.bth.tver) */
		return MW_TVER;
	if (!(info->flags & MW_OP_DATA))
		return decode_control(bytes, len, info, pkt, headers_len);
	if (cut)
		return decode_cut_data(bytes, len, info, pkt, headers_len);
	return decode_data(bytes, len, info, pkt, headers_len);
}

size_t mw_packet_encode(const struct mw_packet *pkt, uint8_t *out)
{
	const struct mw_opcode_info *info = mw_opcode_row(pkt->bth.opcode);
	uint8_t *ext = out + MW_BTH_BYTES;

	mb_assert(info->flags != 0);
	mw_bth_encode(&pkt->bth, out);
	switch ((enum mw_header_kind)info->kind) {
	case MW_HDR_DATA:
		return MW_BTH_BYTES +
		       mw_data_encode(&pkt->data, pkt->bth.ts, info->flags & MW_OP_EXT_WORD, ext);
#define ENCODE(KIND, field)                            \
	case MW_HDR_##KIND:                            \
		mw_##field##_encode(&pkt->field, ext); \
		break;
		MW_CONTROL_HEADERS(ENCODE)
#undef ENCODE
	}
	return MW_BTH_BYTES + info->ext_len;
}

const char *mw_verdict_name(enum mw_verdict v)
{
	static const char *const names[MW_VERDICTS] = {
		[MW_OK] = "ok",		[MW_SHORT] = "short", [MW_OPCODE] = "opcode",
		[MW_TVER] = "tver",	[MW_PAD] = "pad",     [MW_LENGTH] = "length",
		[MW_HEADER] = "header",
	};

	mb_assert((unsigned)v < MW_VERDICTS);
	return names[v];
}
