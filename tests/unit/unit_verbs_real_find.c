/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_verbs_real_find.c - where the library of the host's real devices is looked for, and where
 * none is: src/libibverbs/real_find.c. The linker leads its calls through __wrap_*, which play a
 * host with such devices.
 */
#include "libibverbs/real_library.h"
#include "support/test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

_Atomic(const struct mv_real *) mv_real_loaded;

#define DEVICES "/sys/class/infiniband"
#define ENTRIES_MAX 4
#define FOLDERS_MAX 4

/* What stands in the folder of devices. */
static struct dirent entry[ENTRIES_MAX];
static size_t n_entries, at_entry;
static bool has_folder;
static int folders_open;

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
struct dirent *__real_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir);
int __real_closedir(DIR *dir);
int __wrap_closedir(DIR *dir);

DIR *__wrap_opendir(const char *path)
{
	assert_string_equal(path, DEVICES);
	at_entry = 0;
	folders_open += has_folder;
	return has_folder ? (DIR *)entry : NULL;
}

struct dirent *__wrap_readdir(DIR *dir)
{
	assert_ptr_equal(dir, entry);
	return at_entry < n_entries ? &entry[at_entry++] : NULL;
}

int __wrap_closedir(DIR *dir)
{
	assert_ptr_equal(dir, entry);
	folders_open--;
	return 0;
}

/* Where the loader looks, and which of its answers fails: 0, none. */
static const char *folder[FOLDERS_MAX];
static unsigned int n_folders;
static int fails;
static bool has_program;
static int programs_open;

void *__wrap_dlopen(const char *path, int flags);
int __wrap_dlclose(void *library);
int __wrap_dlinfo(void *library, int request, void *info);

void *__wrap_dlopen(const char *path, int flags)
{
	assert_null(path);
	(void)flags;
	programs_open += has_program;
	return has_program ? &has_program : NULL;
}

int __wrap_dlclose(void *library)
{
	assert_ptr_equal(library, &has_program);
	programs_open--;
	return 0;
}

int __wrap_dlinfo(void *library, int request, void *info)
{
	Dl_serinfo *all = info;

	assert_ptr_equal(library, &has_program);
	if (fails > 0 && --fails == 0)
		return -1;
	if (request == RTLD_DI_SERINFOSIZE) {
		all->dls_cnt = n_folders;
		/* To the byte, so that nothing may be read behind the last. */
		all->dls_size =
			offsetof(Dl_serinfo, dls_serpath) + n_folders * sizeof(all->dls_serpath[0]);
		return 0;
	}
	for (unsigned int i = 0; i < n_folders; i++)
		all->dls_serpath[i].dls_name = (char *)(uintptr_t)folder[i];
	return 0;
}

/* Each place that was tried. */
static char tried[FOLDERS_MAX][PATH_MAX];
static size_t n_tried, taken;

static bool use(const char *path)
{
	snprintf(tried[n_tried++], sizeof(tried[0]), "%s", path);
	return n_tried == taken;
}

/* Two folders with a library each, and one without. */
static char one[] = "/tmp/mrc-find-XXXXXX", other[] = "/tmp/mrc-find-XXXXXX";

static void put(const char *dir)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/libibverbs.so.1", dir);
	fclose(fopen(path, "w"));
}

static int setup(void **state)
{
	(void)state;
	memcpy(one + sizeof(one) - 7, "XXXXXX", 6);
	memcpy(other + sizeof(other) - 7, "XXXXXX", 6);
	if (!mkdtemp(one) || !mkdtemp(other))
		return -1;
	put(one);
	put(other);
	has_folder = has_program = true;
	n_entries = 3;
	for (size_t i = 0; i < n_entries; i++)
		entry[i].d_type = i == 2 ? DT_LNK : DT_DIR;
	folder[0] = "/nowhere";
	folder[1] = one;
	folder[2] = other;
	n_folders = 3;
	n_tried = taken = 0;
	fails = 0;
	return 0;
}

static int teardown(void **state)
{
	char command[100];

	(void)state;
	assert_i_eq(folders_open, 0);
	assert_i_eq(programs_open, 0);
	snprintf(command, sizeof(command), "rm -r %s %s", one, other);
	return system(command);
}

#define FIND_TEST(name) TEST_WITH(setup, teardown, mv_real_find, name)

static void expect_tried(const char *first, const char *second)
{
	const char *const want[] = {first, second};
	char path[64];

	mv_real_find(use);
	assert_u_eq(n_tried, (size_t)(first != NULL) + (second != NULL));
	for (size_t i = 0; i < n_tried; i++) {
		snprintf(path, sizeof(path), "%s/libibverbs.so.1", want[i]);
		assert_string_equal(tried[i], path);
	}
}

FIND_TEST(in_each_folder_in_turn)
{
	expect_tried(one, other);
}

FIND_TEST(until_one_will_do)
{
	taken = 1;
	expect_tried(one, NULL);
}

/* What mrc run shows of ours is a folder, and what a kernel shows a link. */
FIND_TEST(nothing_without_devices)
{
	n_entries = 2;
	expect_tried(NULL, NULL);
	n_entries = 0;
	expect_tried(NULL, NULL);
	has_folder = false;
	expect_tried(NULL, NULL);
}

FIND_TEST(nothing_where_the_loader_does_not_tell)
{
	for (int n = 1; n <= 3; n++) {
		fails = n;
		expect_tried(NULL, NULL);
		assert_i_eq(fails, 0);
	}
	has_program = false;
	expect_tried(NULL, NULL);
}

/* By its file, whatever path leads there: loaded behind itself it would ask itself for ever. */
FIND_TEST(never_this_library_itself)
{
	char path[64];
	Dl_info own;

	assert_true(dladdr(&mv_real_loaded, &own) != 0);
	snprintf(path, sizeof(path), "%s/libibverbs.so.1", one);
	assert_i_eq(unlink(path), 0);
	assert_i_eq(symlink(own.dli_fname, path), 0);
	expect_tried(other, NULL);
}

/* A folder that is no path from / is one of whoever chose where the program runs. */
FIND_TEST(no_folder_that_depends_on_where_one_is)
{
	assert_i_eq(chdir("/tmp"), 0);
	folder[1] = one + strlen("/tmp/");
	expect_tried(other, NULL);
	assert_i_eq(chdir("/"), 0);
}

/* As long as there is room for, and longer by one: what is cut off then is not looked for. */
FIND_TEST(no_folder_whose_name_is_too_long)
{
	static char longest[PATH_MAX + 1];
	size_t len = PATH_MAX - strlen("/libibverbs.so.1");
	char cut[64];

	snprintf(cut, sizeof(cut), "%s/libibverbs.so.", one);
	fclose(fopen(cut, "w"));
	memset(longest, '/', len);
	memcpy(longest + len - strlen(one), one, strlen(one));
	folder[1] = longest;
	expect_tried(other, NULL);
	n_tried = 0;
	folder[1] = longest + 1;
	mv_real_find(use);
	assert_u_eq(n_tried, 2);
	assert_u_eq(strlen(tried[0]), PATH_MAX - 1);
}
