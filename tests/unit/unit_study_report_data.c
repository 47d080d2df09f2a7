/* SPDX-License-Identifier: BSD-2-Clause */
/* Which results make which page: src/study/report.h. */
#include "study/report.h"
#include "support/test.h"

#include <string.h>

#define RUN "{\"scenario\": \"x\", \"title\": \"a run\", \"state\": \"done\", \"parts\": []}"
#define DEMO "{\"faults\": [], \"checks\": [], \"config\": {}, \"fault_free\": {}}"
#define LAB "{\"scenario\": \"x\", \"title\": \"a lab\", \"events\": [], \"checks\": []}"
#define FIGURE(name) "{\"name\": \"" name "\", \"title\": \"t\", \"runs\": [], \"claims\": []}"

static const char *const path[] = {"/some/one.json", "two.json"};

/* page_of returns the page of one or two results; NULL: *error says why there is none. */
static json_t *page_of(const char *first, const char *second, struct ms_file_error *error)
{
	json_t *result[2] = {json_loads(first, 0, NULL),
			     second ? json_loads(second, 0, NULL) : NULL};
	json_t *data;

	assert_non_null(result[0]);
	data = study_report_data(path, result, second ? 2 : 1, error);
	json_decref(result[0]);
	json_decref(result[1]);
	return data;
}

/* expect_page: the page has the member, and the title that is wanted. */
static json_t *expect_page(const char *first, const char *second, const char *member,
			   const char *title)
{
	struct ms_file_error error;
	json_t *data = page_of(first, second, &error);

	assert_non_null(data);
	assert_non_null(json_object_get(data, member));
	assert_string_equal(json_string_value(json_object_get(data, "title")), title);
	return data;
}

static const char *run_name(const json_t *data, size_t i)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(data, "runs"), i), "name"));
}

TEST(study_report_data, a_page_for_each_kind)
{
	json_decref(expect_page(DEMO, NULL, "demo", "A training job on a fabric that breaks"));
	json_decref(expect_page(LAB, NULL, "lab", "a lab"));
	json_decref(expect_page(RUN, NULL, "runs", "a run"));
	json_decref(expect_page("{\"evs=1\": " RUN "}", NULL, "sweep", "A sweep"));
}

TEST(study_report_data, runs_have_the_names_of_their_files)
{
	json_t *data = expect_page(RUN, RUN, "runs", "Simulations compared");

	assert_string_equal(run_name(data, 0), "one");
	assert_string_equal(run_name(data, 1), "two");
	assert_string_equal(json_string_value(json_object_get(data, "command")),
			    "mrc report /some/one.json two.json");
	json_decref(data);
}

/* Names of files are bytes, and long ones are cut, be it in the midst of a character. */
TEST(study_report_data, a_run_whose_name_is_no_text_is_there)
{
	const char *const names[] = {"caf\xe9.json", "0123456789012345678901234567890123456789"
						     "0123456789012345678901\xc3\xa9.json"};
	json_t *result[] = {json_loads(RUN, 0, NULL), json_loads(RUN, 0, NULL)};
	struct ms_file_error error;
	json_t *data = study_report_data(names, result, 2, &error);

	assert_string_equal(run_name(data, 0), "caf?");
	assert_string_equal(run_name(data, 1),
			    "01234567890123456789012345678901234567890123456789012345678901?");
	assert_non_null(
		strstr(json_string_value(json_object_get(data, "command")), "mrc report caf?"));
	json_decref(data);
	json_decref(result[0]);
	json_decref(result[1]);
}

TEST(study_report_data, a_figure_that_is_built_in_has_its_charts)
{
	json_t *known = expect_page(FIGURE("10"), NULL, "charts", "Figure 10: A T0 switch is lost");
	json_t *own = expect_page(FIGURE("mine"), NULL, "claims", "t");

	assert_null(json_object_get(own, "charts"));
	json_decref(known);
	json_decref(own);
}

TEST(study_report_data, what_is_no_result_is_named)
{
	static const char *const wrong[] = {"{}", "[]", "{\"a\": 1}",
					    "{\"a\": " RUN ", \"b\": {}}"};
	struct ms_file_error error;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_null(page_of(RUN, wrong[i], &error));
		assert_non_null(strstr(error.text, "two.json: is no result of mrc demo"));
	}
}

TEST(study_report_data, only_runs_stand_together)
{
	struct ms_file_error error;

	assert_null(page_of(RUN, LAB, &error));
	assert_non_null(strstr(error.text, "two.json: is a result of mrc lab run"));
	assert_null(page_of("{\"a\": " RUN "}", RUN, &error));
	assert_non_null(strstr(error.text, "/some/one.json: is a result of mrc sim sweep"));
}
