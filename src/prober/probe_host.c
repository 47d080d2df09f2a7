/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_host.c - see probe_host.h. */
#include "prober/probe_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/assert.h"
#include "prober/probe_socket.h"
#include "prober/probe_streams.h"

/* Nonces that are fetched from the system at once. */
#define NONCES 32u
/* What waits in a socket is taken in, but not for ever: others may send there too. */
#define RECEIVED_PER_STEP 4096u
/* Answers that may be sent at once, after silence: as many bytes as in so many steps. */
#define ANSWER_STEPS 10u
/* A neighbour is gone after so many questions without an answer. */
#define GONE_HELLOS 3u
/*
 * Hops of a plain packet: more than any way has, and odd: of a packet that goes round between a
 * T0 and a T1 the hops end at the T0, whose message needs nobody to forward it.
 */
#define PLAIN_HOPS 15u
/* Pairs of plain packets to a host before it is another's turn: ECMP sends each pair of hosts by
 * one uplink. */
#define PLAIN_TURN 4u

struct probe_host {
	struct probe_host_cfg cfg;
	struct probe_sink sink;
	struct probe_streams streams;
	struct probe_figures figures;
	int fd, stray_fd;
	uint64_t step;
	uint64_t nonce[NONCES];
	uint32_t nonces_left;
	uint64_t answer_bytes; /* that may be sent now */
	uint64_t spare_bytes;  /* of the host's rate, for routes in doubt */
	uint32_t doubted;      /* the stream that is next to have some of it */
	bool *live;	       /* n_hosts */
	uint64_t *heard;       /* of each neighbour: the step, one more; hosts_per_t0 */
};

static uint32_t first_neighbour(const struct probe_host *h)
{
	return mf_host_t0(h->cfg.t, h->cfg.host) * h->cfg.t->cfg.hosts_per_t0;
}

/* ---- begin and end ---- */

static int plan(struct probe_host *h)
{
	int err = probe_streams_plan(&h->streams, &h->cfg, h->live);

	h->figures.routes = h->streams.routes;
	h->figures.left_out = h->streams.left_out;
	h->figures.round_steps = h->streams.round_steps;
	h->figures.bit_s = h->streams.bit_s;
	return err;
}

static int fill(struct probe_host *h)
{
	const struct mf_topology *t = h->cfg.t;
	int err = probe_streams_init(&h->streams, &h->cfg);

	h->live = malloc(t->n_hosts * sizeof(*h->live));
	h->heard = calloc(t->cfg.hosts_per_t0, sizeof(*h->heard));
	if (err || !h->live || !h->heard)
		return ENOMEM;
	memset(h->live, true, t->n_hosts * sizeof(*h->live));
	h->figures.neighbours = h->figures.living = t->cfg.hosts_per_t0 - 1;
	return plan(h);
}

struct probe_host *probe_host_create(const struct probe_host_cfg *cfg,
				     const struct probe_sink *sink, char *why, size_t size)
{
	struct probe_host *h = calloc(1, sizeof(*h));
	int err;

	mb_assert(cfg->host < cfg->t->n_hosts && cfg->share > 0);
	if (!h) {
		snprintf(why, size, "no memory for a prober");
		return NULL;
	}
	*h = (struct probe_host){.cfg = *cfg, .sink = *sink, .fd = -1, .stray_fd = -1};
	err = fill(h);
	if (!err) {
		h->fd = probe_socket_open(&cfg->udp_port[cfg->host]);
		err = h->fd < 0 ? errno : 0;
	}
	if (err) {
		snprintf(why, size, "a socket for probes: %s", strerror(err));
		probe_host_destroy(h);
		return NULL;
	}
	h->stray_fd = stray_socket_open(mf_usid_dst(cfg->t, 0, cfg->host));
	return h;
}

void probe_host_destroy(struct probe_host *h)
{
	if (!h)
		return;
	if (h->fd >= 0)
		close(h->fd);
	if (h->stray_fd >= 0)
		close(h->stray_fd);
	probe_streams_fini(&h->streams);
	free(h->live);
	free(h->heard);
	free(h);
}

