/* SPDX-License-Identifier: BSD-2-Clause */
/* Templates: the paper's rule, in both directions to tell planes apart, and copies that do not
 * exist. */
#include "support/carrier_step.h"
#include "support/test.h"

#include "unit/panic.h"
#include "wire/carrier.h"

/* An EV with the plane above eight bits of T0 uplink. */
#define EV(plane, uplink) ((uint32_t)(plane) << 8 | (uplink))

static struct mw_carrier_template template_of(const uint16_t *usids, uint32_t n)
{
	struct mw_carrier_template t;
	struct mw_carrier base;

	mw_carrier_of(0xfcbb0000, usids, n, &base);
	mw_carrier_template_init(&t, &base);
	return t;
}

/* Where, as `to` of a copy, a field begins that is `shift` bits above the lowest of uSID i. */
static uint8_t usid_bit(uint32_t i, uint32_t shift, uint32_t width)
{
	uint32_t addr = i / MW_USIDS_ADDR_MAX;

	assert_true(i < MW_USIDS_PATH_MAX && shift + width <= MW_USID_BITS);
	return (uint8_t)(addr * 128 + MW_SRV6_BLOCK_BITS + i % MW_USIDS_ADDR_MAX * MW_USID_BITS +
			 MW_USID_BITS - shift - width);
}

static struct mw_carrier_copy copy_to_usid(uint32_t from, uint32_t usid, uint32_t shift,
					   uint32_t width)
{
	return (struct mw_carrier_copy){MW_CARRIER_FROM_EV, (uint8_t)from, (uint8_t)width,
					usid_bit(usid, shift, width)};
}

/* REQ(srv6.ev-planes) */
TEST(mw_carrier_expand, plane_into_each_usid_uplink_into_the_t1)
{
	static const uint16_t base[] = {0x2000, 0x4000, 0x2005, 0x6000};
	struct mw_carrier_template t = template_of(base, 4);
	struct mw_carrier_copy uplink = copy_to_usid(0, 1, 0, 8);
	struct mw_carrier_copy downlink = {MW_CARRIER_FROM_HOST, 0, 8, usid_bit(3, 0, 8)};
	struct mw_usids list;
	struct mw_carrier c;

	for (uint32_t i = 0; i < 4; i++) {
		struct mw_carrier_copy plane = copy_to_usid(8, i, 10, 3);

		assert_true(mw_carrier_template_copy(&t, &plane));
	}
	assert_true(mw_carrier_template_copy(&t, &uplink));
	assert_true(mw_carrier_template_copy(&t, &downlink));
	mw_carrier_expand(&t, &(struct mw_carrier_key){.ev = EV(3, 0xAB), .host = 0x77}, &c);
	assert_true(mw_usids_decode(c.dst, &list));
	assert_u_eq(list.n, 4);
	assert_u_eq(list.usid[0], 0x2C00);
	assert_u_eq(list.usid[1], 0x4CAB);
	assert_u_eq(list.usid[2], 0x2C05);
	assert_u_eq(list.usid[3], 0x6C77);
}

TEST(mw_carrier_expand, plane_picks_the_block)
{
	static const uint16_t base[] = {0xa000, 0xb000, 0xa001, 8};
	struct mw_carrier_template t = template_of(base, 4);
	struct mw_carrier_copy block = {MW_CARRIER_FROM_EV, 8, 8, 24};
	struct mw_carrier_copy uplink = copy_to_usid(0, 1, 0, 8);
	struct mw_usids list;
	struct mw_carrier c;

	assert_true(mw_carrier_template_copy(&t, &block));
	assert_true(mw_carrier_template_copy(&t, &uplink));
	mw_carrier_expand(&t, &(struct mw_carrier_key){.ev = EV(7, 1)}, &c);
	assert_true(mw_usids_decode(c.dst, &list));
	assert_u_eq(list.block, 0xfcbb0007);
	assert_u_eq(list.usid[1], 0xb001);
}

