/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * topology.c - what can be built and addressed, and what follows from a cfg. Each rule names the
 * field that breaks it, as it is called in a topology file.
 */
#include "fabric/topology.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fabric/usid.h"

/* Bits that tell `count` numbers apart. */
static uint8_t bits_for(uint32_t count)
{
	uint8_t bits = 0;

	while ((UINT64_C(1) << bits) < count)
		bits++;
	return bits;
}

/* ---- rules ---- */

/* One count: how small and large it may be. Larger ones would not fit ids of 32 bits. */
#define COUNT_MAX 65536u
#define IDS_MAX UINT64_C(0x7FFFFFFF)
#define BIT_S_MAX UINT64_C(100000000000000) /* 100 Tb/s: sums over a switch stay within 64 bits */
#define LATENCY_MAX_NS 1000000000u
#define RAILS_MAX 64u

bool mf_error_set(struct mf_error *error, const char *field, uint64_t value, const char *what, ...)
{
	va_list args;

	snprintf(error->field, sizeof(error->field), "%s", field);
	snprintf(error->value, sizeof(error->value), "%" PRIu64, value);
	va_start(args, what);
	vsnprintf(error->what, sizeof(error->what), what, args);
	va_end(args);
	return false;
}

/* As mf_error_set, for the first half of an address. */
static bool refuse_block(struct mf_error *error, const char *field, uint32_t block,
			 const char *what)
{
	mf_error_set(error, field, 0, "%s", what);
	snprintf(error->value, sizeof(error->value), "%x:%x::/32", block >> 16, block & 0xFFFF);
	return false;
}

static bool check_range(struct mf_error *error, const char *field, uint64_t value, uint64_t low,
			uint64_t high, const char *of)
{
	if (value >= low && value <= high)
		return true;
	return mf_error_set(error, field, value, "%s: %" PRIu64 " to %" PRIu64, of, low, high);
}

static bool check_counts(const struct mf_topology_cfg *c, struct mf_error *e)
{
	return check_range(e, "topology.planes", c->planes, 1, MF_PLANES_MAX,
			   "planes that an EV can name") &&
	       check_range(e, "topology.tiers", c->tiers, 2, 3,
			   "tiers of switches, of which three take all six uSIDs of an address") &&
	       check_range(e, "topology.hosts_per_t0", c->hosts_per_t0, 1, COUNT_MAX,
			   "downlinks of a T0") &&
	       check_range(e, "topology.t0s", c->t0s, 1, COUNT_MAX, "T0s in a pod") &&
	       check_range(e, "topology.t1s", c->t1s, 1, MF_UPLINKS_MAX,
			   "T1s in a pod, one for each uplink that an EV can name") &&
	       check_range(e, "topology.rails", c->rails, 1, RAILS_MAX, "NICs of a node") &&
	       check_range(e, "topology.mtu", c->mtu, MF_MTU_MIN, MF_MTU_MAX,
			   "bytes of an IPv6 packet") &&
	       check_range(e, "topology.switch_latency", c->switch_ns, 0, LATENCY_MAX_NS,
			   "nanoseconds");
}

static bool check_tiers(const struct mf_topology_cfg *c, struct mf_error *e)
{
	if (c->tiers == 2 && c->pods != 1)
		return mf_error_set(e, "topology.pods", c->pods,
				    "two tiers of switches are one pod: 1");
	if (c->tiers == 2 && c->t1_uplinks != 0)
		return mf_error_set(e, "topology.t1_uplinks", c->t1_uplinks,
				    "with two tiers a T1 has no uplinks: 0");
	if (c->tiers == 2)
		return true;
	return check_range(e, "topology.pods", c->pods, 2, COUNT_MAX, "pods below a third tier") &&
	       check_range(e, "topology.t1_uplinks", c->t1_uplinks, 1, MF_UPLINKS_MAX,
			   "uplinks of a T1, as many as an EV can name");
}

