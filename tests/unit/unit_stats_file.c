/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_stats_file.c - who may remove which file: src/host/stats/stats_file.c. */
#include "host/stats/stats.h"

#include "support/open_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/mrc-stats-XXXXXX";
static char own[64];
static uint32_t open_fds;

/* No memory to read a folder with, when a test says so. */
static bool fdopendir_fails;
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);

DIR *__wrap_fdopendir(int fd)
{
	errno = ENOMEM;
	return fdopendir_fails ? NULL : __real_fdopendir(fd);
}

static uint32_t unmapped;
int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);

int __wrap_munmap(void *at, size_t bytes)
{
	unmapped++;
	return __real_munmap(at, bytes);
}

static int dir_setup(void **state)
{
	(void)state;
	open_fds = test_open_fds();
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
	if (test_open_fds() != open_fds)
		return -1;
	return rmdir(dir);
}

#define FILE_TEST(function, name) TEST_WITH(dir_setup, dir_teardown, function, name)

static const struct mh_stats_file_cfg alone = {.group = MH_NO_GROUP};

FILE_TEST(mh_stats_file_open, makes_and_removes)
{
	struct mh_stats_file file;
	struct mio_error error;

	assert_i_eq(mh_stats_file_open(&file, dir, &alone, &error), 0);
	assert_i_eq(access(own, F_OK), 0);
	file.map->version = 5;
	unmapped = 0;
	mh_stats_file_close(&file);
	assert_u_eq(unmapped, 1);
	assert_i_eq(access(own, F_OK), -1);
}

/* A process may have several devices. */
FILE_TEST(mh_stats_file_open, has_the_device_in_its_name)
{
	const struct mh_stats_file_cfg third = {.device = 2, .group = MH_NO_GROUP};
	struct mh_stats_file file;
	struct mio_error error;
	char name[64];

	assert_i_eq(mh_stats_file_open(&file, dir, &third, &error), 0);
	snprintf(name, sizeof(name), "%ld.2" MRC_STATS_SUFFIX, (long)getpid());
	assert_string_equal(file.name, name);
	mh_stats_file_close(&file);
}

FILE_TEST(mh_stats_file_close, keeps)
{
	struct mh_stats_file file;
	struct mio_error error;

	assert_i_eq(mh_stats_file_open(&file, dir, &alone, &error), 0);
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
	assert_i_eq(mh_stats_file_open(&file, dir, &alone, &error), 0);
	mh_stats_file_close(&file);
}

FILE_TEST(mh_stats_file_open, leaves_what_another_holds)
{
	struct mh_stats_file file;
	struct mio_error error;
	int fd = open(own, O_CREAT | O_RDWR, 0600);

	assert_true(fd >= 0);
	assert_i_eq(flock(fd, LOCK_EX), 0);
	assert_i_eq(mh_stats_file_open(&file, dir, &alone, &error), EEXIST);
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
	alarm(60);
	assert_i_eq(mh_stats_file_open(&file, dir, &alone, &error), 0);
	alarm(0);
	mh_stats_file_close(&file);
}

