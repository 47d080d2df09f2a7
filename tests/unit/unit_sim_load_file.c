/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_load_file.c - whole files, and paths beside others. */
#include "sim_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "sim/import/input.h"

static void beside(const char *file, const char *name, const char *want)
{
	char out[64];

	assert_true(ms_file_sibling_path(file, name, out, sizeof(out)));
	assert_string_equal(out, want);
}

TEST(ms_file_sibling_path, the_folder_of_the_other)
{
	char small[8];

	beside("a/b.toml", "c.cm", "a/c.cm");
	beside("b.toml", "c.cm", "c.cm");
	beside("a/b.toml", "/c.cm", "/c.cm");
	beside("/a/b", "../c", "/a/../c");
	assert_false(ms_file_sibling_path("folder/b", "name", small, sizeof(small)));
}

TEST(ms_file_load, whole_files_and_none)
{
	char path[] = "/tmp/unit_sim_load.XXXXXX";
	struct ms_file_error error;
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	char *text;

	assert_non_null(f);
	for (int i = 0; i < 20000; i++)
		fprintf(f, "line %d\n", i);
	fclose(f);
	text = ms_file_load(path, &error);
	assert_non_null(text);
	assert_non_null(strstr(text, "line 19999\n"));
	free(text);
	f = fopen(path, "a");
	fputc('\0', f);
	fclose(f);
	assert_null(ms_file_load(path, &error));
	sim_said(&error, path, "is no text");
	unlink(path);
	assert_null(ms_file_load(path, &error));
	sim_said(&error, path, "cannot be read: No such file");
	assert_null(ms_file_load("/tmp", &error));
	sim_said(&error, "/tmp", "cannot be read: Is a directory");
}
