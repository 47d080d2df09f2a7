/* SPDX-License-Identifier: BSD-2-Clause */
/* prober_world.c - see prober_world.h. */
#include "prober_world.h"

#include <stdlib.h>
#include <string.h>

#include "prober/probe_host.h"
#include "prober/probe_streams.h"
#include "support/wrapped_sockets.h"

#define HOSTS_MAX 32u
#define IFINDEX 7u
#define SICK_MAX 16u
#define ROUTES_MAX 4096u
#define FLIGHTS_MAX 16384u
/* Links of hosts carry twice a lab's pace, which is what they are sure to carry (docs/lab.md). */
#define LINK_PACES 2u
#define HOP_NS 20000u
/* From one packet that a host sends to the next: `mrc map` sends for all of them. */
#define SEND_NS 15000u
#define MILLION 1000000u

/* A packet on its way. */
struct flight {
	struct probe_packet packet;
	struct mm_route_of of;
	uint32_t links; /* of it that it crossed */
	uint32_t to;	/* host */
	bool twice;
};

/* When it comes to its next link, or its end; of equal times who was first. */
struct event {
	uint64_t at_ns;
	uint32_t number, flight;
};

struct link {
	uint32_t ppm[MM_SYMPTOMS];
	uint64_t bit_s, free_ns;
	bool holds;
	uint32_t held; /* a flight, until another one has passed */
};

static struct {
	struct mf_topology t;
	struct mm_map *map;
	struct probe_host *host[HOSTS_MAX];
	struct probe_streams streams[HOSTS_MAX]; /* as they have them */
	struct probe_common common;
	uint16_t udp_port[HOSTS_MAX];
	uint32_t ifindex[MF_PLANES_MAX];
	struct link *link;
	struct flight flight[FLIGHTS_MAX];
	uint32_t unused[FLIGHTS_MAX], n_unused; /* flights */
	struct event heap[FLIGHTS_MAX];		/* the next one first */
	uint32_t n_heap, events;
	struct probe_packet arrived[FLIGHTS_MAX];
	uint32_t to[FLIGHTS_MAX], n_arrived;
	uint32_t acts, taken; /* the host that receives or sends, and how far it has looked */
	uint64_t now_ns, sent_ns;
	struct mm_sick sick[SICK_MAX];
} w;

/* ---- the network ---- */

static bool harms(const struct link *l, enum mm_symptom symptom)
{
	return l->ppm[symptom] && test_rand_below(MILLION) < l->ppm[symptom];
}

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

static void push(uint32_t flight, uint64_t at_ns)
{
	const struct event e = {at_ns, w.events++, flight};
	uint32_t i = w.n_heap++;

	for (; i > 0 && is_before(&e, &w.heap[(i - 1) / 2]); i = (i - 1) / 2)
		w.heap[i] = w.heap[(i - 1) / 2];
	w.heap[i] = e;
}

static struct event pop(void)
{
	const struct event first = w.heap[0], last = w.heap[--w.n_heap];
	uint32_t i = 0;

	for (uint32_t next = 1; next < w.n_heap; next = 2 * i + 1) {
		if (next + 1 < w.n_heap && is_before(&w.heap[next + 1], &w.heap[next]))
			next++;
		if (!is_before(&w.heap[next], &last))
			break;
		w.heap[i] = w.heap[next];
		i = next;
	}
	w.heap[i] = last;
	return first;
}

static void leave(uint32_t flight)
{
	w.unused[w.n_unused++] = flight;
}

static void arrive(uint32_t flight, uint64_t at_ns)
{
	struct flight *f = &w.flight[flight];

	f->packet.came_ns = at_ns;
	for (uint32_t n = 0; n < 1u + f->twice; n++) {
		assert_true(w.n_arrived < FLIGHTS_MAX);
		w.to[w.n_arrived] = f->to;
		w.arrived[w.n_arrived++] = f->packet;
	}
	leave(flight);
}

