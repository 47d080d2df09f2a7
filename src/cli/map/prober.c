/* SPDX-License-Identifier: BSD-2-Clause */
/* prober.c - see prober.h. */
#include "cli/map/prober.h"

#include "base/bytes.h"
#include "fabric/usid.h"
#include "lab/ip_batch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Hosts that probe each link. */
#define WATCHERS 4u
/* Routes in one step, of all hosts: what a core can send and take in within a part of it. */
#define STREAMS_PER_STEP 100u
/* Every so many pairs one packet fills the MTU: some cables spoil only what is long. */
#define FULL_EVERY 16u
/* Nonces that are fetched from the system at once. */
#define NONCES 32u
/* What waits in a socket is taken in, but not for ever: others may send there too. */
#define RECEIVED_PER_STEP 4096u

/* A route that is probed, or plain packets of a host on a plane. */
struct stream {
	struct probe_book book;
	uint32_t route;	      /* of the map; MM_NO_ROUTE: plain packets */
	uint32_t host, plane; /* that sends, and the first plane */
	uint32_t asked;	      /* host that sends it back by back_to, or MM_NO_HOST */
	uint32_t end;	      /* host where it has to arrive */
	uint32_t by_port;     /* that it leaves by, 0: by its uSIDs */
	uint32_t end_port;    /* that it has to arrive by */
	uint8_t to[MF_ADDRESS_BYTES], back_to[MF_ADDRESS_BYTES];
	uint32_t pairs;
};

struct prober {
	const struct mf_topology *t;
	struct mm_map *map;
	struct stream *stream;
	uint32_t n, room;
	int *fd, *stray_fd; /* of each host; -1 is none */
	uint16_t *port;
	uint64_t step;
	uint32_t round_steps; /* from one pair to the next */
	uint64_t nonce[NONCES];
	uint32_t nonces_left;
	uint32_t full_bytes;
	struct prober_figures figures;
};

/* ---- the plan ---- */

/* The address that leads over the links from `first` on. */
static void carrier(const struct mf_topology *t, const struct mm_route_of *of, uint32_t first,
		    uint8_t out[MF_ADDRESS_BYTES])
{
	uint16_t usids[MM_ROUTE_USIDS];
	uint32_t plane, n = mm_route_usids(t, of, first, usids, &plane);

	memset(out, 0, MF_ADDRESS_BYTES);
	mb_store_be32(out, mf_usid_block(t, plane));
	for (uint32_t i = 0; i < n && i < MF_USIDS_MAX; i++)
		mb_store_be16(out + 4 + 2 * (size_t)i, usids[i]);
}

static void add_route(struct prober *p, const struct mm_route_of *of)
{
	struct stream *s = &p->stream[p->n++];

	s->route = mm_map_route(p->map, of, 0);
	s->host = s->end = of->witness;
	s->asked = of->peer;
	s->plane = mf_link_plane(p->t, of->link[0]);
	s->end_port = ml_ifindex(mf_link_reverse(of->link[of->links - 1]));
	carrier(p->t, of, 0, s->to);
	if (of->peer != MM_NO_HOST)
		carrier(p->t, of, 2, s->back_to);
}

/* Packets without uSIDs, to the host of the same number of another T0. */
static void add_plain(struct prober *p, uint32_t host, uint32_t plane)
{
	struct stream *s = &p->stream[p->n++];

	s->route = MM_NO_ROUTE;
	s->asked = MM_NO_HOST;
	s->host = host;
	s->plane = plane;
	s->end = (host + p->t->cfg.hosts_per_t0) % p->t->n_hosts;
	s->by_port = ml_ifindex(mf_link_host_t0(p->t, plane, host, false));
	s->end_port = ml_ifindex(mf_link_host_t0(p->t, plane, s->end, false));
	mf_address_of_host(p->t, s->end, s->to);
}

/* Bytes of a pair on the wire, on average. */
static uint32_t pair_bytes(const struct prober *p)
{
	return PROBE_PAIR * (PROBE_BYTES_MIN + PROBE_HEADER_BYTES) +
	       (p->full_bytes - PROBE_BYTES_MIN) / FULL_EVERY;
}

/* Which routes each host probes: all take part. How many; written up to max. */
static size_t plan_all(const struct mf_topology *t, struct mm_route_of *out, size_t max,
		       size_t *most)
{
	const struct mm_plan_cfg cfg = {.watchers = WATCHERS};
	bool *live = malloc(t->n_hosts * sizeof(*live));
	size_t n = 0;

	*most = 0;
	for (uint32_t host = 0; live && host < t->n_hosts; host++)
		live[host] = true;
	for (uint32_t host = 0; live && host < t->n_hosts; host++) {
		size_t own = mm_plan_routes(t, &cfg, host, live, out + (n < max ? n : max),
					    n < max ? max - n : 0);

		n += own;
		*most = own > *most ? own : *most;
	}
	free(live);
	return n;
}

