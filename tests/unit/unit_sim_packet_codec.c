/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets through the fabric's record: what comes out encodes to the same bytes. */
#include "support/test.h"

#include "sim/mrc/mrc_nic_state.h"
#include "wire/packet.h"

static uint32_t bits(unsigned n)
{
	return (uint32_t)(test_rand() & ((UINT64_C(1) << n) - 1));
}

static struct mw_tseth stamp(void)
{
	return (struct mw_tseth){.tx_timestamp = (uint16_t)bits(16), .ftype = MW_FTYPE_TIMESTAMP};
}

static void fill_data(struct mw_packet *p)
{
	p->bth.ts = true;
	p->payload_len = bits(12) + 1;
	p->bth.pad = (uint8_t)(-p->payload_len & 3);
	p->data = (struct mw_data_ext){
		.meth = {(uint16_t)bits(16), (uint16_t)bits(16)},
		.tseth = stamp(),
		.reth = {test_rand(), bits(32), bits(32)},
		.imm = mw_opcode_info(p->bth.opcode)->flags & MW_OP_IMM ? bits(32) : 0,
	};
}

static void fill_sack(struct mw_packet *p)
{
	bool pr = bits(1);

	p->seth = (struct mw_seth){
		.m = (uint8_t)bits(2),
		.pr = pr,
		.ack_psn_offset = pr ? 0 : (int16_t)bits(16),
		.probe_id = pr ? (uint16_t)bits(16) : 0,
		.entropy = bits(32),
		.spdcid = (uint16_t)bits(16),
		.dpdcid = (uint16_t)bits(16),
		.cack_psn = p->bth.psn,
		.cc_fl = (uint8_t)bits(4),
		.mpr = (uint8_t)bits(8),
		.sack_offset = (int16_t)bits(16),
		.sack_bitmap = test_rand(),
		.tx_timestamp = (uint16_t)bits(16),
		.ooo_count = (uint16_t)bits(15),
		.restore_cwnd = bits(1),
		.rcv_cwnd_pen = (uint8_t)bits(7),
		.rcvd_bytes = bits(24),
	};
}

static void fill_nack(struct mw_packet *p)
{
	p->neth = (struct mw_neth){
		.reason = (uint8_t)bits(8),
		.vendor_info = (uint8_t)bits(8),
		.entropy = bits(32),
		.spdcid = (uint16_t)bits(16),
		.dpdcid = (uint16_t)bits(16),
		.nack_psn = bits(24),
		.cc_type = 2,
		.cc_fl = (uint8_t)bits(4),
		.tx_timestamp = (uint16_t)bits(16),
	};
}

static void fill(struct mw_packet *p, uint8_t opcode)
{
	*p = (struct mw_packet){.bth = {.opcode = opcode,
					.se = bits(1),
					.p_key = (uint16_t)bits(16),
					.dqp = bits(24),
					.a = bits(1),
					.rtx = bits(1),
					.psn = bits(24)}};
	if (mw_opcode_info(opcode)->flags & MW_OP_DATA)
		fill_data(p);
	else if (opcode == MW_ACK)
		p->aeth = (struct mw_aeth){.syndrome = (uint8_t)bits(8), .msn = bits(24)};
	else if (opcode == MW_SACK)
		fill_sack(p);
	else if (opcode == MW_NACK)
		fill_nack(p);
	else if (opcode == MW_PROBE)
		p->peth = (struct mw_peth){(uint8_t)bits(8),   (uint16_t)bits(16), 0,
					   (uint16_t)bits(16), (uint16_t)bits(16), stamp()};
	else if (opcode == MW_EP_REQUEST)
		p->erth = (struct mw_erth){(uint8_t)bits(2), (uint8_t)bits(8), bits(32), stamp()};
	else
		p->eeth = (struct mw_eeth){.op = (uint8_t)bits(2),
					   .tx_timestamp = (uint16_t)bits(16)};
}

/* REQ(sim.frame) */
TEST(ms_frame_pack, loses_nothing)
{
	static const uint8_t opcodes[] = {
		MW_WRITE_FIRST, MW_WRITE_MIDDLE,   MW_WRITE_LAST, MW_WRITE_LAST_IMM,
		MW_WRITE_ONLY,	MW_WRITE_ONLY_IMM, MW_ACK,	  MW_SACK,
		MW_NACK,	MW_PROBE,	   MW_EP_REQUEST, MW_EP_RESPONSE};

	for (unsigned n = 0; n < 20000; n++) {
		struct mw_packet sent, got;
		uint8_t a[MW_HEADERS_MAX], b[MW_HEADERS_MAX];
		struct ms_packet record;
		size_t len;

		fill(&sent, opcodes[n % sizeof(opcodes)]);
		memset(&record, 0xAA, sizeof(record));
		memset(&got, 0x55, sizeof(got));
		ms_frame_pack(&sent, &record);
		ms_frame_unpack(&record, &got);
		len = mw_packet_encode(&sent, a);
		assert_u_eq(mw_packet_encode(&got, b), len);
		assert_bytes_eq(b, a, len);
		assert_u_eq(got.payload_len, sent.payload_len);
		assert_u_eq(ms_frame_bytes(&sent), len + sent.payload_len + sent.bth.pad);
		assert_u_eq(ms_frame_dqp(&record), sent.bth.dqp);
		assert_u_eq(got.bth.opcode, sent.bth.opcode);
	}
}
