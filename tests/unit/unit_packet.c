/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole packets: layouts against bytes written by hand from the format tables, every field distinct
 * and not zero; then each verdict, reserved bits, cut packets, and what the encoder asserts.
 */
#include "support/test.h"

#include "support/packet.h"
#include "unit/panic.h"
#include "wire/packet.h"

/* A packet and its headers, the one and the other written by hand; decode one, encode the other. */
static void check_both_ways(const struct mw_packet *pkt, const uint8_t *headers, size_t len)
{
	uint8_t bytes[256] = {0};
	uint8_t out[MW_HEADERS_MAX];
	struct mw_packet decoded;
	size_t headers_len = 0;

	assert_u_eq(mw_packet_encode(pkt, out), len);
	assert_bytes_eq(out, headers, len);

	memcpy(bytes, headers, len);
	assert_u_eq(packet_decode_exact(bytes, len + pkt->payload_len + pkt->bth.pad, false,
					&decoded, &headers_len),
		    MW_OK);
	assert_u_eq(headers_len, len);
	assert_ptr_equal(packet_difference(&decoded, pkt), NULL);
}

/* Bytes as on the wire, a line for each field or group of fields. */
/* clang-format off */

static const uint8_t write_bytes[] = {
	0xC9, 0xE0, 0x12, 0x34, 0xAB, 0x01, 0x02, 0x03,	/* opcode, se m pad=2, p_key .. dqp */
	0xF5, 0x0A, 0x0B, 0x0C,				/* a r rtx ts inv_res=5, psn */
	0x11, 0x22, 0x33, 0x44,				/* rqmsn, msn */
	0x55, 0x66, 0x80, 0x01,				/* tx_timestamp, tsr, ftype */
	0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,	/* va */
	0x51, 0x52, 0x53, 0x54,				/* rkey */
	0x61, 0x62, 0x63, 0x64,				/* dmalen */
	0x71, 0x72, 0x73, 0x74,				/* imm */
};

static const uint8_t sack_bytes[] = {
	0xDC, 0x00, 0xFF, 0xFF, 0x00, 0x01, 0x02, 0x03, 0x20, 0x0A, 0x0B, 0x0C,
	0x00, 0x40, 0xFF, 0xFE,				/* m=2, ack_psn_offset=-2 */
	0x81, 0x82, 0x83, 0x84,				/* entropy */
	0x91, 0x92, 0xA1, 0xA2,				/* spdcid, dpdcid */
	0x00, 0x0A, 0x0B, 0x0C,				/* cack_psn */
	0x3C, 0x08, 0xFF, 0xC0,				/* cc_type cc_fl, mpr, sack_offset=-64 */
	0xB1, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8,	/* sack_bitmap */
	0xC1, 0xC2, 0x51, 0x52,				/* tx_timestamp, ooo_count */
	0xE4, 0xD1, 0xD2, 0xD3,				/* restore_cwnd, pen=0x64, rcvd_bytes */
};

static const uint8_t nack_bytes[] = {
	0xDD, 0x00, 0xFF, 0xFF, 0x00, 0x01, 0x02, 0x03, 0x00, 0x0A, 0x0B, 0x0C,
	0x00, 0x00, 0x0B, 0x77,				/* reason, vendor_info */
	0x81, 0x82, 0x83, 0x84,				/* entropy */
	0x91, 0x92, 0xA1, 0xA2,				/* spdcid, dpdcid */
	0x00, 0x1A, 0x1B, 0x1C,				/* nack_psn */
	0x2D, 0x00, 0xC1, 0xC2,				/* cc_type=2 cc_fl=13, tx_timestamp */
};

static const uint8_t probe_bytes[] = {
	0xDE, 0x00, 0xFF, 0xFF, 0x00, 0x01, 0x02, 0x03, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x78,				/* vendor_info */
	0x21, 0x22, 0x00, 0x00,				/* probe_id */
	0x91, 0x92, 0xA1, 0xA2,				/* spdcid, dpdcid */
	0xC1, 0xC2, 0x80, 0x01,				/* tx_timestamp, tsr, ftype */
};

static const uint8_t ep_request_bytes[] = {
	0xD8, 0x00, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x0B, 0x0C,
	0x00, 0x01, 0x00, 0x79,				/* op, vendor_info */
	0xE1, 0xE2, 0xE3, 0xE4,				/* port_status_mask */
	0x00, 0x00, 0x00, 0x00,
	0xC1, 0xC2, 0x00, 0x01,				/* tx_timestamp, ftype */
};