/* A switch has as many ports above as below when it oversubscribes nothing, so an even number. */
static bool check_radix(const struct mf_topology_cfg *c, struct mf_error *e)
{
	static const char *const field[3] = {"topology.t0_ports", "topology.t1_ports",
					     "topology.t2_ports"};
	const uint32_t used[3] = {c->hosts_per_t0 + c->t1s, c->t0s + c->t1_uplinks,
				  c->tiers == 3 ? c->pods : 0};

	for (int i = 0; i < 3; i++) {
		if (c->radix[i] & 1)
			return mf_error_set(e, field[i], c->radix[i],
					    "a switch has an even number of ports: %" PRIu32
					    " or %" PRIu32,
					    c->radix[i] - 1, c->radix[i] + 1);
		if (c->radix[i] != 0 && c->radix[i] < used[i])
			return mf_error_set(e, field[i], c->radix[i],
					    "too few ports for the cables of such a switch: "
					    "%" PRIu32 " or more",
					    used[i] + (used[i] & 1));
		if (i == 2 && c->tiers == 2 && c->radix[i] != 0)
			return mf_error_set(e, field[i], c->radix[i],
					    "two tiers have no T2: leave it out");
	}
	return true;
}

static bool check_links(const struct mf_topology_cfg *c, struct mf_error *e)
{
	static const char *const speed[] = {"links.host_t0.speed", "links.t0_t1.speed",
					    "links.t1_t2.speed"};
	static const char *const latency[] = {"links.host_t0.latency", "links.t0_t1.latency",
					      "links.t1_t2.latency"};

	for (uint32_t kind = 0; kind < c->tiers; kind++)
		if (!check_range(e, speed[kind], c->links[kind].bit_s, 1000, BIT_S_MAX,
				 "bits a second") ||
		    !check_range(e, latency[kind], c->links[kind].latency_ns, 0, LATENCY_MAX_NS,
				 "nanoseconds"))
			return false;
	return true;
}

/* Ids must fit, and hosts must fill nodes. */
static bool check_size(const struct mf_topology_cfg *c, struct mf_error *e)
{
	uint64_t t0s = (uint64_t)c->pods * c->t0s, hosts = t0s * c->hosts_per_t0;
	uint64_t cables = hosts + t0s * c->t1s + (uint64_t)c->pods * c->t1s * c->t1_uplinks;

	if (hosts > IDS_MAX || 2 * cables * c->planes > IDS_MAX)
		return mf_error_set(e, "topology.planes", c->planes,
				    "%" PRIu64 " hosts and %" PRIu64
				    " cables a plane are more than can be numbered: %" PRIu64
				    " links",
				    hosts, cables, IDS_MAX);
	if (hosts < 2)
		return mf_error_set(e, "topology.hosts_per_t0", c->hosts_per_t0,
				    "there is one host: a fabric has 2 or more");
	if (t0s % c->rails != 0)
		return mf_error_set(e, "topology.rails", c->rails,
				    "each rail of a node has a T0 of its own, so rails divides the "
				    "%" PRIu64 " T0s of a plane",
				    t0s);
	return true;
}

static bool check_index(struct mf_error *e, const char *field, uint32_t value, uint32_t bits,
			uint32_t room, const char *of)
{
	if (bits <= room)
		return true;
	return mf_error_set(e, field, value,
			    "%s takes %" PRIu32 " bits of a uSID of 16: %" PRIu32
			    " are left beside role and plane",
			    of, bits, room);
}

