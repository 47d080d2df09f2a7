/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_net.c - building a net and taking it down; looking at its links. */
#include "sim/kernel/worker.h"

#include <stdlib.h>

#include "base/bits.h"

#define FIRST_KEYS 256u
/* Windows for which a worker mostly has inboxes, for an estimate. */
#define INBOXES_EXPECTED UINT64_C(8)
/* A byte takes this long at the slowest speed there is a use for: 1 Mb/s. */
#define SLOWEST_BIT_S UINT64_C(1000000)
#define FASTEST_BIT_S UINT64_C(100000000000000)

/* The links that ports of a kind send on. */
static enum mf_link_kind link_of(enum ms_port_kind k)
{
	return k <= MS_PORT_T0_DOWN ? MF_HOST_T0 : k <= MS_PORT_T1_DOWN ? MF_T0_T1 : MF_T1_T2;
}

static bool kind_is_there(const struct mf_topology *t, enum ms_port_kind k)
{
	return link_of(k) != MF_T1_T2 || t->cfg.tiers == 3;
}

static const char *const kind_names[MS_PORT_KINDS] = {
	[MS_PORT_HOST_UP] = "host_up", [MS_PORT_T0_DOWN] = "t0_down", [MS_PORT_T0_UP] = "t0_up",
	[MS_PORT_T1_DOWN] = "t1_down", [MS_PORT_T1_UP] = "t1_up",     [MS_PORT_T2_DOWN] = "t2_down",
};

static uint64_t hop_ps(const struct mf_topology *t, enum ms_port_kind k)
{
	uint64_t ns = t->cfg.links[link_of(k)].latency_ns;

	return (ns + (k == MS_PORT_T0_DOWN ? 0 : t->cfg.switch_ns)) * MS_PS_PER_NS;
}

static bool queue_check(const struct ms_net_cfg *cfg, enum ms_port_kind k, char *why)
{
	const struct ms_queue_cfg *q = &cfg->queue[k];
	const struct mf_link_cfg *l = &cfg->topology.cfg.links[link_of(k)];

	if (q->ecn_max_bytes && q->ecn_min_bytes >= q->ecn_max_bytes)
		return ms_refuse(why, "queue %s: ecn_min = %u bytes: less than ecn_max, %u bytes",
				 kind_names[k], q->ecn_min_bytes, q->ecn_max_bytes);
	if (q->ecn_ppm > 1000000)
		return ms_refuse(why, "queue %s: ecn_ppm = %u: 0 to 1000000", kind_names[k],
				 q->ecn_ppm);
	if (l->bit_s < SLOWEST_BIT_S || l->bit_s > FASTEST_BIT_S)
		return ms_refuse(why, "links of %s: %llu bit/s: 1 Mb/s to 100 Tb/s", kind_names[k],
				 (unsigned long long)l->bit_s);
	if (hop_ps(&cfg->topology, k) == 0)
		return ms_refuse(
			why,
			"links of %s: latency 0: time goes by the smallest latency, at least "
			"1 ns",
			kind_names[k]);
	return true;
}

