/* SPDX-License-Identifier: BSD-2-Clause */
/* mixed.c - see mixed.h. */
#include "sim/run/mixed_hosts.h"

void ms_mixed_init(struct ms_mixed *m, struct ms_nics *nics, struct ms_roce *r,
		   const struct ms_workload *workload, uint32_t hosts, void *owner)
{
	*m = (struct ms_mixed){
		.nics = nics,
		.r = r,
		.workload = workload,
		.hosts = hosts,
		.owner = owner,
	};
	ms_nics_hosts(nics, &m->mrc);
	ms_roce_hosts(r, &m->roce);
}

static uint64_t wake_ps(const struct ms_mixed *m, uint32_t host)
{
	uint64_t a = ms_nics_wake_ps(m->nics, host), b = ms_roce_wake_ps(m->r, host);

	return a < b ? a : b;
}

static void on_receive(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		       const struct ms_packet *p)
{
	struct ms_mixed *m = ctx;
	const struct ms_hosts *to = p->roce ? &m->roce : &m->mrc;

	to->receive(to->ctx, worker, host, now_ps, p);
	ms_wake_at(worker, wake_ps(m, host));
}

static void on_wake(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps)
{
	struct ms_mixed *m = ctx;

	if (ms_nics_wake_ps(m->nics, host) <= now_ps)
		m->mrc.wake(m->mrc.ctx, worker, host, now_ps);
	if (ms_roce_wake_ps(m->r, host) <= now_ps)
		m->roce.wake(m->roce.ctx, worker, host, now_ps);
	ms_wake_at(worker, wake_ps(m, host));
}

static void on_carrier(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		       uint32_t plane, bool up)
{
	struct ms_mixed *m = ctx;

	m->mrc.carrier(m->mrc.ctx, worker, host, now_ps, plane, up);
	m->roce.carrier(m->roce.ctx, worker, host, now_ps, plane, up);
	ms_wake_at(worker, wake_ps(m, host));
}

static void on_pfc_resumed(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
			   uint32_t plane)
{
	struct ms_mixed *m = ctx;

	m->mrc.pfc_resumed(m->mrc.ctx, worker, host, now_ps, plane);
	m->roce.pfc_resumed(m->roce.ctx, worker, host, now_ps, plane);
	ms_wake_at(worker, wake_ps(m, host));
}

static void on_prefetch(void *ctx, uint32_t host)
{
	struct ms_mixed *m = ctx;

	m->mrc.prefetch(m->mrc.ctx, host);
}

void ms_mixed_hosts(struct ms_mixed *m, struct ms_hosts *hosts)
{
	hosts->ctx = m;
	hosts->receive = on_receive;
	hosts->wake = on_wake;
	hosts->carrier = on_carrier;
	hosts->pfc_resumed = on_pfc_resumed;
	hosts->prefetch = on_prefetch;
}

void ms_mixed_start(struct ms_mixed *m, struct ms_net *net)
{
	for (uint32_t host = 0; host < m->hosts; host++) {
		uint64_t first = ms_net_host_is_local(net, host) ? wake_ps(m, host) : MS_NEVER;

		if (first != MS_NEVER)
			ms_net_wake(net, host, first);
	}
}
