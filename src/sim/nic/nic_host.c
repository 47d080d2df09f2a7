/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_host.c - what a net calls for a host: a packet, a wake-up, a port that changed. The call goes
 * to the transport it is for, or to all; after it the transport has its round, and the host asks to
 * be woken for whichever transport wants it first.
 */
#include <string.h>

#include "base/bits.h"
#include "base/prefetch.h"
#include "sim/nic/nic_set.h"

struct ms_nic_host *ms_nic_host_alloc(struct ms_nic_set *set, struct ms_nic_worker *own,
				      uint32_t number, size_t size, size_t behind, void **extra)
{
	uint32_t slots = ms_workload_slots(set->workload, number);
	size_t head = mb_align64(size), table = mb_align64(slots * sizeof(void *));
	uint8_t *mem = ms_arena_alloc(&own->arena, head + table + behind);
	struct ms_nic_host *h = (struct ms_nic_host *)(void *)mem;

	if (!mem)
		return NULL;
	memset(mem, 0, head + table);
	*h = (struct ms_nic_host){
		.set = set,
		.worker = own,
		.ends = (struct ms_flow_end **)(void *)(mem + head),
		.number = number,
		.n_slots = slots,
		.outgoing = ms_workload_outgoing(set->workload, number),
		.wake_ps = MS_NEVER,
		.app = {.host = h, .number = number},
	};
	if (extra)
		*extra = mem + head + table;
	return h;
}

static struct ms_nic_host *get_host(struct ms_nic_set *set, const struct ms_worker *worker,
				    uint32_t number, uint64_t now_ps)
{
	struct ms_nic_host *h = set->host[number];
	struct ms_nic_worker *own;

	if (h)
		return h;
	own = &set->worker[ms_worker_number(worker)];
	h = set->ops->open_host(set, own, number, now_ps / MS_PS_PER_NS);
	if (!h) {
		own->no_memory = true;
		return NULL;
	}
	own->sums.hosts++;
	set->host[number] = h;
	return h;
}

/* ---- the wake-up ---- */

static uint64_t wake_of(const struct ms_nic_set *set, uint32_t host)
{
	const struct ms_nic_host *h = set->host[host];

	return h ? h->wake_ps : ms_ns_to_ps(ms_app_first_ns(&set->app, host));
}

static uint64_t first_wake(const struct ms_nics *n, uint32_t host)
{
	uint64_t first = MS_NEVER;

	for (unsigned t = 0; t < MS_TRANSPORTS; t++) {
		uint64_t at = n->set[t] ? wake_of(n->set[t], host) : MS_NEVER;

		first = at < first ? at : first;
	}
	return first;
}

static void run_round(struct ms_nic_host *h, struct ms_worker *worker, uint64_t now_ps)
{
	uint64_t at = h->set->ops->round(h, worker, now_ps);

	if (at < now_ps)
		at = now_ps;
	if (at == h->wake_ps)
		return;
	h->wake_ps = at;
	ms_wake_at(worker, first_wake(h->set->nics, h->number));
}

/* ---- what the net calls ---- */

static void on_receive(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		       const struct ms_packet *p)
{
	struct ms_nics *n = ctx;
	struct ms_nic_host *h = get_host(n->set[p->roce ? MS_ROCE : MS_MRC], worker, host, now_ps);

	if (!h)
		return;
	h->worker->sums.received++;
	h->set->ops->receive(h, worker, p, now_ps);
	run_round(h, worker, now_ps);
}

static void wake_transport(struct ms_nic_set *set, struct ms_worker *worker, uint32_t host,
			   uint64_t now_ps)
{
	struct ms_nic_host *h = get_host(set, worker, host, now_ps);

	if (!h)
		return;
	h->wake_ps = MS_NEVER;
	set->ops->wake(h, now_ps);
	run_round(h, worker, now_ps);
}

static void on_wake(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps)
{
	struct ms_nics *n = ctx;
	bool waits = false; /* a transport whose time has not come; this wake-up is used up */

	for (unsigned t = 0; t < MS_TRANSPORTS; t++) {
		struct ms_nic_set *set = n->set[t];

		if (set && wake_of(set, host) <= now_ps)
			wake_transport(set, worker, host, now_ps);
		else
			waits |= set != NULL;
	}
	if (waits)
		ms_wake_at(worker, first_wake(n, host));
}

static void on_carrier(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		       uint32_t plane, bool up)
{
	struct ms_nics *n = ctx;

	if (up)
		n->dark[host] &= ~(1u << plane);
	else
		n->dark[host] |= 1u << plane;
	for (unsigned t = 0; t < MS_TRANSPORTS; t++) {
		struct ms_nic_host *h = n->set[t] ? n->set[t]->host[host] : NULL;

		if (!h)
			continue;
		if (h->set->ops->carrier)
			h->set->ops->carrier(h, plane, up, now_ps);
		run_round(h, worker, now_ps);
	}
}

static void on_pfc_resumed(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
			   uint32_t plane)
{
	struct ms_nics *n = ctx;

	for (unsigned t = 0; t < MS_TRANSPORTS; t++) {
		struct ms_nic_host *h = n->set[t] ? n->set[t]->host[host] : NULL;

		if (!h)
			continue;
		if (h->set->ops->pfc_resumed)
			h->set->ops->pfc_resumed(h, worker, plane);
		run_round(h, worker, now_ps);
	}
}

static void on_prefetch(void *ctx, uint32_t host)
{
	const struct ms_nics *n = ctx;
	const struct ms_nic_prefetch *a = &n->prefetch[host];

	for (unsigned i = 0; i < MS_PREFETCH_PIECES; i++)
		mb_prefetch(a->at[i], a->size[i]);
}

void ms_nics_hosts(struct ms_nics *n, struct ms_hosts *hosts)
{
	hosts->ctx = n;
	hosts->receive = on_receive;
	hosts->wake = on_wake;
	hosts->carrier = on_carrier;
	hosts->pfc_resumed = on_pfc_resumed;
	hosts->prefetch = n->prefetch ? on_prefetch : NULL;
}

void ms_nics_start(struct ms_nics *n, struct ms_net *net)
{
	for (uint32_t host = 0; host < n->hosts; host++) {
		uint64_t first = ms_net_host_is_local(net, host) ? first_wake(n, host) : MS_NEVER;

		if (first != MS_NEVER)
			ms_net_wake(net, host, first);
	}
}
