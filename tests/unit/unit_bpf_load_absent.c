/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "support/test.h"
#include "switchq/switchq.h"

TEST(mswq_load, of_a_build_without_a_program_says_what_was_missing)
{
	struct mswq *swq = NULL;
	struct mswq_error error;

	assert_int_equal(mswq_load(16, &swq, &error), ENOTSUP);
	assert_null(swq);
	assert_non_null(strstr(error.text, "clang and libbpf-dev"));
}
