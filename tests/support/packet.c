/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets for tests; see packet.h. */
#include "support/packet.h"

#include "support/test.h"

const uint8_t packet_opcodes[PACKET_OPCODES] = {
	MW_WRITE_FIRST,
	MW_WRITE_MIDDLE,
	MW_WRITE_LAST,
	MW_WRITE_LAST_IMM,
	MW_WRITE_ONLY,
	MW_WRITE_ONLY_IMM,
	MW_ACK,
	MW_EP_REQUEST,
	MW_EP_RESPONSE,
	MW_SACK,
	MW_NACK,
	MW_PROBE,
	MW_SEND_FIRST,
	MW_SEND_MIDDLE,
	MW_SEND_LAST,
	MW_SEND_LAST_IMM,
	MW_SEND_ONLY,
	MW_SEND_ONLY_IMM,
	MW_READ_REQUEST,
	MW_READ_RESPONSE_FIRST,
	MW_READ_RESPONSE_MIDDLE,
	MW_READ_RESPONSE_LAST,
	MW_READ_RESPONSE_ONLY,
	MW_ATOMIC_RESPONSE,
	MW_COMPARE_SWAP,
	MW_FETCH_ADD,
	MW_ATOMIC_WRITE,
	MW_SEND_LAST_INV,
	MW_SEND_ONLY_INV,
	MW_RESPONSE_ACK,
	MW_RESPONSE_SACK,
	MW_RESPONSE_NACK,
	MW_RESPONSE_PROBE,
};

bool packet_is_data(uint8_t opcode)
{
	return (opcode >= MW_WRITE_FIRST && opcode <= MW_WRITE_ONLY_IMM) ||
	       (opcode >= MW_SEND_FIRST && opcode <= MW_SEND_ONLY_INV && opcode != MW_RESPONSE_ACK);
}

bool packet_has_imm(uint8_t opcode)
{
	return opcode == MW_WRITE_LAST_IMM || opcode == MW_WRITE_ONLY_IMM ||
	       opcode == MW_SEND_LAST_IMM || opcode == MW_SEND_ONLY_IMM ||
	       opcode == MW_SEND_LAST_INV || opcode == MW_SEND_ONLY_INV ||
	       opcode == MW_READ_REQUEST;
}

/* The lengths once more, as the format tables give them. */
size_t packet_headers_len(uint8_t opcode, bool ts)
{
	if (packet_is_data(opcode))
		return 12u + 4u + (ts ? 4u : 0u) + 16u + (packet_has_imm(opcode) ? 4u : 0u);
	switch (opcode) {
	case MW_ACK:
	case MW_RESPONSE_ACK:
		return 12 + 4;
	case MW_NACK:
	case MW_RESPONSE_NACK:
		return 12 + 20;
	case MW_PROBE:
	case MW_RESPONSE_PROBE:
	case MW_EP_REQUEST:
		return 12 + 16;
	case MW_SACK:
	case MW_RESPONSE_SACK:
	case MW_EP_RESPONSE:
		return 12 + 36;
	default:
		abort();
	}
}

#define COMPARE(field)                    \
	do {                              \
		if (a->field != b->field) \
			return #field;    \
	} while (0)

static const char *bth_difference(const struct mw_bth *a, const struct mw_bth *b)
{
	COMPARE(opcode);
	COMPARE(se);
	COMPARE(m);
	COMPARE(pad);
	COMPARE(tver);
	COMPARE(p_key);
	COMPARE(var_res);
	COMPARE(dqp);
	COMPARE(a);
	COMPARE(r);
	COMPARE(rtx);
	COMPARE(ts);
	COMPARE(inv_res);
	COMPARE(psn);
	return NULL;
}

static const char *tseth_difference(const struct mw_tseth *a, const struct mw_tseth *b)
{
	COMPARE(tx_timestamp);
	COMPARE(tsr);
	COMPARE(ftype);
	return NULL;
}

static const char *data_difference(const struct mw_packet *a, const struct mw_packet *b)
{
	COMPARE(data.meth.rqmsn);
	COMPARE(data.meth.msn);
	COMPARE(data.reth.va);
	COMPARE(data.reth.rkey);
	COMPARE(data.reth.dmalen);
	if (packet_has_imm(a->bth.opcode))
		COMPARE(data.imm);
	return a->bth.ts ? tseth_difference(&a->data.tseth, &b->data.tseth) : NULL;
}

static const char *seth_difference(const struct mw_seth *a, const struct mw_seth *b)
{
	COMPARE(m);
	COMPARE(pr);
	if (a->pr)
		COMPARE(probe_id);
	else
		COMPARE(ack_psn_offset);
	COMPARE(entropy);
	COMPARE(spdcid);
	COMPARE(dpdcid);
	COMPARE(ext);
	COMPARE(cack_psn);
	COMPARE(cc_type);
	COMPARE(cc_fl);
	COMPARE(mpr);
	COMPARE(sack_offset);
	COMPARE(sack_bitmap);
	COMPARE(tx_timestamp);
	COMPARE(ooo_count);
	COMPARE(restore_cwnd);
	COMPARE(rcv_cwnd_pen);
	COMPARE(rcvd_bytes);
	return NULL;
}