const struct probe_figures *probe_host_figures(const struct probe_host *h)
{
	return &h->figures;
}

bool probe_host_sees_strays(const struct probe_host *h)
{
	return h->stray_fd >= 0;
}

static struct probe_stream *stream_of(const struct probe_host *h, const struct probe_packet *p)
{
	if (p->from != h->cfg.host || p->stream >= h->streams.room)
		return NULL;
	return &h->streams.stream[p->stream];
}

bool probe_host_has(const struct probe_host *h, const struct probe_packet *packet)
{
	const struct probe_stream *s = stream_of(h, packet);

	return s && s->kind == PROBE_ROUTE && !packet->asks &&
	       probe_book_has(&s->book, packet->seq, packet->nonce);
}

bool probe_host_asks(const struct probe_host *h, const struct probe_packet *packet)
{
	const struct probe_stream *s = stream_of(h, packet);

	return s && s->kind == PROBE_ROUTE && packet->asks && packet->asked == s->asked &&
	       probe_book_has(&s->book, packet->seq, packet->nonce);
}

/* ---- what comes ---- */

/* The address by which a neighbour, or anybody where it is plain, gets its probe back. */
static bool way_back(const struct probe_host *h, const struct probe_packet *p,
		     uint8_t to[MF_ADDRESS_BYTES])
{
	const struct mf_topology *t = h->cfg.t;
	struct mm_route_of of = {.links = 2};

	if (p->asked != h->cfg.host || p->from >= t->n_hosts || p->from == h->cfg.host ||
	    p->plane >= t->cfg.planes)
		return false;
	if (p->plain) {
		mf_address_of_host(t, p->from, to);
		return true;
	}
	if (mf_host_t0(t, p->from) != mf_host_t0(t, h->cfg.host))
		return false;
	of.link[0] = mf_link_host_t0(t, p->plane, h->cfg.host, false);
	of.link[1] = mf_link_host_t0(t, p->plane, p->from, true);
	probe_carrier(t, &of, 0, to);
	return true;
}

static void answer(struct probe_host *h, const struct probe_packet *packet)
{
	struct probe_packet back = *packet;
	uint8_t to[MF_ADDRESS_BYTES];

	if (!way_back(h, packet, to)) {
		h->figures.got[PROBE_FORGED]++;
		return;
	}
	h->figures.asked++;
	if (h->sink.asked && !packet->plain)
		h->sink.asked(h->sink.ctx, h->cfg.host, packet);
	if (packet->bytes + PROBE_HEADER_BYTES > h->answer_bytes) {
		h->figures.unanswered++;
		return;
	}
	h->answer_bytes -= packet->bytes + PROBE_HEADER_BYTES;
	back.asks = false;
	probe_socket_send(h->fd, to, h->cfg.udp_port[packet->from],
			  packet->plain ? h->cfg.ifindex[packet->plane] : 0,
			  packet->plain ? PLAIN_HOPS : 0, &back);
}

static void take_in(struct probe_host *h, const struct probe_packet *packet)
{
	struct probe_stream *s = stream_of(h, packet);
	enum probe_verdict verdict = PROBE_FORGED;

	if (packet->asks) {
		answer(h, packet);
		return;
	}
	if (s && s->kind == PROBE_NOTHING) {
		verdict = PROBE_LATE; /* of a route that is another's now */
	} else if (s && (s->kind == PROBE_HELLO || packet->port == h->cfg.ifindex[s->back])) {
		verdict = probe_book_arrive(&s->book, packet->seq, packet->nonce, packet->whole,
					    packet->came_ns);
		if (verdict == PROBE_ANSWERED && s->kind == PROBE_HELLO)
			h->heard[s->asked - first_neighbour(h)] = h->step + 1;
	}
	h->figures.got[verdict]++;
}

static void receive(struct probe_host *h)
{
	struct probe_packet packet;

	for (uint32_t i = 0; i < RECEIVED_PER_STEP; i++) {
		int got = probe_socket_receive(h->fd, &packet);

		if (got == 0)
			return;
		if (got < 0)
			h->figures.got[PROBE_FORGED]++;
		else
			take_in(h, &packet);
	}
}

