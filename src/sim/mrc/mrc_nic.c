/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic.c - the adapter's loop: from the fabric into the engine, from the engine into the fabric.
 *
 * After whatever happened at a host its NIC runs a round: it takes packets from the engine for the
 * ports that have room, then events, until there is neither, and asks to be woken for the first of
 * the engine's deadline, the next start of a flow and the moment when a port runs dry.
 */
#include "base/bits.h"
#include "base/prefetch.h"
#include "fabric/fabric_link.h"
#include "sim/mrc/mrc_nic_state.h"
#include "sim/mrc/packet_codec.h"
#include "wire/opcode.h"

#define BATCH 16u
#define NS_TO_PS(ns) ((ns) >= UINT64_MAX / MS_PS_PER_NS ? MS_NEVER : (ns)*MS_PS_PER_NS)

/* ---- out ---- */

/* REQ(sim.nic.room) */
static uint32_t free_ports(const struct ms_host *h, uint64_t now_ps)
{
	const struct ms_nics *n = h->nics;
	uint32_t free = 0;

	for (uint32_t p = 0; p < n->planes; p++)
		free |= (uint32_t)(h->free_ps[p] <= now_ps + n->packet_ps) << p;
	return free & ~n->dark[h->number];
}

static void send_one(struct ms_host *h, struct ms_worker *worker, const struct mt_tx_desc *d)
{
	const struct ms_nics *n = h->nics;
	const struct mw_bth *bth = &d->pkt.bth;
	struct ms_packet p;

	p.at = p.port = 0;
	p.src = h->number & (MS_HOSTS_MAX - 1);
	p.plane = d->port & MS_PLANE_MASK;
	p.ecmp = p.roce = 0;
	p.dst = ms_addr_host(&d->dst) & (MS_HOSTS_MAX - 1);
	p.cls = mw_dscp_class_of_opcode(bth->opcode, bth->rtx, n->cfg.trim_nack) & 7;
	p.ce = p.corrupt = 0;
	p.ev = d->ev;
	p.bytes = (uint16_t)(ms_frame_bytes(&d->pkt) + n->cfg.frame_bytes);
	ms_frame_pack(&d->pkt, &p);
	if (bth->rtx && d->tclass != MT_CLASS_CONTROL)
		((struct ms_conn *)d->qp_user)->retransmits++;
	ms_send(worker, &p);
	h->free_ps[d->port] = ms_port_idle_ps(worker, d->port);
	h->worker->sums.sent++;
}

/* As many packets at a time as there are ports with room, so that they get one each. */
static void send_all(struct ms_host *h, struct ms_worker *worker, uint64_t now_ps)
{
	struct mt_tx_desc descs[BATCH];
	uint32_t n, batch;

	do {
		uint32_t free = free_ports(h, now_ps);

		batch = free ? mb_popcount64(free) : BATCH;
		n = mt_engine_tx(h->engine, now_ps / MS_PS_PER_NS, free, descs, batch);
		for (uint32_t i = 0; i < n; i++)
			send_one(h, worker, &descs[i]);
	} while (n == batch);
}

