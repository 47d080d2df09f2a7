/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_verbs_sysfs.c - files below /sys, to the byte: src/libibverbs/verbs_sysfs.c. */
#include "libibverbs/real_library.h"
#include "support/test.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

/* There is no other library, and none of our devices is asked for. */
_Atomic(const struct mv_real *) mv_real_loaded;
bool mv_device_is_ours(const struct ibv_device *device)
{
	return device != NULL;
}

/* The longest path that there is room for, and one that is longer by one. */
TEST(ibv_read_sysfs_file, of_the_longest_name)
{
	char dir[600], text[8];

	for (size_t len = 505; len <= 507; len++) {
		memset(dir, '/', len);
		dir[len] = '\0';
		errno = 0;
		assert_i_eq(ibv_read_sysfs_file(dir, "none", text, sizeof(text)), -1);
		assert_i_eq(errno, len < 507 ? ENOENT : ENAMETOOLONG);
	}
}

TEST(ibv_read_sysfs_file, leaves_nothing_open)
{
	int before = dup(0), after;
	char text[8];

	close(before);
	assert_i_eq(ibv_read_sysfs_file("/proc/self", "comm", text, sizeof(text)), 8);
	assert_memory_equal(text, "unit_ver", 8);
	after = dup(0);
	close(after);
	assert_i_eq(after, before);
}