static const char *neth_difference(const struct mw_neth *a, const struct mw_neth *b)
{
	COMPARE(reason);
	COMPARE(vendor_info);
	COMPARE(entropy);
	COMPARE(spdcid);
	COMPARE(dpdcid);
	COMPARE(nack_psn);
	COMPARE(cc_type);
	COMPARE(cc_fl);
	COMPARE(tx_timestamp);
	return NULL;
}

static const char *peth_difference(const struct mw_peth *a, const struct mw_peth *b)
{
	COMPARE(vendor_info);
	COMPARE(probe_id);
	COMPARE(ext);
	COMPARE(spdcid);
	COMPARE(dpdcid);
	return tseth_difference(&a->ts, &b->ts);
}

static const char *erth_difference(const struct mw_erth *a, const struct mw_erth *b)
{
	COMPARE(op);
	COMPARE(vendor_info);
	COMPARE(port_status_mask);
	return tseth_difference(&a->ts, &b->ts);
}

static const char *control_difference(const struct mw_packet *a, const struct mw_packet *b)
{
	switch (a->bth.opcode) {
	case MW_ACK:
	case MW_RESPONSE_ACK:
		COMPARE(aeth.syndrome);
		COMPARE(aeth.msn);
		return NULL;
	case MW_SACK:
	case MW_RESPONSE_SACK:
		return seth_difference(&a->seth, &b->seth);
	case MW_NACK:
	case MW_RESPONSE_NACK:
		return neth_difference(&a->neth, &b->neth);
	case MW_PROBE:
	case MW_RESPONSE_PROBE:
		return peth_difference(&a->peth, &b->peth);
	case MW_EP_REQUEST:
		return erth_difference(&a->erth, &b->erth);
	case MW_EP_RESPONSE:
		COMPARE(eeth.op);
		COMPARE(eeth.op_high);
		COMPARE(eeth.tx_timestamp);
		return NULL;
	default:
		return "opcode is not one of MRC";
	}
}

const char *packet_difference(const struct mw_packet *a, const struct mw_packet *b)
{
	const char *bth = bth_difference(&a->bth, &b->bth);

	if (bth)
		return bth;
	COMPARE(payload_len);
	return packet_is_data(a->bth.opcode) ? data_difference(a, b) : control_difference(a, b);
}

/* One bit set for each bit that means something; type and nh mean something: zero. */
static const uint8_t tseth_bits[4] = {0xFF, 0xFF, 0x80, 0x0F};
static const uint8_t seth_bits[36] = {
	0xFF, 0xE2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
	0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
	0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
};
static const uint8_t neth_bits[20] = {0xFF, 0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
				      0xFF, 0xFF, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0xFF, 0xFF};
static const uint8_t peth_bits[16] = {0xFF, 0x80, 0x00, 0xFF, 0xFF, 0xFF, 0x00, 0xFF,
				      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x80, 0x0F};
static const uint8_t erth_bits[16] = {0xFF, 0x83, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
				      0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0x80, 0x0F};
static const uint8_t eeth_bits[36] = {[0] = 0xFF, [1] = 0xBC, [28] = 0xFF, [29] = 0xFF};

void packet_used_bits(uint8_t opcode, bool ts, uint8_t mask[MW_HEADERS_MAX])
{
	uint8_t *ext = mask + 12;

	memset(mask, 0xFF, MW_HEADERS_MAX);
	if (packet_is_data(opcode) && ts)
		memcpy(ext + 4, tseth_bits, sizeof(tseth_bits));
	else if (opcode == MW_SACK || opcode == MW_RESPONSE_SACK)
		memcpy(ext, seth_bits, sizeof(seth_bits));
	else if (opcode == MW_NACK || opcode == MW_RESPONSE_NACK)
		memcpy(ext, neth_bits, sizeof(neth_bits));
	else if (opcode == MW_PROBE || opcode == MW_RESPONSE_PROBE)
		memcpy(ext, peth_bits, sizeof(peth_bits));
	else if (opcode == MW_EP_REQUEST)
		memcpy(ext, erth_bits, sizeof(erth_bits));
	else if (opcode == MW_EP_RESPONSE)
		memcpy(ext, eeth_bits, sizeof(eeth_bits));
}

enum mw_verdict packet_decode_exact(const uint8_t *bytes, size_t len, bool cut,
				    struct mw_packet *pkt, size_t *headers_len)
{
	uint8_t *copy = malloc(len ? len : 1);
	enum mw_verdict verdict;

	if (!copy)
		abort();
	memcpy(copy, bytes, len);
	verdict = mw_packet_decode(len ? copy : copy + 1, len, cut, pkt, headers_len);
	free(copy);
	return verdict;
}
