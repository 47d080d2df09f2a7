/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_run_result.c - what came of a run: sums, times of flows, and who waits for whom. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/run/sim_run.h"
#include "sim/workload/graph.h"

/* Numbers of struct mt_stats. */
#define STATS (sizeof(struct mt_stats) / sizeof(uint64_t))
#define ROCE_STATS (sizeof(struct ms_roce_stats) / sizeof(uint64_t))

void ms_run_record(const struct ms_run *run, uint32_t id, struct ms_flow_record *r)
{
	if (run->merged)
		*r = run->merged[id];
	else
		ms_nics_flow(run->nics, id, r);
}

/* ---- other ranks ---- */

/* Flows whose records are sent to the other ranks at a time. */
#define MERGE_AT_ONCE 65536u

static bool merge_some(struct ms_run *run, uint32_t first, uint32_t n, uint64_t *numbers)
{
	const struct ms_ranks *r = run->cfg.ranks;
	uint64_t *times = numbers, *counts = numbers + 3 * (size_t)n;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t *of = &times[(size_t)3 * i];
		struct ms_flow_record f;

		ms_nics_flow(run->nics, first + i, &f);
		of[0] = f.start_ns;
		of[1] = f.acked_ns;
		of[2] = f.end_ns;
		counts[i] = f.retransmits | (uint64_t)f.failed << 32;
	}
	if (!r->least(r->ctx, times, 3 * n) || !r->sum(r->ctx, counts, n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *of = &times[(size_t)3 * i];

		run->merged[first + i] = (struct ms_flow_record){
			.start_ns = of[0],
			.acked_ns = of[1],
			.end_ns = of[2],
			.retransmits = (uint32_t)counts[i],
			.failed = counts[i] >> 32,
		};
	}
	return true;
}

/* Times of a graph's nodes: each is known to the rank of a host, or, of both ends, to two. */
static bool merge_nodes(const struct ms_run *run, struct ms_graph_exec *play, uint64_t *numbers)
{
	const struct ms_ranks *r = run->cfg.ranks;
	uint32_t nodes = play->g->n, n;

	for (uint32_t at = 0; at < nodes; at += n) {
		n = nodes - at < MERGE_AT_ONCE ? nodes - at : MERGE_AT_ONCE;
		for (uint32_t i = 0; i < n; i++) {
			const struct ms_node_times *t = &play->times[at + i];

			numbers[(size_t)2 * i] = t->begin_ns;
			numbers[(size_t)2 * i + 1] = t->end_ns;
		}
		if (!r->least(r->ctx, numbers, 2 * n))
			return false;
		for (uint32_t i = 0; i < n; i++) {
			const uint64_t *of = &numbers[(size_t)2 * i];

			play->times[at + i] = (struct ms_node_times){of[0], of[1]};
		}
	}
	return true;
}

static bool merge_records(struct ms_run *run)
{
	uint32_t flows = ms_workload_flows(run->workload);
	uint64_t *numbers = malloc(4 * sizeof(*numbers) * MERGE_AT_ONCE);
	bool ok;

	if (!run->merged)
		run->merged = malloc(sizeof(*run->merged) * ((size_t)flows + 1));
	ok = numbers && run->merged;
	for (uint32_t at = 0; ok && at < flows; at += MERGE_AT_ONCE)
		ok = merge_some(run, at, flows - at < MERGE_AT_ONCE ? flows - at : MERGE_AT_ONCE,
				numbers);
	for (uint32_t part = 0; ok && part < run->cfg.n_workloads; part++)
		if (ms_nics_graph_exec(run->nics, part))
			ok = merge_nodes(run, ms_nics_graph_exec(run->nics, part), numbers);
	free(numbers);
	return ok;
}

/* ---- sums ---- */

static bool sum_nics(const struct ms_run *run, struct ms_run_result *out)
{
	const struct ms_ranks *r = run->cfg.ranks;
	struct ms_roce_stats roce;
	struct ms_nic_sums s;
	struct mt_stats core;
	uint64_t n[STATS + 2 + ROCE_STATS];

	ms_nics_sums(run->nics, &s);
	ms_run_stats(run, &core, &roce);
	memcpy(n, &core, sizeof(core));
	n[STATS] = s.violations;
	n[STATS + 1] = s.memory_bytes + ms_net_memory_used(run->net);
	memcpy(&n[STATS + 2], &roce, sizeof(roce));
	if (r && !r->sum(r->ctx, n, STATS + 2 + ROCE_STATS))
		return false;
	memcpy(&out->roce, &n[STATS + 2], sizeof(out->roce));
	memcpy(&out->core, n, sizeof(out->core));
	out->violations = (uint32_t)n[STATS];
	out->memory_bytes = n[STATS + 1];
	return true;
}

