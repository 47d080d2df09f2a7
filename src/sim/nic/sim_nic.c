/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_nic.c - the NICs of a run: made, taken down, and looked into; see sim_nic.h. */

#include <stdio.h>
#include <stdlib.h>

#include "sim/nic/nic_set.h"

/* ---- life ---- */

static bool open_records(struct ms_nics *n)
{
	size_t flows = ms_workload_flows(n->workload) + (size_t)1;

	n->dark = calloc(n->hosts, sizeof(*n->dark));
	n->source = malloc(flows * sizeof(*n->source));
	n->end_ns = malloc(flows * sizeof(*n->end_ns));
	if (!n->dark || !n->source || !n->end_ns)
		return false;
	for (size_t i = 0; i < flows; i++) {
		n->source[i] = (struct ms_source_record){UINT64_MAX, UINT64_MAX, 0, 0};
		n->end_ns[i] = UINT64_MAX;
	}
	return true;
}

static bool open_graphs(struct ms_nics *n)
{
	for (uint32_t part = 0; part < ms_workload_parts(n->workload); part++) {
		uint64_t start_ns;
		const struct ms_graph *g = ms_workload_part_graph(n->workload, part, &start_ns);

		if (g && !(n->play[part] = ms_graph_exec_create(g, start_ns)))
			return false;
	}
	return true;
}

struct ms_nics *ms_nics_create(const struct mf_topology *topology, uint32_t threads,
			       const struct ms_workload *workload, void *owner, char *why)
{
	struct ms_nics *n = calloc(1, sizeof(*n));

	if (n)
		*n = (struct ms_nics){
			.workload = workload,
			.owner = owner,
			.hosts = topology->n_hosts,
			.planes = topology->cfg.planes,
			.threads = threads,
			.port_bps = topology->cfg.links[MF_HOST_T0].bit_s,
		};
	if (n && open_records(n) && open_graphs(n))
		return n;
	ms_refuse(why, "no memory for %u NICs", topology->n_hosts);
	ms_nics_destroy(n);
	return NULL;
}

bool ms_nic_set_init(struct ms_nic_set *set, struct ms_nics *n, enum ms_transport transport,
		     const struct ms_nic_ops *ops, uint64_t longest)
{
	*set = (struct ms_nic_set){
		.ops = ops,
		.nics = n,
		.workload = n->workload,
		.hosts = n->hosts,
		.planes = n->planes,
		.packet_ps = longest * 8 * MS_PS_PER_S / n->port_bps,
		.dark = n->dark,
	};
	n->set[transport] = set;
	ms_app_init(&set->app, n->workload, transport, n->play);
	set->app.begin = ms_nic_begin_flow;
	set->app.progress = ms_nic_passed;
	set->host = calloc(n->hosts, sizeof(*set->host));
	set->worker = calloc(n->threads, sizeof(*set->worker));
	if (!set->host || !set->worker)
		return false;
	set->workers = n->threads;
	for (uint32_t i = 0; i < set->workers; i++)
		ms_arena_init(&set->worker[i].arena);
	return true;
}

static void destroy_set(struct ms_nic_set *set)
{
	for (uint32_t i = 0; i < set->workers; i++)
		ms_arena_fini(&set->worker[i].arena);
	free(set->worker);
	free(set->host);
	set->ops->destroy(set);
}

void ms_nics_destroy(struct ms_nics *n)
{
	if (!n)
		return;
	for (unsigned t = 0; t < MS_TRANSPORTS; t++)
		if (n->set[t])
			destroy_set(n->set[t]);
	for (uint32_t part = 0; part < MS_PARTS_MAX; part++)
		ms_graph_exec_destroy(n->play[part]);
	free(n->prefetch);
	free(n->dark);
	free(n->source);
	free(n->end_ns);
	free(n);
}

uint64_t ms_nics_memory(const struct mf_topology *topology, const struct ms_workload_cfg *workload,
			uint32_t n)
{
	uint64_t flows = 0;

	for (uint32_t i = 0; i < n; i++)
		flows += ms_workload_count(&workload[i]);
	return flows * (sizeof(struct ms_source_record) + sizeof(uint64_t)) +
	       topology->n_hosts * (MS_TRANSPORTS * sizeof(void *) +
				    sizeof(struct ms_nic_prefetch) + sizeof(uint32_t));
}

/* ---- looking in ---- */

void *ms_nics_owner(const struct ms_nics *n)
{
	return n->owner;
}

struct ms_graph_exec *ms_nics_graph_exec(const struct ms_nics *n, uint32_t part)
{
	return part < MS_PARTS_MAX ? n->play[part] : NULL;
}

