/* SPDX-License-Identifier: BSD-2-Clause */
/* The demo's private directory: src/demo/stage.h. */
#include "demo/stage.h"

#include "support/test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(demo_rundir_create, makes_a_directory_for_its_user_only)
{
	struct demo_rundir d;
	struct stat st;

	assert_int_equal(demo_rundir_create(&d), 0);
	assert_int_equal(stat(d.path, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_u_eq(st.st_mode & 0777, 0700);
	demo_rundir_remove(&d);
}

TEST(demo_rundir_remove, leaves_nothing)
{
	struct demo_rundir d;
	char sub[256], file[300], path[200];
	FILE *f;

	assert_int_equal(demo_rundir_create(&d), 0);
	snprintf(path, sizeof(path), "%s", d.path);
	assert_int_equal(demo_rundir_sub(&d, "a", sub, sizeof(sub)), 0);
	snprintf(file, sizeof(file), "%s/file", sub);
	f = fopen(file, "w");
	assert_non_null(f);
	fclose(f);
	demo_rundir_remove(&d);
	assert_int_equal(access(path, F_OK), -1);
	assert_string_equal(d.path, "");
	demo_rundir_remove(&d);
}

TEST(demo_rundir_create, refuses_a_base_too_long_for_sockets)
{
	struct demo_rundir d;
	const char *old = getenv("TMPDIR");
	char keep[4096];

	snprintf(keep, sizeof(keep), "%s", old ? old : "");
	setenv("TMPDIR", "/tmp/a-name-that-is-longer-than-the-sixty-bytes-that-can-be-had", 1);
	assert_int_equal(demo_rundir_create(&d), -1);
	assert_string_equal(d.path, "");
	if (old)
		setenv("TMPDIR", keep, 1);
	else
		unsetenv("TMPDIR");
}

TEST(demo_rundir_sub, does_not_reuse_a_directory)
{
	struct demo_rundir d;
	char sub[256];

	assert_int_equal(demo_rundir_create(&d), 0);
	assert_int_equal(demo_rundir_sub(&d, "a", sub, sizeof(sub)), 0);
	assert_int_equal(demo_rundir_sub(&d, "a", sub, sizeof(sub)), -1);
	demo_rundir_remove(&d);
}
