/* SPDX-License-Identifier: BSD-2-Clause */
/* EVs that are out of use, as `mrc stat` lists them. */
#include "cli/stat/stat.h"

#include <stdlib.h>

#include "fabric/topology_toml.h"
#include "fabric/usid.h"
#include "support/test.h"
#include "unit/top_fixture.h"

static struct cli_fabric lab = {.known = true};

/* Of host0 of a lab: two QPs that have lost one EV, of which one has another one denied. */
static struct mrc_stats_segment *segment(void)
{
	char why[MF_TOML_ERROR_BYTES];
	struct mrc_stats_segment *s;

	fixture_readings();
	s = fixture_stats.process[0].now;
	assert_true(mf_topology_open("lab", &lab.t, why));
	mf_address_of_host(&lab.t, 0, s->gid);
	s->qp[0].evs = 2;
	s->qp[0].ev[0] = (struct mrc_stats_ev){0xc0010001, 1, MRC_STATS_EV_ASSUMED_BAD, 1};
	s->qp[0].ev[1] = (struct mrc_stats_ev){0xc0020000, 2, MRC_STATS_EV_SKIP, 0};
	s->qp[1] = s->qp[0];
	s->qp[1].qpn++;
	s->qp[1].ev[1] = (struct mrc_stats_ev){0xc0000000, 0, MRC_STATS_EV_DENIED, 0};
	return s;
}

TEST(stat_evs_find, each_once_with_its_cable)
{
	const struct mrc_stats_segment *s = segment();
	struct stat_ev ev[STAT_EVS_MAX];

	assert_u_eq(stat_evs_find(s, &lab, ev), 2);
	assert_u_eq(ev[0].qps, 2);
	assert_string_equal(ev[0].cable, "plane1.t0-0.u1 - plane1.t1-1");
	assert_u_eq(ev[1].qps, 1);
	assert_string_equal(ev[1].cable, "plane0.t0-0.u0 - plane0.t1-0");
	assert_u_eq(stat_evs_find(s, NULL, ev), 2);
	assert_string_equal(ev[0].cable, "");
}

TEST(stat_evs_find, more_than_are_kept)
{
	struct mrc_stats_segment *s = segment();
	struct stat_ev ev[STAT_EVS_MAX];

	s->qp[0].evs = MRC_STATS_EVS;
	for (uint32_t i = 0; i < MRC_STATS_EVS; i++)
		s->qp[0].ev[i] = (struct mrc_stats_ev){i, 0, MRC_STATS_EV_DENIED, 0};
	assert_true(stat_evs_find(s, NULL, ev) > STAT_EVS_MAX);
	assert_u_eq(ev[STAT_EVS_MAX - 1].ev.value, STAT_EVS_MAX - 1);
}

TEST(stat_text_render, lists_them)
{
	const struct stat_view view = {.fabric = &lab};
	struct ui_text out = {0};
	json_t *json, *evs;

	segment();
	stat_text_render(&view, &fixture_stats, &out);
	assert_non_null(strstr(out.data, "  EV 0xc0010001 of plane 1 is bad, of 2 QPs: "
					 "plane1.t0-0.u1 - plane1.t1-1\n"));
	ui_text_fini(&out);
	json = stat_json_make(&fixture_stats, &lab);
	evs = json_object_get(json_array_get(json_object_get(json, "processes"), 0),
			      "evs_out_of_use");
	assert_string_equal(json_string_value(json_object_get(json_array_get(evs, 1), "cable")),
			    "plane0.t0-0.u0 - plane0.t1-0");
	assert_true(json_is_false(json_object_get(
		json_array_get(json_object_get(json, "processes"), 0), "evs_out_of_use_cut")));
	json_decref(json);
}

/* What is left out is said. */
TEST(stat_json_make, says_that_there_are_more)
{
	struct mrc_stats_segment *s = segment();
	json_t *json, *process;

	s->qp[0].evs = STAT_EVS_MAX + 1;
	for (uint32_t i = 0; i <= STAT_EVS_MAX; i++)
		s->qp[0].ev[i] = (struct mrc_stats_ev){i, 1, MRC_STATS_EV_ASSUMED_BAD, 1};
	json = stat_json_make(&fixture_stats, &lab);
	process = json_array_get(json_object_get(json, "processes"), 0);
	assert_u_eq(json_array_size(json_object_get(process, "evs_out_of_use")), STAT_EVS_MAX);
	assert_true(json_is_true(json_object_get(process, "evs_out_of_use_cut")));
	json_decref(json);
}

/* Who asked for a fabric is refused; a variable of the environment is no reason to show nothing. */
TEST(cli_fabric_find, a_variable_that_leads_nowhere_is_a_warning)
{
	static const struct ui_verb verb = {.name = "mrc x"};
	struct cli_fabric f;

	setenv("MRC_FABRIC", "/nowhere/at/all.toml", 1);
	assert_int_equal(cli_fabric_find(&verb, NULL, &f), 0);
	assert_false(f.known);
	assert_int_equal(cli_fabric_find(&verb, "/nowhere/at/all.toml", &f), -1);
	assert_int_equal(cli_fabric_find(&verb, "lab", &f), 0);
	assert_true(f.known);
	unsetenv("MRC_FABRIC");
	assert_int_equal(cli_fabric_find(&verb, NULL, &f), 0);
	assert_false(f.known);
}
