/* SPDX-License-Identifier: BSD-2-Clause */
/* Following a report: src/demo/rank_report.h. */
#include "demo/rank_report.h"

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
