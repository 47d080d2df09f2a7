/* SPDX-License-Identifier: BSD-2-Clause */
/* EVs as devices list them, their cables by name, and the EVs of a part. */
#include "fabric_fixture.h"

#include "fabric/ev_links.h"

TEST(mf_ev_find, port_is_the_plane)
{
	struct mf_topology t = fabric("lab");
	uint32_t ev = 7;

	assert_true(mf_ev_find(&t, 1, 0xc0010001, &ev));
	assert_u_eq(ev, mf_ev_of(1, 1, 0));
	assert_u_eq(mf_ev_shown(ev), 0xc0010001);
	/* Another base, and the plane by the port alone. */
	assert_true(mf_ev_find(&t, 3, 0xd2400000, &ev));
	assert_u_eq(ev, mf_ev_of(3, 0, 0));
}

TEST(mf_ev_find, what_is_no_path)
{
	struct mf_topology t = fabric("lab"), three = fabric("small3");
	uint32_t ev = 7;

	assert_false(mf_ev_find(&t, 1, 49153, &ev));
	assert_false(mf_ev_find(&t, 1, UINT16_MAX, &ev));
	assert_false(mf_ev_find(&t, 4, 0xc0040000, &ev));
	assert_false(mf_ev_find(&t, 1, 0xc0010002, &ev));
	assert_false(mf_ev_find(&t, 1, 0xc0010100, &ev));
	assert_false(mf_ev_find(&three, 1, 0xc0010600, &ev));
	assert_u_eq(ev, 7);
	assert_true(mf_ev_find(&three, 1, 0xc0010502, &ev));
	assert_u_eq(ev, mf_ev_of(1, 2, 5));
}

TEST(mf_link_ends, port_and_far_node)
{
	struct mf_topology t = fabric("lab");
	char text[MF_CABLE_ENDS_BYTES];

	assert_string_equal(mf_link_ends(&t, mf_link_t0_t1(&t, 1, 0, 1, false), text),
			    "plane1.t0-0.u1 - plane1.t1-1");
	assert_string_equal(mf_link_ends(&t, mf_link_t0_t1(&t, 1, 0, 1, true), text),
			    "plane1.t1-1.d0 - plane1.t0-0");
}

TEST(mf_ev_cable, by_where_the_path_turns)
{
	struct mf_topology t = fabric("lab"), three = fabric("small3");
	char text[MF_EV_CABLE_BYTES];

	assert_string_equal(mf_ev_cable(&t, 0, 7, mf_ev_of(1, 1, 0), text),
			    "plane1.t0-0.u1 - plane1.t1-1");
	assert_string_equal(mf_ev_cable(&t, 7, MF_HOST_NONE, mf_ev_of(1, 1, 0), text),
			    "plane1.t0-1.u1 - plane1.t1-1");
	assert_string_equal(mf_ev_cable(&t, 0, 1, mf_ev_of(1, 1, 0), text),
			    "host0.e1 - plane1.t0-0");
	assert_string_equal(mf_ev_cable(&three, 0, 29, mf_ev_of(1, 2, 5), text),
			    "plane1.t0-0.u2 - plane1.t1-2.u5 - plane1.t2-17");
	assert_string_equal(mf_ev_cable(&three, 14, MF_HOST_NONE, mf_ev_of(0, 1, 0), text),
			    "plane0.t0-2.u1 - plane0.t1-4.u0 - plane0.t2-6");
}

/* The longest names there are fit. */
TEST(mf_ev_cable, of_the_largest_fabric)
{
	struct mf_topology t = fabric("threetier");
	char text[MF_EV_CABLE_BYTES];
	uint32_t ev = mf_ev_nth(&t, mf_ev_count(&t) - 1);

	assert_string_equal(mf_ev_cable(&t, t.n_hosts - 1, MF_HOST_NONE, ev, text),
			    "plane0.t0-2047.u31 - plane0.t1-2047.u31 - plane0.t2-1023");
}