static uint32_t plane_of_port(const struct probe_host *h, uint32_t port)
{
	uint32_t plane = 0;

	while (plane < h->cfg.t->cfg.planes && h->cfg.ifindex[plane] != port)
		plane++;
	return plane;
}

/* What a switch says about a hop limit counts only for a packet that is under way. */
static void take_stray(struct probe_host *h, const struct probe_packet *packet)
{
	const struct probe_stream *s = stream_of(h, packet);
	uint32_t plane = plane_of_port(h, packet->port);

	if (plane == h->cfg.t->cfg.planes)
		return;
	if (!packet->looped) {
		h->sink.stray(h->sink.ctx, h->cfg.host, plane, packet);
		return;
	}
	if (s && s->kind == PROBE_PLAIN && packet->asked < h->cfg.t->n_hosts &&
	    probe_book_has(&s->book, packet->seq, packet->nonce))
		h->sink.loop(h->sink.ctx, h->cfg.host, s->plane, packet->asked);
}

static void receive_strays(struct probe_host *h)
{
	struct probe_packet packet;

	for (uint32_t i = 0; h->stray_fd >= 0 && i < RECEIVED_PER_STEP; i++) {
		int got = stray_socket_receive(h->stray_fd, &packet);

		if (got == 0)
			return;
		if (got > 0 && !packet.asks == !packet.looped)
			take_stray(h, &packet);
	}
}

/* ---- what goes ---- */

static uint64_t next_nonce(struct probe_host *h)
{
	if (!h->nonces_left) {
		/* Without randomness everybody could make answers up. */
		if (getrandom(h->nonce, sizeof(h->nonce), 0) != (ssize_t)sizeof(h->nonce))
			abort();
		h->nonces_left = NONCES;
	}
	return h->nonce[--h->nonces_left];
}

/* The next host of another T0, all in turn. */
static uint32_t next_far_host(const struct probe_host *h, uint32_t turn)
{
	const struct mf_topology *t = h->cfg.t;
	uint32_t own = t->cfg.hosts_per_t0, far = t->n_hosts - own;

	/* One T0 on for each turn, and within it another host whenever all were asked. */
	uint32_t n = turn % (t->n_t0s - 1) * own + (h->cfg.host + turn / (t->n_t0s - 1)) % own;

	return (first_neighbour(h) + own + n % far) % t->n_hosts;
}

static void aim(struct probe_host *h, struct probe_stream *s)
{
	const struct mf_topology *t = h->cfg.t;
	struct mm_route_of of = {.links = 2};

	if (s->kind == PROBE_PLAIN && s->pairs % PLAIN_TURN == 0) {
		s->asked = next_far_host(h, s->pairs / PLAIN_TURN);
		mf_address_of_host(t, s->asked, s->to);
	}
	if (s->kind == PROBE_HELLO) {
		s->back = s->pairs % t->cfg.planes;
		of.link[0] = mf_link_host_t0(t, s->back, h->cfg.host, false);
		of.link[1] = mf_link_host_t0(t, s->back, s->asked, true);
		probe_carrier(t, &of, 0, s->to);
	}
}

/* False: there was no room for it. */
static bool send_one(struct probe_host *h, uint32_t number, uint32_t bytes)
{
	struct probe_stream *s = &h->streams.stream[number];
	bool plain = s->kind == PROBE_PLAIN;
	struct probe_packet packet = {
		.from = h->cfg.host,
		.asked = s->asked,
		.stream = number,
		.nonce = next_nonce(h),
		.plane = s->back,
		.asks = s->asked != MM_NO_HOST,
		.plain = plain,
		.whole = true,
		.bytes = bytes,
	};

	packet.seq = probe_book_send(&s->book, packet.nonce, h->step);
	h->figures.sent++;
	if (probe_socket_send(h->fd, s->to, h->cfg.udp_port[packet.asks ? s->asked : h->cfg.host],
			      plain ? h->cfg.ifindex[s->plane] : 0, plain ? PLAIN_HOPS : 0,
			      &packet) == 0)
		return true;
	probe_book_unsend(&s->book);
	h->figures.sent--;
	h->figures.unsent++;
	return false;
}

