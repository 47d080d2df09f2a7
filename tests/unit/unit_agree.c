/* SPDX-License-Identifier: BSD-2-Clause */
/* What both ends know beyond MRC. */
#include "support/test.h"

#include "core/agree.h"

/* REQ(ext.agreement) */
TEST(mt_agree_hear, what_both_know)
{
	struct mt_agree a = {.offer = MW_EXT_SEND | 2};

	assert_u_eq(mt_agree_said(&a), 0x43);
	mt_agree_hear(&a, 0x41);
	assert_u_eq(a.both, MW_EXT_SEND);
	mt_agree_hear(&a, 0x43);
	assert_u_eq(a.both, MW_EXT_SEND);
}

/* REQ(ext.agreement) REQ(ext.strict-peer) */
TEST(mt_agree_hear, plain_mrc_and_other_versions)
{
	static const uint8_t said[] = {0x00, 0x01, 0x81, 0xC1, 0x3F, 0x40};

	for (size_t i = 0; i < sizeof(said); i++) {
		struct mt_agree a = {.offer = MW_EXT_SEND};

		mt_agree_hear(&a, said[i]);
		assert_u_eq(a.both, 0);
	}
}

TEST(mt_agree_answered, once)
{
	struct mt_agree a = {.offer = MW_EXT_SEND, .asked = true};

	assert_true(mt_agree_answered(&a));
	assert_true(a.known && !a.asked);
	assert_false(mt_agree_answered(&a));
}
