/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workload_list.c - flows named one by one: the list while a file is read, and the workload.
 *
 * They are sorted by the hosts at which they begin and end, so that a host's slots are one range of
 * an array. A need must be met at the host that waits for it, and nothing may wait for itself: a
 * walk over who waits for whom, from each flow as long as there is an unmarked one, finds a ring.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/workload_state.h"

#define MESSAGE_MAX UINT64_C(0xFFFFFFFF)
static bool flow_valid(const struct ms_workload_cfg *c, uint32_t i, char *why)
{
	const struct ms_list_flow *f = &c->list[i];

	if (f->src >= c->hosts)
		return ms_refuse(why, "flow %u: src = %u: hosts are 0 to %u", i, f->src,
				 c->hosts - 1);
	if (f->dst >= c->hosts)
		return ms_refuse(why, "flow %u: dst = %u: hosts are 0 to %u", i, f->dst,
				 c->hosts - 1);
	if (f->src == f->dst)
		return ms_refuse(why, "flow %u: dst = %u: the same host as src", i, f->dst);
	if (f->bytes > MESSAGE_MAX)
		return ms_refuse(why, "flow %u: bytes = %llu: at most %llu", i,
				 (unsigned long long)f->bytes, (unsigned long long)MESSAGE_MAX);
	if (f->first_need > c->n_list_needs || f->n_needs > c->n_list_needs - f->first_need)
		return ms_refuse(why, "flow %u: its needs are not in the list of needs", i);
	return true;
}

static bool need_valid(const struct ms_workload_cfg *c, uint32_t i, const struct ms_list_need *n,
		       char *why)
{
	const struct ms_list_flow *f = &c->list[i], *g;
	uint32_t at;

	if (n->flow >= c->n_list)
		return ms_refuse(why, "flow %u: waits for flow %u: flows are 0 to %u", i, n->flow,
				 c->n_list - 1);
	g = &c->list[n->flow];
	at = n->end == MS_SENT ? g->src : g->dst;
	if (at != f->src)
		return ms_refuse(
			why,
			"flow %u begins at host %u and waits for what host %u learns of flow %u "
			"(%u -> %u): only what a host sees itself can be waited for",
			i, f->src, at, n->flow, g->src, g->dst);
	return true;
}

/* ---- who waits for whom ---- */

enum mark {
	UNSEEN,
	OPEN, /* on the way from the flow where the walk began */
	CLEAR,
};

/* Writes the ring that closes with the flow on top of the way. */
static void report_cycle(const struct ms_list *l, const uint32_t *way, uint32_t n, uint32_t closes,
			 char *why)
{
	uint32_t from = n - 1;
	size_t used;

	while (way[from] != closes)
		from--;
	used = (size_t)snprintf(why, MS_WHY_BYTES, "flows wait for each other: ");
	for (uint32_t i = from; i <= n && used < MS_WHY_BYTES; i++) {
		uint32_t id = i < n ? way[i] : closes;

		used += (size_t)snprintf(why + used, MS_WHY_BYTES - used, "%sflow %u (%u -> %u)",
					 i > from ? " waits for " : "", id, l->flows[id].src,
					 l->flows[id].dst);
	}
}

/* A walk in depth without recursion: `next` is the need at which each flow of the way goes on. */
static bool find_cycle(const struct ms_list *l, uint32_t start, uint8_t *marks, uint32_t *way,
		       uint32_t *next, char *why)
{
	uint32_t n = 0;

	way[n] = start;
	next[n++] = 0;
	marks[start] = OPEN;
	while (n > 0) {
		const struct ms_list_flow *f = &l->flows[way[n - 1]];
		uint32_t on;

		if (next[n - 1] == f->n_needs) {
			marks[way[--n]] = CLEAR;
			continue;
		}
		on = l->needs[f->first_need + next[n - 1]++].flow;
		if (marks[on] == OPEN) {
			report_cycle(l, way, n, on, why);
			return false;
		}
		if (marks[on] == CLEAR)
			continue;
		marks[on] = OPEN;
		way[n] = on;
		next[n++] = 0;
	}
	return true;
}

