/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths: where they turn, how many there are, and the links of each. */
#include "fabric_fixture.h"

#include "fabric/fabric_path.h"

/* Links lead from src to dst without a gap, over the nodes that mf_path_node names. */
static void assert_connected(const struct mf_topology *t, const struct mf_pair *p, uint32_t ev)
{
	uint32_t links[MF_PATH_LINKS_MAX], n = mf_path_links(t, p, ev, links), at = p->src;

	assert_u_eq(n, mf_pair_links(p));
	for (uint32_t hop = 0; hop < n; hop++) {
		assert_u_eq(mf_link_from(t, links[hop]).node, at);
		at = mf_link_to(t, links[hop]).node;
		assert_u_eq(mf_path_node(t, p, ev, hop), at);
		assert_u_eq(mf_link_plane(t, links[hop]), mf_ev_plane(ev));
		assert_u_eq(mf_link_down(links[hop]), hop >= n / 2);
	}
	assert_u_eq(at, p->dst);
}

static void assert_all_connected(const char *name)
{
	struct mf_topology t = fabric(name);

	for (uint32_t src = 0; src < t.n_hosts; src++)
		for (uint32_t dst = 0; dst < t.n_hosts; dst++) {
			struct mf_pair p = mf_pair_of(&t, src, dst);

			for (uint32_t n = 0; n < mf_path_count(&t, &p); n++)
				assert_connected(&t, &p, mf_ev_nth(&t, n));
		}
}

TEST(mf_path_links, every_pair_on_every_path)
{
	assert_all_connected("tiny");
	assert_all_connected("lab");
	assert_all_connected("lab8");
	assert_all_connected("small3");
}

/* REQ(topo.path.turn) */
TEST(mf_pair_of, turns_at_the_lowest_common_tier)
{
	struct mf_topology t = fabric("small3");

	assert_u_eq(mf_pair_of(&t, 0, 4).turn, MF_T0);
	assert_u_eq(mf_pair_of(&t, 0, 5).turn, MF_T1);
	assert_u_eq(mf_pair_of(&t, 0, 10).turn, MF_T2);
	assert_u_eq(mf_pair_of(&t, 7, 7).turn, MF_T0);
}

/* REQ(srv6.self-probe) */
TEST(mf_pair_turning, up_to_a_tier_and_back)
{
	struct mf_topology t = fabric("small3");

	for (int tier = MF_T0; tier <= MF_T2; tier++) {
		struct mf_pair p = mf_pair_turning(&t, 7, 7, (enum mf_tier)tier);

		assert_u_eq(mf_pair_links(&p), 2 * (unsigned)tier);
		for (uint32_t n = 0; n < mf_path_count(&t, &p); n++)
			assert_connected(&t, &p, mf_ev_nth(&t, n));
	}
	assert_u_eq(mf_pair_turning(&t, 0, 10, MF_T0).turn, MF_T2);
}

TEST(mf_path_count, by_tier)
{
	struct mf_topology t = fabric("small3");
	struct mf_pair same_t0 = mf_pair_of(&t, 0, 4), same_pod = mf_pair_of(&t, 0, 5);
	struct mf_pair far = mf_pair_of(&t, 0, 29);

	assert_u_eq(mf_path_count(&t, &same_t0), 2);
	assert_u_eq(mf_path_count(&t, &same_pod), 2 * 3);
	assert_u_eq(mf_path_count(&t, &far), 2 * 3 * 6);
}

static uint32_t count_shared(const struct mf_topology *t, const struct mf_pair *p, uint32_t a,
			     uint32_t b)
{
	uint32_t of_a[MF_PATH_LINKS_MAX], of_b[MF_PATH_LINKS_MAX], shared = 0;
	uint32_t n = mf_path_links(t, p, a, of_a);

	mf_path_links(t, p, b, of_b);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			shared += of_a[i] == of_b[k];
	return shared;
}

TEST(mf_path_count, first_evs_are_all_different_paths)
{
	struct mf_topology t = fabric("small3");
	const uint32_t dst[] = {4, 5, 29};

	for (size_t d = 0; d < 3; d++) {
		struct mf_pair p = mf_pair_of(&t, 0, dst[d]);

		for (uint32_t a = 0; a < mf_path_count(&t, &p); a++)
			for (uint32_t b = 0; b < a; b++)
				assert_true(count_shared(&t, &p, mf_ev_nth(&t, a),
							 mf_ev_nth(&t, b)) < mf_pair_links(&p));
	}
}

/* The published figures: a NIC has 256 paths on each of its eight ports. */
TEST(mf_path_count, of_the_paper)
{
	struct mf_topology t = fabric("paper");
	struct mf_pair p = mf_pair_of(&t, 0, t.n_hosts - 1);

	assert_u_eq(mf_path_count(&t, &p), 8 * 256);
}