/* From one pair to the next: what the rate allows, and what one process can do for all hosts. */
static void set_pace(struct prober *p, size_t most, uint64_t rate_bit_s)
{
	struct mm_plan_cfg cfg = {.watchers = WATCHERS,
				  .interval_ns = PROBER_STEP_NS,
				  .bytes = pair_bytes(p),
				  .bit_s_max = rate_bit_s};
	size_t streams = most + p->t->cfg.planes;
	uint32_t least = (p->room + STREAMS_PER_STEP - 1) / STREAMS_PER_STEP;

	p->round_steps =
		(uint32_t)((mm_plan_load_of(&cfg, streams).interval_ns + PROBER_STEP_NS - 1) /
			   PROBER_STEP_NS);
	if (p->round_steps < least)
		p->round_steps = least;
	cfg.interval_ns = p->round_steps * PROBER_STEP_NS;
	p->figures.interval_ns = cfg.interval_ns;
	p->figures.bit_s = mm_plan_load_of(&cfg, streams).bit_s;
}

static bool make_map(struct prober *p, uint32_t routes)
{
	struct mm_cfg cfg = mm_cfg_default(p->t, routes, p->figures.interval_ns);
	void *memory = malloc(mm_map_bytes(&cfg, p->t));

	p->map = memory ? mm_map_init(memory, &cfg, p->t) : NULL;
	return p->map;
}

static bool plan(struct prober *p, uint64_t rate_bit_s)
{
	/* Without room for them routes that come twice are counted twice. */
	size_t most, n, room = plan_all(p->t, NULL, 0, &most);
	struct mm_route_of *of = calloc(room + 1, sizeof(*of));
	uint32_t plain = p->t->n_t0s > 1 ? p->t->n_hosts * p->t->cfg.planes : 0;
	bool ok;

	n = of ? plan_all(p->t, of, room, &most) : 0;
	p->room = (uint32_t)n + plain;
	p->figures.routes = (uint32_t)n;
	p->figures.hosts = p->t->n_hosts;
	p->stream = calloc(p->room + 1, sizeof(*p->stream));
	set_pace(p, most, rate_bit_s);
	ok = n && n <= room && p->stream && make_map(p, (uint32_t)n);
	for (size_t i = 0; ok && i < n; i++)
		add_route(p, &of[i]);
	for (uint32_t i = 0; ok && i < plain; i++)
		add_plain(p, i % p->t->n_hosts, i / p->t->n_hosts);
	free(of);
	return ok;
}

static int *no_sockets(uint32_t n)
{
	int *fd = malloc(n * sizeof(*fd));

	for (uint32_t i = 0; fd && i < n; i++)
		fd[i] = -1;
	return fd;
}

