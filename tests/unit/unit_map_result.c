/* SPDX-License-Identifier: BSD-2-Clause */
/* What `mrc map check` says: src/cli/map/map_result.h. */
#include "cli/map/map_result.h"
#include "fabric/topology_toml.h"
#include "support/test.h"

static struct mf_topology t;
static const struct prober_figures figures = {.hosts = 4,
					      .routes = 48,
					      .interval_ns = 10000000,
					      .bit_s = 5000000,
					      .sent = 900,
					      .lost = 7};
static struct map_result result;

static int setup(void **state)
{
	char why[MF_TOML_ERROR_BYTES];

	(void)state;
	result = (struct map_result){
		.lab = "x", .t = &t, .figures = figures, .start_ns = 100, .now_ns = 100};
	return mf_topology_open("tiny", &t, why) ? 0 : -1;
}

static const struct mm_sick dead = {.part = {.kind = MM_CABLE, .id = 0},
				    .kind = MM_DEAD,
				    .since_ns = 200,
				    .for_it = 2,
				    .watchers = 3,
				    .direction_known = true};

TEST_WITH(setup, NULL, map_result_take, keeps_when_each_was_named)
{
	struct mm_sick both[] = {{.part = {.kind = MM_HOST, .id = 1}, .kind = MM_LOSSY}, dead};

	map_result_take(&result, &dead, 1, 1000);
	map_result_take(&result, both, 2, 2000);
	assert_u_eq(result.n, 2);
	assert_u_eq(result.finding[0].named_ns, 1900);
	assert_u_eq(result.finding[1].named_ns, 900);
	both[1].kind = MM_LOSSY; /* another fault of the same cable */
	map_result_take(&result, both, 2, 3000);
	assert_u_eq(result.finding[1].named_ns, 2900);
	both[1].part.direction = MF_DIRECTION_OUT; /* another one: the other direction works */
	map_result_take(&result, both, 2, 3500);
	assert_u_eq(result.finding[0].named_ns, 1900);
	assert_u_eq(result.finding[1].named_ns, 3400);
	map_result_take(&result, both, 0, 4000);
	assert_true(map_result_healthy(&result));
	result.silent = 1;
	assert_false(map_result_healthy(&result));
}

TEST_WITH(setup, NULL, map_result_show, a_line_for_each)
{
	struct ui_text text = {0};

	map_result_take(&result, &dead, 1, 5000200);
	map_result_show(&result, &text);
	assert_non_null(strstr(text.data, "host0.plane0: dead, since 5 ms, seen by 2 of 3; "));
	assert_non_null(strstr(text.data, "\nlab x: sick; 900 probes, 7 lost"));
	ui_text_fini(&text);
	result.n = 0;
	result.silent = 3;
	map_result_show(&result, &text);
	assert_non_null(strstr(text.data, "3 of 4 hosts not heard of\nlab x: sick"));
	ui_text_fini(&text);
}

TEST_WITH(setup, NULL, map_result_json, all_of_it)
{
	struct mm_sick wrong = dead;
	json_t *json, *sick;

	wrong.kind = MM_WRONG_CABLE;
	wrong.direction_known = false;
	wrong.other = (struct mm_part){.kind = MM_CABLE, .id = 1};
	map_result_take(&result, &wrong, 1, 1000);
	json = map_result_json(&result);
	assert_non_null(json);
	assert_true(json_is_false(json_object_get(json, "healthy")));
	sick = json_array_get(json_object_get(json, "sick"), 0);
	assert_string_equal(json_string_value(json_object_get(sick, "component")), "cable");
	assert_string_equal(json_string_value(json_object_get(sick, "kind")), "wrong cable");
	assert_string_equal(json_string_value(json_object_get(sick, "part")), "host0.plane0");
	assert_string_equal(json_string_value(json_object_get(sick, "other")), "host1.plane0");
	assert_true(json_is_null(json_object_get(sick, "direction")));
	assert_i_eq(json_integer_value(json_object_get(sick, "since_ns")), 800);
	json_decref(json);
	wrong.other = wrong.part; /* of three */
	map_result_take(&result, &wrong, 1, 1000);
	json = map_result_json(&result);
	sick = json_array_get(json_object_get(json, "sick"), 0);
	assert_true(json_is_null(json_object_get(sick, "other")));
	json_decref(json);
}

