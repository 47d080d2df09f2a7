/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_store_watch.c - a reader that follows: src/store/store_watch.c. */
#include "unit/store_fixture.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>

static struct store_watch w;
static struct mn_state first, second, got;
static struct store_info info;

/* A user may have no more instances of inotify. */
static bool has_none;

int __real_inotify_init1(int flags);
int __wrap_inotify_init1(int flags);
int __wrap_inotify_init1(int flags)
{
	errno = EMFILE;
	return has_none ? -1 : __real_inotify_init1(flags);
}

/* Files of a folder that is made again may have the numbers of those before. */
static bool same_numbers;

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
	int result = __real_stat(path, st);

	if (same_numbers)
		st->st_dev = st->st_ino = 1;
	return result;
}

static int setup(void **state)
{
	has_none = same_numbers = false;
	denying(&first, 3);
	denying(&second, 9);
	return store_setup(state) || store_watch_open(&w, store_dir, DEVICE, &error);
}

static int teardown(void **state)
{
	store_watch_close(&w);
	return store_teardown(state);
}

#define WATCH_TEST(name) TEST_WITH(setup, teardown, store_watch_look, name)

static int look(void)
{
	return store_watch_look(&w, &got, &info, &error);
}

static bool is_told(void)
{
	struct pollfd pfd = {w.fd, POLLIN, 0};

	return poll(&pfd, 1, 0) == 1;
}

WATCH_TEST(takes_each_state_once)
{
	assert_i_eq(look(), EAGAIN);
	assert_true(store_watch_hears(&w));
	assert_false(is_told());
	commit(&first);
	assert_true(is_told());
	assert_i_eq(look(), 0);
	expect_same(&got, &first);
	assert_u_eq(info.generation, 1);
	assert_false(is_told());
	assert_i_eq(look(), EAGAIN);
	commit(&second);
	commit(&first);
	assert_true(is_told());
	assert_i_eq(look(), 0);
	expect_same(&got, &first);
	assert_u_eq(info.generation, 3);
}

/* What it has stays good; the next one is taken. */
WATCH_TEST(of_a_file_that_is_removed)
{
	commit(&first);
	assert_i_eq(look(), 0);
	assert_i_eq(unlink(store_file), 0);
	assert_i_eq(look(), EAGAIN);
	commit(&second);
	assert_true(is_told());
	assert_i_eq(look(), 0);
	expect_same(&got, &second);
	assert_u_eq(info.generation, 1);
}

/* A service that is installed again. */
WATCH_TEST(of_a_folder_that_is_made_again)
{
	commit(&first);
	assert_i_eq(look(), 0);
	assert_i_eq(store_remove_folder(), 0);
	assert_true(is_told());
	assert_i_eq(look(), EAGAIN);
	assert_false(store_watch_hears(&w));
	commit(&second);
	assert_i_eq(look(), 0);
	expect_same(&got, &second);
	assert_true(store_watch_hears(&w));
	commit(&first);
	assert_true(is_told());
	assert_i_eq(look(), 0);
}

/* Both at once, with no look between. */
WATCH_TEST(of_a_folder_that_is_exchanged)
{
	commit(&first);
	assert_i_eq(look(), 0);
	assert_i_eq(store_remove_folder(), 0);
	commit(&second);
	assert_i_eq(look(), 0);
	expect_same(&got, &second);
	commit(&first);
	assert_true(is_told());
}

/* With the same number: what says that it is another one is the event. */
WATCH_TEST(of_a_folder_that_gets_the_number_of_the_one_before)
{
	same_numbers = true;
	commit(&first);
	assert_i_eq(look(), 0);
	assert_i_eq(store_remove_folder(), 0);
	commit(&second);
	assert_true(is_told());
	assert_i_eq(look(), 0);
	commit(&first);
	assert_true(is_told());
	assert_i_eq(look(), 0);
	expect_same(&got, &first);
}

