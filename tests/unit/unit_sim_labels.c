/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_labels.c - names and what they stand for, more than the table begins with. */
#include "support/test.h"

#include <stdio.h>

#include "sim/import/input.h"

TEST(ms_labels, many_names_are_found_again_until_they_are_cleared)
{
	struct ms_labels l = {0};
	char name[16];
	uint32_t value;

	for (uint32_t i = 0; i < 5000; i++) {
		int len = snprintf(name, sizeof(name), "l%u", i);

		assert_i_eq(ms_labels_add(&l, name, (uint32_t)len, i * 3), MS_LABEL_ADDED);
	}
	for (uint32_t i = 0; i < 5000; i++) {
		int len = snprintf(name, sizeof(name), "l%u", i);

		assert_true(ms_labels_find(&l, name, (uint32_t)len, &value));
		assert_u_eq(value, i * 3);
	}
	assert_i_eq(ms_labels_add(&l, "l7", 2, 1), MS_LABEL_THERE);
	assert_false(ms_labels_find(&l, "l5000", 5, &value));
	ms_labels_clear(&l);
	assert_false(ms_labels_find(&l, "l7", 2, &value));
	ms_labels_fini(&l);
}

TEST(ms_labels, an_empty_name_is_one)
{
	struct ms_labels l = {0};
	uint32_t value;

	assert_false(ms_labels_find(&l, "", 0, &value));
	assert_true(ms_labels_add(&l, "", 0, 2) == MS_LABEL_ADDED);
	assert_true(ms_labels_find(&l, "", 0, &value));
	assert_u_eq(value, 2);
	ms_labels_fini(&l);
}
