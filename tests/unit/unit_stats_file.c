/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_stats_file.c - who may remove which file: src/host/stats/stats_file.c. */
#include "host/stats/stats.h"

#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/mrc-stats-XXXXXX";
static char own[64];

static int dir_setup(void **state)
{
	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(own, sizeof(own), "%s/%ld" MRC_STATS_SUFFIX, dir, (long)getpid());
	return 0;
}

static int dir_teardown(void **state)
{
	(void)state;
	unlink(own);
	return rmdir(dir);
}

#define FILE_TEST(function, name) TEST_WITH(dir_setup, dir_teardown, function, name)

FILE_TEST(mh_stats_file_open, makes_and_removes)
{
	struct mh_stats_file file;
	struct mio_error error;

	assert_i_eq(mh_stats_file_open(&file, dir, 0, &error), 0);
	assert_i_eq(access(own, F_OK), 0);
	file.map->version = 5;
	mh_stats_file_close(&file);
	assert_i_eq(access(own, F_OK), -1);
}

FILE_TEST(mh_stats_file_close, keeps)
{
	struct mh_stats_file file;
	struct mio_error error;

	assert_i_eq(mh_stats_file_open(&file, dir, 0, &error), 0);
	file.keep = true;
	mh_stats_file_close(&file);
	assert_i_eq(access(own, F_OK), 0);
}

FILE_TEST(mh_stats_file_open, replaces_what_nobody_holds)
{
	struct mh_stats_file file;
	struct mio_error error;
	int fd = open(own, O_CREAT | O_RDWR, 0600);

	assert_true(fd >= 0);
	close(fd);
	assert_i_eq(mh_stats_file_open(&file, dir, 0, &error), 0);
	mh_stats_file_close(&file);
}

FILE_TEST(mh_stats_file_open, leaves_what_another_holds)
{
	struct mh_stats_file file;
	struct mio_error error;
	int fd = open(own, O_CREAT | O_RDWR, 0600);

	assert_true(fd >= 0);
	assert_i_eq(flock(fd, LOCK_EX), 0);
	assert_i_eq(mh_stats_file_open(&file, dir, 0, &error), EEXIST);
	assert_non_null(strstr(error.text, "creating"));
	assert_i_eq(access(own, F_OK), 0);
	close(fd);
}

/* Opening one for reading would wait for a writer, for ever. */
FILE_TEST(mh_stats_file_open, replaces_a_fifo)
{
	struct mh_stats_file file;
	struct mio_error error;

	assert_i_eq(mkfifo(own, 0600), 0);
	alarm(10);
	assert_i_eq(mh_stats_file_open(&file, dir, 0, &error), 0);
	alarm(0);
	mh_stats_file_close(&file);
}

TEST(mh_stats_file_open, names_a_folder_that_is_not_there)
{
	struct mh_stats_file file;
	struct mio_error error;

	assert_i_eq(mh_stats_file_open(&file, "/nowhere/at/all", 0, &error), ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/at/all"));
}

/* Process numbers end below 2^22, so these are nobody's. */
static void leave(const char *path, const char *bytes)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(bytes, f);
	fclose(f);
}

TEST(mh_stats_file_default, sweeps_what_crashed_processes_left)
{
	const char *left = MRC_STATS_DEFAULT_DIR "/99999991" MRC_STATS_SUFFIX;
	const char *young = MRC_STATS_DEFAULT_DIR "/99999992" MRC_STATS_SUFFIX;
	const char *other = MRC_STATS_DEFAULT_DIR "/99999991.notes";

	mh_stats_file_default();
	if (access(MRC_STATS_DEFAULT_DIR, W_OK) < 0)
		test_skip("the default folder cannot be written");
	leave(left, MRC_STATS_MAGIC "....");
	leave(young, "");
	leave(other, MRC_STATS_MAGIC);
	assert_string_equal(mh_stats_file_default(), MRC_STATS_DEFAULT_DIR);
	assert_i_eq(access(left, F_OK), -1);
	assert_i_eq(unlink(young), 0);
	assert_i_eq(unlink(other), 0);
}

/* Any user may put one there, under the name of a file of statistics. */
TEST(mh_stats_file_default, does_not_wait_for_a_fifo)
{
	const char *fifo = MRC_STATS_DEFAULT_DIR "/99999993" MRC_STATS_SUFFIX;

	mh_stats_file_default();
	if (access(MRC_STATS_DEFAULT_DIR, W_OK) < 0)
		test_skip("the default folder cannot be written");
	assert_i_eq(mkfifo(fifo, 0666), 0);
	alarm(10);
	mh_stats_file_default();
	alarm(0);
	assert_i_eq(unlink(fifo), 0);
}

TEST(mh_stats_file_default, leaves_what_is_of_another_user)
{
	const char *foreign = MRC_STATS_DEFAULT_DIR "/99999994" MRC_STATS_SUFFIX;

	if (geteuid() != 0)
		test_skip("only root can make a file of another user");
	mh_stats_file_default();
	leave(foreign, MRC_STATS_MAGIC "....");
	assert_i_eq(chown(foreign, 65534, 65534), 0);
	mh_stats_file_default();
	assert_i_eq(unlink(foreign), 0);
}
