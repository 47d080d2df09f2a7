/* SPDX-License-Identifier: BSD-2-Clause */
/* A number cut to any width and extended again near its origin is the number itself. */
#include "support/test.h"

#include "base/serial.h"

/* REQ(req.psn.serial) */
TEST(mb_serial_extend, undoes_truncation)
{
	for (size_t i = 0; i < test_rounds(200000); i++) {
		unsigned bits = 1 + (unsigned)test_rand_below(32);
		uint64_t half = UINT64_C(1) << (bits - 1);
		uint64_t mask = 2 * half - 1;
		uint64_t near = test_rand() >> test_rand_below(64);
		uint64_t value = near - half + test_rand_below(2 * half);

		if (test_rand_chance(1, 4)) /* both ends of the range */
			value = test_rand_chance(1, 2) ? near - half : near + half - 1;
		assert_u_eq(mb_serial_extend(near, (uint32_t)(value & mask), bits), value);
	}
}

TEST(mb_psn_extend, undoes_the_wire)
{
	for (size_t i = 0; i < test_rounds(50000); i++) {
		uint64_t near = (UINT64_C(1) << 24) + test_rand_below(UINT64_C(1) << 40);
		uint64_t psn = near + test_rand_below(1 << 24) - (1 << 23);

		assert_u_eq(mb_psn_extend(near, mb_psn_wire(psn)), psn);
	}
}
