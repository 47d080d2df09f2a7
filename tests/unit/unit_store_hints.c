/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_store_hints.c - hints of a user, written, read and refused: src/store/store_hints.c. */
#include "store/store_hints.h"

#include <errno.h>
#include <sys/wait.h>

#include "unit/store_fixture.h"

#define NOW UINT64_C(1000000000000)

static struct store_hint some[STORE_HINTS_MAX], got[STORE_HINTS_MAX];
static char folder[64], path[96];

/* ---- a call that fails ---- */

static bool no_close, no_list;

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	int result = __real_close(fd);

	errno = no_close ? EIO : errno;
	return no_close ? -1 : result;
}

DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd)
{
	errno = ENOMEM;
	return no_list ? NULL : __real_fdopendir(fd);
}

static int setup(void **state)
{
	no_close = no_list = false;
	if (store_setup(state))
		return -1;
	snprintf(folder, sizeof(folder), "%s/hints", store_dir);
	snprintf(path, sizeof(path), "%s/" DEVICE ".%u", folder, geteuid());
	for (uint32_t i = 0; i < STORE_HINTS_MAX; i++)
		some[i] = (struct store_hint){.heard_ns = NOW - i,
					      .from = {1},
					      .to = {(uint8_t)(i >> 8), (uint8_t)i},
					      .number = 49152 + i,
					      .index = (uint16_t)(i % MN_EVS_PROFILE_MAX),
					      .port = (uint8_t)(i % MN_PORTS_MAX + 1)};
	return 0;
}

static int teardown(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) || store_teardown(state);
}

#define HINTS_TEST(name) TEST_WITH(setup, teardown, store_hints, name)

static int load(uint32_t *n)
{
	return store_hints_load(store_dir, DEVICE, NOW, got, n);
}

static void save(uint32_t n)
{
	assert_i_eq(store_hints_save(store_dir, DEVICE, geteuid(), some, n), 0);
}

HINTS_TEST(what_was_saved)
{
	struct stat st;
	uint32_t n;

	assert_i_eq(load(&n), ENOENT);
	save(0);
	assert_i_eq(load(&n), ENOENT);
	for (uint32_t most = STORE_HINTS_MAX; most > 0; most /= 32) {
		save(most);
		assert_i_eq(load(&n), 0);
		assert_u_eq(n, most);
		assert_bytes_eq(got, some, most * sizeof(*some));
	}
	assert_i_eq(stat(path, &st), 0);
	assert_u_eq(st.st_mode & 0777, 0400); /* whom a user talks to is his own business */
	assert_i_eq(store_hints_save(store_dir, DEVICE, 0, some, STORE_HINTS_MAX + 1), EINVAL);
	assert_i_eq(store_hints_save(store_dir, "../x", 0, some, 1), EINVAL);
	errno = EIO; /* of a call that is long over */
	save(0);
	assert_i_eq(load(&n), ENOENT);
	save(0);
}