static const uint8_t ep_response_bytes[] = {
	0xD9, 0x00, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x0B, 0x0C,
	0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,	/* op=1 */
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00,
	0xC1, 0xC2, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,	/* tx_timestamp */
};

static const uint8_t ack_bytes[] = {
	0xD1, 0x80, 0xFF, 0xFF, 0x00, 0x01, 0x02, 0x03, 0x00, 0x0A, 0x0B, 0x0C,
	0x1F, 0x31, 0x32, 0x33,				/* syndrome, msn */
};

/* clang-format on */

static struct mw_bth bth_of(uint8_t opcode, uint32_t dqp, uint32_t psn)
{
	return (struct mw_bth){.opcode = opcode, .p_key = 0xFFFF, .dqp = dqp, .psn = psn};
}

/* REQ(wire.bth.layout) REQ(wire.bth.se-mig) REQ(wire.bth.ackreq) REQ(wire.bth.rtx)
 * REQ(wire.bth.ts) REQ(wire.bth.pad) REQ(wire.meth.layout) REQ(wire.tseth.layout)
 * REQ(wire.tseth.position) REQ(wire.reth.every-packet) REQ(wire.immdt.layout) */
TEST(mw_packet, write_layout)
{
	struct mw_packet pkt = {
		.bth = {.opcode = MW_WRITE_LAST_IMM,
			.se = true,
			.m = true,
			.pad = 2,
			.p_key = 0x1234,
			.var_res = 0xAB,
			.dqp = 0x010203,
			.a = true,
			.r = true,
			.rtx = true,
			.ts = true,
			.inv_res = 5,
			.psn = 0x0A0B0C},
		.data = {.meth = {.rqmsn = 0x1122, .msn = 0x3344},
			 .tseth = {.tx_timestamp = 0x5566, .tsr = true, .ftype = 1},
			 .reth = {.va = 0x4142434445464748,
				  .rkey = 0x51525354,
				  .dmalen = 0x61626364},
			 .imm = 0x71727374},
		.payload_len = 30,
	};

	check_both_ways(&pkt, write_bytes, sizeof(write_bytes));
}

/* Each bit of BTH bytes 1 and 8 alone, so that no two flags can have changed places. */
TEST(mw_packet, write_each_flag)
{
	struct mw_packet pkt;
	uint8_t bytes[sizeof(write_bytes)];
	size_t headers_len;

	memcpy(bytes, write_bytes, sizeof(bytes));
	for (unsigned bit = 0; bit < 16; bit++) {
		bytes[1] = (uint8_t)((1u << bit) >> 8);
		bytes[8] = (uint8_t)(1u << bit);
		if (bytes[1] != 0 && bytes[1] < 0x10)
			continue; /* the transport version */
		assert_u_eq(mw_packet_decode(bytes, sizeof(bytes), true, &pkt, &headers_len),
			    MW_OK);
		assert_u_eq(pkt.bth.se, bit == 15);
		assert_u_eq(pkt.bth.m, bit == 14);
		assert_u_eq(pkt.bth.pad, bytes[1] >> 4 & 3);
		assert_u_eq(pkt.bth.a, bit == 7);
		assert_u_eq(pkt.bth.r, bit == 6);
		assert_u_eq(pkt.bth.rtx, bit == 5);
		assert_u_eq(pkt.bth.ts, bit == 4);
		assert_u_eq(pkt.bth.inv_res, bytes[8] & 0xF);
	}
}

/* REQ(wire.seth.layout) REQ(wire.seth.ack-psn-offset) REQ(wire.ccstate.layout) */
TEST(mw_packet, sack_layout)
{
	struct mw_packet pkt = {
		.bth = bth_of(MW_SACK, 0x010203, 0x0A0B0C),
		.seth = {.m = MW_MARK_ALWAYS_SKIP,
			 .ack_psn_offset = -2,
			 .entropy = 0x81828384,
			 .spdcid = 0x9192,
			 .dpdcid = 0xA1A2,
			 .cack_psn = 0x0A0B0C,
			 .cc_type = 3,
			 .cc_fl = 12,
			 .mpr = 8,
			 .sack_offset = -64,
			 .sack_bitmap = 0xB1B2B3B4B5B6B7B8,
			 .tx_timestamp = 0xC1C2,
			 .ooo_count = 0x5152,
			 .restore_cwnd = true,
			 .rcv_cwnd_pen = 0x64,
			 .rcvd_bytes = 0xD1D2D3},
	};

	pkt.bth.rtx = true;
	check_both_ways(&pkt, sack_bytes, sizeof(sack_bytes));
}

