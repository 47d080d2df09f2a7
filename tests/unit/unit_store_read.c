/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_store_read.c - what a reader takes and refuses: src/store/store_read.c, store_dir.c. */
#include "unit/store_fixture.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

static struct mn_state want, got;
static struct store_info info;

/* This many reads are interrupted before one is not, and each gives a half of what is asked. */
static uint32_t interruptions;

ssize_t __real_pread(int fd, void *to, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at)
{
	if (interruptions == 0)
		return __real_pread(fd, to, len, at);
	interruptions--;
	errno = EINTR;
	return interruptions % 2 ? -1 : __real_pread(fd, to, len > 1 ? len / 2 : len, at);
}

static int read_it(void)
{
	return store_read(store_dir, DEVICE, &got, &info, &error);
}

static void expect_refused(int code, const char *text)
{
	assert_i_eq(read_it(), code);
	if (!strstr(error.text, text))
		fail_msg("%s: \"%s\" is not in it", error.text, text);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

STORE_TEST(store_read, what_was_written)
{
	uint64_t before_ns = now_ns();

	denying(&want, 5);
	commit(&want);
	assert_i_eq(read_it(), 0);
	expect_same(&got, &want);
	assert_u_eq(info.generation, 1);
	assert_u_eq(info.pid, (uint64_t)getpid());
	assert_u_eq(info.uid, geteuid());
	assert_string_equal(info.by, BY);
	assert_u_between(info.written_ns, before_ns, now_ns());
}

STORE_TEST(store_read, all_evs_there_can_be)
{
	fill(&want);
	commit(&want);
	assert_i_eq(read_it(), 0);
	expect_same(&got, &want);
}

STORE_TEST(store_read, in_parts_and_interrupted)
{
	denying(&want, 5);
	commit(&want);
	interruptions = 8;
	assert_i_eq(read_it(), 0);
	assert_u_eq(interruptions, 0);
	expect_same(&got, &want);
}

STORE_TEST(store_read, no_ev_at_all)
{
	denying(&want, 0);
	commit(&want);
	assert_i_eq(read_it(), 0);
	expect_same(&got, &want);
}

STORE_TEST(store_read, none)
{
	expect_refused(ENOENT, "mrc0.state");
	assert_i_eq(store_read("/tmp/mrc-no-such-folder", DEVICE, &got, &info, &error), ENOENT);
	assert_non_null(strstr(error.text, "/tmp/mrc-no-such-folder: "));
}

STORE_TEST(store_read, names_that_lead_elsewhere)
{
	static const char *const names[] = {"",	   ".",	    "..",      "../mrc0",
					    "a/b", "mrc0 ", "a.state", "abcdefghijklmnop"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_i_eq(store_read(store_dir, names[i], &got, &info, &error), EINVAL);
}

/* Half-written: cut off at each of some places, the first and the last byte among them. */
STORE_TEST(store_read, cut_off)
{
	struct stat st;

	denying(&want, 2);
	commit(&want);
	assert_i_eq(stat(store_file, &st), 0);
	for (off_t len = st.st_size - 1; len >= 0; len = len < 200 ? len - 1 : len - 97) {
		assert_i_eq(truncate(store_file, len), 0);
		expect_refused(EBADMSG, len < 96 ? "mrc0.state: is cut off or cannot be read"
						 : "mrc0.state: is cut off or too long");
	}
}

static void put(off_t at, char byte)
{
	int fd = open(store_file, O_WRONLY | O_CLOEXEC);

	assert_i_eq(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

STORE_TEST(store_read, damaged)
{
	denying(&want, 2);
	commit(&want);
	put(2000, 0x55);
	expect_refused(EBADMSG, "checksum");
	put(0, 'x');
	expect_refused(EBADMSG, "is no store");
}

STORE_TEST(store_read, of_another_version)
{
	denying(&want, 2);
	commit(&want);
	put(8, 99);
	expect_refused(EPROTONOSUPPORT, "another version");
}

STORE_TEST(store_read, a_link)
{
	char other[80];

	denying(&want, 2);
	commit(&want);
	snprintf(other, sizeof(other), "%s/other", store_dir);
	assert_i_eq(rename(store_file, other), 0);
	assert_i_eq(symlink(other, store_file), 0);
	expect_refused(ELOOP, "no link");
}

/* It would wait for a writer for ever. */
STORE_TEST(store_read, a_fifo_and_a_folder)
{
	assert_i_eq(mkfifo(store_file, 0644), 0);
	expect_refused(EPERM, "regular file");
	assert_i_eq(unlink(store_file), 0);
	assert_i_eq(mkdir(store_file, 0755), 0);
	expect_refused(EPERM, "regular file");
}

STORE_TEST(store_read, what_others_may_write)
{
	denying(&want, 2);
	commit(&want);
	assert_i_eq(chmod(store_file, 0664), 0);
	expect_refused(EPERM, "nobody else can write");
	assert_i_eq(chmod(store_file, 0646), 0);
	expect_refused(EPERM, "nobody else can write");
	assert_i_eq(chmod(store_file, 0644), 0);
	assert_i_eq(chmod(store_dir, 0775), 0);
	expect_refused(EPERM, "nobody else can write");
	assert_i_eq(chmod(store_dir, 01757), 0);
	expect_refused(EPERM, "nobody else can write");
	assert_i_eq(chmod(store_dir, 0755), 0);
	assert_i_eq(read_it(), 0);
}

/* As the user of the program: neither root nor the folder's owner. */
static int read_as(uid_t user)
{
	int err;

	assert_i_eq(seteuid(user), 0);
	err = read_it();
	assert_i_eq(seteuid(0), 0);
	return err;
}

STORE_TEST(store_read, of_another_user)
{
	if (geteuid() != 0)
		test_skip("giving files away takes root");
	denying(&want, 2);
	commit(&want);
	assert_i_eq(read_as(1234), 0); /* root's */
	assert_i_eq(chown(store_file, 1234, 1234), 0);
	expect_refused(EPERM, "of root or of this user"); /* root's folder, and a file of a user */
	assert_i_eq(chown(store_dir, 1234, 1234), 0);
	assert_i_eq(read_as(1234), 0);
	assert_i_eq(read_as(1235), EPERM);
	assert_i_eq(read_as(0), EPERM);
}

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* Becomes a user, and root of a user namespace of his, where that folder has the default path. */
static bool become_rootless(void)
{
	return !setresgid(1234, 1234, 1234) && !setresuid(1234, 1234, 1234) &&
	       !prctl(PR_SET_DUMPABLE, 1) && !unshare(CLONE_NEWUSER | CLONE_NEWNS) &&
	       write_to("/proc/self/uid_map", "0 1234 1") &&
	       write_to("/proc/self/setgroups", "deny") &&
	       write_to("/proc/self/gid_map", "0 1234 1") &&
	       !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", "/run", "tmpfs", 0, NULL) && !mkdir("/run/softmrc", 0755) &&
	       !mkdir(STORE_DIR_DEFAULT, 0755) &&
	       !mount(store_dir, STORE_DIR_DEFAULT, NULL, MS_BIND | MS_REC, NULL);
}

/* There root of the host has the number of all who are not in it: by the default path alone. */
static int read_rootless(void)
{
	if (!become_rootless())
		return 77;
	if (store_read(STORE_DIR_DEFAULT, DEVICE, &got, &info, &error))
		return 1;
	return memcmp(&got, &want, mn_state_bytes(&want)) != 0 || read_it() != EPERM;
}

STORE_TEST(store_read, of_root_in_a_namespace_of_a_user)
{
	int status;
	pid_t child;

	if (geteuid() != 0)
		test_skip("being another user takes root");
	denying(&want, 2);
	commit(&want);
	child = fork();
	if (child == 0)
		_exit(read_rootless());
	assert_i_eq(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		test_skip("no user namespaces");
	assert_i_eq(status, 0);
}

STORE_TEST(store_read, a_folder_that_is_a_link)
{
	char other[80];

	denying(&want, 2);
	commit(&want);
	snprintf(other, sizeof(other), "%s/link", store_dir);
	assert_i_eq(symlink(store_dir, other), 0);
	assert_true(store_read(other, DEVICE, &got, &info, &error) != 0);
}
