/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_quantity.c - rates, sizes and times as people write them, and what none of them is. */
#include "support/test.h"

#include "base/quantity.h"

static uint64_t rate(const char *text)
{
	uint64_t n = 1;

	if (!mb_quantity_read_rate(text, 0, UINT64_MAX, &n))
		fail_msg("\"%s\" is no rate", text);
	return n;
}

static uint64_t bytes(const char *text)
{
	uint64_t n = 1;

	if (!mb_quantity_read_bytes(text, 0, UINT64_MAX, &n))
		fail_msg("\"%s\" is no size", text);
	return n;
}

static uint64_t ns(const char *text)
{
	uint64_t n = 1;

	if (!mb_quantity_read_time(text, 0, UINT64_MAX, &n))
		fail_msg("\"%s\" is no time", text);
	return n;
}

TEST(mb_quantity_read_rate, units)
{
	assert_u_eq(rate("0"), 0);
	assert_u_eq(rate("12"), 12);
	assert_u_eq(rate("1500k"), 1500000);
	assert_u_eq(rate("2G"), 2000000000);
	assert_u_eq(rate("1.6T"), UINT64_C(1600000000000));
	assert_u_eq(rate("0.0000015M"), 2); /* rounded */
	assert_u_eq(rate("18446744073709551615"), UINT64_MAX);
}

TEST(mb_quantity_read_rate, what_is_none)
{
	static const char *const bad[] = {"",
					  " 5",
					  "5 ",
					  "-5",
					  "+5",
					  "5Mb",
					  "G",
					  "1.G",
					  ".5G",
					  "1,5G",
					  "0x5",
					  "1.2.3G",
					  "5g",
					  "18446744074G",
					  "18446744073709551616",
					  "1.000000000000001G"};
	uint64_t n = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (mb_quantity_read_rate(bad[i], 0, UINT64_MAX, &n))
			fail_msg("\"%s\" was taken for a rate", bad[i]);
	assert_false(mb_quantity_read_rate("9", 10, 20, &n));
	assert_false(mb_quantity_read_rate("21", 10, 20, &n));
	assert_u_eq(n, 7);
	assert_true(mb_quantity_read_rate("10", 10, 20, &n));
	assert_u_eq(n, 10);
}

TEST(mb_quantity_read_bytes, units_are_powers_of_1024)
{
	uint64_t n = 7;

	assert_u_eq(bytes("3"), 3);
	assert_u_eq(bytes("64k"), 65536);
	assert_u_eq(bytes("64K"), 65536);
	assert_u_eq(bytes("64KiB"), 65536);
	assert_u_eq(bytes("1.5MiB"), 3 << 19);
	assert_u_eq(bytes("2GiB"), UINT64_C(2) << 30);
	assert_false(mb_quantity_read_bytes("64kB", 0, UINT64_MAX, &n));
	assert_false(mb_quantity_read_bytes("17179869184G", 0, UINT64_MAX, &n));
	assert_u_eq(n, 7);
}

TEST(mb_quantity_read_time, wants_a_unit)
{
	uint64_t n = 7;

	assert_u_eq(ns("0"), 0);
	assert_u_eq(ns("100ms"), 100000000);
	assert_u_eq(ns("2m"), UINT64_C(120000000000));
	assert_u_eq(ns("3h"), UINT64_C(10800000000000));
	assert_u_eq(ns("1d"), UINT64_C(86400000000000));
	assert_false(mb_quantity_read_time("5", 0, UINT64_MAX, &n));
	assert_false(mb_quantity_read_time("0.5", 0, UINT64_MAX, &n));
	assert_false(mb_quantity_read_time("5y", 0, UINT64_MAX, &n));
	assert_u_eq(n, 7);
}

TEST(mb_quantity_read_time, fractions)
{
	assert_u_eq(ns("1.5s"), 1500000000);
	assert_u_eq(ns("0.25ms"), 250000);
	assert_u_eq(ns("0.01m"), 600000000);
	assert_u_eq(ns("0.4ns"), 0);
	assert_u_eq(ns("0.999999999d"), UINT64_C(86399999913600));
	assert_u_eq(bytes("0.999999999G"), (1u << 30) - 1);
}

TEST(mb_quantity_write, as_it_is_read)
{
	char out[MB_QUANTITY_MAX];

	assert_string_equal(mb_quantity_write_time(out, 1500000000), "1500ms");
	assert_string_equal(mb_quantity_write_time(out, UINT64_C(60000000000)), "1m");
	assert_string_equal(mb_quantity_write_time(out, 0), "0");
	assert_string_equal(mb_quantity_write_bytes(out, 64 << 20), "64M");
	assert_string_equal(mb_quantity_write_bytes(out, UINT64_MAX), "18446744073709551615");
	assert_string_equal(mb_quantity_write_rate(out, UINT64_C(100000000000)), "100G");
}

TEST(mb_quantity_write, random_values_come_back)
{
	for (size_t i = 0; i < test_rounds(200); i++) {
		uint64_t n = test_rand() >> test_rand_below(64);
		char out[MB_QUANTITY_MAX];

		assert_u_eq(rate(mb_quantity_write_rate(out, n)), n);
		assert_u_eq(bytes(mb_quantity_write_bytes(out, n)), n);
		assert_u_eq(ns(mb_quantity_write_time(out, n)), n);
	}
}
