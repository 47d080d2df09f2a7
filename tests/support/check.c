/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assertions of test.h: they say in hex and decimal what was found and what was wanted, then let
 * cmocka fail the case at the caller's line.
 */
#include "support/test.h"

void test_check_u(uint64_t got, uint64_t want, const char *what, const char *file, int line)
{
	if (got == want)
		return;
	print_error("%s: got 0x%" PRIx64 " (%" PRIu64 "), want 0x%" PRIx64 " (%" PRIu64 ")\n", what,
		    got, got, want, want);
	_fail(file, line);
}

void test_check_i(int64_t got, int64_t want, const char *what, const char *file, int line)
{
	if (got == want)
		return;
	print_error("%s: got %" PRId64 ", want %" PRId64 "\n", what, got, want);
	_fail(file, line);
}

void test_check_between(uint64_t got, uint64_t low, uint64_t high, const char *what,
			const char *file, int line)
{
	if (got >= low && got <= high)
		return;
	print_error("%s: got %" PRIu64 ", want %" PRIu64 " to %" PRIu64 "\n", what, got, low, high);
	_fail(file, line);
}

static void print_around(const char *name, const uint8_t *bytes, size_t len, size_t at)
{
	size_t from = at < 8 ? 0 : at - 8;
	size_t to = len - at < 8 ? len : at + 8;

	print_error("%s[%zu..%zu):", name, from, to);
	for (size_t i = from; i < to; i++)
		print_error(i == at ? " [%02x]" : " %02x", bytes[i]);
	print_error("\n");
}

void test_check_bytes(const void *got, const void *want, size_t len, const char *what,
		      const char *file, int line)
{
	const uint8_t *g = got;
	const uint8_t *w = want;

	for (size_t i = 0; i < len; i++) {
		if (g[i] == w[i])
			continue;
		print_error("%s: byte %zu of %zu differs\n", what, i, len);
		print_around("got ", g, len, i);
		print_around("want", w, len, i);
		_fail(file, line);
	}
}
