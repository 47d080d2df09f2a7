/* SPDX-License-Identifier: BSD-2-Clause */
/* workload_graph.c - the channels of a graph as flows of a workload. */
#include "sim/workload/workload_state.h"

static const char *graph_fault(const struct ms_workload_cfg *c)
{
	if (!c->graph)
		return "graph: missing";
	if (c->graph->hosts > c->hosts)
		return "graph: it has more hosts than the fabric";
	return NULL;
}

static uint64_t graph_flows(const struct ms_part *w)
{
	return w->cfg.graph->n_channels;
}

static uint32_t graph_outgoing(const struct ms_part *w, uint32_t member)
{
	uint32_t n = 0;

	if (member < w->cfg.graph->hosts)
		ms_graph_out(w->cfg.graph, member, &n);
	return n;
}

static uint32_t graph_slots(const struct ms_part *w, uint32_t member)
{
	uint32_t n = 0;

	if (member < w->cfg.graph->hosts)
		ms_graph_in(w->cfg.graph, member, &n);
	return graph_outgoing(w, member) + n;
}

static void graph_flow(const struct ms_part *w, uint32_t id, struct ms_flow *f)
{
	const struct ms_channel *c = &w->cfg.graph->channel[id];
	uint32_t n;

	f->src = c->src;
	f->dst = c->dst;
	f->src_slot = id - ms_graph_out(w->cfg.graph, c->src, &n);
	f->dst_slot = graph_outgoing(w, c->dst) + w->cfg.graph->in_slot[id];
	f->messages = c->n;
	f->message_bytes = c->longest_bytes;
	f->bytes = c->bytes;
}

static uint32_t graph_at(const struct ms_part *w, uint32_t member, uint32_t slot)
{
	uint32_t outgoing = graph_outgoing(w, member), n;

	if (slot < outgoing)
		return ms_graph_out(w->cfg.graph, member, &n) + slot;
	return ms_graph_in(w->cfg.graph, member, &n)[slot - outgoing];
}

const struct ms_pattern ms_pattern_graph = {
	.fault = graph_fault,
	.flows = graph_flows,
	.flow = graph_flow,
	.outgoing = graph_outgoing,
	.slots = graph_slots,
	.flow_at = graph_at,
};
