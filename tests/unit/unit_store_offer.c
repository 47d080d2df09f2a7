/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_store_offer.c - a state in a file of memory for another process: src/store/store_offer.c. */
#include "unit/store_fixture.h"

#include <errno.h>
#include <sys/mman.h>

static struct mn_state want, got;
static const struct store_info made = {.generation = 7, .pid = 9, .by = BY};
static struct store_info info;

static bool no_memory, no_room;

int __real_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(const char *name, unsigned int flags)
{
	errno = ENFILE;
	return no_memory ? -1 : __real_memfd_create(name, flags);
}

ssize_t __real_write(int fd, const void *from, size_t len);
ssize_t __wrap_write(int fd, const void *from, size_t len);
ssize_t __wrap_write(int fd, const void *from, size_t len)
{
	errno = ENOSPC;
	return no_room ? -1 : __real_write(fd, from, len);
}

static int setup(void **state)
{
	no_memory = no_room = false;
	error.text[0] = '\0';
	denying(&want, 5);
	return store_setup(state);
}

#define OFFER_TEST(function, name) TEST_WITH(setup, store_teardown, function, name)

OFFER_TEST(store_offer_read, what_was_offered)
{
	int fd = store_offer_make(&want, &made, &error);

	assert_true(fd >= 0);
	assert_i_eq(store_offer_read(fd, &got, &info, &error), 0);
	close(fd);
	expect_same(&got, &want);
	assert_bytes_eq(&info, &made, sizeof(made));
	assert_string_equal(error.text, "");
}

OFFER_TEST(store_offer_make, says_what_fails)
{
	no_memory = true;
	assert_i_eq(store_offer_make(&want, &made, &error), -1);
	assert_string_equal(error.text, "offered state: Too many open files in system");
	no_memory = false;
	no_room = true;
	assert_i_eq(store_offer_make(&want, &made, &error), -1);
	assert_string_equal(error.text, "offered state: No space left on device");
}

/* One that could make its reader wait, and one that is none of a state. */
OFFER_TEST(store_offer_read, files_that_nobody_offers)
{
	int fd = open(store_dir, O_RDONLY | O_CLOEXEC);

	assert_i_eq(store_offer_read(fd, &got, &info, &error), EINVAL);
	assert_string_equal(error.text, "offered state: must be a file of memfd_create(2)");
	close(fd);
	fd = __real_memfd_create("none", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_i_eq(store_offer_read(fd, &got, &info, &error), EBADMSG);
	assert_string_equal(error.text, "offered state: is cut off or cannot be read");
	close(fd);
}