/* Moves a file in a folder, which a watch of it would tell. */
static void change(const char *folder, uint32_t times)
{
	char a[120], b[120];
	int fd;

	snprintf(a, sizeof(a), "%s/a", folder);
	snprintf(b, sizeof(b), "%s/b", folder);
	fd = open(a, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
	for (uint32_t i = 0; i < times; i++)
		assert_i_eq(i % 2 ? rename(b, a) : rename(a, b), 0);
	assert_i_eq(unlink(times % 2 ? b : a), 0);
}

/* Follows in/node, moves from to to, follows what is there then; moved: in/node by now. */
static void expect_deaf_to_what_moved(const char *from, const char *to, const char *moved)
{
	assert_i_eq(chdir(store_dir), 0);
	assert_true(mkdir("in", 0755) == 0 && mkdir("in/node", 0755) == 0);
	store_watch_close(&w);
	assert_i_eq(store_watch_open(&w, "in/node", DEVICE, &error), 0);
	assert_i_eq(look(), EAGAIN);
	assert_true(store_watch_hears(&w));
	assert_i_eq(rename(from, to), 0);
	assert_i_eq(look(), EAGAIN);
	assert_false(store_watch_hears(&w));
	assert_true(mkdir("in", 0755) == 0 || errno == EEXIST);
	assert_i_eq(mkdir("in/node", 0755), 0);
	assert_i_eq(look(), EAGAIN);
	assert_true(store_watch_hears(&w));
	change(moved, 1);
	assert_false(is_told());
	change("in/node", 1);
	assert_true(is_told());
	assert_true(rmdir("in/node") == 0 && rmdir(moved) == 0 && rmdir("in") == 0);
	assert_i_eq(chdir("/"), 0);
}

WATCH_TEST(of_a_folder_that_is_moved)
{
	expect_deaf_to_what_moved("in/node", "moved", "moved");
}

/* Nothing tells of that. */
WATCH_TEST(of_a_folder_above_that_is_moved)
{
	char moved[80];

	expect_deaf_to_what_moved("in", "moved", "moved/node");
	snprintf(moved, sizeof(moved), "%s/moved", store_dir);
	assert_i_eq(rmdir(moved), 0);
}

/* Of as many changes as one read(2) gives to the byte, and some more. */
WATCH_TEST(of_many_changes)
{
	commit(&first);
	assert_i_eq(look(), 0);
	change(store_dir, 2 * 4096 / (sizeof(struct inotify_event) + 16) + 2);
	assert_true(is_told());
	assert_i_eq(look(), EAGAIN);
	assert_false(is_told());
	assert_true(store_watch_hears(&w));
}

/* Said once, until something else is wrong or right. */
WATCH_TEST(says_once_what_it_refuses)
{
	commit(&first);
	assert_i_eq(look(), 0);
	commit(&second);
	assert_i_eq(truncate(store_file, 400), 0);
	assert_i_eq(look(), EBADMSG);
	assert_non_null(strstr(error.text, "cut off"));
	assert_i_eq(look(), EAGAIN);
	assert_i_eq(chmod(store_file, 0666), 0);
	assert_i_eq(look(), EPERM);
	assert_i_eq(look(), EAGAIN);
	commit(&first);
	assert_i_eq(look(), 0);
	expect_same(&got, &first);
	assert_i_eq(truncate(store_file, 400), 0);
	assert_i_eq(look(), EBADMSG);
}

/* A reason that holds no more is none, and may come back. */
WATCH_TEST(forgets_what_it_refused)
{
	commit(&first);
	assert_i_eq(look(), 0);
	assert_i_eq(chmod(store_file, 0666), 0);
	assert_i_eq(look(), EPERM);
	assert_true(w.refused.text[0] != '\0');
	assert_i_eq(chmod(store_file, 0644), 0);
	assert_i_eq(look(), EAGAIN);
	assert_string_equal(w.refused.text, "");
	assert_i_eq(chmod(store_file, 0666), 0);
	assert_i_eq(look(), EPERM);
	assert_i_eq(unlink(store_file), 0);
	assert_i_eq(look(), EAGAIN);
	assert_string_equal(w.refused.text, "");
}

/* The damage is mended by a file that has the header of the damaged one. */
WATCH_TEST(looks_again_at_what_it_refused)
{
	char byte;
	int fd;

	commit(&first);
	fd = open(store_file, O_RDWR | O_CLOEXEC);
	assert_i_eq(pread(fd, &byte, 1, 500), 1);
	byte ^= 1;
	assert_i_eq(pwrite(fd, &byte, 1, 500), 1);
	assert_i_eq(look(), EBADMSG);
	byte ^= 1;
	assert_i_eq(pwrite(fd, &byte, 1, 500), 1);
	close(fd);
	assert_i_eq(look(), 0);
	expect_same(&got, &first);
}

WATCH_TEST(without_inotify)
{
	has_none = true;
	commit(&first);
	assert_i_eq(look(), 0);
	assert_false(store_watch_hears(&w));
	commit(&second);
	assert_i_eq(look(), 0);
	expect_same(&got, &second);
	has_none = false;
	assert_i_eq(look(), EAGAIN);
	assert_true(store_watch_hears(&w));
}

TEST(store_watch_open, names_of_no_store)
{
	char longest[STORE_DIR_MAX + 1];

	memset(longest, '/', STORE_DIR_MAX);
	longest[STORE_DIR_MAX] = '\0';
	assert_i_eq(store_watch_open(&w, longest, DEVICE, &error), EINVAL);
	assert_i_eq(store_watch_open(&w, "/", "../mrc0", &error), EINVAL);
}
