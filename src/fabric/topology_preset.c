/* SPDX-License-Identifier: BSD-2-Clause */
/* topology_preset.c - the fabrics that have a name. REQ(topo.sizes) */
#include "fabric/topology_preset.h"

#include <string.h>

#include "base/suggest.h"

#define G UINT64_C(1000000000)
#define M UINT64_C(1000000)
#define ALL_LINKS(speed, latency)                           \
	{                                                   \
		{(speed), (latency)}, {(speed), (latency)}, \
		{                                           \
			(speed), (latency)                  \
		}                                           \
	}
/* A lab is built of namespaces: a block for each plane, and a number for each host. */
#define LAB_USIDS                                          \
	{                                                  \
		0xfcbbbb00, MF_PLANE_IN_BLOCK, MF_DST_HOST \
	}
/* At scale the plane is copied into every uSID and the last one counts downlinks. */
#define SCALE_USIDS                                           \
	{                                                     \
		0xfcbbbb00, MF_PLANE_IN_USID, MF_DST_DOWNLINK \
	}
#define ADDRESS_BLOCK 0xfd6d7263u
/* A 4096-byte MRC packet in IPv6 in IPv6 is 4228 bytes. */
#define MTU 4400u
/* 50 m of fibre and the ends of a link; a switch that cuts nothing through. */
#define LATENCY_NS 500u
#define SWITCH_NS 500u

static const struct mf_preset presets[] = {
	{"tiny",
	 "4 hosts, 2 planes of 2 T0 and 2 T1: the least that has a choice of path",
	 {
		 .name = "tiny",
		 .planes = 2,
		 .tiers = 2,
		 .pods = 1,
		 .hosts_per_t0 = 2,
		 .t0s = 2,
		 .t1s = 2,
		 .rails = 1,
		 .links = ALL_LINKS(200 * M, LATENCY_NS),
		 .switch_ns = SWITCH_NS,
		 .mtu = MTU,
		 .usid = LAB_USIDS,
		 .address_block = ADDRESS_BLOCK,
	 }},
	{"lab",
	 "8 hosts, 4 planes of 2 T0 and 2 T1: 24 namespaces",
	 {
		 .name = "lab",
		 .planes = 4,
		 .tiers = 2,
		 .pods = 1,
		 .hosts_per_t0 = 4,
		 .t0s = 2,
		 .t1s = 2,
		 .rails = 1,
		 .links = ALL_LINKS(100 * M, LATENCY_NS),
		 .switch_ns = SWITCH_NS,
		 .mtu = MTU,
		 .usid = LAB_USIDS,
		 .address_block = ADDRESS_BLOCK,
	 }},
	{"lab8",
	 "32 hosts, 8 planes of 4 T0 and 4 T1: 96 namespaces",
	 {
		 .name = "lab8",
		 .planes = 8,
		 .tiers = 2,
		 .pods = 1,
		 .hosts_per_t0 = 8,
		 .t0s = 4,
		 .t1s = 4,
		 .rails = 1,
		 .links = ALL_LINKS(20 * M, LATENCY_NS),
		 .switch_ns = SWITCH_NS,
		 .mtu = MTU,
		 .usid = LAB_USIDS,
		 .address_block = ADDRESS_BLOCK,
	 }},
	{"pod",
	 "1,024 NICs of 8 x 100G, 8 planes of 32 T0 and 32 T1",
	 {
		 .name = "pod",
		 .planes = 8,
		 .tiers = 2,
		 .pods = 1,
		 .hosts_per_t0 = 32,
		 .t0s = 32,
		 .t1s = 32,
		 .radix = {64, 64, 0},
		 .rails = 4,
		 .links = ALL_LINKS(100 * G, LATENCY_NS),
		 .switch_ns = SWITCH_NS,
		 .mtu = MTU,
		 .usid = SCALE_USIDS,
		 .address_block = ADDRESS_BLOCK,
	 }},
	{"paper4",
	 "32,768 NICs of 4 x 200G, 4 planes of 256 T0 and 128 T1 with 256 ports",
	 {
		 .name = "paper4",
		 .planes = 4,
		 .tiers = 2,
		 .pods = 1,
		 .hosts_per_t0 = 128,
		 .t0s = 256,
		 .t1s = 128,
		 .radix = {256, 256, 0},
		 .rails = 4,
		 .links = ALL_LINKS(200 * G, LATENCY_NS),
		 .switch_ns = SWITCH_NS,
		 .mtu = MTU,
		 .usid = SCALE_USIDS,
		 .address_block = ADDRESS_BLOCK,
	 }},
	{"threetier",
	 "65,536 NICs of 800G on one plane of three tiers: switches with 64 ports",
	 {
		 .name = "threetier",
		 .planes = 1,
		 .tiers = 3,
		 .pods = 64,
		 .hosts_per_t0 = 32,
		 .t0s = 32,
		 .t1s = 32,
		 .t1_uplinks = 32,
		 .radix = {64, 64, 64},
		 .rails = 4,
		 .links = ALL_LINKS(800 * G, LATENCY_NS),
		 .switch_ns = SWITCH_NS,
		 .mtu = MTU,
		 .usid = SCALE_USIDS,
		 .address_block = ADDRESS_BLOCK,
	 }},
	{"paper",
	 "131,072 NICs of 8 x 100G, 8 planes of 512 T0 and 256 T1 with 512 ports",
	 {
		 .name = "paper",
		 .planes = 8,
		 .tiers = 2,
		 .pods = 1,
		 .hosts_per_t0 = 256,
		 .t0s = 512,
		 .t1s = 256,
		 .radix = {512, 512, 0},
		 .rails = 4,
		 .links = ALL_LINKS(100 * G, LATENCY_NS),
		 .switch_ns = SWITCH_NS,
		 .mtu = MTU,
		 .usid = SCALE_USIDS,
		 .address_block = ADDRESS_BLOCK,
	 }},
};

#define PRESETS (sizeof(presets) / sizeof(presets[0]))

const struct mf_preset *mf_preset_at(size_t n)
{
	return n < PRESETS ? &presets[n] : NULL;
}

const struct mf_preset *mf_preset_find(const char *name)
{
	for (size_t i = 0; i < PRESETS; i++)
		if (strcmp(name, presets[i].name) == 0)
			return &presets[i];
	return NULL;
}

const char *mf_preset_near(const char *name)
{
	const char *known[PRESETS];

	for (size_t i = 0; i < PRESETS; i++)
		known[i] = presets[i].name;
	return mb_suggest_find(name, known, PRESETS);
}
