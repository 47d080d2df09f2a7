/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows: src/ui/text.h. */
#include "ui/text.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

TEST(ui_text_add, appends_and_terminates)
{
	struct ui_text t = {0};

	ui_text_add(&t, "%s-%d", "a", 7);
	ui_text_add(&t, "!");
	assert_string_equal(t.data, "a-7!");
	assert_u_eq(t.len, 4);
	ui_text_fini(&t);
	assert_null(t.data);
}

TEST(ui_text_add, grows_beyond_any_first_size)
{
	struct ui_text t = {0};

	for (int i = 0; i < 5000; i++)
		ui_text_add(&t, "0123456789");
	assert_u_eq(t.len, 50000);
	assert_u_eq(strlen(t.data), 50000);
	ui_text_fini(&t);
}

TEST(ui_text_clear, keeps_nothing)
{
	struct ui_text t = {0};

	ui_text_clear(&t);
	ui_text_add(&t, "old");
	ui_text_clear(&t);
	ui_text_add(&t, "new");
	assert_string_equal(t.data, "new");
	ui_text_fini(&t);
}

TEST(ui_text_width, counts_characters_not_bytes)
{
	assert_u_eq(ui_text_width(""), 0);
	assert_u_eq(ui_text_width("abc"), 3);
	assert_u_eq(ui_text_width("▁█●"), 3);
}

TEST(ui_text_width, skips_escape_sequences)
{
	assert_u_eq(ui_text_width("\033[31mred\033[0m"), 3);
	assert_u_eq(ui_text_width("\033[1;32m"), 0);
	assert_u_eq(ui_text_width("\033[31"), 0);
}

TEST(ui_text_pad, fills_and_cuts_by_column)
{
	struct ui_text t = {0};

	ui_text_pad(&t, "ab", 4);
	ui_text_pad(&t, "●●●", 2);
	ui_text_add(&t, "|");
	assert_string_equal(t.data, "ab  ●●|");
	ui_text_fini(&t);
}

TEST(ui_text_pad, keeps_the_escape_behind_the_last_column)
{
	struct ui_text t = {0};

	ui_text_pad(&t, "\033[31mab\033[0m", 2);
	assert_string_equal(t.data, "\033[31mab\033[0m");
	ui_text_fini(&t);
}

TEST(ui_text_pad_left, puts_blanks_first)
{
	struct ui_text t = {0};

	ui_text_pad_left(&t, "7", 3);
	ui_text_pad_left(&t, "long", 2);
	assert_string_equal(t.data, "  7long");
	ui_text_fini(&t);
}

TEST(ui_text_save, replaces_a_file_whole)
{
	char dir[] = "/tmp/mrc-unit-stat-XXXXXX", path[64], read[16] = "";
	struct ui_text text = {0};
	struct stat st;
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/softmrc.prom", dir);
	ui_text_add(&text, "first\n");
	assert_i_eq(ui_text_save(&text, path), 0);
	assert_i_eq(stat(path, &st), 0);
	assert_u_eq(st.st_mode & 07777, 0644);
	ui_text_clear(&text);
	ui_text_add(&text, "second\n");
	assert_i_eq(ui_text_save(&text, path), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(read, sizeof(read), f));
	fclose(f);
	assert_string_equal(read, "second\n");
	assert_i_eq(unlink(path), 0);
	assert_i_eq(rmdir(dir), 0); /* nothing else is left in it */
	assert_i_eq(ui_text_save(&text, path), ENOENT);
	ui_text_fini(&text);
}

/* As root `--svg /dev/null` would leave a file there, for all programs of the machine. */
TEST(ui_text_save, replaces_no_device_no_pipe_and_no_link)
{
	char dir[] = "/tmp/mrc-unit-save-XXXXXX", path[64];
	struct ui_text text = {0};
	struct stat st;

	assert_non_null(mkdtemp(dir));
	assert_i_eq(ui_text_save(&text, dir), EISDIR);
	snprintf(path, sizeof(path), "%s/pipe", dir);
	assert_i_eq(mkfifo(path, 0600), 0);
	assert_i_eq(ui_text_save(&text, path), EEXIST);
	assert_i_eq(stat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_i_eq(unlink(path), 0);
	/* As /dev/stdout is one, which leads to a file where a shell has sent it there. */
	assert_i_eq(symlink("/proc/self/exe", path), 0);
	assert_i_eq(ui_text_save(&text, path), EEXIST);
	assert_i_eq(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_string_equal(ui_text_save_error(EEXIST),
			    "a device, a pipe or a link; want the name of a file");
	assert_string_equal(ui_text_save_error(ENOENT), "No such file or directory");
	assert_i_eq(unlink(path), 0);
	assert_i_eq(rmdir(dir), 0);
}