/* When a port that has no room now has sent all it has; the engine waits for one. */
static uint64_t dry_ps(const struct ms_host *h, uint64_t now_ps)
{
	const struct ms_nics *n = h->nics;
	uint64_t first = MS_NEVER;

	for (uint32_t p = 0; p < n->planes; p++)
		if (h->free_ps[p] > now_ps + n->packet_ps && h->free_ps[p] < first &&
		    !(n->dark[h->number] >> p & 1))
			first = h->free_ps[p];
	return first;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void set_wake(struct ms_host *h, struct ms_worker *worker, uint64_t now_ps)
{
	uint64_t at;

	h->deadline_ps = NS_TO_PS(mt_engine_deadline(h->engine));
	at = min_u64(h->deadline_ps, NS_TO_PS(ms_conn_linger_ns(h)));
	at = min_u64(at, NS_TO_PS(ms_app_next_ns(&h->nics->app, &h->app)));
	if (mt_engine_tx_is_blocked(h->engine))
		at = min_u64(at, dry_ps(h, now_ps));
	if (at < now_ps)
		at = now_ps;
	if (at == h->wake_ps)
		return;
	h->wake_ps = at;
	ms_wake_at(worker, at);
}

static void run_round(struct ms_host *h, struct ms_worker *worker, uint64_t now_ps)
{
	struct mt_event events[BATCH];
	uint32_t n;

	do {
		send_all(h, worker, now_ps);
		n = mt_engine_poll(h->engine, events, BATCH);
		for (uint32_t i = 0; i < n; i++)
			ms_conn_event(h, &events[i], now_ps);
	} while (n > 0);
	if (mt_engine_memory_wanted(h->engine) > 0)
		ms_nic_grow_engine(h);
	set_wake(h, worker, now_ps);
}

/* ---- in ---- */

static uint8_t trim_of(const struct ms_packet *p)
{
	if (!ms_packet_cut(p))
		return MT_TRIM_NONE;
	return p->cls == MW_DSCP_TRIMMED_LASTHOP ? MT_TRIM_LASTHOP : MT_TRIM_MIDPATH;
}

/* Of a packet for the responder: its connection is made if this is the first. */
static void accept_first_packet(struct ms_host *h, const struct ms_packet *p, uint64_t now_ns)
{
	uint32_t slot = ms_frame_dqp(p) - MS_QPN_BASE;
	struct ms_conn *c;

	if (slot < h->outgoing || slot >= h->n_slots)
		return;
	c = h->conns[slot];
	if (!c)
		ms_conn_accept(h, slot, now_ns);
	else if (c != MS_CONN_DONE && c->lingers)
		c->heard_ns = now_ns;
}

static void on_receive(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		       const struct ms_packet *p)
{
	struct ms_nics *n = ctx;
	struct ms_worker_state *own = &n->worker[ms_worker_number(worker)];
	uint64_t now_ns = now_ps / MS_PS_PER_NS;
	struct ms_host *h = ms_nic_host(n, own, host, now_ns);
	struct mt_rx_meta meta = {
		.src = ms_addr_of(p->src),
		.ev = p->ev,
		.port = p->plane,
		.trim = trim_of(p),
		.ecn_ce = p->ce,
		.icrc_ok = !p->corrupt,
	};
	struct mw_packet pkt;

	if (!h)
		return;
	own->sums.received++;
	ms_frame_unpack(p, &pkt);
	if (!p->corrupt && mw_opcode_info(pkt.bth.opcode)->flags & MW_OP_TO_RSP)
		accept_first_packet(h, p, now_ns);
	mt_engine_rx(h->engine, now_ns, &meta, &pkt, NULL);
	run_round(h, worker, now_ps);
}

/* ---- time ---- */

static void on_wake(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps)
{
	struct ms_nics *n = ctx;
	uint64_t now_ns = now_ps / MS_PS_PER_NS;
	struct ms_host *h = ms_nic_host(n, &n->worker[ms_worker_number(worker)], host, now_ns);

	if (!h)
		return;
	h->wake_ps = MS_NEVER;
	if (now_ps >= h->deadline_ps)
		mt_engine_tick(h->engine, now_ns);
	ms_app_begin_due(&n->app, &h->app, now_ps);
	ms_conn_reap_idle(h, now_ns);
	run_round(h, worker, now_ps);
}

static void on_carrier(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		       uint32_t plane, bool up)
{
	struct ms_nics *n = ctx;
	struct ms_host *h = n->host[host];

	if (up)
		n->dark[host] &= ~(1u << plane);
	else
		n->dark[host] |= 1u << plane;
	if (!h)
		return;
	mt_engine_port_set(h->engine, now_ps / MS_PS_PER_NS, plane, up);
	h->free_ps[plane] = now_ps;
	run_round(h, worker, now_ps);
}

static void on_pfc_resumed(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
			   uint32_t plane)
{
	struct ms_nics *n = ctx;
	struct ms_host *h = n->host[host];

	if (!h)
		return;
	h->free_ps[plane] = ms_port_idle_ps(worker, plane);
	run_round(h, worker, now_ps);
}

static void on_prefetch(void *ctx, uint32_t host)
{
	const struct ms_nics *n = ctx;
	const struct ms_ahead *a = &n->ahead[host];

	for (unsigned i = 0; i < sizeof(a->size) / sizeof(a->size[0]); i++)
		mb_prefetch(a->at[i], a->size[i]);
}

void ms_nics_hosts(struct ms_nics *nics, struct ms_hosts *hosts)
{
	hosts->ctx = nics;
	hosts->receive = on_receive;
	hosts->wake = on_wake;
	hosts->carrier = on_carrier;
	hosts->pfc_resumed = on_pfc_resumed;
	hosts->prefetch = on_prefetch;
}

void ms_nics_start(struct ms_nics *nics, struct ms_net *net)
{
	for (uint32_t host = 0; host < nics->hosts; host++) {
		uint64_t first;

		if (!ms_net_host_is_local(net, host))
			continue;
		first = ms_app_first_ns(&nics->app, host);
		if (first != UINT64_MAX)
			ms_net_wake(net, host, NS_TO_PS(first));
	}
}

uint64_t ms_nics_wake_ps(const struct ms_nics *nics, uint32_t host)
{
	const struct ms_host *h = nics->host[host];

	return h ? h->wake_ps : NS_TO_PS(ms_app_first_ns(&nics->app, host));
}