/* A row names its first host; the second T0 of a pod is one more. */
TEST(mw_carrier_expand, adds_what_comes_from_the_destination)
{
	static const uint16_t base[] = {0xa000, 0xb000, 0xa001, 0x10};
	struct mw_carrier_template t = template_of(base, 4);
	struct mw_carrier_copy host = {MW_CARRIER_FROM_HOST, 0, 8, usid_bit(3, 0, 8)};
	struct mw_carrier_copy t0 = {MW_CARRIER_FROM_SUBNET, 0, 4, usid_bit(2, 0, 4)};
	struct mw_usids list;
	struct mw_carrier c;

	assert_true(mw_carrier_template_copy(&t, &host));
	assert_true(mw_carrier_template_copy(&t, &t0));
	mw_carrier_expand(&t, &(struct mw_carrier_key){.host = 0xFE, .subnet = 3}, &c);
	assert_true(mw_usids_decode(c.dst, &list));
	assert_u_eq(list.usid[2], 0xa004);
	assert_u_eq(list.usid[3], 0x0e); /* modulo 2^8 */
}

TEST(mw_carrier_expand, reaches_into_the_segment)
{
	static const uint16_t base[] = {1, 2, 3, 4, 5, 6, 0x700, 0x800};
	struct mw_carrier_template t = template_of(base, 8);
	struct mw_carrier_copy last = copy_to_usid(0, 7, 0, 8);
	struct mw_carrier c;

	assert_true(mw_carrier_template_copy(&t, &last));
	mw_carrier_expand(&t, &(struct mw_carrier_key){.ev = 0x42}, &c);
	assert_true(c.has_segment);
	for (uint32_t i = 0; i < 7; i++)
		assert_u_eq(carrier_step(&c), base[i]);
	assert_u_eq(carrier_step(&c), 0x842);
}

TEST(mw_carrier_template_copy, crosses_a_word)
{
	static const uint16_t base[] = {1};
	struct mw_carrier_template t = template_of(base, 1);
	struct mw_carrier_copy copy = {MW_CARRIER_FROM_EV, 0, 32, 48};
	struct mw_carrier c;

	assert_true(mw_carrier_template_copy(&t, &copy));
	assert_u_eq(t.n_copies, 2);
	mw_carrier_expand(&t, &(struct mw_carrier_key){.ev = 0x12345678}, &c);
	assert_bytes_eq(c.dst + 6, "\x12\x34\x56\x78", 4);
}

TEST(mw_carrier_template_copy, refuses_bits_that_do_not_exist)
{
	static const struct mw_carrier_copy wrong[] = {
		{MW_CARRIER_FROM_EV, 0, 0, 0},	 {MW_CARRIER_FROM_EV, 0, 33, 0},
		{MW_CARRIER_FROM_EV, 25, 8, 0},	 {MW_CARRIER_FROM_HOST, 57, 8, 0},
		{MW_CARRIER_FROM_EV, 0, 8, 121}, {3, 0, 8, 0},
		{MW_CARRIER_FROM_EV, 255, 8, 0}, {MW_CARRIER_FROM_HOST, 0, 8, 60},
	};
	static const uint16_t base[] = {1};
	struct mw_carrier_template t = template_of(base, 1);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(mw_carrier_template_copy(&t, &wrong[i]));
	assert_u_eq(t.n_copies, 0);
}

TEST(mw_carrier_template_copy, has_room_for_so_many)
{
	static const uint16_t base[] = {1};
	struct mw_carrier_template t = template_of(base, 1);
	struct mw_carrier_copy one = {MW_CARRIER_FROM_EV, 0, 1, 0};
	struct mw_carrier_copy two = {MW_CARRIER_FROM_EV, 0, 8, 60};

	for (uint32_t i = 0; i < MW_CARRIER_COPIES_MAX - 1; i++)
		assert_true(mw_carrier_template_copy(&t, &one));
	assert_false(mw_carrier_template_copy(&t, &two));
	assert_u_eq(t.n_copies, MW_CARRIER_COPIES_MAX - 1);
	assert_true(mw_carrier_template_copy(&t, &one));
	assert_false(mw_carrier_template_copy(&t, &one));
}
