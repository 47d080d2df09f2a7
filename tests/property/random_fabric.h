/* SPDX-License-Identifier: BSD-2-Clause */
/* random_fabric.h - small fabrics of all shapes, for whole runs on them. */
#ifndef PROPERTY_RANDOM_FABRIC_H
#define PROPERTY_RANDOM_FABRIC_H

#include "support/test.h"

#include "fabric/fabric_node.h"
#include "fabric/topology.h"

/* Both ends included. */
static inline uint32_t pick(uint32_t low, uint32_t high)
{
	return low + (uint32_t)test_rand_below(high - low + 1);
}

static inline void random_topology(struct mf_topology *topology)
{
	struct mf_topology_cfg t = {
		.dscp = mw_dscp_map_default(),
		.name = "random",
		.planes = pick(1, 4),
		.tiers = test_rand_chance(1, 4) ? 3 : 2,
		.pods = 1,
		.hosts_per_t0 = pick(1, 5),
		.t0s = pick(2, 4),
		.t1s = pick(1, 5),
		.rails = 1,
		.mtu = 4500,
		.switch_ns = pick(0, 700),
		.usid.block = 0xfcbbbb00,
		.address_block = 0xfd4d5243,
	};
	struct mf_error error;

	if (t.tiers == 3) {
		t.pods = 2;
		t.t1_uplinks = pick(1, 3);
	}
	for (unsigned i = 0; i < MF_LINK_KINDS; i++)
		t.links[i] = (struct mf_link_cfg){UINT64_C(100000000000) << test_rand_below(3),
						  pick(100, 1200)};
	assert_true(mf_topology_init(topology, &t, &error));
}

#endif
