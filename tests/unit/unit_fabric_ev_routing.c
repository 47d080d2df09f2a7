/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of an EV. */
#include "fabric_fixture.h"

#include "fabric/fabric_path.h"

/* REQ(topo.ev.fields) */
TEST(mf_ev_of, fields_have_their_places)
{
	uint32_t ev = mf_ev_of(15, 255, 255) | 0xABC00000u;

	assert_u_eq(mf_ev_of(1, 2, 3), 0x00010302);
	assert_u_eq(mf_ev_plane(ev), 15);
	assert_u_eq(mf_ev_uplink(ev), 255);
	assert_u_eq(mf_ev_t1_uplink(ev), 255);
}

TEST(mf_ev_nth, all_valid_all_different)
{
	const char *const names[] = {"tiny", "lab8", "paper", "threetier", "small3"};

	for (size_t i = 0; i < 5; i++) {
		struct mf_topology t = fabric(names[i]);
		uint32_t t1_uplinks = t.cfg.tiers == 3 ? t.cfg.t1_uplinks : 1;

		for (uint32_t n = 0; n < mf_ev_count(&t); n++) {
			uint32_t ev = mf_ev_nth(&t, n);

			assert_true(mf_ev_plane(ev) < t.cfg.planes);
			assert_true(mf_ev_uplink(ev) < t.cfg.t1s);
			assert_true(mf_ev_t1_uplink(ev) < t1_uplinks);
			assert_u_eq((mf_ev_t1_uplink(ev) * t.cfg.t1s + mf_ev_uplink(ev)) *
						    t.cfg.planes +
					    mf_ev_plane(ev),
				    n);
		}
	}
}

TEST(mf_ev_nth, the_plane_changes_fastest)
{
	struct mf_topology t = fabric("lab");

	for (uint32_t n = 0; n < 4; n++)
		assert_u_eq(mf_ev_nth(&t, n), mf_ev_of(n, 0, 0));
	assert_u_eq(mf_ev_nth(&t, 4), mf_ev_of(0, 1, 0));
}