/* REQ(wire.seth.probe-id) */
TEST(mw_packet, sack_of_a_probe_carries_its_id)
{
	uint8_t bytes[sizeof(sack_bytes)];
	struct mw_packet pkt;
	size_t headers_len;

	memcpy(bytes, sack_bytes, sizeof(bytes));
	bytes[13] = 0x02;
	assert_u_eq(mw_packet_decode(bytes, sizeof(bytes), false, &pkt, &headers_len), MW_OK);
	assert_true(pkt.seth.pr);
	assert_u_eq(pkt.seth.m, MW_MARK_NONE);
	assert_u_eq(pkt.seth.probe_id, 0xFFFE);
	assert_i_eq(pkt.seth.ack_psn_offset, 0);

	pkt.seth.ack_psn_offset = 77; /* not on the wire */
	check_both_ways(&pkt, bytes, sizeof(bytes));
}

/* REQ(wire.neth.layout) */
TEST(mw_packet, nack_layout)
{
	struct mw_packet pkt = {
		.bth = bth_of(MW_NACK, 0x010203, 0x0A0B0C),
		.neth = {.reason = MW_NACK_PSN_OOR_WINDOW,
			 .vendor_info = 0x77,
			 .entropy = 0x81828384,
			 .spdcid = 0x9192,
			 .dpdcid = 0xA1A2,
			 .nack_psn = 0x1A1B1C,
			 .cc_type = 2,
			 .cc_fl = 13,
			 .tx_timestamp = 0xC1C2},
	};

	check_both_ways(&pkt, nack_bytes, sizeof(nack_bytes));
}

/* REQ(wire.peth.layout) */
TEST(mw_packet, probe_layout)
{
	struct mw_packet pkt = {
		.bth = bth_of(MW_PROBE, 0x010203, 0),
		.peth = {.vendor_info = 0x78,
			 .probe_id = 0x2122,
			 .spdcid = 0x9192,
			 .dpdcid = 0xA1A2,
			 .ts = {.tx_timestamp = 0xC1C2, .tsr = true, .ftype = 1}},
	};

	check_both_ways(&pkt, probe_bytes, sizeof(probe_bytes));
}

/* REQ(wire.erth.layout) REQ(wire.erth.op) */
TEST(mw_packet, ep_request_layout)
{
	struct mw_packet pkt = {
		.bth = bth_of(MW_EP_REQUEST, 2, 0x0B0C),
		.erth = {.op = MW_EP_EV_PROBE,
			 .vendor_info = 0x79,
			 .port_status_mask = 0xE1E2E3E4,
			 .ts = {.tx_timestamp = 0xC1C2, .ftype = 1}},
	};

	check_both_ways(&pkt, ep_request_bytes, sizeof(ep_request_bytes));
}

/* REQ(wire.eeth.layout) REQ(wire.eeth.op) */
TEST(mw_packet, ep_response_layout)
{
	struct mw_packet pkt = {
		.bth = bth_of(MW_EP_RESPONSE, 2, 0x0B0C),
		.eeth = {.op = MW_EP_EV_PROBE, .tx_timestamp = 0xC1C2},
	};

	check_both_ways(&pkt, ep_response_bytes, sizeof(ep_response_bytes));
}

/* REQ(wire.aeth.layout) */
TEST(mw_packet, ack_layout)
{
	struct mw_packet pkt = {
		.bth = bth_of(MW_ACK, 0x010203, 0x0A0B0C),
		.aeth = {.syndrome = 0x1F, .msn = 0x313233},
	};

	pkt.bth.se = true;
	check_both_ways(&pkt, ack_bytes, sizeof(ack_bytes));
}

static enum mw_verdict verdict_of(const uint8_t *bytes, size_t len, bool cut)
{
	struct mw_packet pkt;
	size_t headers_len;

	return packet_decode_exact(bytes, len, cut, &pkt, &headers_len);
}

/* The first bytes of a valid packet of an opcode, timestamp types included, nothing else set. */
static void minimal(uint8_t opcode, bool ts, uint8_t bytes[MW_HEADERS_MAX])
{
	struct mw_packet pkt = {.bth = bth_of(opcode, 1, 2)};

	pkt.bth.ts = ts;
	if (packet_is_data(opcode))
		pkt.data.tseth.ftype = 1;
	else if (opcode == MW_PROBE || opcode == MW_RESPONSE_PROBE)
		pkt.peth.ts.ftype = 1;
	else if (opcode == MW_EP_REQUEST)
		pkt.erth.ts.ftype = 1;
	memset(bytes, 0, MW_HEADERS_MAX);
	mw_packet_encode(&pkt, bytes);
}

