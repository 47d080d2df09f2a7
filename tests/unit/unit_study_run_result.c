/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_result.c - figures of a result, by their names; the summary and the progress line. */
#include "support/test.h"

#include "study/study.h"

static json_t *result(void)
{
	return json_loads(
		"{\"flows\": 3, \"flows_unfinished\": 0, \"violations\": 0, \"drops\": 2,"
		" \"packets_accounted_for\": true, \"scenario\": \"x\", \"state\": \"done\","
		" \"fct_us\": {\"p100\": 12.5}, \"parts\": [{\"flows\": 1}, {\"flows\": 2}]}",
		0, NULL);
}

TEST(sim_result_figure, finds_numbers_by_their_path)
{
	json_t *r = result();
	double value = -1;

	assert_true(sim_result_figure(r, "fct_us.p100", &value) && value == 12.5);
	assert_true(sim_result_figure(r, "parts.1.flows", &value) && value == 2);
	assert_true(sim_result_figure(r, "drops", &value) && value == 2);
	assert_false(sim_result_figure(r, "parts.2.flows", &value));
	assert_false(sim_result_figure(r, "fct_us", &value));
	assert_false(sim_result_figure(r, "scenario", &value));
	assert_false(sim_result_figure(r, "no.such", &value));
	json_decref(r);
}

TEST(sim_result_is_good, needs_all_of_it)
{
	static const char *const spoil[] = {"flows_unfinished", "violations"};

	for (size_t i = 0; i < 2; i++) {
		json_t *r = result();

		assert_true(sim_result_is_good(r));
		json_object_set_new(r, spoil[i], json_integer(1));
		assert_false(sim_result_is_good(r));
		json_object_set_new(r, spoil[i], json_integer(0));
		json_object_set_new(r, "packets_accounted_for", json_false());
		assert_false(sim_result_is_good(r));
		json_decref(r);
	}
}

TEST(sim_result_text, says_what_is_wrong)
{
	json_t *r = result();
	struct ui_text text = {0};

	json_object_set_new(r, "violation", json_string("a byte was placed twice"));
	sim_result_text(r, &text);
	assert_non_null(strstr(text.data, "x: done"));
	assert_non_null(strstr(text.data, "the checker: a byte was placed twice"));
	ui_text_fini(&text);
	json_decref(r);
}

TEST(sim_progress_line, time_left_only_when_it_can_be_told)
{
	struct sim_progress_now n = {
		.now_ps = 1500000, .flows = 10, .flows_done = 4, .elapsed_s = 2, .hops_per_s = 2e6};
	struct ui_text text = {0};

	sim_progress_line(&n, &text);
	assert_string_equal(text.data, "1.50 us simulated, 2.00M hops/s, 6 of 10 flows left");
	ui_text_clear(&text);
	n.done = 0.25;
	sim_progress_line(&n, &text);
	assert_non_null(strstr(text.data, ", 25 %, about 6.00 s to go"));
	ui_text_fini(&text);
}
