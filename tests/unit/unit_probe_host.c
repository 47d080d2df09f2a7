/* SPDX-License-Identifier: BSD-2-Clause */
/* What a host sends in a step: src/prober/probe_host.h, with a network that the test is. */
#include "fabric_fixture.h"

#include "prober/probe_streams.h"
#include "support/wrapped_sockets.h"

#define IFINDEX 7u
/* As fast as links may be that have trains. */
#define PACE_BIT_S 500000000u
#define SENT_MAX 8192u
#define STREAMS_MAX 1024u
/* A train is in place of a pair. */
#define STEP_MOST (PROBE_PAIRS_MAX * PROBE_PAIR + PROBE_TRAIN - PROBE_PAIR)

static struct mf_topology t;
static struct probe_host *host;
static struct probe_packet sent[SENT_MAX], coming[SENT_MAX];
static uint32_t n_sent, n_coming, came;
static uint32_t sent_of[STREAMS_MAX];

/* ---- in the place of sockets ---- */

int __wrap_stray_socket_open(uint16_t own_usid)
{
	(void)own_usid;
	return -1;
}

int __wrap_probe_socket_send(int fd, const uint8_t to[16], uint16_t to_port, uint32_t by_port,
			     uint32_t hops, const struct probe_packet *packet)
{
	(void)fd;
	(void)to;
	(void)to_port;
	(void)by_port;
	(void)hops;
	assert_true(n_sent < SENT_MAX && packet->stream < STREAMS_MAX);
	sent[n_sent++] = *packet;
	sent_of[packet->stream]++;
	return 0;
}

int __wrap_probe_socket_receive(int fd, struct probe_packet *packet)
{
	(void)fd;
	if (came == n_coming)
		return 0;
	*packet = coming[came++];
	return 1;
}

/* ---- a host ---- */

static void take_route(void *ctx, const struct mm_route_of *of, uint32_t *memo,
		       const struct mm_counts *counts)
{
	(void)ctx;
	(void)of;
	(void)memo;
	(void)counts;
}

static void take_plain(void *ctx, uint32_t of, uint32_t plane, uint32_t n, uint32_t lost)
{
	(void)ctx;
	(void)of;
	(void)plane;
	(void)n;
	(void)lost;
}

static uint32_t ifindex[MF_PLANES_MAX];
static uint16_t udp_port[64];
static struct probe_host_cfg cfg;

static void begin(uint32_t number)
{
	const struct probe_sink sink = {.route = take_route, .plain = take_plain};
	char why[160];

	t = fabric("tiny");
	for (uint32_t i = 0; i < t.cfg.planes; i++)
		ifindex[i] = IFINDEX + i;
	cfg = (struct probe_host_cfg){.t = &t,
				      .host = number,
				      .share = PROBE_SHARE_USUAL,
				      .rate_bit_s = PROBE_RATE_MAX,
				      .ifindex = ifindex,
				      .udp_port = udp_port,
				      .link_bit_s = PACE_BIT_S};
	host = probe_host_create(&cfg, &sink, why, sizeof(why));
	assert_non_null(host);
	n_sent = n_coming = came = 0;
}

/* Sends what the next step has, and has what was sent in the last one come back if it may. */
static void step(bool (*comes)(const struct probe_packet *p))
{
	n_coming = came = 0;
	for (uint32_t i = 0; i < n_sent; i++) {
		if (!comes(&sent[i]))
			continue;
		coming[n_coming] = sent[i];
		coming[n_coming].asks = false;
		coming[n_coming++].port = IFINDEX + sent[i].plane;
	}
	n_sent = 0;
	memset(sent_of, 0, sizeof(sent_of));
	probe_host_receive(host);
	probe_host_send(host);
}

static struct probe_streams streams; /* as the host has them */

static bool half_of_those_that_go_round(const struct probe_packet *p)
{
	return streams.stream[p->stream].of.links > 4 && p->seq % PROBE_PAIR == 0;
}

static uint32_t most_of_a_route_in_a_step(uint32_t number)
{
	bool live[64];
	uint32_t most = 0;

	begin(number);
	memset(live, 1, sizeof(live));
	assert_int_equal(probe_streams_init(&streams, &cfg), 0);
	assert_int_equal(probe_streams_plan(&streams, &cfg, live), 0);
	for (uint32_t i = 0; i < 300; i++) {
		step(half_of_those_that_go_round);
		for (uint32_t s = 0; s < streams.room; s++)
			most = sent_of[s] > most ? sent_of[s] : most;
	}
	probe_streams_fini(&streams);
	probe_host_destroy(host);
	return most;
}

/*
 * What comes into doubt while a host begins has no more than it has later: books have room for so
 * many, and links for all of them.
 */
TEST(probe_host_send, sends_no_more_of_a_route_in_a_step_than_books_have_room_for)
{
	for (uint32_t number = 0; number < fabric("tiny").n_hosts; number++)
		assert_u_eq(most_of_a_route_in_a_step(number), STEP_MOST);
}
