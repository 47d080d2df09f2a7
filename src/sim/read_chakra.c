/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_chakra.c - files of ranks, one after another. A collective is two nodes at each rank: what
 * it waits for is over, and it is over; what lies between is made when all ranks are read.
 */
#include "sim/read_chakra.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/graph_collective.h"
#include "sim/labels.h"

#define MESSAGE_MAX (UINT32_C(64) << 20)
#define NS_PER_US UINT64_C(1000)
#define GPU_STREAM 0u
#define CPU_STREAM 1u

/* What CollectiveCommType numbers. */
enum {
	COMM_ALL_REDUCE,
	COMM_REDUCE,
	COMM_ALL_GATHER,
	COMM_GATHER,
	COMM_SCATTER,
	COMM_BROADCAST,
	COMM_ALL_TO_ALL,
	COMM_REDUCE_SCATTER,
	COMM_REDUCE_SCATTER_BLOCK,
	COMM_BARRIER,
	COMM_KINDS,
};

/* A collective at one rank. */
struct part {
	char group[MS_CHAKRA_GROUP_BYTES];
	uint64_t bytes;
	uint32_t rank, order; /* of its rank and group, from 0 */
	uint32_t line, collective;
	uint32_t enter, over; /* nodes */
};

struct dep {
	uint32_t op; /* of this rank, from 0 */
	uint64_t id;
};

struct chakra_reader {
	struct ms_trace *t;
	const char *path;
	struct ms_file_error *error;
	bool same; /* one file for all ranks */
	uint32_t rank, line;
	uint8_t *message;
	size_t room;
	struct ms_labels ids;	 /* of a rank: its operations by id */
	struct ms_labels groups; /* of a rank: collectives of each group so far */
	MS_GROW(uint32_t) in;	 /* of each operation of a rank: what waits, */
	MS_GROW(uint32_t) out;	 /* and what others wait for */
	MS_GROW(struct dep) dep;
	MS_GROW(struct part) part;
};

static bool no_memory(struct chakra_reader *r)
{
	return ms_file_no_memory(r->error, r->path);
}

/* ---- messages ---- */

/* length reads the varint before a message; 0: the file is over. */
static bool length(struct chakra_reader *r, FILE *file, uint32_t *len)
{
	uint64_t n = 0;
	int c = getc(file);

	*len = 0;
	if (c == EOF && !ferror(file))
		return true;
	for (unsigned shift = 0; c != EOF; shift += 7, c = getc(file)) {
		n |= (uint64_t)(c & 0x7F) << shift;
		if (!(c & 0x80) || shift == 28)
			break;
	}
	*len = (uint32_t)n;
	if (c == EOF || (c & 0x80) || n > MESSAGE_MAX)
		return ms_trace_refuse(r->t, r->rank, r->line,
				       "the file is truncated or no trace of Chakra: a message has "
				       "no length");
	return true;
}

static bool load(struct chakra_reader *r, FILE *file, uint32_t len)
{
	if (len > r->room) {
		uint8_t *grown = realloc(r->message, len);

		if (!grown)
			return no_memory(r);
		r->message = grown;
		r->room = len;
	}
	if (fread(r->message, 1, len, file) == len)
		return true;
	return ms_trace_refuse(r->t, r->rank, r->line,
			       "the file is truncated: it ends within this node of %u bytes", len);
}

/* ---- nodes ---- */

static bool take_part(struct chakra_reader *r, const struct ms_chakra_node *n, uint32_t *in,
		      uint32_t *out)
{
	struct part p = {
		.bytes = n->bytes, .rank = r->rank, .line = r->line, .collective = n->collective};
	const uint32_t len = (uint32_t)strlen(n->group);
	uint32_t i;

	if (n->collective >= COMM_KINDS)
		return ms_trace_refuse(r->t, r->rank, r->line, "comm_type %u: expected 0 to %u",
				       n->collective, COMM_KINDS - 1);
	memcpy(p.group, n->group, sizeof(p.group));
	/* The k-th of its group: the last one of it that was read knows. */
	if (ms_labels_find(&r->groups, n->group, len, &i))
		p.order = r->part.at[i].order + 1;
	*in = ms_trace_calc(r->t, r->rank, r->line, MS_STREAM_NONE, 0);
	*out = ms_trace_calc(r->t, r->rank, r->line, MS_STREAM_NONE, 0);
	p.enter = *in;
	p.over = *out;
	if (*in == MS_NODE_NONE || *out == MS_NODE_NONE)
		return false;
	return (ms_labels_put(&r->groups, n->group, len, (uint32_t)r->part.n) &&
		ms_grow_add(&r->part, &p)) ||
	       no_memory(r);
}

