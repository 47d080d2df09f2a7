/* SPDX-License-Identifier: BSD-2-Clause */
/* The outcome for machines: src/demo/demo_run.h. */
#include "demo/demo_run.h"

#include "support/test.h"

#include <stdio.h>
#include <unistd.h>

static struct demo_outcome o;
static struct demo_script script;
static struct demo_stage stage = {
	.name = "loopback", .tcp_text = "somehow", .shape = {.ranks = 8, .planes = 4, .paths = 8}};
static struct demo_run healthy, faulty;
static struct demo_step steps[2];
static json_t *result;

static int make(void **state)
{
	(void)state;
	o = (struct demo_outcome){.pass = true, .checks = 1};
	o.check[0] = (struct demo_check){.pass = true, .text = "fine"};
	script = (struct demo_script){.n = 1, .steps = 2};
	script.fault[0] = (struct demo_fault){.kind = "t1", .title = "dead"};
	healthy =
		(struct demo_run){.cfg = {.stage = &stage, .script = &script, .seed = UINT64_MAX}};
	healthy.job.report.steps = steps;
	healthy.job.report.n = 2;
	healthy.job.report.bigram_bits = 3.5;
	faulty = healthy;
	faulty.cfg.with_tcp = true;
	faulty.fault[0].phase = DEMO_CLEARED;
	faulty.fault[0].times = (struct demo_times){.found_ns = 4240000, .left_ns = DEMO_NEVER};
	o.fault[0].lost = 12;
	o.fault[0].before = (struct demo_figure){.n = 1, .step_ns = 301500000};
	result = demo_result_make(&o, &healthy, &faulty, 61.5);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	json_decref(result);
	return 0;
}

#define RESULT_TEST(function, name) TEST_WITH(make, drop, function, name)

static const json_t *at(const char *a, const char *b)
{
	return json_object_get(json_object_get(result, a), b);
}

RESULT_TEST(demo_result_make, has_format_verdict_and_checks)
{
	const json_t *check = json_array_get(json_object_get(result, "checks"), 0);

	assert_string_equal(json_string_value(json_object_get(result, "format")), "softmrc-demo-1");
	assert_true(json_is_true(json_object_get(result, "pass")));
	assert_string_equal(json_string_value(json_object_get(check, "text")), "fine");
	assert_true(json_is_true(json_object_get(check, "pass")));
}

RESULT_TEST(demo_result_make, keeps_all_bits_of_the_seed)
{
	assert_string_equal(json_string_value(at("config", "seed")), "18446744073709551615");
}

RESULT_TEST(demo_result_make, says_null_where_nothing_was_measured)
{
	const json_t *fault = json_array_get(json_object_get(result, "faults"), 0);
	const json_t *before = json_object_get(fault, "before");
	const json_t *during = json_object_get(fault, "during");

	assert_true(json_real_value(json_object_get(before, "step_ms")) == 301.5);
	assert_true(json_is_null(json_object_get(during, "step_ms")));
	assert_true(json_is_null(at("fault_free", "sha256")));
	assert_int_equal(json_integer_value(json_object_get(fault, "data_packets_lost")), 12);
}

RESULT_TEST(demo_result_make, has_the_times_of_a_fault_that_struck)
{
	const json_t *fault = json_array_get(json_object_get(result, "faults"), 0);
	const json_t *times = json_object_get(fault, "times");

	assert_true(json_real_value(json_object_get(times, "found_ms")) == 4.24);
	assert_true(json_is_null(json_object_get(times, "left_ms")));
	assert_true(json_real_value(json_object_get(times, "all_good_ms")) == 0);
	assert_true(json_is_object(at("with_faults", "woken_late")));
}

RESULT_TEST(demo_result_make, lists_every_step)
{
	assert_u_eq(json_array_size(at("fault_free", "step_list")), 2);
	assert_true(json_is_object(json_object_get(result, "tcp")));
}

RESULT_TEST(demo_result_make, has_no_second_run_that_was_not_started)
{
	struct demo_run none = {0};
	json_t *short_one = demo_result_make(&o, &healthy, &none, 1);

	assert_true(json_is_null(json_object_get(short_one, "with_faults")));
	assert_true(json_is_null(json_object_get(short_one, "tcp")));
	assert_u_eq(json_array_size(json_object_get(short_one, "faults")), 0);
	json_decref(short_one);
}

RESULT_TEST(demo_result_write, replaces_the_file_as_a_whole)
{
	char path[64];
	json_t *back;

	snprintf(path, sizeof(path), "/tmp/unit-demo-result-%d", (int)getpid());
	assert_int_equal(demo_result_write(result, path), 0);
	assert_int_equal(demo_result_write(result, path), 0);
	back = json_load_file(path, 0, NULL);
	assert_true(json_equal(back, result));
	json_decref(back);
	unlink(path);
	assert_int_equal(demo_result_write(result, "/nowhere/at/all.json"), -1);
}

TEST(demo_result_check, tries_without_touching_what_is_there)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/unit-demo-check-%d", (int)getpid());
	assert_int_equal(demo_result_check(path), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(demo_result_check("/nowhere/at/all.json"), -1);
}
