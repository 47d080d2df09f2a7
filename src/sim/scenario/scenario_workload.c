/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_workload.c - each [[workload]] becomes a part of the run's workload. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/import/flow_files.h"
#include "sim/import/input.h"
#include "sim/scenario/scenario_build.h"
#include "sim/scenario/scenario_keys.h"

/* No kind: the key must be given. */
#define NO_KIND UINT32_MAX

void ms_scenario_workload_defaults(struct ms_scenario_workload *w)
{
	w->kind = NO_KIND;
	w->transport = MS_TRANSPORTS;
	w->bytes = UINT64_C(1) << 20;
	w->chunks = 8;
	w->local_size = 8;
	w->load = MS_SHARE_ONE / 2;
	w->for_ns = 1000000;
	w->dst = 1;
	w->skew = 2 * MS_SHARE_ONE;
}

static bool no_memory(const struct ms_scenario *s)
{
	return ms_file_set_no_memory(s->error, s->name);
}

/* ---- kinds that are read ---- */

/* load_text reads the file of a workload; its path is left in `path`. */
static char *load_text(const struct ms_scenario *s, const struct ms_scenario_workload *w,
		       char *path, size_t size)
{
	if (!w->file[0]) {
		ms_scenario_refuse(
			s, w->line,
			"workload: has no file; expected file = \"PATH\" with kind = \"%s\"",
			ms_load_names[w->kind]);
		return NULL;
	}
	if (!ms_file_sibling_path(s->name, w->file, path, size)) {
		ms_scenario_refuse(s, w->line, "workload.file = %s: is too long", w->file);
		return NULL;
	}
	return ms_file_load(path, s->error);
}

static bool take_matrix(struct ms_scenario *s, const struct ms_scenario_workload *w,
			struct ms_flow_list *list, const char *path, const char *text)
{
	struct ms_cm *cm = malloc(sizeof(*cm));
	bool ok = cm != NULL;

	if (!cm)
		return no_memory(s);
	ok = ms_cm_read(cm, path, text, s->error);
	if (ok && cm->nodes > s->fabric.n_hosts)
		ok = ms_scenario_refuse(
			s, w->line,
			"workload.file = %s: has %u nodes; expected at most %u, the hosts "
			"of the fabric",
			w->file, cm->nodes, s->fabric.n_hosts);
	for (uint32_t i = 0; ok && i < cm->n_failures; i++) {
		const struct ms_cm_failure *f = &cm->failure[i];

		if (f->t1 >= s->fabric.n_t1s || f->uplink >= s->fabric.cfg.t1_uplinks)
			ok = ms_file_set_error(
				s->error, path, f->line,
				"failure: expected switch_id below %u and link_id below "
				"%u, as the fabric has",
				s->fabric.n_t1s, s->fabric.cfg.t1_uplinks);
		else if (!ms_scenario_failure(s, f->t1, f->uplink))
			ok = no_memory(s);
	}
	if (ok) {
		*list = cm->flows;
		cm->flows = (struct ms_flow_list){0};
		ms_cm_fini(cm);
	}
	free(cm);
	return ok;
}

static bool take_poisson(struct ms_scenario *s, const struct ms_scenario_workload *w,
			 struct ms_flow_list *list, const char *path, const char *text)
{
	struct ms_poisson_cfg cfg = {
		.hosts = s->fabric.n_hosts,
		.bit_s = s->fabric.cfg.links[MF_HOST_T0].bit_s * s->fabric.cfg.planes,
		.load = w->load,
		.start_ns = w->start_ns,
		.for_ns = w->for_ns,
		.seed = w->seed ? w->seed : s->head.seed,
	};
	struct ms_cdf *cdf = malloc(sizeof(*cdf));
	bool ok;

	if (!cdf)
		return no_memory(s);
	ok = ms_cdf_read(cdf, path, text, s->error);
	if (ok && ms_poisson_expected(&cfg, cdf) > MS_LIST_MAX)
		ok = ms_scenario_refuse(
			s, w->line,
			"workload: such a load makes about %llu flows; expected at most "
			"%u: make `for` shorter or `load` less",
			(unsigned long long)ms_poisson_expected(&cfg, cdf), MS_LIST_MAX);
	if (ok && !ms_poisson_flows(&cfg, cdf, list))
		ok = no_memory(s);
	if (ok && list->n == 0)
		ok = ms_scenario_refuse(
			s, w->line,
			"workload: no flow begins so soon; expected a longer `for` or a "
			"higher `load`");
	free(cdf);
	return ok;
}

