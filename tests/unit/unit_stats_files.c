/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_stats_files.c - names of files of statistics: src/stats/stats_files.c. */
#include "support/test.h"

#include "stats/stats_files.h"

TEST(stats_file_name, of_process_and_device)
{
	static const struct {
		const char *name;
		uint32_t pid, device;
	} good[] = {{"1.mrcstats", 1, 0},
		    {"4194304.mrcstats", 4194304, 0},
		    {"999999999.mrcstats", 999999999, 0},
		    {"7.1.mrcstats", 7, 1},
		    {"7.9.mrcstats", 7, 9}};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint32_t pid = 0, device = 77;

		assert_true(stats_file_name(good[i].name, &pid, &device));
		assert_u_eq(pid, good[i].pid);
		assert_u_eq(device, good[i].device);
	}
}

TEST(stats_file_name, of_something_else)
{
	static const char *const other[] = {
		"",
		"mrcstats",
		".mrcstats",
		"0.mrcstats",
		"1000000000.mrcstats",
		"-1.mrcstats",
		"7.0.mrcstats",
		"71mrcstats",
		"7.10.mrcstats",
		"7..mrcstats",
		"7.1mrcstats",
		"7.mrcstats.",
		"7.mrcstat",
		"x7.mrcstats",
		"7:1.mrcstats",
		"7.:.mrcstats",
	};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		uint32_t pid, device;

		if (stats_file_name(other[i], &pid, &device))
			fail_msg("%s is taken for %u of device %u", other[i], pid, device);
	}
}
