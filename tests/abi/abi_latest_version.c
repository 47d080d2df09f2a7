/* SPDX-License-Identifier: BSD-2-Clause */
/* abi_latest_version.c - MRC_API_VER_LATEST stands for the current version, in both families. */
#define MRC_API_VER_USED MRC_API_VER_LATEST
#define MRC_VENDOR_API_VER_USED MRC_API_VER_LATEST
#include <mrc.h>

#include "support/test.h"

TEST(mrc_api_ver, latest_is_current)
{
	assert_i_eq(MRC_API_VER_USED, MRC_API_CURRENT_VERSION);
	assert_i_eq(MRC_VENDOR_API_VER_USED, MRC_VENDOR_API_CURRENT_VERSION);
}
