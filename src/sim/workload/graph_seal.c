/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_seal.c - what of a graph is found out once, when it is sealed: who waits for whom, which
 * transfers share a connection, what begins where; and whether anything waits for itself.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/workload/workload_state.h"

/* ---- dependents ---- */

static bool sort_dependents(struct ms_graph *g)
{
	size_t ends = 2 * (size_t)g->n;
	uint32_t *at;

	g->first_dependent = ms_alloc_numbers(ends + 2);
	g->dependents = ms_alloc_numbers(g->edges.n);
	if (!g->first_dependent || !g->dependents)
		return false;
	/* Counts stand two places on, so that filling in moves each to where the next begins. */
	at = g->first_dependent + 1;
	for (size_t i = 0; i < g->edges.n; i++)
		at[2 * (size_t)g->edges.at[i].on + g->edges.at[i].end + 1]++;
	ms_add_up(g->first_dependent, ends + 1);
	for (size_t i = 0; i < g->edges.n; i++) {
		const struct ms_graph_edge *e = &g->edges.at[i];

		g->dependents[at[2 * (size_t)e->on + e->end]++] = e->node;
	}
	return true;
}

/* ---- channels ---- */

struct key {
	uint32_t src, dst;
	uint32_t number, node;
};

static int by_channel(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	const uint64_t p[] = {x->src, x->dst, x->number, x->node},
		       q[] = {y->src, y->dst, y->number, y->node};

	return ms_compare(p, q, MS_COUNT(p));
}

static uint32_t list_transfers(const struct ms_graph *g, struct key *keys)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		if (g->node[i].kind == MS_TRANSFER)
			keys[n++] = (struct key){g->node[i].host, g->node[i].peer,
						 g->node[i].worker, i};
	return n;
}

/* Puts transfer i of the sorted ones behind those of its channel, or begins one. */
static void put_channel(struct ms_graph *g, const struct key *keys, uint32_t i)
{
	const struct key *k = &keys[i];
	uint32_t bytes = (uint32_t)g->node[k->node].amount;
	struct ms_channel *c;

	if (i == 0 || k->src != k[-1].src || k->dst != k[-1].dst || k->number != k[-1].number)
		g->channel[g->n_channels++] = (struct ms_channel){
			.src = k->src, .dst = k->dst, .number = (uint16_t)k->number, .first = i};
	c = &g->channel[g->n_channels - 1];
	g->message[i] = k->node;
	g->size[i] = bytes;
	g->place[2 * (size_t)k->node] = g->n_channels - 1;
	g->place[2 * (size_t)k->node + 1] = c->n++;
	c->bytes += bytes;
	c->longest_bytes = bytes > c->longest_bytes ? bytes : c->longest_bytes;
}

static uint32_t count_channels(const struct key *keys, uint32_t n)
{
	uint32_t count = n > 0;

	for (uint32_t i = 1; i < n; i++)
		count += keys[i].src != keys[i - 1].src || keys[i].dst != keys[i - 1].dst ||
			 keys[i].number != keys[i - 1].number;
	return count;
}

