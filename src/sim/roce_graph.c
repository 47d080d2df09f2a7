/* SPDX-License-Identifier: BSD-2-Clause */
/* roce_graph.c - graphs over RoCE: as nic_graph.c for MRC. */
#include "sim/roce_state.h"

static bool takes_part(const struct ms_roce *r, uint32_t part, uint32_t host)
{
	return r->play[part] && host < ms_graph_hosts(ms_play_graph(r->play[part]));
}

uint64_t ms_roce_graphs_next_ns(const struct ms_roce *r, uint32_t host)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t part = 0; r->plays > 0 && part < MS_PARTS_MAX; part++) {
		uint64_t next = takes_part(r, part, host) ? ms_play_next_ns(r->play[part], host)
							  : UINT64_MAX;

		first = next < first ? next : first;
	}
	return first;
}

/* Sends what has become ready at a host. */
static void send_due(struct ms_rhost *h, uint32_t part, uint64_t now_ps)
{
	struct ms_roce *r = h->r;
	uint32_t channel;

	while ((channel = ms_play_due(r->play[part], h->number)) != MS_NODE_NONE)
		ms_rconn_begin(h, ms_workload_flow_of(r->workload, part, channel), now_ps);
}

void ms_roce_graphs_wake(struct ms_rhost *h, uint64_t now_ps)
{
	struct ms_roce *r = h->r;

	for (uint32_t part = 0; r->plays > 0 && part < MS_PARTS_MAX; part++)
		if (takes_part(r, part, h->number)) {
			ms_play_wake(r->play[part], h->number, now_ps / MS_PS_PER_NS);
			send_due(h, part, now_ps);
		}
}

void ms_roce_graph_passed(struct ms_rhost *h, uint32_t part, uint32_t channel, uint32_t k,
			  enum ms_end end, uint64_t now_ps)
{
	struct ms_play *play = h->r->play[part];

	if (end == MS_SENT)
		ms_play_sent(play, channel, k, now_ps / MS_PS_PER_NS);
	else
		ms_play_received(play, channel, k, now_ps / MS_PS_PER_NS);
	send_due(h, part, now_ps);
}
