/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of uSIDs as addresses, and what the nodes of a path do to them. */
#include "support/carrier_step.h"
#include "support/test.h"

#include "unit/panic.h"
#include "wire/srv6.h"

static const uint16_t path[] = {0xa000, 0xb001, 0xa001, 0x8,	0xc000,
				0xc001, 0xd000, 0xd001, 0xd002, 0xd003};

/* REQ(srv6.format) */
TEST(mw_usids_encode, block_then_usids_then_zeros)
{
	static const uint8_t want[16] = {0xfc, 0xbb, 0xbb, 0, 0xa0, 0, 0xb0, 1, 0xa0, 1, 0, 8};
	struct mw_usids list = {0xfcbbbb00, 4, {0xa000, 0xb001, 0xa001, 8}};
	uint8_t addr[16];

	mw_usids_encode(&list, addr);
	assert_bytes_eq(addr, want, 16);
}

/* REQ(srv6.capacity) */
TEST(mw_usids_encode, holds_six)
{
	struct mw_usids list = {1, 6, {1, 2, 3, 4, 5, 6}};
	uint8_t addr[16];

	mw_usids_encode(&list, addr);
	assert_u_eq(addr[15], 6);
	list.n = 7;
	expect_assert_failure(mw_usids_encode(&list, addr));
}

TEST(mw_usids_encode, refuses_the_end_in_the_middle)
{
	struct mw_usids list = {1, 3, {1, 0, 3}};
	uint8_t addr[16];

	expect_assert_failure(mw_usids_encode(&list, addr));
}

TEST(mw_usids_decode, ends_at_the_first_zero)
{
	static const uint8_t addr[16] = {0xfc, 0xbb, 0, 1, 0xa0, 0, 0, 8};
	struct mw_usids list;

	assert_true(mw_usids_decode(addr, &list));
	assert_u_eq(list.block, 0xfcbb0001);
	assert_u_eq(list.n, 2);
	assert_u_eq(list.usid[0], 0xa000);
	assert_u_eq(list.usid[1], 8);
}

TEST(mw_usids_decode, tells_what_is_no_list)
{
	static const uint8_t addr[16] = {0xfc, 0xbb, 0, 1, 0xa0, 0, 0, 0, [15] = 1};
	struct mw_usids list;

	assert_false(mw_usids_decode(addr, &list));
	assert_u_eq(list.n, 1);
}

/* REQ(srv6.shift) */
TEST(mw_usid_shift, keeps_the_block_and_fills_with_zeros)
{
	struct mw_usids list = {0xfcbbbb00, 6, {1, 2, 3, 4, 5, 6}};
	struct mw_usids want = {0xfcbbbb00, 5, {2, 3, 4, 5, 6}};
	uint8_t addr[16], shifted[16];

	mw_usids_encode(&list, addr);
	mw_usids_encode(&want, shifted);
	assert_u_eq(mw_usid_shift(addr), 1);
	assert_bytes_eq(addr, shifted, 16);
	assert_u_eq(mw_usid_first(addr), 2);
}

TEST(mw_usid_shift, of_an_empty_list_changes_nothing)
{
	uint8_t addr[16] = {1, 2, 3, 4}, want[16] = {1, 2, 3, 4};

	assert_u_eq(mw_usid_shift(addr), 0);
	assert_bytes_eq(addr, want, 16);
}

/* REQ(srv6.path) REQ(srv6.capacity) */
TEST(mw_carrier_of, every_length_is_walked_to_its_end)
{
	for (uint32_t n = 1; n <= MW_USIDS_PATH_MAX; n++) {
		struct mw_carrier c;

		mw_carrier_of(0xfcbb0000, path, n, &c);
		assert_u_eq(c.has_segment, n > 6);
		for (uint32_t i = 0; i < n; i++)
			assert_u_eq(carrier_step(&c), path[i]);
		assert_u_eq(carrier_step(&c), 0);
		assert_u_eq(c.dst[0], 0xfc);
	}
}

TEST(mw_carrier_of, refuses_none_and_too_many)
{
	struct mw_carrier c;

	expect_assert_failure(mw_carrier_of(1, path, 0, &c));
	expect_assert_failure(mw_carrier_of(1, path, MW_USIDS_PATH_MAX + 1, &c));
}
