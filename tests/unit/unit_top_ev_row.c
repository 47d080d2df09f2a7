/* SPDX-License-Identifier: BSD-2-Clause */
/* EVs as signs: src/cli/top/top.h. */
#include "cli/top/top.h"

#include "support/test.h"
#include "unit/stats_fixture.h"

static struct mrc_stats_segment s;

TEST(top_evs_of_plane, counts_by_state)
{
	struct top_evs evs;

	fixture_segment(&s, 1);
	evs = top_evs_of_plane(&s, 0); /* EVs 0 and 2: good, bad */
	assert_u_eq(evs.good, 1);
	assert_u_eq(evs.bad, 1);
	evs = top_evs_of_plane(&s, 1); /* EVs 1 and 3: skip, good */
	assert_u_eq(evs.skip, 1);
	assert_u_eq(evs.good, 1);
	assert_u_eq(evs.denied, 0);
}

TEST(top_evs_render, a_sign_an_ev)
{
	struct ui_text out = {0};

	fixture_segment(&s, 1);
	top_evs_render(&s.qp[0], false, &out);
	assert_string_equal(out.data, "        0 #x  1 -#\n");
	ui_text_fini(&out);
}

TEST(top_evs_render, colours_end)
{
	struct ui_text out = {0};

	fixture_segment(&s, 1);
	top_evs_render(&s.qp[0], true, &out);
	assert_string_equal(out.data, "        0 \033[32m#\033[31mx\033[0m  1 \033[33m-\033[32m#"
				      "\033[0m\n");
	ui_text_fini(&out);
}
