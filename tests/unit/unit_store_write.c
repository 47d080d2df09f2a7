/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_store_write.c - one writer, and what is left of one that dies: src/store/store_write.c. The
 * linker leads its system calls through __wrap_*, where it can be ended or a call be failed.
 */
#include "unit/store_fixture.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/wait.h>

static struct mn_state first, second, got;
static struct store_info info;

/* ---- the n-th call, from 1, is the last one, or fails; 0: none ---- */

static uint32_t calls, end_before, end_after, fail_at;
static bool interrupted; /* each second write */

static bool is_stopped(void)
{
	calls++;
	if (calls == end_before)
		_exit(70);
	if (calls == fail_at)
		errno = EIO;
	return calls == fail_at;
}

static int passed(int result)
{
	if (calls == end_after)
		_exit(70);
	return result;
}

#define WRAP(name, parameters, arguments)               \
	int __real_##name parameters;                   \
	int __wrap_##name parameters;                   \
	int __wrap_##name parameters                    \
	{                                               \
		if (is_stopped())                       \
			return -1;                      \
		return passed(__real_##name arguments); \
	}

WRAP(unlinkat, (int dir, const char *name, int flags), (dir, name, flags))
WRAP(renameat, (int dir, const char *from, int to_dir, const char *to), (dir, from, to_dir, to))
WRAP(fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(flock, (int fd, int operation), (fd, operation))

int __real_openat(int dir, const char *name, int flags, ...);
int __wrap_openat(int dir, const char *name, int flags, ...);
int __wrap_openat(int dir, const char *name, int flags, ...)
{
	va_list ap;
	mode_t mode = 0;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (is_stopped())
		return -1;
	return passed(__real_openat(dir, name, flags, mode));
}

/* What it closes is closed, whatever it says. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	bool stopped = is_stopped();
	int result = __real_close(fd);

	if (stopped)
		errno = EIO;
	return stopped ? -1 : passed(result);
}

/* A half of what it was given, so that a file is half-written in between. */
ssize_t __real_write(int fd, const void *from, size_t len);
ssize_t __wrap_write(int fd, const void *from, size_t len);
ssize_t __wrap_write(int fd, const void *from, size_t len)
{
	if (is_stopped())
		return -1;
	if (interrupted && calls % 2) {
		errno = EINTR;
		return -1;
	}
	return passed((int)__real_write(fd, from, len > 1 ? len / 2 : len));
}

static void reset(void)
{
	calls = end_before = end_after = fail_at = 0;
	interrupted = false;
}

static int setup(void **state)
{
	reset();
	denying(&first, 3);
	denying(&second, 9);
	return store_setup(state);
}

#define WRITE_TEST(function, name) TEST_WITH(setup, store_teardown, function, name)

static void expect_stored(const struct mn_state *want)
{
	if (store_read(store_dir, DEVICE, &got, &info, &error))
		fail_msg("%s", error.text);
	expect_same(&got, want);
}

static int open_writer(struct store_writer *w)
{
	return store_writer_open(w, store_dir, DEVICE, BY, &got, &lost, &error);
}

WRITE_TEST(store_writer_open, finds_nothing_then_what_was_written)
{
	struct store_writer w;
	struct mn_state none;

	mn_state_init(&none);
	assert_i_eq(open_writer(&w), 0);
	expect_same(&got, &none);
	assert_u_eq(w.info.generation, 0);
	assert_string_equal(lost.text, "");
	assert_i_eq(store_writer_commit(&w, &first, &error), 0);
	assert_i_eq(store_writer_commit(&w, &second, &error), 0);
	store_writer_close(&w);
	assert_i_eq(open_writer(&w), 0);
	expect_same(&got, &second);
	assert_u_eq(w.info.generation, 2);
	assert_i_eq(store_writer_commit(&w, &first, &error), 0);
	store_writer_close(&w);
	expect_stored(&first);
	assert_u_eq(info.generation, 3);
}

WRITE_TEST(store_writer_commit, as_long_as_a_state_can_be)
{
	fill(&first);
	commit(&first);
	expect_stored(&first);
}

WRITE_TEST(store_writer_commit, writes_on_when_it_is_interrupted)
{
	interrupted = true;
	commit(&first);
	assert_true(calls > 20);
	expect_stored(&first);
}

WRITE_TEST(store_writer_open, is_the_only_one)
{
	struct store_writer w, other;

	assert_i_eq(open_writer(&w), 0);
	assert_i_eq(open_writer(&other), EBUSY);
	assert_non_null(strstr(error.text, "another process"));
	assert_i_eq(store_writer_open(&other, store_dir, "mrc1", BY, &got, &lost, &error), 0);
	store_writer_close(&other);
	store_writer_close(&w);
	assert_i_eq(open_writer(&w), 0);
	store_writer_close(&w);
}

/* Nobody else may hold the lock, and all may read the state, whatever the mask of the user. */
WRITE_TEST(store_writer_commit, has_these_modes)
{
	mode_t mask = umask(0077);
	char path[80], made[80];
	struct store_writer w;
	struct stat st;

	snprintf(made, sizeof(made), "%s/a", store_dir);
	snprintf(path, sizeof(path), "%s/a/b", store_dir);
	assert_i_eq(store_writer_open(&w, path, DEVICE, BY, &got, &lost, &error), 0);
	assert_i_eq(store_writer_commit(&w, &first, &error), 0);
	umask(mask);
	assert_i_eq(fstatat(w.dir, "mrc0.state", &st, 0), 0);
	assert_u_eq(st.st_mode & 0777, 0644);
	assert_i_eq(fstatat(w.dir, "mrc0.lock", &st, 0), 0);
	assert_u_eq(st.st_mode & 0777, 0600);
	assert_i_eq(stat(path, &st), 0);
	assert_u_eq(st.st_mode & 0777, 0755);
	assert_i_eq(stat(made, &st), 0);
	assert_u_eq(st.st_mode & 0777, 0755);
	unlinkat(w.dir, "mrc0.state", 0);
	unlinkat(w.dir, "mrc0.lock", 0);
	store_writer_close(&w);
	rmdir(path);
	rmdir(made);
}

WRITE_TEST(store_writer_commit, refuses_what_is_not_sound)
{
	struct store_writer w;

	assert_i_eq(open_writer(&w), 0);
	assert_i_eq(store_writer_commit(&w, &first, &error), 0);
	second.port_admin[0] = 77;
	assert_i_eq(store_writer_commit(&w, &second, &error), EINVAL);
	second.n_evs = UINT32_MAX;
	assert_i_eq(store_writer_commit(&w, &second, &error), EINVAL);
	store_writer_close(&w);
	expect_stored(&first);
}

WRITE_TEST(store_writer_open, replaces_what_does_not_count)
{
	struct store_writer w;
	struct mn_state none;

	commit(&first);
	assert_i_eq(truncate(store_file, 300), 0);
	assert_i_eq(open_writer(&w), 0);
	assert_non_null(strstr(lost.text, "cut off"));
	mn_state_init(&none);
	expect_same(&got, &none);
	assert_i_eq(store_writer_commit(&w, &second, &error), 0);
	store_writer_close(&w);
	expect_stored(&second);
	assert_u_eq(info.generation, 2);
}

/* What others could write to counts for nothing but for the number that goes on. */
WRITE_TEST(store_writer_open, counts_on_above_what_it_does_not_believe)
{
	struct store_writer w;
	static const uint64_t far[] = {UINT64_MAX, UINT64_MAX / 2 + 1, UINT64_MAX / 2};
	int fd;

	commit(&first);
	assert_i_eq(chmod(store_file, 0666), 0);
	assert_i_eq(open_writer(&w), 0);
	assert_non_null(strstr(lost.text, "nobody else can write"));
	assert_u_eq(w.info.generation, 1);
	assert_u_eq(w.info.pid, 0);
	store_writer_close(&w);
	fd = open(store_file, O_WRONLY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		assert_i_eq(pwrite(fd, &far[i], sizeof(far[i]), 24), sizeof(far[i]));
		assert_i_eq(open_writer(&w), 0);
		assert_u_eq(w.info.generation, far[i] > UINT64_MAX / 2 ? 0 : far[i]);
		store_writer_close(&w);
	}
	close(fd);
	assert_i_eq(truncate(store_file, 10), 0);
	assert_i_eq(open_writer(&w), 0);
	assert_u_eq(w.info.generation, 0);
	store_writer_close(&w);
}

WRITE_TEST(store_writer_open, refuses_folders_and_names)
{
	const char *const no_name = "0123456789012345678901234567890123456789";
	static char longest[STORE_DIR_MAX + 1];
	struct store_writer w;

	memset(longest, '/', STORE_DIR_MAX);
	assert_i_eq(store_writer_open(&w, longest, DEVICE, BY, &got, &lost, &error), EINVAL);
	assert_i_eq(store_writer_open(&w, "", DEVICE, BY, &got, &lost, &error), EINVAL);
	assert_i_eq(store_writer_open(&w, store_dir, "../x", BY, &got, &lost, &error), EINVAL);
	assert_i_eq(store_writer_open(&w, store_dir, DEVICE, no_name, &got, &lost, &error), EINVAL);
	assert_i_eq(chmod(store_dir, 0777), 0);
	assert_i_eq(open_writer(&w), EPERM);
	assert_non_null(strstr(error.text, "nobody else can write"));
	assert_i_eq(chmod(store_dir, 0755), 0);
	if (geteuid() != 0)
		test_skip("giving files away takes root");
	assert_i_eq(seteuid(1234), 0);
	assert_i_eq(open_writer(&w), EPERM); /* root's, which readers would believe */
	assert_i_eq(seteuid(0), 0);
	assert_i_eq(chown(store_dir, 1234, 1234), 0);
	assert_i_eq(open_writer(&w), EPERM);
}

/* ---- a writer that dies ---- */

/* A writer opens and commits `second`; the status with which it ended. */
static int write_in_child(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct store_writer w;

		_exit(open_writer(&w) || store_writer_commit(&w, &second, &error) ? 1 : 0);
	}
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* What is there is one or the other, and the next writer goes on from it. */
static void expect_nothing_lost(void)
{
	struct store_writer w;

	if (store_read(store_dir, DEVICE, &got, &info, &error))
		fail_msg("%s", error.text);
	expect_same(&got, got.n_evs == first.n_evs ? &first : &second);
	assert_u_eq(info.generation, got.n_evs == first.n_evs ? 1 : 2);
	assert_i_eq(open_writer(&w), 0);
	assert_string_equal(lost.text, "");
	assert_i_eq(store_writer_commit(&w, &second, &error), 0);
	store_writer_close(&w);
	expect_stored(&second);
	assert_i_eq(unlink(store_file), 0);
}

WRITE_TEST(store_writer_commit, loses_nothing_when_it_dies_at_any_call)
{
	uint32_t n, *const ends[] = {&end_before, &end_after};
	int status = 70;

	for (size_t i = 0; i < 2; i++) {
		for (n = 1, status = 70; status == 70; n++) {
			reset();
			commit(&first);
			reset();
			*ends[i] = n;
			status = write_in_child();
			reset();
			expect_nothing_lost();
		}
		assert_i_eq(status, 0);
		assert_true(n > 12);
	}
}

/* Such as a full disk: the state of before stays, nothing else lies about. */
WRITE_TEST(store_writer_commit, loses_nothing_when_any_call_fails)
{
	struct store_writer w;
	char said[160], left[100];
	uint32_t n, all;
	int err = 1;

	snprintf(left, sizeof(left), "%s.new", store_file);
	snprintf(said, sizeof(said), "%s: %s", left, strerror(EIO));
	commit(&second);
	assert_i_eq(open_writer(&w), 0);
	reset();
	assert_i_eq(store_writer_commit(&w, &first, &error), 0);
	all = calls;
	store_writer_close(&w);
	for (n = 1; err; n++) {
		assert_i_eq(open_writer(&w), 0);
		reset();
		fail_at = n;
		err = store_writer_commit(&w, &second, &error);
		reset();
		store_writer_close(&w);
		if (err)
			assert_string_equal(error.text, said);
		assert_true(access(left, F_OK) != 0);
		expect_stored(err ? &first : &second);
		assert_u_eq(info.generation, err ? 2 : 3);
	}
	assert_u_eq(n, all + 2);
}