/* REQ(sim.workload.local) */
static bool has_no_cycle(const struct ms_list *l, char *why)
{
	uint8_t *marks = calloc(l->n ? l->n : 1, 1);
	uint32_t *way = malloc(sizeof(*way) * 2 * ((size_t)l->n + 1));
	bool ok = marks && way;

	if (!ok)
		ms_refuse(why, "no memory for a list of %u flows", l->n);
	for (uint32_t i = 0; ok && i < l->n; i++)
		if (marks[i] == UNSEEN)
			ok = find_cycle(l, i, marks, way, way + l->n + 1, why);
	free(marks);
	free(way);
	return ok;
}

/* ---- sorting ---- */

struct key {
	uint64_t start_ns;
	uint32_t host, id;
};

static int by_host_and_start(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	const uint64_t p[] = {x->host, x->start_ns, x->id}, q[] = {y->host, y->start_ns, y->id};

	return ms_compare(p, q, MS_COUNT(p));
}

/* Sorts the flows by one of their hosts, and then by their start. */
static bool sort_by(const struct ms_list *l, uint32_t hosts, bool by_src, uint32_t *first,
		    uint32_t *ids)
{
	struct key *keys = malloc(sizeof(*keys) * (l->n ? l->n : 1));

	if (!keys)
		return false;
	for (uint32_t i = 0; i < l->n; i++) {
		keys[i] = (struct key){.start_ns = l->flows[i].start_ns,
				       .host = by_src ? l->flows[i].src : l->flows[i].dst,
				       .id = i};
		first[keys[i].host + 1]++;
	}
	ms_add_up(first, hosts);
	qsort(keys, l->n, sizeof(*keys), by_host_and_start);
	for (uint32_t i = 0; i < l->n; i++)
		ids[i] = keys[i].id;
	free(keys);
	return true;
}

static void number_slots(struct ms_list *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t host = l->flows[l->out[i]].src;

		l->slot[(size_t)2 * l->out[i]] = i - l->first_out[host];
	}
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t host = l->flows[l->in[i]].dst;
		uint32_t outgoing = l->first_out[host + 1] - l->first_out[host];

		l->slot[2 * l->in[i] + 1] = outgoing + i - l->first_in[host];
	}
}

static void find_dependents(struct ms_list *l)
{
	uint32_t *next = l->first_dependent + 1;

	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t k = 0; k < l->flows[i].n_needs; k++)
			next[l->needs[l->flows[i].first_need + k].flow + 1]++;
	ms_add_up(l->first_dependent, l->n + 1);
	/* next[f] walks from where the dependents of f begin to where those of f + 1 do. */
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t k = 0; k < l->flows[i].n_needs; k++)
			l->dependents[next[l->needs[l->flows[i].first_need + k].flow]++] = i;
}

static uint32_t count_needs(const struct ms_workload_cfg *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_list; i++)
		n += c->list[i].n_needs;
	return n;
}

static bool allocate_list(struct ms_list *l, const struct ms_workload_cfg *c)
{
	size_t n = c->n_list;

	l->n = c->n_list;
	l->flows = malloc(sizeof(*l->flows) * (n ? n : 1));
	l->needs = malloc(sizeof(*l->needs) * (c->n_list_needs ? c->n_list_needs : 1));
	l->first_out = ms_alloc_numbers((size_t)c->hosts + 1);
	l->first_in = ms_alloc_numbers((size_t)c->hosts + 1);
	l->out = ms_alloc_numbers(n);
	l->in = ms_alloc_numbers(n);
	l->slot = ms_alloc_numbers(2 * n);
	l->first_dependent = ms_alloc_numbers(n + 2);
	l->dependents = ms_alloc_numbers(count_needs(c));
	if (!l->flows || !l->needs || !l->first_out || !l->first_in || !l->out || !l->in ||
	    !l->slot || !l->first_dependent || !l->dependents)
		return false;
	if (n)
		memcpy(l->flows, c->list, sizeof(*l->flows) * n);
	if (c->n_list_needs)
		memcpy(l->needs, c->list_needs, sizeof(*l->needs) * c->n_list_needs);
	return true;
}

bool ms_list_open(struct ms_part *w, char *why)
{
	struct ms_workload_cfg *c = &w->cfg;
	struct ms_list *l = &w->list;

	for (uint32_t i = 0; i < c->n_list; i++) {
		if (!flow_valid(c, i, why))
			return false;
		for (uint32_t k = 0; k < c->list[i].n_needs; k++)
			if (!need_valid(c, i, &c->list_needs[c->list[i].first_need + k], why))
				return false;
	}
	if (!allocate_list(l, c) || !sort_by(l, c->hosts, true, l->first_out, l->out) ||
	    !sort_by(l, c->hosts, false, l->first_in, l->in))
		return ms_refuse(why, "no memory for a list of %u flows", c->n_list);
	number_slots(l);
	find_dependents(l);
	c->list = NULL;
	c->list_needs = NULL;
	return has_no_cycle(l, why);
}

