/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures and containers: src/fabric/emit_{dot,svg,containerlab}.c. */
#include "emit_fixture.h"

#include <unistd.h>

/* REQ(plan.emit.graphs) */
TEST(mf_emit_dot, every_node_and_cable_once)
{
	struct emit_fixture b;

	fixture_begin(&b, "lab");
	mf_emit_dot(b.to, &b.t);
	fixture_text(&b);
	assert_u_eq(fixture_count(b.text, " -- "), b.t.n_links / 2);
	assert_u_eq(fixture_count(b.text, " [label=\"T"), b.t.n_switches);
	assert_u_eq(fixture_count(b.text, "subgraph cluster_plane"), 4);
	assert_u_eq(fixture_count(b.text, "{"), fixture_count(b.text, "}"));
	assert_non_null(strstr(b.text, "\"plane1.t0-1\" -- \"host4\" "));
	fixture_end(&b);
}

TEST(mf_emit_dot, graphviz_takes_it)
{
	struct emit_fixture b;
	FILE *dot;

	if (access("/usr/bin/dot", X_OK))
		test_skip("graphviz is not installed");
	for (const char *const *name = (const char *const[]){"tiny", "lab8", "paper", NULL}; *name;
	     name++) {
		fixture_begin(&b, *name);
		mf_emit_dot(b.to, &b.t);
		dot = popen("/usr/bin/dot -Tcanon >/dev/null", "w");
		assert_non_null(dot);
		fputs(fixture_text(&b), dot);
		assert_int_equal(pclose(dot), 0);
		fixture_end(&b);
	}
}

/* Tags that are opened are closed, in order; REQ(plan.emit.graphs) */
static void check_xml(const char *text)
{
	char open[16][16];
	size_t depth = 0;

	for (const char *at = text; (at = strchr(at, '<')); at++) {
		const char *end = strchr(at, '>');
		size_t len = strcspn(at + 1, " >/");

		assert_non_null(end);
		if (at[1] == '/') {
			len = strcspn(at + 2, ">");
			assert_true(depth > 0);
			depth--;
			assert_u_eq(strlen(open[depth]), len);
			assert_memory_equal(open[depth], at + 2, len);
		} else if (end[-1] != '/') {
			assert_true(depth < 16 && len < 16);
			snprintf(open[depth++], 16, "%.*s", (int)len, at + 1);
		}
	}
	assert_u_eq(depth, 0);
}

TEST(mf_emit_svg, draws_every_node_and_cable)
{
	struct emit_fixture b;

	fixture_begin(&b, "lab8");
	mf_emit_svg(b.to, &b.t);
	fixture_text(&b);
	check_xml(b.text);
	assert_u_eq(fixture_count(b.text, "<path "), b.t.n_links / 2);
	assert_u_eq(fixture_count(b.text, "<rect "), b.t.n_nodes);
	assert_u_eq(fixture_count(b.text, "<title>plane7.t1-3, uSID b003, "), 1);
	fixture_end(&b);
}

TEST(mf_emit_svg, large_fabrics_as_an_overview)
{
	struct emit_fixture b;

	for (const char *const *name = (const char *const[]){"paper", "threetier", NULL}; *name;
	     name++) {
		fixture_begin(&b, *name);
		mf_emit_svg(b.to, &b.t);
		fixture_text(&b);
		check_xml(b.text);
		assert_u_eq(fixture_count(b.text, "<rect "), 1 + b.t.cfg.planes * b.t.cfg.tiers);
		assert_true(b.len < 20000);
		fixture_end(&b);
	}
}

static void check_mark(const char *topology, enum mf_mark_kind kind, size_t paths, size_t rects)
{
	struct emit_fixture b;
	struct mf_mark mark = {.kind = kind, .title = "it"};
	const char *marks;

	fixture_begin(&b, topology);
	if (kind == MF_MARK_PLANE)
		mark.id = 1;
	else if (kind != MF_MARK_CABLE)
		mark.id = mf_node_switch(&b.t, MF_T0, 0, 0);
	mf_emit_svg_marked(b.to, &b.t, &mark, 1);
	check_xml(fixture_text(&b));
	marks = strstr(b.text, "<title>it</title>");
	assert_non_null(marks);
	assert_u_eq(fixture_count(marks, "<path "), paths);
	assert_u_eq(fixture_count(marks, "<rect "), rects);
	fixture_end(&b);
}

/* What is marked is drawn once more, above the rest; in an overview the box that it is in. */
TEST(mf_emit_svg_marked, what_stands_out)
{
	check_mark("lab8", MF_MARK_CABLE, 1, 0);
	check_mark("lab8", MF_MARK_NODE, 0, 1);
	check_mark("lab8", MF_MARK_TRANSCEIVER, 4, 1);
	check_mark("tiny", MF_MARK_PLANE, 0, 4);
	check_mark("paper", MF_MARK_CABLE, 0, 1);
	check_mark("paper", MF_MARK_NODE, 0, 1);
	check_mark("paper", MF_MARK_TRANSCEIVER, 0, 1);
	check_mark("paper", MF_MARK_PLANE, 0, 2);
}

TEST(mf_emit_containerlab, joins_ports_that_belong_together)
{
	struct emit_fixture b;

	fixture_begin(&b, "lab");
	mf_emit_containerlab(b.to, &b.t);
	fixture_text(&b);
	assert_u_eq(fixture_count(b.text, "      kind: linux\n"), b.t.n_nodes);
	assert_u_eq(fixture_count(b.text, "    - endpoints: ["), b.t.n_links / 2);
	assert_non_null(strstr(b.text, "[\"host4:e1\", \"plane1-t0-1:d0\"]\n      mtu: 4400\n"));
	assert_non_null(strstr(b.text, "[\"plane1-t0-1:u1\", \"plane1-t1-1:d1\"]\n"));
	assert_non_null(strstr(b.text, "        - hosts/t0-1/host4.ip:/softmrc/node.ip\n"));
	assert_u_eq(fixture_count(b.text, "ip -batch /softmrc/node.ip"), b.t.n_nodes);
	fixture_end(&b);
}