static bool sum_flows(const struct ms_run *run, struct ms_run_result *out)
{
	uint64_t *fct = malloc(sizeof(*fct) * ((size_t)out->flows + 1)), n = 0, last_ns = 0;

	if (!fct)
		return false;
	for (uint32_t id = 0; id < out->flows; id++) {
		struct ms_flow_record r;
		struct ms_flow f;

		ms_run_record(run, id, &r);
		out->flows_failed += r.failed;
		if (r.end_ns == UINT64_MAX || r.acked_ns == UINT64_MAX ||
		    r.start_ns == UINT64_MAX) {
			out->flows_unfinished++;
			continue;
		}
		ms_workload_flow(run->workload, id, &f);
		out->bytes += f.bytes;
		last_ns = r.end_ns > last_ns ? r.end_ns : last_ns;
		fct[n++] = r.end_ns - r.start_ns;
	}
	out->end_ps = out->flows_unfinished ? ms_net_now_ps(run->net) : last_ns * MS_PS_PER_NS;
	if (n > 0) {
		ms_sort(fct, n);
		out->fct_p50_ns = ms_percentile(fct, n, 500);
		out->fct_p99_ns = ms_percentile(fct, n, 990);
		out->fct_p100_ns = fct[n - 1];
	}
	free(fct);
	return true;
}

bool ms_run_result(struct ms_run *run, struct ms_run_result *result)
{
	*result = (struct ms_run_result){
		.hosts = run->cfg.topology.n_hosts,
		.planes = run->cfg.topology.cfg.planes,
		.flows = ms_workload_flows(run->workload),
		.seed = run->cfg.seed,
		.threads = run->cfg.threads,
		.ideal_ns = ms_run_ideal_ns(run),
	};
	if (run->cfg.ranks && !merge_records(run))
		return false;
	if (!sum_nics(run, result) || !ms_net_counters(run->net, true, &result->net) ||
	    !sum_flows(run, result))
		return false;
	result->violations += !ms_counters_are_conserved(&result->net);
	result->data_packets = result->core.tx_data_packets + result->roce.tx_data_packets;
	result->retransmits = result->core.tx_retransmits + result->roce.tx_retransmits;
	return true;
}

void ms_run_flow(const struct ms_run *run, uint32_t id, struct ms_flow_result *result)
{
	struct ms_flow_record r;

	ms_run_record(run, id, &r);
	*result = (struct ms_flow_result){
		.start_ns = r.start_ns,
		.end_ns = r.end_ns,
		.acked_ns = r.acked_ns,
		.retransmits = r.retransmits,
		.failed = r.failed,
	};
	ms_workload_flow(run->workload, id, &result->flow);
}

/* ---- who waits for whom ---- */

/* The first need of message k that is not met, as far as this rank sees. */
static bool count_unmet(const struct ms_run *run, uint32_t id, const struct ms_flow *f, uint32_t k,
			struct ms_dependency *need, uint32_t *count)
{
	for (uint32_t i = 0; i < f->n_needs; i++) {
		uint32_t posted, arrived;
		struct ms_flow on;

		ms_workload_dependency(run->workload, id, i, need);
		ms_workload_flow(run->workload, need->flow, &on);
		*count = ms_dependency_count(need, k, on.messages);
		ms_nics_progress(run->nics, need->flow, &posted, &arrived);
		if (arrived < *count)
			return true;
	}
	return false;
}

bool ms_run_describe_wait(const struct ms_run *run, uint32_t id, char *text, size_t size)
{
	uint32_t posted, arrived, count;
	struct ms_flow_record r;
	struct ms_dependency need;
	struct ms_flow f, on;

	ms_run_record(run, id, &r);
	if (r.end_ns != UINT64_MAX && r.acked_ns != UINT64_MAX)
		return false;
	ms_workload_flow(run->workload, id, &f);
	ms_nics_progress(run->nics, id, &posted, &arrived);
	if (posted < f.messages && count_unmet(run, id, &f, posted, &need, &count)) {
		ms_workload_flow(run->workload, need.flow, &on);
		snprintf(text, size,
			 "flow %u (%u -> %u), message %u of %u, waits for message %u of flow %u "
			 "(%u -> %u)",
			 id, f.src, f.dst, posted + 1, f.messages, count, need.flow, on.src,
			 on.dst);
	} else if (r.failed) {
		snprintf(text, size, "flow %u (%u -> %u) gave up after %u of %u messages", id,
			 f.src, f.dst, arrived, f.messages);
	} else {
		snprintf(text, size, "flow %u (%u -> %u): %u of %u messages have arrived", id,
			 f.src, f.dst, arrived, f.messages);
	}
	return true;
}
