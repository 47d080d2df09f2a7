/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves over time: see study.h. */
#include "study/study.h"

#include "fabric/fabric_node.h"

#include <stdio.h>
#include <string.h>

/* take_links finds the links that the scenario names; wrong names were refused with its files. */
static void take_links(struct sim_history *h, const struct ms_scenario *s)
{
	struct mf_error unused;

	for (const char *at = s->output.links; *at && h->n_links < SIM_HISTORY_LINKS;) {
		size_t len = strcspn(at, ",");
		char name[MF_LINK_NAME_BYTES];

		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		if (mf_link_find(&s->fabric, name, &h->link[h->n_links], &unused))
			h->n_links++;
		at += len + (at[len] == ',');
	}
}

void sim_history_begin(struct sim_history *h, const struct ms_scenario *s)
{
	uint64_t flows = 0;

	memset(h, 0, sizeof(*h));
	h->scenario = s;
	h->every_ns = SIM_HISTORY_FIRST_NS;
	h->next_ns = h->every_ns;
	h->n = 1; /* nothing has happened at time 0 */
	for (uint32_t i = 0; i < s->run.n_workloads; i++)
		flows += ms_workload_count(&s->run.workload[i]);
	h->whole = flows > SIM_HISTORY_FLOWS_MAX;
	h->n_parts = h->whole ? 1 : s->run.n_workloads;
	take_links(h, s);
}

/* take_parts adds up what the flows of each part have placed; their numbers follow each other. */
static void take_parts(const struct sim_history *h, struct ms_run *run, struct sim_sample *s)
{
	const struct ms_run_cfg *cfg = &h->scenario->run;
	uint32_t id = 0;

	for (uint32_t i = 0; i < cfg->n_workloads; i++) {
		uint64_t n = ms_workload_count(&cfg->workload[i]);

		for (uint64_t k = 0; k < n && id < ms_workload_flows(run->workload); k++, id++)
			s->placed_bytes[i] += ms_nics_placed(run->nics, id);
	}
}

static void take_sample(const struct sim_history *h, struct ms_run *run, uint64_t now_ns,
			struct sim_sample *s)
{
	struct ms_roce_stats roce;
	struct mt_stats core;
	struct ms_counters net;

	*s = (struct sim_sample){.at_ns = now_ns};
	ms_run_stats(run, &core, &roce);
	if (h->whole)
		s->placed_bytes[0] = core.rx_data_bytes + roce.rx_data_bytes;
	else
		take_parts(h, run, s);
	ms_net_counters(run->net, false, &net);
	for (int cause = 0; cause < MS_DROPS; cause++)
		s->drops += net.dropped[cause];
	s->marks = net.ecn_marks;
	s->trims = net.trims;
	s->retransmits = core.tx_retransmits + roce.tx_retransmits;
	s->evs_bad = core.evs_retired - core.evs_revived;
	for (uint32_t i = 0; i < h->n_links; i++) {
		struct ms_link_info info;

		if (ms_net_link(run->net, h->link[i], &info))
			s->link_bytes[i] = info.sent_bytes;
	}
}

/* halve_samples gives up every other sample; that of time 0 stays. */
static void halve_samples(struct sim_history *h)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < h->n; i += 2)
		h->sample[kept++] = h->sample[i];
	h->n = kept;
	h->every_ns *= 2;
	h->next_ns = h->sample[kept - 1].at_ns + h->every_ns;
}

void sim_history_sample(struct sim_history *h, struct ms_run *run, uint64_t now_ps)
{
	const uint64_t now_ns = now_ps / MS_PS_PER_NS;

	if (now_ns < h->next_ns)
		return;
	if (h->n == SIM_HISTORY_SAMPLES - 1)
		halve_samples(h);
	if (now_ns < h->next_ns)
		return;
	take_sample(h, run, now_ns, &h->sample[h->n++]);
	h->next_ns = now_ns + h->every_ns;
}

void sim_history_end(struct sim_history *h, struct ms_run *run)
{
	struct ms_run_result r;
	uint64_t end_ns;

	if (!ms_run_result(run, &r))
		return;
	end_ns = r.end_ps / MS_PS_PER_NS;
	/* Connections linger after the last flow; nothing of that is of interest. */
	while (h->n > 1 && h->sample[h->n - 1].at_ns >= end_ns)
		h->n--;
	take_sample(h, run, end_ns, &h->sample[h->n++]);
}

/* ---- as JSON ---- */

/* What a number of the samples, `offset` bytes into each, has risen by in interval i. */
static uint64_t rise_of(const struct sim_history *h, size_t offset, uint32_t i)
{
	uint64_t was, is;

	memcpy(&was, (const char *)&h->sample[i - 1] + offset, sizeof(was));
	memcpy(&is, (const char *)&h->sample[i] + offset, sizeof(is));
	return is - was;
}

static json_t *rates_json(const struct sim_history *h, size_t offset)
{
	json_t *all = json_array();

	for (uint32_t i = 1; i < h->n; i++) {
		uint64_t ns = h->sample[i].at_ns - h->sample[i - 1].at_ns;

		json_array_append_new(
			all, json_real(ns ? (double)rise_of(h, offset, i) * 8 / (double)ns : 0));
	}
	return all;
}

/* sum_json adds up the rates of all parts. */
static json_t *sum_json(const json_t *parts)
{
	json_t *all = json_array();

	for (size_t i = 0; i < json_array_size(json_array_get(parts, 0)); i++) {
		double sum = 0;

		for (size_t p = 0; p < json_array_size(parts); p++)
			sum += json_real_value(json_array_get(json_array_get(parts, p), i));
		json_array_append_new(all, json_real(sum));
	}
	return all;
}

static json_t *counts_json(const struct sim_history *h, size_t offset)
{
	json_t *all = json_array();

	for (uint32_t i = 1; i < h->n; i++)
		json_array_append_new(all, json_integer((json_int_t)rise_of(h, offset, i)));
	return all;
}

static json_t *bad_evs_json(const struct sim_history *h)
{
	json_t *all = json_array();

	for (uint32_t i = 1; i < h->n; i++)
		json_array_append_new(all, json_integer((json_int_t)h->sample[i].evs_bad));
	return all;
}

static json_t *times_json(const struct sim_history *h)
{
	json_t *all = json_array();

	for (uint32_t i = 1; i < h->n; i++)
		json_array_append_new(all, json_real((double)h->sample[i].at_ns / 1000));
	return all;
}

json_t *sim_history_json(const struct sim_history *h)
{
	json_t *parts = json_array(), *links = json_object();

	for (uint32_t i = 0; i < h->n_parts; i++)
		json_array_append_new(parts,
				      rates_json(h, offsetof(struct sim_sample, placed_bytes) +
							    i * sizeof(uint64_t)));
	for (uint32_t i = 0; i < h->n_links; i++) {
		char name[MF_LINK_NAME_BYTES];

		mf_link_name(&h->scenario->fabric, h->link[i], name);
		json_object_set_new(links, name,
				    rates_json(h, offsetof(struct sim_sample, link_bytes) +
							  i * sizeof(uint64_t)));
	}
#define COUNTS(field) counts_json(h, offsetof(struct sim_sample, field))
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "time_us", times_json(h),
			 "total_gbps", sum_json(parts), "gbps", parts, "links", links, "marks",
			 COUNTS(marks), "trims", COUNTS(trims), "drops", COUNTS(drops),
			 "retransmits", COUNTS(retransmits), "evs_bad", bad_evs_json(h));
#undef COUNTS
}