/* take_file makes the list of a kind that is read from a file. */
static bool take_file(struct ms_scenario *s, const struct ms_scenario_workload *w,
		      struct ms_flow_list *list)
{
	char path[2 * MS_PATH_BYTES];
	char *text = load_text(s, w, path, sizeof(path));
	bool ok;

	if (!text)
		return false;
	if (w->kind == MS_LOAD_MATRIX)
		ok = take_matrix(s, w, list, path, text);
	else if (w->kind == MS_LOAD_FLOWS)
		ok = ms_flows_read(list, s->fabric.n_hosts, path, text, s->error);
	else
		ok = take_poisson(s, w, list, path, text);
	free(text);
	/* Poisson flows begin at their own times, counted from start already. */
	for (uint32_t i = 0; ok && w->kind != MS_LOAD_POISSON && i < list->n; i++)
		list->flow[i].start_ns += w->start_ns;
	return ok;
}

static bool take_flow(struct ms_scenario *s, const struct ms_scenario_workload *w,
		      struct ms_flow_list *list)
{
	const struct ms_list_flow flow = {
		.src = w->src, .dst = w->dst, .bytes = w->bytes, .start_ns = w->start_ns};

	if (w->src >= s->fabric.n_hosts || w->dst >= s->fabric.n_hosts || w->src == w->dst)
		return ms_scenario_refuse(
			s, w->line,
			"workload: src = %u, dst = %u: expected two different hosts from "
			"0 to %u",
			w->src, w->dst, s->fabric.n_hosts - 1);
	return ms_flow_list_add(list, &flow) || no_memory(s);
}

/* ---- all kinds ---- */

static bool one_workload(struct ms_scenario *s, uint32_t part)
{
	const struct ms_scenario_workload *w = &s->workload[part];
	struct ms_flow_list *list = &s->flows[part];
	struct ms_workload_cfg *c = &s->run.workload[part];
	char why[MS_WHY_BYTES];

	if (w->kind == NO_KIND)
		return ms_scenario_refuse(
			s, w->line,
			"workload: has no kind; expected kind = \"permutation\" or "
			"another one");
	*c = (struct ms_workload_cfg){
		.kind = w->kind < MS_LIST	  ? (enum ms_workload_kind)w->kind
			: ms_scenario_is_graph(w) ? MS_GRAPH
						  : MS_LIST,
		.transport = (enum ms_transport)(w->transport < MS_TRANSPORTS ? w->transport
									      : s->transport.kind),
		.hosts = s->fabric.n_hosts,
		.hosts_per_t0 = s->fabric.cfg.hosts_per_t0,
		.seed = w->seed ? w->seed : s->head.seed,
		.bytes = w->bytes,
		.start_ns = w->start_ns,
		.across_t0 = w->across_t0,
		.groups = w->groups,
		.group_size = w->group_size ? w->group_size : s->fabric.n_hosts,
		.placement = (enum ms_placement)w->placement,
		.parallel = w->parallel,
		.chunks = w->chunks,
		.local_size = w->local_size,
	};
	if (c->kind == MS_GRAPH) {
		if (!ms_scenario_graph(s, part))
			return false;
		c->graph = s->graph[part];
	}
	if (c->kind == MS_LIST) {
		if (!(w->kind == MS_LOAD_FLOW ? take_flow(s, w, list) : take_file(s, w, list)))
			return false;
		c->list = list->flow;
		c->n_list = list->n;
		c->list_needs = list->need.at;
		c->n_list_needs = (uint32_t)list->need.n;
	}
	if (!ms_workload_check(c, why))
		return ms_scenario_refuse(s, w->line, "workload: %s", why);
	return true;
}

bool ms_scenario_workloads(struct ms_scenario *s)
{
	if (s->n_workloads == 0 && s->n_jobs == 0)
		return ms_scenario_refuse(
			s, 0, "has no workload; expected [[workload]] with its kind, or [[job]]");
	for (uint32_t i = 0; i < s->n_workloads; i++)
		if (!one_workload(s, i))
			return false;
	s->run.n_workloads = s->n_workloads;
	return true;
}
