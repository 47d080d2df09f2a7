/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process may still take: see study.h. */
#include "study/study.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* available reads MemAvailable of /proc/meminfo. */
static uint64_t available_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t bytes = UINT64_MAX;
	char line[128];
	unsigned long kib;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lu kB", &kib) == 1)
			bytes = (uint64_t)kib * 1024;
	if (f)
		fclose(f);
	return bytes;
}

/* number_in reads a file that holds one number; "max" and a file that is not there: no limit. */
static uint64_t number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long long n;
	uint64_t number = UINT64_MAX;

	if (f && fscanf(f, "%llu", &n) == 1)
		number = n;
	if (f)
		fclose(f);
	return number;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t sim_memory_available(void)
{
	const uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
	const uint64_t used = number_in("/sys/fs/cgroup/memory.current");
	uint64_t room = available_bytes();
	struct rlimit space;

	if (limit != UINT64_MAX && used != UINT64_MAX)
		room = min_u64(room, limit > used ? limit - used : 0);
	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
		room = min_u64(room, space.rlim_cur);
	return room;
}
