/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_collective.c - see graph.h.
 *
 * Rings: what a member sends in a step is what it received in the step before, joined with its own;
 * so each send needs that receipt and that the member has entered. Messages of one connection
 * arrive in the order in which they were sent, so the last receipt stands for all of them.
 */
#include "sim/workload/graph.h"

#include <stdlib.h>

/* One end of a collective at member i: over when it has entered and `last` has come. */
static bool add_leave(struct ms_graph *g, const struct ms_collective *c, uint32_t i, uint32_t enter,
		      uint32_t *leave)
{
	*leave = ms_graph_compute(g, c->member[i], MS_STREAM_NONE, 0);
	return *leave != MS_NODE_NONE && ms_graph_add_dependency(g, *leave, enter, MS_SENT);
}

/* ---- rings ---- */

static uint32_t ring_steps(const struct ms_collective *c)
{
	return c->kind == MS_COLL_ALL_REDUCE ? 2 * (c->n - 1) : c->n - 1;
}

/* The sends of one step; in `before` those of the step before, and then these. */
static bool ring_step(struct ms_graph *g, const struct ms_collective *c, const uint32_t *enter,
		      uint32_t *before, bool first)
{
	uint64_t bytes = (c->bytes + c->n - 1) / c->n;
	uint32_t first_node = g->n;

	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t node = ms_graph_transfer(g, c->member[i], c->member[(i + 1) % c->n],
						  c->channel, bytes);

		if (node == MS_NODE_NONE || !ms_graph_add_dependency(g, node, enter[i], MS_SENT) ||
		    (!first &&
		     !ms_graph_add_dependency(g, node, before[(i + c->n - 1) % c->n], MS_RECEIVED)))
			return false;
	}
	for (uint32_t i = 0; i < c->n; i++)
		before[i] = first_node + i;
	return true;
}

static bool add_ring(struct ms_graph *g, const struct ms_collective *c, const uint32_t *enter,
		     uint32_t *leave, uint32_t *sends)
{
	for (uint32_t step = 0; step < ring_steps(c); step++)
		if (!ring_step(g, c, enter, sends, step == 0))
			return false;
	for (uint32_t i = 0; i < c->n; i++)
		if (!add_leave(g, c, i, enter[i], &leave[i]) ||
		    (c->n > 1 && !ms_graph_add_dependency(g, leave[i], sends[(i + c->n - 1) % c->n],
							  MS_RECEIVED)))
			return false;
	return true;
}

/* ---- all-to-all ---- */

static bool all_to_all_from(struct ms_graph *g, const struct ms_collective *c, uint32_t i,
			    uint32_t enter, const uint32_t *leave)
{
	for (uint32_t step = 1; step < c->n; step++) {
		uint32_t to = (i + step) % c->n;
		uint64_t bytes = c->share ? c->share(c->ctx, i, to) : c->bytes;
		uint32_t node =
			ms_graph_transfer(g, c->member[i], c->member[to], c->channel, bytes);

		if (node == MS_NODE_NONE || !ms_graph_add_dependency(g, node, enter, MS_SENT) ||
		    !ms_graph_add_dependency(g, leave[to], node, MS_RECEIVED))
			return false;
	}
	return true;
}

static bool add_all_to_all(struct ms_graph *g, const struct ms_collective *c, const uint32_t *enter,
			   uint32_t *leave)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (!add_leave(g, c, i, enter[i], &leave[i]))
			return false;
	for (uint32_t i = 0; i < c->n; i++)
		if (!all_to_all_from(g, c, i, enter[i], leave))
			return false;
	return true;
}

/* ---- broadcast: member i hands on to 2i + 1 and 2i + 2 ---- */

static bool add_broadcast(struct ms_graph *g, const struct ms_collective *c, const uint32_t *enter,
			  uint32_t *leave)
{
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t node;

		if (!add_leave(g, c, i, enter[i], &leave[i]))
			return false;
		if (i == 0)
			continue;
		/* Parents have left before their children do, so their node is there already. */
		node = ms_graph_transfer(g, c->member[(i - 1) / 2], c->member[i], c->channel,
					 c->bytes);
		if (node == MS_NODE_NONE ||
		    !ms_graph_add_dependency(g, node, leave[(i - 1) / 2], MS_SENT) ||
		    !ms_graph_add_dependency(g, leave[i], node, MS_RECEIVED))
			return false;
	}
	return true;
}

bool ms_collective_add(struct ms_graph *g, const struct ms_collective *c, const uint32_t *enter,
		       uint32_t *leave)
{
	uint32_t *scratch = malloc(2 * sizeof(*scratch) * ((size_t)c->n + 1));
	uint32_t *entered = scratch ? scratch + c->n : NULL;
	bool ok = scratch != NULL;

	/* A copy, since leave may be the same array. */
	for (uint32_t i = 0; ok && i < c->n; i++)
		entered[i] = enter[i];
	if (ok && c->kind == MS_COLL_ALL_TO_ALL)
		ok = add_all_to_all(g, c, entered, leave);
	else if (ok && c->kind == MS_COLL_BROADCAST)
		ok = add_broadcast(g, c, entered, leave);
	else if (ok)
		ok = add_ring(g, c, entered, leave, scratch);
	free(scratch);
	return ok;
}
