/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines about a measurement: src/cli/perf/perf.h. */
#include "cli/perf/perf.h"

#include "support/test.h"
#include "unit/stats_fixture.h"

static const struct perf_plan plan = {
	.min = 1, .max = 65536, .duration_ns = 200000000, .qps = 2, .depth = 64, .bandwidth = true};

static struct perf_row row_of(void)
{
	return (struct perf_row){.bytes = 65536,
				 .out = {.messages = 1000, .ns = 524288000},
				 .p50_ns = 12345,
				 .p99_ns = 1000000,
				 .max_ns = 4000000,
				 .health = {.known = true, .retransmits = 12, .lost = 3}};
}

TEST(perf_report_row, stands_below_its_head)
{
	const struct perf_row row = row_of();
	struct ui_text out = {0};
	const char *head;

	perf_report_head(&plan, &out);
	perf_report_row(&plan, &row, &out);
	head = strstr(out.data, "    SIZE");
	assert_non_null(head);
	assert_string_equal(
		head,
		"    SIZE  BANDWIDTH   MSG/s      P50      P99      MAX   RETX   LOST   TRIM\n"
		"  64 KiB  1.00 Gb/s    1907  12.3 us  1.00 ms  4.00 ms     12      3      0\n");
	assert_non_null(
		strstr(out.data, "WRITE, 2 QPs, 64 in flight on each; times are from post"));
	ui_text_fini(&out);
}

TEST(perf_report_row, both_ways_fit_a_terminal)
{
	struct perf_plan both = plan;
	struct perf_row row = row_of();
	struct ui_text out = {0};

	both.bidirectional = true;
	row.health.known = false;
	perf_report_row(&both, &row, &out);
	assert_non_null(strstr(out.data, "    -      -      -\n"));
	assert_true(strlen(out.data) <= 89);
	ui_text_fini(&out);
}

TEST(perf_report_tick, size_rate_and_progress)
{
	const struct perf_figure f = {.messages = 500, .ns = 100000000};
	struct ui_text out = {0};

	perf_report_tick(4096, &f, 200000000, &out);
	assert_string_equal(out.data, "   4 KiB   164 Mb/s   50 %");
	ui_text_fini(&out);
}

TEST(perf_report_tail, planes_share_the_bytes)
{
	static struct mrc_stats_segment s;
	struct perf_health all;
	struct ui_text out = {0};

	fixture_segment(&s, 1);
	s.port[0].tx_bytes = 3 << 20;
	s.port[1].tx_bytes = 1 << 20;
	perf_health_of(&s, &all);
	perf_report_tail(&all, &out);
	assert_non_null(strstr(out.data, "0      10.0.0.1  up    75.0 %  3 MiB       0 B\n"));
	assert_non_null(strstr(out.data, "1      10.0.1.1  DOWN  25.0 %  1 MiB       0 B\n"));
	assert_non_null(
		strstr(out.data, "EVs now: 2 good, 1 skipped once (ECN or trim), 1 assumed bad"));
	assert_non_null(strstr(out.data, "packets: 5 retransmitted, 0 lost"));
	ui_text_fini(&out);
}

TEST(perf_report_json, figures_by_name)
{
	const struct perf_row row = row_of();
	struct perf_health all = {.known = true, .evs_good = 16};
	json_t *json = perf_report_json(&plan, "host", &row, 1, &all);
	json_int_t bytes, p99, messages;
	const char *of;
	double bits;
	int good;

	assert_i_eq(json_unpack(json, "{s:[{s:I,s:{s:I,s:s},s:{s:I,s:f}}],s:{s:i}}", "sizes",
				"bytes", &bytes, "time_ns", "p99", &p99, "of", &of, "sent",
				"messages", &messages, "bits_per_s", &bits, "evs", "good", &good),
		    0);
	assert_i_eq(bytes, 65536);
	assert_i_eq(p99, 1000000);
	assert_string_equal(of, "post_to_completion");
	assert_i_eq(messages, 1000);
	assert_true(bits == 1e9);
	assert_i_eq(good, 16);
	json_decref(json);
}
