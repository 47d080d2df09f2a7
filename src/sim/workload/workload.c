/* SPDX-License-Identifier: BSD-2-Clause */
/* workload.c - checks a workload's configuration, and puts groups side by side onto hosts. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "sim/workload/workload_state.h"

#define HOSTS_MAX (1u << 24)
#define MESSAGE_MAX UINT64_C(0xFFFFFFFF)

static const struct {
	const char *name;
	const struct ms_pattern *pattern;
} kinds[MS_WORKLOAD_KINDS] = {
	[MS_PERMUTATION] = {"permutation", &ms_pattern_permutation},
	[MS_INCAST] = {"incast", &ms_pattern_incast},
	[MS_OUTCAST] = {"outcast", &ms_pattern_outcast},
	[MS_ALL_TO_ALL] = {"all-to-all", &ms_pattern_all_to_all},
	[MS_ALL_REDUCE_RING] = {"all-reduce-ring", &ms_pattern_ring},
	[MS_ALL_REDUCE_TREE] = {"all-reduce-tree", &ms_pattern_tree},
	[MS_ALL_REDUCE_DOUBLING] = {"all-reduce-doubling", &ms_pattern_doubling},
	[MS_ALL_REDUCE_HIERARCHICAL] = {"all-reduce-hierarchical", &ms_pattern_hierarchical},
	[MS_ALL_GATHER] = {"all-gather", &ms_pattern_ring},
	[MS_REDUCE_SCATTER] = {"reduce-scatter", &ms_pattern_ring},
	[MS_LIST] = {"list", &ms_pattern_list},
	[MS_GRAPH] = {"graph", &ms_pattern_graph},
};

const char *ms_workload_kind_name(enum ms_workload_kind kind)
{
	return (unsigned)kind < MS_WORKLOAD_KINDS ? kinds[kind].name : "?";
}

/* ---- configuration ---- */

/* Permutations, lists and graphs are one group of all hosts, each of which is its own member. */
static bool is_grouped(const struct ms_workload_cfg *c)
{
	return c->kind != MS_PERMUTATION && c->kind != MS_LIST && c->kind != MS_GRAPH;
}

static bool groups_valid(const struct ms_workload_cfg *c, char *why)
{
	if (c->group_size < 2 || c->group_size > c->hosts)
		return ms_refuse(why, "group_size = %u: 2 to %u hosts", c->group_size, c->hosts);
	if (c->groups > c->hosts / c->group_size)
		return ms_refuse(why, "groups = %u: of %u hosts each at most %u fit", c->groups,
				 c->group_size, c->hosts / c->group_size);
	if ((unsigned)c->placement >= MS_PLACEMENTS)
		return ms_refuse(why, "placement = %u: packed, strided or random",
				 (unsigned)c->placement);
	return true;
}

static bool cfg_valid(const struct ms_workload_cfg *c, char *why)
{
	const char *fault;

	if ((unsigned)c->kind >= MS_WORKLOAD_KINDS)
		return ms_refuse(why, "kind = %u: no such workload", (unsigned)c->kind);
	if (c->hosts < 2 || c->hosts > HOSTS_MAX)
		return ms_refuse(why, "hosts = %u: 2 to %u", c->hosts, HOSTS_MAX);
	if (c->hosts_per_t0 == 0 || c->hosts_per_t0 > c->hosts)
		return ms_refuse(why, "hosts_per_t0 = %u: 1 to %u", c->hosts_per_t0, c->hosts);
	if (c->kind != MS_LIST && c->kind != MS_GRAPH && c->bytes > MESSAGE_MAX)
		return ms_refuse(why, "bytes = %llu: at most %llu", (unsigned long long)c->bytes,
				 (unsigned long long)MESSAGE_MAX);
	if (is_grouped(c) && !groups_valid(c, why))
		return false;
	fault = kinds[c->kind].pattern->fault ? kinds[c->kind].pattern->fault(c) : NULL;
	if (fault)
		return ms_refuse(why, "%s", fault);
	return true;
}

static bool has_arrays(const struct ms_workload_cfg *c)
{
	return c->kind == MS_PERMUTATION || (is_grouped(c) && c->placement == MS_RANDOM);
}

