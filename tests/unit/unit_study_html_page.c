/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_page.c - the page of results: what is put into it, and what it says when it cannot
 * be. */
#include "study/study.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char library[64], page[80];

static int page_setup(void **state)
{
	FILE *f;
	int fd;

	(void)state;
	snprintf(library, sizeof(library), "/tmp/unit_sim_page.XXXXXX");
	fd = mkstemp(library);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		return -1;
	fprintf(f, "lib('</script>', '@DATA@');");
	snprintf(page, sizeof(page), "%s.html", library);
	return fclose(f);
}

static int page_teardown(void **state)
{
	(void)state;
	unlink(page);
	return unlink(library);
}

#define PAGE_TEST(name) TEST_WITH(page_setup, page_teardown, sim_page_make, name)

static json_t *data_of(const char *title)
{
	return json_pack("{s:s,s:s,s:[]}", "title", title, "command", "</script>", "runs");
}

PAGE_TEST(nothing_ends_an_element)
{
	json_t *data = data_of("a < b & c");
	struct ui_text out = {0};
	struct ms_file_error error;

	assert_true(sim_page_make(data, library, &out, &error));
	assert_non_null(strstr(out.data, "<title>a &lt; b &amp; c</title>"));
	assert_non_null(strstr(out.data, "lib('<\\/script>', '@DATA@');"));
	assert_non_null(strstr(out.data, "\"command\":\"\\u003c/script>\""));
	ui_text_fini(&out);
	json_decref(data);
}

PAGE_TEST(missing_library_names_its_package)
{
	json_t *data = data_of("t");
	struct ms_file_error error;

	assert_false(sim_page_write(data, "/nowhere/chart.js", page, &error));
	assert_non_null(strstr(error.text, "/nowhere/chart.js: No such file"));
	assert_non_null(strstr(error.text, "apt-get install libjs-chart.js"));
	assert_int_equal(access(page, F_OK), -1);
	json_decref(data);
}

PAGE_TEST(unwritable_file_is_named)
{
	json_t *data = data_of("t");
	struct ms_file_error error;

	assert_false(sim_page_write(data, library, "/nowhere/page.html", &error));
	assert_non_null(strstr(error.text, "/nowhere/page.html: cannot be written: No such file"));
	assert_true(sim_page_write(data, library, page, &error));
	assert_int_equal(access(page, R_OK), 0);
	json_decref(data);
}
