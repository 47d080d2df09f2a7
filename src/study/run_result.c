/* SPDX-License-Identifier: BSD-2-Clause */
/* The result of a run as JSON: see study.h. docs/simulator.md says what each figure means. */
#include "study/study.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define US_NS 1000.0

/* What one part of the workload came to. */
struct part {
	uint64_t *fct_ns; /* of finished flows */
	uint32_t flows, finished;
	uint64_t bytes;
	double share_sum, share_min;
	uint64_t first_ns, last_ns; /* from the first start to the last end */
	uint8_t *sends;		    /* of each host: it is the source of a flow */
	uint32_t senders;
};

/* fct_percentile returns the smallest time within which `per_mille` of all are; in us. */
static double fct_percentile(const struct part *p, uint32_t per_mille)
{
	return p->finished ? (double)ms_percentile(p->fct_ns, p->finished, per_mille) / US_NS : 0;
}

/* take_flow counts a flow; host_bps is what its source could send at most. */
static void take_flow(struct part *p, const struct ms_flow_result *f, double host_bps)
{
	uint64_t ns = f->end_ns - f->start_ns;
	double share;

	p->flows++;
	if (f->end_ns == UINT64_MAX || f->start_ns == UINT64_MAX)
		return;
	p->fct_ns[p->finished++] = ns;
	p->bytes += f->flow.bytes;
	share = ns ? (double)f->flow.bytes * 8e9 / (double)ns / host_bps : 1;
	p->share_sum += share;
	p->share_min = p->finished == 1 || share < p->share_min ? share : p->share_min;
	p->first_ns = p->finished == 1 || f->start_ns < p->first_ns ? f->start_ns : p->first_ns;
	p->last_ns = f->end_ns > p->last_ns ? f->end_ns : p->last_ns;
	p->senders += !p->sends[f->flow.src];
	p->sends[f->flow.src] = 1;
}

/* sender_gbps returns what each source sent on average while the part went on. */
static double sender_gbps(const struct part *p)
{
	const double ns = (double)(p->last_ns - p->first_ns);

	return p->senders && ns > 0 ? (double)p->bytes * 8 / ns / p->senders : 0;
}

static json_t *part_json(struct part *p, const char *kind, bool account)
{
	json_t *all;

	ms_sort(p->fct_ns, p->finished);
	all = json_pack("{s:s,s:I,s:I,s:I,s:{s:f,s:f,s:f,s:f},s:{s:f,s:f},s:f}", "kind", kind,
			"flows", (json_int_t)p->flows, "flows_unfinished",
			(json_int_t)(p->flows - p->finished), "bytes", (json_int_t)p->bytes,
			"fct_us", "p0", fct_percentile(p, 0), "p50", fct_percentile(p, 500), "p99",
			fct_percentile(p, 990), "p100", fct_percentile(p, 1000), "rate_share",
			"mean", p->finished ? p->share_sum / p->finished : 0, "min",
			p->finished ? p->share_min : 0, "sender_gbps", sender_gbps(p));
	if (account)
		json_object_set_new(all, "cdf", sim_details_cdf(p->fct_ns, p->finished));
	return all;
}

/* parts_json goes through all flows; those of a part have numbers in a row. */
static json_t *parts_json(const struct sim_outcome *o)
{
	const struct mf_topology_cfg *t = &o->scenario->fabric.cfg;
	const double host_bps = (double)t->links[MF_HOST_T0].bit_s * t->planes;
	const struct ms_run_cfg *cfg = &o->scenario->run;
	json_t *all = json_array();
	uint32_t id = 0;

	for (uint32_t i = 0; i < cfg->n_workloads; i++) {
		uint64_t n = ms_workload_count(&cfg->workload[i]);
		struct part p = {.fct_ns = malloc(n * sizeof(*p.fct_ns) + 1),
				 .sends = calloc(o->scenario->fabric.n_hosts, 1)};
		json_t *one;

		for (uint64_t k = 0;
		     p.fct_ns && p.sends && k < n && id < ms_workload_flows(o->run->workload);
		     k++, id++) {
			struct ms_flow_result f;

			ms_run_flow(o->run, id, &f);
			take_flow(&p, &f, host_bps);
		}
		one = part_json(&p, ms_workload_kind_name(cfg->workload[i].kind), o->account);
		if (cfg->workload[i].kind == MS_GRAPH)
			json_object_set_new(one, "graph_us",
					    json_real((double)ms_ideal_end_ns(
							      ms_nics_graph_exec(o->run->nics, i)) /
						      US_NS));
		json_array_append_new(all, one);
		free(p.fct_ns);
		free(p.sends);
	}
	return all;
}

