/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of ranks, and their steps in figures: src/demo/rank_report.c. */
#include "demo/measure.h"

#include "support/test.h"

#include <unistd.h>

#define BEGIN                                                                        \
	"{\"begin\": {\"rank\": 0, \"ranks\": 2, \"steps\": 3, \"params\": 262144, " \
	"\"files\": 14, \"bytes\": 237320, \"bigram_bits\": 3.5, "                   \
	"\"transport\": \"TCP\", \"tcp_paths\": [3, 7], "                            \
	"\"tcp_feels_loss\": true}}"
#define STEP "{\"step\": 0, \"t_start_ns\": 10, \"t_end_ns\": 30, \"comm_ns\": 15, \"loss\": 8}"
#define DIGEST "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define END "{\"end\": {\"loss\": 1.25, \"sha256\": \"" DIGEST "\"}}"

static struct demo_report r;
static char path[64];
static FILE *writer;

static int open_report(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/unit-demo-report-%d", (int)getpid());
	unlink(path);
	demo_report_open(&r, path);
	return 0;
}

static int close_report(void **state)
{
	(void)state;
	demo_report_close(&r);
	if (writer)
		fclose(writer);
	writer = NULL;
	unlink(path);
	return 0;
}

#define REPORT_TEST(function, name) TEST_WITH(open_report, close_report, function, name)

REPORT_TEST(demo_report_line, takes_the_beginning)
{
	assert_true(demo_report_line(&r, BEGIN));
	assert_true(r.begun);
	assert_u_eq(r.files, 14);
	assert_u_eq(r.bytes, 237320);
	assert_true(r.bigram_bits == 3.5);
	assert_string_equal(r.transport, "TCP");
	assert_u_eq(r.tcp_paths, 2);
	assert_u_eq(r.tcp_path[1], 7);
	assert_true(r.tcp_feels_loss);
}

REPORT_TEST(demo_report_line, takes_steps_and_the_end)
{
	for (unsigned i = 0; i < 300; i++)
		assert_true(demo_report_line(&r, STEP));
	assert_u_eq(r.n, 300);
	assert_u_eq(r.steps[299].end_ns, 30);
	assert_u_eq(r.steps[299].comm_ns, 15);
	assert_true(r.steps[299].loss == 8);
	assert_false(r.ended);
	assert_true(demo_report_line(&r, END));
	assert_true(r.ended);
	assert_string_equal(r.sha256, DIGEST);
}

REPORT_TEST(demo_report_line, refuses_what_it_does_not_know)
{
	assert_false(demo_report_line(&r, ""));
	assert_false(demo_report_line(&r, "step 1"));
	assert_false(demo_report_line(&r, "{\"step\": 1}"));
	assert_false(demo_report_line(&r, "{\"step\": 1, \"t_start_ns\": \"now\"}"));
	assert_false(demo_report_line(&r, "{\"begin\": 1}"));
	assert_false(demo_report_line(&r, "{\"end\": {\"loss\": 1, \"sha256\": \"short\"}}"));
	assert_u_eq(r.n, 0);
}

REPORT_TEST(demo_report_read, waits_for_the_file_and_for_whole_lines)
{
	demo_report_read(&r);
	assert_false(r.begun);
	writer = fopen(path, "w");
	assert_non_null(writer);
	fputs(BEGIN "\n" STEP, writer);
	fflush(writer);
	demo_report_read(&r);
	assert_true(r.begun);
	assert_u_eq(r.n, 0);
	fputs("\n" STEP "\n" END "\n", writer);
	fflush(writer);
	demo_report_read(&r);
	assert_u_eq(r.n, 2);
	assert_true(r.ended);
	assert_false(r.broken);
}

REPORT_TEST(demo_report_read, marks_a_broken_report)
{
	writer = fopen(path, "w");
	assert_non_null(writer);
	for (unsigned i = 0; i < 2000; i++)
		fputc('x', writer);
	fputs("\n", writer);
	fflush(writer);
	demo_report_read(&r);
	assert_true(r.broken);
}

static struct demo_step step(uint64_t start, uint64_t end, uint64_t comm)
{
	return (struct demo_step){.start_ns = start, .end_ns = end, .comm_ns = comm};
}

TEST(demo_figures_median, takes_the_middle_or_the_lower_middle)
{
	uint64_t odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, one[] = {7};

	assert_u_eq(demo_figures_median(odd, 3), 5);
	assert_u_eq(demo_figures_median(even, 4), 2);
	assert_u_eq(demo_figures_median(one, 1), 7);
	assert_u_eq(demo_figures_median(NULL, 0), 0);
}

TEST(demo_figures_between, takes_whole_steps_only)
{
	const struct demo_step steps[] = {step(0, 10, 8), step(10, 22, 9), step(22, 35, 12),
					  step(35, 100, 60)};
	struct demo_figure f = demo_figures_between(steps, 4, 10, 35);

	assert_u_eq(f.n, 2);
	assert_u_eq(f.step_ns, 12);
	assert_u_eq(f.comm_ns, 9);
	assert_u_eq(f.max_ns, 13);
}

TEST(demo_figures_between, finds_nothing_in_an_outage)
{
	const struct demo_step steps[] = {step(0, 10, 8), step(10, 500, 9)};
	struct demo_figure f = demo_figures_between(steps, 2, 20, 400);

	assert_u_eq(f.n, 0);
	assert_u_eq(f.step_ns, 0);
	assert_u_eq(demo_figures_between(NULL, 0, 0, UINT64_MAX).n, 0);
}

TEST(demo_figures_expect, stretches_only_the_all_reduce)
{
	const struct demo_figure before = {.n = 3, .step_ns = 320, .comm_ns = 300};
	const struct demo_figure none = {0};

	assert_u_eq(demo_figures_expect(&before, 4, 3), 420);
	assert_u_eq(demo_figures_expect(&before, 1, 1), 320);
	assert_u_eq(demo_figures_expect(&before, 0, 0), 0);
	assert_u_eq(demo_figures_expect(&none, 4, 3), 0);
}
