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

static int setup(void **state)
{
	has_none = false;
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
