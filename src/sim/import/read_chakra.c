/* SPDX-License-Identifier: BSD-2-Clause */
/* read_chakra.c - files of ranks, one after another, a message at a time. */
#include "sim/import/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX (UINT32_C(64) << 20)
#define NS_PER_US UINT64_C(1000)
#define GPU_STREAM 0u
#define CPU_STREAM 1u

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
	struct ms_chakra_groups groups;
	struct ms_labels ids;	    /* of a rank: its operations by id */
	MS_GROW(uint32_t) in_group; /* of a rank: its collectives of each group so far */
	MS_GROW(uint32_t) in;	    /* of each operation of a rank: what waits, */
	MS_GROW(uint32_t) out;	    /* and what others wait for */
	MS_GROW(struct dep) dep;
	MS_GROW(struct ms_chakra_part) part;
};

/* Says what is wrong with the node that is read. */
#define refuse_node(r, ...) ms_trace_set_error((r)->t, (r)->rank, (r)->line, __VA_ARGS__)

static bool no_memory(struct chakra_reader *r)
{
	return ms_file_set_no_memory(r->error, r->path);
}

/* ---- messages ---- */

/* read_length reads the varint before a message; 0: the file is over. */
static bool read_length(struct chakra_reader *r, FILE *file, uint32_t *len)
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
		return refuse_node(r, "the file is truncated or no trace of Chakra: a message has "
				      "no length");
	return true;
}

static bool load_message(struct chakra_reader *r, FILE *file, uint32_t len)
{
	if (len >= r->room) { /* a message of nothing lies somewhere, too */
		uint8_t *grown = realloc(r->message, (size_t)len + 1);

		if (!grown)
			return no_memory(r);
		r->message = grown;
		r->room = (size_t)len + 1;
	}
	if (fread(r->message, 1, len, file) == len)
		return true;
	return refuse_node(r, "the file is truncated: it ends within this node of %u bytes", len);
}

/* ---- nodes ---- */

/* number_of finds the group of a collective, and which one of it that is at this rank. */
static bool number_of(struct chakra_reader *r, const struct ms_chakra_text *name,
		      struct ms_chakra_part *p)
{
	const uint32_t none = 0;

	if (!ms_chakra_groups_number(&r->groups, name->at, name->len, &p->group))
		return no_memory(r);
	while (r->in_group.n <= p->group)
		if (!ms_grow_add(&r->in_group, &none))
			return no_memory(r);
	p->order = r->in_group.at[p->group]++;
	return true;
}

static bool take_part(struct chakra_reader *r, const struct ms_chakra_node *n, uint32_t *in,
		      uint32_t *out)
{
	struct ms_chakra_part p = {
		.bytes = n->bytes, .rank = r->rank, .line = r->line, .kind = n->collective};

	if (n->collective >= MS_CHAKRA_COLLECTIVES)
		return refuse_node(r, "comm_type %u: expected 0 to %u", n->collective,
				   MS_CHAKRA_COLLECTIVES - 1);
	if (!number_of(r, &n->group, &p))
		return false;
	*in = p.enter = ms_trace_calc(r->t, r->rank, r->line, MS_STREAM_NONE, 0);
	*out = p.over = ms_trace_calc(r->t, r->rank, r->line, MS_STREAM_NONE, 0);
	if (*in == MS_NODE_NONE || *out == MS_NODE_NONE)
		return false;
	return ms_grow_add(&r->part, &p) || no_memory(r);
}

/* take_groups reads who is in which process group. */
static bool take_groups(struct chakra_reader *r, const struct ms_chakra_text *json)
{
	char why[MS_WHY_BYTES];

	if (ms_chakra_groups_read(&r->groups, json->at, json->len, r->t->ranks, why))
		return true;
	return refuse_node(r, "%s", why);
}

