/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_mem.c - the table of memory regions and the check that memory is there. */
#include "support/test.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/mr_keys.h"

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

static struct mh_mr_keys *no_keys(void)
{
	struct mh_mr_keys *keys = calloc(1, sizeof(*keys));

	assert_non_null(keys);
	return keys;
}

TEST(mh_mr_keys_alloc, keys_are_not_reused_soon)
{
	struct mh_mr_keys *keys = no_keys();
	uint32_t a = mh_mr_keys_alloc(keys, test_rand()), b;

	assert_true(a != 0);
	mh_mr_keys_free(keys, a);
	b = mh_mr_keys_alloc(keys, test_rand());
	assert_true(b != 0);
	assert_true(mh_mr_key_index(a) != mh_mr_key_index(b));
	mh_mr_keys_free(keys, b);
	for (uint32_t i = 0; i < MH_MRS_MAX / 16 - 2; i++) {
		uint32_t c = mh_mr_keys_alloc(keys, test_rand());

		assert_true(c != 0);
		mh_mr_keys_free(keys, c);
		assert_true(c != a);
	}
	free(keys);
}

TEST(mh_mr_keys_alloc, full_table)
{
	uint32_t *key = calloc(MH_MRS_MAX, sizeof(*key)), again;
	struct mh_mr_keys *keys = no_keys();

	for (uint32_t i = 0; i < MH_MRS_MAX; i++) {
		key[i] = mh_mr_keys_alloc(keys, test_rand());
		assert_true(key[i] != 0);
	}
	assert_u_eq(mh_mr_keys_alloc(keys, test_rand()), 0);
	mh_mr_keys_free(keys, key[77]);
	again = mh_mr_keys_alloc(keys, test_rand());
	assert_u_eq(mh_mr_key_index(again), mh_mr_key_index(key[77]));
	assert_true(again != key[77]);
	free(key);
	free(keys);
}

/* A window's key is another after a bind; that one must not come again at once. */
TEST(mh_mr_keys_free, with_the_key_of_a_bind)
{
	struct mh_mr_keys *keys = no_keys();
	uint32_t key = 0, bound;

	while (keys->count < MH_MRS_MAX)
		key = mh_mr_keys_alloc(keys, test_rand());
	for (uint32_t i = 0; i < 4096; i++) {
		bound = (key & ~0xFFu) | (uint8_t)test_rand();
		mh_mr_keys_free(keys, bound);
		key = mh_mr_keys_alloc(keys, test_rand());
		assert_u_eq(mh_mr_key_index(key), mh_mr_key_index(bound));
		assert_true(key != bound);
	}
	free(keys);
}

/* Who knows a key knows neither the next one's tag nor its index. */
TEST(mh_mr_keys_alloc, keys_are_not_predictable)
{
	uint32_t tags[256] = {0}, steps[32] = {0};
	struct mh_mr_keys *keys = no_keys();
	uint32_t last = 0;

	for (uint32_t i = 0; i < 4096; i++) {
		uint32_t key = mh_mr_keys_alloc(keys, test_rand());

		assert_true(key != 0);
		mh_mr_keys_free(keys, key);
		assert_u_between(mh_mr_key_index(key), 1, MH_MRS_MAX);
		tags[key & 0xFF]++;
		steps[(mh_mr_key_index(key) - last) & 31]++;
		last = mh_mr_key_index(key);
	}
	for (uint32_t i = 0; i < 256; i++)
		assert_u_between(tags[i], 0, 64);
	for (uint32_t i = 0; i < 32; i++)
		assert_u_between(steps[i], 0, 512);
	free(keys);
}
