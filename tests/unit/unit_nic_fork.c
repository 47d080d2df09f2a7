/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_fork.c - what a forked child does with the NIC before fork(2) returns there: it closes
 * all descriptors and calls nothing of the allocator, which may have forked with a lock of another
 * thread's. That of AddressSanitizer does, and a child that freed something waited for ever.
 */
#include "support/fault_table.h"
#include "support/netns.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/state/nic_context.h"

#define FDS_MAX 4096

static char dir[] = "/tmp/softmrc-nic-fork-XXXXXX";
static char capture_path[64], table_path[64];

/* ---- calls of a child ---- */

static pid_t parent;
static unsigned calls_of_child;

static void note_call(void)
{
	if (parent != 0 && getpid() != parent)
		calls_of_child++;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void __real_free(void *bytes);
int __real_fclose(FILE *file);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void __wrap_free(void *bytes);
int __wrap_fclose(FILE *file);

void *__wrap_malloc(size_t size)
{
	note_call();
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	note_call();
	return __real_calloc(n, size);
}

void __wrap_free(void *bytes)
{
	note_call();
	__real_free(bytes);
}

int __wrap_fclose(FILE *file)
{
	note_call();
	return __real_fclose(file);
}

/* ---- the device ---- */

static int fork_setup(void **state)
{
	static const struct mrc_fault_table table = {TEST_FAULT_TABLE};
	const char *why = NULL;

	(void)state;
	if (!test_netns(&why))
		test_skip(why);
	setenv("MRC_CONFIG", "/dev/null", 1);
	setenv("MRC_EVS", "8", 1);
	setenv("MRC_SHARDS", "2", 1);
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(capture_path, sizeof(capture_path), "%s/capture", dir);
	snprintf(table_path, sizeof(table_path), "%s/table", dir);
	setenv("MRC_STATS_DIR", dir, 1);
	setenv("MRC_CAPTURE", capture_path, 1);
	test_fault_table_write(table_path, &table);
	setenv("MRC_FAULTS", table_path, 1);
	return 0;
}

static int fork_teardown(void **state)
{
	(void)state;
	parent = 0;
	unlink(table_path);
	unlink(capture_path);
	strcat(capture_path, ".1"); /* that of the second shard */
	unlink(capture_path);
	return rmdir(dir);
}

#define FORK_TEST(name) TEST_WITH(fork_setup, fork_teardown, fork, name)

/* These allocate nothing. */

static int sockets(void)
{
	int n = 0;

	for (int fd = 0; fd < FDS_MAX; fd++) {
		socklen_t len = sizeof(int);
		int domain;

		n += getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0;
	}
	return n;
}

/* Descriptors of the files that the device has made, and of the table. */
static int files(void)
{
	char path[40], to[128];
	int n = 0;

	for (int fd = 0; fd < FDS_MAX; fd++) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, to, sizeof(to));
		n += len > (ssize_t)sizeof(dir) && memcmp(to, dir, sizeof(dir) - 1) == 0;
	}
	return n;
}

static bool is_mapped(const void *page)
{
	unsigned char resident;

	return mincore((void *)(uintptr_t)page, 1, &resident) == 0;
}

enum {
	CHILD_CALLS = 1,
	CHILD_HAS_SOCKETS = 2,
	CHILD_HAS_FILES = 4,
	CHILD_HAS_TABLE = 8,
};

static int child_faults(int sockets_before, const struct mrc_fault_table *table)
{
	return (calls_of_child != 0 ? CHILD_CALLS : 0) |
	       (sockets() != sockets_before ? CHILD_HAS_SOCKETS : 0) |
	       (files() != 0 ? CHILD_HAS_FILES : 0) | (is_mapped(table) ? CHILD_HAS_TABLE : 0);
}

static void check_child(const char *driver, const char *ports)
{
	const struct mrc_fault_table *table;
	int before = sockets(), opened, status;
	struct mh_device *dev;
	pid_t child;

	setenv("MRC_DRIVER", driver, 1);
	setenv("MRC_PORTS", ports, 1);
	assert_i_eq(mh_device_open(0, NULL, &dev), 0);
	opened = sockets();
	table = dev->nic->ports.faults;
	assert_true(opened > before && files() > 0 && is_mapped(table));
	parent = getpid();
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(child_faults(before, table));
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_i_eq(status, 0);
	assert_i_eq(sockets(), opened);
	assert_i_eq(mh_device_close(dev), 0);
}

FORK_TEST(a_child_only_closes_udp)
{
	check_child("udp", "127.0.0.1,127.0.1.1");
}

FORK_TEST(a_child_only_closes_af_packet)
{
	setenv("MRC_SHARDS", "1", 1);
	check_child("af_packet", "127.0.0.1%lo");
}

FORK_TEST(a_child_only_closes_raw41)
{
	setenv("MRC_SHARDS", "1", 1);
	check_child("raw41", "::1%lo");
}