bool ms_net_cfg_check(const struct ms_net_cfg *cfg, char *why)
{
	const struct mf_topology *t = &cfg->topology;
	uint32_t ranks = cfg->ranks ? cfg->ranks->ranks : 1;
	struct ms_units units;

	if (t->n_hosts == 0 || t->n_hosts > MS_HOSTS_MAX)
		return ms_refuse(why, "hosts = %u: 1 to %u", t->n_hosts, MS_HOSTS_MAX);
	if (cfg->threads < 1 || cfg->threads > MS_THREADS_MAX)
		return ms_refuse(why, "threads = %u: 1 to %u", cfg->threads, MS_THREADS_MAX);
	if (ranks * (uint64_t)cfg->threads > UINT16_MAX)
		return ms_refuse(why, "%u ranks of %u threads: at most %u threads in all", ranks,
				 cfg->threads, UINT16_MAX);
	if (cfg->pfc.on && (cfg->pfc.xoff_bytes == 0 || cfg->pfc.xon_bytes > cfg->pfc.xoff_bytes ||
			    cfg->pfc.headroom_bytes > UINT32_MAX - cfg->pfc.xoff_bytes))
		return ms_refuse(
			why,
			"pfc: xoff = %u, xon = %u, headroom = %u bytes: xoff above 0, xon at most "
			"xoff, both together below 4 GiB",
			cfg->pfc.xoff_bytes, cfg->pfc.xon_bytes, cfg->pfc.headroom_bytes);
	if (cfg->trim_to_bytes == 0)
		return ms_refuse(why, "trim_to_bytes = 0: the length of a cut packet, 1 to 65535");
	for (uint32_t k = 0; k < MS_PORT_KINDS; k++)
		if (kind_is_there(t, (enum ms_port_kind)k) &&
		    !queue_check(cfg, (enum ms_port_kind)k, why))
			return false;
	ms_units_init(&units, t, ranks * cfg->threads);
	if (units.t0_ports > MS_UNIT_PORTS_MAX || units.t1_ports > MS_UNIT_PORTS_MAX ||
	    units.t2_ports > MS_UNIT_PORTS_MAX)
		return ms_refuse(why, "a switch of %u, %u or %u ports: at most %u", units.t0_ports,
				 units.t1_ports, units.t2_ports, MS_UNIT_PORTS_MAX);
	if (units.n_ports >= UINT32_C(1) << 30)
		return ms_refuse(why, "%u links: fewer than 2^30", units.n_ports);
	return true;
}

static void wires_init(struct ms_net *net)
{
	const struct mf_topology *t = &net->units.t;
	uint64_t least = MS_WINDOW_MAX_PS, most = 0;

	for (uint32_t i = 0; i < MS_PORT_KINDS; i++) {
		enum ms_port_kind k = (enum ms_port_kind)i;
		struct ms_wire *w = &net->wire[i];
		uint64_t span;

		if (!kind_is_there(t, k))
			continue;
		w->rate_q =
			(UINT64_C(8000000000000) << MS_RATE_SHIFT) / t->cfg.links[link_of(k)].bit_s;
		w->hop_ps = hop_ps(t, k);
		w->q = net->cfg.queue[i];
		if (w->q.ecn_max_bytes)
			w->ecn_scale = (((uint64_t)w->q.ecn_ppm << 32) / 1000000 << 16) /
				       (w->q.ecn_max_bytes - w->q.ecn_min_bytes);
		if (w->hop_ps < least)
			least = w->hop_ps;
		span = w->hop_ps + ms_wire_time(w, t->cfg.mtu);
		if (span > most)
			most = span;
	}
	net->window_ps = least;
	net->by_window = mf_div_of((uint32_t)least);
	net->slots = 4;
	while (net->slots < MS_SLOTS_MAX && net->slots < most / least + 3)
		net->slots *= 2;
}

static bool worker_init(struct ms_net *net, uint32_t number)
{
	struct ms_worker *worker = ms_map_bytes(sizeof(*worker));
	uint32_t n = net->units.n;

	net->worker[number] = worker;
	if (!worker)
		return false;
	worker->net = net;
	worker->number = number;
	worker->global = net->first_worker + number;
	worker->window = UINT64_MAX; /* the one before the first */
	ms_chunks_init(&worker->chunks, number);
	worker->inbox = ms_map_bytes((size_t)net->slots * n * sizeof(*worker->inbox));
	worker->marks = calloc((size_t)net->slots * net->mark_words, sizeof(*worker->marks));
	worker->now_marks = calloc(net->mark_words, sizeof(*worker->now_marks));
	worker->mine = calloc(net->mark_words, sizeof(*worker->mine));
	worker->due = calloc(net->units.n_groups, sizeof(*worker->due));
	worker->remote_packets = calloc(net->ranks, sizeof(*worker->remote_packets));
	worker->keys_room = FIRST_KEYS;
	worker->keys = malloc(FIRST_KEYS * sizeof(*worker->keys));
	worker->keys_other = malloc(FIRST_KEYS * sizeof(*worker->keys_other));
	if (!worker->inbox || !worker->marks || !worker->now_marks || !worker->mine ||
	    !worker->due || !worker->remote_packets || !worker->keys || !worker->keys_other)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (net->unit[i].worker == worker->global)
			worker->mine[i / 64] |= UINT64_C(1) << i % 64;
	return true;
}

