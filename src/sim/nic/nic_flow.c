/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_flow.c - the ends of flows: begun, posted to, passed, whatever transport carries them. */
#include <stdarg.h>
#include <stdio.h>

#include "sim/nic/nic_set.h"

void ms_nic_report_violation(struct ms_nic_worker *own, const char *format, ...)
{
	va_list ap;

	if (own->sums.violations++ > 0)
		return;
	va_start(ap, format);
	vsnprintf(own->violation, sizeof(own->violation), format, ap);
	va_end(ap);
}

void ms_nic_report_no_memory(const struct ms_nic_host *h, uint32_t flow)
{
	h->worker->no_memory = true;
	ms_nic_report_violation(h->worker, "host %u: no memory for flow %u", h->number, flow);
}

void ms_flow_end_init(struct ms_flow_end *e, const struct ms_workload *w, uint32_t id,
		      const struct ms_flow *f, uint32_t depth, bool outgoing)
{
	uint32_t channel;
	const struct ms_graph *g = ms_workload_graph(w, id, NULL, &channel);

	*e = (struct ms_flow_end){
		.bytes = f->bytes,
		.message_bytes = f->message_bytes,
		.sizes = g ? ms_graph_sizes(g, channel) : NULL,
		.flow = id,
		.slot = outgoing ? f->src_slot : f->dst_slot,
		.messages = f->messages,
		.depth = f->messages < depth ? f->messages : depth,
		.outgoing = outgoing,
	};
}

uint32_t ms_nic_passed(const void *host, uint32_t slot, uint32_t messages)
{
	const struct ms_nic_host *h = host;
	const struct ms_flow_end *e = h->ends[slot];

	if (!e)
		return 0;
	return e == MS_FLOW_OVER ? messages : e->passed;
}

static struct ms_flow_end *open_end(struct ms_nic_host *h, uint32_t id, const struct ms_flow *f,
				    uint64_t now_ps)
{
	struct ms_flow_end *e = h->set->ops->open(h, id, f, now_ps);

	if (e)
		h->set->nics->source[id].start_ns = now_ps / MS_PS_PER_NS;
	return e;
}

void ms_nic_begin_flow(void *host, uint32_t id, uint64_t now_ps)
{
	struct ms_nic_host *h = host;
	const struct ms_app *app = &h->set->app;
	const struct ms_nic_ops *ops = h->set->ops;
	struct ms_flow_end *e;
	struct ms_flow f;
	bool any = false;

	ms_workload_flow(app->workload, id, &f);
	e = h->ends[f.src_slot];
	if (e == MS_FLOW_OVER || f.start_ns > now_ps / MS_PS_PER_NS || (e && e->failed))
		return;
	if (!e && ms_app_can_post(app, &h->app, id, &f, 0))
		e = open_end(h, id, &f, now_ps);
	while (e && e->posted - e->passed < e->depth &&
	       ms_app_can_post(app, &h->app, id, &f, e->posted)) {
		if (!ops->post(h, e, ms_app_claim_message(app, id, e->posted), now_ps))
			break;
		any = true;
	}
	if (any && ops->posted)
		ops->posted(h, e, now_ps);
}

static void end_flow(struct ms_nic_host *h, struct ms_flow_end *e, uint64_t now_ps)
{
	struct ms_source_record *r = &h->set->nics->source[e->flow];

	r->acked_ns = now_ps / MS_PS_PER_NS;
	r->retransmits = e->retransmits;
	h->worker->sums.acked++;
	h->ends[e->slot] = MS_FLOW_OVER;
	h->set->ops->close(h, e);
}

void ms_nic_message_acked(struct ms_nic_host *h, struct ms_flow_end *e, uint32_t k, uint64_t now_ps)
{
	uint32_t id = e->flow;

	if (++e->passed == e->messages)
		end_flow(h, e, now_ps);
	else
		ms_nic_begin_flow(h, id, now_ps);
	ms_app_message_done(&h->set->app, &h->app, id, k, MS_SENT, now_ps);
}

void ms_nic_flow_arrived(struct ms_nic_host *h, const struct ms_flow_end *e, uint64_t now_ps)
{
	h->set->nics->end_ns[e->flow] = now_ps / MS_PS_PER_NS;
	h->worker->sums.arrived++;
}

void ms_nic_flow_failed(struct ms_nic_host *h, struct ms_flow_end *e)
{
	if (e->failed)
		return;
	e->failed = true;
	h->worker->sums.failed++;
	if (e->outgoing)
		h->set->nics->source[e->flow].failed = 1;
}
