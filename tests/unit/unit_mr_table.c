/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_mem.c - the table of memory regions and the check that memory is there. */
#include "support/test.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/mr_table.h"

#define PAGE 4096u

static uint8_t *mem_pages(uint32_t n, int rights)
{
	uint8_t *p = mmap(NULL, n * PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

TEST(mh_mem_check, ordinary_memory)
{
	uint8_t on_stack[100];
	uint8_t *p = mem_pages(3, PROT_READ | PROT_WRITE);

	assert_i_eq(mh_mem_check(on_stack, sizeof(on_stack), true), 0);
	assert_i_eq(mh_mem_check(p + 17, 2 * PAGE, true), 0);
	munmap(p, 3 * PAGE);
}

TEST(mh_mem_check, hole_in_the_middle)
{
	uint8_t *p = mem_pages(3, PROT_READ | PROT_WRITE);

	munmap(p + PAGE, PAGE);
	assert_i_eq(mh_mem_check(p, 3 * PAGE, false), EFAULT);
	assert_i_eq(mh_mem_check(p, PAGE, false), 0);
	assert_i_eq(mh_mem_check(p, PAGE + 1, false), EFAULT);
	assert_i_eq(mh_mem_check(p + 2 * PAGE - 1, 2, false), EFAULT);
	munmap(p, 3 * PAGE);
}

TEST(mh_mem_check, rights)
{
	uint8_t *p = mem_pages(1, PROT_READ);

	assert_i_eq(mh_mem_check(p, PAGE, false), 0);
	assert_i_eq(mh_mem_check(p, PAGE, true), EFAULT);
	mprotect(p, PAGE, PROT_NONE);
	assert_i_eq(mh_mem_check(p, 1, false), EFAULT);
	munmap(p, PAGE);
}

TEST(mh_mem_check, page_zero)
{
	assert_i_eq(mh_mem_check(NULL, 1, false), EFAULT);
}

/* A mapping longer than its file: touching the second page would be SIGBUS. */
TEST(mh_mem_check, behind_the_end_of_a_file)
{
	char path[] = "/tmp/softmrc-mem-XXXXXX";
	int fd = mkstemp(path);
	uint8_t *p;

	assert_i_eq(ftruncate(fd, PAGE), 0);
	p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	assert_i_eq(mh_mem_check(p, PAGE, true), 0);
	assert_i_eq(mh_mem_check(p, 2 * PAGE, true), EFAULT);
	munmap(p, 2 * PAGE);
	close(fd);
	unlink(path);
}

static struct mh_mr_table *mem_table(void)
{
	struct mh_mr_table *mem = calloc(1, sizeof(*mem));

	assert_non_null(mem);
	return mem;
}

TEST(mh_mr_table_resolve, bounds)
{
	struct mh_mr_table *mem = mem_table();
	uint8_t bytes[100];
	struct mh_mr mr = {.base = bytes, .length = 100, .iova = 5000};

	assert_true(mh_mr_table_insert(mem, &mr, test_rand()));
	assert_ptr_equal(mh_mr_table_resolve(mem, mr.key, 5000, 100), bytes);
	assert_ptr_equal(mh_mr_table_resolve(mem, mr.key, 5099, 1), bytes + 99);
	assert_ptr_equal(mh_mr_table_resolve(mem, mr.key, 5100, 0), bytes + 100);
	assert_null(mh_mr_table_resolve(mem, mr.key, 5000, 101));
	assert_null(mh_mr_table_resolve(mem, mr.key, 5099, 2));
	assert_null(mh_mr_table_resolve(mem, mr.key, 4999, 1));
	assert_null(mh_mr_table_resolve(mem, mr.key, UINT64_MAX, 2));
	assert_null(mh_mr_table_resolve(mem, mr.key ^ 1, 5000, 1));
	assert_null(mh_mr_table_resolve(mem, mr.key + 256, 5000, 1));
	assert_null(mh_mr_table_resolve(mem, UINT32_MAX, 5000, 1));
	assert_null(mh_mr_table_resolve(mem, 0, 5000, 1));
	mh_mr_table_remove(mem, &mr);
	assert_null(mh_mr_table_resolve(mem, mr.key, 5000, 1));
	free(mem);
}

TEST(mh_mr_table_insert, keys_are_not_reused_soon)
{
	struct mh_mr_table *mem = mem_table();
	struct mh_mr a = {.length = 1}, b = {.length = 1};

	assert_true(mh_mr_table_insert(mem, &a, test_rand()));
	mh_mr_table_remove(mem, &a);
	assert_true(mh_mr_table_insert(mem, &b, test_rand()));
	assert_true(mh_mr_table_index(a.key) != mh_mr_table_index(b.key));
	mh_mr_table_remove(mem, &b);
	for (uint32_t i = 0; i < MH_MRS_MAX / 16 - 2; i++) {
		struct mh_mr c = {.length = 1};

		assert_true(mh_mr_table_insert(mem, &c, test_rand()));
		mh_mr_table_remove(mem, &c);
		assert_true(c.key != a.key);
	}
	free(mem);
}

TEST(mh_mr_table_insert, full_table)
{
	struct mh_mr_table *mem = mem_table();
	struct mh_mr *mrs = calloc(MH_MRS_MAX + 1, sizeof(*mrs));

	for (uint32_t i = 0; i < MH_MRS_MAX; i++)
		assert_true(mh_mr_table_insert(mem, &mrs[i], test_rand()));
	assert_false(mh_mr_table_insert(mem, &mrs[MH_MRS_MAX], test_rand()));
	mh_mr_table_remove(mem, &mrs[77]);
	assert_true(mh_mr_table_insert(mem, &mrs[MH_MRS_MAX], test_rand()));
	assert_u_eq(mh_mr_table_index(mrs[MH_MRS_MAX].key), mh_mr_table_index(mrs[77].key));
	assert_true(mrs[MH_MRS_MAX].key != mrs[77].key);
	free(mrs);
	free(mem);
}

/* Who knows a key knows neither the next one's tag nor its index. */
TEST(mh_mr_table_insert, keys_are_not_predictable)
{
	uint32_t tags[256] = {0}, steps[32] = {0};
	struct mh_mr_table *mem = mem_table();
	uint32_t last = 0;

	for (uint32_t i = 0; i < 4096; i++) {
		struct mh_mr mr = {.length = 1};

		assert_true(mh_mr_table_insert(mem, &mr, test_rand()));
		mh_mr_table_remove(mem, &mr);
		assert_u_between(mh_mr_table_index(mr.key), 1, MH_MRS_MAX);
		tags[mr.key & 0xFF]++;
		steps[(mh_mr_table_index(mr.key) - last) & 31]++;
		last = mh_mr_table_index(mr.key);
	}
	for (uint32_t i = 0; i < 256; i++)
		assert_u_between(tags[i], 0, 64);
	for (uint32_t i = 0; i < 32; i++)
		assert_u_between(steps[i], 0, 512);
	free(mem);
}