/* A change is told once: when it begins, and when it ends. */
TEST_WITH(setup, NULL, map_result_take, says_what_changed)
{
	struct mm_sick other = dead;

	map_result_take(&result, &dead, 1, 1000);
	assert_u_eq(result.n_begun, 1);
	assert_u_eq(result.n_ended, 0);
	map_result_take(&result, &dead, 1, 2000);
	assert_u_eq(result.n_begun + result.n_ended, 0);
	other.kind = MM_LOSSY;
	map_result_take(&result, &other, 1, 3000);
	assert_u_eq(result.n_begun, 1);
	assert_u_eq(result.n_ended, 1);
	assert_u_eq(result.ended[0].sick.kind, MM_DEAD);
	map_result_take(&result, NULL, 0, 4000);
	assert_u_eq(result.ended[0].sick.kind, MM_LOSSY);
}

static const char *drawn(struct ui_text *text)
{
	ui_text_clear(text);
	map_draw_text(&result, text);
	return text->data;
}

TEST_WITH(setup, NULL, map_draw_text, a_letter_where_it_is)
{
	const struct mm_sick of_each[] = {
		{.part = {MM_CABLE, mf_link_t0_t1(&t, 1, 1, 0, false) >> 1}, .kind = MM_LOSSY},
		{.part = {MM_CABLE, mf_link_host_t0(&t, 0, 3, false) >> 1}, .kind = MM_WRONG_CABLE},
		{.part = {MM_SWITCH, mf_node_switch(&t, MF_T1, 1, 1)}, .kind = MM_DEAD},
		{.part = {MM_SWITCH, mf_node_switch(&t, MF_T0, 0, 0)}, .kind = MM_FLAPPING},
		{.part = {MM_HOST, 1}, .kind = MM_CORRUPTING},
		{.part = {MM_PLANE, 0}, .kind = MM_DEAD},
	};
	struct ui_text text = {0};

	map_result_take(&result, of_each, 6, 1000);
	assert_non_null(strstr(drawn(&text), "plane0X  t1-0 t1-1 \n"
					     "  t0-0    F .    .    | .  .C host0..1\n"
					     "  t0-1      .    .    | .  W  host2..3\n"
					     "plane1   t1-0 t1-1X\n"
					     "  t0-0      .    .    | .  .C host0..1\n"
					     "  t0-1      L    .    | .  .  host2..3\n"));
	ui_text_fini(&text);
}

/* Of a large fabric the rows where something is sick, and how many are well. */
TEST_WITH(setup, NULL, map_draw_text, large_fabrics_in_part)
{
	char why[MF_TOML_ERROR_BYTES];
	struct ui_text text = {0};
	struct mm_sick s = dead;

	assert_true(mf_topology_open("paper", &t, why));
	s.part.id = mf_link_t0_t1(&t, 1, 5, 3, false) >> 1;
	map_result_take(&result, &s, 1, 1000);
	drawn(&text);
	assert_non_null(strstr(text.data, "\n  t0-5      .     .     .     X "));
	assert_null(strstr(text.data, "\n  t0-6 "));
	assert_non_null(strstr(text.data, " T0s with nothing sick\n"));
	ui_text_fini(&text);
}

/* A T1 of two digits has its letter, and what is sick beyond the columns that are drawn one too. */
TEST_WITH(setup, NULL, map_draw_text, wide_fabrics)
{
	char why[MF_TOML_ERROR_BYTES];
	struct ui_text text = {0};
	struct mm_sick some[] = {dead, dead, dead, dead};

	assert_true(mf_topology_open("paper", &t, why));
	some[0].part = (struct mm_part){.kind = MM_SWITCH, .id = mf_node_switch(&t, MF_T1, 0, 12)};
	some[1].part = (struct mm_part){.kind = MM_SWITCH,
					.id = mf_node_switch(&t, MF_T1, 0, t.cfg.t1s - 1)};
	some[1].kind = MM_FLAPPING;
	some[2].part.id = mf_link_t0_t1(&t, 0, 5, t.cfg.t1s - 1, false) >> 1;
	some[3].part.id = mf_link_host_t0(&t, 0, 6 * t.cfg.hosts_per_t0 - 1, false) >> 1;
	some[3].kind = MM_LOSSY;
	map_result_take(&result, some, 4, 1000);
	drawn(&text);
	assert_non_null(strstr(text.data, " t1-11 t1-12Xt1-13 "));
	assert_non_null(strstr(text.data, "t1-15  ..F\n"));
	assert_non_null(strstr(text.data, " ..X |"));
	assert_non_null(strstr(text.data, " .  ..L host"));
	ui_text_fini(&text);
}