/* jobs_json says how the steps of each job went. */
static json_t *jobs_json(const struct sim_outcome *o)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < o->scenario->n_jobs; i++) {
		json_t *one = sim_job_json(o->scenario, i, o->run);

		if (one)
			json_array_append_new(all, one);
	}
	return all;
}

static json_t *core_json(const struct mt_stats *stats)
{
	json_t *all = json_object();

#define MEMBER(name, text) json_object_set_new(all, #name, json_integer((json_int_t)stats->name));
	MT_STATS(MEMBER)
#undef MEMBER
	return all;
}

static json_t *pfc_json(const struct ms_counters *net)
{
	return json_pack("{s:I,s:I,s:f}", "pauses", (json_int_t)net->pauses, "ports_paused",
			 (json_int_t)net->paused_ports, "paused_us", (double)net->paused_ps / 1e6);
}

static json_t *roce_json(const struct ms_roce_stats *stats)
{
	json_t *all = json_object();

#define MEMBER(name, text) json_object_set_new(all, #name, json_integer((json_int_t)stats->name));
	MS_ROCE_STATS(MEMBER)
#undef MEMBER
	return all;
}

static json_t *drops_json(const struct ms_counters *net, uint64_t *sum)
{
	json_t *all = json_object();

	*sum = 0;
	for (int cause = 0; cause < MS_DROPS; cause++) {
		*sum += net->dropped[cause];
		json_object_set_new(all, ms_drop_name((enum ms_drop)cause),
				    json_integer((json_int_t)net->dropped[cause]));
	}
	return all;
}

static const char *state_name(const struct sim_outcome *o)
{
	static const char *const names[] = {
		[MS_RUN_RUNNING] = "interrupted", [MS_RUN_DONE] = "done",
		[MS_RUN_STUCK] = "stuck",	  [MS_RUN_TIME] = "end of time",
		[MS_RUN_STOPPED] = "interrupted", [MS_RUN_MEMORY] = "out of memory",
		[MS_RUN_RANKS] = "ranks lost",
	};

	return o->interrupted ? "interrupted" : names[o->state];
}

static uint64_t peak_rss(void)
{
	struct rusage use;

	return getrusage(RUSAGE_SELF, &use) ? 0 : (uint64_t)use.ru_maxrss * 1024;
}

/* waiting_json names the first few flows that wait, and what for. */
static json_t *waiting_json(const struct sim_outcome *o)
{
	json_t *all = json_array();
	char text[200];

	for (uint32_t id = 0; id < ms_workload_flows(o->run->workload) && json_array_size(all) < 5;
	     id++)
		if (ms_run_describe_wait(o->run, id, text, sizeof(text)))
			json_array_append_new(all, json_string(text));
	return all;
}

/* add_all moves the members of one object to another. */
static void add_all(json_t *to, json_t *from)
{
	json_object_update(to, from);
	json_decref(from);
}

static json_t *counts_json(const struct ms_run_result *r, uint64_t drops)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "hosts",
			 (json_int_t)r->hosts, "planes", (json_int_t)r->planes, "flows",
			 (json_int_t)r->flows, "flows_unfinished", (json_int_t)r->flows_unfinished,
			 "flows_failed", (json_int_t)r->flows_failed, "packets",
			 (json_int_t)r->net.injected, "data_packets", (json_int_t)r->data_packets,
			 "hops", (json_int_t)r->net.hops, "trims", (json_int_t)r->net.trims,
			 "ecn_marks", (json_int_t)r->net.ecn_marks, "drops", (json_int_t)drops,
			 "retransmits", (json_int_t)r->retransmits, "violations",
			 (json_int_t)r->violations);
}

