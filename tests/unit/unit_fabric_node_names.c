/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes and links as words, and words that are none. */
#include "fabric_fixture.h"

#include "fabric/fabric_node.h"

TEST(mf_node_name, read_back)
{
	struct mf_topology t = fabric("small3");
	char name[MF_NODE_NAME_BYTES];
	struct mf_error e;

	for (uint32_t node = 0; node < t.n_nodes; node++) {
		uint32_t found = UINT32_MAX;

		mf_node_name(&t, node, name);
		assert_true(mf_node_find(&t, name, &found, &e));
		assert_u_eq(found, node);
	}
}

TEST(mf_link_name, read_back)
{
	struct mf_topology t = fabric("small3");
	char name[MF_LINK_NAME_BYTES];
	struct mf_error e;

	for (uint32_t link = 0; link < t.n_links; link++) {
		uint32_t found = UINT32_MAX;

		mf_link_name(&t, link, name);
		assert_true(mf_link_find(&t, name, &found, &e));
		assert_u_eq(found, link);
	}
}

TEST(mf_node_name, looks)
{
	struct mf_topology t = fabric("small3");
	char node[MF_NODE_NAME_BYTES], link[MF_LINK_NAME_BYTES];

	mf_node_name(&t, 29, node);
	assert_string_equal(node, "host29");
	mf_node_name(&t, t.n_nodes - 1, node);
	assert_string_equal(node, "plane1.t2-17");
	mf_link_name(&t, mf_link_host_t0(&t, 1, 7, false), link);
	assert_string_equal(link, "host7.e1");
	mf_link_name(&t, mf_link_t0_t1(&t, 0, 3, 2, false), link);
	assert_string_equal(link, "plane0.t0-3.u2");
	mf_link_name(&t, mf_link_t0_t1(&t, 0, 3, 2, true), link);
	assert_string_equal(link, "plane0.t1-5.d1");
	assert_string_equal(mf_tier_name(MF_T1), "t1");
}

/* What is wrong, and a part of what the refusal says. */
static const char *const bad_nodes[][2] = {
	{"", "nodes are called"},
	{"host", "nodes are called"},
	{"hosts3", "nodes are called"},
	{"host30", "host0 to host29"},
	{"host4294967296", "nodes are called"},
	{"host03", "nodes are called"},
	{"host3x", "nothing may follow"},
	{"plane2.t0-0", "plane0 to plane1"},
	{"plane0.t0-6", "plane0.t0-0 to plane0.t0-5"},
	{"plane1.t2-18", "plane1.t2-0 to plane1.t2-17"},
	{"plane0.t3-0", "nodes are called"},
	{"plane0.t0", "nodes are called"},
	{"plane.t0-1", "nodes are called"},
	{"plane0/t0-1", "nodes are called"},
	{"t0-1", "nodes are called"},
};

static const char *const bad_links[][2] = {
	{"host3", "called by node and port"},
	{"host3.", "called by node and port"},
	{"host3.e2", "e0 to e1"},
	{"host3.u0", "e0, e1"},
	{"host30.e0", "host0 to host29"},
	{"plane0.t0-1.e0", "d0, ... down and u0"},
	{"plane0.t0-1.d5", "d0 to d4"},
	{"plane0.t0-1.u3", "u0 to u2"},
	{"plane0.t2-1.u0", "has no u"},
	{"plane0.t0-1.d1x", "called by node and port"},
	{"plane0.t0-1.d", "called by node and port"},
	{"spine3.u0", "nodes are called"},
};

static void assert_said(const struct mf_error *e, const char *name, const char *what)
{
	assert_string_equal(e->value, name);
	if (!strstr(e->what, what))
		fail_msg("%s: \"%s\" does not say \"%s\"", name, e->what, what);
}

/* REQ(topo.names) */
TEST(mf_node_find, says_what_there_is)
{
	struct mf_topology t = fabric("small3");
	struct mf_error e;
	uint32_t node = 7;

	for (size_t i = 0; i < sizeof(bad_nodes) / sizeof(bad_nodes[0]); i++) {
		assert_false(mf_node_find(&t, bad_nodes[i][0], &node, &e));
		assert_said(&e, bad_nodes[i][0], bad_nodes[i][1]);
	}
	assert_u_eq(node, 7);
	assert_false(
		mf_node_find(&(struct mf_topology){.cfg.planes = 1}, "plane0.t2-0", &node, &e));
	assert_said(&e, "plane0.t2-0", "has no plane0.t2-");
}

/* REQ(topo.names) */
TEST(mf_link_find, says_what_there_is)
{
	struct mf_topology t = fabric("small3");
	struct mf_error e;
	uint32_t link = 7;

	for (size_t i = 0; i < sizeof(bad_links) / sizeof(bad_links[0]); i++) {
		assert_false(mf_link_find(&t, bad_links[i][0], &link, &e));
		assert_said(&e, bad_links[i][0], bad_links[i][1]);
	}
	assert_u_eq(link, 7);
}

TEST(mf_link_find, long_words)
{
	struct mf_topology t = fabric("small3");
	struct mf_error e;
	char word[300];
	uint32_t link;

	memset(word, 'h', sizeof(word) - 1);
	word[sizeof(word) - 1] = 0;
	assert_false(mf_link_find(&t, word, &link, &e));
	assert_true(strlen(e.value) < sizeof(e.value));
}
