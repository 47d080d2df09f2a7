/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces, cost, path and capacity: see plan.h. */
#include "fabric/plan.h"

#include "fabric/fabric_path.h"

static const struct {
	enum mf_tier tier;
	bool down;
	enum mf_link_kind kind;
} places[MF_MODULE_PLACES] = {
	[MF_MODULE_HOST] = {MF_HOST, false, MF_HOST_T0},
	[MF_MODULE_T0_DOWN] = {MF_T0, true, MF_HOST_T0},
	[MF_MODULE_T0_UP] = {MF_T0, false, MF_T0_T1},
	[MF_MODULE_T1_DOWN] = {MF_T1, true, MF_T0_T1},
	[MF_MODULE_T1_UP] = {MF_T1, false, MF_T1_T2},
	[MF_MODULE_T2_DOWN] = {MF_T2, true, MF_T1_T2},
};

/* Whether links of the kind have transceivers. */
static bool is_optical(const struct mf_rates *r, enum mf_link_kind kind)
{
	return kind != MF_HOST_T0 || r->host_cable == MF_HOST_OPTICS;
}

uint32_t mf_module_links(const struct mf_topology *t, const struct mf_rates *r,
			 enum mf_link_kind kind)
{
	uint64_t fit = r->module_bit_s / t->cfg.links[kind].bit_s;

	return (uint32_t)(fit < 1 ? 1 : fit > r->module_lanes ? r->module_lanes : fit);
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

uint32_t mf_module_count(const struct mf_topology *t, const struct mf_rates *r,
			 enum mf_link_kind kind, uint32_t ports)
{
	uint64_t bit_s = t->cfg.links[kind].bit_s;

	if (!is_optical(r, kind))
		return 0;
	if (bit_s > r->module_bit_s)
		return ports * (uint32_t)divide_up(bit_s, r->module_bit_s);
	return (uint32_t)divide_up(ports, mf_module_links(t, r, kind));
}

static uint32_t place_ports(const struct mf_topology *t, enum mf_module_place place)
{
	uint32_t down = mf_node_downlinks(t, places[place].tier);

	return places[place].down ? down : mf_node_ports(t, places[place].tier) - down;
}

static void count_modules(const struct mf_topology *t, const struct mf_rates *r,
			  struct mf_plan_pieces *p)
{
	for (int place = 0; place < MF_MODULE_PLACES; place++) {
		uint32_t each = mf_module_count(t, r, places[place].kind,
						place_ports(t, (enum mf_module_place)place));

		p->modules[place] = (uint64_t)each * mf_topology_count(t, places[place].tier);
		p->modules_all += p->modules[place];
	}
}

struct mf_plan_pieces mf_plan_pieces(const struct mf_topology *t, const struct mf_rates *r)
{
	struct mf_plan_pieces p = {.nics = t->n_hosts};

	for (int tier = MF_T0; tier < MF_TIERS; tier++) {
		uint64_t n = mf_topology_count(t, (enum mf_tier)tier);

		p.switches[tier - MF_T0] = n;
		p.switches_all += n;
		p.switch_ports += n * t->cfg.radix[tier - MF_T0];
		p.switch_ports_free +=
			n * (t->cfg.radix[tier - MF_T0] - mf_node_ports(t, (enum mf_tier)tier));
	}
	for (int kind = 0; kind < MF_LINK_KINDS; kind++) {
		p.cables[kind] = mf_topology_cables(t, (enum mf_link_kind)kind);
		p.cables_all += p.cables[kind];
		if (is_optical(r, (enum mf_link_kind)kind))
			p.module_equivalents += 2.0 * (double)p.cables[kind] *
						(double)t->cfg.links[kind].bit_s /
						(double)r->module_bit_s;
	}
	count_modules(t, r, &p);
	return p;
}

static double cable_usd(const struct mf_topology *t, const struct mf_rates *r,
			enum mf_link_kind kind)
{
	if (!is_optical(r, kind))
		return r->copper_usd;
	return t->cfg.links[kind].bit_s >= r->module_bit_s ? r->trunk_usd : r->fibre_usd;
}

struct mf_plan_cost mf_plan_cost(const struct mf_topology *t, const struct mf_rates *r)
{
	struct mf_plan_pieces p = mf_plan_pieces(t, r);
	struct mf_plan_cost c = {
		.switch_usd = (double)p.switches_all * r->switch_usd,
		.module_usd = (double)p.modules_all * r->module_usd,
		.switch_w = (double)p.switches_all * r->switch_w,
		.module_w = (double)p.modules_all * r->module_w,
	};

	for (int kind = 0; kind < MF_LINK_KINDS; kind++)
		if (p.cables[kind])
			c.cable_usd +=
				(double)p.cables[kind] * cable_usd(t, r, (enum mf_link_kind)kind);
	c.all_usd = c.switch_usd + c.module_usd + c.cable_usd;
	c.all_w = c.switch_w + c.module_w;
	return c;
}

/* The highest tier that a path comes to. */
static enum mf_tier turn_of(const struct mf_topology *t)
{
	return t->n_t0s == 1 ? MF_T0 : t->cfg.tiers == 3 ? MF_T2 : MF_T1;
}

struct mf_plan_path mf_plan_path(const struct mf_topology *t)
{
	/* The last host is a far one; where it is the only one, a probe of its own goes as high. */
	struct mf_pair pair = mf_pair_turning(t, 0, t->n_hosts - 1, turn_of(t));
	uint32_t links[MF_PATH_LINKS_MAX];
	struct mf_plan_path p = {
		.links = mf_path_links(t, &pair, 0, links),
		.paths = mf_path_count(t, &pair),
		.nics_one_switch = t->cfg.hosts_per_t0,
	};

	p.switches = p.links - 1;
	for (uint32_t hop = 0; hop < p.links; hop++)
		p.latency_ns += mf_link_latency_ns(t, links[hop]);
	p.latency_ns += (uint64_t)p.switches * t->cfg.switch_ns;
	return p;
}

static double min_double(double a, double b)
{
	return a < b ? a : b;
}

/*
 * Half of the T0s (of the pods) send to the other half: a NIC gets its share of what its T0, and
 * the T1s of its pod, can send up, but no more than it has itself. REQ(plan.bisection)
 */
struct mf_plan_capacity mf_plan_capacity(const struct mf_topology *t)
{
	double port = (double)t->cfg.links[MF_HOST_T0].bit_s, share = port;
	enum mf_tier turn = turn_of(t);

	if (turn >= MF_T1)
		share = min_double(share, (double)t->cfg.t1s *
						  (double)t->cfg.links[MF_T0_T1].bit_s /
						  t->cfg.hosts_per_t0);
	if (turn >= MF_T2)
		share = min_double(share, (double)t->cfg.t1s * t->cfg.t1_uplinks *
						  (double)t->cfg.links[MF_T1_T2].bit_s /
						  t->hosts_per_pod);
	return (struct mf_plan_capacity){
		.nic_bit_s = t->cfg.planes * t->cfg.links[MF_HOST_T0].bit_s,
		.bisection_bit_s = share * t->cfg.planes * t->n_hosts / 2,
		.bisection_share = share / port,
	};
}
