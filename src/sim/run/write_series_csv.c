/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of comma-separated values: see sim_run.h. */
#include "sim/run/sim_run.h"

#include <inttypes.h>

#include "fabric/fabric_node.h"

/* ---- flows ---- */

static const char *state_of(const struct ms_flow_result *r)
{
	if (r->failed)
		return "failed";
	if (r->end_ns != UINT64_MAX && r->acked_ns != UINT64_MAX)
		return "done";
	return r->start_ns == UINT64_MAX ? "waiting" : "unfinished";
}

static void write_time(uint64_t ns, FILE *to)
{
	if (ns == UINT64_MAX)
		fprintf(to, ",");
	else
		fprintf(to, ",%" PRIu64, ns);
}

void ms_write_flows(const struct ms_run *run, FILE *to)
{
	fprintf(to,
		"flow,src,dst,bytes,messages,start_ns,end_ns,acked_ns,fct_ns,retransmits,state\n");
	for (uint32_t id = 0; id < ms_workload_flows(run->workload); id++) {
		struct ms_flow_result r;
		bool over;

		ms_run_flow(run, id, &r);
		over = r.end_ns != UINT64_MAX && r.start_ns != UINT64_MAX;
		fprintf(to, "%u,%u,%u,%" PRIu64 ",%u", id, r.flow.src, r.flow.dst, r.flow.bytes,
			r.flow.messages);
		write_time(r.start_ns, to);
		write_time(r.end_ns, to);
		write_time(r.acked_ns, to);
		write_time(over ? r.end_ns - r.start_ns : UINT64_MAX, to);
		fprintf(to, ",%u,%s\n", r.retransmits, state_of(&r));
	}
}

/* ---- links ---- */

void ms_write_series_head(FILE *to)
{
	fprintf(to, "time_ns,link,up,queue_bytes,control_queue_bytes,sent_bytes,ecn_marks,trims,"
		    "drops,paused,pauses,paused_ns\n");
}

void ms_write_series(struct ms_run *run, const struct mf_topology *t, const uint32_t *link,
		     uint32_t n, uint64_t now_ps, FILE *to)
{
	const struct ms_net *net = run->net;

	for (uint32_t i = 0; i < n; i++) {
		char name[MF_LINK_NAME_BYTES];
		struct ms_link_info l;

		if (!ms_net_link(net, link[i], &l))
			continue; /* of another rank */
		mf_link_name(t, link[i], name);
		fprintf(to, "%" PRIu64 ",%s,%d,%u,%u,%" PRIu64 ",%u,%u,%u,%d,%u,%" PRIu64 "\n",
			now_ps / MS_PS_PER_NS, name, l.up, l.data_bytes, l.control_bytes,
			l.sent_bytes, l.ecn_marks, l.trims, l.drops, l.paused, l.pauses,
			l.paused_ps / MS_PS_PER_NS);
	}
}

/* ---- NICs ---- */

void ms_write_nics_head(FILE *to)
{
#define NAME(name, text) "," #name
#define ROCE_NAME(name, text) ",roce_" #name
	fprintf(to, "time_ns,flows_arrived,flows_acked,connections" MT_STATS(NAME)
			    MS_ROCE_STATS(ROCE_NAME) "\n");
#undef NAME
#undef ROCE_NAME
}

void ms_write_nics(struct ms_run *run, uint64_t now_ps, FILE *to)
{
	struct ms_roce_stats roce;
	struct ms_nic_sums sums;
	struct mt_stats core;

	ms_nics_sums(run->nics, &sums);
	ms_run_stats(run, &core, &roce);
	fprintf(to, "%" PRIu64 ",%u,%u,%u", now_ps / MS_PS_PER_NS, sums.arrived, sums.acked,
		sums.connections);
#define VALUE(name, text) fprintf(to, ",%" PRIu64, core.name);
	MT_STATS(VALUE)
#undef VALUE
#define VALUE(name, text) fprintf(to, ",%" PRIu64, roce.name);
	MS_ROCE_STATS(VALUE)
#undef VALUE
	fprintf(to, "\n");
}