void ms_list_close(struct ms_list *l)
{
	free(l->flows);
	free(l->needs);
	free(l->first_out);
	free(l->first_in);
	free(l->out);
	free(l->in);
	free(l->slot);
	free(l->first_dependent);
	free(l->dependents);
}

/* ---- growing ---- */

void ms_flow_list_fini(struct ms_flow_list *l)
{
	free(l->flow);
	free(l->need.at);
	*l = (struct ms_flow_list){0};
}

bool ms_flow_list_add(struct ms_flow_list *l, const struct ms_list_flow *flow)
{
	if (l->n > MS_LIST_MAX ||
	    !ms_grow_room((void **)(void *)&l->flow, l->n, &l->room, sizeof(*l->flow)))
		return false;
	l->flow[l->n] = *flow;
	l->flow[l->n].first_need = 0;
	l->flow[l->n].n_needs = 0;
	l->n++;
	return true;
}

bool ms_flow_list_add_dependency(struct ms_flow_list *l, uint32_t of, uint32_t on, enum ms_end end)
{
	const struct ms_list_need need = {on, end};

	if (l->need.n > MS_LIST_MAX || !ms_grow_add(&l->need, &need))
		return false;
	if (l->flow[of].n_needs++ == 0)
		l->flow[of].first_need = (uint32_t)l->need.n - 1;
	return true;
}

bool ms_flow_list_end(const struct ms_flow_list *l, uint32_t of, uint32_t on, enum ms_end *end)
{
	uint32_t host = l->flow[of].src;

	*end = l->flow[on].dst == host ? MS_RECEIVED : MS_SENT;
	return l->flow[on].dst == host || l->flow[on].src == host;
}

/* ---- the pattern ---- */

static uint64_t list_flows(const struct ms_part *w)
{
	return w->list.n;
}

static void list_flow(const struct ms_part *w, uint32_t id, struct ms_flow *f)
{
	const struct ms_list_flow *from = &w->list.flows[id];

	*f = (struct ms_flow){
		.src = from->src,
		.dst = from->dst,
		.src_slot = w->list.slot[(size_t)2 * id],
		.dst_slot = w->list.slot[2 * id + 1],
		.messages = 1,
		.n_needs = from->n_needs,
		.message_bytes = from->bytes,
		.bytes = from->bytes,
		.start_ns = from->start_ns,
	};
}

static void list_need(const struct ms_part *w, uint32_t id, uint32_t i, struct ms_dependency *need)
{
	const struct ms_list_need *n = &w->list.needs[w->list.flows[id].first_need + i];

	*need = (struct ms_dependency){.flow = n->flow, .count = 1, .end = n->end};
}

/* Of all that need this flow, those that do so at this end. */
static uint32_t list_dependent(const struct ms_part *w, uint32_t id, enum ms_end end, uint32_t i)
{
	const struct ms_list *l = &w->list;
	uint32_t host = end == MS_SENT ? l->flows[id].src : l->flows[id].dst;

	for (uint32_t k = l->first_dependent[id]; k < l->first_dependent[id + 1]; k++)
		if (l->flows[l->dependents[k]].src == host && i-- == 0)
			return l->dependents[k];
	return MS_FLOW_NONE;
}

static uint32_t list_outgoing(const struct ms_part *w, uint32_t member)
{
	return w->list.first_out[member + 1] - w->list.first_out[member];
}

static uint32_t list_slots(const struct ms_part *w, uint32_t member)
{
	return list_outgoing(w, member) + w->list.first_in[member + 1] - w->list.first_in[member];
}

static uint32_t list_at(const struct ms_part *w, uint32_t member, uint32_t slot)
{
	uint32_t outgoing = list_outgoing(w, member);

	if (slot < outgoing)
		return w->list.out[w->list.first_out[member] + slot];
	return w->list.in[w->list.first_in[member] + slot - outgoing];
}

const struct ms_pattern ms_pattern_list = {
	.flows = list_flows,
	.flow = list_flow,
	.need = list_need,
	.dependent = list_dependent,
	.outgoing = list_outgoing,
	.slots = list_slots,
	.flow_at = list_at,
};