void ms_nics_flow(const struct ms_nics *n, uint32_t flow, struct ms_flow_record *record)
{
	const struct ms_source_record *s = &n->source[flow];

	*record = (struct ms_flow_record){
		.start_ns = s->start_ns,
		.acked_ns = s->acked_ns,
		.end_ns = n->end_ns[flow],
		.retransmits = s->retransmits,
		.failed = s->failed,
	};
}

uint64_t ms_nics_placed(const struct ms_nics *n, uint32_t flow)
{
	const struct ms_nic_host *dst;
	const struct ms_flow_end *e;
	struct ms_flow f;

	ms_workload_flow(n->workload, flow, &f);
	if (n->end_ns[flow] != UINT64_MAX)
		return f.bytes;
	dst = n->set[ms_workload_transport(n->workload, flow)]->host[f.dst];
	e = dst ? dst->ends[f.dst_slot] : NULL;
	return e && e != MS_FLOW_OVER ? e->placed_bytes : 0;
}

void ms_nics_progress(const struct ms_nics *n, uint32_t flow, uint32_t *posted, uint32_t *arrived)
{
	const struct ms_nic_set *set = n->set[ms_workload_transport(n->workload, flow)];
	const struct ms_nic_host *src, *dst;
	const struct ms_flow_end *e;
	struct ms_flow f;

	ms_workload_flow(n->workload, flow, &f);
	src = set->host[f.src];
	dst = set->host[f.dst];
	e = src ? src->ends[f.src_slot] : NULL;
	*posted = e == MS_FLOW_OVER ? f.messages : e ? e->posted : 0;
	*arrived = dst ? ms_nic_passed(dst, f.dst_slot, f.messages) : 0;
}

/* ---- sums ---- */

static void add_worker(struct ms_nic_sums *sums, const struct ms_nic_worker *own)
{
	const struct ms_nic_sums *s = &own->sums;

	sums->sent += s->sent;
	sums->received += s->received;
	sums->arrived += s->arrived;
	sums->acked += s->acked;
	sums->failed += s->failed;
	sums->violations += s->violations;
	sums->hosts += s->hosts;
	sums->connections += s->connections;
	sums->memory_bytes += own->arena.bytes;
}

static void add_set(struct ms_nic_sums *sums, const struct ms_nic_set *set)
{
	sums->memory_bytes += set->hosts * sizeof(*set->host);
	for (uint32_t i = 0; i < set->workers; i++)
		add_worker(sums, &set->worker[i]);
}

void ms_nics_sums(const struct ms_nics *n, struct ms_nic_sums *sums)
{
	*sums = (struct ms_nic_sums){
		.memory_bytes =
			n->hosts * (sizeof(*n->dark) + (n->prefetch ? sizeof(*n->prefetch) : 0)) +
			ms_workload_flows(n->workload) * (sizeof(*n->source) + sizeof(*n->end_ns)),
	};
	for (unsigned t = 0; t < MS_TRANSPORTS; t++)
		if (n->set[t])
			add_set(sums, n->set[t]);
}

uint32_t ms_nics_arrived(const struct ms_nics *n)
{
	uint32_t arrived = 0;

	for (unsigned t = 0; t < MS_TRANSPORTS; t++)
		for (uint32_t i = 0; n->set[t] && i < n->set[t]->workers; i++)
			arrived += n->set[t]->worker[i].sums.arrived;
	return arrived;
}

bool ms_nics_out_of_memory(const struct ms_nics *n)
{
	for (unsigned t = 0; t < MS_TRANSPORTS; t++)
		for (uint32_t i = 0; n->set[t] && i < n->set[t]->workers; i++)
			if (n->set[t]->worker[i].no_memory)
				return true;
	return false;
}

const char *ms_nics_violation(const struct ms_nics *n)
{
	for (unsigned t = 0; t < MS_TRANSPORTS; t++)
		for (uint32_t i = 0; n->set[t] && i < n->set[t]->workers; i++)
			if (n->set[t]->worker[i].sums.violations)
				return n->set[t]->worker[i].violation;
	return NULL;
}

/* REQ(sim.check.counts) */
static void check_counts(struct ms_nic_set *set)
{
	struct ms_nic_sums sums = {0};
	uint64_t sent, taken;

	add_set(&sums, set);
	set->ops->count(set, &sent, &taken);
	if (sent != sums.sent || taken != sums.received)
		ms_nic_report_violation(&set->worker[0],
					"%s counts %llu packets sent and %llu received, NICs "
					"%llu and %llu",
					set->ops->name, (unsigned long long)sent,
					(unsigned long long)taken, (unsigned long long)sums.sent,
					(unsigned long long)sums.received);
}

void ms_nics_check_end(struct ms_nics *n)
{
	for (unsigned t = 0; t < MS_TRANSPORTS; t++)
		if (n->set[t])
			check_counts(n->set[t]);
}
