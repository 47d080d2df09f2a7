/* SPDX-License-Identifier: BSD-2-Clause */
/* Short numbers extended to 64 bits: which of the candidates is the nearest, at every edge. */
#include "support/test.h"

#include "base/serial.h"

#define WRAP (UINT64_C(1) << 24)
#define HALF (UINT64_C(1) << 23)

TEST(mb_psn_extend, near_its_reference)
{
	uint64_t near = 5 * WRAP + 1000;

	assert_u_eq(mb_psn_extend(near, 1000), near);
	assert_u_eq(mb_psn_extend(near, 1001), near + 1);
	assert_u_eq(mb_psn_extend(near, 999), near - 1);
}

/* REQ(req.psn.serial) */
TEST(mb_psn_extend, across_the_wrap)
{
	assert_u_eq(mb_psn_extend(5 * WRAP - 1, 0), 5 * WRAP);
	assert_u_eq(mb_psn_extend(5 * WRAP, 0xFFFFFF), 5 * WRAP - 1);
	assert_u_eq(mb_psn_extend(5 * WRAP + 3, 0xFFFFF0), 5 * WRAP - 16);
}

TEST(mb_psn_extend, half_a_lap_is_behind)
{
	uint64_t near = 5 * WRAP + HALF;

	assert_u_eq(mb_psn_extend(near, 0), near - HALF);
	assert_u_eq(mb_psn_extend(near, 0xFFFFFF), near + HALF - 1);
	assert_u_eq(mb_psn_extend(near, 1), near - HALF + 1);
}

TEST(mb_serial_extend, below_zero_is_enormous)
{
	assert_u_eq(mb_psn_extend(0, 0xFFFFFF), UINT64_MAX);
	assert_u_eq(mb_serial_extend(10, 0xFFF0, 16), UINT64_MAX - 15);
}

TEST(mb_serial_extend, other_widths)
{
	assert_u_eq(mb_serial_extend(0x2FFFE, 0x0001, 16), 0x30001);
	assert_u_eq(mb_serial_extend(0x30001, 0xFFFE, 16), 0x2FFFE);
	assert_u_eq(mb_serial_extend(7, 0, 1), 6);
	assert_u_eq(mb_serial_extend(UINT64_C(0x1FFFFFFFF), 0, 32), UINT64_C(0x200000000));
}

TEST(mb_psn_wire, low_24_bits)
{
	assert_u_eq(mb_psn_wire(5 * WRAP + 0x123456), 0x123456);
	assert_u_eq(mb_psn_wire(UINT64_MAX), 0xFFFFFF);
}