/* REQ(topo.usid.roles) REQ(topo.usid.destination) */
static bool check_usids(const struct mf_topology_cfg *c, struct mf_error *e)
{
	uint32_t hosts = c->pods * c->t0s * c->hosts_per_t0;
	uint32_t plane_bits = c->usid.planes == MF_PLANE_IN_USID ? bits_for(c->planes) : 0;
	uint32_t room = MF_USID_ROLE_SHIFT - plane_bits, pod_bits = bits_for(c->pods);

	if (c->usid.dst == MF_DST_HOST && c->usid.planes != MF_PLANE_IN_BLOCK)
		return mf_error_set(
			e, "usid.destination", c->usid.dst,
			"numbers of hosts leave no bits for the plane in a uSID: planes = "
			"\"block\", or destination = \"downlink\"");
	if (c->usid.dst == MF_DST_HOST && hosts > MF_USID_HOST_LAST)
		return mf_error_set(
			e, "usid.destination", c->usid.dst,
			"uSIDs of 16 bits number at most %u hosts, this fabric has %" PRIu32
			": destination = \"downlink\"",
			MF_USID_HOST_LAST, hosts);
	if (!check_index(e, "topology.t0s", c->t0s, pod_bits + bits_for(c->t0s), room,
			 "the number of a T0") ||
	    !check_index(e, "topology.t1s", c->t1s, pod_bits + bits_for(c->t1s), room,
			 "the number of a T1"))
		return false;
	if (c->tiers == 3 &&
	    !check_index(e, "topology.t1_uplinks", c->t1_uplinks,
			 bits_for(c->t1s) + bits_for(c->t1_uplinks), room, "the number of a T2"))
		return false;
	return c->usid.dst == MF_DST_HOST ||
	       check_index(e, "topology.hosts_per_t0", c->hosts_per_t0, bits_for(c->hosts_per_t0),
			   room, "the number of a downlink");
}

/* A block of addresses that unicast may use: neither ::/8, link-local nor multicast. */
static bool block_usable(uint32_t block)
{
	return block >> 24 != 0 && block >> 24 != 0xFF && block >> 22 != 0xFE80u >> 6;
}

static bool check_blocks(const struct mf_topology_cfg *c, struct mf_error *e)
{
	uint32_t planes = c->usid.planes == MF_PLANE_IN_BLOCK ? c->planes : 1;
	uint32_t low = (1u << bits_for(planes)) - 1;

	if (!block_usable(c->usid.block))
		return refuse_block(e, "usid.block", c->usid.block,
				    "not for unicast: a block like fcbb:bb00::/32");
	if (c->usid.block & low)
		return refuse_block(
			e, "usid.block", c->usid.block,
			"the number of the plane goes into its last bits, so that blocks "
			"of planes would overlap: a block that ends in 0 there");
	if (!block_usable(c->address_block))
		return refuse_block(e, "topology.address_block", c->address_block,
				    "not for unicast: a block like fd6d:7263::/32");
	if ((c->address_block & ~low) == c->usid.block)
		return refuse_block(e, "topology.address_block", c->address_block,
				    "overlaps usid.block: a block of its own for the hosts");
	return true;
}

/* REQ(wire.dscp.distinct) */
static bool check_dscp(const struct mf_topology_cfg *c, struct mf_error *e)
{
	enum mw_dscp_class wrong = mw_dscp_map_check(&c->dscp);

	if (wrong == MW_DSCP_CLASSES)
		return true;
	return mf_error_set(e, "topology.dscp", c->dscp.code[wrong],
			    "the number of %s is above 63 or that of a class of another kind",
			    mw_dscp_class_name(wrong));
}

static bool check_name(const struct mf_topology_cfg *c, struct mf_error *e)
{
	if (memchr(c->name, 0, sizeof(c->name)) && c->name[0] != 0)
		return true;
	mf_error_set(e, "topology.name", 0, "1 to %u letters", MF_NAME_MAX);
	snprintf(e->value, sizeof(e->value), "\"%.*s\"", (int)MF_NAME_MAX, c->name);
	return false;
}

/* REQ(topo.refuse) */
static bool check_cfg(const struct mf_topology_cfg *cfg, struct mf_error *error)
{
	return check_name(cfg, error) && check_counts(cfg, error) && check_tiers(cfg, error) &&
	       check_radix(cfg, error) && check_links(cfg, error) && check_size(cfg, error) &&
	       check_usids(cfg, error) && check_blocks(cfg, error) && check_dscp(cfg, error);
}

/* ---- what follows ---- */

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
	if (!check_cfg(cfg, error))
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