static void close_sockets(int *fd, uint32_t n)
{
	for (uint32_t i = 0; fd && i < n; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	free(fd);
}

static int fill(struct prober *p, const struct ml_lab *lab, uint64_t rate_bit_s, struct ml_error *e)
{
	p->t = ml_lab_topology(lab);
	p->full_bytes = p->t->cfg.mtu - PROBE_HEADER_BYTES;
	p->fd = no_sockets(p->t->n_hosts);
	p->stray_fd = no_sockets(p->t->n_hosts);
	p->port = calloc(p->t->n_hosts, sizeof(*p->port));
	if (!p->fd || !p->stray_fd || !p->port || !plan(p, rate_bit_s))
		return ml_error_set(e, "no memory for the probes of %u hosts", p->t->n_hosts);
	return probe_sockets_open(lab, p->fd, p->port, e) || stray_sockets_open(lab, p->stray_fd, e)
		       ? -1
		       : 0;
}

struct prober *prober_open(const struct ml_lab *lab, uint64_t rate_bit_s, struct ml_error *e)
{
	struct prober *p = calloc(1, sizeof(*p));

	if (!p)
		ml_error_set(e, "no memory for a prober");
	if (p && fill(p, lab, rate_bit_s, e) == 0)
		return p;
	prober_close(p);
	return NULL;
}

void prober_close(struct prober *p)
{
	if (!p)
		return;
	close_sockets(p->fd, p->t->n_hosts);
	close_sockets(p->stray_fd, p->t->n_hosts);
	free(p->port);
	free(p->stream);
	free(p->map);
	free(p);
}

/* ---- a step ---- */

static uint64_t next_nonce(struct prober *p)
{
	if (!p->nonces_left) {
		/* Without randomness everybody could make answers up. */
		if (getrandom(p->nonce, sizeof(p->nonce), 0) != (ssize_t)sizeof(p->nonce))
			abort();
		p->nonces_left = NONCES;
	}
	return p->nonce[--p->nonces_left];
}

static void take_in(struct prober *p, uint32_t host, const struct probe_packet *packet)
{
	struct stream *s = packet->stream < p->n ? &p->stream[packet->stream] : NULL;
	enum probe_verdict verdict = PROBE_FORGED;

	if (s && packet->asks && s->asked == host) {
		struct probe_packet answer = *packet;

		answer.asks = false;
		probe_send(p->fd[host], s->back_to, p->port[s->end], 0, &answer);
		return;
	}
	if (s && !packet->asks && s->end == host && s->end_port == packet->port)
		verdict = probe_book_arrive(&s->book, packet->seq, packet->nonce, packet->whole);
	p->figures.got[verdict]++;
}

static void receive(struct prober *p)
{
	struct probe_packet packet;

	for (uint32_t host = 0; host < p->t->n_hosts; host++)
		for (uint32_t i = 0; i < RECEIVED_PER_STEP; i++) {
			int got = probe_receive(p->fd[host], &packet);

			if (got == 0)
				break;
			if (got < 0)
				p->figures.got[PROBE_FORGED]++;
			else
				take_in(p, host, &packet);
		}
}

/* Only what is under way says something: anybody may send what looks like a probe. */
static void take_stray(struct prober *p, uint32_t host, const struct probe_packet *packet,
		       uint64_t now_ns)
{
	struct stream *s = packet->stream < p->n ? &p->stream[packet->stream] : NULL;
	uint32_t link = packet->port - ML_IFINDEX_FIRST;

	if (!s || s->route == MM_NO_ROUTE || packet->asks || link >= p->t->n_links ||
	    !probe_book_has(&s->book, packet->seq, packet->nonce))
		return;
	mm_map_stray(p->map, host, mf_link_plane(p->t, link), s->end, now_ns);
}

static void receive_strays(struct prober *p, uint64_t now_ns)
{
	struct probe_packet packet;

	for (uint32_t host = 0; host < p->t->n_hosts; host++)
		for (uint32_t i = 0; i < RECEIVED_PER_STEP; i++) {
			int got = stray_receive(p->stray_fd[host], &packet);

			if (got == 0)
				break;
			if (got > 0)
				take_stray(p, host, &packet, now_ns);
		}
}

static void settle(struct prober *p, struct stream *s, uint64_t now_ns)
{
	struct mm_counts counts;

	if (!probe_book_settle(&s->book, p->step, &counts))
		return;
	p->figures.lost += counts.bad[MM_LOST];
	if (s->route == MM_NO_ROUTE)
		mm_map_plain(p->map, s->host, s->plane, counts.known[MM_LOST], counts.bad[MM_LOST],
			     now_ns);
	else
		mm_map_add(p->map, s->route, s->host, &counts, now_ns);
}

static void send_pair(struct prober *p, uint32_t number)
{
	struct stream *s = &p->stream[number];
	bool full = s->pairs++ % FULL_EVERY == number % FULL_EVERY;
	bool asks = s->asked != MM_NO_HOST;

	for (uint32_t i = 0; i < PROBE_PAIR; i++) {
		struct probe_packet packet = {
			.stream = number,
			.nonce = next_nonce(p),
			.asks = asks,
			.whole = true,
			.bytes = full && i == 0 ? p->full_bytes : PROBE_BYTES_MIN,
		};

		packet.seq = probe_book_send(&s->book, packet.nonce, p->step);
		p->figures.sent++;
		if (probe_send(p->fd[s->host], s->to, p->port[asks ? s->asked : s->end], s->by_port,
			       &packet)) {
			probe_book_unsend(&s->book);
			p->figures.sent--;
			p->figures.unsent++;
		}
	}
}

void prober_step(struct prober *p, uint64_t now_ns)
{
	receive(p);
	receive_strays(p, now_ns);
	for (uint32_t i = 0; i < p->n; i++)
		settle(p, &p->stream[i], now_ns);
	for (uint32_t i = (uint32_t)(p->step % p->round_steps); i < p->n; i += p->round_steps)
		send_pair(p, i);
	p->step++;
}

struct mm_map *prober_map(struct prober *p)
{
	return p->map;
}

const struct prober_figures *prober_figures(const struct prober *p)
{
	return &p->figures;
}