/* What a writer left that died, and the mask of its user. */
HINTS_TEST(after_what_was_left)
{
	char left[110];
	struct stat st;
	mode_t mask;
	uint32_t n;
	int fd;

	save(1);
	snprintf(left, sizeof(left), "%s.new", path);
	fd = open(left, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
	errno = EIO;
	mask = umask(0777);
	save(2);
	umask(mask);
	assert_true(access(left, F_OK) != 0);
	assert_i_eq(load(&n), 0);
	assert_u_eq(n, 2);
	assert_i_eq(stat(path, &st), 0);
	assert_u_eq(st.st_mode & 0777, 0400);
}

/* What was there stays, and nothing else lies about. */
HINTS_TEST(that_cannot_be_written)
{
	char left[110];
	uint32_t n;

	save(3);
	snprintf(left, sizeof(left), "%s.new", path);
	no_close = true;
	assert_i_eq(store_hints_save(store_dir, DEVICE, geteuid(), some, 2), EIO);
	no_close = false;
	assert_true(access(left, F_OK) != 0);
	assert_i_eq(load(&n), 0);
	assert_u_eq(n, 3);
	assert_i_eq(mkdir(left, 0755), 0);
	assert_i_eq(store_hints_save(store_dir, DEVICE, geteuid(), some, 2), EISDIR);
	assert_i_eq(rmdir(left), 0);
	save(0);
	assert_i_eq(mkdir(path, 0755), 0);
	assert_i_eq(store_hints_save(store_dir, DEVICE, geteuid(), some, 2), EISDIR);
	assert_true(access(left, F_OK) != 0);
	assert_i_eq(store_hints_save(store_dir, DEVICE, geteuid(), some, 0), EISDIR);
}

/* As another user: what he finds, and that it is not his to write to. */
static bool is_read_alone(uid_t uid)
{
	uint32_t n;

	return !setresuid(uid, uid, uid) && !load(&n) && n == 3 && chmod(path, 0600) &&
	       open(path, O_WRONLY | O_CLOEXEC) < 0;
}

/* Of what he owns a user can fill the file system of the store. */
HINTS_TEST(of_another_user_who_reads_them_alone)
{
	int status, err;
	pid_t pid;

	if (geteuid() != 0)
		test_skip("only root may become another user");
	err = store_hints_save(store_dir, DEVICE, 4711, some, 3);
	if (err == EOPNOTSUPP)
		test_skip("the file system of this folder has no ACLs");
	assert_i_eq(err, 0);
	snprintf(path, sizeof(path), "%s/" DEVICE ".4711", folder);
	for (uid_t uid = 4711; uid <= 4712; uid++) {
		pid = fork();
		if (pid == 0)
			_exit(is_read_alone(uid));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_u_eq((unsigned)WEXITSTATUS(status), uid == 4711);
	}
}

/* Of one device, of all users. */
HINTS_TEST(cleared)
{
	uint32_t n;

	assert_i_eq(store_hints_clear(store_dir, DEVICE), 0);
	save(2);
	no_list = true;
	assert_i_eq(store_hints_clear(store_dir, DEVICE), ENOMEM);
	no_list = false;
	assert_i_eq(store_hints_save(store_dir, DEVICE "1", geteuid(), some, 1), 0);
	assert_i_eq(store_hints_clear(store_dir, DEVICE), 0);
	assert_i_eq(load(&n), ENOENT);
	assert_i_eq(store_hints_load(store_dir, DEVICE "1", NOW, got, &n), 0);
	assert_i_eq(store_hints_clear(store_dir, "../x"), EINVAL);
	assert_i_eq(chmod(folder, 0777), 0);
	assert_i_eq(store_hints_clear(store_dir, DEVICE), EPERM);
}

/* REQ(req.ev.hint) */
HINTS_TEST(of_a_time_that_is_over)
{
	uint32_t n;

	some[0].heard_ns = NOW - STORE_HINT_AGE_NS;
	some[2].heard_ns = NOW + 1; /* of another boot */
	some[3].heard_ns = NOW - STORE_HINT_AGE_NS + 1;
	save(4);
	assert_i_eq(load(&n), 0);
	assert_u_eq(n, 2);
	assert_u_eq(got[0].number, some[1].number);
	assert_u_eq(got[1].number, some[3].number);
}

HINTS_TEST(numbers_that_name_nothing)
{
	uint32_t n;

	some[0].port = 0;
	some[1].port = MN_PORTS_MAX + 1;
	some[2].profile = MN_EV_PROFILES;
	some[3].index = MN_EVS_PROFILE_MAX;
	save(5);
	assert_i_eq(load(&n), 0);
	assert_u_eq(n, 1);
	assert_u_eq(got[0].number, some[4].number);
}

/* Each byte is under the checksum, and no length but its own is taken. */
HINTS_TEST(damaged)
{
	uint32_t n;
	int fd;

	for (off_t at = 0; at < 24 + 2 * 56; at++) {
		uint8_t byte;

		save(2);
		chmod(path, 0600);
		fd = open(path, O_RDWR | O_CLOEXEC);
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		assert_i_eq(load(&n), EBADMSG);
		assert_u_eq(n, 0);
		close(fd);
	}
	for (off_t length = 0; length < 24 + 3 * 56; length += 8) {
		save(2);
		chmod(path, 0600);
		assert_i_eq(truncate(path, length), 0);
		assert_i_eq(load(&n), length == 24 + 2 * 56 ? 0 : EBADMSG);
	}
}

/* Then that is what is said, and not that there is none. */
HINTS_TEST(no_folder_can_be_made)
{
	int status = -1;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		if (geteuid() ? chmod(store_dir, 0555) : setresuid(65534, 65534, 65534))
			_exit(1);
		_exit(store_hints_save(store_dir, DEVICE, geteuid(), some, 1) == EACCES ? 0 : 2);
	}
	assert_true(waitpid(child, &status, 0) == child);
	assert_i_eq(chmod(store_dir, 0755), 0);
	assert_i_eq(status, 0);
}

/* Neither folder nor file may be anybody's to write, nor lead elsewhere. */
HINTS_TEST(not_to_be_believed)
{
	char elsewhere[80];
	uint32_t n;

	save(2);
	assert_i_eq(chmod(path, 0622), 0);
	assert_i_eq(load(&n), EPERM);
	assert_i_eq(chmod(path, 0400), 0);
	assert_i_eq(chmod(folder, 0777), 0);
	assert_i_eq(load(&n), EPERM);
	assert_i_eq(store_hints_save(store_dir, DEVICE, geteuid(), some, 1), EPERM);
	assert_i_eq(chmod(folder, 0755), 0);
	assert_i_eq(load(&n), 0);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", folder);
	assert_i_eq(rename(path, elsewhere), 0);
	assert_i_eq(symlink(elsewhere, path), 0);
	assert_i_eq(load(&n), ELOOP);
	assert_i_eq(unlink(path), 0);
	assert_i_eq(mkfifo(path, 0400), 0);
	assert_i_eq(load(&n), EPERM);
}
