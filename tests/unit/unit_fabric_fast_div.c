/* SPDX-License-Identifier: BSD-2-Clause */
/* Quotients by multiplication against quotients by division. */
#include "support/test.h"

#include "fabric/topology.h"

static void assert_divides(uint32_t by, uint32_t n)
{
	struct mf_div d = mf_div_of(by);

	assert_u_eq(mf_div_quotient(d, n), n / by);
	assert_u_eq(mf_div_rest(d, n), n % by);
}

TEST(mf_div_quotient, small_numbers)
{
	for (uint32_t by = 1; by <= 70; by++)
		for (uint32_t n = 0; n < 300; n++)
			assert_divides(by, n);
}

TEST(mf_div_quotient, around_multiples)
{
	for (size_t i = 0; i < test_rounds(200000); i++) {
		uint32_t by = 1 + (uint32_t)(test_rand() >> (33 + test_rand_below(31)));
		uint32_t times = (uint32_t)test_rand_below((MF_DIVIDEND_END - 1) / by + 1);
		uint32_t n = times * by;

		assert_divides(by, n);
		if (n > 0)
			assert_divides(by, n - 1);
	}
}

TEST(mf_div_quotient, largest)
{
	const uint32_t by[] = {1, 2, 3, 7, 255, 256, 257, MF_DIVIDEND_END - 1, MF_DIVIDEND_END};

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		assert_divides(by[i], MF_DIVIDEND_END - 1);
}
