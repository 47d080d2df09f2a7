/* SPDX-License-Identifier: BSD-2-Clause */
/* graph.c - building a graph, and looking at it: see graph.h. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/workload/workload_state.h"

#define BYTES_MAX UINT64_C(0xFFFFFFFF)

struct ms_graph *ms_graph_create(uint32_t hosts)
{
	struct ms_graph *g = calloc(1, sizeof(*g));

	if (g)
		g->hosts = hosts;
	return g;
}

void ms_graph_destroy(struct ms_graph *g)
{
	if (!g)
		return;
	free(g->node);
	ms_grow_free(&g->edges);
	free(g->first_dependent);
	free(g->dependents);
	free(g->channel);
	free(g->message);
	free(g->size);
	free(g->place);
	free(g->first_out);
	free(g->first_in);
	free(g->in);
	free(g->in_slot);
	free(g->first_root);
	free(g->root);
	free(g);
}

/* ---- building ---- */

static uint32_t add_node(struct ms_graph *g, const struct ms_node *node)
{
	if (g->n >= MS_NODES_MAX ||
	    !ms_grow_room((void **)(void *)&g->node, g->n, &g->room, sizeof(*g->node)))
		return MS_NODE_NONE;
	g->node[g->n] = *node;
	return g->n++;
}

uint32_t ms_graph_compute(struct ms_graph *g, uint32_t host, uint16_t stream, uint64_t ns)
{
	const struct ms_node node = {
		.kind = MS_COMPUTE, .host = host, .peer = host, .worker = stream, .amount = ns};

	if (host >= g->hosts || ns > MS_COMPUTE_MAX_NS ||
	    (stream >= MS_STREAMS && stream != MS_STREAM_NONE))
		return MS_NODE_NONE;
	if (stream != MS_STREAM_NONE && stream >= g->streams)
		g->streams = stream + 1u;
	return add_node(g, &node);
}

uint32_t ms_graph_transfer(struct ms_graph *g, uint32_t src, uint32_t dst, uint16_t channel,
			   uint64_t bytes)
{
	const struct ms_node node = {
		.kind = MS_TRANSFER, .host = src, .peer = dst, .worker = channel, .amount = bytes};

	if (src >= g->hosts || dst >= g->hosts || src == dst || bytes > BYTES_MAX)
		return MS_NODE_NONE;
	return add_node(g, &node);
}

bool ms_graph_add_dependency(struct ms_graph *g, uint32_t node, uint32_t on, enum ms_end end)
{
	struct ms_graph_edge *edge;

	if (node == MS_NODE_NONE || on == MS_NODE_NONE)
		return true;
	if (node >= g->n || on >= g->n || g->edges.n >= UINT32_C(1) << 31)
		return false;
	edge = ms_grow_place(&g->edges);
	if (!edge)
		return false;
	if (g->node[on].kind == MS_COMPUTE)
		end = MS_SENT;
	*edge = (struct ms_graph_edge){node, on, (uint32_t)end};
	g->node[node].needs++;
	return true;
}

/* ---- sealing ---- */

/* Needs of what another host would have to know. */
static bool check_dependencies_are_local(const struct ms_graph *g, char *why, uint32_t *bad)
{
	for (size_t i = 0; i < g->edges.n; i++) {
		const struct ms_graph_edge *e = &g->edges.at[i];
		const struct ms_node *on = &g->node[e->on];
		uint32_t knows = e->end == MS_RECEIVED ? on->peer : on->host;

		if (knows == g->node[e->node].host)
			continue;
		ms_refuse(why,
			  "node %u begins at host %u and waits for what host %u learns of node %u "
			  "(%u -> %u): only what a host sees itself can be waited for",
			  e->node, g->node[e->node].host, knows, e->on, on->host, on->peer);
		*bad = e->node;
		return false;
	}
	return true;
}

bool ms_graph_seal(struct ms_graph *g, char *why, uint32_t *bad)
{
	uint32_t unused;

	bad = bad ? bad : &unused;
	*bad = MS_NODE_NONE;
	why[0] = '\0';
	if (!check_dependencies_are_local(g, why, bad))
		return false;
	if (!ms_graph_sort(g))
		return ms_refuse(why, "no memory for a graph of %u nodes", g->n);
	if (!ms_graph_check_order(g, why, bad))
		return false;
	free(g->edges.at);
	g->edges.at = NULL;
	return true;
}

/* ---- looking ---- */

const uint32_t *ms_graph_dependents(const struct ms_graph *g, uint32_t node, enum ms_end end,
				    uint32_t *n)
{
	const uint32_t *first = &g->first_dependent[2 * (size_t)node + (uint32_t)end];

	*n = first[1] - first[0];
	return g->dependents + first[0];
}

uint32_t ms_graph_out(const struct ms_graph *g, uint32_t host, uint32_t *n)
{
	*n = g->first_out[host + 1] - g->first_out[host];
	return g->first_out[host];
}

const uint32_t *ms_graph_in(const struct ms_graph *g, uint32_t host, uint32_t *n)
{
	*n = g->first_in[host + 1] - g->first_in[host];
	return g->in + g->first_in[host];
}

uint32_t ms_graph_message(const struct ms_graph *g, uint32_t channel, uint32_t k)
{
	return g->message[g->channel[channel].first + k];
}

uint32_t ms_graph_place(const struct ms_graph *g, uint32_t node, uint32_t *channel)
{
	*channel = g->place[2 * (size_t)node];
	return g->place[2 * (size_t)node + 1];
}

const uint32_t *ms_graph_sizes(const struct ms_graph *g, uint32_t channel)
{
	return g->size + g->channel[channel].first;
}

const uint32_t *ms_graph_roots(const struct ms_graph *g, uint32_t host, uint32_t *n)
{
	*n = g->first_root[host + 1] - g->first_root[host];
	return g->root + g->first_root[host];
}

size_t ms_graph_bytes(const struct ms_graph *g)
{
	return sizeof(*g) + g->room * sizeof(*g->node) + g->edges.n * sizeof(uint32_t) +
	       (size_t)g->n * 6 * sizeof(uint32_t) + g->n_channels * sizeof(*g->channel) +
	       (size_t)g->hosts * 3 * sizeof(uint32_t);
}
