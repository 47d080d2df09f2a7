/* SPDX-License-Identifier: BSD-2-Clause */
/* Measuring the machine: src/demo/calibrate.h. */
#include "demo/calibrate.h"

#include "support/test.h"

TEST(demo_calibrate, measures_something_plausible)
{
	/* From a board under valgrind to a large server. */
	assert_u_between(demo_calibrate(), 100, 1000000000);
}
