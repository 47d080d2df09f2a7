/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_exec.c - a node counts what it still needs; with the last of these it is fresh. Fresh
 * computes begin, or wait for their stream; fresh transfers wait for their channel.
 *
 * A node is on one list at a time: fresh, waiting for a stream, running (by the time of its end),
 * or waiting for a channel. So one `next` for each node is enough.
 */
#include <stdlib.h>

#include "sim/workload/graph.h"

struct list {
	uint32_t first, last;
};

struct ms_exec_host {
	uint32_t running; /* the one that ends first */
	struct list due;  /* channels */
	bool begun;
};

struct ms_exec_stream {
	struct list waiting;
	bool busy;
};

struct ms_exec_channel {
	struct list ready;
	uint32_t next; /* that is due */
	bool due;
};

#define EMPTY ((struct list){MS_NODE_NONE, MS_NODE_NONE})

/* ---- lists ---- */

static void push_node(uint32_t *next, struct list *l, uint32_t node)
{
	next[node] = MS_NODE_NONE;
	if (l->first == MS_NODE_NONE)
		l->first = node;
	else
		next[l->last] = node;
	l->last = node;
}

static void push_front(uint32_t *next, struct list *l, uint32_t node)
{
	next[node] = l->first;
	if (l->first == MS_NODE_NONE)
		l->last = node;
	l->first = node;
}

static uint32_t pop_node(const uint32_t *next, struct list *l)
{
	uint32_t node = l->first;

	if (node != MS_NODE_NONE) {
		l->first = next[node];
		if (l->first == MS_NODE_NONE)
			l->last = MS_NODE_NONE;
	}
	return node;
}

/* ---- nodes ---- */

static struct ms_exec_stream *stream_of(struct ms_graph_exec *p, const struct ms_node *n)
{
	if (n->worker == MS_STREAM_NONE)
		return NULL;
	return &p->stream[(size_t)n->host * p->g->streams + n->worker];
}

/* REQ(sim.graph.needs) */
static void free_dependents(struct ms_graph_exec *p, uint32_t node, enum ms_end end,
			    struct list *fresh)
{
	uint32_t n;
	const uint32_t *on = ms_graph_dependents(p->g, node, end, &n);

	for (uint32_t i = 0; i < n; i++)
		if (--p->left[on[i]] == 0)
			push_node(p->next, fresh, on[i]);
}

/* A compute is over: its stream takes the next one, before anything else becomes ready. */
static void finish_node(struct ms_graph_exec *p, uint32_t node, uint64_t now_ns, struct list *fresh)
{
	struct ms_exec_stream *s = stream_of(p, &p->g->node[node]);
	uint32_t after;

	p->times[node].end_ns = now_ns;
	free_dependents(p, node, MS_SENT, fresh);
	if (!s)
		return;
	s->busy = false;
	after = pop_node(p->next, &s->waiting);
	if (after != MS_NODE_NONE)
		push_front(p->next, fresh, after);
}

static uint64_t end_of(const struct ms_graph_exec *p, uint32_t node)
{
	return p->times[node].begin_ns + p->g->node[node].amount;
}

/* Puts a compute among those that run at its host: behind those that end no later. */
static void start_node(struct ms_graph_exec *p, uint32_t node)
{
	uint32_t *at = &p->host[p->g->node[node].host].running;

	while (*at != MS_NODE_NONE && end_of(p, *at) <= end_of(p, node))
		at = &p->next[*at];
	p->next[node] = *at;
	*at = node;
}

static void begin_compute(struct ms_graph_exec *p, uint32_t node, uint64_t now_ns,
			  struct list *fresh)
{
	const struct ms_node *n = &p->g->node[node];
	struct ms_exec_stream *s = stream_of(p, n);

	if (s && s->busy) {
		push_node(p->next, &s->waiting, node);
		return;
	}
	if (s)
		s->busy = true;
	p->times[node].begin_ns = now_ns;
	if (n->amount == 0)
		finish_node(p, node, now_ns, fresh);
	else
		start_node(p, node);
}

static void begin_transfer(struct ms_graph_exec *p, uint32_t node, uint64_t now_ns)
{
	struct ms_exec_host *h = &p->host[p->g->node[node].host];
	struct ms_exec_channel *c;
	uint32_t channel;

	ms_graph_place(p->g, node, &channel);
	c = &p->channel[channel];
	p->times[node].begin_ns = now_ns;
	push_node(p->next, &c->ready, node);
	if (c->due)
		return;
	c->due = true;
	c->next = MS_NODE_NONE;
	if (h->due.first == MS_NODE_NONE)
		h->due.first = channel;
	else
		p->channel[h->due.last].next = channel;
	h->due.last = channel;
}

static void drain_fresh_nodes(struct ms_graph_exec *p, uint64_t now_ns, struct list *fresh)
{
	uint32_t node;

	while ((node = pop_node(p->next, fresh)) != MS_NODE_NONE) {
		if (p->g->node[node].kind == MS_TRANSFER)
			begin_transfer(p, node, now_ns);
		else
			begin_compute(p, node, now_ns, fresh);
	}
}

/* ---- what happens ---- */

static bool has_work(const struct ms_graph_exec *p, uint32_t host)
{
	uint32_t n;

	ms_graph_roots(p->g, host, &n);
	return n > 0;
}

