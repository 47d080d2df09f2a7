/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one header a test includes: cmocka with its prerequisites in the right order, registration in
 * one line, assertions that print both hex and decimal, seeded randomness.
 *
 *	#include "support/test.h"
 *
 *	TEST(mb_serial_lt, wraps_at_24_bits)
 *	{
 *		assert_true(mb_serial_lt(0xffffff, 0));
 *	}
 *
 * There is no list to keep and no main() to write: TEST() registers its case, named
 * mb_serial_lt__wraps_at_24_bits, and tests/support/main.c runs all cases of the binary in the
 * order in which they are written. `unit_serial -l` lists cases, `unit_serial '*wraps*'` runs some.
 *
 * A case that needs fixtures uses TEST_WITH(setup, teardown, function, case); setup and teardown
 * are cmocka fixture functions, and `state` is in scope in every case.
 *
 * Random tests draw from test_rand() and friends. MRC_SEED=<number> replays a run, MRC_SEED=random
 * takes a fresh seed; unset, a fixed seed makes every run alike. The seed in use is printed.
 * Loops whose length is a matter of patience ask test_rounds(n), which MRC_ROUNDS=<factor> scales.
 */
#ifndef SUPPORT_TEST_H
#define SUPPORT_TEST_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST(function, name) TEST_WITH(NULL, NULL, function, name)

#define TEST_WITH(setup, teardown, function, name)                                              \
	static void function##__##name(void **state);                                           \
	__attribute__((constructor)) static void function##__##name##__register(void)           \
	{                                                                                       \
		test_register(#function "__" #name, function##__##name, setup, teardown, NULL); \
	}                                                                                       \
	static void function##__##name(__attribute__((unused)) void **state)

/*
 * test_register adds a case by hand, for cases that come from a data file: call it from a function
 * marked __attribute__((constructor)). `name` must live as long as the process; `initial` is what
 * *state holds when the case begins.
 */
void test_register(const char *name, CMUnitTestFunction run, CMFixtureFunction setup,
		   CMFixtureFunction teardown, void *initial);

/* test_skip leaves the case as skipped and prints why; a skip without a reason is not offered. */
#define test_skip(reason)                 \
	do {                              \
		test_skip_reason(reason); \
		skip();                   \
	} while (0)
void test_skip_reason(const char *reason);

/* test_arg returns the nth argument (from 0) that followed `--` on the command line, or NULL. */
const char *test_arg(size_t n);

/* Assertions on unsigned and signed numbers of any width, arrays of bytes, and a range. */
#define assert_u_eq(a, b) test_check_u((a), (b), #a " == " #b, __FILE__, __LINE__)
#define assert_i_eq(a, b) test_check_i((a), (b), #a " == " #b, __FILE__, __LINE__)
#define assert_bytes_eq(a, b, len) test_check_bytes((a), (b), (len), #a, __FILE__, __LINE__)
#define assert_u_between(a, low, high) \
	test_check_between((a), (low), (high), #a, __FILE__, __LINE__)

void test_check_u(uint64_t got, uint64_t want, const char *what, const char *file, int line);
void test_check_i(int64_t got, int64_t want, const char *what, const char *file, int line);
void test_check_bytes(const void *got, const void *want, size_t len, const char *what,
		      const char *file, int line);
void test_check_between(uint64_t got, uint64_t low, uint64_t high, const char *what,
			const char *file, int line);

/* test_seed returns the seed of this run; the first call prints it. */
uint64_t test_seed(void);

/* test_rand returns 64 random bits; every case starts again from test_seed(). */
uint64_t test_rand(void);

/* test_rand_below returns a number in [0, bound); bound must not be 0. */
uint64_t test_rand_below(uint64_t bound);

/* test_rand_chance returns true `num` times out of `den` on average. */
bool test_rand_chance(uint64_t num, uint64_t den);

/* test_rand_bytes fills len bytes. */
void test_rand_bytes(void *out, size_t len);

/* test_rand_restart puts the generator back to the seed; main calls it before each case. */
void test_rand_restart(void);

/* test_rounds returns n times the factor in MRC_ROUNDS (1 when unset). */
size_t test_rounds(size_t n);

/*
 * test_takes_sample returns whether a test of label release, which is whole there, is to do only a
 * part of what takes seconds: with sanitizers, and MRC_ROUNDS unset.
 */
bool test_takes_sample(void);

/* test_long_rounds returns test_rounds(n), or a fifth of n, at least one, for a sample. */
size_t test_long_rounds(size_t n);

#endif
