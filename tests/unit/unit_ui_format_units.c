/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers for eyes: src/ui/text.h. */
#include "ui/text.h"

#include "support/test.h"

TEST(ui_units_count, short_and_exact_below_ten_thousand)
{
	char out[UI_UNITS_MAX];

	assert_string_equal(ui_units_count(out, 0), "0");
	assert_string_equal(ui_units_count(out, 9999), "9999");
	assert_string_equal(ui_units_count(out, 10000), "10.0k");
	assert_string_equal(ui_units_count(out, 123456), "123k");
	assert_string_equal(ui_units_count(out, 4560000), "4.56M");
	assert_string_equal(ui_units_count(out, 999999), "1.00M");
}

TEST(ui_units_bits, three_digits)
{
	char out[UI_UNITS_MAX];

	assert_string_equal(ui_units_bits(out, 0), "0 b/s");
	assert_string_equal(ui_units_bits(out, 12345), "12.3 kb/s");
	assert_string_equal(ui_units_bits(out, 9.996e9), "10.0 Gb/s");
	assert_string_equal(ui_units_bits(out, 1.5e15), "1500 Tb/s");
}

TEST(ui_units_bytes, powers_of_two_are_exact)
{
	char out[UI_UNITS_MAX];

	assert_string_equal(ui_units_bytes(out, 1), "1 B");
	assert_string_equal(ui_units_bytes(out, 65536), "64 KiB");
	assert_string_equal(ui_units_bytes(out, 1536), "1.50 KiB");
	assert_string_equal(ui_units_bytes(out, 64u << 20), "64 MiB");
}

TEST(ui_units_time, from_nanoseconds_to_seconds)
{
	char out[UI_UNITS_MAX];

	assert_string_equal(ui_units_time(out, 999), "999 ns");
	assert_string_equal(ui_units_time(out, 12345), "12.3 us");
	assert_string_equal(ui_units_time(out, 4000000), "4.00 ms");
	assert_string_equal(ui_units_time(out, 61000000000), "61.0 s");
}

TEST(ui_units_ev, wide_ones_by_their_fields)
{
	char out[UI_UNITS_MAX];

	assert_string_equal(ui_units_ev(out, 65535), "65535");
	assert_string_equal(ui_units_ev(out, 0xC0010003), "0xc0010003");
}
