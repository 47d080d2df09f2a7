/* SPDX-License-Identifier: BSD-2-Clause */
/* The picture of a running demo: src/demo/demo_run.h. */
#include "demo/demo_run.h"

#include "support/test.h"

static struct demo_step history[200];
static struct ui_text picture;

static void fill(struct demo_view *v)
{
	*v = (struct demo_view){
		.width = 80,
		.height = 24,
		.run = "run 2 of 2",
		.elapsed_s = 83,
		.shape = {.ranks = 8, .planes = 4, .paths = 8, .pace_bps = 50000000},
		.step = 40,
		.steps = 97,
		.loss = 1.5,
		.bigram_bits = 3.5,
		.history = history,
		.history_n = 200,
		.idle = 0.5,
		.faults = 3,
		.tcp = true,
		.tcp_step = 12,
		.tcp_silent_s = 4.25,
	};
	for (uint32_t i = 0; i < 200; i++)
		history[i] = (struct demo_step){.end_ns = 300000000 + i % 2 * 100000000};
	for (uint32_t p = 0; p < 4; p++)
		for (uint32_t k = 0; k < 8; k++)
			v->sums.path[p][k].good = 16;
	v->plane_bps[0] = 400e6;
	v->fault[0] = (struct demo_view_fault){
		.title = "first", .phase = DEMO_CLEARED, .lost = 32, .resent = 33, .retired = 34};
	v->fault[1] = (struct demo_view_fault){.title = "second", .phase = DEMO_ACTIVE};
	v->fault[2] = (struct demo_view_fault){.title = "third", .phase = DEMO_PENDING};
}

static const char *render(const struct demo_view *v)
{
	ui_text_clear(&picture);
	demo_view_render(v, &picture);
	return picture.data;
}

static int free_picture(void **state)
{
	(void)state;
	ui_text_fini(&picture);
	return 0;
}

#define VIEW_TEST(name) TEST_WITH(NULL, free_picture, demo_view_render, name)

/* Number of lines; no line may be wider than `width`. */
static uint32_t check_lines(const char *text, size_t width)
{
	uint32_t lines = 0;
	char line[2048];

	while (*text) {
		size_t n = strcspn(text, "\n");

		assert_true(n < sizeof(line));
		memcpy(line, text, n);
		line[n] = '\0';
		assert_true(ui_text_width(line) <= width);
		text += n + 1;
		lines++;
	}
	return lines;
}

VIEW_TEST(fits_every_terminal)
{
	static const uint32_t widths[] = {20, 80, 81, 132, 300};
	static const uint32_t heights[] = {10, 16, 24, 50};
	struct demo_view v;

	fill(&v);
	for (size_t w = 0; w < 5; w++)
		for (size_t h = 0; h < 4; h++) {
			v.width = widths[w];
			v.height = heights[h];
			v.colour = h % 2;
			v.utf8 = w % 2;
			assert_true(check_lines(render(&v), v.width) <
				    (v.height < 16 ? 16 : v.height));
		}
}

VIEW_TEST(says_where_it_is)
{
	struct demo_view v;

	fill(&v);
	render(&v);
	assert_non_null(strstr(picture.data, "1:23\n"));
	assert_non_null(strstr(picture.data, "step 40 of 97   loss 1.500 (bigram 3.500)\n"));
	assert_non_null(strstr(picture.data, "400 Mb/s"));
	assert_non_null(strstr(picture.data, "; idle 50 %"));
	assert_non_null(strstr(picture.data, "step 12 of 97   no step for 4.2 s"));
}

VIEW_TEST(has_no_escape_without_colour)
{
	struct demo_view v;

	fill(&v);
	assert_null(strchr(render(&v), '\033'));
	v.colour = true;
	assert_non_null(strchr(render(&v), '\033'));
}

VIEW_TEST(is_plain_ascii_without_utf8)
{
	struct demo_view v;

	fill(&v);
	for (const char *c = render(&v); *c; c++)
		assert_true((unsigned char)*c < 0x80);
}

VIEW_TEST(maps_paths_by_how_many_hosts_lost_them)
{
	struct demo_view v;

	fill(&v);
	v.sums.path[1][2] = (struct demo_path_state){.good = 8, .bad = 8};
	v.sums.path[1][3] = (struct demo_path_state){.good = 15, .bad = 1};
	v.sums.path[1][4] = (struct demo_path_state){.good = 15, .skip = 1};
	assert_non_null(strstr(render(&v), " o o x ~ s o o o\n"));
}

VIEW_TEST(shows_numbers_of_faults_that_struck)
{
	struct demo_view v;
	const char *line;

	fill(&v);
	line = strstr(render(&v), "first");
	assert_non_null(line);
	assert_non_null(strstr(line, "32     33     34      0\n"));
	assert_non_null(strstr(picture.data, "> second"));
	assert_non_null(strstr(picture.data, "  third"));
}

VIEW_TEST(shows_the_times_of_the_fault_that_struck_last)
{
	struct demo_view v;

	fill(&v);
	v.fault[1].times = (struct demo_times){4200000, 1234000000, DEMO_NEVER, 9999400000,
					       0,	DEMO_NEVER, 0,		0};
	assert_non_null(strstr(render(&v), "found 4.2 ms, left 1234 ms; after it: back -, all "
					   "back 9999 ms\n"));
}

VIEW_TEST(drops_old_faults_on_a_low_terminal)
{
	struct demo_view v;

	fill(&v);
	v.height = 18;
	render(&v);
	assert_null(strstr(picture.data, "first"));
	assert_non_null(strstr(picture.data, "second"));
	assert_non_null(strstr(picture.data, "third"));
}

VIEW_TEST(works_before_anything_is_known)
{
	struct demo_view v = {.width = 80, .height = 24, .run = "", .idle = -1};

	v.shape = (struct demo_shape){.ranks = 2, .planes = 1, .paths = 1, .pace_bps = 1};
	check_lines(render(&v), 80);
	assert_null(strstr(picture.data, "loss"));
	assert_null(strstr(picture.data, "idle"));
}
