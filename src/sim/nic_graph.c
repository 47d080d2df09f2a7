/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_graph.c - the NIC's side of graphs: it wakes them when a compute is over, tells them what has
 * passed, and sends what they say is ready.
 */
#include "sim/nic_state.h"

bool ms_nic_graphs_open(struct ms_nics *n)
{
	for (uint32_t part = 0; part < ms_workload_parts(n->workload); part++) {
		uint64_t start_ns;
		const struct ms_graph *g = ms_workload_part_graph(n->workload, part, &start_ns);

		if (!g)
			continue;
		n->play[part] = ms_play_create(g, start_ns);
		if (!n->play[part])
			return false;
		n->plays++;
	}
	return true;
}

void ms_nic_graphs_close(struct ms_nics *n)
{
	for (uint32_t part = 0; part < MS_PARTS_MAX; part++)
		ms_play_destroy(n->play[part]);
}

/* Graphs may have fewer hosts than the fabric; those over RoCE are not ours to play. */
static bool takes_part(const struct ms_nics *n, uint32_t part, uint32_t host)
{
	return n->play[part] && ms_workload_part_transport(n->workload, part) == MS_MRC &&
	       host < ms_graph_hosts(ms_play_graph(n->play[part]));
}

uint64_t ms_nic_graphs_next_ns(const struct ms_nics *n, uint32_t host)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t part = 0; n->plays > 0 && part < MS_PARTS_MAX; part++) {
		uint64_t next = takes_part(n, part, host) ? ms_play_next_ns(n->play[part], host)
							  : UINT64_MAX;

		first = next < first ? next : first;
	}
	return first;
}

/* Sends what has become ready at a host. */
static void send_due(struct ms_host *h, uint32_t part, uint64_t now_ns)
{
	struct ms_nics *n = h->nics;
	uint32_t channel;

	while ((channel = ms_play_due(n->play[part], h->number)) != MS_NODE_NONE)
		ms_conn_begin(h, ms_workload_flow_of(n->workload, part, channel), now_ns);
}

void ms_nic_graphs_wake(struct ms_host *h, uint64_t now_ns)
{
	struct ms_nics *n = h->nics;

	for (uint32_t part = 0; part < MS_PARTS_MAX; part++)
		if (takes_part(n, part, h->number)) {
			ms_play_wake(n->play[part], h->number, now_ns);
			send_due(h, part, now_ns);
		}
}

static uint32_t part_of(const struct ms_nics *n, const struct ms_play *play)
{
	uint32_t part = 0;

	while (n->play[part] != play)
		part++;
	return part;
}

void ms_nic_graph_passed(struct ms_host *h, struct ms_play *play, uint32_t channel, uint32_t k,
			 enum ms_end end, uint64_t now_ns)
{
	if (end == MS_SENT)
		ms_play_sent(play, channel, k, now_ns);
	else
		ms_play_received(play, channel, k, now_ns);
	send_due(h, part_of(h->nics, play), now_ns);
}

struct ms_play *ms_nics_play(const struct ms_nics *nics, uint32_t part)
{
	return part < MS_PARTS_MAX ? nics->play[part] : NULL;
}