TEST(mw_packet_decode, every_prefix_of_every_opcode_is_short)
{
	uint8_t bytes[MW_HEADERS_MAX];

	for (size_t i = 0; i < PACKET_OPCODES; i++) {
		for (int ts = 0; ts < 2; ts++) {
			size_t whole = packet_headers_len(packet_opcodes[i], ts);

			minimal(packet_opcodes[i], ts, bytes);
			for (size_t len = 0; len < whole; len++)
				assert_u_eq(verdict_of(bytes, len, false), MW_SHORT);
			assert_u_eq(verdict_of(bytes, whole, false), MW_OK);
		}
	}
}

/* REQ(wire.opcode.unknown) REQ(wire.opcode.values) REQ(wire.opcode.prefix) */
TEST(mw_packet_decode, only_the_opcodes_of_mrc_and_the_extension)
{
	uint8_t bytes[64] = {0};
	unsigned known = 0;

	for (unsigned opcode = 0; opcode < 256; opcode++) {
		bytes[0] = (uint8_t)opcode;
		known += verdict_of(bytes, sizeof(bytes), false) != MW_OPCODE;
	}
	assert_u_eq(known, PACKET_OPCODES);
	for (size_t i = 0; i < PACKET_OPCODES; i++) {
		bytes[0] = packet_opcodes[i];
		assert_true(verdict_of(bytes, sizeof(bytes), false) != MW_OPCODE);
	}
}

/* REQ(wire.bth.tver) */
TEST(mw_packet_decode, other_transport_versions)
{
	uint8_t bytes[MW_HEADERS_MAX];

	for (size_t i = 0; i < PACKET_OPCODES; i++) {
		size_t len = packet_headers_len(packet_opcodes[i], false);

		minimal(packet_opcodes[i], false, bytes);
		for (uint8_t tver = 1; tver < 16; tver++) {
			bytes[1] = tver;
			assert_u_eq(verdict_of(bytes, len, false), MW_TVER);
			assert_u_eq(verdict_of(bytes, len, true), MW_TVER);
		}
	}
}

/* REQ(wire.bth.pad) */
TEST(mw_packet_decode, pad_is_part_of_what_follows)
{
	uint8_t bytes[64];
	struct mw_packet pkt;
	size_t headers_len;

	minimal(MW_WRITE_ONLY, false, bytes);
	bytes[1] = 3 << 4;
	for (size_t len = 32; len < 35; len++)
		assert_u_eq(verdict_of(bytes, len, false), MW_PAD);
	assert_u_eq(packet_decode_exact(bytes, 35, false, &pkt, &headers_len), MW_OK);
	assert_u_eq(pkt.payload_len, 0);
	assert_u_eq(packet_decode_exact(bytes, 48, false, &pkt, &headers_len), MW_OK);
	assert_u_eq(pkt.payload_len, 13);
	assert_u_eq(headers_len, 32);
}

TEST(mw_packet_decode, control_packets_have_no_pad)
{
	uint8_t bytes[MW_HEADERS_MAX];

	for (size_t i = 0; i < PACKET_OPCODES; i++) {
		if (packet_is_data(packet_opcodes[i]))
			continue;
		minimal(packet_opcodes[i], false, bytes);
		bytes[1] = 1 << 4;
		assert_u_eq(verdict_of(bytes, packet_headers_len(packet_opcodes[i], false), false),
			    MW_PAD);
	}
}

TEST(mw_packet_decode, control_packets_have_no_payload)
{
	uint8_t bytes[MW_HEADERS_MAX + 1] = {0};

	for (size_t i = 0; i < PACKET_OPCODES; i++) {
		size_t len = packet_headers_len(packet_opcodes[i], false);

		if (packet_is_data(packet_opcodes[i]))
			continue;
		minimal(packet_opcodes[i], false, bytes);
		assert_u_eq(verdict_of(bytes, len + 1, false), MW_LENGTH);
		assert_u_eq(verdict_of(bytes, len + 1, true), MW_LENGTH);
	}
}

