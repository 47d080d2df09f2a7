/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_nic.c - the adapter's loop: from the fabric into the engine, from the engine into the fabric.
 *
 * In a round a NIC takes packets from the engine for the ports that have room, then events, until
 * there is neither, and asks to be woken for the first of the engine's deadline, the next start of
 * a flow and the moment when a port runs dry.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/prng.h"
#include "fabric/fabric_path.h"
#include "sim/mrc/mrc_nic_state.h"
#include "wire/packet.h"

#define BATCH 16u

/* ---- out ---- */

/* REQ(sim.nic.room) */
static uint32_t free_ports(const struct ms_mrc_host *h, uint64_t now_ps)
{
	const struct ms_nic_set *set = h->nic.set;
	uint32_t free = 0;

	for (uint32_t p = 0; p < set->planes; p++)
		free |= (uint32_t)(h->free_ps[p] <= now_ps + set->packet_ps) << p;
	return free & ~set->dark[h->nic.number];
}

static void send_one(struct ms_mrc_host *h, struct ms_worker *worker, const struct mt_tx_desc *d)
{
	const struct mw_bth *bth = &d->pkt.bth;
	struct ms_packet p;

	p.at = p.port = 0;
	p.src = h->nic.number & (MS_HOSTS_MAX - 1);
	p.plane = d->port & MS_PLANE_MASK;
	p.ecmp = p.roce = 0;
	p.dst = ms_addr_host(&d->dst) & (MS_HOSTS_MAX - 1);
	p.cls = (uint32_t)d->tclass & 7;
	p.ce = p.corrupt = 0;
	p.ev = d->ev;
	p.bytes = (uint16_t)(ms_frame_bytes(&d->pkt) + h->mrc->cfg.frame_bytes);
	ms_frame_pack(&d->pkt, &p);
	if (bth->rtx && d->tclass != MW_DSCP_CONTROL)
		((struct ms_conn *)d->qp_user)->end.retransmits++;
	ms_send(worker, &p);
	h->free_ps[d->port] = ms_port_idle_ps(worker, d->port);
	h->nic.worker->sums.sent++;
}

/* As many packets at a time as there are ports with room, so that they get one each. */
static void send_all(struct ms_mrc_host *h, struct ms_worker *worker, uint64_t now_ps)
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
static uint64_t dry_ps(const struct ms_mrc_host *h, uint64_t now_ps)
{
	const struct ms_nic_set *set = h->nic.set;
	uint64_t first = MS_NEVER;

	for (uint32_t p = 0; p < set->planes; p++)
		if (h->free_ps[p] > now_ps + set->packet_ps && h->free_ps[p] < first &&
		    !(set->dark[h->nic.number] >> p & 1))
			first = h->free_ps[p];
	return first;
}

static uint64_t next_wake(struct ms_mrc_host *h, uint64_t now_ps)
{
	uint64_t at;

	h->deadline_ps = ms_ns_to_ps(mt_engine_deadline(h->engine));
	at = ms_min(h->deadline_ps, ms_ns_to_ps(ms_conn_linger_ns(h)));
	at = ms_min(at, ms_ns_to_ps(ms_app_next_ns(&h->nic.set->app, &h->nic.app)));
	if (mt_engine_tx_is_blocked(h->engine))
		at = ms_min(at, dry_ps(h, now_ps));
	return at;
}

static uint64_t run_round(struct ms_nic_host *nic, struct ms_worker *worker, uint64_t now_ps)
{
	struct ms_mrc_host *h = (struct ms_mrc_host *)nic;
	struct mt_event events[BATCH];
	uint32_t n;

	do {
		send_all(h, worker, now_ps);
		n = mt_engine_poll(h->engine, events, BATCH);
		for (uint32_t i = 0; i < n; i++)
			ms_conn_event(h, &events[i], now_ps);
	} while (n > 0);
	if (mt_engine_memory_wanted(h->engine) > 0)
		ms_mrc_grow_engine(h);
	return next_wake(h, now_ps);
}

/* ---- in ---- */

static uint8_t trim_of(const struct ms_packet *p)
{
	if (!ms_packet_cut(p))
		return MT_TRIM_NONE;
	return p->cls == MW_DSCP_TRIMMED_LASTHOP ? MT_TRIM_LASTHOP : MT_TRIM_MIDPATH;
}

/* Of a packet for the responder: its connection is made if this is the first. */
static void accept_first_packet(struct ms_mrc_host *h, const struct ms_packet *p, uint64_t now_ns)
{
	uint32_t slot = ms_frame_dqp(p) - MS_QPN_BASE;
	struct ms_flow_end *e;

	if (slot < h->nic.outgoing || slot >= h->nic.n_slots)
		return;
	e = h->nic.ends[slot];
	if (!e)
		ms_conn_accept(h, slot, now_ns);
	else if (e != MS_FLOW_OVER && ((struct ms_conn *)e)->lingers)
		((struct ms_conn *)e)->heard_ns = now_ns;
}

