/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abi_old_version.c - a program that asks for API version 1.0.0 does not see what 1.0.1 added: it
 * can use the name for itself. Compiled into the layout test; that it compiles is the test.
 */
#define MRC_API_VER_USED MRC_API_VER(1, 0, 0)
#include <mrc.h>

#include "support/test.h"

static int mrc_query_device_ex(void)
{
	return MRC_API_VER_USED;
}

TEST(mrc_api_ver, old_version_hides_new_calls)
{
	assert_i_eq(mrc_query_device_ex(), MRC_API_VER(1, 0, 0));
}
