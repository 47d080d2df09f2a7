/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_mem_check.c - memory that is not there is found at registration:
 * src/host/platform/mem_guard.c.
 */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/platform/platform.h"
#include "support/open_fds.h"

#define PAGE 4096u

/* What madvise says: `err`, so many times; and a list of mappings in the place of the process's. */
static struct {
	int err;
	uint32_t times, calls;
	const char *maps;
} mem;

__typeof__(madvise) __real_madvise, __wrap_madvise;
int __wrap_madvise(void *at, size_t len, int advice)
{
	mem.calls++;
	if (mem.times == 0)
		return mem.err ? 0 : __real_madvise(at, len, advice);
	mem.times--;
	errno = mem.err;
	return -1;
}

__typeof__(fopen) __real_fopen, __wrap_fopen;
FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (!mem.maps)
		return __real_fopen(path, mode);
	assert_string_equal(path, "/proc/self/maps");
	errno = EMFILE;
	return mem.maps[0] ? fmemopen((void *)(uintptr_t)mem.maps, strlen(mem.maps), "r") : NULL;
}

static int mem_reset(void **state)
{
	(void)state;
	memset(&mem, 0, sizeof(mem));
	return 0;
}

#define MEM_TEST(name) TEST_WITH(NULL, mem_reset, mh_mem_check, name)

/* Kernels that do not know the request: the list of mappings decides. */
static int check_mapped(uintptr_t low, uintptr_t high, bool write)
{
	mem.err = EINVAL;
	mem.times = 1;
	return mh_mem_check((void *)low, high - low, write);
}

MEM_TEST(by_the_list_of_mappings)
{
	mem.maps = "0-1000 ---p 00000000 00:00 0\n"
		   "1000-3000 r--p 00000000 00:00 0 [x]\n"
		   "what is no mapping\n"
		   "3000-5000 rw-p 00000000 00:00 0\n"
		   "5000-6000 -w-p 00000000 00:00 0\n"
		   "8000-9000 rw-p 00000000 00:00 0\n";
	assert_i_eq(check_mapped(0x1000, 0x5000, false), 0);
	assert_i_eq(check_mapped(0x3000, 0x5000, true), 0);
	assert_i_eq(check_mapped(0x4321, 0x4322, true), 0);
	assert_i_eq(check_mapped(0x2FFF, 0x3001, true), EFAULT);
	assert_i_eq(check_mapped(0x0FFF, 0x1001, false), EFAULT);
	assert_i_eq(check_mapped(0x4000, 0x5001, false), EFAULT);
	assert_i_eq(check_mapped(0x7FFF, 0x8001, false), EFAULT);
	assert_i_eq(check_mapped(0x8000, 0x9001, false), EFAULT);
	assert_i_eq(check_mapped(0xA000, 0xA001, false), EFAULT);
	mem.maps = "";
	assert_i_eq(check_mapped(0x1000, 0x2000, false), EMFILE);
}

static uint8_t *pages(uint32_t n, int rights)
{
	uint8_t *p = mmap(NULL, n * PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

MEM_TEST(by_the_list_that_there_is)
{
	uint32_t before = test_open_fds();
	uint8_t *p = pages(2, PROT_READ);

	assert_i_eq(check_mapped((uintptr_t)p, (uintptr_t)p + 2 * PAGE, false), 0);
	assert_i_eq(check_mapped((uintptr_t)p, (uintptr_t)p + PAGE, true), EFAULT);
	munmap(p, 2 * PAGE);
	assert_i_eq(check_mapped((uintptr_t)p, (uintptr_t)p + PAGE, false), EFAULT);
	assert_u_eq(test_open_fds(), before);
}

static int check_after(int err, uint32_t times)
{
	static uint8_t byte;

	mem.err = err;
	mem.times = times;
	mem.calls = 0;
	return mh_mem_check(&byte, 1, false);
}

/* What may be over soon is asked again, but a kernel that is short of something not for ever. */
MEM_TEST(by_what_the_kernel_says)
{
	assert_i_eq(check_after(ENOMEM, 1), EFAULT);
	assert_i_eq(check_after(EFAULT, 1), EFAULT);
	assert_i_eq(check_after(EHWPOISON, 1), EHWPOISON);
	assert_i_eq(check_after(EINTR, 2000), 0);
	assert_u_eq(mem.calls, 2001);
	assert_i_eq(check_after(EAGAIN, 999), 0);
	assert_u_eq(mem.calls, 1000);
	assert_i_eq(check_after(EAGAIN, 2000), EAGAIN);
	assert_u_eq(mem.calls, 1000);
}

TEST(mh_mem_check, ordinary_memory)
{
	uint8_t on_stack[100];
	uint8_t *p = pages(3, PROT_READ | PROT_WRITE);

	assert_i_eq(mh_mem_check(on_stack, sizeof(on_stack), true), 0);
	assert_i_eq(mh_mem_check(p + 17, 2 * PAGE, true), 0);
	munmap(p, 3 * PAGE);
}

TEST(mh_mem_check, hole_in_the_middle)
{
	uint8_t *p = pages(3, PROT_READ | PROT_WRITE);

	munmap(p + PAGE, PAGE);
	assert_i_eq(mh_mem_check(p, 3 * PAGE, false), EFAULT);
	assert_i_eq(mh_mem_check(p, PAGE, false), 0);
	assert_i_eq(mh_mem_check(p, PAGE + 1, false), EFAULT);
	assert_i_eq(mh_mem_check(p + 2 * PAGE - 1, 2, false), EFAULT);
	munmap(p, 3 * PAGE);
}

TEST(mh_mem_check, rights)
{
	uint8_t *p = pages(1, PROT_READ);

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
