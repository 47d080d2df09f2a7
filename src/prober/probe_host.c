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
#include "prober/probe_spare.h"
#include "prober/probe_streams.h"
#include "prober/probe_trains.h"
#include "prober/probe_turns.h"

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
/* Pairs of plain packets to a host in a row: ECMP sends each pair of hosts by one uplink. */
#define PLAIN_TURN 4u
/* Of a host that begins nothing is known: more pairs, lest small losses take long to be seen. */
#define BEGIN_TURNS 5u
#define BEGIN_PAIRS 3u

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
	struct probe_spare spare;
	struct probe_common *common, own;
	uint32_t doubted; /* the stream that is next to have some of what is spare */
	uint32_t train_next[PROBE_TURN_KINDS]; /* streams */
	bool *live;			       /* n_hosts */
	uint64_t *heard; /* of each neighbour: the step, one more; hosts_per_t0 */
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
	h->common = cfg->common ? cfg->common : &h->own;
	probe_spare_init(&h->spare, cfg);
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
	back.asked_at = probe_packet_stamp(packet->came_ns);
	probe_socket_send(h->fd, to, h->cfg.udp_port[packet->from],
			  packet->plain ? h->cfg.ifindex[packet->plane] : 0,
			  packet->plain ? PLAIN_HOPS : 0, &back);
}

/*
 * When a packet came, for the question how far those of a train are apart. A neighbour sends them
 * back in steps of its own, so it is when they came there, by its clock, which begins again often:
 * of a train over that moment nothing is known.
 */
static uint64_t came_at(const struct probe_stream *s, const struct probe_packet *packet)
{
	return s->asked == MM_NO_HOST ? packet->came_ns : UINT64_C(1000) * packet->asked_at;
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
					    came_at(s, packet));
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

