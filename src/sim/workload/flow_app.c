/* SPDX-License-Identifier: BSD-2-Clause */
/* flow_app.c - the application on hosts; see flow_app.h. */
#include "sim/workload/flow_app.h"

#include "sim/kernel/sim_net.h"

void ms_app_init(struct ms_app *a, const struct ms_workload *w, enum ms_transport transport,
		 struct ms_graph_exec *const all[MS_PARTS_MAX])
{
	a->workload = w;
	a->transport = transport;
	a->plays = 0;
	for (uint32_t part = 0; part < ms_workload_parts(w); part++) {
		if (ms_workload_part_transport(w, part) != transport)
			continue;
		a->play[part] = all[part];
		a->plays += all[part] != NULL;
	}
}

/* ---- graphs ---- */

/* Graphs may have fewer hosts than the fabric. */
static bool takes_part(const struct ms_app *a, uint32_t part, uint32_t number)
{
	return a->play[part] && number < a->play[part]->g->hosts;
}

static uint64_t graphs_next_ns(const struct ms_app *a, uint32_t number)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t part = 0; a->plays > 0 && part < MS_PARTS_MAX; part++)
		if (takes_part(a, part, number))
			first = ms_min(first, ms_graph_exec_next_ns(a->play[part], number));
	return first;
}

/* Sends what has become ready at a host. */
static void send_due(const struct ms_app *a, const struct ms_app_host *h, uint32_t part,
		     uint64_t now_ps)
{
	uint32_t channel;

	while ((channel = ms_graph_exec_next_channel(a->play[part], h->number)) != MS_NODE_NONE)
		a->begin(h->host, ms_workload_flow_of(a->workload, part, channel), now_ps);
}

static void wake_graphs(const struct ms_app *a, const struct ms_app_host *h, uint64_t now_ps)
{
	for (uint32_t part = 0; a->plays > 0 && part < MS_PARTS_MAX; part++)
		if (takes_part(a, part, h->number)) {
			ms_graph_exec_advance(a->play[part], h->number, now_ps / MS_PS_PER_NS);
			send_due(a, h, part, now_ps);
		}
}

/* ---- time ---- */

uint64_t ms_app_first_ns(const struct ms_app *a, uint32_t number)
{
	return ms_min(ms_workload_first_ns(a->workload, number, a->transport),
		      graphs_next_ns(a, number));
}

uint64_t ms_app_next_ns(const struct ms_app *a, const struct ms_app_host *h)
{
	return ms_min(h->start_ns, graphs_next_ns(a, h->number));
}

/* Begins the flows whose time has come, and notes when the next ones do. */
static void start_flows(const struct ms_app *a, struct ms_app_host *h, uint64_t now_ps)
{
	const struct ms_workload *w = a->workload;
	uint32_t slot = 0;

	h->start_ns = UINT64_MAX;
	for (uint32_t part = 0; part < ms_workload_parts(w); part++) {
		uint32_t n = ms_workload_part_outgoing(w, part, h->number);
		bool ours = ms_workload_part_transport(w, part) == a->transport;

		for (uint32_t *next = &h->next_out[part]; ours && *next < n; (*next)++) {
			uint32_t id = ms_workload_flow_at(w, h->number, slot + *next);
			struct ms_flow f;

			ms_workload_flow(w, id, &f);
			if (f.start_ns > now_ps / MS_PS_PER_NS) {
				h->start_ns = ms_min(h->start_ns, f.start_ns);
				break;
			}
			a->begin(h->host, id, now_ps);
		}
		slot += n;
	}
}

void ms_app_begin_due(const struct ms_app *a, struct ms_app_host *h, uint64_t now_ps)
{
	if (now_ps / MS_PS_PER_NS >= h->start_ns)
		start_flows(a, h, now_ps);
	wake_graphs(a, h, now_ps);
}

/* ---- messages ---- */

static bool needs_met(const struct ms_app *a, const struct ms_app_host *h, uint32_t id,
		      const struct ms_flow *f, uint32_t k)
{
	for (uint32_t i = 0; i < f->n_needs; i++) {
		struct ms_dependency need;
		struct ms_flow on;
		uint32_t count;

		ms_workload_dependency(a->workload, id, i, &need);
		if (k < need.from)
			continue;
		ms_workload_flow(a->workload, need.flow, &on);
		count = ms_dependency_count(&need, k, on.messages);
		if (a->progress(h->host, need.end == MS_SENT ? on.src_slot : on.dst_slot,
				on.messages) < count)
			return false;
	}
	return true;
}

bool ms_app_can_post(const struct ms_app *a, const struct ms_app_host *h, uint32_t id,
		     const struct ms_flow *f, uint32_t posted)
{
	uint32_t part, channel;

	if (ms_workload_graph(a->workload, id, &part, &channel))
		return ms_graph_exec_has_transfer(a->play[part], channel);
	return posted < f->messages && needs_met(a, h, id, f, posted);
}

uint32_t ms_app_claim_message(const struct ms_app *a, uint32_t id, uint32_t posted)
{
	uint32_t part, channel;

	if (ms_workload_graph(a->workload, id, &part, &channel))
		return ms_graph_exec_claim_transfer(a->play[part], channel);
	return posted;
}

void ms_app_message_done(const struct ms_app *a, const struct ms_app_host *h, uint32_t id,
			 uint32_t k, enum ms_end end, uint64_t now_ps)
{
	uint32_t part, channel, on;

	if (ms_workload_graph(a->workload, id, &part, &channel)) {
		if (end == MS_SENT)
			ms_graph_exec_sent(a->play[part], channel, k, now_ps / MS_PS_PER_NS);
		else
			ms_graph_exec_received(a->play[part], channel, k, now_ps / MS_PS_PER_NS);
		send_due(a, h, part, now_ps);
		return;
	}
	for (uint32_t i = 0; (on = ms_workload_dependent(a->workload, id, end, i)) != MS_FLOW_NONE;
	     i++)
		a->begin(h->host, on, now_ps);
}
