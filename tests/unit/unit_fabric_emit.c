/* SPDX-License-Identifier: BSD-2-Clause */
/* What emitters share: src/fabric/emit.h. */
#include "emit_fixture.h"

/* REQ(plan.emit.thresholds) */
TEST(mf_queue_bytes, by_the_product_of_bandwidth_and_delay)
{
	struct emit_fixture b;
	struct mf_queue_bytes q;
	uint64_t round_trip_ns, product;

	fixture_begin(&b, "paper");
	/* There and back 4 links and 3 switches; a packet of an MTU is sent 4 times. */
	round_trip_ns = 2 * (4 * 500 + 3 * 500) + 4 * (4400 * 8 / 100);
	product = round_trip_ns * 100 / 8;
	q = mf_queue_bytes(&b.t, MF_T0_T1, false);
	assert_u_eq(q.limit, product);
	assert_u_eq(q.ecn_min, product / 5);
	assert_u_eq(q.ecn_max, product * 4 / 5);
	assert_u_eq(mf_queue_bytes(&b.t, MF_HOST_T0, true).limit, product * 3 / 2);
	fixture_end(&b);
}

TEST(mf_queue_bytes, never_less_than_some_packets)
{
	struct emit_fixture b;

	fixture_begin(&b, "lab8");
	assert_true(mf_queue_bytes(&b.t, MF_T0_T1, false).ecn_min >= b.t.cfg.mtu);
	fixture_end(&b);
}

TEST(mf_queue_last_hop, is_a_t0_port_to_a_host)
{
	struct emit_fixture b;

	fixture_begin(&b, "lab");
	assert_true(mf_queue_last_hop(&b.t, fixture_node(&b, "plane0.t0-1"), 3));
	assert_false(mf_queue_last_hop(&b.t, fixture_node(&b, "plane0.t0-1"), 4));
	assert_false(mf_queue_last_hop(&b.t, fixture_node(&b, "plane0.t1-1"), 0));
	fixture_end(&b);
}

TEST(mf_emit_lane, counts_lanes_of_100g)
{
	struct emit_fixture b;
	uint32_t lanes;

	fixture_begin(&b, "paper");
	assert_u_eq(mf_emit_lane(&b.t, fixture_node(&b, "plane0.t0-0"), 511, &lanes), 511);
	assert_u_eq(lanes, 1);
	fixture_end(&b);
	fixture_begin(&b, "paper4");
	assert_u_eq(mf_emit_lane(&b.t, fixture_node(&b, "plane0.t0-0"), 200, &lanes), 400);
	assert_u_eq(lanes, 2);
	fixture_end(&b);
	fixture_begin(&b, "threetier");
	assert_u_eq(mf_emit_lane(&b.t, fixture_node(&b, "plane0.t1-0"), 63, &lanes), 504);
	assert_u_eq(lanes, 8);
	fixture_end(&b);
}

TEST(mf_emit_lane, another_speed_begins_a_cage)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("tiny");
	struct mf_topology t;
	struct mf_error error;
	uint32_t lanes, t0;

	cfg.links[MF_HOST_T0].bit_s = UINT64_C(100000000000);
	cfg.links[MF_T0_T1].bit_s = UINT64_C(400000000000);
	assert_true(mf_topology_init(&t, &cfg, &error));
	t0 = mf_node_switch(&t, MF_T0, 0, 0);
	assert_u_eq(mf_emit_lane(&t, t0, 1, &lanes), 1);
	assert_u_eq(mf_emit_lane(&t, t0, 2, &lanes), 8);
	assert_u_eq(lanes, 4);
	assert_u_eq(mf_emit_lane(&t, t0, 3, &lanes), 12);
}

TEST(mf_emit_path, has_a_folder_for_each_t0)
{
	struct emit_fixture b;
	char path[MF_PATH_BYTES];

	fixture_begin(&b, "paper");
	mf_emit_path(&b.t, 131071, path);
	assert_string_equal(path, "hosts/t0-511/host131071");
	mf_emit_path(&b.t, fixture_node(&b, "plane7.t1-255"), path);
	assert_string_equal(path, "plane7/t1-255");
	fixture_end(&b);
}

TEST(mf_emit_hostname, has_no_dots)
{
	struct emit_fixture b;
	char name[MF_ADDRESS_TEXT];

	fixture_begin(&b, "lab");
	assert_string_equal(mf_emit_hostname(&b.t, fixture_node(&b, "plane3.t1-1"), name),
			    "plane3-t1-1");
	fixture_end(&b);
}
