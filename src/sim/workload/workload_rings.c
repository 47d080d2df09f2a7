/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workload_rings.c - collectives over rings: member i sends to i + 1, one part of the bytes a step.
 *
 * A step sends on what the step before brought, so message k waits for k messages from the member
 * before. All-reduce is a reduce-scatter and an all-gather, N - 1 steps each.
 *
 * Hierarchical all-reduce has inner rings of local_size (L) neighbours and L outer rings of the
 * M = N / L members with the same place in their part: reduce-scatter inside, all-reduce of a
 * member's part outside, all-gather inside. The messages of both phases inside go over one flow;
 * those of the second wait for the end of what goes on outside.
 */
#include "sim/workload/workload_state.h"

static uint32_t ring_steps(const struct ms_workload_cfg *c)
{
	return c->kind == MS_ALL_REDUCE_RING ? 2 * (c->group_size - 1) : c->group_size - 1;
}

static uint64_t ring_flows(const struct ms_part *w)
{
	return w->cfg.group_size;
}

static void ring_flow(const struct ms_part *w, uint32_t id, struct ms_flow *f)
{
	const struct ms_workload_cfg *c = &w->cfg;

	f->src = id;
	f->dst = (id + 1) % c->group_size;
	f->dst_slot = 1;
	f->n_needs = 1;
	ms_flow_split(f, ring_steps(c), ms_part_bytes(c->bytes, c->group_size));
}

static uint32_t previous_member(uint32_t i, uint32_t n)
{
	return (i + n - 1) % n;
}

static void ring_need(const struct ms_part *w, uint32_t id, uint32_t i, struct ms_dependency *need)
{
	(void)i;
	*need = (struct ms_dependency){.flow = previous_member(id, w->cfg.group_size),
				       .from = 1,
				       .count = 1,
				       .each = true};
}

static uint32_t ring_dependent(const struct ms_part *w, uint32_t id, enum ms_end end, uint32_t i)
{
	return end == MS_RECEIVED && i == 0 ? (id + 1) % w->cfg.group_size : MS_FLOW_NONE;
}

static uint32_t ring_at(const struct ms_part *w, uint32_t member, uint32_t slot)
{
	return slot == 0 ? member : previous_member(member, w->cfg.group_size);
}

const struct ms_pattern ms_pattern_ring = {
	.flows = ring_flows,
	.flow = ring_flow,
	.need = ring_need,
	.dependent = ring_dependent,
	.out_each = 1,
	.flow_at = ring_at,
};

/* ---- hierarchical: flow i < N goes inside from member i, flow N + i outside ---- */

static const char *levels_fault(const struct ms_workload_cfg *c)
{
	if (c->local_size < 2 || c->group_size % c->local_size != 0 ||
	    c->group_size / c->local_size < 2)
		return "local_size: at least 2, and group_size is at least twice that and a "
		       "multiple of it";
	return NULL;
}

static uint64_t levels_flows(const struct ms_part *w)
{
	return 2 * (uint64_t)w->cfg.group_size;
}

/* The next or the one before on the ring of a flow. */
static uint32_t step_inside(const struct ms_workload_cfg *c, uint32_t member, uint32_t by)
{
	uint32_t l = c->local_size, part = member / l;

	return part * l + (member + by) % l;
}

static uint32_t step_outside(const struct ms_workload_cfg *c, uint32_t member, uint32_t by)
{
	return (member + by * c->local_size) % c->group_size;
}

static uint32_t part_count(const struct ms_workload_cfg *c)
{
	return c->group_size / c->local_size;
}

static void levels_flow(const struct ms_part *w, uint32_t id, struct ms_flow *f)
{
	const struct ms_workload_cfg *c = &w->cfg;
	uint32_t n = c->group_size, l = c->local_size;

	f->n_needs = 2;
	if (id < n) {
		f->src = id;
		f->dst = step_inside(c, id, 1);
		f->dst_slot = 2;
		ms_flow_split(f, 2 * (l - 1), ms_part_bytes(c->bytes, l));
	} else {
		f->src = id - n;
		f->dst = step_outside(c, id - n, 1);
		f->src_slot = 1;
		f->dst_slot = 3;
		ms_flow_split(f, 2 * (part_count(c) - 1), ms_part_bytes(c->bytes, n));
	}
}

static void levels_need(const struct ms_part *w, uint32_t id, uint32_t i,
			struct ms_dependency *need)
{
	const struct ms_workload_cfg *c = &w->cfg;
	uint32_t n = c->group_size, l = c->local_size, outer = 2 * (part_count(c) - 1);

	if (id < n && i == 0) /* step by step round the inner ring */
		*need = (struct ms_dependency){
			.flow = step_inside(c, id, l - 1), .from = 1, .count = 1, .each = true};
	else if (id < n) /* to gather begins when all outside has arrived */
		*need = (struct ms_dependency){.flow = n + step_outside(c, id, part_count(c) - 1),
					       .from = l - 1,
					       .count = outer};
	else if (i == 0) /* nothing goes outside before the inner reduce-scatter is over */
		*need = (struct ms_dependency){.flow = step_inside(c, id - n, l - 1),
					       .count = l - 1};
	else
		*need = (struct ms_dependency){.flow = n +
						       step_outside(c, id - n, part_count(c) - 1),
					       .from = 1,
					       .count = 1,
					       .each = true};
}

static uint32_t levels_dependent(const struct ms_part *w, uint32_t id, enum ms_end end, uint32_t i)
{
	const struct ms_workload_cfg *c = &w->cfg;
	uint32_t n = c->group_size, at;

	if (end != MS_RECEIVED || i > 1)
		return MS_FLOW_NONE;
	at = id < n ? step_inside(c, id, 1) : step_outside(c, id - n, 1);
	return i == 0 ? at : n + at;
}

static uint32_t levels_at(const struct ms_part *w, uint32_t member, uint32_t slot)
{
	const struct ms_workload_cfg *c = &w->cfg;

	switch (slot) {
	case 0:
		return member;
	case 1:
		return c->group_size + member;
	case 2:
		return step_inside(c, member, c->local_size - 1);
	default:
		return c->group_size + step_outside(c, member, part_count(c) - 1);
	}
}

const struct ms_pattern ms_pattern_hierarchical = {
	.fault = levels_fault,
	.flows = levels_flows,
	.flow = levels_flow,
	.need = levels_need,
	.dependent = levels_dependent,
	.out_each = 2,
	.flow_at = levels_at,
};
