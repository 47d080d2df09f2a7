/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_trace.c - the kinds of [[workload]] that are graphs: traces of programs, an all-to-all
 * as mixtures of experts have it, and a pipeline. */
#include <stdlib.h>

#include "sim/import/input.h"
#include "sim/import/trace.h"
#include "sim/scenario/scenario_build.h"
#include "sim/scenario/scenario_keys.h"
#include "sim/workload/graph.h"

static struct ms_trace_place place_of(const struct ms_scenario *s,
				      const struct ms_scenario_workload *w)
{
	return (struct ms_trace_place){.hosts = s->fabric.n_hosts,
				       .hosts_per_t0 = s->fabric.cfg.hosts_per_t0,
				       .placement = (enum ms_placement)w->placement,
				       .seed = w->seed ? w->seed : s->head.seed};
}

/* trace_path finds a file that a workload names by a key. */
static bool trace_path(const struct ms_scenario *s, const struct ms_scenario_workload *w,
		       const char *key, const char *name, char path[2 * MS_PATH_BYTES])
{
	return ms_file_sibling_path(s->name, name, path, (size_t)2 * MS_PATH_BYTES) ||
	       ms_scenario_refuse(s, w->line, "workload.%s = %s: is too long", key, name);
}

static struct ms_graph *read_trace(struct ms_scenario *s, const struct ms_scenario_workload *w)
{
	const struct ms_trace_place place = place_of(s, w);
	char path[2 * MS_PATH_BYTES], groups[2 * MS_PATH_BYTES];

	if (!w->file[0]) {
		ms_scenario_refuse(
			s, w->line,
			"workload: has no file; expected file = \"PATH\" with kind = \"%s\"",
			ms_load_names[w->kind]);
		return NULL;
	}
	if (!trace_path(s, w, "file", w->file, path) ||
	    (w->group_file[0] && !trace_path(s, w, "group_file", w->group_file, groups)))
		return NULL;
	if (w->kind == MS_LOAD_GOAL)
		return ms_goal_read(path, &place, s->error);
	return ms_chakra_read(path, w->group_file[0] ? groups : NULL,
			      w->group_size ? w->group_size : s->fabric.n_hosts, &place, s->error);
}

/* ---- what is made ---- */

struct moe {
	uint32_t hot, n;
	uint64_t to_hot, to_other;
};

static uint64_t moe_share(const void *ctx, uint32_t from, uint32_t to)
{
	const struct moe *m = ctx;

	(void)from;
	return to == m->hot ? m->to_hot : m->to_other;
}

/*
 * add_moe adds an all-to-all in which one expert is wanted `skew` times as much as it would be if
 * all were alike; the others share the rest. Each member gives away bytes * (n - 1) in all.
 */
static bool add_moe(struct ms_trace *t, const struct ms_scenario *s,
		    const struct ms_scenario_workload *w)
{
	const uint32_t n = t->ranks;
	const uint64_t hot = w->bytes * w->skew / MS_SHARE_ONE, all = w->bytes * (n - 1);
	const struct moe m = {
		.hot = (uint32_t)((w->seed ? w->seed : s->head.seed) % n),
		.n = n,
		.to_hot = hot < all ? hot : all,
		.to_other = n > 2 && hot < all ? (all - hot) / (n - 2) : 0,
	};
	const struct ms_collective c = {.kind = MS_COLL_ALL_TO_ALL,
					.member = t->host,
					.n = n,
					.bytes = w->bytes,
					.share = moe_share,
					.ctx = &m};
	uint32_t *node = malloc(n * sizeof(*node));
	bool ok = node != NULL;

	for (uint32_t i = 0; ok && i < n; i++)
		node[i] = MS_NODE_NONE;
	ok = ok && ms_collective_add(t->graph, &c, node, node);
	for (uint32_t i = 0; ok && i < n; i++)
		ok = ms_trace_node(t, w->line, node[i]);
	free(node);
	return ok;
}

/* add_pipeline sends microbatches through all members in turn, each of which computes first. */
static bool add_pipeline(struct ms_trace *t, const struct ms_scenario_workload *w)
{
	const uint32_t n = t->ranks;

	for (uint32_t batch = 0; batch < w->chunks; batch++)
		for (uint32_t i = 0; i < n; i++) {
			uint32_t calc = ms_trace_calc(t, i, w->line, 0, w->compute_ns);
			struct ms_trace_message m = {
				.peer = i - 1, .tag = batch, .line = w->line, .bytes = w->bytes};
			uint32_t recv = i ? ms_trace_recv(t, i, &m) : MS_NODE_NONE, send;

			if (calc == MS_NODE_NONE ||
			    (i && (recv == MS_NODE_NONE ||
				   !ms_trace_add_dependency(t, calc, recv, false))))
				return false;
			m.peer = i + 1;
			if (i + 1 == n)
				continue;
			send = ms_trace_send(t, i, &m);
			if (send == MS_NODE_NONE || !ms_trace_add_dependency(t, send, calc, false))
				return false;
		}
	return true;
}

static struct ms_graph *make_graph(struct ms_scenario *s, const struct ms_scenario_workload *w)
{
	const struct ms_trace_place place = place_of(s, w);
	struct ms_trace *t = ms_trace_create(s->name, s->error);
	struct ms_graph *g = NULL;

	ms_file_set_no_memory(s->error, s->name);
	if (t &&
	    ms_trace_ranks(t, w->group_size ? w->group_size : s->fabric.n_hosts, &place, w->line) &&
	    (w->kind == MS_LOAD_MOE ? add_moe(t, s, w) : add_pipeline(t, w)))
		g = ms_trace_finish(t);
	ms_trace_destroy(t);
	return g;
}

bool ms_scenario_is_graph(const struct ms_scenario_workload *w)
{
	return w->kind == MS_LOAD_GOAL || w->kind == MS_LOAD_CHAKRA || w->kind == MS_LOAD_MOE ||
	       w->kind == MS_LOAD_PIPELINE;
}

bool ms_scenario_graph(struct ms_scenario *s, uint32_t part)
{
	const struct ms_scenario_workload *w = &s->workload[part];
	const bool file = w->kind == MS_LOAD_GOAL || w->kind == MS_LOAD_CHAKRA;

	s->graph[part] = file ? read_trace(s, w) : make_graph(s, w);
	return s->graph[part] != NULL;
}
