/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input changes a file of statistics, between two readings, as another user may do
 * who owns it. What is shown of it is printable text of a bounded length, and JSON.
 *
 * Each change is a byte that selects a part of the segment, two bytes of offset in it, and eight
 * bytes that go there. The first byte of the input says where the file ends.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/run/run.h"
#include "cli/stat/stat.h"
#include "cli/top/top.h"
#include "exporter/exporter.h"
#include "stats/stats_reader.h"
#include "unit/stats_fixture.h"

#define CHANGE_BYTES 11u
#define TEXT_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	size_t at, size;
} parts[] = {
	{0, offsetof(struct mrc_stats_segment, counter)},
	{offsetof(struct mrc_stats_segment, counter), 4 * sizeof(struct mrc_stats_counter)},
	{offsetof(struct mrc_stats_segment, port), 2 * sizeof(struct mrc_stats_port)},
	{offsetof(struct mrc_stats_segment, qp), 200},
	{offsetof(struct mrc_stats_segment, qp[1]), 200},
	{offsetof(struct mrc_stats_segment, events), 8},
	{offsetof(struct mrc_stats_segment, event), 128},
	{offsetof(struct mrc_stats_segment, qps), sizeof(struct mrc_stats_qps)},
	{offsetof(struct mrc_stats_segment, counter),
	 sizeof(((struct mrc_stats_segment *)0)->counter)},
};

static char dir[] = "/tmp/mrc-fuzz-stats-XXXXXX", path[64];
static struct mrc_stats_segment segment, loaded;
static int file = -1;

static void remove_all(void)
{
	unlink(path);
	rmdir(dir);
}

static void make_file(void)
{
	mb_assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/1" MRC_STATS_SUFFIX, dir);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	mb_assert(file >= 0);
	atexit(remove_all);
}

static void change(const uint8_t *data, size_t size)
{
	for (; size >= CHANGE_BYTES; data += CHANGE_BYTES, size -= CHANGE_BYTES) {
		size_t part = data[0] % (sizeof(parts) / sizeof(parts[0]));
		size_t at = ((size_t)data[1] << 8 | data[2]) % parts[part].size;

		mb_assert(pwrite(file, data + 3, 8, (off_t)(parts[part].at + at)) == 8);
	}
}

static void take_event(void *context, const struct stats_process *process,
		       const struct mrc_stats_event *event)
{
	mb_assert(process);
	(void)event;
	++*(uint32_t *)context;
}

static void expect_printable(struct ui_text *text)
{
	mb_assert(text->len < TEXT_MAX);
	for (size_t i = 0; i < text->len; i++)
		mb_assert(text->data[i] == '\n' || (text->data[i] >= ' ' && text->data[i] <= '~'));
	ui_text_fini(text);
}

static void look_at_stat(const struct stats_reader *stats)
{
	struct stat_view view = {.zeros = true, .growth = true};
	struct ui_text text = {0};

	stat_text_render(&view, stats, &text);
	expect_printable(&text);
	stat_exposition_render(stats, 8, STAT_OPENMETRICS, &text);
	expect_printable(&text);
	json_decref(stat_json_make(stats, NULL));
}

static void look(struct stats_reader *stats, uint64_t now_ns, bool at_all)
{
	struct top_view view = {.width = 200};
	struct ui_text text = {0};
	uint32_t events = 0;
	json_t *json;

	mb_assert(stats_reader_copy(stats, now_ns) == 0);
	stats_reader_events(stats, take_event, &events);
	mb_assert(events <= MRC_STATS_EVENTS);
	top_view_render(&view, stats, &text);
	expect_printable(&text);
	if (at_all)
		look_at_stat(stats);
	json = top_json_make(stats, NULL);
	mb_assert(json);
	json_decref(json);
}

static void look_afterwards(void)
{
	struct run_report report = {0};

	if (stats_segment_load(file, &loaded))
		return;
	mb_assert(run_report_add(&report, &loaded) == 0);
	mb_assert(report.ports <= MRC_STATS_PORTS && report.events <= MRC_STATS_EVENTS);
	free(report.event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct stats_reader stats;
	size_t half = size / 2;

	if (size < 1 + 2 * CHANGE_BYTES)
		return 0;
	if (file < 0)
		make_file();
	fixture_segment(&segment, 1);
	mb_assert(pwrite(file, &segment, sizeof(segment), 0) == (ssize_t)sizeof(segment));
	change(data + 1, half);
	/* Two readings, so that rates are shown too. */
	stats_reader_open(&stats, dir, 0);
	stats.with_ended = true;
	mb_assert(stats_reader_find(&stats) == 0);
	look(&stats, 1000, false);
	change(data + 1 + half, size - 1 - half);
	if (data[0])
		mb_assert(ftruncate(file, (off_t)(sizeof(segment) / 255 * (255u - data[0]))) == 0);
	look(&stats, 2000, data[0] % 8 == 0); /* a hundred metrics take their time */
	stats_reader_close(&stats);
	look_afterwards();
	return 0;
}
