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
	struct ms_heap_key at; /* ns */
	uint32_t channel;      /* wake: the host */
	uint32_t k;
	uint8_t what;
};

struct ideal {
	struct ms_graph_exec *play;
	const struct ms_graph *g;
	ms_ideal_cost_fn cost;
	void *ctx;
	MS_GROW(struct event) events; /* a heap */
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

/* ---- hosts ---- */

static void note_event(struct ideal *i, uint64_t at_ns, enum what what, uint32_t channel,
		       uint32_t k)
{
	const struct event e = {{at_ns, i->number++}, channel, k, (uint8_t)what};

	i->no_memory |= !ms_heap_add(&i->events, &e);
}

static void send_transfer(struct ideal *i, uint32_t channel, uint32_t k, uint64_t now_ns)
{
	const struct ms_channel *c = &i->g->channel[channel];
	struct ms_ideal_cost cost =
		i->cost(i->ctx, c->src, c->dst, ms_graph_sizes(i->g, channel)[k]);
	uint64_t begins = i->free_ns[c->src] > now_ns ? i->free_ns[c->src] : now_ns;

	i->free_ns[c->src] = begins + cost.busy_ns;
	note_event(i, begins + cost.busy_ns + cost.latency_ns, ARRIVED, channel, k);
	note_event(i, begins + cost.busy_ns + 2 * cost.latency_ns, KNOWN, channel, k);
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
	note_event(i, next, WAKE, host, 0);
}

static void handle_event(struct ideal *i, const struct event *e)
{
	uint32_t host = e->channel;

	if (e->what == WAKE) {
		ms_graph_exec_advance(i->play, host, e->at.key);
	} else if (e->what == ARRIVED) {
		host = i->g->channel[e->channel].dst;
		ms_graph_exec_received(i->play, e->channel, e->k, e->at.key);
	} else {
		host = i->g->channel[e->channel].src;
		ms_graph_exec_sent(i->play, e->channel, e->k, e->at.key);
	}
	go_on(i, host, e->at.key);
}

/* ---- all ---- */

static bool open_hosts(struct ideal *i)
{
	uint32_t hosts = i->g->hosts;

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
	for (uint32_t host = 0; !i.no_memory && host < g->hosts; host++)
		go_on(&i, host, start_ns);
	while (!i.no_memory && i.events.n > 0) {
		const struct event e = *ms_heap_take(&i.events);

		handle_event(&i, &e);
	}
	ms_grow_free(&i.events);
	free(i.free_ns);
	free(i.wake_ns);
	if (!i.no_memory)
		return i.play;
	ms_graph_exec_destroy(i.play);
	return NULL;
}

uint64_t ms_ideal_end_ns(const struct ms_graph_exec *p)
{
	const struct ms_node_times *t = p->times;
	uint64_t last = 0;

	for (uint32_t i = 0; i < p->g->n; i++)
		if (t[i].end_ns != UINT64_MAX && t[i].end_ns > last)
			last = t[i].end_ns;
	return last;
}