static uint32_t full_bytes(const struct probe_host *h)
{
	return h->cfg.t->cfg.mtu - PROBE_HEADER_BYTES;
}

static bool is_turn(const struct probe_stream *s, uint32_t number, uint32_t every)
{
	return s->pairs % every == number % every;
}

/*
 * What leaves now is a train where its turn has come; and on a route that may be slow oftener, with
 * what the rate leaves.
 */
static bool is_train(struct probe_host *h, uint32_t number)
{
	const struct probe_stream *s = &h->streams.stream[number];
	uint64_t bytes = PROBE_TRAIN * (uint64_t)h->cfg.t->cfg.mtu;

	if (!h->cfg.link_bit_s || s->kind != PROBE_ROUTE)
		return false;
	if (is_turn(s, number, PROBE_TRAIN_EVERY))
		return true;
	if (s->slow_doubt <= h->step || !is_turn(s, number, PROBE_SLOW_EVERY) ||
	    bytes > h->spare_bytes)
		return false;
	h->spare_bytes -= bytes;
	return true;
}

static void send_train(struct probe_host *h, uint32_t number)
{
	struct probe_stream *s = &h->streams.stream[number];

	s->pairs++;
	probe_book_train(&s->book);
	for (uint32_t i = 0; i < PROBE_TRAIN; i++)
		if (!send_one(h, number, full_bytes(h)))
			return;
}

static void send_pair(struct probe_host *h, uint32_t number)
{
	struct probe_stream *s = &h->streams.stream[number];
	bool full;

	aim(h, s);
	full = s->kind != PROBE_HELLO && !(h->cfg.link_bit_s && s->kind == PROBE_ROUTE) &&
	       is_turn(s, number, PROBE_FULL_EVERY);
	s->pairs++;
	for (uint32_t i = 0; i < PROBE_PAIR; i++)
		send_one(h, number, full && i == 0 ? full_bytes(h) : PROBE_BYTES_MIN);
}

static void send_next(struct probe_host *h, uint32_t number)
{
	if (is_train(h, number))
		send_train(h, number);
	else
		send_pair(h, number);
}

/* Something was bad and not all: of what is dead more probes would say no more. */
static bool is_doubtful(const struct mm_counts *c)
{
	uint32_t bad = c->bad[MM_LOST] < c->known[MM_LOST] ? c->bad[MM_LOST] : 0;

	for (enum mm_symptom s = MM_CORRUPTED; s < MM_SYMPTOMS; s++)
		bad += c->bad[s];
	return bad > 0;
}

/* Whether two routes have a cable between switches in common. */
static bool share_cable(const struct mm_route_of *a, const struct mm_route_of *b)
{
	for (uint32_t i = 1; i + 1 < a->links; i++)
		for (uint32_t k = 1; k + 1 < b->links; k++)
			if (a->link[i] >> 1 == b->link[k] >> 1)
				return true;
	return false;
}

/*
 * Puts a route in doubt, and those that tell which of its cables it is. One that may be slow gets
 * more trains and no more pairs: they would fill it, and what is late looks lost.
 */
static void begin_doubt(struct probe_host *h, struct probe_stream *s, bool slow)
{
	uint64_t until = h->step + PROBE_DOUBT_STEPS;

	for (uint32_t i = 0; i < h->streams.room; i++) {
		struct probe_stream *o = &h->streams.stream[i];

		if (o != s && (o->kind != PROBE_ROUTE || !share_cable(&o->of, &s->of)))
			continue;
		if (slow)
			o->slow_doubt = until;
		else
			o->doubt = until;
	}
}

static void settle(struct probe_host *h, struct probe_stream *s)
{
	struct mm_counts counts;

	if (!probe_book_settle(&s->book, h->step, &counts))
		return;
	if (s->kind == PROBE_HELLO)
		return;
	h->figures.lost += counts.bad[MM_LOST];
	if (s->kind == PROBE_ROUTE && is_doubtful(&counts))
		begin_doubt(h, s, counts.bad[MM_SLOWED]);
	if (s->kind == PROBE_PLAIN)
		h->sink.plain(h->sink.ctx, h->cfg.host, s->plane, counts.known[MM_LOST],
			      counts.bad[MM_LOST]);
	else
		h->sink.route(h->sink.ctx, &s->of, &s->memo, &counts);
}

