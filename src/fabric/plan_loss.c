/* SPDX-License-Identifier: BSD-2-Clause */
/* Capacity lost by the failure of one component: see plan.h. */
#include "fabric/plan.h"

#include "fabric/fabric_node.h"

static const char *const names[MF_COMPONENTS] = {
	[MF_LOSE_NIC_PORT] = "NIC port, or its link",
	[MF_LOSE_NIC_MODULE] = "transceiver of a NIC",
	[MF_LOSE_T0_DOWN_MODULE] = "transceiver, T0 to NICs",
	[MF_LOSE_T0_UP_MODULE] = "transceiver, T0 to T1s",
	[MF_LOSE_T0_T1_LINK] = "T0-T1 link",
	[MF_LOSE_T1_T2_LINK] = "T1-T2 link",
	[MF_LOSE_T0] = "T0",
	[MF_LOSE_T1] = "T1",
	[MF_LOSE_T2] = "T2",
	[MF_LOSE_PLANE] = "plane",
};

const char *mf_component_name(enum mf_component component)
{
	return names[component];
}

/* `ports` ports of each of `nics` NICs are lost. */
static struct mf_plan_loss lose_ports(const struct mf_topology *t, uint64_t count, uint64_t nics,
				      uint32_t ports)
{
	double share = (double)ports / t->cfg.planes;

	return (struct mf_plan_loss){.present = count > 0,
				     .count = count,
				     .nics = nics,
				     .bare = share,
				     .held = share,
				     .cut_off = ports == t->cfg.planes};
}

/* In one plane, `lost` of the `all` links that `nics` NICs have upwards are lost. */
static struct mf_plan_loss lose_ways(const struct mf_topology *t, uint64_t count, uint64_t nics,
				     uint64_t lost, uint64_t all)
{
	double share = (double)lost / (double)all;

	/* A plane with no link up is no worse than no plane: its ports are left out. */
	return (struct mf_plan_loss){.present = count > 0,
				     .count = count,
				     .nics = nics,
				     .bare = share / t->cfg.planes,
				     .held = lost == all ? 1.0 / t->cfg.planes : share,
				     .cut_off = lost == all && t->cfg.planes == 1};
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static struct mf_plan_loss lose_module(const struct mf_topology *t, const struct mf_rates *r,
				       enum mf_component component)
{
	struct mf_plan_pieces p = mf_plan_pieces(t, r);
	uint32_t down = mf_module_links(t, r, MF_HOST_T0), up = mf_module_links(t, r, MF_T0_T1);

	if (component == MF_LOSE_NIC_MODULE)
		return lose_ports(t, p.modules[MF_MODULE_HOST], 1, min_u32(down, t->cfg.planes));
	if (component == MF_LOSE_T0_DOWN_MODULE)
		return lose_ports(t, p.modules[MF_MODULE_T0_DOWN],
				  min_u32(down, t->cfg.hosts_per_t0), 1);
	return lose_ways(t, p.modules[MF_MODULE_T0_UP], t->cfg.hosts_per_t0,
			 min_u32(up, t->cfg.t1s), t->cfg.t1s);
}

static struct mf_plan_loss lose_link_or_switch(const struct mf_topology *t,
					       enum mf_component component)
{
	const uint64_t t1s = t->cfg.t1s, t0_hosts = t->cfg.hosts_per_t0;
	/* Links out of a pod; with two tiers there are none, and nothing that would be lost. */
	const uint64_t out = t->cfg.tiers == 3 ? t1s * t->cfg.t1_uplinks : 1;

	if (component == MF_LOSE_T0_T1_LINK)
		return lose_ways(t, mf_topology_cables(t, MF_T0_T1), t0_hosts, 1, t1s);
	if (component == MF_LOSE_T1_T2_LINK)
		return lose_ways(t, mf_topology_cables(t, MF_T1_T2), t->hosts_per_pod, 1, out);
	if (component == MF_LOSE_T1)
		return lose_ways(t, mf_topology_count(t, MF_T1), t->hosts_per_pod, 1, t1s);
	return lose_ways(t, mf_topology_count(t, MF_T2), t->n_hosts, 1, out);
}

struct mf_plan_loss mf_plan_loss(const struct mf_topology *t, const struct mf_rates *r,
				 enum mf_component component)
{
	struct mf_plan_loss loss = {0};

	switch (component) {
	case MF_LOSE_NIC_PORT:
		loss = lose_ports(t, mf_topology_cables(t, MF_HOST_T0), 1, 1);
		break;
	case MF_LOSE_NIC_MODULE:
	case MF_LOSE_T0_DOWN_MODULE:
	case MF_LOSE_T0_UP_MODULE:
		loss = lose_module(t, r, component);
		break;
	case MF_LOSE_T0:
		loss = lose_ports(t, mf_topology_count(t, MF_T0), t->cfg.hosts_per_t0, 1);
		break;
	case MF_LOSE_T0_T1_LINK:
	case MF_LOSE_T1_T2_LINK:
	case MF_LOSE_T1:
	case MF_LOSE_T2:
		loss = lose_link_or_switch(t, component);
		break;
	case MF_LOSE_PLANE:
		loss = lose_ports(t, t->cfg.planes, t->n_hosts, 1);
		break;
	case MF_COMPONENTS:
		break;
	}
	return loss.present ? loss : (struct mf_plan_loss){0};
}
