/* SPDX-License-Identifier: BSD-2-Clause */
/* What Prometheus reads of processes: src/exporter/exporter.h. */
#include "exporter/exporter.h"

#include "support/test.h"
#include "unit/top_fixture.h"

#include <errno.h>
#include <stdio.h>

static struct ui_text rendered(enum stat_format format, uint32_t processes)
{
	struct ui_text out = {0};

	stat_exposition_render(&fixture_stats, processes, format, &out);
	stat_exposition_end(format, &out);
	return out;
}

static void expect_line(const struct ui_text *text, const char *line)
{
	const char *at = strstr(text->data, line);

	if (!at || at[strlen(line)] != '\n' || (at != text->data && at[-1] != '\n'))
		fail_msg("no line <%s>", line);
}

TEST(stat_exposition_render, writes_the_text_format)
{
	struct ui_text text;

	fixture_readings();
	text = rendered(STAT_PROMETHEUS, 10);
	expect_line(&text, "# HELP softmrc_tx_data_bytes_total payload bytes sent, retransmissions "
			   "included");
	expect_line(&text, "# TYPE softmrc_tx_data_bytes_total counter");
	expect_line(&text, "softmrc_tx_data_bytes_total{pid=\"77\",uid=\"0\",device=\"mrc0\"} "
			   "1251000000");
	expect_line(&text, "# TYPE softmrc_plane_up gauge");
	expect_line(&text, "softmrc_plane_up{pid=\"77\",uid=\"0\",device=\"mrc0\",plane=\"1\"} 0");
	expect_line(&text, "softmrc_plane_evs{pid=\"77\",uid=\"0\",device=\"mrc0\",plane=\"0\","
			   "state=\"bad\"} 1");
	expect_line(&text, "softmrc_qps{pid=\"77\",uid=\"0\",device=\"mrc0\",state=\"RTS\"} 1");
	expect_line(&text, "softmrc_qp_stalled_seconds_total{pid=\"77\",uid=\"0\",device=\"mrc0\"} "
			   "0.000000000");
	expect_line(&text, "softmrc_processes 1");
	assert_null(strstr(text.data, "# UNIT"));
	assert_null(strstr(text.data, "# EOF"));
	ui_text_fini(&text);
}

TEST(stat_exposition_render, writes_openmetrics)
{
	struct ui_text text;

	fixture_readings();
	text = rendered(STAT_OPENMETRICS, 10);
	expect_line(&text, "# TYPE softmrc_tx_data_bytes counter");
	expect_line(&text, "# UNIT softmrc_tx_data_bytes bytes");
	expect_line(&text, "softmrc_tx_data_bytes_total{pid=\"77\",uid=\"0\",device=\"mrc0\"} "
			   "1251000000");
	assert_string_equal(text.data + text.len - 6, "# EOF\n");
	ui_text_fini(&text);
}

TEST(stat_exposition_render, keeps_names_of_programs_within_their_quotes)
{
	struct ui_text text;

	fixture_readings();
	strcpy(fixture_stats.process[0].command, "a\"} 9\\n");
	text = rendered(STAT_PROMETHEUS, 10);
	expect_line(&text, "softmrc_process_info{pid=\"77\",uid=\"0\",device=\"mrc0\","
			   "command=\"a\\\"} 9\\\\n\"} 1");
	ui_text_fini(&text);
}

static size_t lines_with(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* The oldest have series; of the others at least the number is known. */
TEST(stat_exposition_render, bounds_processes_and_says_so)
{
	static struct mrc_stats_segment segment[5];
	struct ui_text text;

	fixture_stats = (struct stats_reader){.dir = "/x", .n = 5};
	for (uint32_t i = 0; i < 5; i++) {
		fixture_segment(&segment[i], 100 + i);
		segment[i].started_ns = 1000 - i;
		fixture_stats.process[i] = (struct stats_process){.pid = 100 + i,
								  .fd = -1,
								  .command = "x",
								  .now = &segment[i],
								  .before = &segment[i]};
	}
	text = rendered(STAT_PROMETHEUS, 2);
	expect_line(&text, "softmrc_processes 5");
	expect_line(&text, "softmrc_processes_left_out 3");
	assert_u_eq(lines_with(text.data, "softmrc_process_info{"), 2);
	assert_non_null(strstr(text.data, "pid=\"104\""));
	assert_non_null(strstr(text.data, "pid=\"103\""));
	assert_null(strstr(text.data, "pid=\"100\""));
	ui_text_fini(&text);
}

/* The size of a scrape does not depend on QPs or EVs. */
TEST(stat_exposition_render, is_of_bounded_size)
{
	struct ui_text text;

	fixture_readings();
	fixture_stats.process[0].now->ports = MRC_STATS_PORTS;
	text = rendered(STAT_PROMETHEUS, 10);
	assert_true(text.len < 100000);
	ui_text_fini(&text);
}
