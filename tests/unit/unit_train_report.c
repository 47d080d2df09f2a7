/* SPDX-License-Identifier: BSD-2-Clause */
/* What `train` writes into its report. */
#include "train_report.h"

#include "support/test.h"

#include <unistd.h>

static struct train_args args;
static struct train_report report;
static char path[64], content[2000];

/* Stand-ins for the ring: the report only asks it to describe itself. */
const char *ring_transport_text(const struct ring *r)
{
	(void)r;
	return "a wire";
}

unsigned ring_tcp_paths(const struct ring *r, unsigned *path_of, unsigned max)
{
	(void)r;
	assert_true(max >= 2);
	path_of[0] = 3;
	path_of[1] = 5;
	return 2;
}

bool ring_tcp_feels_loss(const struct ring *r)
{
	(void)r;
	return true;
}

static int open_report(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/unit-train-report-%d", (int)getpid());
	args = (struct train_args){
		.rank = 1, .ranks = 4, .steps = 2, .params = 512, .report = path};
	assert_int_equal(train_report_open(&report, &args), 0);
	return 0;
}

static int remove_report(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void read_back(void)
{
	FILE *f;
	size_t n;

	assert_int_equal(train_report_close(&report), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(content, 1, sizeof(content) - 1, f);
	content[n] = '\0';
	fclose(f);
}

#define REPORT_TEST(function, name) TEST_WITH(open_report, remove_report, function, name)

REPORT_TEST(train_report_begin, writes_one_line)
{
	const struct train_text text = {.len = 9000, .files = 3};

	train_report_begin(&report, &text, 3.25, NULL);
	read_back();
	assert_string_equal(content,
			    "{\"begin\": {\"rank\": 1, \"ranks\": 4, \"steps\": 2, \"params\": "
			    "512, \"files\": 3, \"bytes\": 9000, \"bigram_bits\": 3.250000, "
			    "\"transport\": \"a wire\", \"tcp_paths\": [3, 5], "
			    "\"tcp_feels_loss\": true}}\n");
}

REPORT_TEST(train_report_step, keeps_every_bit_of_the_loss)
{
	const float loss = 1.0f / 3;
	struct train_step s = {
		.step = 1, .t_start_ns = 5, .t_end_ns = 9, .comm_ns = 3, .loss = loss};
	const char *at;

	train_report_step(&report, &s);
	read_back();
	assert_string_equal(content, "{\"step\": 1, \"t_start_ns\": 5, \"t_end_ns\": 9, "
				     "\"comm_ns\": 3, \"loss\": 0.333333343}\n");
	at = strstr(content, "0.3");
	assert_true(strtof(at, NULL) == loss);
}

REPORT_TEST(train_report_end, writes_loss_and_digest)
{
	train_report_end(&report, 1.5f, 3.25, "abc");
	read_back();
	assert_string_equal(content, "{\"end\": {\"loss\": 1.5, \"sha256\": \"abc\"}}\n");
}

TEST(train_report_open, refuses_a_path_it_cannot_write)
{
	struct train_args wrong = {.report = "/no/such/dir/report"};
	struct train_report r;

	assert_int_equal(train_report_open(&r, &wrong), -1);
}