static void worker_fini(struct ms_net *net, struct ms_worker *worker)
{
	if (!worker)
		return;
	ms_chunks_fini(&worker->chunks);
	ms_slab_fini(&worker->slab);
	ms_unmap_bytes(worker->inbox, (size_t)net->slots * net->units.n * sizeof(*worker->inbox));
	free(worker->marks);
	free(worker->now_marks);
	free(worker->mine);
	free(worker->due);
	for (uint32_t r = 0; worker->remote_packets && r < net->ranks; r++)
		free(worker->remote_packets[r].list.at);
	free(worker->remote_packets);
	free(worker->far.at);
	free(worker->ingresses.at);
	free(worker->faults.entry);
	free(worker->keys);
	free(worker->keys_other);
	ms_unmap_bytes(worker, sizeof(*worker));
}

static bool tables_init(struct ms_net *net)
{
	size_t hosts = net->units.t.n_hosts;

	net->unit = calloc(net->units.n, sizeof(*net->unit));
	net->port = ms_map_bytes(net->units.n_ports * sizeof(*net->port));
	net->wake_ps = ms_map_bytes(hosts * sizeof(*net->wake_ps));
	net->wake_window = ms_map_bytes(hosts * sizeof(*net->wake_window));
	net->worker = calloc(net->threads, sizeof(*net->worker));
	if (!net->unit || !net->port || !net->wake_ps || !net->wake_window || !net->worker)
		return false;
	for (uint32_t i = 0; i < net->units.n; i++) {
		ms_units_fill(&net->units, i, &net->unit[i]);
		net->unit[i].first_word = net->backlog_words;
		net->backlog_words += (net->unit[i].ports + 63) / 64;
	}
	net->backlog = calloc(net->backlog_words, sizeof(*net->backlog));
	if (!net->backlog)
		return false;
	for (uint32_t i = 0; i < net->threads; i++)
		if (!worker_init(net, i))
			return false;
	return true;
}

struct ms_net *ms_net_create(const struct ms_net_cfg *cfg, char *why)
{
	struct ms_net *net;

	if (!ms_net_cfg_check(cfg, why))
		return NULL;
	net = calloc(1, sizeof(*net));
	if (!net) {
		ms_refuse(why, "no memory for a net");
		return NULL;
	}
	net->cfg = *cfg;
	net->threads = cfg->threads;
	net->ranks = cfg->ranks ? cfg->ranks->ranks : 1;
	net->rank = cfg->ranks ? cfg->ranks->rank : 0;
	net->first_worker = net->rank * net->threads;
	net->next_edge_ps = cfg->edge_ps ? cfg->edge_ps : MS_NEVER;
	net->woken = MS_NEVER;
	ms_units_init(&net->units, &cfg->topology, net->ranks * net->threads);
	net->mark_words = (net->units.n + 63) / 64;
	wires_init(net);
	if (!tables_init(net) || !ms_pfc_open(net)) {
		ms_refuse(why, "no memory for %u ports and %u hosts", net->units.n_ports,
			  cfg->topology.n_hosts);
		ms_net_destroy(net);
		return NULL;
	}
	return net;
}

void ms_net_destroy(struct ms_net *net)
{
	size_t hosts;

	if (!net)
		return;
	hosts = net->units.t.n_hosts;
	for (uint32_t i = 0; net->worker && i < net->threads; i++)
		worker_fini(net, net->worker[i]);
	free(net->worker);
	free(net->unit);
	free(net->backlog);
	free(net->faults.at);
	free(net->now_faults.at);
	free(net->routing.dead);
	free(net->routing.change.at);
	ms_pfc_close(net);
	ms_unmap_bytes(net->port, net->units.n_ports * sizeof(*net->port));
	ms_unmap_bytes(net->wake_ps, hosts * sizeof(*net->wake_ps));
	ms_unmap_bytes(net->wake_window, hosts * sizeof(*net->wake_window));
	free(net);
}

