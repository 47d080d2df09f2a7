/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_graph.c - operations are nodes of the graph at once; what they wait for is kept until the
 * end, since "after the start of" an operation needs all that this operation waits for.
 */
#include "sim/import/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/workload.h"

/* A send or a receive, until it is matched. */
struct trace_end {
	uint32_t src, dst, tag;
	uint32_t node, line;
	uint64_t bytes;
	bool sends;
};

struct trace_need {
	uint32_t op, on;
	bool start;
};

/* What "start" of an operation means: a compute that is over when the operation may begin. */
struct trace_gate {
	uint32_t op, node;
};

bool ms_trace_set_no_memory(struct ms_trace *t)
{
	return ms_file_set_no_memory(t->error, t->file);
}

bool ms_trace_set_error(struct ms_trace *t, uint32_t rank, uint32_t line, const char *format, ...)
{
	char what[400];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return ms_file_set_error(t->error, t->file, line, "rank %u: %s", rank, what);
}

struct ms_trace *ms_trace_create(const char *file, struct ms_file_error *error)
{
	struct ms_trace *t = calloc(1, sizeof(*t));

	if (!t) {
		ms_file_set_no_memory(error, file);
		return NULL;
	}
	t->file = file;
	t->error = error;
	return t;
}

void ms_trace_destroy(struct ms_trace *t)
{
	if (!t)
		return;
	if (t->graph)
		ms_graph_destroy(t->graph);
	free(t->host);
	free(t->rank);
	ms_grow_free(&t->line);
	ms_grow_free(&t->end);
	ms_grow_free(&t->need);
	ms_grow_free(&t->gate);
	free(t);
}

/* ---- ranks ---- */

/* place_ranks puts ranks on hosts: side by side, one T0 after another, or drawn. */
static void place_ranks(struct ms_trace *t, const struct ms_trace_place *p, uint32_t *to,
			uint32_t *from)
{
	const uint32_t t0s = p->hosts / p->hosts_per_t0;

	if (p->placement == MS_RANDOM)
		ms_permutation_fill(to, from, p->hosts, p->seed);
	for (uint32_t r = 0; r < t->ranks; r++) {
		if (p->placement == MS_RANDOM)
			t->host[r] = to[r];
		else if (p->placement == MS_STRIDED && r < t0s * p->hosts_per_t0)
			t->host[r] = r % t0s * p->hosts_per_t0 + r / t0s;
		else
			t->host[r] = r;
		t->rank[t->host[r]] = r;
	}
}

bool ms_trace_ranks(struct ms_trace *t, uint32_t ranks, const struct ms_trace_place *p,
		    uint32_t line)
{
	uint32_t *to, *from;

	if (ranks < 2 || ranks > p->hosts)
		return ms_file_set_error(t->error, t->file, line,
					 "%u ranks: expected 2 to %u, the hosts of the fabric",
					 ranks, p->hosts);
	t->ranks = ranks;
	t->graph = ms_graph_create(p->hosts);
	t->host = calloc(ranks, sizeof(*t->host));
	t->rank = calloc(p->hosts, sizeof(*t->rank));
	to = calloc(p->hosts, sizeof(*to));
	from = calloc(p->hosts, sizeof(*from));
	if (t->graph && t->host && t->rank && to && from)
		place_ranks(t, p, to, from);
	free(to);
	free(from);
	return (t->graph && t->host && t->rank && to && from) || ms_trace_set_no_memory(t);
}

/* ---- operations ---- */

bool ms_trace_node(struct ms_trace *t, uint32_t line, uint32_t node)
{
	while (t->line.n <= node)
		if (!ms_grow_add(&t->line, &line))
			return ms_trace_set_no_memory(t);
	t->line.at[node] = line;
	return true;
}

static uint32_t add_operation(struct ms_trace *t, uint32_t line, uint32_t node)
{
	if (node == MS_NODE_NONE) {
		ms_trace_set_no_memory(t);
		return MS_NODE_NONE;
	}
	return ms_trace_node(t, line, node) ? node : MS_NODE_NONE;
}

