/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workload_pairs.c - patterns without steps: permutation, incast, outcast, all-to-all.
 *
 * All-to-all goes round: the k-th flow of a member, from 1, leads k members on, so that at no time
 * all send to the same one. With `parallel` it begins when the one `parallel` before it is done.
 */
#include "sim/workload/workload_state.h"

static void one_message(const struct ms_part *w, struct ms_flow *f)
{
	ms_flow_split(f, 1, w->cfg.bytes);
}

/* ---- permutation ---- */

static uint64_t permutation_flows(const struct ms_part *w)
{
	return w->cfg.hosts;
}

static void permutation_flow(const struct ms_part *w, uint32_t id, struct ms_flow *f)
{
	f->src = id;
	f->dst = w->to[id];
	f->dst_slot = 1;
	one_message(w, f);
}

static uint32_t permutation_at(const struct ms_part *w, uint32_t member, uint32_t slot)
{
	return slot == 0 ? member : w->from[member];
}

const struct ms_pattern ms_pattern_permutation = {
	.flows = permutation_flows,
	.flow = permutation_flow,
	.out_each = 1,
	.flow_at = permutation_at,
};

/* ---- incast and outcast: flow i is that of member i + 1 ---- */

static uint64_t fan_flows(const struct ms_part *w)
{
	return w->cfg.group_size - 1;
}

static uint32_t fan_slots(const struct ms_part *w, uint32_t member)
{
	return member == 0 ? w->cfg.group_size - 1 : 1;
}

static uint32_t fan_at(const struct ms_part *w, uint32_t member, uint32_t slot)
{
	(void)w;
	return member == 0 ? slot : member - 1;
}

static void incast_flow(const struct ms_part *w, uint32_t id, struct ms_flow *f)
{
	f->src = id + 1;
	f->dst = 0;
	f->dst_slot = id;
	one_message(w, f);
}

static uint32_t incast_outgoing(const struct ms_part *w, uint32_t member)
{
	(void)w;
	return member != 0;
}

const struct ms_pattern ms_pattern_incast = {
	.flows = fan_flows,
	.flow = incast_flow,
	.outgoing = incast_outgoing,
	.slots = fan_slots,
	.flow_at = fan_at,
};

static void outcast_flow(const struct ms_part *w, uint32_t id, struct ms_flow *f)
{
	f->src = 0;
	f->dst = id + 1;
	f->src_slot = id;
	one_message(w, f);
}

static uint32_t outcast_outgoing(const struct ms_part *w, uint32_t member)
{
	return member == 0 ? w->cfg.group_size - 1 : 0;
}

const struct ms_pattern ms_pattern_outcast = {
	.flows = fan_flows,
	.flow = outcast_flow,
	.outgoing = outcast_outgoing,
	.slots = fan_slots,
	.flow_at = fan_at,
};

/* ---- all-to-all: flow i * (N - 1) + k - 1 leads from member i to member i + k ---- */

static uint32_t flows_at_once(const struct ms_part *w)
{
	uint32_t others = w->cfg.group_size - 1;

	return w->cfg.parallel == 0 || w->cfg.parallel > others ? others : w->cfg.parallel;
}

static uint64_t all_flows(const struct ms_part *w)
{
	return (uint64_t)w->cfg.group_size * (w->cfg.group_size - 1);
}

static void all_flow(const struct ms_part *w, uint32_t id, struct ms_flow *f)
{
	uint32_t others = w->cfg.group_size - 1, k = id % others;

	f->src = id / others;
	f->dst = (f->src + k + 1) % w->cfg.group_size;
	f->src_slot = k;
	f->dst_slot = others + k;
	f->n_needs = k >= flows_at_once(w);
	one_message(w, f);
}

static void all_need(const struct ms_part *w, uint32_t id, uint32_t i, struct ms_dependency *need)
{
	(void)i;
	*need = (struct ms_dependency){.flow = id - flows_at_once(w), .count = 1, .end = MS_SENT};
}

static uint32_t all_dependent(const struct ms_part *w, uint32_t id, enum ms_end end, uint32_t i)
{
	uint32_t others = w->cfg.group_size - 1, k = id % others;

	if (end != MS_SENT || i > 0 || k + flows_at_once(w) >= others)
		return MS_FLOW_NONE;
	return id + flows_at_once(w);
}

static uint32_t all_outgoing(const struct ms_part *w, uint32_t member)
{
	(void)member;
	return w->cfg.group_size - 1;
}

static uint32_t all_at(const struct ms_part *w, uint32_t member, uint32_t slot)
{
	uint32_t size = w->cfg.group_size, others = size - 1;

	if (slot < others)
		return member * others + slot;
	slot -= others;
	return (member + size - slot - 1) % size * others + slot;
}

const struct ms_pattern ms_pattern_all_to_all = {
	.flows = all_flows,
	.flow = all_flow,
	.need = all_need,
	.dependent = all_dependent,
	.outgoing = all_outgoing,
	.flow_at = all_at,
};