uint64_t ms_net_memory(const struct ms_net_cfg *cfg, uint64_t in_flight)
{
	uint64_t ranks = cfg->ranks ? cfg->ranks->ranks : 1, bytes;
	struct ms_units u;

	ms_units_init(&u, &cfg->topology, (uint32_t)ranks * cfg->threads);
	bytes = u.n_ports * (uint64_t)sizeof(struct ms_port);
	bytes += u.n * (sizeof(struct ms_unit) + INBOXES_EXPECTED * sizeof(ms_tail) * cfg->threads);
	bytes += u.t.n_hosts * UINT64_C(16);
	if (cfg->pfc.on)
		bytes += u.n_ports *
			 (uint64_t)(sizeof(struct ms_ingress) + sizeof(struct ms_paused));
	/* Each unit that something comes to holds a chunk or two that are not full. */
	bytes += (u.n * UINT64_C(2) < in_flight ? u.n * UINT64_C(2) : in_flight) / ranks *
		 MS_CHUNK_BYTES;
	/* A packet, its share of the chunk's head, and as much again free at any time. */
	bytes += in_flight / ranks * sizeof(struct ms_packet) * 3 / 2;
	return bytes;
}

uint64_t ms_net_memory_used(const struct ms_net *net)
{
	uint64_t bytes = net->units.n_ports * (uint64_t)sizeof(*net->port) +
			 net->units.n * (uint64_t)sizeof(*net->unit) +
			 net->units.t.n_hosts * UINT64_C(16);

	for (uint32_t i = 0; i < net->threads; i++) {
		const struct ms_worker *l = net->worker[i];

		bytes += sizeof(*l) + l->chunks.bytes + l->slab.room * sizeof(struct ms_packet) +
			 (uint64_t)net->slots * (net->units.n + net->mark_words) * 8 +
			 (size_t)l->keys_room * 2 * sizeof(struct ms_key);
	}
	return bytes;
}

static struct ms_port *port_here(const struct ms_net *net, uint32_t link)
{
	if (link >= net->units.t.n_links ||
	    net->unit[ms_units_from(&net->units, link)].worker / net->threads != net->rank)
		return NULL;
	return &net->port[ms_units_port(&net->units, link)];
}

bool ms_net_link(const struct ms_net *net, uint32_t link, struct ms_link_info *info)
{
	const struct ms_port *port = port_here(net, link);
	const struct ms_link_fault *fault;
	uint32_t unit, number;

	if (!port)
		return false;
	number = ms_units_port(&net->units, link);
	unit = ms_units_from(&net->units, link);
	fault = ms_link_fault_find(&net->worker[net->unit[unit].worker - net->first_worker]->faults,
				   number, false);
	*info = (struct ms_link_info){
		.sent_bytes = port->sent_bytes,
		.ecn_marks = port->ecn_marks,
		.trims = port->trims,
		.drops = port->drops,
		.data_bytes = port->bytes[MS_DATA],
		.control_bytes = port->bytes[MS_CONTROL],
		.pauses = net->pfc.paused ? net->pfc.paused[number].pauses : 0,
		.paused_ps = ms_pfc_paused_ps(net, number, ms_net_now_ps(net)),
		.up = !fault || fault->down == 0,
		.paused = port->flags & MS_PORT_PAUSED,
	};
	return true;
}

void ms_net_set_tap(struct ms_net *net, uint32_t link, bool on)
{
	struct ms_port *port = port_here(net, link);

	if (port)
		port->flags =
			on ? port->flags | MS_PORT_TAPPED : port->flags & ~(uint32_t)MS_PORT_TAPPED;
}

