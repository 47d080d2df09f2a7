/* SPDX-License-Identifier: BSD-2-Clause */
/* What is sick, in words. */
#include "fabric_fixture.h"

#include "map/map.h"

#define MS_NS UINT64_C(1000000)

TEST(mm_part_name, names_parts_as_faults_do)
{
	struct mf_topology t = fabric("lab");
	const struct mm_part parts[] = {
		{MM_CABLE, mf_link_host_t0(&t, 2, 3, true) >> 1, 0, MF_DIRECTION_BOTH},
		{MM_CABLE, mf_link_t0_t1(&t, 1, 0, 1, false) >> 1, 0, MF_DIRECTION_OUT},
		{MM_SWITCH, mf_node_switch(&t, MF_T1, 3, 1), 0, MF_DIRECTION_BOTH},
		{MM_TRANSCEIVER, mf_node_switch(&t, MF_T0, 0, 1), 1, MF_DIRECTION_IN},
		{MM_HOST, 7, 0, MF_DIRECTION_BOTH},
		{MM_PLANE, 2, 0, MF_DIRECTION_BOTH},
	};
	struct mf_target target;
	struct mf_error e;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char name[MM_PART_NAME_BYTES];
		struct mm_part part;

		if (!mf_target_find(&t, mm_part_name(&t, &parts[i], name), &target, &e) ||
		    !mm_part_find(&t, name, &part, &e))
			fail_msg("%s: %s", name, e.what);
		if (part.kind != parts[i].kind || part.id != parts[i].id ||
		    part.index != parts[i].index || part.direction != MF_DIRECTION_BOTH)
			fail_msg("%s is another part", name);
	}
}

TEST(mm_part_find, refuses_what_is_not_there)
{
	struct mf_topology t = fabric("lab");
	struct mm_part part;
	struct mf_error e;

	assert_false(mm_part_find(&t, "plane9.t0-0", &part, &e));
	assert_false(mm_part_find(&t, "", &part, &e));
}

TEST(mm_sick_text, says_what_where_since_when_and_what_to_touch)
{
	struct mf_topology t = fabric("lab");
	struct mm_sick s = {
		.part = {MM_CABLE, mf_link_t0_t1(&t, 1, 0, 1, false) >> 1, 0, MF_DIRECTION_OUT},
		.kind = MM_LOSSY,
		.since_ns = 5 * MS_NS,
		.rate_ppm = 12345,
		.for_it = 3,
		.watchers = 4,
		.direction_known = true,
	};
	char text[MM_SICK_TEXT_BYTES];

	assert_string_equal(mm_sick_text(&t, &s, 25 * MS_NS, text),
			    "plane1.t0-0.t1-1: lossy 1.23% out, since 20 ms, seen by 3 of 4; clean "
			    "the cable's ends, then change it");
	s.kind = MM_WRONG_CABLE;
	s.other = (struct mm_part){MM_CABLE, mf_link_t0_t1(&t, 1, 0, 0, false) >> 1, 0,
				   MF_DIRECTION_BOTH};
	s.direction_known = false;
	assert_string_equal(mm_sick_text(&t, &s, 25 * MS_NS, text),
			    "plane1.t0-0.t1-1: wrong cable out (direction not known), exchanged "
			    "with plane1.t0-0.t1-0, since 20 ms, seen by 3 of 4; exchange their "
			    "ends");
}
