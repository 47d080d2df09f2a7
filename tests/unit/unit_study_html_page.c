/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_page.c - the page of results: what is put into it, and what it says when it cannot
 * be. */
#include "study/study.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char page[80];

static int page_setup(void **state)
{
	int fd;

	(void)state;
	snprintf(page, sizeof(page), "/tmp/unit_sim_page.XXXXXX");
	fd = mkstemp(page);
	return fd < 0 ? -1 : close(fd);
}

static int page_teardown(void **state)
{
	(void)state;
	return unlink(page);
}

#define PAGE_TEST(name) TEST_WITH(page_setup, page_teardown, sim_page_make, name)

static json_t *data_of(const char *title)
{
	return json_pack("{s:s,s:s,s:[]}", "title", title, "command", "</script>", "runs");
}

static int count(const char *text, const char *what)
{
	int n = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		n++;
	return n;
}

PAGE_TEST(nothing_ends_an_element)
{
	json_t *data = data_of("a < b & c");
	struct ui_text out = {0};

	assert_true(sim_page_make(data, &out));
	assert_non_null(strstr(out.data, "<title>a &lt; b &amp; c</title>"));
	assert_null(strchr(strstr(out.data, "</style>"), '@'));
	assert_int_equal(count(out.data, "<script"), count(out.data, "</script"));
	assert_non_null(strstr(out.data, "\"command\":\"\\u003c/script>\""));
	ui_text_fini(&out);
	json_decref(data);
}

PAGE_TEST(unwritable_file_is_named)
{
	json_t *data = data_of("t");
	struct ms_file_error error;
	char begin[15];
	FILE *f;

	assert_false(sim_page_write(data, "/nowhere/page.html", &error));
	assert_non_null(strstr(error.text, "/nowhere/page.html: cannot be written: No such file"));
	assert_true(sim_page_write(data, page, &error));
	f = fopen(page, "re");
	assert_non_null(f);
	assert_int_equal(fread(begin, 1, sizeof(begin), f), sizeof(begin));
	assert_memory_equal(begin, "<!DOCTYPE html>", sizeof(begin));
	fclose(f);
	json_decref(data);
}
