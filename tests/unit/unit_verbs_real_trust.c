/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_verbs_real_trust.c - which library a program may load that has rights which its user lacks:
 * src/libibverbs/real_trust.c. The linker leads lstat(2) and getauxval(3) through __wrap_*.
 */
#include "libibverbs/real_library.h"
#include "support/test.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* All files are root's and closed to others, but for this one, of which this is wrong. */
static const char *bad;
static enum { NOTHING, ABSENT, OWNER, GROUP, OTHERS, LINK, FAULTS } fault;
static char asked[4][32];
static size_t n_asked;

int __wrap_lstat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st)
{
	bool is_bad = bad && strcmp(path, bad) == 0;

	snprintf(asked[n_asked++ % 4], sizeof(asked[0]), "%s", path);
	*st = (struct stat){.st_mode = S_IFDIR | 0755};
	if (!is_bad)
		return 0;
	st->st_uid = fault == OWNER ? 1234 : 0;
	st->st_mode |= fault == GROUP ? 0020 : fault == OTHERS ? 0002 : 0;
	if (fault == LINK)
		st->st_mode = S_IFLNK | 0755;
	return fault == ABSENT ? -1 : 0;
}

static bool is_secure;

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type)
{
	return type == AT_SECURE ? is_secure : __real_getauxval(type);
}

static int setup(void **state)
{
	(void)state;
	bad = NULL;
	fault = NOTHING;
	n_asked = 0;
	is_secure = false;
	return 0;
}

#define TRUST_TEST(function, name) TEST_WITH(setup, NULL, function, name)

TRUST_TEST(mv_real_path_is_roots, each_folder_and_the_file)
{
	static const char *const parts[] = {"/", "/usr", "/usr/lib", "/usr/lib/x.so"};

	assert_true(mv_real_path_is_roots("/usr/lib/x.so"));
	assert_u_eq(n_asked, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(asked[i], parts[i]);
	for (size_t i = 0; i < 4; i++) {
		bad = parts[i];
		for (fault = ABSENT; fault < FAULTS; fault++)
			assert_false(mv_real_path_is_roots("/usr/lib/x.so"));
	}
	assert_false(mv_real_path_is_roots("usr/lib/x.so"));
}

TRUST_TEST(mv_real_path_is_roots, of_the_longest_path)
{
	static char path[PATH_MAX + 1];

	path[0] = '/';
	memset(path + 1, 'a', PATH_MAX - 2);
	assert_true(mv_real_path_is_roots(path));
	path[PATH_MAX - 1] = 'a';
	assert_false(mv_real_path_is_roots(path));
}

TRUST_TEST(mv_real_trusted_path, behind_all_links_where_rights_are_lent)
{
	char resolved[PATH_MAX], link[] = "/tmp/mrc-trust-XXXXXX";

	assert_string_equal(mv_real_trusted_path("any", resolved), "any");
	is_secure = true;
	assert_true(mkdtemp(link) && rmdir(link) == 0 && symlink("/proc", link) == 0);
	assert_string_equal(mv_real_trusted_path(link, resolved), "/proc");
	bad = "/proc";
	fault = OTHERS;
	assert_null(mv_real_trusted_path(link, resolved));
	assert_i_eq(unlink(link), 0);
	assert_null(mv_real_trusted_path(link, resolved));
}
