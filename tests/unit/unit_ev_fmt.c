/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an EV sits. */
#include "support/test.h"

#include "unit/panic.h"
#include "wire/ev_fmt.h"

/* REQ(wire.ev.udp) REQ(wire.ev.stev) */
TEST(mw_ev_valid, width_of_each_format)
{
	assert_true(mw_ev_valid(MW_EV_UDP, 0));
	assert_true(mw_ev_valid(MW_EV_UDP, 0xFFFF));
	assert_false(mw_ev_valid(MW_EV_UDP, 0x10000));
	assert_true(mw_ev_valid(MW_EV_STEV, 0));
	assert_true(mw_ev_valid(MW_EV_STEV, 0xFFFFFFFF));
	assert_false(mw_ev_valid((enum mw_ev_format)2, 0));
}

/* REQ(wire.ev.udp) */
TEST(mw_ev_encode, udp_is_the_source_port)
{
	struct mw_ev_bits bits = mw_ev_encode(MW_EV_UDP, 0xABCD);

	assert_u_eq(bits.udp_sport, 0xABCD);
	assert_u_eq(bits.flow_label, 0);
}

/* REQ(wire.ev.stev) REQ(wire.ev.halves) */
TEST(mw_ev_encode, stev_has_the_source_port_high)
{
	struct mw_ev_bits bits = mw_ev_encode(MW_EV_STEV, 0x12345678);

	assert_u_eq(bits.udp_sport, 0x1234);
	assert_u_eq(bits.flow_label, 0x5678);
}

TEST(mw_ev_encode, refuses_what_does_not_fit)
{
	expect_assert_failure(mw_ev_encode(MW_EV_UDP, 0x10000));
	expect_assert_failure(mw_ev_encode((enum mw_ev_format)2, 1));
}

TEST(mw_ev_decode, udp_ignores_the_flow_label)
{
	assert_u_eq(mw_ev_decode(MW_EV_UDP, (struct mw_ev_bits){0xABCD, 0xFFFFF}), 0xABCD);
}

/* REQ(wire.ev.stev) */
TEST(mw_ev_decode, stev_takes_the_low_16_bits_of_the_flow_label)
{
	assert_u_eq(mw_ev_decode(MW_EV_STEV, (struct mw_ev_bits){0x1234, 0xF5678}), 0x12345678);
}

TEST(mw_ev_decode, refuses_other_formats)
{
	static const struct mw_ev_bits bits = {1, 1};

	expect_assert_failure(mw_ev_decode((enum mw_ev_format)2, bits));
}

TEST(mw_ev_decode, undoes_encode)
{
	for (size_t i = 0; i < test_rounds(1000); i++) {
		uint32_t ev = (uint32_t)test_rand();

		assert_u_eq(mw_ev_decode(MW_EV_STEV, mw_ev_encode(MW_EV_STEV, ev)), ev);
		ev &= 0xFFFF;
		assert_u_eq(mw_ev_decode(MW_EV_UDP, mw_ev_encode(MW_EV_UDP, ev)), ev);
	}
}