size_t ms_workload_bytes(const struct ms_workload_cfg *cfg)
{
	size_t bytes = sizeof(struct ms_part);

	if (has_arrays(cfg))
		bytes += 2 * sizeof(uint32_t) * (size_t)cfg->hosts;
	if (cfg->kind == MS_LIST)
		bytes += cfg->n_list * (sizeof(struct ms_list_flow) + 5 * sizeof(uint32_t)) +
			 cfg->n_list_needs * (sizeof(struct ms_list_need) + sizeof(uint32_t)) +
			 2 * sizeof(uint32_t) * ((size_t)cfg->hosts + 1);
	if (cfg->kind == MS_GRAPH)
		bytes += ms_graph_bytes(cfg->graph) + ms_graph_exec_bytes(cfg->graph);
	return bytes;
}

static bool open_arrays(struct ms_part *w, char *why)
{
	const struct ms_workload_cfg *c = &w->cfg;
	uint32_t block = c->across_t0 ? c->hosts_per_t0 : 1;

	if (!has_arrays(c))
		return true;
	w->to = malloc(sizeof(*w->to) * c->hosts);
	w->from = malloc(sizeof(*w->from) * c->hosts);
	if (!w->to || !w->from)
		return ms_refuse(why, "no memory for a permutation of %u hosts", c->hosts);
	ms_permutation_fill(w->to, w->from, c->hosts, c->seed);
	if (c->kind == MS_PERMUTATION &&
	    !ms_permutation_derange(w->to, w->from, c->hosts, block, c->seed))
		return ms_refuse(
			why,
			"across_t0 = true: %u hosts with %u on a T0 cannot all send to another T0",
			c->hosts, c->hosts_per_t0);
	return true;
}

static void fill_groups(struct ms_workload_cfg *c)
{
	if (!is_grouped(c)) {
		c->groups = 1;
		c->group_size = c->hosts;
		c->placement = MS_PACKED;
	} else if (c->groups == 0) {
		c->groups = c->hosts / c->group_size;
	}
}

uint64_t ms_workload_count(const struct ms_workload_cfg *cfg)
{
	struct ms_part part = {.cfg = *cfg, .list = {.n = cfg->n_list}};

	fill_groups(&part.cfg);
	return kinds[cfg->kind].pattern->flows(&part) * part.cfg.groups;
}

void ms_workload_shape(const struct ms_workload_cfg *cfg, struct ms_flow *flow)
{
	struct ms_part part = {.cfg = *cfg};

	*flow = (struct ms_flow){.messages = 1};
	fill_groups(&part.cfg);
	if (is_grouped(cfg))
		kinds[cfg->kind].pattern->flow(&part, 0, flow);
	else if (cfg->kind == MS_PERMUTATION)
		ms_flow_split(flow, 1, cfg->bytes);
	for (uint32_t i = 0; cfg->kind == MS_GRAPH && i < cfg->graph->n_channels; i++) {
		const struct ms_channel *c = &cfg->graph->channel[i];

		if ((uint64_t)c->n * c->longest_bytes > flow->bytes)
			ms_flow_split(flow, c->n, c->longest_bytes);
	}
	for (uint32_t i = 0; cfg->kind == MS_LIST && i < cfg->n_list; i++)
		if (cfg->list[i].bytes > flow->bytes)
			ms_flow_split(flow, 1, cfg->list[i].bytes);
}

bool ms_workload_check(const struct ms_workload_cfg *c, char *why)
{
	if (!cfg_valid(c, why))
		return false;
	if (ms_workload_count(c) >= MS_FLOW_NONE)
		return ms_refuse(why, "%llu flows: at most %u",
				 (unsigned long long)ms_workload_count(c), MS_FLOW_NONE - 1);
	return true;
}

static bool open_part(struct ms_part *w, const struct ms_workload_cfg *cfg, char *why)
{
	if (!ms_workload_check(cfg, why))
		return false;
	w->cfg = *cfg;
	w->pattern = kinds[cfg->kind].pattern;
	fill_groups(&w->cfg);
	if (!open_arrays(w, why) || (cfg->kind == MS_LIST && !ms_list_open(w, why)))
		return false;
	w->flows_per_group = (uint32_t)w->pattern->flows(w);
	return true;
}

static bool open_parts(struct ms_workload *w, const struct ms_workload_cfg *cfg, uint32_t n,
		       char *why)
{
	uint64_t flows = 0;

	if (n == 0 || n > MS_PARTS_MAX)
		return ms_refuse(why, "%u workloads: 1 to %u", n, MS_PARTS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		if (cfg[i].hosts != cfg[0].hosts)
			return ms_refuse(why, "hosts = %u: %u as in the first workload",
					 cfg[i].hosts, cfg[0].hosts);
		w->n_parts = i + 1;
		if (!open_part(&w->parts[i], &cfg[i], why))
			return false;
		flows += (uint64_t)w->parts[i].cfg.groups * w->parts[i].flows_per_group;
		if (flows >= MS_FLOW_NONE)
			return ms_refuse(why, "%llu flows: at most %u", (unsigned long long)flows,
					 MS_FLOW_NONE - 1);
		w->first_flow[i + 1] = (uint32_t)flows;
	}
	return true;
}

