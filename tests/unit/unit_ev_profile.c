/* SPDX-License-Identifier: BSD-2-Clause */
/* EVs by fields: the kinds of profiles that the API's examples show, and profiles that are
 * wrong. */
#include "support/test.h"

#include "unit/panic.h"
#include "wire/ev_profile.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
/* A field whose mask is all of its bits, and one without any. */
#define OPEN(width_)                                                                    \
	{                                                                               \
		.wire_width = (width_), .width = (width_), .mask = (1u << (width_)) - 1 \
	}
#define FIXED(width_, value)                                               \
	{                                                                  \
		.wire_width = (width_), .width = (width_), .init = (value) \
	}

static void assert_expands(const struct mw_ev_field *fields, size_t n, const uint8_t *ev,
			   size_t ev_bytes, const char *want, size_t want_bytes)
{
	uint8_t all[MW_EV_BYTES] = {0}, wire[MW_EV_BYTES], whole[MW_EV_BYTES] = {0};
	size_t wrong;

	assert_u_eq(mw_ev_profile_check(fields, n, &wrong), MW_EV_PROFILE_OK);
	memcpy(all, ev, ev_bytes);
	memcpy(whole, want, want_bytes);
	mw_ev_profile_expand(fields, n, all, wire);
	assert_bytes_eq(wire, whole, MW_EV_BYTES);
}

/* REQ(srv6.ev-expansion) */
TEST(mw_ev_profile_expand, structured)
{
	static const struct mw_ev_field fields[] = {OPEN(16), OPEN(16)};

	assert_expands(fields, 2, (const uint8_t *)"\xf3\xb0\x42\x56", 4, "\xf3\xb0\x42\x56", 4);
}

TEST(mw_ev_profile_expand, fixed_bits_stay)
{
	static const struct mw_ev_field fields[] = {
		{16, 16, 0x100, 1, 15, 0xf},
		{16, 16, 0x200, 1, 15, 0xf},
	};

	assert_expands(fields, 2, (const uint8_t *)"\x5a", 1, "\x01\x05\x02\x0a", 4);
}

TEST(mw_ev_profile_expand, mask_with_a_hole)
{
	static const struct mw_ev_field fields[] = {
		{16, 16, 0x1000, 1, 255, 0xf0f},
		{16, 16, 0x2000, 1, 255, 0xf0f},
	};

	assert_expands(fields, 2, (const uint8_t *)"\x33\x12", 2, "\x13\x03\x21\x02", 4);
}

/* REQ(wire.ev.srv6-format) */
TEST(mw_ev_profile_expand, locator_and_usids)
{
	static const struct mw_ev_field fields[] = {FIXED(32, 0xcafecafe), OPEN(16), OPEN(16),
						    OPEN(16), OPEN(16)};

	assert_expands(fields, 5, (const uint8_t *)"12345678", 8,
		       "\xca\xfe\xca\xfe"
		       "12345678",
		       12);
}

TEST(mw_ev_profile_expand, missing_fields_are_zero)
{
	static const struct mw_ev_field fields[] = {FIXED(32, 0xdeaddead), OPEN(16), OPEN(16)};

	assert_expands(fields, 3, (const uint8_t *)"1234", 4,
		       "\xde\xad\xde\xad"
		       "1234",
		       8);
}

TEST(mw_ev_profile_expand, narrow_fields_stand_at_the_low_end)
{
	static const struct mw_ev_field fields[] = {
		FIXED(32, 0x42424242),	{16, 4, 0, 1, 15, 0xf}, {16, 4, 0, 1, 15, 0xf},
		{16, 4, 0, 1, 15, 0xf}, {16, 4, 0, 1, 15, 0xf},
	};

	assert_expands(fields, 5, (const uint8_t *)"\x1f\x2e", 2,
		       "BBBB\x00\x01\x00\x0f\x00\x02\x00\x0e", 12);
}

/* REQ(wire.ev.srv6-format) REQ(srv6.capacity) */
TEST(mw_ev_profile_expand, destination_and_segment)
{
	static const struct mw_ev_field fields[] = {
		FIXED(32, 0xcafecafe), OPEN(16), OPEN(16), OPEN(16), OPEN(16), OPEN(16), OPEN(16),
		FIXED(32, 0xdecafbad), OPEN(16), OPEN(16),
	};

	assert_expands(fields, 10, (const uint8_t *)"abcdefghijklmnop", 16,
		       "\xca\xfe\xca\xfe"
		       "abcdefghijkl"
		       "\xde\xca\xfb\xad"
		       "mnop",
		       24);
}

