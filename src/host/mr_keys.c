/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mr_keys.c - the keys of MRs, and the check that memory is there.
 *
 * The check asks the kernel to populate the range for reading or writing, which finds unmapped and
 * protected pages, and pages of a file behind its end, without a signal. Kernels before 5.14 and
 * mappings of devices do not know that request; for them the process's list of mappings decides.
 */
#include "host/mr_keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* mem_mapped looks the range up in /proc/self/maps, which is sorted by address. */
static int mem_mapped(uintptr_t at, uintptr_t end, bool write)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long low, high;
	char line[4352]; /* a path and what stands before it */
	char rights[5];

	if (!maps)
		return errno;
	while (at < end && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &low, &high, rights) != 3 || high <= at)
			continue;
		if (low > at || rights[0] != 'r' || (write && rights[1] != 'w'))
			break;
		at = high;
	}
	fclose(maps);
	return at >= end ? 0 : EFAULT;
}

int mh_mem_check(void *addr, size_t length, bool write)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)addr & ~(page - 1);
	uintptr_t end = (uintptr_t)addr + length;
	int advice = write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;

	mb_assert(length > 0 && end > (uintptr_t)addr);
	for (;;) {
		if (madvise((void *)first, end - first, advice) == 0)
			return 0;
		if (errno == EINVAL)
			return mem_mapped(first, end, write);
		if (errno == ENOMEM || errno == EFAULT)
			return EFAULT;
		if (errno != EINTR && errno != EAGAIN)
			return errno;
	}
}

/* Indices are given in order from a random one on, this many at most left out at a time. */
#define KEYS_STEP_MAX 16u

uint32_t mh_mr_keys_alloc(struct mh_mr_keys *keys, uint64_t random)
{
	uint32_t step = (uint32_t)(random % KEYS_STEP_MAX);
	uint32_t tag_step = 1 + (uint32_t)(random >> 8 & 0xFF) % 255;

	if (keys->count == MH_MRS_MAX)
		return 0;
	if (keys->newest == 0)
		step = (uint32_t)(random >> 32);
	keys->newest = (keys->newest + step % MH_MRS_MAX) % MH_MRS_MAX;
	do {
		keys->newest = keys->newest % MH_MRS_MAX + 1;
	} while (keys->used[keys->newest]);
	keys->used[keys->newest] = true;
	keys->tag[keys->newest] = (uint8_t)(keys->tag[keys->newest] + tag_step);
	keys->count++;
	return keys->newest << 8 | keys->tag[keys->newest];
}

void mh_mr_keys_free(struct mh_mr_keys *keys, uint32_t key)
{
	uint32_t index = mh_mr_key_index(key);

	mb_assert(keys->used[index]);
	keys->used[index] = false;
	keys->tag[index] = (uint8_t)key; /* binds of a window have changed it */
	keys->count--;
}