static bool sort_transfers(struct ms_graph *g)
{
	struct key *keys = malloc(sizeof(*keys) * ((size_t)g->n + 1));
	uint32_t n = keys ? list_transfers(g, keys) : 0;

	if (!keys)
		return false;
	qsort(keys, n, sizeof(*keys), by_channel);
	g->channel = calloc(count_channels(keys, n) + (size_t)1, sizeof(*g->channel));
	g->message = ms_alloc_numbers(n);
	g->size = ms_alloc_numbers(n);
	g->place = ms_alloc_numbers(2 * (size_t)g->n);
	if (!g->channel || !g->message || !g->size || !g->place) {
		free(keys);
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		put_channel(g, keys, i);
	free(keys);
	return true;
}

static bool sort_channels(struct ms_graph *g)
{
	g->first_out = ms_alloc_numbers((size_t)g->hosts + 1);
	g->first_in = ms_alloc_numbers((size_t)g->hosts + 2);
	g->in = ms_alloc_numbers(g->n_channels);
	g->in_slot = ms_alloc_numbers(g->n_channels);
	if (!g->first_out || !g->first_in || !g->in || !g->in_slot)
		return false;
	for (uint32_t i = 0; i < g->n_channels; i++) {
		g->first_out[g->channel[i].src + 1]++;
		g->first_in[g->channel[i].dst + 2]++;
	}
	ms_add_up(g->first_out, g->hosts);
	ms_add_up(g->first_in, (size_t)g->hosts + 1);
	for (uint32_t i = 0; i < g->n_channels; i++)
		g->in[g->first_in[g->channel[i].dst + 1]++] = i;
	for (uint32_t host = 0; host < g->hosts; host++)
		for (uint32_t k = g->first_in[host]; k < g->first_in[host + 1]; k++)
			g->in_slot[g->in[k]] = k - g->first_in[host];
	return true;
}

static bool sort_roots(struct ms_graph *g)
{
	uint32_t *next;

	g->first_root = ms_alloc_numbers((size_t)g->hosts + 2);
	g->root = ms_alloc_numbers(g->n);
	if (!g->first_root || !g->root)
		return false;
	next = g->first_root + 1;
	for (uint32_t i = 0; i < g->n; i++)
		if (g->node[i].needs == 0)
			next[g->node[i].host + 1]++;
	ms_add_up(g->first_root, (size_t)g->hosts + 1);
	for (uint32_t i = 0; i < g->n; i++)
		if (g->node[i].needs == 0)
			g->root[next[g->node[i].host]++] = i;
	return true;
}

bool ms_graph_sort(struct ms_graph *g)
{
	return sort_dependents(g) && sort_transfers(g) && sort_channels(g) && sort_roots(g);
}

/* ---- nodes that wait for each other ---- */

/* Takes away nodes that need nothing more, as long as there are any; returns how many. */
static uint32_t take_away(const struct ms_graph *g, uint32_t *left, uint32_t *todo)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		left[i] = g->node[i].needs;
		if (left[i] == 0)
			todo[n++] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *first = &g->first_dependent[2 * (size_t)todo[i]];

		for (uint32_t k = first[0]; k < first[2]; k++)
			if (--left[g->dependents[k]] == 0)
				todo[n++] = g->dependents[k];
	}
	return n;
}

static const char *kind_of(const struct ms_node *n)
{
	return n->kind == MS_COMPUTE ? "a compute" : "a transfer";
}

/* Each node that is left needs one that is left, so going back leads round a ring. */
static void describe_cycle(const struct ms_graph *g, const uint32_t *left, uint32_t *back,
			   char *why, uint32_t *bad)
{
	uint32_t at = 0, from;
	size_t used;

	for (size_t i = 0; i < g->edges.n; i++)
		if (left[g->edges.at[i].node] && left[g->edges.at[i].on])
			back[g->edges.at[i].node] = g->edges.at[i].on;
	while (!left[at])
		at++;
	for (uint32_t i = 0; i < g->n; i++) /* long enough to be on the ring itself */
		at = back[at];
	*bad = from = at;
	used = (size_t)snprintf(why, MS_WHY_BYTES, "nodes wait for each other: ");
	do {
		used += (size_t)snprintf(why + used, MS_WHY_BYTES - used,
					 "node %u (%s of host %u) waits for ", at,
					 kind_of(&g->node[at]), g->node[at].host);
		at = back[at];
	} while (at != from && used < MS_WHY_BYTES - 70);
	if (used < MS_WHY_BYTES)
		snprintf(why + used, MS_WHY_BYTES - used, "node %u%s", at,
			 at == from ? "" : ", and so on");
}

/* REQ(sim.graph.needs) */
bool ms_graph_check_order(const struct ms_graph *g, char *why, uint32_t *bad)
{
	uint32_t *left = ms_alloc_numbers(g->n), *todo = ms_alloc_numbers(g->n);
	bool ok = left && todo;

	if (!ok) {
		ms_refuse(why, "no memory for a graph of %u nodes", g->n);
	} else if (take_away(g, left, todo) < g->n) {
		describe_cycle(g, left, todo, why, bad);
		ok = false;
	}
	free(left);
	free(todo);
	return ok;
}
