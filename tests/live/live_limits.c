/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_limits.c - the device in a program that may have few descriptors or little memory: it opens
 * whole or says with errno why not, and either way nothing of it stays.
 */
#include "support/open_fds.h"
#include "support/own_threads.h"
#include "support/test.h"

#include <infiniband/verbs.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/loopback.h"

#define SPARE_MAX 128u
#define STEP_BYTES (512u << 10)
#define STEPS_MAX 256u
#define TURNS 100u

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_IS_THE_SANITIZERS 1
#else
#define MEMORY_IS_THE_SANITIZERS 0
#endif

static char folder[] = "/tmp/softmrc-limits-XXXXXX"; /* of statistics */

static uint32_t descriptors(void)
{
	return folder_entries("/proc/self/fd");
}

static uint32_t threads(void)
{
	return folder_entries("/proc/self/task");
}

static uint64_t memory_bytes(void)
{
	unsigned long pages;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static struct ibv_device **list;

static int limits_setup(void **state)
{
	(void)state;
	loopback_env(2);
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	if (!mkdtemp(folder) || setenv("MRC_STATS_DIR", folder, 1))
		return -1;
	list = ibv_get_device_list(NULL);
	return list && list[0] ? 0 : -1;
}

static int limits_teardown(void **state)
{
	(void)state;
	ibv_free_device_list(list);
	return rmdir(folder);
}

#define LIMITS_TEST(name) TEST_WITH(limits_setup, limits_teardown, ibv_open_device, name)

/* Opens with a soft limit, which is gone again when this returns; *err is errno. */
static struct ibv_context *open_limited(int resource, uint64_t limit, int *err)
{
	struct rlimit was, now;
	struct ibv_context *ctx;

	assert_int_equal(getrlimit(resource, &was), 0);
	now = was;
	now.rlim_cur = limit;
	assert_int_equal(setrlimit(resource, &now), 0);
	errno = 0;
	ctx = ibv_open_device(list[0]);
	*err = errno;
	assert_int_equal(setrlimit(resource, &was), 0);
	return ctx;
}

/* A refusal leaves nothing behind, an open device its statistics. */
static void check_opened(const struct ibv_context *ctx, uint32_t before)
{
	if (!ctx)
		assert_u_eq(descriptors(), before);
	assert_u_eq(folder_entries(folder), ctx ? 1 : 0);
}

static void check_closed(struct ibv_context *ctx, uint32_t before, uint32_t alone)
{
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_u_eq(descriptors(), before);
	assert_true(test_threads_are(alone));
}

LIMITS_TEST(few_descriptors)
{
	uint32_t before = descriptors(), alone = threads(), spare = 0;
	struct ibv_context *ctx = NULL;
	int err, next = dup(0);

	close(next);
	for (; !ctx; spare++) {
		assert_u_between(spare, 0, SPARE_MAX);
		ctx = open_limited(RLIMIT_NOFILE, (uint64_t)next + spare, &err);
		if (!ctx)
			assert_i_eq(err, EMFILE);
		check_opened(ctx, before);
	}
	check_closed(ctx, before, alone);
	assert_true(spare > 1);
}

LIMITS_TEST(little_memory)
{
	uint32_t before = descriptors(), alone = threads(), steps = 0;
	uint64_t have = memory_bytes();
	struct ibv_context *ctx = NULL;
	int err;

	if (MEMORY_IS_THE_SANITIZERS)
		test_skip("sanitizers need all the address space there is");
	for (; !ctx; steps++) {
		assert_u_between(steps, 0, STEPS_MAX);
		ctx = open_limited(RLIMIT_AS, have + (uint64_t)steps * STEP_BYTES, &err);
		if (!ctx && err != ENOMEM && err != EAGAIN)
			fail_msg("errno %d with %u steps", err, steps);
		check_opened(ctx, before);
	}
	check_closed(ctx, before, alone);
	assert_true(steps > 1);
}

/* No memory is locked, so that nobody needs the right to. */
LIMITS_TEST(no_locked_memory)
{
	int err;
	struct ibv_context *ctx = open_limited(RLIMIT_MEMLOCK, 0, &err);

	assert_non_null(ctx);
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* What a program starts with exec gets none of the device's descriptors. */
LIMITS_TEST(descriptors_end_with_the_program)
{
	uint32_t before = descriptors(), found = 0;
	bool had[SPARE_MAX];
	struct ibv_context *ctx;

	for (int fd = 0; fd < (int)SPARE_MAX; fd++)
		had[fd] = fcntl(fd, F_GETFD) >= 0;
	ctx = ibv_open_device(list[0]);
	assert_non_null(ctx);
	for (int fd = 0; fd < (int)SPARE_MAX; fd++) {
		int flags = had[fd] ? -1 : fcntl(fd, F_GETFD);

		assert_true(flags < 0 || (flags & FD_CLOEXEC));
		found += flags >= 0;
	}
	assert_u_eq(found, descriptors() - before);
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* forbid_random has getrandom(2) fail with EPERM from now on, as a sandbox may. */
static bool forbid_random(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

#define NO_SECCOMP 77

static int open_without_random(void)
{
	if (!forbid_random())
		return NO_SECCOMP;
	errno = 0;
	return ibv_open_device(list[0]) || errno != EPERM;
}

static int register_without_random(void)
{
	struct ibv_context *ctx = ibv_open_device(list[0]);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	uint8_t bytes[64];
	int bad = NO_SECCOMP;

	if (forbid_random()) {
		errno = 0;
		bad = ibv_reg_mr(pd, bytes, sizeof(bytes), 0) || errno != EPERM;
	}
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	return bad;
}

static void check_in_child(int (*body)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(body());
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_SECCOMP)
		test_skip("no seccomp filters here");
	assert_i_eq(WEXITSTATUS(status), 0);
}

/* Keys that can be guessed are worse than an error. */
LIMITS_TEST(no_random_numbers)
{
	check_in_child(open_without_random);
}

LIMITS_TEST(no_random_numbers_any_more)
{
	check_in_child(register_without_random);
}

LIMITS_TEST(again_and_again)
{
	uint32_t before = descriptors(), alone = threads();
	uint64_t settled = 0;

	for (uint32_t i = 0; i < TURNS; i++) {
		struct ibv_context *ctx = ibv_open_device(list[0]);
		struct ibv_pd *pd;

		assert_non_null(ctx);
		pd = ibv_alloc_pd(ctx);
		assert_non_null(pd);
		assert_int_equal(ibv_dealloc_pd(pd), 0);
		assert_int_equal(ibv_close_device(ctx), 0);
		assert_u_eq(descriptors(), before);
		assert_true(test_threads_are(alone));
		if (i == TURNS / 4)
			settled = memory_bytes();
	}
	assert_u_eq(folder_entries(folder), 0);
	if (!MEMORY_IS_THE_SANITIZERS)
		assert_u_between(memory_bytes(), 0, settled + STEP_BYTES);
}
