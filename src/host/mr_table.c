/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem.c - the table of memory regions, and the check that memory is there.
 *
 * The check asks the kernel to populate the range for reading or writing, which finds unmapped and
 * protected pages, and pages of a file behind its end, without a signal. Kernels before 5.14 and
 * mappings of devices do not know that request; for them the process's list of mappings decides.
 */
#include "host/mr_table.h"

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
	;
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

/* Indices are given in turn from a random one on, this many at most left out at a time. */
#define MEM_STEP_MAX 16u

bool mh_mr_table_insert(struct mh_mr_table *mem, struct mh_mr *mr, uint64_t random)
{
	uint32_t step = (uint32_t)(random % MEM_STEP_MAX);
	uint32_t turn = (uint32_t)(random >> 8 & 0xFF);

	if (mem->count == MH_MRS_MAX)
		return false;
	if (mem->newest == 0)
		step = (uint32_t)(random >> 32);
	mem->newest = (mem->newest + step % MH_MRS_MAX) % MH_MRS_MAX;
	do {
		mem->newest = mem->newest % MH_MRS_MAX + 1;
	} while (mem->mr[mem->newest]);
	mem->mr[mem->newest] = mr;
	mem->tag[mem->newest] = (uint8_t)(mem->tag[mem->newest] + 1 + turn % 255);
	mem->count++;
	mr->key = mem->newest << 8 | mem->tag[mem->newest];
	return true;
}

const void *mh_mr_table_zeros(const struct mh_mr_table *mem, uint32_t key, uint32_t len)
{
	static const uint8_t zeros[MH_MR_TABLE_ZEROS];
	const struct mh_mr *mr = key >> 8 <= MH_MRS_MAX ? mem->mr[key >> 8] : NULL;

	mb_assert(len <= sizeof(zeros));
	return mr && mr->null && mr->key == key ? zeros : NULL;
}

void mh_mr_table_set_key(struct mh_mr_table *mem, uint32_t key)
{
	mem->tag[mh_mr_table_index(key)] = (uint8_t)key;
}

void mh_mr_table_remove(struct mh_mr_table *mem, struct mh_mr *mr)
{
	mb_assert(mem->mr[mh_mr_table_index(mr->key)] == mr);
	mem->mr[mh_mr_table_index(mr->key)] = NULL;
	mem->count--;
}
