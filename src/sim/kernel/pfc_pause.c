/* SPDX-License-Identifier: BSD-2-Clause */
/* pfc_pause.c - the end of a link that sends: it stops and resumes sending data, as PFC asks. */
#include "sim/kernel/worker.h"

static void go_on(struct ms_port *port, struct ms_paused *state, uint64_t t_ps)
{
	port->flags &= ~(uint32_t)MS_PORT_PAUSED;
	state->all_ps += t_ps - state->since_ps;
	if (port->free_ps < t_ps)
		port->free_ps = t_ps;
}

/* REQ(sim.pfc.pause) */
void ms_pfc_apply(struct ms_worker *worker, struct ms_unit *unit, uint64_t t_ps,
		  const struct ms_packet *p)
{
	const struct ms_hosts *hosts = &worker->net->cfg.hosts;
	uint32_t number = (uint32_t)p->body[MS_PFC_BODY_PORT];
	struct ms_port *port = &worker->net->port[number];
	struct ms_paused *state = &worker->net->pfc.paused[number];

	/* What began before this instant began as things were. */
	ms_port_advance(worker, unit, number - unit->first_port, t_ps - 1);
	if (p->body[MS_PFC_BODY_PAUSE]) {
		port->flags |= MS_PORT_PAUSED;
		state->since_ps = t_ps;
		state->pauses++;
		return;
	}
	go_on(port, state, t_ps);
	if (unit->tier == MF_HOST && hosts->pfc_resumed)
		hosts->pfc_resumed(hosts->ctx, worker, p->dst, t_ps,
				   number % worker->net->units.t.cfg.planes);
}