static bool take_message(struct chakra_reader *r, const struct ms_chakra_node *n, uint32_t *node)
{
	const bool sends = n->type == MS_CHAKRA_SEND;
	const struct ms_trace_message m = {
		.peer = sends ? n->dst : n->src, .tag = n->tag, .line = r->line, .bytes = n->bytes};

	if (r->same)
		return ms_trace_refuse(r->t, r->rank, r->line,
				       "sends or receives: one trace cannot stand for all ranks "
				       "then; expected PATH without .et, and a file for each rank");
	if (!n->has_peer)
		return ms_trace_refuse(r->t, r->rank, r->line, "has no attribute %s",
				       sends ? "comm_dst" : "comm_src");
	*node = sends ? ms_trace_send(r->t, r->rank, &m) : ms_trace_recv(r->t, r->rank, &m);
	return *node != MS_NODE_NONE;
}

static bool take_compute(struct chakra_reader *r, const struct ms_chakra_node *n, uint32_t *node)
{
	const uint64_t us = n->type == MS_CHAKRA_METADATA ? 0 : n->duration_us;

	*node = ms_trace_calc(r->t, r->rank, r->line,
			      us == 0  ? MS_STREAM_NONE
			      : n->cpu ? CPU_STREAM
				       : GPU_STREAM,
			      us < UINT64_MAX / NS_PER_US ? us * NS_PER_US : UINT64_MAX);
	return *node != MS_NODE_NONE;
}

static bool take_dep(void *ctx, uint64_t id)
{
	struct chakra_reader *r = ctx;
	const struct dep d = {(uint32_t)r->in.n - 1, id};

	return ms_grow_add(&r->dep, &d);
}

static bool take_node(struct chakra_reader *r, uint32_t len)
{
	struct ms_chakra_node n;
	uint32_t in = MS_NODE_NONE, out = MS_NODE_NONE;
	const char *why;
	bool ok;

	if (!ms_chakra_decode(r->message, len, &n, &why))
		return ms_trace_refuse(r->t, r->rank, r->line, "%s", why);
	if (n.type == MS_CHAKRA_COLLECTIVE) {
		ok = take_part(r, &n, &in, &out);
	} else {
		ok = n.type == MS_CHAKRA_SEND || n.type == MS_CHAKRA_RECV
			     ? take_message(r, &n, &in)
			     : take_compute(r, &n, &in);
		out = in;
	}
	if (!ok)
		return false;
	switch (ms_labels_add(&r->ids, (const char *)&n.id, sizeof(n.id), (uint32_t)r->in.n)) {
	case MS_LABEL_THERE:
		return ms_trace_refuse(r->t, r->rank, r->line, "id %llu: stands there twice",
				       (unsigned long long)n.id);
	case MS_LABEL_NO_MEMORY:
		return no_memory(r);
	case MS_LABEL_ADDED:
		break;
	}
	return (ms_grow_add(&r->in, &in) && ms_grow_add(&r->out, &out) &&
		ms_chakra_deps(&n, take_dep, r)) ||
	       no_memory(r);
}

/* ---- ranks ---- */

static bool put_deps(struct chakra_reader *r)
{
	for (size_t i = 0; i < r->dep.n; i++) {
		const struct dep *d = &r->dep.at[i];
		uint32_t on;

		if (!ms_labels_find(&r->ids, (const char *)&d->id, sizeof(d->id), &on))
			return ms_trace_refuse(r->t, r->rank, d->op + 2,
					       "depends on id %llu, which its trace does not have",
					       (unsigned long long)d->id);
		if (!ms_trace_needs(r->t, r->in.at[d->op], r->out.at[on], false))
			return false;
	}
	return true;
}

static bool one_rank(struct chakra_reader *r, FILE *file)
{
	uint32_t len;

	ms_labels_clear(&r->ids);
	ms_labels_clear(&r->groups);
	r->in.n = r->out.n = r->dep.n = 0;
	for (r->line = 1;; r->line++) {
		if (!length(r, file, &len))
			return false;
		if (len == 0 && feof(file))
			break;
		/* The first message says of what version the trace is. */
		if (!load(r, file, len) || (r->line > 1 && !take_node(r, len)))
			return false;
	}
	if (r->line <= 2)
		return ms_trace_refuse(r->t, r->rank, 0, "has no nodes");
	return put_deps(r);
}

static bool open_rank(struct chakra_reader *r)
{
	char path[600];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), r->same ? "%s" : "%s.%u.et", r->path, r->rank);
	file = fopen(path, "rbe");
	if (!file)
		return ms_file_refuse(r->error, path, 0, "rank %u: cannot be read: %s", r->rank,
				      strerror(errno));
	ok = one_rank(r, file);
	fclose(file);
	return ok;
}

/* ---- collectives ---- */