/* There and back over the longest path, as long as it is empty. */
static uint64_t rtt_of(const struct mf_topology *t)
{
	uint64_t rtt_ps = 2 * (hop_ps(t, MS_PORT_HOST_UP) + hop_ps(t, MS_PORT_T0_DOWN) +
			       hop_ps(t, MS_PORT_T0_UP) + hop_ps(t, MS_PORT_T1_DOWN));

	if (t->cfg.tiers == 3)
		rtt_ps += 2 * (hop_ps(t, MS_PORT_T1_UP) + hop_ps(t, MS_PORT_T2_DOWN));
	return rtt_ps;
}

/* The bytes that a link sends in a time. */
static uint64_t bytes_in(uint64_t bit_s, uint64_t ps)
{
	return bit_s / 1000000 * ps / 8000000;
}

/*
 * Marks begin at a fifth of a BDP. Where links are slow that is a few packets, and no more than
 * meet by chance while every path is as good as any other: when each of n hosts of a T0 sends a
 * packet over each link in a round, in orders that know nothing of each other, a queue of x packets
 * is as likely as exp(-2 x^2 / n), one of sqrt(3 n) comes once in 400 rounds. Marks for these move
 * packets to where others are, and so cause more marks. The bound leaves room up to where packets
 * are cut.
 */
static uint32_t ecn_min_of(const struct mf_topology *t, uint32_t bdp)
{
	uint32_t packets = 1, chance;

	while (packets * packets < 3 * t->cfg.hosts_per_t0)
		packets++;
	chance = packets * t->cfg.mtu;
	if (chance > bdp / 2)
		chance = bdp / 2;
	return bdp / 5 > chance ? bdp / 5 : chance;
}

void ms_queue_defaults(const struct mf_topology *t, bool trimming,
		       struct ms_queue_cfg queue[MS_PORT_KINDS])
{
	uint64_t rtt_ps = rtt_of(t);

	for (uint32_t i = 0; i < MS_PORT_KINDS; i++) {
		enum ms_port_kind k = (enum ms_port_kind)i;
		const struct mf_link_cfg *l = &t->cfg.links[link_of(k)];
		uint64_t bdp = bytes_in(l->bit_s, rtt_ps) + t->cfg.mtu;
		uint32_t b = bdp > UINT32_MAX / 8 ? UINT32_MAX / 8 : (uint32_t)bdp;

		queue[i] = (struct ms_queue_cfg){0};
		if (k == MS_PORT_HOST_UP || !kind_is_there(t, k))
			continue;
		if (k != MS_PORT_T0_DOWN) { /* REQ(switch.ecn.not-last-hop) */
			queue[i].ecn_min_bytes = ecn_min_of(t, b);
			queue[i].ecn_max_bytes = b / 5 * 4;
			queue[i].ecn_ppm = 1000000;
		}
		if (trimming)
			queue[i].trim_bytes = k == MS_PORT_T0_DOWN ? b + b / 2 : b;
		queue[i].data_limit_bytes = 5 * b;
		queue[i].control_limit_bytes = b;
	}
}

/*
 * Headroom: what a link sends from when it has brought too much until it stops. The window may have
 * just begun; the pause waits for a packet on its way back; then what is on the wire still comes,
 * and a packet whose sending had begun. The window is no longer than any hop.
 */
void ms_pfc_defaults(const struct mf_topology *t, struct ms_pfc_cfg *pfc)
{
	uint64_t most = 0, fastest = 0;

	for (uint32_t i = 0; i < MS_PORT_KINDS; i++) {
		enum ms_port_kind k = (enum ms_port_kind)i;
		uint64_t bit_s = t->cfg.links[link_of(k)].bit_s, hop = hop_ps(t, k), need;

		if (!kind_is_there(t, k))
			continue;
		need = bytes_in(bit_s, 3 * hop + t->cfg.switch_ns * MS_PS_PER_NS) +
		       UINT64_C(4) * t->cfg.mtu;
		most = need > most ? need : most;
		fastest = bit_s > fastest ? bit_s : fastest;
	}
	*pfc = (struct ms_pfc_cfg){
		.xoff_bytes = (uint32_t)(bytes_in(fastest, rtt_of(t)) + t->cfg.mtu),
		.headroom_bytes = (uint32_t)most,
	};
}