uint64_t ms_graph_exec_next_ns(const struct ms_graph_exec *p, uint32_t host)
{
	const struct ms_exec_host *h = &p->host[host];

	if (!h->begun && has_work(p, host))
		return p->start_ns;
	return h->running == MS_NODE_NONE ? UINT64_MAX : end_of(p, h->running);
}

void ms_graph_exec_advance(struct ms_graph_exec *p, uint32_t host, uint64_t now_ns)
{
	struct ms_exec_host *h = &p->host[host];
	struct list fresh = EMPTY;

	if (now_ns < p->start_ns)
		return;
	if (!h->begun) {
		uint32_t n;
		const uint32_t *root = ms_graph_roots(p->g, host, &n);

		h->begun = true;
		for (uint32_t i = 0; i < n; i++)
			push_node(p->next, &fresh, root[i]);
		drain_fresh_nodes(p, now_ns, &fresh);
	}
	while (h->running != MS_NODE_NONE && end_of(p, h->running) <= now_ns) {
		uint32_t node = h->running;

		h->running = p->next[node];
		finish_node(p, node, now_ns, &fresh);
		drain_fresh_nodes(p, now_ns, &fresh);
	}
}

void ms_graph_exec_received(struct ms_graph_exec *p, uint32_t channel, uint32_t k, uint64_t now_ns)
{
	uint32_t node = ms_graph_message(p->g, channel, k);
	struct list fresh = EMPTY;

	p->times[node].end_ns = now_ns;
	free_dependents(p, node, MS_RECEIVED, &fresh);
	drain_fresh_nodes(p, now_ns, &fresh);
}

void ms_graph_exec_sent(struct ms_graph_exec *p, uint32_t channel, uint32_t k, uint64_t now_ns)
{
	struct list fresh = EMPTY;

	free_dependents(p, ms_graph_message(p->g, channel, k), MS_SENT, &fresh);
	drain_fresh_nodes(p, now_ns, &fresh);
}

uint32_t ms_graph_exec_next_channel(struct ms_graph_exec *p, uint32_t host)
{
	struct ms_exec_host *h = &p->host[host];
	uint32_t channel = h->due.first;

	if (channel != MS_NODE_NONE) {
		h->due.first = p->channel[channel].next;
		p->channel[channel].due = false;
	}
	return channel;
}

uint32_t ms_graph_exec_claim_transfer(struct ms_graph_exec *p, uint32_t channel)
{
	uint32_t node = pop_node(p->next, &p->channel[channel].ready), unused;

	return node == MS_NODE_NONE ? node : ms_graph_place(p->g, node, &unused);
}

bool ms_graph_exec_has_transfer(const struct ms_graph_exec *p, uint32_t channel)
{
	return p->channel[channel].ready.first != MS_NODE_NONE;
}

/* ---- life ---- */

static bool allocate_state(struct ms_graph_exec *p)
{
	size_t nodes = p->g->n + (size_t)1, hosts = p->g->hosts;

	p->left = malloc(nodes * sizeof(*p->left));
	p->next = malloc(nodes * sizeof(*p->next));
	p->times = malloc(nodes * sizeof(*p->times));
	p->host = malloc((hosts + 1) * sizeof(*p->host));
	p->stream = malloc((hosts * p->g->streams + 1) * sizeof(*p->stream));
	p->channel = malloc((p->g->n_channels + (size_t)1) * sizeof(*p->channel));
	return p->left && p->next && p->times && p->host && p->stream && p->channel;
}

static void init_counts(struct ms_graph_exec *p)
{
	size_t hosts = p->g->hosts;

	for (uint32_t i = 0; i < p->g->n; i++) {
		p->left[i] = p->g->node[i].needs;
		p->times[i] = (struct ms_node_times){UINT64_MAX, UINT64_MAX};
	}
	for (size_t i = 0; i < hosts; i++)
		p->host[i] = (struct ms_exec_host){.running = MS_NODE_NONE, .due = EMPTY};
	for (size_t i = 0; i < hosts * p->g->streams; i++)
		p->stream[i] = (struct ms_exec_stream){.waiting = EMPTY};
	for (uint32_t i = 0; i < p->g->n_channels; i++)
		p->channel[i] = (struct ms_exec_channel){.ready = EMPTY};
}

struct ms_graph_exec *ms_graph_exec_create(const struct ms_graph *g, uint64_t start_ns)
{
	struct ms_graph_exec *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->g = g;
	p->start_ns = start_ns;
	if (!allocate_state(p)) {
		ms_graph_exec_destroy(p);
		return NULL;
	}
	init_counts(p);
	return p;
}

void ms_graph_exec_destroy(struct ms_graph_exec *p)
{
	if (!p)
		return;
	free(p->left);
	free(p->next);
	free(p->times);
	free(p->host);
	free(p->stream);
	free(p->channel);
	free(p);
}

size_t ms_graph_exec_bytes(const struct ms_graph *g)
{
	size_t hosts = g->hosts;

	return sizeof(struct ms_graph_exec) +
	       g->n * (2 * sizeof(uint32_t) + sizeof(struct ms_node_times)) +
	       hosts * (sizeof(struct ms_exec_host) + g->streams * sizeof(struct ms_exec_stream)) +
	       g->n_channels * sizeof(struct ms_exec_channel);
}