uint32_t ms_trace_calc(struct ms_trace *t, uint32_t rank, uint32_t line, uint64_t stream,
		       uint64_t ns)
{
	if (stream >= MS_STREAMS && stream != MS_STREAM_NONE) {
		ms_trace_set_error(t, rank, line, "cpu %llu: expected 0 to %u",
				   (unsigned long long)stream, MS_STREAMS - 1);
		return MS_NODE_NONE;
	}
	if (ns >= MS_COMPUTE_MAX_NS) {
		ms_trace_set_error(t, rank, line, "calc %llu ns: expected less than 30 days",
				   (unsigned long long)ns);
		return MS_NODE_NONE;
	}
	return add_operation(t, line,
			     ms_graph_compute(t->graph, t->host[rank], (uint16_t)stream, ns));
}

static bool peer_is_there(struct ms_trace *t, uint32_t rank, const struct ms_trace_message *m)
{
	if (m->peer >= t->ranks)
		return ms_trace_set_error(t, rank, m->line, "peer %u: expected 0 to %u, its ranks",
					  m->peer, t->ranks - 1);
	if (m->bytes > UINT32_MAX)
		return ms_trace_set_error(t, rank, m->line, "%llu bytes: expected less than 2^32",
					  (unsigned long long)m->bytes);
	return true;
}

uint32_t ms_trace_send(struct ms_trace *t, uint32_t rank, const struct ms_trace_message *m)
{
	struct trace_end end = {.src = rank,
				.dst = m->peer,
				.tag = m->tag,
				.line = m->line,
				.bytes = m->bytes,
				.sends = true};

	if (!peer_is_there(t, rank, m))
		return MS_NODE_NONE;
	end.node = add_operation(
		t, m->line,
		rank == m->peer ? ms_graph_compute(t->graph, t->host[rank], MS_STREAM_NONE, 0)
				: ms_graph_transfer(t->graph, t->host[rank], t->host[m->peer],
						    m->channel, m->bytes));
	if (end.node != MS_NODE_NONE && !ms_grow_add(&t->end, &end)) {
		ms_trace_set_no_memory(t);
		return MS_NODE_NONE;
	}
	return end.node;
}

uint32_t ms_trace_recv(struct ms_trace *t, uint32_t rank, const struct ms_trace_message *m)
{
	struct trace_end end = {
		.src = m->peer, .dst = rank, .tag = m->tag, .line = m->line, .bytes = m->bytes};

	if (!peer_is_there(t, rank, m))
		return MS_NODE_NONE;
	end.node = add_operation(t, m->line,
				 ms_graph_compute(t->graph, t->host[rank], MS_STREAM_NONE, 0));
	if (end.node != MS_NODE_NONE && !ms_grow_add(&t->end, &end)) {
		ms_trace_set_no_memory(t);
		return MS_NODE_NONE;
	}
	return end.node;
}

bool ms_trace_add_dependency(struct ms_trace *t, uint32_t op, uint32_t on, bool start)
{
	const struct trace_need need = {op, on, start};

	return ms_grow_add(&t->need, &need) || ms_trace_set_no_memory(t);
}

/* ---- matching ---- */

/* By source, destination and tag, sends and receives apart, each in their order. */
static int by_match(const void *a, const void *b)
{
	const struct trace_end *x = a, *y = b;
	const uint64_t p[] = {x->src, x->dst, x->tag, !x->sends, x->node};
	const uint64_t q[] = {y->src, y->dst, y->tag, !y->sends, y->node};

	return ms_compare(p, q, MS_COUNT(p));
}

static bool same_match(const struct trace_end *a, const struct trace_end *b)
{
	return a->src == b->src && a->dst == b->dst && a->tag == b->tag;
}

static bool report_unmatched(struct ms_trace *t, const struct trace_end *e)
{
	if (e->sends)
		return ms_trace_set_error(t, e->src, e->line,
					  "send to %u, tag %u: rank %u has no receive for it",
					  e->dst, e->tag, e->dst);
	return ms_trace_set_error(t, e->dst, e->line, "recv from %u, tag %u: rank %u sends no such",
				  e->src, e->tag, e->src);
}

