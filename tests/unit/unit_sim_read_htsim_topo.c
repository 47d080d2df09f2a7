/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_read_topo.c - topology files of htsim. */
#include "sim_fixture.h"

#include <stdio.h>

#include "fabric/topology_toml.h"
#include "sim/import/flow_files.h"

#define TIER0                                                                             \
	"Tier 0\nDownlink_speed_Gbps 400\nRadix_Down 64\nRadix_Up 64\nOversubscribed 1\n" \
	"Downlink_Latency_ns 1000\nSwitch_Latency_ns 0\n"
#define TIER1 "Tier 1\nDownlink_speed_Gbps 200\nRadix_Down 128\nDownlink_Latency_ns 2000\n"
#define HEAD "# leaf and spine\nNodes 8192\nTiers 2\nPodsize 8192\n"

static bool topo_read(const char *text, struct mf_topology_cfg *cfg, struct ms_file_error *error)
{
	*cfg = mf_preset_cfg("pod");
	return ms_topo_read(cfg, "f.topo", text, error);
}

TEST(ms_topo_read, two_tiers)
{
	struct ms_file_error error;
	struct mf_topology_cfg cfg;

	if (!topo_read(HEAD TIER0 TIER1, &cfg, &error))
		fail_msg("%s", error.text);
	assert_u_eq(cfg.planes, 1);
	assert_u_eq(cfg.tiers, 2);
	assert_u_eq(cfg.pods, 1);
	assert_u_eq(cfg.hosts_per_t0, 64);
	assert_u_eq(cfg.t0s, 128);
	assert_u_eq(cfg.t1s, 64);
	assert_u_eq(cfg.links[MF_HOST_T0].bit_s, 400000000000);
	assert_u_eq(cfg.links[MF_T0_T1].bit_s, 200000000000);
	assert_u_eq(cfg.links[MF_T0_T1].latency_ns, 2000);
}

TEST(ms_topo_read, three_tiers_in_any_case)
{
	struct ms_file_error error;
	struct mf_topology_cfg cfg;

	if (!topo_read("nodes 1024\ntiers 3\nPODSIZE 64\n"
		       "tier 0\ndownlink_speed_gbps 100\nradix_down 8\nradix_up 8\n"
		       "downlink_latency_ns 1000\n"
		       "tier 1\ndownlink_speed_gbps 100\nradix_down 8\nradix_up 8\n"
		       "downlink_latency_ns 1000\nbundle 1\n"
		       "tier 2\ndownlink_speed_gbps 100\nradix_down 16\ndownlink_latency_ns 1000\n",
		       &cfg, &error))
		fail_msg("%s", error.text);
	assert_u_eq(cfg.pods, 16);
	assert_u_eq(cfg.t0s, 8);
	assert_u_eq(cfg.t1s, 8);
	assert_u_eq(cfg.t1_uplinks, 8);
}

static const struct sim_bad bads[] = {
	{"", "f.topo: has no line `Nodes N`"},
	{"Nodes 8192\nTiers 4\n", "f.topo:2: Tiers 4: expected one number from 2 to 3"},
	{"Nodes 8192\nTears 2\n", "f.topo:2: Tears: no such key; did you mean Tiers?"},
	{"Nodes 8192\nNodes 8192\n", "f.topo:2: Nodes 8192: was given before, in line 1"},
	{"Nodes 1 2\n", "f.topo:1: Nodes 1: expected one number"},
	{"Radix_Up 3\n", "f.topo:1: Radix_Up: appears before; expected behind the first Tier"},
	{HEAD "Tier 0\nPodsize 3\n", "f.topo:6: Podsize: appears behind; expected before"},
	{HEAD TIER0, "f.topo: tier 1: has no line `Tier`"},
	{HEAD TIER0 "Tier 1\nRadix_Down 128\nDownlink_Latency_ns 1\n",
	 "f.topo:12: tier 1: has no line `Downlink_speed_Gbps N`"},
	{HEAD TIER0 TIER1 "Bundle 2\n", "Bundle 2: expected 1, one link between a pair"},
	{HEAD TIER0 TIER1 "Switch_Latency_ns 9\n", "Switch_Latency_ns: expected the same in all"},
	{"Nodes 8192\nTiers 2\nPodsize 4096\n" TIER0
	 "Tier 1\nDownlink_speed_Gbps 200\nRadix_Down 64\nDownlink_Latency_ns 2000\n",
	 "f.topo:3: Podsize 4096: expected 8192"},
	{"Nodes 8192\nTiers 2\nPodsize 8000\n" TIER0 TIER1,
	 "f.topo:3: Podsize 8000: expected a divisor"},
	{HEAD "Tier 0\nDownlink_speed_Gbps 400\nRadix_Down 64\nRadix_Up 32\nOversubscribed 1\n"
	      "Downlink_Latency_ns 1\n" TIER1,
	 "f.topo:9: Oversubscribed 1: expected 2, Radix_Down / Radix_Up"},
	{HEAD TIER0 "Tier 1\nDownlink_speed_Gbps 200\nRadix_Down 99\nDownlink_Latency_ns 2000\n",
	 "Radix_Down 99: expected 128, the T0s of a pod"},
	{HEAD "Tier 0\nDownlink_speed_Gbps 400\nRadix_Down 64\nRadix_Up 512\n"
	      "Downlink_Latency_ns 1\n" TIER1,
	 "makes a fabric with topology.t1s = 512"},
};

TEST(ms_topo_read, wrong_files)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct ms_file_error error = {""};
		struct mf_topology_cfg cfg;

		if (topo_read(bads[i].text, &cfg, &error))
			fail_msg("\"%s\" was taken", bads[i].text);
		sim_said(&error, "f.topo", bads[i].says);
		assert_u_eq(cfg.planes, 8);
	}
}
