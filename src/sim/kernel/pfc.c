/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pfc.c - the end of a link that receives: it counts what waits from the link and sends pauses. A
 * pause travels as a packet without length, as a fault does; fault_apply.c applies it.
 */
#include "sim/kernel/worker.h"

/* A frame of 64 bytes, preamble and gap. */
#define FRAME_BYTES 84u
/* Behind faults of the same instant. */
#define ORDER_BIT (UINT32_C(1) << 30)

bool ms_pfc_open(struct ms_net *net)
{
	const struct ms_pfc_cfg *cfg = &net->cfg.pfc;
	uint32_t xon = cfg->xoff_bytes - 2 * net->units.t.cfg.mtu;

	if (!cfg->on)
		return true;
	if (cfg->xoff_bytes < 2 * net->units.t.cfg.mtu)
		xon = 0;
	net->pfc.xon_bytes = cfg->xon_bytes ? cfg->xon_bytes : xon;
	net->pfc.limit_bytes = cfg->xoff_bytes + cfg->headroom_bytes;
	net->pfc.ingress = ms_map_bytes(net->units.n_ports * sizeof(*net->pfc.ingress));
	net->pfc.paused = ms_map_bytes(net->units.n_ports * sizeof(*net->pfc.paused));
	return net->pfc.ingress && net->pfc.paused;
}

void ms_pfc_close(struct ms_net *net)
{
	ms_unmap_bytes(net->pfc.ingress, net->units.n_ports * sizeof(*net->pfc.ingress));
	ms_unmap_bytes(net->pfc.paused, net->units.n_ports * sizeof(*net->pfc.paused));
}

/* ---- the end that receives ---- */

bool ms_pfc_has_room(const struct ms_worker *worker, const struct ms_packet *p)
{
	const struct ms_pfc *pfc = &worker->net->pfc;

	return (uint64_t)pfc->ingress[p->port].bytes + p->bytes <= pfc->limit_bytes;
}

static void list_ingress(struct ms_worker *worker, struct ms_ingress *in, uint32_t port)
{
	if (in->listed)
		return;
	in->listed = ms_grow_add(&worker->ingresses, &port);
	if (!in->listed)
		atomic_store_explicit(&worker->net->no_memory, true, memory_order_relaxed);
}

void ms_pfc_count_enqueue(struct ms_worker *worker, const struct ms_packet *p)
{
	struct ms_ingress *in = &worker->net->pfc.ingress[p->port];

	in->bytes += p->bytes;
	if (!in->asked && in->bytes > worker->net->cfg.pfc.xoff_bytes)
		list_ingress(worker, in, p->port);
}

void ms_pfc_count_dequeue(struct ms_worker *worker, const struct ms_packet *p)
{
	struct ms_ingress *in = &worker->net->pfc.ingress[p->port];

	in->bytes -= p->bytes;
	if (in->asked && in->bytes <= worker->net->pfc.xon_bytes)
		list_ingress(worker, in, p->port);
}

static void send_pause(struct ms_worker *worker, const struct ms_unit *unit, uint32_t port,
		       bool pause)
{
	struct ms_net *net = worker->net;
	struct ms_ingress *in = &net->pfc.ingress[port];
	uint32_t link = ms_units_link(&net->units, port);
	uint32_t back = ms_units_port(&net->units, mf_link_reverse(link));
	const struct ms_wire *wire = ms_wire_of(net, unit, back - unit->first_port);
	uint64_t t_ps = worker->end_ps;
	struct ms_packet *q;
	uint32_t at;

	t_ps = net->port[back].free_ps > t_ps ? net->port[back].free_ps : t_ps;
	t_ps = in->said_ps > t_ps ? in->said_ps : t_ps;
	t_ps += ms_wire_time(wire, FRAME_BYTES);
	in->said_ps = t_ps;
	in->asked = pause;
	worker->c.pauses += pause;
	q = ms_schedule_arrival(worker, ms_units_from(&net->units, link), t_ps + wire->hop_ps);
	at = q->at;
	*q = (struct ms_packet){.at = at, .port = back | ORDER_BIT, .head = MS_NOTICE_PFC};
	if (port < net->units.first_switch_port)
		q->dst = port / net->units.t.cfg.planes & (MS_HOSTS_MAX - 1);
	q->body[MS_PFC_BODY_PORT] = port;
	q->body[MS_PFC_BODY_PAUSE] = pause;
}

/* REQ(sim.pfc.thresholds) */
void ms_pfc_update(struct ms_worker *worker, struct ms_unit *unit)
{
	const struct ms_net *net = worker->net;
	const uint32_t *port = worker->ingresses.at;

	for (size_t i = 0; i < worker->ingresses.n; i++) {
		struct ms_ingress *in = &net->pfc.ingress[port[i]];

		in->listed = false;
		if (!in->asked && in->bytes > net->cfg.pfc.xoff_bytes)
			send_pause(worker, unit, port[i], true);
		else if (in->asked && in->bytes <= net->pfc.xon_bytes)
			send_pause(worker, unit, port[i], false);
	}
	worker->ingresses.n = 0;
}

uint64_t ms_pfc_paused_ps(const struct ms_net *net, uint32_t port, uint64_t now_ps)
{
	const struct ms_paused *state;

	if (!net->pfc.paused)
		return 0;
	state = &net->pfc.paused[port];
	return state->all_ps + (net->port[port].flags & MS_PORT_PAUSED && now_ps > state->since_ps
					? now_ps - state->since_ps
					: 0);
}
