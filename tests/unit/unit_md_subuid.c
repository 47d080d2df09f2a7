/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_md_subuid.c - whose a subordinate number is: src/mrcd/md_subuid.c. */
#include "mrcd/md_subuid.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/open_fds.h"
#include "support/test.h"

#define ABOVE (UINT64_C(1) << 32)

static uint32_t openings;

__typeof__(fopen) __real_fopen, __wrap_fopen;
FILE *__wrap_fopen(const char *name, const char *mode)
{
	openings++;
	return __real_fopen(name, mode);
}

static char path[] = "/tmp/mrc-subuid-XXXXXX";
static struct md_subuid subuid;

static int subuid_setup(void **state)
{
	int fd;

	(void)state;
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	md_subuid_init(&subuid, path);
	return fd < 0 ? -1 : close(fd);
}

static int subuid_teardown(void **state)
{
	(void)state;
	md_subuid_fini(&subuid);
	unlink(path);
	return 0;
}

#define SUBUID_TEST(name) TEST_WITH(subuid_setup, subuid_teardown, md_subuid_account, name)

/* As usermod(8) does: by another file of the same name. */
static void write_bytes(const char *text, size_t bytes)
{
	char other[sizeof(path) + 1];
	FILE *file;

	snprintf(other, sizeof(other), "%s-", path);
	file = fopen(other, "we");
	assert_non_null(file);
	assert_u_eq(fwrite(text, 1, bytes, file), bytes);
	fclose(file);
	assert_int_equal(rename(other, path), 0);
}

static void write_file(const char *text)
{
	write_bytes(text, strlen(text));
}

static uint64_t account(uint32_t uid)
{
	return md_subuid_account(&subuid, uid);
}

SUBUID_TEST(of_a_range_its_users)
{
	write_file("1001:100000:65536\n1002:165536:2\n1001:300000:1");
	assert_u_eq(account(99999), 99999);
	assert_u_eq(account(100000), 1001);
	assert_u_eq(account(165535), 1001);
	assert_u_eq(account(165536), 1002);
	assert_u_eq(account(165537), 1002);
	assert_u_eq(account(165538), 165538);
	assert_u_eq(account(300000), 1001);
	assert_u_eq(account(1001), 1001);
	assert_u_eq(account(0), 0);
}

/* 1003 is a user, too: 1001 can be him. What 1003 was given is not 1001's. */
SUBUID_TEST(of_the_first_line_where_ranges_overlap)
{
	write_file("1001:1003:1\n1001:100000:10\n1002:100005:10\n1003:200000:10\n");
	assert_u_eq(account(100009), 1001);
	assert_u_eq(account(100010), 1002);
	assert_u_eq(account(1003), 1001);
	assert_u_eq(account(200000), 1003);
}

/* What root has given to a container is none of root's places, nor another container's. */
SUBUID_TEST(of_names)
{
	/* Its number is another one in each distribution. */
	const struct passwd *daemon = getpwnam("daemon");

	assert_non_null(daemon);
	write_file("daemon:100000:10\nroot:200000:10\nroot:300000:10\n"
		   "nosuchuser-:400000:10\n0:500000:10\n4294967296:600000:10\n");
	assert_u_eq(account(100000), daemon->pw_uid);
	assert_u_eq(account(200000), ABOVE + 200000);
	assert_u_eq(account(200009), ABOVE + 200000);
	assert_u_eq(account(300000), ABOVE + 300000);
	assert_u_eq(account(400001), ABOVE + 400000);
	assert_u_eq(account(500001), ABOVE + 500000);
	assert_u_eq(account(600001), ABOVE + 600000);
}

/* As LXD has it to let a container have files of a user, who is not two for that. */
SUBUID_TEST(of_a_user_whom_a_container_has)
{
	write_file("root:1001:1\nnosuchuser-:1001:1\n1001:100000:10\nroot:1002:2\n");
	assert_u_eq(account(1001), 1001);
	assert_u_eq(account(100000), 1001);
	assert_u_eq(account(1002), ABOVE + 1002);
}

SUBUID_TEST(goes_by_the_file_as_it_is)
{
	assert_u_eq(account(100000), 100000);
	write_file("1001:100000:10\n");
	assert_u_eq(account(100000), 1001);
	write_file("1002:100000:10\n");
	assert_u_eq(account(100000), 1002);
	write_file("");
	assert_u_eq(account(100000), 100000);
	write_file("1001:100000:10\n");
	assert_u_eq(account(100000), 1001);
	unlink(path);
	assert_u_eq(account(100000), 100000);
}

/* A folder can be opened, and its first line not be read. */
SUBUID_TEST(keeps_what_it_knows_if_reading_fails)
{
	write_file("1001:100000:10\n");
	assert_u_eq(account(100000), 1001);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_u_eq(account(100000), 1001);
	rmdir(path);
	write_file("1002:100000:10\n");
	assert_u_eq(account(100000), 1002);
}

/* Whoever connects a thousand times a second has it read once. */
SUBUID_TEST(reads_a_file_once)
{
	uint32_t fds = test_open_fds();

	write_file("1001:100000:10\n");
	openings = 0;
	for (uint32_t i = 0; i < 5; i++)
		assert_u_eq(account(100000 + i), 1001);
	assert_u_eq(openings, 1);
	assert_u_eq(test_open_fds(), fds);
}

SUBUID_TEST(leaves_out_what_is_no_range)
{
	write_file("\n# a comment\n1001\n1001:\n1001:100000\n1001:100000:\n:100000:10\n"
		   "1001:100000:10:x\n1001:x:10\n1001:100000:x\n1001:99999999999:10\n"
		   "1001:-5:10\n1001:100000:99999999999\n1002:100000:10\n");
	assert_u_eq(account(100000), 1002);
	assert_u_eq(account(4294967291u), 4294967291u);
}

/* What a machine can leave that loses its power while the file is written. */
SUBUID_TEST(leaves_out_a_line_with_a_nul)
{
	static const char text[] = "1001:100000:10\0\n1002:100000:10\0\n1003:100000:10\n\0";

	write_bytes(text, sizeof(text));
	assert_u_eq(account(100000), 1003);
}

SUBUID_TEST(of_many_ranges)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	for (uint32_t i = 0; i < 1000; i++)
		fprintf(file, "%u:%u:10\n", 2000 + i, 100000 + 10 * i);
	fclose(file);
	for (uint32_t i = 0; i < 1000; i++)
		assert_u_eq(account(100000 + 10 * i + i % 10), 2000 + i);
}

SUBUID_TEST(leaves_out_what_is_left_of_a_long_line)
{
	char text[2048];

	for (int before = 500; before < 520; before++) {
		snprintf(text, sizeof(text), "#%*s1001:100000:10\n1002:100000:10", before, "");
		write_file(text);
		assert_u_eq(account(100000), 1002);
	}
}

static void write_behind(uint32_t comments)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	for (uint32_t i = 0; i < comments; i++)
		fputs("#\n", file);
	fputs("1001:100000:10\n", file);
	fclose(file);
}

SUBUID_TEST(reads_so_many_lines_and_no_more)
{
	write_behind(MD_SUBUID_LINES_MAX - 1);
	assert_u_eq(account(100000), 1001);
	write_behind(MD_SUBUID_LINES_MAX);
	assert_u_eq(account(100000), 100000);
}

/* The last user there can be is -1, which nobody is. */
SUBUID_TEST(to_the_end)
{
	write_file("1001:4294967290:100\n1002:0:5\n");
	assert_u_eq(account(UINT32_MAX), 1001);
	assert_u_eq(account(4), 1002);
	assert_u_eq(account(0), 0);
}