TEST(mh_stats_file_open, names_a_folder_that_is_not_there)
{
	struct mh_stats_file file;
	struct mio_error error;

	assert_i_eq(mh_stats_file_open(&file, "/nowhere/at/all", &alone, &error), ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/at/all"));
}

/* ---- a folder of the user's own ---- */

#define OWN_TEST(name) FILE_TEST(mh_stats_file_open_own, name)

static char folder[64];

/* A path in the folder of the user's own, which lies in the folder of the test. */
static const char *in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int open_in_folder(struct mh_stats_file *file, struct mio_error *error)
{
	snprintf(folder, sizeof(folder), "%s/own", dir);
	return mh_stats_file_open_own(file, folder, &alone, error);
}

/* The user's folder with nothing in it, as another process of the user would have left it. */
static void make_folder(void)
{
	struct mh_stats_file file;
	struct mio_error error;

	assert_i_eq(open_in_folder(&file, &error), 0);
	mh_stats_file_close(&file);
}

/* Process numbers end below 2^22, so the files that are left are nobody's. */
static void leave(const char *name, const char *bytes)
{
	FILE *f = fopen(in_folder(name), "w");

	assert_non_null(f);
	fputs(bytes, f);
	fclose(f);
}

OWN_TEST(makes_it_for_the_user_alone)
{
	struct mh_stats_file file;
	struct mio_error error;
	struct stat st;

	assert_i_eq(open_in_folder(&file, &error), 0);
	assert_i_eq(stat(folder, &st), 0);
	assert_u_eq(st.st_mode & 07777, 0700);
	assert_i_eq(stat(in_folder(file.name), &st), 0);
	assert_u_eq(st.st_mode & 07777, 0600);
	mh_stats_file_close(&file);
	assert_i_eq(rmdir(folder), 0);
}

#define WATCHERS 64990u

static void expect_modes(const struct mh_stats_file *file, gid_t gid, mode_t of_dir, mode_t of_file)
{
	struct stat st;

	assert_i_eq(stat(folder, &st), 0);
	assert_u_eq(st.st_mode & 07777, of_dir);
	assert_u_eq(st.st_gid, gid);
	assert_i_eq(stat(in_folder(file->name), &st), 0);
	assert_u_eq(st.st_mode & 07777, of_file);
}

OWN_TEST(lets_a_group_read_and_takes_that_back)
{
	const struct mh_stats_file_cfg shared = {.group = WATCHERS};
	struct mh_stats_file file;
	struct mio_error error;

	if (geteuid() != 0)
		test_skip("only root is in every group");
	make_folder();
	assert_i_eq(mh_stats_file_open_own(&file, folder, &shared, &error), 0);
	expect_modes(&file, WATCHERS, 0750, 0640);
	mh_stats_file_close(&file);
	assert_i_eq(open_in_folder(&file, &error), 0);
	expect_modes(&file, WATCHERS, 0700, 0600);
	mh_stats_file_close(&file);
	assert_i_eq(rmdir(folder), 0);
}

/* Another user, of no group that matters, is refused, and what is said has `text` in it. */
static void expect_refused_elsewhere(const struct mh_stats_file_cfg *cfg, const char *text)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		test_skip("only root can become somebody else");
	assert_i_eq(chmod(dir, 0777), 0);
	snprintf(folder, sizeof(folder), "%s/own", dir);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		struct mh_stats_file file;
		struct mio_error error;
		int before = test_next_fd();

		if (setgroups(0, NULL) || setresgid(65000, 65000, 65000) ||
		    setresuid(65000, 65000, 65000))
			_exit(2);
		if (mh_stats_file_open_own(&file, folder, cfg, &error) != EPERM)
			_exit(3);
		if (test_next_fd() != before)
			_exit(5);
		_exit(strstr(error.text, text) ? 0 : 4);
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	assert_i_eq(status, 0);
	assert_i_eq(rmdir(folder), 0);
}

/* A user who is not in the group cannot give to it, and hears so. */
OWN_TEST(of_a_group_that_the_user_is_not_in_is_an_error)
{
	const struct mh_stats_file_cfg shared = {.group = WATCHERS};

	expect_refused_elsewhere(&shared, "MRC_STATS_GROUP");
}

OWN_TEST(refuses_one_that_it_may_not_open)
{
	make_folder();
	expect_refused_elsewhere(&alone, "mode 0700");
}

static void expect_refused(void)
{
	struct mh_stats_file file;
	struct mio_error error;

	assert_i_eq(open_in_folder(&file, &error), EPERM);
	assert_non_null(strstr(error.text, folder));
	assert_non_null(strstr(error.text, "mode 0700"));
}

