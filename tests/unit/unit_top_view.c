/* SPDX-License-Identifier: BSD-2-Clause */
/* The screen of `mrc top`: src/cli/top/top.h. */
#include "cli/top/top.h"

#include "fabric/topology_toml.h"
#include "fabric/usid.h"

#include "support/test.h"
#include "unit/top_fixture.h"

static void assert_has(const struct ui_text *out, const char *line)
{
	if (!strstr(out->data, line))
		fail_msg("no <%s> in:\n%s", line, out->data);
}

TEST(top_view_render, processes_planes_and_qps)
{
	const struct top_view view = {.width = 80};
	struct ui_text out = {0};

	fixture_readings();
	top_view_render(&view, &fixture_stats, &out);
	assert_has(&out, "mrc top  1 process  1 QP\n");
	assert_has(&out, "77   train      1  10.0 Gb/s     0 b/s   12.3k       0       0      0\n");
	assert_has(&out,
		   "77       0  10.0.0.1  up    5.00 Gb/s     0 b/s     1     0    1       0\n");
	assert_has(&out,
		   "77       1  10.0.1.1  DOWN      0 b/s     0 b/s     1     1    0       0\n");
	assert_has(&out,
		   "77   0x000010  10.0.0.2  RTS    300  65.5k       0  80.0 us     0  2/4\n");
	assert_has(&out, "        0 #x  1 -#\n");
	ui_text_fini(&out);
}

/* EVs of host0 of a lab to host5 that are out of use. */
TEST(top_view_render, names_what_is_out_of_use)
{
	static struct cli_fabric lab = {.known = true};
	struct top_view view = {.width = 80, .fabric = &lab};
	struct mrc_stats_segment *s;
	struct ui_text out = {0};
	char why[MF_TOML_ERROR_BYTES];

	fixture_readings();
	s = fixture_stats.process[0].now;
	assert_true(mf_topology_open("lab", &lab.t, why));
	mf_address_of_host(&lab.t, 0, s->gid);
	mf_address_of_host(&lab.t, 5, s->qp[0].dest);
	s->qp[0].ev[0] = (struct mrc_stats_ev){0xc0010001, 1, MRC_STATS_EV_ASSUMED_BAD, 1};
	s->qp[0].ev[1] = (struct mrc_stats_ev){0xc0000000, 0, MRC_STATS_EV_DENIED, 0};
	top_view_render(&view, &fixture_stats, &out);
	assert_non_null(strstr(out.data, "\n          x plane1.t0-0.u1 - plane1.t1-1\n"
					 "          d plane0.t0-0.u0 - plane0.t1-0\n"));
	ui_text_fini(&out);
}

TEST(top_view_render, says_when_there_is_nothing)
{
	static const struct stats_reader none = {.dir = "/x"};
	const struct top_view view = {.width = 80};
	struct ui_text out = {0};

	top_view_render(&view, &none, &out);
	assert_has(&out, "no process has an MRC device open (/x is empty)\n");
	ui_text_fini(&out);
}

TEST(top_view_render, stays_inside_the_window)
{
	const struct top_view view = {.width = 30, .height = 6};
	struct ui_text out = {0};
	size_t lines = 0;

	fixture_readings();
	top_view_render(&view, &fixture_stats, &out);
	for (const char *line = out.data; *line; lines++) {
		size_t n = strcspn(line, "\n");

		assert_true(n <= 30 || line[0] == '(');
		line += n + (line[n] == '\n');
	}
	assert_u_eq(lines, 6);
	assert_has(&out, "lines more than this window has)");
	ui_text_fini(&out);
}

TEST(top_view_render, counts_what_may_not_be_read)
{
	const struct top_view view = {.width = 80};
	struct ui_text out = {0};

	fixture_readings();
	fixture_stats.unreadable = 2;
	fixture_stats.other_version = 1;
	top_view_render(&view, &fixture_stats, &out);
	assert_has(&out, "2 more of other users, which may not be read\n");
	assert_has(&out, "1 more of another version of softmrc\n");
	ui_text_fini(&out);
}
