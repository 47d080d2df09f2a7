/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_tcp.c - ordinary TCP between the hosts' own addresses, over the plain routes: ECMP spreads
 * connections over planes and T1s, and a port without carrier is left out. What TCP is compared on
 * with MRC is the same links, queues and faults.
 */
#include "lab/ip_batch.h"
#include "lab/lab.h"
#include "lab/lab_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Chance leaves one of four ways unused by 24 connections once in 250 runs; by so many, never. */
#define CONNECTIONS_MAX 192
#define CONNECTIONS 24 /* a batch */
#define BYTES 20000
#define PATIENCE_MS 60000

static struct fixture fixture;

static int open_tiny(void **state)
{
	(void)state;
	fixture_able();
	fixture_open(&fixture, "tiny", 0, true);
	return 0;
}

static int shut(void **state)
{
	(void)state;
	fixture_close(&fixture);
	return 0;
}

static void open_tcp(void *context)
{
	*(int *)context = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int socket_on(uint32_t host)
{
	int fd = -1;

	fixture_inside(&fixture, host, open_tcp, &fd);
	assert_true(fd >= 0);
	return fd;
}

static int listen_on(uint32_t host)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(5001)};
	int fd = socket_on(host);

	assert_i_eq(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
	assert_i_eq(listen(fd, CONNECTIONS), 0);
	return fd;
}

/* One connection from host 0, BYTES through it. */
static void transfer_to(int listener, const char *address)
{
	struct sockaddr_in6 peer = {.sin6_family = AF_INET6, .sin6_port = htons(5001)};
	struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
	static char data[BYTES];
	int fd = socket_on(0), in;
	size_t got = 0;

	inet_pton(AF_INET6, address, &peer.sin6_addr);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	assert_i_eq(connect(fd, (struct sockaddr *)&peer, sizeof(peer)), 0);
	assert_i_eq(send(fd, data, sizeof(data), MSG_NOSIGNAL), sizeof(data));
	in = accept(listener, NULL, NULL);
	assert_true(in >= 0);
	setsockopt(in, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	while (got < sizeof(data)) {
		ssize_t n = recv(in, data, sizeof(data) - got, 0);

		assert_true(n > 0);
		got += (size_t)n;
	}
	close(in);
	close(fd);
}

static void transfer(int listener, uint32_t to)
{
	char text[INET6_ADDRSTRLEN];

	transfer_to(listener, ml_host_address(fixture.lab, to, text));
}

static uint64_t sent_up(uint32_t plane, uint32_t t1)
{
	struct ml_counters *c = calloc(fixture.t->n_links, sizeof(*c));
	struct ml_error e;
	uint64_t n;

	assert_non_null(c);
	assert_i_eq(ml_lab_counters(fixture.lab, c, &e), 0);
	n = c[mf_link_t0_t1(fixture.t, plane, 0, t1, false)].bytes;
	free(c);
	return n;
}

/* IPv4 goes to the same socket, by the host's other address. */
static void transfer_ipv4(int listener, uint32_t to)
{
	char text[ML_IPV4_TEXT], peer_text[32];

	snprintf(peer_text, sizeof(peer_text), "::ffff:%s", ml_ipv4_of_host(fixture.t, to, text));
	transfer_to(listener, peer_text);
}

static uint32_t ways_used(void)
{
	uint32_t n = 0;

	for (uint32_t plane = 0; plane < 2; plane++)
		for (uint32_t t1 = 0; t1 < 2; t1++)
			n += sent_up(plane, t1) > BYTES;
	return n;
}

static void is_spread(void (*one)(int listener, uint32_t to))
{
	int listener = listen_on(2);

	for (int i = 0; i < CONNECTIONS_MAX && ways_used() < 4; i += CONNECTIONS)
		for (int k = 0; k < CONNECTIONS; k++)
			one(listener, 2);
	assert_u_eq(ways_used(), 4);
	close(listener);
}

TEST_WITH(open_tiny, shut, lab_tcp, is_spread_over_planes_and_t1s)
{
	is_spread(transfer);
}

TEST_WITH(open_tiny, shut, lab_tcp, of_ipv4_is_spread_as_well)
{
	is_spread(transfer_ipv4);
}

/* Only one's own ports: what is down further on, static routes do not know. */
TEST_WITH(open_tiny, shut, lab_tcp, leaves_out_ports_without_carrier)
{
	int listener = listen_on(2);
	uint64_t before;

	fixture_fault(&fixture, "host0.plane0", "down");
	fixture_fault(&fixture, "host2.plane0", "down");
	fixture_fault(&fixture, "plane1.t0-0.t1-1", "down");
	fixture_fault(&fixture, "plane1.t0-1.t1-1", "down");
	before = sent_up(0, 0) + sent_up(0, 1) + sent_up(1, 1);
	for (int i = 0; i < 8; i++)
		transfer(listener, 2);
	assert_true(sent_up(0, 0) + sent_up(0, 1) + sent_up(1, 1) < before + BYTES);
	fixture_lift(&fixture);
	for (int i = 0; i < CONNECTIONS; i++)
		transfer(listener, 2);
	assert_true(sent_up(0, 0) + sent_up(0, 1) > before + BYTES);
	close(listener);
}