struct ms_workload *ms_workload_create(const struct ms_workload_cfg *cfg, uint32_t n, char *why,
				       uint32_t *bad)
{
	struct ms_workload *w = calloc(1, sizeof(*w));

	why[0] = '\0';
	if (!w)
		ms_refuse(why, "no memory for a workload");
	if (w && open_parts(w, cfg, n, why))
		return w;
	if (bad)
		*bad = w && w->n_parts ? w->n_parts - 1 : 0;
	ms_workload_destroy(w);
	return NULL;
}

void ms_workload_destroy(struct ms_workload *w)
{
	for (uint32_t i = 0; w && i < w->n_parts; i++) {
		ms_list_close(&w->parts[i].list);
		free(w->parts[i].to);
		free(w->parts[i].from);
	}
	free(w);
}

/* ---- members and hosts ---- */

static uint32_t host_of(const struct ms_part *w, uint32_t group, uint32_t member)
{
	const struct ms_workload_cfg *c = &w->cfg;

	if (!is_grouped(c))
		return member;
	if (c->placement == MS_STRIDED)
		return member * c->groups + group;
	if (c->placement == MS_RANDOM)
		return w->to[group * c->group_size + member];
	return group * c->group_size + member;
}

/* Says whether a host is a member of any group, and of which. */
static bool member_of(const struct ms_part *w, uint32_t host, uint32_t *group, uint32_t *member)
{
	const struct ms_workload_cfg *c = &w->cfg;
	uint32_t at = host;

	if (is_grouped(c) && c->placement == MS_STRIDED) {
		*group = host % c->groups;
		*member = host / c->groups;
		return *member < c->group_size;
	}
	if (is_grouped(c) && c->placement == MS_RANDOM)
		at = w->from[host];
	*group = at / c->group_size;
	*member = at % c->group_size;
	return *group < c->groups;
}

static uint32_t part_outgoing(const struct ms_part *w, uint32_t host)
{
	uint32_t group, member;

	if (!member_of(w, host, &group, &member))
		return 0;
	return w->pattern->outgoing ? w->pattern->outgoing(w, member) : w->pattern->out_each;
}

static uint32_t part_slots(const struct ms_part *w, uint32_t host)
{
	uint32_t group, member;

	if (!w->pattern->slots)
		return 2 * part_outgoing(w, host);
	return member_of(w, host, &group, &member) ? w->pattern->slots(w, member) : 0;
}

/* ---- slots of parts side by side ---- */

uint32_t ms_workload_parts(const struct ms_workload *w)
{
	return w->n_parts;
}

uint32_t ms_workload_part_outgoing(const struct ms_workload *w, uint32_t part, uint32_t host)
{
	return part_outgoing(&w->parts[part], host);
}

uint32_t ms_workload_outgoing(const struct ms_workload *w, uint32_t host)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_parts; i++)
		n += part_outgoing(&w->parts[i], host);
	return n;
}

uint32_t ms_workload_slots(const struct ms_workload *w, uint32_t host)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_parts; i++)
		n += part_slots(&w->parts[i], host);
	return n;
}

/* The slot in the whole workload of a slot in a part. */
static uint32_t slot_of(const struct ms_workload *w, uint32_t part, uint32_t host, uint32_t slot)
{
	bool outgoing;

	if (w->n_parts == 1)
		return slot;
	outgoing = slot < part_outgoing(&w->parts[part], host);
	for (uint32_t i = 0; i < w->n_parts; i++) {
		const struct ms_part *p = &w->parts[i];

		if (outgoing ? i < part : i > part)
			slot += part_outgoing(p, host);
		if (!outgoing && i < part)
			slot += part_slots(p, host);
	}
	return slot;
}

