/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * EVs by fields: the nine kinds of profiles that the controller API's expansions show, and fields
 * that are wrong.
 */
#include "support/test.h"

#include "unit/panic.h"
#include "wire/ev_fields.h"

#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))
/* A field whose mask is all of its bits, one without any, one of which some change. */
#define OPEN(bits)                                                                \
	{                                                                         \
		.width = (bits), .mask = (1u << (bits)) - 1, .wire_width = (bits) \
	}
#define FIXED(bits, value)                                             \
	{                                                              \
		.width = (bits), .init = (value), .wire_width = (bits) \
	}
#define SOME(bits, value, most, which, on_wire)                                             \
	{                                                                                   \
		.width = (bits), .init = (value), .min = 1, .max = (most), .mask = (which), \
		.wire_width = (on_wire)                                                     \
	}

static void assert_expands(const struct mw_ev_field *fields, uint32_t n, const char *ev,
			   size_t ev_bytes, const char *want, size_t want_bytes)
{
	uint8_t all[MW_EV_BYTES] = {0}, wire[MW_EV_BYTES], whole[MW_EV_BYTES] = {0};

	assert_true(mw_ev_fields_check(fields, n));
	memcpy(all, ev, ev_bytes);
	memcpy(whole, want, want_bytes);
	mw_ev_fields_expand(fields, n, all, wire);
	assert_bytes_eq(wire, whole, MW_EV_BYTES);
	assert_true(mw_ev_bits_are_zero(all, mw_ev_fields_bits(fields, n)));
}

/* Every generated EV is inside the ranges, and no two are alike. */
static void assert_generates(const struct mw_ev_field *fields, uint32_t n, uint32_t count)
{
	uint8_t ev[64][MW_EV_BYTES];

	assert_true(count <= COUNT(ev) && count <= mw_ev_fields_combinations(fields, n));
	for (uint32_t k = 0; k < count; k++) {
		mw_ev_fields_generate(fields, n, k, count, ev[k]);
		assert_true(mw_ev_bits_are_zero(ev[k], mw_ev_fields_bits(fields, n)));
		for (uint32_t i = 0; i < k; i++)
			assert_memory_not_equal(ev[i], ev[k], MW_EV_BYTES);
	}
}

#define EXPANDS(fields, ev, want) \
	assert_expands(fields, COUNT(fields), ev, sizeof(ev) - 1, want, sizeof(want) - 1)

/* Explicit and generated ones in two fields. REQ(srv6.ev-expansion) */
TEST(mw_ev_fields_expand, structured)
{
	static const struct mw_ev_field fields[] = {OPEN(16), OPEN(16)};

	EXPANDS(fields, "\xf3\xb0\x42\x56", "\xf3\xb0\x42\x56");
	assert_generates(fields, 2, 64);
}

TEST(mw_ev_fields_expand, structured_in_one_field)
{
	static const struct mw_ev_field fields[] = {
		{.width = 32, .mask = UINT32_MAX, .wire_width = 32}};

	EXPANDS(fields, "\x80\x00\x00\x01", "\x80\x00\x00\x01");
	assert_generates(fields, 1, 64);
}

TEST(mw_ev_fields_expand, fixed_bits_stay)
{
	static const struct mw_ev_field fields[] = {SOME(16, 0x100, 15, 0xf, 16),
						    SOME(16, 0x200, 15, 0xf, 16)};

	EXPANDS(fields, "\x5a", "\x01\x05\x02\x0a");
	assert_generates(fields, 2, 64);
}

TEST(mw_ev_fields_expand, a_mask_with_a_hole)
{
	static const struct mw_ev_field fields[] = {SOME(16, 0x1000, 255, 0xf0f, 16),
						    SOME(16, 0x2000, 255, 0xf0f, 16)};

	EXPANDS(fields, "\x33\x12", "\x13\x03\x21\x02");
	assert_generates(fields, 2, 64);
}

/* REQ(wire.ev.srv6-format) */
TEST(mw_ev_fields_expand, locator_and_usids)
{
	static const struct mw_ev_field fields[] = {FIXED(32, 0xcafecafe), OPEN(16), OPEN(16),
						    OPEN(16), OPEN(16)};

	EXPANDS(fields, "12345678",
		"\xca\xfe\xca\xfe"
		"12345678");
}

