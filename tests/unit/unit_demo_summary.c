/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of the demo in words: src/demo/demo_run.h. */
#include "demo/demo_run.h"

#include "support/test.h"

#include <stdio.h>

static struct demo_outcome o;
static struct demo_script script;
static struct demo_run healthy, faulty;
static struct demo_stage stage = {.name = "lab", .tcp_text = "somehow", .trims = true};
static struct ui_text text;

static struct demo_figure ms(uint64_t n)
{
	return (struct demo_figure){.n = 5, .step_ns = n * 1000000};
}

static int set_up(void **state)
{
	struct demo_fault_figures *f = &o.fault[0];

	(void)state;
	o = (struct demo_outcome){.pass = true};
	script = (struct demo_script){.n = 2, .steps = 50};
	snprintf(script.fault[0].brief, sizeof(script.fault[0].brief), "%s", "17 columns wide..");
	snprintf(script.fault[1].brief, sizeof(script.fault[1].brief), "second");
	healthy = (struct demo_run){.cfg = {.script = &script, .stage = &stage}};
	faulty = (struct demo_run){.cfg = {.script = &script, .stage = &stage, .with_tcp = true},
				   .fabric = {.packets = 9000, .marked = 80, .trimmed = 7}};
	faulty.fault[0].phase = DEMO_CLEARED;
	faulty.fault[0].tcp_connections_hit = 3;
	faulty.fault[0].times = (struct demo_times){
		.found_ns = 4240000, .left_ns = DEMO_NEVER, .all_good_ns = 12345678900};
	faulty.fault[0].tcp_can_feel = true;
	f->before = f->after = f->tcp_before = ms(1234);
	f->during = ms(9999);
	f->expect_ns = 1650000000;
	f->lost = f->counters.tx_retransmits = 9999;
	f->counters.evs_retired = f->counters.evs_revived = 9999;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ui_text_fini(&text);
	return 0;
}

#define SUMMARY_TEST(function, name) TEST_WITH(set_up, tear_down, function, name)

static const char *table(void)
{
	ui_text_clear(&text);
	demo_summary_table(&o, &script, faulty.fault, true, &text);
	return text.data;
}

SUMMARY_TEST(demo_summary_table, fits_80_columns)
{
	faulty.fault[0].tcp_connections_hit = 0;
	o.fault[0].tcp_during = ms(999);
	assert_true(strcspn(table(), "\n") <= 80);
}

SUMMARY_TEST(demo_summary_table, tells_what_tcp_did)
{
	assert_non_null(strstr(table(), "  none\n"));
	o.fault[0].tcp_before.n = 0;
	assert_non_null(strstr(table(), "  late\n"));
	o.fault[0].tcp_during = ms(300);
	assert_non_null(strstr(table(), "  300\n"));
	faulty.fault[0].tcp_connections_hit = 0;
	assert_non_null(strstr(table(), "  (300)\n"));
}

SUMMARY_TEST(demo_summary_table, says_so_when_a_fault_was_not_run)
{
	assert_non_null(strstr(table(), "second"));
	assert_non_null(strstr(text.data, "no run"));
}

SUMMARY_TEST(demo_summary_table, leaves_out_what_arithmetic_does_not_tell)
{
	o.fault[0].expect_ns = 0;
	assert_non_null(strstr(table(), "  -  "));
}

SUMMARY_TEST(demo_summary_times, tells_detection_and_recovery)
{
	demo_summary_times(&script, faulty.fault, &text);
	assert_true(strcspn(text.data, "\n") <= 80);
	assert_non_null(strstr(text.data, "  4.2     -   0.0   12345.7\n"));
	assert_null(strstr(text.data, "second")); /* it did not strike */
}

SUMMARY_TEST(demo_summary_render, keeps_to_80_columns_and_names_the_lateness)
{
	faulty.late = (struct demo_lateness){.sum_ns = 4000000, .n = 2, .max_ns = 99000000};
	demo_summary_render(&o, &healthy, &faulty, &text);
	assert_non_null(strstr(text.data, "2.0 ms late on average, 99 at most"));
}

SUMMARY_TEST(demo_summary_render, prints_digests_and_verdict)
{
	o.checks = 1;
	demo_summary_render(&o, &healthy, &faulty, &text);
	assert_non_null(strstr(text.data, "without faults  not finished\n"));
	assert_non_null(strstr(text.data, "0 of 50 steps in the same time"));
	assert_non_null(strstr(text.data, "TCP's setup: somehow."));
	assert_non_null(strstr(text.data, "9000 packets sent on, 80 marked, 7 trimmed, 0 dropped"));
	assert_non_null(strstr(text.data, "PASS  all 1 checks"));
}

SUMMARY_TEST(demo_summary_render, says_what_tcp_cannot_feel)
{
	static const char note[] = "This kernel allows no filters";

	demo_summary_render(&o, &healthy, &faulty, &text);
	assert_null(strstr(text.data, note));
	ui_text_clear(&text);
	faulty.fault[0].tcp_can_feel = false;
	demo_summary_render(&o, &healthy, &faulty, &text);
	assert_non_null(strstr(text.data, note));
}

SUMMARY_TEST(demo_summary_render, prints_every_reason_to_fail)
{
	o.pass = false;
	o.checks = 2;
	strcpy(o.check[0].text, "good one");
	o.check[0].pass = true;
	strcpy(o.check[1].text, "bad one");
	demo_summary_render(&o, &healthy, &faulty, &text);
	assert_non_null(strstr(text.data, "FAIL  bad one\n"));
	assert_null(strstr(text.data, "good one"));
	assert_null(strstr(text.data, "PASS"));
}