uint32_t ms_workload_flow_at(const struct ms_workload *w, uint32_t host, uint32_t slot)
{
	uint32_t outgoing = ms_workload_outgoing(w, host);
	bool out = slot < outgoing;

	slot -= out ? 0 : outgoing;
	for (uint32_t i = 0; i < w->n_parts; i++) {
		const struct ms_part *p = &w->parts[i];
		uint32_t n_out = part_outgoing(p, host), group, member;
		uint32_t n = out ? n_out : part_slots(p, host) - n_out;

		if (slot >= n) {
			slot -= n;
			continue;
		}
		member_of(p, host, &group, &member);
		return w->first_flow[i] + group * p->flows_per_group +
		       p->pattern->flow_at(p, member, out ? slot : n_out + slot);
	}
	return MS_FLOW_NONE;
}

/* ---- flows ---- */

uint32_t ms_workload_flows(const struct ms_workload *w)
{
	return w->first_flow[w->n_parts];
}

static uint32_t part_of(const struct ms_workload *w, uint32_t id)
{
	uint32_t part = 0;

	while (id >= w->first_flow[part + 1])
		part++;
	return part;
}

enum ms_transport ms_workload_part_transport(const struct ms_workload *w, uint32_t part)
{
	return w->parts[part].cfg.transport;
}

enum ms_transport ms_workload_transport(const struct ms_workload *w, uint32_t id)
{
	return w->parts[part_of(w, id)].cfg.transport;
}

void ms_workload_flow(const struct ms_workload *w, uint32_t id, struct ms_flow *flow)
{
	uint32_t part = part_of(w, id), in_part = id - w->first_flow[part];
	const struct ms_part *p = &w->parts[part];
	uint32_t group = in_part / p->flows_per_group;

	*flow = (struct ms_flow){.start_ns = p->cfg.start_ns};
	p->pattern->flow(p, in_part % p->flows_per_group, flow);
	flow->src = host_of(p, group, flow->src);
	flow->dst = host_of(p, group, flow->dst);
	flow->src_slot = slot_of(w, part, flow->src, flow->src_slot);
	flow->dst_slot = slot_of(w, part, flow->dst, flow->dst_slot);
}

/* The part of a flow, its number in its group, and the number of the group's first flow. */
static const struct ms_part *locate_flow(const struct ms_workload *w, uint32_t id, uint32_t *local,
					 uint32_t *base)
{
	uint32_t part = part_of(w, id);
	const struct ms_part *p = &w->parts[part];

	*local = (id - w->first_flow[part]) % p->flows_per_group;
	*base = id - *local;
	return p;
}

void ms_workload_dependency(const struct ms_workload *w, uint32_t id, uint32_t i,
			    struct ms_dependency *need)
{
	uint32_t local, base;
	const struct ms_part *p = locate_flow(w, id, &local, &base);

	*need = (struct ms_dependency){0};
	p->pattern->need(p, local, i, need);
	need->flow += base;
}

uint32_t ms_workload_dependent(const struct ms_workload *w, uint32_t id, enum ms_end end,
			       uint32_t i)
{
	uint32_t local, base, found;
	const struct ms_part *p = locate_flow(w, id, &local, &base);

	if (!p->pattern->dependent)
		return MS_FLOW_NONE;
	found = p->pattern->dependent(p, local, end, i);
	return found == MS_FLOW_NONE ? found : base + found;
}

/* ---- graphs ---- */

const struct ms_graph *ms_workload_graph(const struct ms_workload *w, uint32_t id, uint32_t *part,
					 uint32_t *channel)
{
	uint32_t at = part_of(w, id);

	if (part)
		*part = at;
	*channel = id - w->first_flow[at];
	return w->parts[at].cfg.kind == MS_GRAPH ? w->parts[at].cfg.graph : NULL;
}

const struct ms_graph *ms_workload_part_graph(const struct ms_workload *w, uint32_t part,
					      uint64_t *start_ns)
{
	*start_ns = w->parts[part].cfg.start_ns;
	return w->parts[part].cfg.kind == MS_GRAPH ? w->parts[part].cfg.graph : NULL;
}

uint32_t ms_workload_flow_of(const struct ms_workload *w, uint32_t part, uint32_t channel)
{
	return w->first_flow[part] + channel;
}

uint64_t ms_workload_first_ns(const struct ms_workload *w, uint32_t host,
			      enum ms_transport transport)
{
	uint64_t first = UINT64_MAX;
	uint32_t slot = 0;

	for (uint32_t part = 0; part < w->n_parts; part++) {
		uint32_t n = part_outgoing(&w->parts[part], host);
		struct ms_flow f;

		if (n > 0 && w->parts[part].cfg.transport == transport) {
			ms_workload_flow(w, ms_workload_flow_at(w, host, slot), &f);
			first = f.start_ns < first ? f.start_ns : first;
		}
		slot += n;
	}
	return first;
}