/* By arithmetic what all paths of a host say together. */
static void assert_crosses(const struct mf_topology *t, uint32_t src, uint32_t ev)
{
	bool *taken = calloc(t->n_links, sizeof(*taken));

	assert_non_null(taken);
	for (uint32_t dst = 0; dst < t->n_hosts; dst++) {
		struct mf_pair pair = mf_pair_of(t, src, dst);

		for (uint32_t hop = 0; dst != src && hop < mf_pair_links(&pair); hop++)
			taken[mf_path_link(t, &pair, ev, hop)] = true;
	}
	for (uint32_t link = 0; link < t->n_links; link++)
		if (mf_ev_crosses(t, src, ev, link) != taken[link])
			fail_msg("host %u, EV %x, link %u: %d", src, ev, link, taken[link]);
	free(taken);
}

TEST(mf_ev_crosses, is_what_paths_take)
{
	static const char *const names[] = {"tiny", "lab", "small3"};

	for (size_t i = 0; i < 3; i++) {
		struct mf_topology t = fabric(names[i]);

		for (uint32_t src = 0; src < t.n_hosts; src++)
			for (uint32_t n = 0; n < mf_ev_count(&t); n++)
				assert_crosses(&t, src, mf_ev_nth(&t, n));
	}
}

/* How many of a host's EVs use a part. */
static uint32_t count_uses(const struct mf_topology *t, uint32_t src, const char *name)
{
	struct mf_target part = fabric_part(t, name);
	uint32_t n = 0;

	for (uint32_t i = 0; i < mf_ev_count(t); i++)
		n += mf_ev_uses_part(t, src, mf_ev_nth(t, i), &part);
	return n;
}

TEST(mf_ev_uses_part, of_each_kind)
{
	struct mf_topology t = fabric("lab");

	assert_u_eq(mf_ev_count(&t), 8);
	assert_u_eq(count_uses(&t, 0, "plane1"), 2);
	assert_u_eq(count_uses(&t, 0, "plane1.t1-1"), 1);
	/* Of one's own T0 and of another one, where every path of the plane to its hosts ends. */
	assert_u_eq(count_uses(&t, 0, "plane1.t0-0"), 2);
	assert_u_eq(count_uses(&t, 0, "plane1.t0-1"), 2);
	/* Up by the cable, or down. */
	assert_u_eq(count_uses(&t, 0, "plane1.t0-0.t1-1"), 1);
	assert_u_eq(count_uses(&t, 0, "plane1.t0-1.u1"), 1);
	assert_u_eq(count_uses(&t, 5, "host0.plane1"), 2);
	assert_u_eq(count_uses(&t, 5, "host0"), 8);
	assert_u_eq(count_uses(&t, 0, "plane1.t0-0.transceiver1"), 2);
}

TEST(mf_path_uses_part, only_this_pair)
{
	struct mf_topology t = fabric("lab");
	struct mf_target plane = fabric_part(&t, "plane1"), t1 = fabric_part(&t, "plane1.t1-1");
	struct mf_target t0 = fabric_part(&t, "plane1.t0-1"),
			 cable = fabric_part(&t, "host1.plane1");
	struct mf_pair near = mf_pair_of(&t, 0, 1), far = mf_pair_of(&t, 0, 5);
	uint32_t ev = mf_ev_of(1, 1, 0);

	assert_true(mf_path_uses_part(&t, &near, ev, &plane));
	assert_false(mf_path_uses_part(&t, &near, mf_ev_of(2, 1, 0), &plane));
	assert_true(mf_path_uses_part(&t, &far, ev, &t1));
	assert_false(mf_path_uses_part(&t, &near, ev, &t1));
	assert_true(mf_path_uses_part(&t, &far, ev, &t0));
	assert_false(mf_path_uses_part(&t, &near, ev, &t0));
	assert_true(mf_path_uses_part(&t, &near, ev, &cable));
	assert_false(mf_path_uses_part(&t, &far, ev, &cable));
}