/* Over its next link, where it may be lost or held; what it passes there goes on behind it. */
static void cross(uint32_t flight, uint64_t at_ns)
{
	struct flight *f = &w.flight[flight];
	struct link *l = &w.link[f->of.link[f->links++]];
	uint64_t bits = UINT64_C(8) * (f->packet.bytes + PROBE_HEADER_BYTES);

	if (harms(l, MM_LOST)) {
		leave(flight);
		return;
	}
	f->packet.whole = f->packet.whole && !harms(l, MM_CORRUPTED);
	f->twice = f->twice || harms(l, MM_DUPLICATED);
	l->free_ns = (l->free_ns > at_ns ? l->free_ns : at_ns) + bits * PROBE_NS_PER_S / l->bit_s;
	if (!l->holds && harms(l, MM_REORDERED)) {
		l->holds = true;
		l->held = flight;
		return;
	}
	push(flight, l->free_ns + HOP_NS);
	if (l->holds)
		push(l->held, l->free_ns + HOP_NS);
	l->holds = false;
}

/* All that happens until then. */
static void run_until(uint64_t ns)
{
	while (w.n_heap && w.heap[0].at_ns <= ns) {
		const struct event e = pop();
		const struct flight *f = &w.flight[e.flight];

		if (f->links == f->of.links)
			arrive(e.flight, e.at_ns);
		else
			cross(e.flight, e.at_ns);
	}
}

/* A neighbour sends back by the links behind those that lead to it. */
static struct mm_route_of way_of(const struct mm_route_of *of, bool asks, bool answers)
{
	const struct mm_route_of there = mm_route_there(of);
	struct mm_route_of back = {.links = of->links - there.links};

	if (asks)
		return there;
	if (!answers)
		return *of;
	memcpy(back.link, of->link + there.links, back.links * sizeof(back.link[0]));
	return back;
}

int __wrap_stray_socket_open(uint16_t own_usid)
{
	(void)own_usid;
	return -1;
}

int __wrap_probe_socket_send(int fd, const uint8_t to[16], uint16_t to_port, uint32_t by_port,
			     uint32_t hops, const struct probe_packet *packet)
{
	const struct probe_stream *s = &w.streams[packet->from].stream[packet->stream];
	struct flight *f;

	(void)fd;
	(void)to;
	(void)to_port;
	(void)by_port;
	(void)hops;
	assert_true(w.n_unused > 0);
	f = &w.flight[w.unused[--w.n_unused]];
	*f = (struct flight){.packet = *packet, .to = packet->asks ? packet->asked : packet->from};
	f->packet.port = IFINDEX + packet->plane;
	/* Plain ones go ways of their own, on which nothing happens to them. */
	if (!packet->plain)
		f->of = way_of(&s->of, packet->asks, w.acts != packet->from);
	push((uint32_t)(f - w.flight), w.sent_ns);
	w.sent_ns += SEND_NS;
	return 0;
}

int __wrap_probe_socket_receive(int fd, struct probe_packet *packet)
{
	(void)fd;
	while (w.taken < w.n_arrived && w.to[w.taken] != w.acts)
		w.taken++;
	if (w.taken == w.n_arrived)
		return 0;
	*packet = w.arrived[w.taken++];
	return 1;
}

/* ---- what hosts counted ---- */

static void take_route(void *ctx, const struct mm_route_of *of, uint32_t *memo,
		       const struct mm_counts *counts)
{
	(void)ctx;
	if (*memo == MM_NO_ROUTE)
		*memo = mm_map_route(w.map, of, w.now_ns);
	assert_true(mm_map_add(w.map, *memo, of->witness, counts, w.now_ns));
}

static void take_plain(void *ctx, uint32_t host, uint32_t plane, uint32_t sent, uint32_t lost)
{
	(void)ctx;
	assert_true(mm_map_plain(w.map, host, plane, sent, lost, w.now_ns));
}

static void take_asked(void *ctx, uint32_t host, const struct probe_packet *packet)
{
	(void)ctx;
	if (probe_host_asks(w.host[packet->from], packet))
		mm_map_asked(w.map, host, packet->from, w.now_ns);
}

/* ---- begin, a step, end ---- */

static void begin_host(uint32_t host, uint64_t pace_bit_s, uint32_t steps_least,
		       uint64_t rate_bit_s)
{
	const struct probe_sink sink = {
		.route = take_route, .plain = take_plain, .asked = take_asked};
	const struct probe_host_cfg cfg = {.t = &w.t,
					   .host = host,
					   .share = PROBE_SHARE_USUAL,
					   .rate_bit_s = rate_bit_s,
					   .steps_least = steps_least,
					   .ifindex = w.ifindex,
					   .udp_port = w.udp_port,
					   .link_bit_s = pace_bit_s,
					   .common = &w.common};
	bool live[HOSTS_MAX];
	char why[160];

	memset(live, true, sizeof(live));
	assert_int_equal(probe_streams_init(&w.streams[host], &cfg), 0);
	assert_int_equal(probe_streams_plan(&w.streams[host], &cfg, live), 0);
	w.host[host] = probe_host_create(&cfg, &sink, why, sizeof(why));
	assert_non_null(w.host[host]);
}