static int by_collective(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int by_group = strcmp(x->group, y->group);

	if (by_group)
		return by_group;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void shape(const struct part *p, struct ms_collective *c)
{
	static const enum ms_collective_kind kinds[COMM_KINDS] = {
		[COMM_ALL_REDUCE] = MS_COLL_ALL_REDUCE,
		[COMM_REDUCE] = MS_COLL_REDUCE_SCATTER,
		[COMM_ALL_GATHER] = MS_COLL_ALL_GATHER,
		[COMM_GATHER] = MS_COLL_ALL_GATHER,
		[COMM_SCATTER] = MS_COLL_BROADCAST,
		[COMM_BROADCAST] = MS_COLL_BROADCAST,
		[COMM_ALL_TO_ALL] = MS_COLL_ALL_TO_ALL,
		[COMM_REDUCE_SCATTER] = MS_COLL_REDUCE_SCATTER,
		[COMM_REDUCE_SCATTER_BLOCK] = MS_COLL_REDUCE_SCATTER,
		[COMM_BARRIER] = MS_COLL_ALL_REDUCE,
	};

	c->kind = kinds[p->collective];
	c->bytes = p->collective == COMM_BARRIER ? 0 : p->bytes;
	/* comm_size is what a rank gives; of an all-to-all that is for all ranks together. */
	if (c->kind == MS_COLL_ALL_TO_ALL)
		c->bytes = (p->bytes + c->n - 1) / c->n;
}

/* agree holds the parts of all ranks against that of rank 0. */
static bool agree(struct chakra_reader *r, const struct part *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (p[i].rank != i)
			return ms_trace_refuse(r->t, i, 0,
					       "has no collective number %u of process group "
					       "'%s', which rank %u has in line %u",
					       p[0].order + 1, p[0].group, p[0].rank, p[0].line);
		if (p[i].collective != p[0].collective || p[i].bytes != p[0].bytes)
			return ms_trace_refuse(
				r->t, i, p[i].line,
				"collective number %u of process group '%s' is of type %u and "
				"%llu bytes; at rank 0 of type %u and %llu",
				p[i].order + 1, p[i].group, p[i].collective,
				(unsigned long long)p[i].bytes, p[0].collective,
				(unsigned long long)p[0].bytes);
	}
	return true;
}

static bool make_collective(struct chakra_reader *r, const struct part *p, uint32_t *node)
{
	struct ms_collective c = {.member = ms_trace_hosts(r->t), .n = ms_trace_n_ranks(r->t)};

	for (uint32_t i = 0; i < c.n; i++)
		node[i] = p[i].enter;
	shape(p, &c);
	if (!ms_collective_add(ms_trace_graph(r->t), &c, node, node))
		return ms_trace_refuse(
			r->t, 0, p->line,
			"collective of %llu bytes: a message of it has 2^32 or more, "
			"or memory ran out",
			(unsigned long long)p->bytes);
	for (uint32_t i = 0; i < c.n; i++)
		if (!ms_trace_node(r->t, i, p[i].line, node[i]) ||
		    !ms_trace_needs(r->t, p[i].over, node[i], false))
			return false;
	return true;
}

static bool make_collectives(struct chakra_reader *r)
{
	const uint32_t ranks = ms_trace_n_ranks(r->t);
	uint32_t *node = malloc(ranks * sizeof(*node));
	bool ok = node || no_memory(r);

	if (r->part.n > 1)
		qsort(r->part.at, r->part.n, sizeof(*r->part.at), by_collective);
	for (size_t i = 0; ok && i < r->part.n; i += ranks) {
		size_t there = r->part.n - i < ranks ? r->part.n - i : ranks;

		if (there < ranks)
			ok = ms_trace_refuse(r->t, r->part.at[i].rank, r->part.at[i].line,
					     "collective number %u of process group '%s': not all "
					     "ranks take part in it",
					     r->part.at[i].order + 1, r->part.at[i].group);
		else
			ok = agree(r, &r->part.at[i], ranks) &&
			     make_collective(r, &r->part.at[i], node);
	}
	free(node);
	return ok;
}

struct ms_graph *ms_chakra_read(const char *path, uint32_t ranks,
				const struct ms_trace_place *place, struct ms_file_error *error)
{
	const size_t len = strlen(path);
	struct chakra_reader r = {.t = ms_trace_create(path, error),
				  .path = path,
				  .error = error,
				  .same = len > 3 && strcmp(path + len - 3, ".et") == 0};
	struct ms_graph *g = NULL;
	bool ok = r.t && ms_trace_ranks(r.t, ranks, place, 0);

	for (; ok && r.rank < ranks; r.rank++)
		ok = open_rank(&r);
	if (ok && make_collectives(&r))
		g = ms_trace_finish(r.t);
	ms_trace_destroy(r.t);
	ms_labels_fini(&r.ids);
	ms_labels_fini(&r.groups);
	ms_grow_free(&r.in);
	ms_grow_free(&r.out);
	ms_grow_free(&r.dep);
	ms_grow_free(&r.part);
	free(r.message);
	return g;
}