OWN_TEST(refuses_one_that_others_may_use)
{
	make_folder();
	assert_i_eq(chmod(folder, 0770), 0);
	expect_refused();
	assert_i_eq(chmod(folder, 0705), 0);
	expect_refused();
	assert_i_eq(rmdir(folder), 0);
}

OWN_TEST(refuses_one_of_another_user)
{
	if (geteuid() != 0)
		test_skip("only root can make a folder of another user");
	make_folder();
	assert_i_eq(chown(folder, 65534, 65534), 0);
	expect_refused();
	assert_i_eq(rmdir(folder), 0);
}

OWN_TEST(refuses_a_link)
{
	char real[64];

	make_folder();
	snprintf(real, sizeof(real), "%s/real", dir);
	assert_i_eq(rename(folder, real), 0);
	assert_i_eq(symlink(real, folder), 0);
	expect_refused();
	assert_i_eq(unlink(folder), 0);
	assert_i_eq(rmdir(real), 0);
}

OWN_TEST(refuses_what_is_no_folder)
{
	snprintf(folder, sizeof(folder), "%s/own", dir);
	assert_i_eq(mkfifo(folder, 0600), 0);
	alarm(60);
	expect_refused();
	alarm(0);
	assert_i_eq(unlink(folder), 0);
}

/* Somebody may have made the folder that it is found in their own since. */
OWN_TEST(removes_its_file_where_it_made_it)
{
	struct mh_stats_file file;
	struct mio_error error;
	char real[64];

	assert_i_eq(open_in_folder(&file, &error), 0);
	snprintf(real, sizeof(real), "%s/real", dir);
	assert_i_eq(rename(folder, real), 0);
	assert_i_eq(mkdir(folder, 0700), 0);
	leave(file.name, "of somebody else");
	mh_stats_file_close(&file);
	assert_i_eq(unlink(in_folder(file.name)), 0);
	assert_i_eq(rmdir(folder), 0);
	assert_i_eq(rmdir(real), 0);
}

OWN_TEST(sweeps_what_crashed_processes_left)
{
	make_folder();
	leave("99999991" MRC_STATS_SUFFIX, MRC_STATS_MAGIC "....");
	leave("99999992" MRC_STATS_SUFFIX, "");
	leave("99999991.notes", MRC_STATS_MAGIC);
	make_folder();
	assert_i_eq(access(in_folder("99999991" MRC_STATS_SUFFIX), F_OK), -1);
	assert_i_eq(unlink(in_folder("99999992" MRC_STATS_SUFFIX)), 0);
	assert_i_eq(unlink(in_folder("99999991.notes")), 0);
	assert_i_eq(rmdir(folder), 0);
}

/* Then what is left there stays. */
OWN_TEST(does_without_a_look_at_the_folder)
{
	make_folder();
	leave("99999995" MRC_STATS_SUFFIX, MRC_STATS_MAGIC "....");
	fdopendir_fails = true;
	make_folder();
	fdopendir_fails = false;
	assert_i_eq(unlink(in_folder("99999995" MRC_STATS_SUFFIX)), 0);
	assert_i_eq(rmdir(folder), 0);
}

OWN_TEST(does_not_wait_for_a_fifo)
{
	make_folder();
	assert_i_eq(mkfifo(in_folder("99999993" MRC_STATS_SUFFIX), 0666), 0);
	alarm(60);
	make_folder();
	alarm(0);
	assert_i_eq(unlink(in_folder("99999993" MRC_STATS_SUFFIX)), 0);
	assert_i_eq(rmdir(folder), 0);
}

OWN_TEST(leaves_what_is_of_another_user)
{
	const char *foreign = "99999994" MRC_STATS_SUFFIX;

	if (geteuid() != 0)
		test_skip("only root can make a file of another user");
	make_folder();
	leave(foreign, MRC_STATS_MAGIC "....");
	assert_i_eq(chown(in_folder(foreign), 65534, 65534), 0);
	make_folder();
	assert_i_eq(unlink(in_folder(foreign)), 0);
	assert_i_eq(rmdir(folder), 0);
}
