/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workload_trees.c - all-reduce over a binary tree, and by recursive doubling.
 *
 * Tree: member i > 0 has the parent (i - 1) / 2. A chunk goes up when it has come from both
 * children, and down again when the root has it; chunks follow each other in a pipeline.
 * Doubling: in step s everybody exchanges all bytes with the member whose number differs in bit s.
 */
#include "base/bits.h"
#include "sim/workload/workload_state.h"

#define CHUNKS_MAX 65536u

static const char *tree_fault(const struct ms_workload_cfg *c)
{
	return c->chunks == 0 || c->chunks > CHUNKS_MAX ? "chunks: 1 to 65536" : NULL;
}

/* Flow i - 1 goes up from member i, flow N - 1 + i - 1 down to it. */
static uint32_t up_of(uint32_t member)
{
	return member - 1;
}

static uint32_t down_to(const struct ms_part *w, uint32_t member)
{
	return w->cfg.group_size - 1 + member - 1;
}

static uint32_t child_count(const struct ms_part *w, uint32_t member)
{
	uint64_t first = 2 * (uint64_t)member + 1, n = w->cfg.group_size;

	return first + 1 < n ? 2 : first < n;
}

static uint64_t tree_flows(const struct ms_part *w)
{
	return 2 * ((uint64_t)w->cfg.group_size - 1);
}

/* Slots: down to the children, up to the parent; then up from the children, down from the
 * parent. */
static uint32_t tree_outgoing(const struct ms_part *w, uint32_t member)
{
	return child_count(w, member) + (member > 0);
}

static uint32_t tree_at(const struct ms_part *w, uint32_t member, uint32_t slot)
{
	uint32_t n = child_count(w, member), out = tree_outgoing(w, member);

	if (slot < n)
		return down_to(w, 2 * member + 1 + slot);
	if (slot < out)
		return up_of(member);
	slot -= out;
	return slot < n ? up_of(2 * member + 1 + slot) : down_to(w, member);
}

static void tree_flow(const struct ms_part *w, uint32_t id, struct ms_flow *f)
{
	const struct ms_workload_cfg *c = &w->cfg;
	bool up = id < c->group_size - 1;
	uint32_t child = up ? id + 1 : id - (c->group_size - 1) + 1, parent = (child - 1) / 2;
	uint32_t nth = child - (2 * parent + 1);

	f->messages = c->chunks;
	f->bytes = c->bytes;
	f->message_bytes = ms_part_bytes(c->bytes, c->chunks);
	if (up) {
		f->src = child;
		f->dst = parent;
		f->src_slot = child_count(w, child);
		f->dst_slot = tree_outgoing(w, parent) + nth;
		f->n_needs = child_count(w, child);
		return;
	}
	f->src = parent;
	f->dst = child;
	f->src_slot = nth;
	f->dst_slot = tree_outgoing(w, child) + child_count(w, child);
	f->n_needs = parent == 0 ? child_count(w, 0) : 1;
}

static void tree_need(const struct ms_part *w, uint32_t id, uint32_t i, struct ms_dependency *need)
{
	uint32_t n = w->cfg.group_size;
	uint32_t parent = id < n - 1 ? 0 : (id - (n - 1)) / 2;

	*need = (struct ms_dependency){.count = 1, .each = true};
	if (id < n - 1)
		need->flow = up_of(2 * (id + 1) + 1 + i);
	else
		need->flow = parent == 0 ? up_of(1 + i) : down_to(w, parent);
}

static uint32_t tree_dependent(const struct ms_part *w, uint32_t id, enum ms_end end, uint32_t i)
{
	uint32_t n = w->cfg.group_size, at;
	bool up = id < n - 1;

	if (end != MS_RECEIVED)
		return MS_FLOW_NONE;
	at = up ? id / 2 : id - (n - 1) + 1; /* the member where it ends */
	if (up && at > 0)
		return i == 0 ? up_of(at) : MS_FLOW_NONE;
	return i < child_count(w, at) ? down_to(w, 2 * at + 1 + i) : MS_FLOW_NONE;
}

const struct ms_pattern ms_pattern_tree = {
	.fault = tree_fault,
	.flows = tree_flows,
	.flow = tree_flow,
	.need = tree_need,
	.dependent = tree_dependent,
	.outgoing = tree_outgoing,
	.flow_at = tree_at,
};

/* ---- recursive doubling: flow i * steps + s leads from member i to i ^ 2^s ---- */

static const char *doubling_fault(const struct ms_workload_cfg *c)
{
	return mb_is_pow2(c->group_size) ? NULL
					 : "group_size: a power of two, for recursive doubling";
}

static uint32_t step_count(const struct ms_part *w)
{
	return mb_log2(w->cfg.group_size);
}

static uint64_t doubling_flows(const struct ms_part *w)
{
	return (uint64_t)w->cfg.group_size * step_count(w);
}

static void doubling_flow(const struct ms_part *w, uint32_t id, struct ms_flow *f)
{
	uint32_t s = id % step_count(w);

	f->src = id / step_count(w);
	f->dst = f->src ^ 1u << s;
	f->src_slot = s;
	f->dst_slot = step_count(w) + s;
	f->n_needs = s > 0;
	ms_flow_split(f, 1, w->cfg.bytes);
}

static void doubling_need(const struct ms_part *w, uint32_t id, uint32_t i,
			  struct ms_dependency *need)
{
	uint32_t s = id % step_count(w), partner = (id / step_count(w)) ^ 1u << (s - 1);

	(void)i;
	*need = (struct ms_dependency){.flow = partner * step_count(w) + s - 1, .count = 1};
}

static uint32_t doubling_dependent(const struct ms_part *w, uint32_t id, enum ms_end end,
				   uint32_t i)
{
	uint32_t s = id % step_count(w), at = (id / step_count(w)) ^ 1u << s;

	if (end != MS_RECEIVED || i > 0 || s + 1 == step_count(w))
		return MS_FLOW_NONE;
	return at * step_count(w) + s + 1;
}

static uint32_t doubling_outgoing(const struct ms_part *w, uint32_t member)
{
	(void)member;
	return step_count(w);
}

static uint32_t doubling_at(const struct ms_part *w, uint32_t member, uint32_t slot)
{
	if (slot < step_count(w))
		return member * step_count(w) + slot;
	slot -= step_count(w);
	return (member ^ 1u << slot) * step_count(w) + slot;
}

const struct ms_pattern ms_pattern_doubling = {
	.fault = doubling_fault,
	.flows = doubling_flows,
	.flow = doubling_flow,
	.need = doubling_need,
	.dependent = doubling_dependent,
	.outgoing = doubling_outgoing,
	.flow_at = doubling_at,
};