TEST(mw_packet_decode, type_and_next_header_are_zero)
{
	static const uint8_t opcodes[] = {MW_SACK, MW_NACK, MW_PROBE, MW_EP_REQUEST,
					  MW_EP_RESPONSE};
	uint8_t bytes[MW_HEADERS_MAX];

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		size_t len = packet_headers_len(opcodes[i], false);

		minimal(opcodes[i], false, bytes);
		for (unsigned bit = 7; bit < 16; bit++) {
			bytes[12] = (uint8_t)(1u << bit >> 8);
			bytes[13] = (uint8_t)(1u << bit & 0x80);
			assert_u_eq(verdict_of(bytes, len, false), MW_HEADER);
		}
	}
}

/* REQ(wire.tseth.layout) */
TEST(mw_packet_decode, timestamp_type_is_one)
{
	static const struct {
		uint8_t opcode;
		uint8_t at;
	} cases[] = {{MW_WRITE_ONLY, 19}, {MW_PROBE, 27}, {MW_EP_REQUEST, 27}};
	uint8_t bytes[MW_HEADERS_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = packet_headers_len(cases[i].opcode, true);

		minimal(cases[i].opcode, true, bytes);
		for (uint8_t ftype = 0; ftype < 16; ftype++) {
			enum mw_verdict want = ftype == 1 ? MW_OK : MW_HEADER;

			bytes[cases[i].at] = ftype;
			assert_u_eq(verdict_of(bytes, len, false), want);
			assert_u_eq(verdict_of(bytes, len, true), want);
		}
	}
}

/* A value that MRC does not define, in a field that does not change how the rest is read, is
 * kept. */
TEST(mw_packet_decode, keeps_unknown_values)
{
	uint8_t bytes[MW_HEADERS_MAX];
	struct mw_packet pkt;
	size_t headers_len;

	minimal(MW_NACK, false, bytes);
	bytes[14] = 0xEE;
	assert_u_eq(mw_packet_decode(bytes, 32, false, &pkt, &headers_len), MW_OK);
	assert_u_eq(pkt.neth.reason, 0xEE);
	minimal(MW_SACK, false, bytes);
	bytes[13] = 0x60;
	assert_u_eq(mw_packet_decode(bytes, 48, false, &pkt, &headers_len), MW_OK);
	assert_u_eq(pkt.seth.m, 3);
	minimal(MW_EP_RESPONSE, false, bytes);
	bytes[13] = 0x0C;
	assert_u_eq(mw_packet_decode(bytes, 48, false, &pkt, &headers_len), MW_OK);
	assert_u_eq(pkt.eeth.op, 3);
}

/* ts says that a TSETH follows the METH; a control packet has neither. */
TEST(mw_packet_decode, ts_adds_nothing_to_control_packets)
{
	uint8_t bytes[MW_HEADERS_MAX];
	struct mw_packet pkt;
	size_t headers_len;

	minimal(MW_ACK, true, bytes);
	assert_u_eq(packet_decode_exact(bytes, 16, false, &pkt, &headers_len), MW_OK);
	assert_true(pkt.bth.ts);
	assert_u_eq(headers_len, 16);
}

/* A cut packet needs BTH and METH; what is left decides how much else is known. */
TEST(mw_packet_decode, cut_data_at_every_length)
{
	struct mw_packet pkt;
	size_t headers_len = 0;

	for (size_t len = 0; len < 16; len++)
		assert_u_eq(verdict_of(write_bytes, len, true), MW_SHORT);
	for (size_t len = 16; len <= sizeof(write_bytes); len++) {
		assert_u_eq(packet_decode_exact(write_bytes, len, true, &pkt, &headers_len), MW_OK);
		assert_u_eq(headers_len, len);
		assert_u_eq(pkt.payload_len, 0);
		assert_u_eq(pkt.bth.psn, 0x0A0B0C);
		assert_u_eq(pkt.data.meth.msn, 0x3344);
		assert_u_eq(pkt.data.tseth.tx_timestamp, len < 20 ? 0 : 0x5566);
		assert_u_eq(pkt.data.tseth.ftype, len < 20 ? 0 : 1);
		assert_u_eq(pkt.data.reth.va, len < 36 ? 0 : 0x4142434445464748);
		assert_u_eq(pkt.data.reth.rkey, len < 36 ? 0 : 0x51525354);
		assert_u_eq(pkt.data.reth.dmalen, len < 36 ? 0 : 0x61626364);
		assert_u_eq(pkt.data.imm, len < 40 ? 0 : 0x71727374);
	}
}

