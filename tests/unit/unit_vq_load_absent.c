/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "support/test.h"
#include "vq/vq.h"

TEST(mvq_load, of_a_build_without_a_program_says_what_was_missing)
{
	struct mvq *vq = NULL;
	struct mvq_error error;

	assert_int_equal(mvq_load(16, &vq, &error), ENOTSUP);
	assert_null(vq);
	assert_non_null(strstr(error.text, "clang and libbpf-dev"));
}
