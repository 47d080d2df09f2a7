/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_ideal.c - events in the order of time, then of how they were noted: a host is to be woken,
 * a transfer has arrived, its source knows. See graph.h.
 */
#include "sim/workload/graph.h"

#include <stdlib.h>

enum what {
	WAKE,
	ARRIVED,
	KNOWN,
};

struct event {
	uint64_t at_ns, number;
	uint32_t channel; /* wake: the host */
	uint32_t k;
	uint8_t what;
};

struct ideal {
	struct ms_graph_exec *play;
	const struct ms_graph *g;
	ms_ideal_cost_fn cost;
	void *ctx;
	struct event *heap;
	size_t n, room;
	uint64_t number;
	uint64_t *free_ns, *wake_ns; /* of each host */
	bool no_memory;
};

struct ms_ideal_cost ms_ideal_free(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes)
{
	(void)ctx;
	(void)src;
	(void)dst;
	(void)bytes;
	return (struct ms_ideal_cost){0, 0};
}

/* ---- the heap ---- */

static bool is_event_before(const struct event *a, const struct event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

static void push_event(struct ideal *i, struct event e)
{
	size_t at = i->n;

	if (i->n == i->room) {
		size_t more = i->room ? 2 * i->room : 1024;
		struct event *grown = realloc(i->heap, more * sizeof(*grown));

		if (!grown) {
			i->no_memory = true;
			return;
		}
		i->heap = grown;
		i->room = more;
	}
	e.number = i->number++;
	i->n++;
	for (; at > 0 && is_event_before(&e, &i->heap[(at - 1) / 2]); at = (at - 1) / 2)
		i->heap[at] = i->heap[(at - 1) / 2];
	i->heap[at] = e;
}

static struct event pop_event(struct ideal *i)
{
	struct event first = i->heap[0], last = i->heap[--i->n];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < i->n) {
		if (child + 1 < i->n && is_event_before(&i->heap[child + 1], &i->heap[child]))
			child++;
		if (!is_event_before(&i->heap[child], &last))
			break;
		i->heap[at] = i->heap[child];
		at = child;
	}
	i->heap[at] = last;
	return first;
}

/* ---- hosts ---- */

static void send_transfer(struct ideal *i, uint32_t channel, uint32_t k, uint64_t now_ns)
{
	const struct ms_channel *c = ms_graph_channel(i->g, channel);
	struct ms_ideal_cost cost =
		i->cost(i->ctx, c->src, c->dst, ms_graph_sizes(i->g, channel)[k]);
	uint64_t begins = i->free_ns[c->src] > now_ns ? i->free_ns[c->src] : now_ns;

	i->free_ns[c->src] = begins + cost.busy_ns;
	push_event(i, (struct event){.at_ns = begins + cost.busy_ns + cost.way_ns,
				     .channel = channel,
				     .k = k,
				     .what = ARRIVED});
	push_event(i, (struct event){.at_ns = begins + cost.busy_ns + 2 * cost.way_ns,
				     .channel = channel,
				     .k = k,
				     .what = KNOWN});
}

/* After whatever happened at a host: send what may be sent, and note when it is to be woken. */
static void go_on(struct ideal *i, uint32_t host, uint64_t now_ns)
{
	uint32_t channel, k;
	uint64_t next;

	while ((channel = ms_graph_exec_next_channel(i->play, host)) != MS_NODE_NONE)
		while ((k = ms_graph_exec_claim_transfer(i->play, channel)) != MS_NODE_NONE)
			send_transfer(i, channel, k, now_ns);
	next = ms_graph_exec_next_ns(i->play, host);
	if (next == UINT64_MAX || next == i->wake_ns[host])
		return;
	i->wake_ns[host] = next;
	push_event(i, (struct event){.at_ns = next, .channel = host, .what = WAKE});
}

static void handle_event(struct ideal *i, const struct event *e)
{
	uint32_t host = e->channel;

	if (e->what == WAKE) {
		ms_graph_exec_advance(i->play, host, e->at_ns);
	} else if (e->what == ARRIVED) {
		host = ms_graph_channel(i->g, e->channel)->dst;
		ms_graph_exec_received(i->play, e->channel, e->k, e->at_ns);
	} else {
		host = ms_graph_channel(i->g, e->channel)->src;
		ms_graph_exec_sent(i->play, e->channel, e->k, e->at_ns);
	}
	go_on(i, host, e->at_ns);
}

/* ---- all ---- */

static bool open_hosts(struct ideal *i)
{
	uint32_t hosts = ms_graph_hosts(i->g);

	i->free_ns = calloc(hosts + (size_t)1, sizeof(*i->free_ns));
	i->wake_ns = malloc((hosts + (size_t)1) * sizeof(*i->wake_ns));
	if (!i->play || !i->free_ns || !i->wake_ns)
		return false;
	for (uint32_t host = 0; host < hosts; host++)
		i->wake_ns[host] = UINT64_MAX;
	return true;
}

struct ms_graph_exec *ms_ideal_run(const struct ms_graph *g, uint64_t start_ns,
				   ms_ideal_cost_fn cost, void *ctx)
{
	struct ideal i = {
		.play = ms_graph_exec_create(g, start_ns), .g = g, .cost = cost, .ctx = ctx};

	i.no_memory = !open_hosts(&i);
	for (uint32_t host = 0; !i.no_memory && host < ms_graph_hosts(g); host++)
		go_on(&i, host, start_ns);
	while (!i.no_memory && i.n > 0) {
		struct event e = pop_event(&i);

		handle_event(&i, &e);
	}
	free(i.heap);
	free(i.free_ns);
	free(i.wake_ns);
	if (!i.no_memory)
		return i.play;
	ms_graph_exec_destroy(i.play);
	return NULL;
}

uint64_t ms_ideal_end_ns(const struct ms_graph_exec *p)
{
	const struct ms_node_times *t = ms_graph_exec_times(p);
	uint64_t last = 0;

	for (uint32_t i = 0; i < ms_graph_nodes(ms_graph_exec_graph(p)); i++)
		if (t[i].end_ns != UINT64_MAX && t[i].end_ns > last)
			last = t[i].end_ns;
	return last;
}
