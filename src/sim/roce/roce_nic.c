/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_nic.c - RoCE as a transport of the NICs: packets, wake-ups, sums; made and taken down.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/roce/roce_state.h"

/* IBTA: the unit of the ACK timeout. */
#define TIMEOUT_UNIT_NS 4096u

/* ---- what happens at a host ---- */

static uint64_t run_round(struct ms_nic_host *nic, struct ms_worker *worker, uint64_t now_ps)
{
	struct ms_rhost *h = (struct ms_rhost *)nic;
	uint64_t at = ms_rqp_send_all(h, worker, now_ps);

	at = ms_min(at, ms_ns_to_ps(ms_app_next_ns(&nic->set->app, &nic->app)));
	if (!mb_link_is_empty(&h->timers)) {
		const struct ms_rqp *q = mb_container_of(h->timers.next, struct ms_rqp, timer);

		at = ms_min(at, ms_ns_to_ps(q->timer_ns));
	}
	return at;
}

static void receive(struct ms_nic_host *nic, struct ms_worker *worker, const struct ms_packet *p,
		    uint64_t now_ps)
{
	struct ms_rhost *h = (struct ms_rhost *)nic;

	if (p->corrupt)
		h->stats->rx_corrupt++;
	else if (ms_rbody_kind(p) == MS_ROCE_DATA)
		ms_rrx_receive_data(h, worker, p, now_ps);
	else
		ms_rqp_receive_ack(h, p, now_ps);
}

static void wake(struct ms_nic_host *nic, uint64_t now_ps)
{
	ms_rqp_timeouts((struct ms_rhost *)nic, now_ps);
	ms_app_begin_due(&nic->set->app, &nic->app, now_ps);
}

/* ---- sums ---- */

static void add_stats(struct ms_roce_stats *sum, const struct ms_roce_stats *s)
{
#define ADD(name, text) sum->name += s->name;
	MS_ROCE_STATS(ADD)
#undef ADD
}

void ms_roce_stats(const struct ms_roce *r, struct ms_roce_stats *sum)
{
	*sum = (struct ms_roce_stats){0};
	for (uint32_t i = 0; i < r->set.workers; i++)
		add_stats(sum, &r->worker[i].stats);
}

static void count(const struct ms_nic_set *set, uint64_t *sent, uint64_t *taken)
{
	struct ms_roce_stats s;

	ms_roce_stats((const struct ms_roce *)set, &s);
	*sent = s.tx_data_packets + s.tx_acks + s.tx_naks + s.tx_cnps;
	*taken = s.rx_data_packets + s.rx_duplicates + s.rx_out_of_order + s.rx_acks + s.rx_naks +
		 s.rx_cnps + s.rx_late + s.rx_corrupt;
}

/* ---- life ---- */

static void destroy(struct ms_nic_set *set)
{
	struct ms_roce *r = (struct ms_roce *)set;

	free(r->worker);
	free(r);
}

static const struct ms_nic_ops ops = {
	.name = "RoCE",
	.open_host = ms_rhost_open,
	.receive = receive,
	.wake = wake,
	.round = run_round,
	.open = ms_rconn_open,
	.post = ms_rconn_post,
	.posted = ms_rqp_posted,
	.close = ms_rconn_close,
	.count = count,
	.destroy = destroy,
};

struct ms_roce *ms_roce_create(const struct ms_roce_cfg *cfg, struct ms_nics *nics, char *why)
{
	uint64_t longest = cfg->path_mtu + MS_ROCE_DATA_HEADERS_MAX + (uint64_t)cfg->frame_bytes;
	struct ms_roce *r;

	if (!ms_roce_check(cfg, why))
		return NULL;
	r = calloc(1, sizeof(*r));
	if (r) {
		r->cfg = *cfg;
		r->timeout_ns = (uint64_t)TIMEOUT_UNIT_NS << cfg->timeout;
		r->line_rate_q = (8 * MS_PS_PER_S << 20) / nics->port_bps;
		r->worker = calloc(nics->threads, sizeof(*r->worker));
		if (ms_nic_set_init(&r->set, nics, MS_ROCE, &ops, longest) && r->worker)
			return r;
	}
	ms_refuse(why, "no memory for %u NICs", nics->hosts);
	return NULL;
}
