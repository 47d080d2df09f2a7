/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_store_read.c - what a reader takes and refuses: src/store/store_read.c, store_dir.c. */
#include "unit/store_fixture.h"

#include <errno.h>

static struct mn_state want, got;
static struct store_info info;

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

STORE_TEST(store_read, what_was_written)
{
	denying(&want, 5);
	commit(&want);
	assert_i_eq(read_it(), 0);
	expect_same(&got, &want);
	assert_u_eq(info.generation, 1);
	assert_u_eq(info.pid, (uint64_t)getpid());
	assert_u_eq(info.uid, geteuid());
	assert_string_equal(info.by, BY);
	assert_true(info.written_ns > 0);
}

STORE_TEST(store_read, all_evs_there_can_be)
{
	denying(&want, MN_EVS_PROFILE_MAX);
	commit(&want);
	assert_i_eq(read_it(), 0);
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
	for (off_t len = st.st_size - 1; len >= 0; len = len < 100 ? len - 1 : len - 97) {
		assert_i_eq(truncate(store_file, len), 0);
		expect_refused(EBADMSG, "mrc0.state: ");
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

STORE_TEST(store_read, a_folder_that_is_a_link)
{
	char other[80];

	denying(&want, 2);
	commit(&want);
	snprintf(other, sizeof(other), "%s/link", store_dir);
	assert_i_eq(symlink(store_dir, other), 0);
	assert_true(store_read(other, DEVICE, &got, &info, &error) != 0);
}