TEST(mw_packet_decode, cut_data_without_timestamp)
{
	uint8_t bytes[MW_HEADERS_MAX];
	struct mw_packet pkt;
	size_t headers_len;

	minimal(MW_WRITE_MIDDLE, false, bytes);
	bytes[31] = 99; /* the last byte of dmalen */
	assert_u_eq(packet_decode_exact(bytes, 31, true, &pkt, &headers_len), MW_OK);
	assert_u_eq(pkt.data.reth.dmalen, 0);
	assert_u_eq(packet_decode_exact(bytes, 32, true, &pkt, &headers_len), MW_OK);
	assert_u_eq(pkt.data.reth.dmalen, 99);
}

/* The pad was at the end, which is gone: all that is left behind the headers is payload. */
TEST(mw_packet_decode, cut_data_keeps_the_rest_as_payload)
{
	uint8_t bytes[64] = {0};
	struct mw_packet pkt;
	size_t headers_len;

	memcpy(bytes, write_bytes, sizeof(write_bytes));
	assert_u_eq(packet_decode_exact(bytes, sizeof(bytes), true, &pkt, &headers_len), MW_OK);
	assert_u_eq(pkt.bth.pad, 2);
	assert_u_eq(headers_len, 40);
	assert_u_eq(pkt.payload_len, 24);
}

TEST(mw_packet_decode, cut_control_must_be_whole)
{
	assert_u_eq(verdict_of(sack_bytes, sizeof(sack_bytes), true), MW_OK);
	assert_u_eq(verdict_of(sack_bytes, sizeof(sack_bytes) - 1, true), MW_SHORT);
}

#define assert_encode_refuses(field, value)                          \
	do {                                                         \
		struct mw_packet wide = pkt;                         \
		wide.field = (value);                                \
		expect_assert_failure(mw_packet_encode(&wide, out)); \
	} while (0)

TEST(mw_packet_encode, bth_fields_must_fit)
{
	struct mw_packet pkt = {.bth = bth_of(MW_WRITE_ONLY, 0xFFFFFF, 0xFFFFFF)};
	uint8_t out[MW_HEADERS_MAX];

	assert_u_eq(mw_packet_encode(&pkt, out), 32);
	assert_encode_refuses(bth.dqp, 0x1000000);
	assert_encode_refuses(bth.psn, 0x1000000);
	assert_encode_refuses(bth.pad, 4);
	assert_encode_refuses(bth.tver, 16);
	assert_encode_refuses(bth.inv_res, 16);
	assert_encode_refuses(bth.opcode, 0x0A);
}

TEST(mw_packet_encode, sack_fields_must_fit)
{
	struct mw_packet pkt = {.bth = bth_of(MW_SACK, 1, 1)};
	uint8_t out[MW_HEADERS_MAX];

	assert_u_eq(mw_packet_encode(&pkt, out), 48);
	assert_encode_refuses(seth.m, 4);
	assert_encode_refuses(seth.cack_psn, 0x1000000);
	assert_encode_refuses(seth.cc_type, 16);
	assert_encode_refuses(seth.cc_fl, 16);
	assert_encode_refuses(seth.ooo_count, 0x8000);
	assert_encode_refuses(seth.rcv_cwnd_pen, 0x80);
	assert_encode_refuses(seth.rcvd_bytes, 0x1000000);
}

TEST(mw_packet_encode, other_fields_must_fit)
{
	struct mw_packet pkt = {.bth = bth_of(MW_NACK, 1, 1)};
	uint8_t out[MW_HEADERS_MAX];

	assert_encode_refuses(neth.nack_psn, 0x1000000);
	assert_encode_refuses(neth.cc_type, 16);
	assert_encode_refuses(neth.cc_fl, 16);
	pkt.bth.opcode = MW_ACK;
	assert_encode_refuses(aeth.msn, 0x1000000);
	pkt.bth.opcode = MW_EP_REQUEST;
	assert_encode_refuses(erth.op, 4);
	assert_encode_refuses(erth.ts.ftype, 16);
	pkt.bth.opcode = MW_EP_RESPONSE;
	assert_encode_refuses(eeth.op, 4);
	assert_encode_refuses(eeth.op_high, 4);
	pkt.bth.opcode = MW_PROBE;
	assert_encode_refuses(peth.ts.ftype, 16);
}

TEST(mw_verdict_name, all_differ)
{
	for (unsigned a = 0; a < MW_VERDICTS; a++) {
		assert_true(strlen(mw_verdict_name(a)) > 0);
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(mw_verdict_name(a), mw_verdict_name(b));
	}
	assert_string_equal(mw_verdict_name(MW_SHORT), "short");
	expect_assert_failure(mw_verdict_name(MW_VERDICTS));
}
