/* SPDX-License-Identifier: BSD-2-Clause */
/* What `mrc ping` says: src/cli/ping/ping.h. */
#include "cli/ping/ping.h"

#include "fabric/topology_toml.h"
#include "fabric/usid.h"

#include "support/test.h"
#include "unit/ping_fixture.h"

static void answer(size_t i, uint64_t rtt_ns)
{
	fixture_paths.path[i].asked = true;
	fixture_paths.path[i].figure.sent++;
	fixture_paths.path[i].last_ns = rtt_ns;
	if (rtt_ns)
		ping_figure_add(&fixture_paths.path[i].figure, rtt_ns);
}

TEST_WITH(fixture_setup, fixture_teardown, ping_show_round, what_was_asked)
{
	struct ui_text out = {0};

	answer(1, 12345);
	answer(6, 0);
	ping_show_round(fixture_hosts, &fixture_paths, 2, &out);
	assert_string_equal(out.data, "one: round 3 plane 1 EV 100  12.3 us\n"
				      "two: round 3 plane 0 EV 101  no answer\n");
	ui_text_fini(&out);
}

TEST_WITH(fixture_setup, fixture_teardown, ping_show_table, every_path)
{
	struct ui_text out = {0};

	answer(0, 10000);
	answer(0, 20000);
	answer(1, 0);
	ping_show_table(fixture_hosts, &fixture_paths, &out);
	assert_non_null(
		strstr(out.data, "HOST  PLANE   EV  SENT     LOST      MIN     MEAN      MAX"));
	assert_non_null(
		strstr(out.data, "one       0  100     2    0.0 %  10.0 us  15.0 us  20.0 us"));
	assert_non_null(
		strstr(out.data, "one       1  100     1  100.0 %        -        -        -"));
	ui_text_fini(&out);
}

/* Of host0 of a lab; the first host is host5 of it, the second is none. */
static void name_paths(void)
{
	static struct cli_fabric lab = {.known = true};
	struct ping_host hosts[2] = {fixture_hosts[0], fixture_hosts[1]};
	uint8_t own[16];
	char why[MF_TOML_ERROR_BYTES];

	assert_true(mf_topology_open("lab", &lab.t, why));
	mf_address_of_host(&lab.t, 0, own);
	mf_address_of_host(&lab.t, 5, hosts[0].gid);
	for (size_t i = 0; i < fixture_paths.n; i++) {
		uint32_t value = 0xc0000000 + ping_path_value(&fixture_paths.path[i]) - 100;

		memcpy(fixture_paths.path[i].ev.val, &value, sizeof(value));
	}
	ping_paths_name(&fixture_paths, hosts, &lab, own);
	assert_string_equal(fixture_paths.path[3].cable, "plane1.t0-0.u1 - plane1.t1-1");
	assert_string_equal(fixture_paths.path[4].cable, "");
}

TEST_WITH(fixture_setup, fixture_teardown, ping_paths_name, shown_everywhere)
{
	struct ui_text out = {0};
	const char *cable;
	json_t *json;

	name_paths();
	answer(3, 10000);
	answer(4, 10000);
	ping_show_round(fixture_hosts, &fixture_paths, 0, &out);
	assert_non_null(strstr(out.data, "10.0 us  plane1.t0-0.u1 - plane1.t1-1\ntwo: "));
	ui_text_clear(&out);
	ping_show_table(fixture_hosts, &fixture_paths, &out);
	assert_non_null(strstr(out.data, "MAX  CABLE"));
	assert_non_null(strstr(out.data, "10.0 us  plane1.t0-0.u1 - plane1.t1-1"));
	ui_text_fini(&out);
	json = ping_json(fixture_hosts, 2, &fixture_paths);
	cable = json_string_value(json_object_get(
		json_array_get(
			json_object_get(json_array_get(json_object_get(json, "hosts"), 0), "paths"),
			3),
		"cable"));
	assert_string_equal(cable, "plane1.t0-0.u1 - plane1.t1-1");
	json_decref(json);
}

TEST(ping_show_host, one_line)
{
	const struct ping_figure some = {.sent = 4,
					 .answered = 3,
					 .min_ns = 1000,
					 .max_ns = 9000,
					 .sum_ns = 12000},
				 none = {.sent = 4};
	struct ui_text out = {0};

	ping_show_host(&fixture_hosts[0], &some, &out);
	assert_string_equal(out.data, "one: 4 sent, 3 answered, 25.0 % lost; round trip 1.00 us, "
				      "mean 4.00 us, at most 9.00 us\n");
	ui_text_clear(&out);
	ping_show_host(&fixture_hosts[1], &none, &out);
	assert_string_equal(out.data, "two: 4 sent, 0 answered, 100.0 % lost\n");
	ui_text_fini(&out);
}

TEST_WITH(fixture_setup, fixture_teardown, ping_json, hosts_and_paths)
{
	json_int_t min, plane, sent;
	json_t *json, *rtt;

	answer(0, 500);
	json = ping_json(fixture_hosts, 2, &fixture_paths);
	assert_i_eq(json_unpack(json, "{s:[{s:[{s:{s:I},s:I}]},{s:I,s:o}]}", "hosts", "paths",
				"rtt_ns", "min", &min, "plane", &plane, "sent", &sent, "rtt_ns",
				&rtt),
		    0);
	assert_i_eq(min, 500);
	assert_i_eq(plane, 0);
	assert_i_eq(sent, 0);
	assert_true(json_is_null(rtt));
	json_decref(json);
}