static bool take_message(struct chakra_reader *r, const struct ms_chakra_node *n, uint32_t *node)
{
	const bool sends = n->type == MS_CHAKRA_SEND;
	const struct ms_trace_message m = {
		.peer = sends ? n->dst : n->src, .tag = n->tag, .line = r->line, .bytes = n->bytes};

	if (r->same)
		return refuse_node(r, "sends or receives: one trace cannot stand for all ranks "
				      "then; expected PATH without .et, and a file for each rank");
	if (!n->has_peer)
		return refuse_node(r, "has no attribute %s", sends ? "comm_dst" : "comm_src");
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
		return refuse_node(r, "%s", why);
	if (n.groups.at && !take_groups(r, &n.groups))
		return false;
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
		return refuse_node(r, "id %llu: appears twice", (unsigned long long)n.id);
	case MS_LABEL_NO_MEMORY:
		return no_memory(r);
	case MS_LABEL_ADDED:
		break;
	}
	return (ms_grow_add(&r->in, &in) && ms_grow_add(&r->out, &out) &&
		ms_chakra_dependencies(&n, take_dep, r)) ||
	       no_memory(r);
}

/* ---- ranks ---- */

static bool put_deps(struct chakra_reader *r)
{
	for (size_t i = 0; i < r->dep.n; i++) {
		const struct dep *d = &r->dep.at[i];
		uint32_t on;

		if (!ms_labels_find(&r->ids, (const char *)&d->id, sizeof(d->id), &on))
			return ms_trace_set_error(
				r->t, r->rank, d->op + 2,
				"depends on id %llu, which its trace does not have",
				(unsigned long long)d->id);
		if (!ms_trace_add_dependency(r->t, r->in.at[d->op], r->out.at[on], false))
			return false;
	}
	return true;
}

static bool one_rank(struct chakra_reader *r, FILE *file)
{
	uint32_t len;

	ms_labels_clear(&r->ids);
	if (r->in_group.n > 0)
		memset(r->in_group.at, 0, r->in_group.n * sizeof(*r->in_group.at));
	r->in.n = r->out.n = r->dep.n = 0;
	for (r->line = 1;; r->line++) {
		if (!read_length(r, file, &len))
			return false;
		if (len == 0 && feof(file))
			break;
		/* The first message says of what version the trace is. */
		if (!load_message(r, file, len) || (r->line > 1 && !take_node(r, len)))
			return false;
	}
	if (r->line <= 2)
		return ms_trace_set_error(r->t, r->rank, 0, "has no nodes");
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
		return ms_file_set_error(r->error, path, 0, "rank %u: cannot be read: %s", r->rank,
					 strerror(errno));
	ok = one_rank(r, file);
	fclose(file);
	return ok;
}

/* ---- the whole ---- */

static bool load_groups(struct chakra_reader *r, const char *path)
{
	char why[MS_WHY_BYTES], *json = ms_file_load(path, r->error);
	bool ok = json != NULL;

	if (ok && !ms_chakra_groups_read(&r->groups, json, strlen(json), r->t->ranks, why))
		ok = ms_file_set_error(r->error, path, 0, "%s", why);
	free(json);
	return ok;
}

struct ms_graph *ms_chakra_read(const char *path, const char *groups, uint32_t ranks,
				const struct ms_trace_place *place, struct ms_file_error *error)
{
	const size_t len = strlen(path);
	struct chakra_reader r = {.t = ms_trace_create(path, error),
				  .path = path,
				  .error = error,
				  .same = len > 3 && strcmp(path + len - 3, ".et") == 0};
	struct ms_graph *g = NULL;
	bool ok =
		r.t && ms_trace_ranks(r.t, ranks, place, 0) && (!groups || load_groups(&r, groups));

	for (; ok && r.rank < ranks; r.rank++)
		ok = open_rank(&r);
	if (ok && ms_chakra_collectives(r.t, r.part.at, r.part.n, &r.groups))
		g = ms_trace_finish(r.t);
	ms_trace_destroy(r.t);
	ms_labels_fini(&r.ids);
	ms_chakra_groups_fini(&r.groups);
	ms_grow_free(&r.in_group);
	ms_grow_free(&r.in);
	ms_grow_free(&r.out);
	ms_grow_free(&r.dep);
	ms_grow_free(&r.part);
	free(r.message);
	return g;
}