static json_t *times_json(const struct sim_outcome *o, const struct ms_run_result *r)
{
	const double simulated = (double)r->end_ps / 1e6, hops = (double)r->net.hops;
	const double ideal = (double)r->ideal_ns / US_NS;
	char hash[24];

	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)r->net.hash);
	return json_pack("{s:f,s:f,s:f,s:f,s:f,s:I,s:I,s:{s:f,s:f,s:f},s:f,s:f,s:I,s:I,s:s}",
			 "simulated_us", simulated, "wall_s", o->wall_s, "cpu_s", o->cpu_s,
			 "hops_per_cpu_s", o->cpu_s > 0 ? hops / o->cpu_s : 0, "hops_per_s",
			 o->wall_s > 0 ? hops / o->wall_s : 0, "peak_rss_bytes",
			 (json_int_t)peak_rss(), "memory_bytes", (json_int_t)r->memory_bytes,
			 "fct_us", "p50", (double)r->fct_p50_ns / US_NS, "p99",
			 (double)r->fct_p99_ns / US_NS, "p100", (double)r->fct_p100_ns / US_NS,
			 "ideal_us", ideal, "over_ideal", ideal > 0 ? simulated / ideal : 0, "seed",
			 (json_int_t)r->seed, "threads", (json_int_t)r->threads, "hash", hash);
}

json_t *sim_result_json(const struct sim_outcome *o)
{
	const char *violation = ms_nics_violation(o->run->nics);
	struct ms_run_result r;
	json_t *all, *drops;
	uint64_t dropped;

	if (!ms_run_result(o->run, &r))
		return NULL;
	drops = drops_json(&r.net, &dropped);
	all = json_pack("{s:s,s:s,s:s,s:s,s:b,s:b}", "scenario", o->scenario->name, "version",
			SOFTMRC_VERSION, "title", o->scenario->head.title, "state", state_name(o),
			"partial", o->state != MS_RUN_DONE, "packets_accounted_for",
			ms_counters_are_conserved(&r.net));
	add_all(all, counts_json(&r, dropped));
	add_all(all, times_json(o, &r));
	json_object_set_new(all, "parts", parts_json(o));
	if (o->scenario->n_jobs > 0)
		json_object_set_new(all, "jobs", jobs_json(o));
	json_object_set_new(all, "drops_by_cause", drops);
	if (o->scenario->run.pfc.on)
		json_object_set_new(all, "pfc", pfc_json(&r.net));
	json_object_set_new(all, "core", core_json(&r.core));
	if (ms_run_uses(o->run, MS_ROCE))
		json_object_set_new(all, "roce", roce_json(&r.roce));
	json_object_set_new(all, "waiting", waiting_json(o));
	if (o->account) {
		json_object_set_new(all, "parameters", sim_details_parameters(o->scenario));
		json_object_set_new(all, "faults", sim_details_faults(o->scenario));
	}
	if (o->history)
		json_object_set_new(all, "history", sim_history_json(o->history));
	if (violation)
		json_object_set_new(all, "violation", json_string(violation));
	return all;
}

bool sim_result_is_good(const json_t *result)
{
	double unfinished = 1, violations = 1;

	return sim_result_figure(result, "flows_unfinished", &unfinished) && unfinished == 0 &&
	       sim_result_figure(result, "violations", &violations) && violations == 0 &&
	       json_is_true(json_object_get(result, "packets_accounted_for"));
}

bool sim_result_figure(const json_t *result, const char *path, double *value)
{
	const json_t *at = result;
	char word[MS_NAME_BYTES];

	while (at && *path) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof(word))
			return false;
		memcpy(word, path, len);
		word[len] = '\0';
		at = json_is_array(at) ? json_array_get(at, strtoul(word, NULL, 10))
				       : json_object_get(at, word);
		path += len + (path[len] == '.');
	}
	if (!at || !json_is_number(at))
		return false;
	*value = json_number_value(at);
	return true;
}
