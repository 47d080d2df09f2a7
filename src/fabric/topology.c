/* SPDX-License-Identifier: BSD-2-Clause */
/* topology.c - what follows from a cfg. */
#include "fabric/topology.h"

/* Bits that tell `count` numbers apart. */
static uint8_t bits_for(uint32_t count)
{
	uint8_t bits = 0;

	while ((UINT64_C(1) << bits) < count)
		bits++;
	return bits;
}

/* A radix that was not given: all ports that are used, and one more where that is odd. */
static void fill_radix(struct mf_topology_cfg *cfg)
{
	const uint32_t used[3] = {cfg->hosts_per_t0 + cfg->t1s, cfg->t0s + cfg->t1_uplinks,
				  cfg->tiers == 3 ? cfg->pods : 0};

	for (int i = 0; i < 3; i++)
		if (cfg->radix[i] == 0)
			cfg->radix[i] = used[i] + (used[i] & 1);
}

static void count_nodes(struct mf_topology *t)
{
	const struct mf_topology_cfg *cfg = &t->cfg;

	t->hosts_per_pod = cfg->t0s * cfg->hosts_per_t0;
	t->n_hosts = cfg->pods * t->hosts_per_pod;
	t->n_t0s = cfg->pods * cfg->t0s;
	t->n_t1s = cfg->pods * cfg->t1s;
	t->n_t2s = cfg->t1s * cfg->t1_uplinks;
	t->plane_switches = t->n_t0s + t->n_t1s + t->n_t2s;
	t->n_switches = cfg->planes * t->plane_switches;
	t->n_nodes = t->n_hosts + t->n_switches;
	t->first_t0_cable = t->n_hosts;
	t->first_t1_cable = t->first_t0_cable + t->n_t0s * cfg->t1s;
	t->plane_cables = t->first_t1_cable + t->n_t1s * cfg->t1_uplinks;
	t->n_links = 2 * cfg->planes * t->plane_cables;
}

bool mf_topology_init(struct mf_topology *t, const struct mf_topology_cfg *cfg,
		      struct mf_error *error)
{
	if (!mf_cfg_check(cfg, error))
		return false;
	*t = (struct mf_topology){.cfg = *cfg};
	fill_radix(&t->cfg);
	count_nodes(t);
	if (cfg->usid.planes == MF_PLANE_IN_USID)
		t->plane_bits = bits_for(cfg->planes);
	t->t0_bits = bits_for(cfg->t0s);
	t->t1_bits = bits_for(cfg->t1s);
	t->t2_bits = bits_for(cfg->t1_uplinks);
	t->by_hosts_per_t0 = mf_div_of(cfg->hosts_per_t0);
	t->by_t0s = mf_div_of(cfg->t0s);
	t->by_t1s = mf_div_of(cfg->t1s);
	t->by_t1_uplinks = mf_div_of(cfg->t1_uplinks ? cfg->t1_uplinks : 1);
	t->by_planes = mf_div_of(cfg->planes);
	t->by_plane_switches = mf_div_of(t->plane_switches);
	t->by_plane_cables = mf_div_of(t->plane_cables);
	return true;
}