static void aim(struct probe_host *h, struct probe_stream *s)
{
	const struct mf_topology *t = h->cfg.t;
	struct mm_route_of of = {.links = 2};

	if (s->kind == PROBE_PLAIN && s->turns % PLAIN_TURN == 0) {
		s->asked = probe_far_host(t, h->cfg.host, s->turns / PLAIN_TURN);
		mf_address_of_host(t, s->asked, s->to);
	}
	if (s->kind == PROBE_HELLO) {
		s->back = s->turns % t->cfg.planes;
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

/* What else is sent over what may be slow holds trains up, and is late itself. */
static bool may_be_slow(const struct probe_host *h, const struct probe_stream *s)
{
	return mm_doubts_touches(&h->common->doubts, &s->of, MM_DOUBT_SLOW, h->step);
}

static uint32_t full_bytes(const struct probe_host *h)
{
	return h->cfg.t->cfg.mtu - PROBE_HEADER_BYTES;
}

static void send_train(struct probe_host *h, struct probe_stream *s)
{
	uint32_t number = (uint32_t)(s - h->streams.stream);

	probe_trains_take_way(h->common, &h->cfg, &s->of, h->step);
	probe_book_train(&s->book);
	for (uint32_t i = 0; i < PROBE_TRAIN; i++)
		if (!send_one(h, number, full_bytes(h)))
			return;
}

static bool take_train(struct probe_host *h)
{
	return probe_spare_take(&h->spare, PROBE_TRAIN * (uint64_t)h->cfg.t->cfg.mtu);
}

/* What the plan has come is paid for; one before that takes what is spare. */
static bool send_train_in_turn(struct probe_host *h, struct probe_stream *s)
{
	if (!probe_trains_has_turn(s, &h->cfg, &h->streams) || may_be_slow(h, s) ||
	    !probe_trains_has_way(h->common, &s->of, h->step) ||
	    (!s->wants_train && !take_train(h)))
		return false;
	s->had_train = true;
	s->wants_train = false;
	send_train(h, s);
	return true;
}

static void send_pair(struct probe_host *h, uint32_t number, bool full)
{
	for (uint32_t i = 0; i < PROBE_PAIR; i++)
		send_one(h, number, full && i == 0 ? full_bytes(h) : PROBE_BYTES_MIN);
}

/* Sends so many pairs beside the plan's. False: the bytes that are left do not do. */
static bool send_spare(struct probe_host *h, uint32_t number, uint32_t pairs)
{
	const uint64_t bytes = (uint64_t)PROBE_PAIR * (PROBE_BYTES_MIN + PROBE_HEADER_BYTES);

	for (uint32_t i = 0; i < pairs; i++) {
		if (!probe_spare_take(&h->spare, bytes))
			return false;
		send_pair(h, number, false);
	}
	return true;
}

static void send_more_at_first(struct probe_host *h, uint32_t number)
{
	const struct probe_stream *s = &h->streams.stream[number];
	uint32_t pairs;

	/* What is in doubt meanwhile comes first. */
	if (s->kind != PROBE_ROUTE || s->turns >= BEGIN_TURNS || s->of.peer != MM_NO_HOST ||
	    h->common->doubts.until[MM_DOUBT_BAD] > h->step || may_be_slow(h, s))
		return;
	pairs = probe_spare_pairs(&h->cfg, &s->of);
	send_spare(h, number, pairs < BEGIN_PAIRS ? pairs : BEGIN_PAIRS);
}

/* What the plan has a stream send in its turn. */
static void send_next(struct probe_host *h, uint32_t number)
{
	struct probe_stream *s = &h->streams.stream[number];

	aim(h, s);
	if (!send_train_in_turn(h, s))
		send_pair(h, number,
			  s->kind != PROBE_HELLO && !probe_trains_has(s) &&
				  s->turns % PROBE_FULL_EVERY == number % PROBE_FULL_EVERY);
	send_more_at_first(h, number);
	s->turns++;
}

/* Of what may be slow trains tell, and what else is late there tells nothing. */
static void put_in_doubt(struct probe_host *h, const struct probe_stream *s,
			 const struct mm_counts *c)
{
	const struct mm_route_of of_train = probe_train_of(s);
	uint64_t until = h->step + PROBE_DOUBT_STEPS;

	if (c->bad[MM_SLOWED])
		mm_doubts_add(&h->common->doubts, &of_train, MM_DOUBT_SLOW, h->step, until);
	else if (c->known[MM_SLOWED])
		mm_doubts_not_slow(&h->common->doubts, &of_train, h->step, until);
	if (!c->bad[MM_SLOWED] && probe_counts_doubtful(c))
		mm_doubts_add(&h->common->doubts, &s->of, MM_DOUBT_BAD, h->step, until);
}

/* A train to a neighbour says how fast the way there is, and nothing of that back. */
static void tell_route(struct probe_host *h, struct probe_stream *s, struct mm_counts *counts)
{
	struct mm_counts there = {{0}, {0}};

	if (s->of.peer != MM_NO_HOST && counts->known[MM_SLOWED]) {
		const struct mm_route_of of = probe_train_of(s);

		there.known[MM_SLOWED] = counts->known[MM_SLOWED];
		there.bad[MM_SLOWED] = counts->bad[MM_SLOWED];
		counts->known[MM_SLOWED] = counts->bad[MM_SLOWED] = 0;
		h->sink.route(h->sink.ctx, &of, &s->memo_there, &there);
	}
	h->sink.route(h->sink.ctx, &s->of, &s->memo, counts);
}

static void settle(struct probe_host *h, struct probe_stream *s)
{
	struct mm_counts counts;

	if (s->kind == PROBE_ROUTE && probe_book_misses(&s->book, h->step))
		mm_doubts_add(&h->common->doubts, &s->of, MM_DOUBT_BAD, h->step,
			      h->step + PROBE_MISSING_STEPS);
	if (s->kind == PROBE_NOTHING || !probe_book_settle(&s->book, h->step, &counts) ||
	    s->kind == PROBE_HELLO)
		return;
	h->figures.lost += counts.bad[MM_LOST];
	if (s->kind == PROBE_ROUTE)
		put_in_doubt(h, s, &counts);
	if (s->kind == PROBE_PLAIN)
		h->sink.plain(h->sink.ctx, h->cfg.host, s->plane, counts.known[MM_LOST],
			      counts.bad[MM_LOST]);
	else
		tell_route(h, s, &counts);
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

static void doubt_slow(struct probe_host *h)
{
	struct probe_stream *s =
		probe_turns_take(h->train_next, &h->cfg, &h->streams, h->common, h->step);

	if (s && take_train(h))
		send_train(h, s);
}

/*
 * Who gets nothing this time is first the next time. What may be slow gets trains and no more
 * pairs: they would fill it, and what is late looks lost.
 */
static void doubt_all(struct probe_host *h)
{
	uint32_t room = h->streams.room, first = h->doubted;

	if (h->cfg.link_bit_s)
		doubt_slow(h);
	for (uint32_t i = 0; i < room; i++) {
		uint32_t number = (first + i) % room;
		const struct probe_stream *s = &h->streams.stream[number];

		if (s->kind == PROBE_ROUTE &&
		    mm_doubts_has(&h->common->doubts, &s->of, MM_DOUBT_BAD, h->step) &&
		    !may_be_slow(h, s) &&
		    !send_spare(h, number, probe_spare_pairs(&h->cfg, &s->of))) {
			h->doubted = number;
			return;
		}
	}
}

static void send_all(struct probe_host *h)
{
	for (uint32_t i = 0; i < h->streams.room; i++) {
		enum probe_kind kind = h->streams.stream[i].kind;
		uint32_t every =
			kind == PROBE_HELLO ? h->streams.hello_steps : h->streams.round_steps;

		if (kind != PROBE_NOTHING && h->step % every == i % every)
			send_next(h, i);
	}
}

void probe_host_receive(struct probe_host *h)
{
	uint64_t budget = probe_spare_step_bytes(h->cfg.rate_bit_s);

	h->answer_bytes += budget;
	if (h->answer_bytes > budget * ANSWER_STEPS + PROBE_BYTES_MAX)
		h->answer_bytes = budget * ANSWER_STEPS + PROBE_BYTES_MAX;
	receive(h);
	receive_strays(h);
	if (h->cfg.asks_who_lives && h->step % h->streams.hello_steps == h->streams.hello_steps - 1)
		see_who_lives(h);
	for (uint32_t i = 0; i < h->streams.room; i++)
		settle(h, &h->streams.stream[i]);
}

void probe_host_send(struct probe_host *h)
{
	send_all(h);
	probe_spare_step(&h->spare, &h->cfg, h->streams.bit_s);
	doubt_all(h);
	h->step++;
}