/* Whether a neighbour, or the host itself, is taken to be there. */
static bool lives(const struct probe_host *h, uint32_t i)
{
	uint64_t gone = (uint64_t)GONE_HELLOS * h->streams.hello_steps + PROBE_WAIT_STEPS;

	return first_neighbour(h) + i == h->cfg.host || h->heard[i] + gone > h->step;
}

/* Who has not answered for long is gone. Where nobody answers, it is this host that is alone. */
static void see_who_lives(struct probe_host *h)
{
	uint32_t first = first_neighbour(h), n = h->cfg.t->cfg.hosts_per_t0, living = 0;
	bool changed = false;

	for (uint32_t i = 0; i < n; i++)
		living += first + i != h->cfg.host && lives(h, i);
	h->figures.living = living;
	if (living == 0)
		return;
	for (uint32_t i = 0; i < n; i++) {
		changed |= h->live[first + i] != lives(h, i);
		h->live[first + i] = lives(h, i);
	}
	if (changed)
		plan(h); /* without memory it is tried again when another one leaves */
}

/* What the plan leaves of the host's rate: bytes of a step, and of a train, so that one can go. */
static void save_bytes(struct probe_host *h, uint64_t budget)
{
	uint64_t planned = h->streams.bit_s / 8 * PROBE_STEP_NS / PROBE_NS_PER_S;
	uint64_t most = budget + PROBE_TRAIN * (uint64_t)h->cfg.t->cfg.mtu;

	h->spare_bytes += budget > planned ? budget - planned : 0;
	if (h->spare_bytes > most)
		h->spare_bytes = most;
}

/* Sends some more on a route that is in doubt. False: the bytes that are left do not do. */
static bool doubt(struct probe_host *h, uint32_t number)
{
	const uint64_t bytes = (uint64_t)PROBE_PAIR * (PROBE_BYTES_MIN + PROBE_HEADER_BYTES);

	for (uint32_t i = 1; i < PROBE_PAIRS_MAX; i++) {
		/* The turn of a train is the plan's. */
		if (is_turn(&h->streams.stream[number], number, PROBE_TRAIN_EVERY))
			return true;
		if (bytes > h->spare_bytes)
			return false;
		h->spare_bytes -= bytes;
		send_pair(h, number);
	}
	return true;
}

/* Who gets nothing this time is first the next time. */
static void doubt_all(struct probe_host *h)
{
	for (uint32_t i = 0; i < h->streams.room; i++) {
		uint32_t number = (h->doubted + i) % h->streams.room;
		const struct probe_stream *s = &h->streams.stream[number];

		if (s->kind != PROBE_ROUTE || s->doubt <= h->step || s->slow_doubt > h->step)
			continue;
		if (!doubt(h, number)) {
			h->doubted = number;
			return;
		}
	}
}

void probe_host_step(struct probe_host *h)
{
	uint64_t budget = h->cfg.rate_bit_s / 8 * PROBE_STEP_NS / PROBE_NS_PER_S;

	h->answer_bytes += budget;
	if (h->answer_bytes > budget * ANSWER_STEPS + PROBE_BYTES_MAX)
		h->answer_bytes = budget * ANSWER_STEPS + PROBE_BYTES_MAX;
	receive(h);
	receive_strays(h);
	if (h->cfg.asks_who_lives && h->step % h->streams.hello_steps == h->streams.hello_steps - 1)
		see_who_lives(h);
	for (uint32_t i = 0; i < h->streams.room; i++) {
		struct probe_stream *s = &h->streams.stream[i];
		uint32_t every =
			s->kind == PROBE_HELLO ? h->streams.hello_steps : h->streams.round_steps;

		if (s->kind == PROBE_NOTHING)
			continue;
		settle(h, s);
		if (h->step % every == i % every)
			send_next(h, i);
	}
	save_bytes(h, budget);
	doubt_all(h);
	h->step++;
}
