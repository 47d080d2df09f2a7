/* SPDX-License-Identifier: BSD-2-Clause */
/* The presets and their sizes. */
#include "fabric_fixture.h"

struct size {
	const char *name;
	uint32_t hosts, switches, planes, t0s, t1s;
	uint64_t bit_s;
};

static const struct size sizes[] = {
	{"tiny", 4, 8, 2, 2, 2, 200000000},
	{"lab", 8, 16, 4, 2, 2, 100000000},
	{"lab8", 32, 64, 8, 4, 4, 20000000},
	{"pod", 1024, 512, 8, 32, 32, 100000000000},
	{"paper4", 32768, 1536, 4, 256, 128, 200000000000},
	{"threetier", 65536, 5120, 1, 2048, 2048, 800000000000},
	{"paper", 131072, 6144, 8, 512, 256, 100000000000},
};

/* REQ(topo.sizes) */
TEST(mf_presets, sizes)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct mf_topology t;

		assert_non_null(mb_named_text_at(mf_presets, i));
		assert_string_equal(mf_presets[i].name, sizes[i].name);
		assert_string_equal(mf_preset_cfg(sizes[i].name).name, sizes[i].name);
		t = fabric(sizes[i].name);
		assert_u_eq(t.n_hosts, sizes[i].hosts);
		assert_u_eq(t.n_switches, sizes[i].switches);
		assert_u_eq(t.cfg.planes, sizes[i].planes);
		assert_u_eq(t.n_t0s, sizes[i].t0s);
		assert_u_eq(t.n_t1s, sizes[i].t1s);
		assert_u_eq(t.cfg.links[MF_HOST_T0].bit_s, sizes[i].bit_s);
	}
	assert_null(mb_named_text_at(mf_presets, sizeof(sizes) / sizeof(sizes[0])));
}

TEST(mf_presets, third_tier)
{
	struct mf_topology t = fabric("threetier");

	assert_u_eq(t.n_t2s, 1024);
	assert_u_eq(t.hosts_per_pod, 1024);
}

TEST(mf_presets, by_name)
{
	assert_string_equal(mf_presets[1].about,
			    "8 hosts, 4 planes of 2 T0 and 2 T1: 24 namespaces");
	assert_string_equal(mb_named_text_find(mf_presets, "lab8")->name, "lab8");
	assert_null(mb_named_text_find(mf_presets, "lab9"));
	assert_string_equal(mb_named_text_near(mf_presets, "threteir"), "threetier");
	assert_null(mb_named_text_near(mf_presets, "zzzzzzzz"));
}