/* match_some matches n sends with m receives of one source, destination and tag. */
static bool match_some(struct ms_trace *t, const struct trace_end *send, size_t n, size_t m)
{
	const struct trace_end *recv = send + n;

	if (n != m)
		return report_unmatched(t, n > m ? &send[m] : &recv[n]);
	for (size_t i = 0; i < n; i++) {
		if (send[i].bytes > recv[i].bytes)
			return ms_trace_set_error(
				t, recv[i].dst, recv[i].line,
				"recv of %llu bytes from %u, tag %u: line %u of that "
				"rank sends %llu",
				(unsigned long long)recv[i].bytes, recv[i].src, recv[i].tag,
				send[i].line, (unsigned long long)send[i].bytes);
		if (!ms_graph_add_dependency(t->graph, recv[i].node, send[i].node, MS_RECEIVED))
			return ms_trace_set_no_memory(t);
	}
	return true;
}

static bool match_messages(struct ms_trace *t)
{
	size_t to;

	if (t->end.n > 1)
		qsort(t->end.at, t->end.n, sizeof(*t->end.at), by_match);
	for (size_t from = 0; from < t->end.n; from = to) {
		size_t sends = 0;

		for (to = from; to < t->end.n && same_match(&t->end.at[from], &t->end.at[to]); to++)
			sends += t->end.at[to].sends;
		if (!match_some(t, &t->end.at[from], sends, to - from - sends))
			return false;
	}
	return true;
}

/* ---- what waits for what ---- */

static int by_op(const void *a, const void *b)
{
	const struct trace_gate *x = a, *y = b;

	return x->op < y->op ? -1 : x->op > y->op;
}

static struct trace_gate *gate_of(struct ms_trace *t, uint32_t op)
{
	const struct trace_gate key = {op, 0};

	return t->gate.n ? bsearch(&key, t->gate.at, t->gate.n, sizeof(key), by_op) : NULL;
}

/* make_gates makes a gate for each operation whose start is waited for. */
static bool make_gates(struct ms_trace *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->need.n; i++) {
		const struct trace_gate gate = {t->need.at[i].on, 0};

		if (t->need.at[i].start && !ms_grow_add(&t->gate, &gate))
			return ms_trace_set_no_memory(t);
	}
	if (t->gate.n > 1)
		qsort(t->gate.at, t->gate.n, sizeof(*t->gate.at), by_op);
	for (size_t i = 0; i < t->gate.n; i++)
		if (kept == 0 || t->gate.at[kept - 1].op != t->gate.at[i].op)
			t->gate.at[kept++] = t->gate.at[i];
	t->gate.n = kept;
	for (size_t i = 0; i < kept; i++) {
		const struct ms_node *n = &t->graph->node[t->gate.at[i].op];
		uint32_t node = ms_graph_compute(t->graph, n->host, MS_STREAM_NONE, 0);

		t->gate.at[i].node = node;
		if (node == MS_NODE_NONE || !ms_trace_node(t, t->line.at[t->gate.at[i].op], node))
			return ms_trace_set_no_memory(t);
	}
	return true;
}

static bool put_needs(struct ms_trace *t)
{
	for (size_t i = 0; i < t->need.n; i++) {
		const struct trace_need *n = &t->need.at[i];
		const struct trace_gate *mine = gate_of(t, n->op);
		uint32_t on = n->start ? gate_of(t, n->on)->node : n->on;

		if (!ms_graph_add_dependency(t->graph, n->op, on, MS_SENT) ||
		    (mine && !ms_graph_add_dependency(t->graph, mine->node, on, MS_SENT)))
			return ms_trace_set_no_memory(t);
	}
	return true;
}

struct ms_graph *ms_trace_finish(struct ms_trace *t)
{
	char why[MS_WHY_BYTES];
	struct ms_graph *g = t->graph;
	uint32_t bad;

	if (!match_messages(t) || !make_gates(t) || !put_needs(t))
		return NULL;
	if (ms_graph_seal(g, why, &bad)) {
		t->graph = NULL;
		return g;
	}
	if (bad == MS_NODE_NONE)
		ms_trace_set_no_memory(t);
	else
		ms_trace_set_error(t, t->rank[g->node[bad].host], t->line.at[bad], "%s", why);
	return NULL;
}
