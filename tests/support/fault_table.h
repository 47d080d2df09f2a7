/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_table.h - files of fault tables (mrc/fault.h), as a program that makes faults has them. */
#ifndef SUPPORT_FAULT_TABLE_H
#define SUPPORT_FAULT_TABLE_H

#include "support/test.h"

#include <fcntl.h>
#include <mrc/fault.h>
#include <unistd.h>

/* What each table begins with; rules may follow in its initializer. */
#define TEST_FAULT_TABLE                                                                 \
	.magic = {'M', 'R', 'C', 'F', 'A', 'U', 'L', 'T'}, .version = MRC_FAULT_VERSION, \
	.rules = MRC_FAULT_RULES

/* test_fault_table_write makes a file, or what is in one that is there, a table. */
static inline void test_fault_table_write(const char *path, const struct mrc_fault_table *table)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_i_eq(write(fd, table, sizeof(*table)), sizeof(*table));
	close(fd);
}

#endif
