/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce.c - what happens at a host: packets, wake-ups, carriers; after each of them all is sent that
 * may be, and the next wake-up asked for. And what is known of all hosts.
 */
#include "sim/roce/roce_state.h"

#define NS_TO_PS(ns) ((ns) >= UINT64_MAX / MS_PS_PER_NS ? MS_NEVER : (ns)*MS_PS_PER_NS)

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- what happens at a host ---- */

static void run_round(struct ms_rhost *h, struct ms_worker *worker, uint64_t now_ps)
{
	uint64_t at = ms_rqp_send_all(h, worker, now_ps);

	at = min_u64(at, NS_TO_PS(ms_app_next_ns(&h->r->app, &h->app)));
	if (!mb_link_is_empty(&h->timers)) {
		const struct ms_rqp *q = mb_container_of(h->timers.next, struct ms_rqp, timer);

		at = min_u64(at, NS_TO_PS(q->timer_ns));
	}
	if (at < now_ps)
		at = now_ps;
	if (at == h->wake_ps)
		return;
	h->wake_ps = at;
	ms_wake_at(worker, at);
}

static void on_receive(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		       const struct ms_packet *p)
{
	struct ms_roce *r = ctx;
	struct ms_rworker *own = &r->worker[ms_worker_number(worker)];
	struct ms_rhost *h = ms_rhost_get(r, own, host);

	if (!h)
		return;
	own->sums.received++;
	if (p->corrupt)
		own->sums.stats.rx_corrupt++;
	else if (ms_rbody_kind(p) == MS_ROCE_DATA)
		ms_rrx_receive_data(h, worker, p, now_ps);
	else
		ms_rqp_receive_ack(h, p, now_ps);
	run_round(h, worker, now_ps);
}

static void on_wake(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps)
{
	struct ms_roce *r = ctx;
	struct ms_rhost *h = ms_rhost_get(r, &r->worker[ms_worker_number(worker)], host);

	if (!h)
		return;
	h->wake_ps = MS_NEVER;
	ms_rqp_timeouts(h, now_ps);
	ms_app_begin_due(&r->app, &h->app, now_ps);
	run_round(h, worker, now_ps);
}

static void on_carrier(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		       uint32_t plane, bool up)
{
	struct ms_roce *r = ctx;

	if (up)
		r->dark[host] &= ~(1u << plane);
	else
		r->dark[host] |= 1u << plane;
	if (r->host[host])
		run_round(r->host[host], worker, now_ps);
}

static void on_pfc_resumed(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
			   uint32_t plane)
{
	struct ms_roce *r = ctx;

	(void)plane;
	if (r->host[host])
		run_round(r->host[host], worker, now_ps);
}

void ms_roce_hosts(struct ms_roce *r, struct ms_hosts *hosts)
{
	hosts->ctx = r;
	hosts->receive = on_receive;
	hosts->wake = on_wake;
	hosts->carrier = on_carrier;
	hosts->pfc_resumed = on_pfc_resumed;
}

uint64_t ms_roce_wake_ps(const struct ms_roce *r, uint32_t host)
{
	const struct ms_rhost *h = r->host[host];

	return h ? h->wake_ps : NS_TO_PS(ms_app_first_ns(&r->app, host));
}

/* ---- looking in ---- */

void ms_roce_flow(const struct ms_roce *r, uint32_t flow, struct ms_flow_record *record)
{
	const struct ms_rsource *s = &r->source[flow];

	*record = (struct ms_flow_record){
		.start_ns = s->start_ns,
		.acked_ns = s->acked_ns,
		.end_ns = r->end_ns[flow],
		.retransmits = s->retransmits,
		.failed = s->failed,
	};
}

uint64_t ms_roce_placed(const struct ms_roce *r, uint32_t flow)
{
	const struct ms_rconn *c;
	struct ms_flow f;

	ms_workload_flow(r->workload, flow, &f);
	c = r->host[f.dst] ? r->host[f.dst]->conns[f.dst_slot] : NULL;
	return c ? c->placed : 0;
}

static void add_stats(struct ms_roce_stats *sum, const struct ms_roce_stats *s)
{
#define ADD(name, text) sum->name += s->name;
	MS_ROCE_STATS(ADD)
#undef ADD
}

void ms_roce_sums(const struct ms_roce *r, struct ms_roce_sums *sums)
{
	*sums = (struct ms_roce_sums){
		.memory_bytes =
			r->hosts * (sizeof(*r->host) + sizeof(*r->dark)) +
			ms_workload_flows(r->workload) * (sizeof(*r->source) + sizeof(*r->end_ns)),
	};
	for (uint32_t i = 0; i < r->workers; i++) {
		const struct ms_roce_sums *s = &r->worker[i].sums;

		add_stats(&sums->stats, &s->stats);
		sums->sent += s->sent;
		sums->received += s->received;
		sums->arrived += s->arrived;
		sums->acked += s->acked;
		sums->failed += s->failed;
		sums->violations += s->violations;
		sums->memory_bytes += r->worker[i].arena.bytes;
	}
}

uint32_t ms_roce_arrived(const struct ms_roce *r)
{
	uint32_t arrived = 0;

	for (uint32_t i = 0; i < r->workers; i++)
		arrived += r->worker[i].sums.arrived;
	return arrived;
}

bool ms_roce_out_of_memory(const struct ms_roce *r)
{
	for (uint32_t i = 0; i < r->workers; i++)
		if (r->worker[i].no_memory)
			return true;
	return false;
}

const char *ms_roce_violation(const struct ms_roce *r)
{
	for (uint32_t i = 0; i < r->workers; i++)
		if (r->worker[i].sums.violations)
			return r->worker[i].violation;
	return NULL;
}

/* REQ(sim.check.counts) */
void ms_roce_check_end(struct ms_roce *r)
{
	struct ms_roce_sums sums;
	const struct ms_roce_stats *s = &sums.stats;
	uint64_t sent, taken;

	ms_roce_sums(r, &sums);
	sent = s->tx_data_packets + s->tx_acks + s->tx_naks + s->tx_cnps;
	taken = s->rx_data_packets + s->rx_duplicates + s->rx_out_of_order + s->rx_acks +
		s->rx_naks + s->rx_cnps + s->rx_late + s->rx_corrupt;
	if (sent != sums.sent || taken != sums.received)
		ms_roce_report_violation(
			&r->worker[0], "%llu packets sent and %llu taken, counted %llu, %llu",
			(unsigned long long)sums.sent, (unsigned long long)sums.received,
			(unsigned long long)sent, (unsigned long long)taken);
}

void ms_roce_progress(const struct ms_roce *r, uint32_t flow, uint32_t *posted, uint32_t *arrived)
{
	const struct ms_rhost *src, *dst;
	const struct ms_rconn *c;
	struct ms_flow f;

	ms_workload_flow(r->workload, flow, &f);
	src = r->host[f.src];
	dst = r->host[f.dst];
	c = src ? src->conns[f.src_slot] : NULL;
	*posted = c == MS_ROCE_DONE ? f.messages : c ? c->posted : 0;
	*arrived = dst ? ms_rconn_progress(dst, f.dst_slot, f.messages) : 0;
}
