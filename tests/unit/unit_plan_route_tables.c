/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes as words, and differences: src/cli/plan/plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include "fabric/fabric_node.h"
#include "fabric/topology_toml.h"
#include "support/test.h"

#include <stdio.h>

/* Differences in one line: "missing P[plan] extra P[running] different P[plan|running] ". */
static void note(void *context, enum plan_difference difference, const struct plan_route *planned,
		 const struct plan_route *running)
{
	char *out = context;
	size_t len = strlen(out);

	snprintf(out + len, 1024 - len, "%s %s[%s%s%s] ",
		 difference == PLAN_MISSING ? "missing"
		 : difference == PLAN_EXTRA ? "extra"
					    : "different",
		 planned ? planned->prefix : running->prefix, planned ? planned->what.data : "",
		 planned && running ? "|" : "", running ? running->what.data : "");
}

static void plan_of(struct plan_table *table, const char *preset, const char *node_name)
{
	struct mf_topology t;
	struct mf_error error;
	char why[MF_TOML_ERROR_BYTES];
	uint32_t node;

	assert_true(mf_topology_open(preset, &t, why));
	assert_true(mf_node_find(&t, node_name, &node, &error));
	plan_table_plan(table, &t, node);
}

/* What ip(8) shows, from one line a route as plan_table_plan has them. */
static char *shown_as_planned(const struct plan_table *plan)
{
	char *text, *rest, *hop;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	fprintf(to, "[{\"dst\":\"fe80::/64\",\"dev\":\"u0\",\"protocol\":\"kernel\"}");
	for (size_t i = 0; i < plan->n; i++) {
		char *copy = strdup(plan->route[i].what.data), comma = '[';

		fprintf(to, ",{\"dst\":\"%s\"", plan->route[i].prefix);
		if (strcmp(copy, "uN") == 0)
			fprintf(to, ",\"encap\":\"seg6local\",\"action\":\"End\",\"flavors\":["
				    "\"next-csid\"],\"lblen\":32,\"nflen\":16,\"dev\":\"sr0\"");
		else if (strncmp(copy, "via ", 4) != 0)
			fprintf(to, ",\"type\":\"%s\"", copy);
		else
			fprintf(to, ",\"nexthops\":");
		for (rest = copy; strncmp(copy, "via ", 4) == 0 && (hop = strsep(&rest, ","));
		     comma = ',') {
			char gateway[40], dev[20];

			assert_int_equal(sscanf(hop, " via %39s dev %19s", gateway, dev), 2);
			fprintf(to, "%c{\"gateway\":\"%s\",\"dev\":\"%s\",\"flags\":[]}", comma,
				gateway, dev);
		}
		fprintf(to, "%s}", comma == ',' ? "]" : "");
		free(copy);
	}
	fprintf(to, "]");
	fclose(to);
	return text;
}

/* REQ(plan.diff) */
TEST(plan_table_compare, finds_nothing_where_all_is_as_planned)
{
	static const char *const nodes[] = {"host3", "plane0.t0-1", "plane3.t1-0"};

	for (size_t i = 0; i < 3; i++) {
		struct plan_table plan = {0}, running = {0};
		char said[1024] = "", *text;
		const char *why;

		plan_of(&plan, "lab", nodes[i]);
		assert_true(plan.n > 3);
		text = shown_as_planned(&plan);
		assert_true(plan_table_read(&running, text, &why));
		assert_u_eq(plan_table_compare(&plan, &running, note, said), 0);
		assert_string_equal(said, "");
		free(text);
		plan_table_fini(&plan);
		plan_table_fini(&running);
	}
}

static const char *difference(const char *plan_text, const char *running_text)
{
	static char said[1024];
	struct plan_table plan = {0}, running = {0};
	const char *why;

	said[0] = '\0';
	assert_true(plan_table_read(&plan, plan_text, &why));
	assert_true(plan_table_read(&running, running_text, &why));
	plan_table_compare(&plan, &running, note, said);
	plan_table_fini(&plan);
	plan_table_fini(&running);
	return said;
}

#define VIA(dst, gateway, dev) \
	"{\"dst\":\"" dst "\",\"gateway\":\"" gateway "\",\"dev\":\"" dev "\",\"flags\":[]}"

/* REQ(plan.diff) */
TEST(plan_table_compare, names_what_differs)
{
	assert_string_equal(difference("[" VIA("fc00:1::/48", "fe80::2", "u0") "]", "[]"),
			    "missing fc00:1::/48[via fe80::2 dev u0] ");
	assert_string_equal(difference("[]", "[" VIA("fc00:1::/48", "fe80::2", "u0") "]"),
			    "extra fc00:1::/48[via fe80::2 dev u0] ");
	assert_string_equal(difference("[" VIA("fc00:1::/48", "fe80::2", "u0") "]",
				       "[" VIA("fc00:1::/48", "fe80::2", "u1") "]"),
			    "different fc00:1::/48[via fe80::2 dev u0|via fe80::2 dev u1] ");
}

TEST(plan_table_compare, order_of_hops_and_kernel_routes_are_no_difference)
{
	assert_string_equal(
		difference(
			"[{\"dst\":\"fc00::/32\",\"nexthops\":[{\"gateway\":\"fe80::2\","
			"\"dev\":\"u0\"},{\"gateway\":\"fe80::2\",\"dev\":\"u1\"}]}]",
			"[{\"dst\":\"fc00::/32\",\"nexthops\":[{\"gateway\":\"fe80::2\","
			"\"dev\":\"u1\"},{\"gateway\":\"fe80::2\",\"dev\":\"u0\"}]},"
			"{\"type\":\"local\",\"dst\":\"fc00:9::9\",\"dev\":\"lo\","
			"\"protocol\":\"kernel\"},{\"type\":\"multicast\",\"dst\":\"ff00::/8\"}]"),
		"");
}

TEST(plan_table_read, tells_sids_and_links_that_are_down)
{
	struct plan_table table = {0};
	const char *why;

	assert_true(plan_table_read(
		&table,
		"[{\"dst\":\"fc00:2::/48\",\"encap\":\"seg6local\",\"action\":\"End.X\"},"
		"{\"dst\":\"default\",\"type\":\"blackhole\"},"
		"{\"dst\":\"fc00:1::1\",\"dev\":\"u0\",\"flags\":[\"linkdown\"]}]",
		&why));
	assert_u_eq(table.n, 3);
	assert_string_equal(table.route[0].prefix, "::/0");
	assert_string_equal(table.route[0].what.data, "blackhole");
	assert_string_equal(table.route[1].prefix, "fc00:1::1/128");
	assert_string_equal(table.route[1].what.data, "dev u0 (link is down)");
	assert_string_equal(table.route[2].what.data, "seg6local End.X");
	plan_table_fini(&table);
}

TEST(plan_table_read, refuses_other_text)
{
	struct plan_table table = {0};
	const char *why;

	assert_false(plan_table_read(&table, "ip: not found", &why));
	assert_true(strlen(why) > 0);
	assert_false(plan_table_read(&table, "{}", &why));
	assert_string_equal(why, "no list of routes");
	plan_table_fini(&table);
}
