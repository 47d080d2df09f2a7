/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ideal_fct.c - what theory allows at best.
 *
 * A message of n packets over P planes takes ceil(n / P) packet times at the sender's ports, and
 * the latency of the path for the last packet. Flows that begin together share their hosts' ports:
 * the host that has most to send or to take decides. Collectives take their steps one after the
 * other. Switches are taken for large enough, and nothing for the answers.
 */
#include <stdlib.h>

#include "base/bits.h"
#include "fabric/fabric_path.h"
#include "sim/run/sim_run.h"
#include "sim/workload/graph.h"

#define MILLION UINT64_C(1000000)
/* METH, TSETH, RETH and the BTH. */
#define DATA_HEADERS 36u

static uint64_t send_ps(const struct mf_topology *t, enum mf_link_kind kind, uint64_t bytes)
{
	uint64_t bit_s = t->cfg.links[kind].bit_s, bits = bytes * 8;

	/* In two steps, since 10^12 times the bits would not fit. */
	return bits / bit_s * MILLION * MILLION + bits % bit_s * MILLION / (bit_s / MILLION);
}

uint64_t ms_latency_ns(const struct mf_topology *t, uint32_t src, uint32_t dst, uint32_t bytes)
{
	uint32_t t0 = t->cfg.hosts_per_t0, pod = t->hosts_per_pod;
	uint32_t up = src / t0 == dst / t0 ? 1 : src / pod == dst / pod ? 2 : 3;
	uint64_t ps = (uint64_t)(2 * up - 1) * t->cfg.switch_ns * MS_PS_PER_NS;

	for (uint32_t kind = 0; kind < up; kind++)
		ps += 2 * (send_ps(t, (enum mf_link_kind)kind, bytes) +
			   t->cfg.links[kind].latency_ns * MS_PS_PER_NS);
	return ps / MS_PS_PER_NS;
}

static bool is_roce_run(const struct ms_run *run)
{
	return run->cfg.workload[0].transport == MS_ROCE;
}

static uint32_t payload_bytes(const struct ms_run *run)
{
	return is_roce_run(run) ? run->cfg.roce.path_mtu : run->cfg.mrc.path_mtu;
}

/* What a data packet has in addition to its payload. */
static uint32_t header_bytes(const struct ms_run *run)
{
	return is_roce_run(run) ? MS_ROCE_BTH + run->cfg.roce.frame_bytes
				: DATA_HEADERS + run->cfg.mrc.frame_bytes;
}

/* Bytes on the wire of a flow of so many. */
static uint64_t wire_bytes(const struct ms_run *run, uint64_t bytes)
{
	uint64_t mtu = payload_bytes(run), packets = bytes ? (bytes + mtu - 1) / mtu : 1;

	return bytes + packets * header_bytes(run);
}

static uint32_t packet_bytes(const struct ms_run *run)
{
	return payload_bytes(run) + header_bytes(run);
}

/* Time to send so many bytes over all ports of a host, in whole packets. */
static uint64_t ports_ns(const struct ms_run *run, uint64_t wire)
{
	const struct mf_topology *t = &run->cfg.topology;
	uint64_t per_plane = (wire + t->cfg.planes - 1) / t->cfg.planes;

	return send_ps(t, MF_HOST_T0, per_plane) / MS_PS_PER_NS;
}

/* One message on an idle fabric, from its posting to its last byte. */
static uint64_t message_ns(const struct ms_run *run, const struct ms_flow *f)
{
	uint64_t mtu = payload_bytes(run), planes = run->cfg.topology.cfg.planes;
	uint64_t packets = f->message_bytes ? (f->message_bytes + mtu - 1) / mtu : 1;
	uint64_t rounds = (packets + planes - 1) / planes;
	uint32_t first =
		packets > 1 ? packet_bytes(run) : (uint32_t)wire_bytes(run, f->message_bytes);

	return (rounds - 1) * send_ps(&run->cfg.topology, MF_HOST_T0, first) / MS_PS_PER_NS +
	       ms_latency_ns(&run->cfg.topology, f->src, f->dst, first);
}

/* Flows that begin at one time: the busiest port, and the way of the last packet. */
static uint64_t all_at_once_ns(const struct ms_run *run)
{
	uint32_t hosts = run->cfg.topology.n_hosts, flows = ms_workload_flows(run->workload);
	uint64_t *out = calloc(2 * (size_t)hosts, sizeof(*out)), *in = out + hosts, most = 0;
	uint64_t way = 0;

	if (!out)
		return 0;
	for (uint32_t id = 0; id < flows; id++) {
		struct ms_flow f;
		uint64_t ns;

		ms_workload_flow(run->workload, id, &f);
		out[f.src] += wire_bytes(run, f.bytes);
		in[f.dst] += wire_bytes(run, f.bytes);
		most = out[f.src] > most ? out[f.src] : most;
		most = in[f.dst] > most ? in[f.dst] : most;
		ns = ms_latency_ns(&run->cfg.topology, f.src, f.dst, packet_bytes(run));
		way = ns > way ? ns : way;
	}
	free(out);
	return ports_ns(run, most) + way -
	       send_ps(&run->cfg.topology, MF_HOST_T0, packet_bytes(run)) / MS_PS_PER_NS;
}

/* A transfer of a graph: how long its source's ports are busy, and its way from there. */
static struct ms_ideal_cost transfer_cost(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes)
{
	const struct ms_run *run = ctx;
	const struct ms_flow f = {.src = src, .dst = dst, .messages = 1, .message_bytes = bytes};
	uint64_t all = message_ns(run, &f), busy = ports_ns(run, wire_bytes(run, bytes));

	return (struct ms_ideal_cost){busy < all ? busy : all, busy < all ? all - busy : 0};
}

static uint64_t graph_ns(const struct ms_run *run)
{
	const struct ms_workload_cfg *w = &run->cfg.workload[0];
	struct ms_graph_exec *play =
		ms_ideal_run(w->graph, w->start_ns, transfer_cost, (void *)(uintptr_t)run);
	uint64_t ns = play ? ms_ideal_end_ns(play) : 0;

	ms_graph_exec_destroy(play);
	return ns;
}

/* REQ(sim.theory) */
uint64_t ms_run_ideal_ns(const struct ms_run *run)
{
	const struct ms_workload_cfg *w = &run->cfg.workload[0];
	struct ms_flow first, outer;

	if (run->cfg.n_workloads != 1 || ms_workload_flows(run->workload) == 0)
		return 0;
	ms_workload_flow(run->workload, 0, &first);
	switch (w->kind) {
	case MS_PERMUTATION:
	case MS_INCAST:
	case MS_OUTCAST:
	case MS_ALL_TO_ALL:
		return all_at_once_ns(run);
	case MS_ALL_REDUCE_RING:
	case MS_ALL_GATHER:
	case MS_REDUCE_SCATTER:
		return first.messages * message_ns(run, &first);
	case MS_ALL_REDUCE_DOUBLING:
		return mb_log2(w->group_size) * message_ns(run, &first);
	case MS_ALL_REDUCE_HIERARCHICAL:
		ms_workload_flow(run->workload, w->group_size, &outer);
		return first.messages * message_ns(run, &first) +
		       outer.messages * message_ns(run, &outer);
	case MS_GRAPH:
		return graph_ns(run);
	case MS_ALL_REDUCE_TREE:
	case MS_LIST:
	case MS_WORKLOAD_KINDS:
		break;
	}
	return 0;
}
