/* SPDX-License-Identifier: BSD-2-Clause */
/* What both ends know beyond MRC. */
#include "support/test.h"

#include "core/window/window.h"

/* REQ(ext.agreement) */
TEST(mt_negotiation_rx, what_both_know)
{
	struct mt_negotiation a = {.offered = MW_EXT_SEND | 2};

	assert_u_eq(mt_negotiation_offer(&a), 0x43);
	mt_negotiation_rx(&a, 0x41);
	assert_u_eq(a.negotiated, MW_EXT_SEND);
	mt_negotiation_rx(&a, 0x43);
	assert_u_eq(a.negotiated, MW_EXT_SEND);
}

/* REQ(ext.agreement) REQ(ext.strict-peer) */
TEST(mt_negotiation_rx, plain_mrc_and_other_versions)
{
	static const uint8_t said[] = {0x00, 0x01, 0x81, 0xC1, 0x3F, 0x40};

	for (size_t i = 0; i < sizeof(said); i++) {
		struct mt_negotiation a = {.offered = MW_EXT_SEND};

		mt_negotiation_rx(&a, said[i]);
		assert_u_eq(a.negotiated, 0);
	}
}

TEST(mt_negotiation_done, once)
{
	struct mt_negotiation a = {.offered = MW_EXT_SEND, .requested = true};

	assert_true(mt_negotiation_done(&a));
	assert_true(a.done && !a.requested);
	assert_false(mt_negotiation_done(&a));
}