/* One that is twice as fast as a host's is so in a lab, too. */
static uint64_t rate_of(uint32_t link, uint64_t pace_bit_s)
{
	return (uint64_t)((double)(LINK_PACES * pace_bit_s) * (double)mf_link_bit_s(&w.t, link) /
			  (double)w.t.cfg.links[MF_HOST_T0].bit_s);
}

void prober_world_begin(const char *preset, uint64_t pace_bit_s, uint32_t steps_least)
{
	prober_world_begin_at(preset, pace_bit_s, steps_least, PROBE_RATE_USUAL);
}

void prober_world_begin_at(const char *preset, uint64_t pace_bit_s, uint32_t steps_least,
			   uint64_t rate_bit_s)
{
	struct mm_cfg cfg;

	memset(&w, 0, sizeof(w));
	w.t = fabric(preset);
	assert_true(w.t.n_hosts <= HOSTS_MAX);
	for (uint32_t flight = 0; flight < FLIGHTS_MAX; flight++)
		leave(flight);
	w.link = calloc(w.t.n_links, sizeof(*w.link));
	assert_non_null(w.link);
	for (uint32_t link = 0; link < w.t.n_links; link++)
		w.link[link].bit_s = rate_of(link, pace_bit_s);
	for (uint32_t plane = 0; plane < w.t.cfg.planes; plane++)
		w.ifindex[plane] = IFINDEX + plane;
	for (uint32_t host = 0; host < w.t.n_hosts; host++)
		begin_host(host, pace_bit_s, steps_least, rate_bit_s);
	cfg = mm_cfg_default(&w.t, ROUTES_MAX,
			     probe_host_figures(w.host[0])->round_steps * PROBE_STEP_NS);
	w.map = mm_map_init(malloc(mm_map_bytes(&cfg, &w.t)), &cfg, &w.t);
	/* Rounds begin anywhere in the map's windows. */
	w.now_ns = PROBE_NS_PER_S * 1000 + test_rand_below(PROBE_NS_PER_S);
}

void prober_world_end(void)
{
	for (uint32_t host = 0; host < w.t.n_hosts; host++) {
		probe_host_destroy(w.host[host]);
		probe_streams_fini(&w.streams[host]);
	}
	free(w.link);
	free(w.map);
}

void prober_world_fault(const struct prober_fault *fault)
{
	struct mm_part part;
	struct mf_error error;

	if (!mm_part_find(&w.t, fault->target, &part, &error))
		fail_msg("no part %s", fault->target);
	part.direction = fault->direction;
	for (uint32_t link = 0; link < w.t.n_links; link++) {
		if (!mm_part_has(&w.t, &part, link))
			continue;
		w.link[link].ppm[fault->symptom] = fault->ppm;
		if (fault->bit_s)
			w.link[link].bit_s = fault->bit_s;
	}
}

/* Each host is handed what came to it by now. */
static void receive(void)
{
	run_until(w.now_ns);
	for (w.acts = 0; w.acts < w.t.n_hosts; w.acts++) {
		w.taken = 0;
		probe_host_receive(w.host[w.acts]);
	}
	w.n_arrived = 0;
}

void prober_world_pause(uint64_t ns)
{
	w.now_ns += ns;
}

const struct mm_sick *prober_world_step(size_t *n)
{
	w.now_ns += PROBE_STEP_NS;
	/* What sends for longer is late with its next step. */
	if (w.now_ns < w.sent_ns)
		w.now_ns = w.sent_ns;
	w.sent_ns = w.now_ns;
	receive();
	*n = mm_map_judge(w.map, w.now_ns, w.sick, SICK_MAX);
	for (w.acts = 0; w.acts < w.t.n_hosts; w.acts++)
		probe_host_send(w.host[w.acts]);
	return w.sick;
}

const struct mf_topology *prober_world_topology(void)
{
	return &w.t;
}
