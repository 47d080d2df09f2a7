/* SPDX-License-Identifier: BSD-2-Clause */
/* chakra_collective.c - parts of ranks, brought together by group and order. */
#include "sim/import/trace.h"

#include "sim/workload/graph.h"

/* CollectiveCommType. */
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
};

/* A collective while it is made: its members in the order of the ring. */
struct making {
	struct ms_trace *t;
	const struct ms_chakra_groups *groups;
	uint32_t n;
	uint32_t *rank, *host, *node;
	const struct ms_chakra_part **part;
	uint32_t *place; /* of each rank: its place in the ring and one more; 0: is no member */
};

static int by_collective(const void *a, const void *b)
{
	const struct ms_chakra_part *x = a, *y = b;
	const uint64_t p[] = {x->group, x->order, x->rank};
	const uint64_t q[] = {y->group, y->order, y->rank};

	return ms_compare(p, q, MS_COUNT(p));
}

static bool same_collective(const struct ms_chakra_part *a, const struct ms_chakra_part *b)
{
	return a->group == b->group && a->order == b->order;
}

/* ---- who takes part ---- */

static void take_members(struct making *m, uint32_t number)
{
	const struct ms_chakra_group *group = &m->groups->group.at[number];
	const uint32_t ranks = m->t->ranks;

	memset(m->place, 0, ranks * sizeof(*m->place));
	m->n = group->rank ? group->n : ranks;
	for (uint32_t i = 0; i < m->n; i++) {
		m->rank[i] = group->rank ? group->rank[i] : i;
		m->host[i] = m->t->host[m->rank[i]];
		m->part[i] = NULL;
		m->place[m->rank[i]] = i + 1;
	}
}

/* parts_agree holds a part against another one of its collective. */
static bool parts_agree(const struct making *m, const struct ms_chakra_part *p,
			const struct ms_chakra_part *with)
{
	char name[MS_CHAKRA_NAME_BYTES];

	if (p->kind == with->kind && p->bytes == with->bytes)
		return true;
	return ms_trace_set_error(
		m->t, p->rank, p->line,
		"collective number %u of process group '%s' is of type %u and %llu "
		"bytes; at rank %u of type %u and %llu",
		p->order + 1, ms_chakra_group_name(m->groups, p->group, name), p->kind,
		(unsigned long long)p->bytes, with->rank, with->kind,
		(unsigned long long)with->bytes);
}

/* take_parts puts the n parts of a collective at their places, and sees that all are there. */
static bool take_parts(struct making *m, const struct ms_chakra_part *p, size_t n)
{
	char name[MS_CHAKRA_NAME_BYTES];

	ms_chakra_group_name(m->groups, p->group, name);
	for (size_t i = 0; i < n; i++) {
		if (m->place[p[i].rank] == 0)
			return ms_trace_set_error(m->t, p[i].rank, p[i].line,
						  "collective of process group '%s', in which this "
						  "rank is not",
						  name);
		if (!parts_agree(m, &p[i], &p[0]))
			return false;
		m->part[m->place[p[i].rank] - 1] = &p[i];
	}
	for (uint32_t i = 0; i < m->n; i++)
		if (!m->part[i])
			return ms_trace_set_error(
				m->t, m->rank[i], 0,
				"has no collective number %u of process group '%s', which rank %u "
				"has in line %u%s",
				p->order + 1, name, p->rank, p->line,
				m->groups->group.at[p->group].said
					? ""
					: "; who is in it is not said, so all ranks are");
	return true;
}

/* ---- what it does ---- */

static struct ms_collective set_shape(const struct making *m, const struct ms_chakra_part *p)
{
	static const enum ms_collective_kind kinds[MS_CHAKRA_COLLECTIVES] = {
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
	struct ms_collective c = {.kind = kinds[p->kind], .member = m->host, .n = m->n};

	c.bytes = p->kind == COMM_BARRIER ? 0 : p->bytes;
	/* comm_size is what a rank gives; of an all-to-all that is for all members together. */
	if (c.kind == MS_COLL_ALL_TO_ALL)
		c.bytes = (p->bytes + c.n - 1) / c.n;
	return c;
}

static bool make_collective(struct making *m, const struct ms_chakra_part *p)
{
	struct ms_collective c = set_shape(m, p);

	for (uint32_t i = 0; i < m->n; i++)
		m->node[i] = m->part[i]->enter;
	if (!ms_collective_add(m->t->graph, &c, m->node, m->node))
		return ms_trace_set_error(
			m->t, p->rank, p->line,
			"collective of %llu bytes: a message of it has 2^32 or more, "
			"or memory ran out",
			(unsigned long long)p->bytes);
	for (uint32_t i = 0; i < m->n; i++)
		if (!ms_trace_node(m->t, m->part[i]->line, m->node[i]) ||
		    !ms_trace_add_dependency(m->t, m->part[i]->over, m->node[i], false))
			return false;
	return true;
}

bool ms_chakra_collectives(struct ms_trace *t, struct ms_chakra_part *part, size_t n,
			   const struct ms_chakra_groups *groups)
{
	const uint32_t ranks = t->ranks;
	struct making m = {.t = t,
			   .groups = groups,
			   .rank = calloc(ranks, sizeof(*m.rank)),
			   .host = calloc(ranks, sizeof(*m.host)),
			   .node = calloc(ranks, sizeof(*m.node)),
			   .part = calloc(ranks, sizeof(*m.part)),
			   .place = calloc(ranks, sizeof(*m.place))};
	bool ok = (m.rank && m.host && m.node && m.part && m.place) || ms_trace_set_no_memory(t);
	size_t to;

	if (n > 1)
		qsort(part, n, sizeof(*part), by_collective);
	for (size_t from = 0; ok && from < n; from = to) {
		for (to = from + 1; to < n && same_collective(&part[from], &part[to]);)
			to++;
		take_members(&m, part[from].group);
		ok = take_parts(&m, &part[from], to - from) && make_collective(&m, &part[from]);
	}
	free(m.rank);
	free(m.host);
	free(m.node);
	free(m.part);
	free(m.place);
	return ok;
}