/* T0 8 bits, T1 4 bits, T2 4 bits: what is used of an EV is what is left of it. */
TEST(mw_ev_profile_template, source_routed_tiers)
{
	static const struct mw_ev_field fields[] = {
		FIXED(32, 0xfcbb0000),
		{16, 16, 0xb000, 0, 255, 0xff},
		{16, 16, 0xc000, 0, 15, 0xf},
		{16, 16, 0xd000, 0, 15, 0xf},
	};
	struct mw_carrier_template t;
	struct mw_carrier c;

	assert_u_eq(mw_ev_profile_bits(fields, 4), 16);
	assert_true(mw_ev_profile_template(fields, 4, &t));
	mw_carrier_expand(&t, &(struct mw_carrier_key){.ev = 0xB3750000}, &c);
	assert_bytes_eq(c.dst, "\xfc\xbb\x00\x00\xb0\xb3\xc0\x07\xd0\x05\x00\x00", 12);
	assert_false(c.has_segment);
}

TEST(mw_ev_profile_template, refuses_more_bits_than_an_ev_has)
{
	static const struct mw_ev_field fields[] = {OPEN(16), OPEN(16), OPEN(1)};
	struct mw_carrier_template t;

	assert_false(mw_ev_profile_template(fields, 3, &t));
	assert_true(mw_ev_profile_template(fields, 2, &t));
}

static const struct {
	struct mw_ev_field field;
	enum mw_ev_profile_verdict verdict;
} wrong_fields[] = {
	{{.wire_width = 0, .width = 0}, MW_EV_PROFILE_WIRE_WIDTH},
	{{.wire_width = 33, .width = 1}, MW_EV_PROFILE_WIRE_WIDTH},
	{{.wire_width = 16, .width = 0}, MW_EV_PROFILE_WIDTH},
	{{.wire_width = 16, .width = 17}, MW_EV_PROFILE_WIDTH},
	{{.wire_width = 16, .width = 8, .init = 256}, MW_EV_PROFILE_INIT},
	{{.wire_width = 16, .width = 8, .mask = 256}, MW_EV_PROFILE_MASK},
	{{.wire_width = 16, .width = 8, .mask = 0xf, .max = 16}, MW_EV_PROFILE_RANGE},
	{{.wire_width = 16, .width = 8, .mask = 0xf, .min = 3, .max = 2}, MW_EV_PROFILE_RANGE},
	{{.wire_width = 16, .width = 8, .max = 1}, MW_EV_PROFILE_RANGE},
};

TEST(mw_ev_profile_check, names_the_field_that_is_wrong)
{
	struct mw_ev_field fields[2] = {OPEN(8)};
	size_t wrong;

	for (size_t i = 0; i < COUNT(wrong_fields); i++) {
		fields[1] = wrong_fields[i].field;
		assert_u_eq(mw_ev_profile_check(fields, 2, &wrong), wrong_fields[i].verdict);
		assert_u_eq(wrong, 1);
		assert_true(strlen(mw_ev_profile_verdict_name(wrong_fields[i].verdict)) > 4);
	}
	assert_u_eq(mw_ev_profile_check(fields, 0, &wrong), MW_EV_PROFILE_EMPTY);
}

TEST(mw_ev_profile_check, all_together_must_fit)
{
	struct mw_ev_field fields[9];
	size_t wrong;

	for (size_t i = 0; i < COUNT(fields); i++)
		fields[i] = (struct mw_ev_field){.wire_width = 32, .width = 1};
	assert_u_eq(mw_ev_profile_check(fields, 8, &wrong), MW_EV_PROFILE_OK);
	assert_u_eq(mw_ev_profile_check(fields, 9, &wrong), MW_EV_PROFILE_TOTAL);
}

TEST(mw_ev_profile_expand, wants_a_sound_profile)
{
	struct mw_ev_field fields[1] = {{.wire_width = 0}};
	uint8_t ev[MW_EV_BYTES] = {0}, wire[MW_EV_BYTES];

	expect_assert_failure(mw_ev_profile_expand(fields, 1, ev, wire));
}