TEST(mw_ev_fields_expand, fewer_fields_than_the_format)
{
	static const struct mw_ev_field fields[] = {FIXED(32, 0xdeaddead), OPEN(16), OPEN(16)};

	EXPANDS(fields, "1234",
		"\xde\xad\xde\xad"
		"1234");
}

TEST(mw_ev_fields_expand, narrow_fields_stand_at_the_low_end)
{
	static const struct mw_ev_field fields[] = {
		FIXED(32, 0x42424242), SOME(4, 0, 15, 0xf, 16), SOME(4, 0, 15, 0xf, 16),
		SOME(4, 0, 15, 0xf, 16), SOME(4, 0, 15, 0xf, 16)};

	EXPANDS(fields, "\x1f\x2e", "BBBB\x00\x01\x00\x0f\x00\x02\x00\x0e");
	assert_generates(fields, 5, 64);
}

TEST(mw_ev_fields_expand, tiers_fixed_and_their_links_generated)
{
	static const struct mw_ev_field fields[] = {
		FIXED(32, 0x13131313), SOME(16, 0x100, 15, 0xf, 16), SOME(16, 0x200, 15, 0xf, 16),
		SOME(16, 0x300, 15, 0xf, 16), SOME(16, 0x400, 15, 0xf, 16)};

	EXPANDS(fields, "\x1f\x2e", "\x13\x13\x13\x13\x01\x01\x02\x0f\x03\x02\x04\x0e");
	assert_generates(fields, 5, 64);
}

/* REQ(wire.ev.srv6-format) */
TEST(mw_ev_fields_expand, destination_and_segment)
{
	static const struct mw_ev_field fields[] = {
		FIXED(32, 0xcafecafe), OPEN(16), OPEN(16), OPEN(16), OPEN(16), OPEN(16), OPEN(16),
		FIXED(32, 0xdecafbad), OPEN(16), OPEN(16),
	};

	EXPANDS(fields, "abcdefghijklmnop",
		"\xca\xfe\xca\xfe"
		"abcdefghijkl"
		"\xde\xca\xfb\xad"
		"mnop");
}

/* A range of 0 to 0 under a mask is all that the mask has bits for. */
TEST(mw_ev_fields_combinations, ranges)
{
	static const struct mw_ev_field fields[] = {
		FIXED(32, 1),
		OPEN(4),
		{.width = 8, .min = 3, .max = 5, .mask = 0xf, .wire_width = 8}};
	static const struct mw_ev_field wide[] = {
		{.width = 32, .mask = UINT32_MAX, .wire_width = 32}, OPEN(16)};

	assert_u_eq(mw_ev_fields_combinations(fields, 3), UINT64_C(16) * 3);
	assert_u_eq(mw_ev_fields_combinations(wide, 2), UINT32_MAX);
	assert_generates(fields, 3, 48);
	expect_assert_failure(mw_ev_fields_generate(fields, 3, 0, 49, (uint8_t[MW_EV_BYTES]){0}));
}

TEST(mw_ev_fields_check, ranges)
{
	static const struct mw_ev_field wrong[] = {
		{.width = 0, .wire_width = 8},
		{.width = 9, .wire_width = 8},
		{.width = 8, .wire_width = 33},
		{.width = 8, .init = 256, .wire_width = 16},
		{.width = 8, .mask = 256, .wire_width = 16},
		{.width = 8, .min = 2, .max = 1, .mask = 0xf, .wire_width = 16},
		{.width = 8, .max = 16, .mask = 0xf, .wire_width = 16},
	};
	struct mw_ev_field nine[9];

	for (uint32_t i = 0; i < COUNT(wrong); i++)
		assert_false(mw_ev_fields_check(&wrong[i], 1));
	for (uint32_t i = 0; i < COUNT(nine); i++)
		nine[i] = (struct mw_ev_field){.width = 32, .wire_width = 32};
	assert_true(mw_ev_fields_check(nine, 8));
	assert_false(mw_ev_fields_check(nine, 9));
	assert_false(mw_ev_fields_check(nine, 0));
}
