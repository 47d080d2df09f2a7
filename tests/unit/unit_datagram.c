/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_datagram.c - packets of UD QPs: vectors written by hand, and every way to be wrong. */
#include "support/test.h"

#include "wire/datagram.h"
#include "wire/packet.h"

static const uint8_t plain[] = {
	0x64, 0xB0, 0xFF, 0xFF, 0x00, 0x12, 0x34, 0x56, 0x00, 0x0A, 0x0B, 0x0C, /* BTH */
	0x11, 0x11, 0x11, 0x11, 0x00, 0xAB, 0xCD, 0xEF,				/* DETH */
	'x',  0x00, 0x00, 0x00,							/* payload, pad */
};
static const uint8_t with_imm[] = {
	0x65, 0x00, 0x7F, 0xFF, 0x00, 0x00, 0x00, 0x10, 0x00, 0xFF, 0xFF, 0xFF,
	0x80, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x11, 0xCA, 0xFE, 0xF0, 0x0D,
};

/* REQ(ud.deth) */
TEST(mw_datagram_decode, without_immediate)
{
	struct mw_datagram dg;
	size_t headers;

	assert_int_equal(mw_datagram_decode(plain, sizeof(plain), &dg, &headers), MW_OK);
	assert_u_eq(headers, 20);
	assert_true(dg.se);
	assert_false(dg.with_imm);
	assert_u_eq(dg.pad, 3);
	assert_u_eq(dg.p_key, 0xFFFF);
	assert_u_eq(dg.dqp, 0x123456);
	assert_u_eq(dg.psn, 0x0A0B0C);
	assert_u_eq(dg.q_key, 0x11111111);
	assert_u_eq(dg.src_qpn, 0xABCDEF);
	assert_u_eq(dg.payload_len, 1);
}

TEST(mw_datagram_decode, with_immediate)
{
	struct mw_datagram dg;
	size_t headers;

	assert_int_equal(mw_datagram_decode(with_imm, sizeof(with_imm), &dg, &headers), MW_OK);
	assert_u_eq(headers, 24);
	assert_true(dg.with_imm);
	assert_u_eq(dg.imm, 0xCAFEF00D);
	assert_u_eq(dg.q_key, 0x80010002);
	assert_u_eq(dg.payload_len, 0);
}

static void refused(const uint8_t *good, size_t len, size_t at, uint8_t value,
		    enum mw_verdict verdict)
{
	uint8_t *bytes = malloc(len); /* of its size, so that a read beyond it is noticed */
	struct mw_datagram dg;
	size_t headers;

	assert_non_null(bytes);
	memcpy(bytes, good, len);
	bytes[at] = value;
	assert_int_equal(mw_datagram_decode(bytes, len, &dg, &headers), verdict);
	free(bytes);
}

/* REQ(ud.decode) */
TEST(mw_datagram_decode, what_is_wrong)
{
	refused(plain, 1, 0, 0x64, MW_SHORT);
	refused(plain, 19, 0, 0x64, MW_SHORT);
	refused(plain, 20, 1, 0x30, MW_PAD);
	refused(plain, 22, 1, 0x30, MW_PAD);
	refused(plain, 23, 1, 0x30, MW_OK);
	refused(with_imm, 23, 0, 0x65, MW_SHORT);
	refused(with_imm, 24, 1, 0x10, MW_PAD);
	refused(plain, 24, 1, 0x01, MW_TVER);
	refused(plain, 24, 0, 0x66, MW_OPCODE);
	refused(plain, 24, 0, MW_SEND_ONLY, MW_OPCODE);
}

TEST(mw_datagram_encode, gives_the_vectors)
{
	uint8_t out[MW_DATAGRAM_HEADERS_MAX];
	struct mw_datagram dg;
	size_t headers;

	assert_int_equal(mw_datagram_decode(plain, sizeof(plain), &dg, &headers), MW_OK);
	assert_u_eq(mw_datagram_encode(&dg, out), 20);
	assert_bytes_eq(out, plain, 20);
	assert_int_equal(mw_datagram_decode(with_imm, sizeof(with_imm), &dg, &headers), MW_OK);
	assert_u_eq(mw_datagram_encode(&dg, out), 24);
	assert_bytes_eq(out, with_imm, 24);
}

/* REQ(ud.opcodes) */
TEST(mw_is_datagram, no_packet_of_mrc_is_one)
{
	for (unsigned int op = 0; op < 256; op++) {
		assert_int_equal(mw_is_datagram((uint8_t)op), op == 0x64 || op == 0x65);
		if (mw_is_datagram((uint8_t)op))
			assert_int_equal(mw_opcode_info((uint8_t)op)->flags, 0);
	}
}
