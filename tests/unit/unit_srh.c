/* SPDX-License-Identifier: BSD-2-Clause */
/* The segment routing header: what is sent, other people's forms, and bytes that are none. */
#include "support/test.h"

#include "wire/srh.h"

static const uint8_t segment[16] = {0xfc, 0xbb, [5] = 7, [15] = 9};

TEST(mw_srh_encode, reduced_with_one_segment)
{
	static const uint8_t head[8] = {41, 2, 4, 1, 0, 0, 0, 0};
	uint8_t bytes[MW_SRH_BYTES];

	assert_u_eq(mw_srh_encode(41, segment, bytes), 24);
	assert_bytes_eq(bytes, head, 8);
	assert_bytes_eq(bytes + 8, segment, 16);
}

/* REQ(srv6.srh) */
TEST(mw_srh_decode, undoes_encode)
{
	uint8_t bytes[MW_SRH_BYTES];
	struct mw_srh srh;

	mw_srh_encode(17, segment, bytes);
	assert_u_eq(mw_srh_decode(bytes, sizeof(bytes), &srh), MW_SRH_OK);
	assert_u_eq(srh.next, 17);
	assert_u_eq(srh.n, 1);
	assert_u_eq(srh.left, 1);
	assert_u_eq(srh.bytes, 24);
	assert_bytes_eq(srh.segments, segment, 16);
}

TEST(mw_srh_decode, whole_list_with_a_tlv)
{
	uint8_t bytes[8 + 32 + 8] = {41, 5, 4, 0, 1, 0x80, 0x12, 0x34};
	struct mw_srh srh;

	assert_u_eq(mw_srh_decode(bytes, sizeof(bytes), &srh), MW_SRH_OK);
	assert_u_eq(srh.n, 2);
	assert_u_eq(srh.left, 0);
	assert_u_eq(srh.flags, 0x80);
	assert_u_eq(srh.tag, 0x1234);
	assert_u_eq(srh.bytes, sizeof(bytes));
}

TEST(mw_srh_decode, names_what_is_wrong)
{
	uint8_t bytes[24] = {41, 2, 4, 1, 0};
	struct mw_srh srh;

	assert_u_eq(mw_srh_decode(bytes, 7, &srh), MW_SRH_SHORT);
	assert_u_eq(mw_srh_decode(bytes, 23, &srh), MW_SRH_SHORT);
	bytes[4] = 1;
	assert_u_eq(mw_srh_decode(bytes, 24, &srh), MW_SRH_LIST);
	bytes[4] = 0;
	bytes[3] = 2;
	assert_u_eq(mw_srh_decode(bytes, 24, &srh), MW_SRH_LEFT);
	bytes[2] = 2;
	assert_u_eq(mw_srh_decode(bytes, 24, &srh), MW_SRH_NOT_TYPE);
	assert_u_eq(srh.next, 41);
	assert_u_eq(srh.bytes, 24);
}

TEST(mw_srh_decode, last_entry_255_is_a_list_too_long)
{
	uint8_t bytes[2048] = {41, 255, 4, 0, 255};
	struct mw_srh srh;

	assert_u_eq(mw_srh_decode(bytes, sizeof(bytes), &srh), MW_SRH_LIST);
	bytes[4] = 126; /* 127 segments fit 256 units of 8 bytes */
	bytes[3] = 127;
	assert_u_eq(mw_srh_decode(bytes, sizeof(bytes), &srh), MW_SRH_OK);
	assert_u_eq(srh.n, MW_SRH_SEGMENTS_MAX);
}

TEST(mw_srh_verdict_name, each_has_words)
{
	for (int v = MW_SRH_OK; v <= MW_SRH_LEFT; v++)
		assert_true(strlen(mw_srh_verdict_name((enum mw_srh_verdict)v)) > 1);
}