static void receive(struct ms_nic_host *nic, struct ms_worker *worker, const struct ms_packet *p,
		    uint64_t now_ps)
{
	struct ms_mrc_host *h = (struct ms_mrc_host *)nic;
	uint64_t now_ns = now_ps / MS_PS_PER_NS;
	struct mt_rx_meta meta = {
		.src = ms_addr_of(p->src),
		.ev = p->ev,
		.port = p->plane,
		.trim = trim_of(p),
		.ecn_ce = p->ce,
		.icrc_ok = !p->corrupt,
	};
	struct mw_packet pkt;

	(void)worker;
	ms_frame_unpack(p, &pkt);
	if (!p->corrupt && mw_opcode_info(pkt.bth.opcode)->flags & MW_OP_TO_RSP)
		accept_first_packet(h, p, now_ns);
	mt_engine_rx(h->engine, now_ns, &meta, &pkt, NULL);
}

/* ---- time and ports ---- */

static void wake(struct ms_nic_host *nic, uint64_t now_ps)
{
	struct ms_mrc_host *h = (struct ms_mrc_host *)nic;
	uint64_t now_ns = now_ps / MS_PS_PER_NS;

	if (now_ps >= h->deadline_ps)
		mt_engine_tick(h->engine, now_ns);
	ms_app_begin_due(&nic->set->app, &nic->app, now_ps);
	ms_conn_reap_idle(h, now_ns);
}

static void set_carrier(struct ms_nic_host *nic, uint32_t plane, bool up, uint64_t now_ps)
{
	struct ms_mrc_host *h = (struct ms_mrc_host *)nic;

	mt_engine_port_set(h->engine, now_ps / MS_PS_PER_NS, plane, up);
	h->free_ps[plane] = now_ps;
}

static void resume_port(struct ms_nic_host *nic, struct ms_worker *worker, uint32_t plane)
{
	((struct ms_mrc_host *)nic)->free_ps[plane] = ms_port_idle_ps(worker, plane);
}

/* ---- sums ---- */

static void add_stats(struct mt_stats *sum, const struct mt_stats *s)
{
#define ADD(name, text) sum->name += s->name;
	MT_STATS(ADD)
#undef ADD
}

void ms_mrc_stats(const struct ms_mrc *m, struct mt_stats *sum)
{
	*sum = (struct mt_stats){0};
	for (uint32_t i = 0; i < m->set.hosts; i++) {
		struct mt_stats stats;

		if (!m->set.host[i])
			continue;
		mt_engine_stats(((struct ms_mrc_host *)m->set.host[i])->engine, &stats);
		add_stats(sum, &stats);
	}
}

static uint64_t all_taken(const struct mt_stats *s)
{
	return s->rx_data_packets + s->rx_duplicates + s->rx_trimmed + s->rx_sacks + s->rx_acks +
	       s->rx_nacks + s->rx_probes + s->rx_ep_requests + s->rx_ep_responses +
	       s->drop_decode + s->drop_icrc + s->drop_endpoint + s->drop_no_qp +
	       s->drop_src_mismatch + s->drop_qp_state + s->drop_p_key + s->drop_old_psn +
	       s->drop_far_psn + s->drop_no_memory + s->drop_malformed + s->drop_bogus_ack +
	       s->drop_ep_response + s->drop_unknown_sender + s->drop_context_ids;
}

static uint64_t all_sent(const struct mt_stats *s)
{
	return s->tx_data_packets + s->tx_sacks + s->tx_acks + s->tx_nacks + s->tx_probes +
	       s->tx_ep_requests + s->tx_ep_responses;
}

static void count(const struct ms_nic_set *set, uint64_t *sent, uint64_t *taken)
{
	struct mt_stats s;

	ms_mrc_stats((const struct ms_mrc *)set, &s);
	*sent = all_sent(&s);
	*taken = all_taken(&s);
}

/* ---- life ---- */

/*
 * Draws the EVs of each plane without repeating one: the first steps of a shuffle.
 */
static void draw_evs(const struct ms_mrc *n, struct mb_prng *prng, uint32_t *order, uint32_t paths)
{
	for (uint32_t i = 0; i < paths; i++)
		order[i] = i;
	for (uint32_t i = 0; i < n->n_evs; i++) {
		uint32_t j = i + mb_prng_below(prng, paths - i), first = order[i];

		order[i] = order[j];
		order[j] = first;
	}
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	return b ? gcd(b, a % b) : a;
}

/*
 * The EVs of a plane in the order of their links, evenly apart, from `first` on. The step has no
 * divisor in common with the number of paths, so that the links of every tier are in it alike.
 */
