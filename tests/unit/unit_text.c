/* SPDX-License-Identifier: BSD-2-Clause */
/* Text into a buffer that may be too small. */
#include "support/test.h"

#include "unit/panic.h"
#include "wire/text.h"

static char out[64];

static struct mw_text fresh(size_t size)
{
	struct mw_text t;

	memset(out, '#', sizeof(out));
	mw_text_init(&t, out, size);
	return t;
}

TEST(mw_text_init, terminates)
{
	struct mw_text t = fresh(1);

	assert_string_equal(out, "");
	assert_u_eq(t.len, 0);
	mw_text_init(&t, NULL, 0);
	mw_text_put(&t, "counted");
	assert_u_eq(t.len, 7);
}

TEST(mw_text_put, appends)
{
	struct mw_text t = fresh(sizeof(out));

	mw_text_put(&t, "ab");
	mw_text_put(&t, "");
	mw_text_put(&t, "cd");
	assert_string_equal(out, "abcd");
	assert_u_eq(t.len, 4);
}

TEST(mw_text_put, drops_and_counts_what_does_not_fit)
{
	struct mw_text t = fresh(4);

	mw_text_put(&t, "abcdef");
	mw_text_put(&t, "gh");
	assert_string_equal(out, "abc");
	assert_u_eq(t.len, 8);
	assert_u_eq((uint8_t)out[4], '#');
}

TEST(mw_text_put_u, numbers)
{
	struct mw_text t = fresh(sizeof(out));

	mw_text_put_u(&t, 0);
	mw_text_put(&t, " ");
	mw_text_put_u(&t, 1090);
	mw_text_put(&t, " ");
	mw_text_put_u(&t, UINT64_MAX);
	assert_string_equal(out, "0 1090 18446744073709551615");
}

TEST(mw_text_put_i, signs)
{
	struct mw_text t = fresh(sizeof(out));

	mw_text_put_i(&t, 0);
	mw_text_put_i(&t, 32767);
	mw_text_put_i(&t, -32768);
	mw_text_put_i(&t, INT64_MIN);
	assert_string_equal(out, "+0+32767-32768-9223372036854775808");
}

TEST(mw_text_put_x, at_least_so_many_digits)
{
	struct mw_text t = fresh(sizeof(out));

	mw_text_put_x(&t, 0, 1);
	mw_text_put_x(&t, 0xAB, 4);
	mw_text_put_x(&t, 0x12345, 2);
	mw_text_put_x(&t, UINT64_MAX, 16);
	assert_string_equal(out, "0x00x00ab0x123450xffffffffffffffff");
	expect_assert_failure(mw_text_put_x(&t, 1, 0));
	expect_assert_failure(mw_text_put_x(&t, 1, 17));
}