static void space_evs(const struct ms_mrc *n, uint32_t first, uint32_t *order, uint32_t paths)
{
	uint32_t step = paths / n->n_evs;

	while (gcd(step, paths) != 1)
		step++;
	for (uint32_t i = 0; i < n->n_evs; i++)
		order[i] = (first + i * step) % paths;
}

/*
 * What a controller gives a host. Hosts under a T0 begin with links of their own, and since all go
 * on by the same step, they stay apart; where a T0 begins is random, or hosts with the same number
 * on different T0s would meet on the links down to a common destination.
 */
static void choose_evs(const struct ms_mrc *n, uint32_t set, struct mb_prng *prng, uint32_t *order,
		       struct mt_ev *evs)
{
	const struct mf_topology *t = &n->cfg.topology;
	uint32_t planes = n->set.planes, paths = mf_ev_count(t) / planes;
	struct mb_prng of_t0;
	uint32_t first;

	mb_prng_init(&of_t0, n->cfg.seed + set / t->cfg.hosts_per_t0);
	first = mb_prng_below(&of_t0, paths) + set % t->cfg.hosts_per_t0;
	for (uint32_t p = 0; p < planes; p++) {
		if (n->cfg.evs_ordered)
			space_evs(n, first, order, paths);
		else
			draw_evs(n, prng, order, paths);
		for (uint32_t i = 0; i < n->n_evs; i++)
			evs[i * planes + p] = (struct mt_ev){
				.value = mf_ev_nth(t, order[i] * planes + p),
				.port = (uint8_t)p,
			};
	}
}

/*
 * Hosts share sets, but none of those on the same T0, where the same uplinks would be loaded twice:
 * hosts with the same number modulo this, which is made a multiple of the hosts of a T0.
 */
#define EV_SETS_MAX 4096u

static uint32_t count_ev_sets(const struct ms_mrc *n)
{
	uint32_t of_t0 = n->cfg.topology.cfg.hosts_per_t0;
	uint32_t most = of_t0 < EV_SETS_MAX ? EV_SETS_MAX / of_t0 * of_t0 : of_t0;

	return n->set.hosts < most ? n->set.hosts : most;
}

static bool open_ev_sets(struct ms_mrc *n)
{
	uint32_t *order = calloc(mf_ev_count(&n->cfg.topology) / n->set.planes, sizeof(*order));
	size_t set = (size_t)n->n_evs * n->set.planes;
	struct mb_prng prng;

	mb_prng_init(&prng, n->cfg.seed);
	n->n_ev_sets = count_ev_sets(n);
	n->ev_sets = calloc(n->n_ev_sets * set, sizeof(*n->ev_sets));
	for (uint32_t i = 0; order && n->ev_sets && i < n->n_ev_sets; i++)
		choose_evs(n, i, &prng, order, n->ev_sets + i * set);
	free(order);
	return order && n->ev_sets;
}

static bool slots_fit(const struct ms_workload *w, uint32_t hosts, char *why)
{
	for (uint32_t i = 0; i < hosts; i++) {
		uint32_t slots = ms_workload_slots(w, i);

		if (slots > MS_SLOTS_MAX)
			return ms_refuse(why, "host %u has %u connections: at most %u", i, slots,
					 MS_SLOTS_MAX);
	}
	return true;
}

static void destroy(struct ms_nic_set *set)
{
	struct ms_mrc *m = (struct ms_mrc *)set;

	free(m->ev_sets);
	free(m);
}

static const struct ms_nic_ops ops = {
	.name = "MRC",
	.open_host = ms_mrc_host_open,
	.receive = receive,
	.wake = wake,
	.carrier = set_carrier,
	.pfc_resumed = resume_port,
	.round = run_round,
	.open = ms_conn_open,
	.post = ms_conn_post,
	.close = ms_conn_close,
	.count = count,
	.destroy = destroy,
};

struct ms_mrc *ms_mrc_create(const struct ms_mrc_cfg *cfg, struct ms_nics *nics, char *why)
{
	uint64_t longest = cfg->path_mtu + 40 + (uint64_t)cfg->frame_bytes;
	struct ms_mrc *m;

	if (!ms_mrc_check(cfg, why) || !slots_fit(nics->workload, nics->hosts, why))
		return NULL;
	m = calloc(1, sizeof(*m));
	if (m) {
		m->cfg = *cfg;
		m->n_evs = ms_mrc_evs(cfg);
		nics->prefetch = calloc(nics->hosts, sizeof(*nics->prefetch));
		if (ms_nic_set_init(&m->set, nics, MS_MRC, &ops, longest) && nics->prefetch &&
		    open_ev_sets(m))
			return m;
	}
	ms_refuse(why, "no memory for %u NICs", nics->hosts);
	return NULL;
}
