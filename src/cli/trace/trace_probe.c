/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_probe.c - probes of the hops of a path: see trace.h. A probe has a nonce of the run and a
 * number; what comes back without both is none of ours.
 */
#include "cli/trace/trace.h"

#include "base/bytes.h"
#include "fabric/usid.h"
#include "lab/netns.h"
#include "ui/terminal.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC 0x6d727472u
#define PROBE_BYTES 64u
/* Packets that are no answers are passed over, so many at once: a flood of them ends no timeout. */
#define PASSED_OVER 64u
#define MS_NS UINT64_C(1000000)

/* ---- sockets ---- */

/* Of UDP without a checksum: switches change the destination, over which it would be. */
static int bound_socket(const uint8_t *address, uint16_t *port)
{
	struct sockaddr_in6 own = {.sin6_family = AF_INET6};
	int on = 1, fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = sizeof(own);

	if (address)
		memcpy(&own.sin6_addr, address, sizeof(own.sin6_addr));
	if (fd >= 0 && setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &on, sizeof(on)) == 0 &&
	    setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, &on, sizeof(on)) == 0 &&
	    bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&own, &size) == 0) {
		*port = own.sin6_port;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A socket that is bound to a host's own address can be had on that host alone. */
static int check_here(const struct mf_topology *t, uint32_t host, struct ml_error *e)
{
	char name[MF_NODE_NAME_BYTES];
	uint8_t address[MF_ADDRESS_BYTES];
	uint16_t port;
	int fd;

	mf_address_of_host(t, host, address);
	fd = bound_socket(address, &port);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	mf_node_name(t, host, name);
	return ml_error_set(e,
			    "%s: is not this machine, which has not its address (%s); probes leave "
			    "from this machine, or from any host of a lab (--lab LAB)",
			    name, strerror(errno));
}

struct opening {
	const struct ml_lab *lab;
	uint32_t host;
	int fd;
	uint16_t port;
};

static int open_there(void *context, size_t item, struct ml_error *e)
{
	struct opening *o = context;
	char name[ML_NETNS_MAX];

	(void)item;
	if (o->lab && ml_netns_enter(ml_lab_namespace(o->lab, o->host, name), e))
		return -1;
	o->fd = bound_socket(NULL, &o->port);
	return o->fd < 0 ? ml_error_set(e, "a socket of host%u: %s", o->host, strerror(errno)) : 0;
}

int trace_prober_open(struct trace_prober *p, const struct ml_lab *lab, const struct mf_topology *t,
		      uint32_t src, uint32_t dst, struct ml_error *e)
{
	struct opening near = {.lab = lab, .host = src}, far = {.lab = lab, .host = dst};

	p->t = t;
	p->fd = p->far_fd = -1;
	if (getrandom(&p->nonce, sizeof(p->nonce), 0) != (ssize_t)sizeof(p->nonce))
		return ml_error_set(e, "no random numbers: %s", strerror(errno));
	if ((!lab && check_here(t, src, e)) || ml_threads_call(open_there, &near, e))
		return -1;
	p->fd = near.fd;
	p->port = near.port;
	if (!lab)
		return 0;
	if (ml_threads_call(open_there, &far, e)) {
		trace_prober_close(p);
		return -1;
	}
	p->far_fd = far.fd;
	p->far_port = far.port;
	return 0;
}

void trace_prober_close(struct trace_prober *p)
{
	if (p->fd >= 0)
		close(p->fd);
	if (p->far_fd >= 0)
		close(p->far_fd);
	p->fd = p->far_fd = -1;
}

/* ---- probes ---- */

static void send_probe(int fd, const uint8_t to[16], uint16_t port, const uint8_t *bytes)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_port = port};

	memcpy(&at.sin6_addr, to, sizeof(at.sin6_addr));
	/* What cannot be sent, for want of a route or of room, is not answered. */
	(void)sendto(fd, bytes, PROBE_BYTES, 0, (struct sockaddr *)&at, sizeof(at));
}

/* Takes what waits in a socket until it is the probe of this number; false: it is not there yet. */
static bool take_probe(const struct trace_prober *p, int fd, uint32_t number, uint8_t *bytes)
{
	uint8_t room[PROBE_BYTES + 1];

	for (uint32_t i = 0; i < PASSED_OVER; i++) {
		ssize_t n = recv(fd, room, sizeof(room), 0);

		if (n < 0 && errno == EAGAIN)
			return false;
		/* An error that waits is about an earlier probe, which is lost then. */
		if (n != PROBE_BYTES || mb_load_be32(room) != MAGIC ||
		    mb_load_be32(room + 4) != number || mb_load_be64(room + 8) != p->nonce)
			continue;
		memcpy(bytes, room, PROBE_BYTES);
		return true;
	}
	return false;
}

/* The same cables from the destination's end: the EV chooses the same uplink there. */
static void send_back(const struct trace_prober *p, const struct trace_path *path,
		      const uint8_t *bytes)
{
	struct trace_path back;
	uint8_t to[MF_ADDRESS_BYTES];

	trace_path_of(p->t, path->dst, path->src, path->ev, &back);
	if (trace_carrier(p->t, &back, back.hops - 1, to))
		send_probe(p->far_fd, to, p->port, bytes);
}

/* Waits for the answer to a probe. False: the time is over. */
static bool await_answer(const struct trace_prober *p, const struct trace_path *path,
			 uint32_t number, uint64_t sent_ns)
{
	struct pollfd fds[2] = {{.fd = p->fd, .events = POLLIN},
				{.fd = p->far_fd, .events = POLLIN}};
	uint64_t until = sent_ns + p->timeout_ns;
	uint8_t bytes[PROBE_BYTES];

	for (;;) {
		uint64_t now = ui_clock_ns();

		if (now >= until || ui_term_caught())
			return false;
		poll(fds, 2, (int)((until - now + MS_NS - 1) / MS_NS));
		if (take_probe(p, p->fd, number, bytes))
			return true;
		if (p->far_fd >= 0 && take_probe(p, p->far_fd, number, bytes))
			send_back(p, path, bytes);
	}
}

static void ask_hop(struct trace_prober *p, struct trace_path *path, uint32_t hop)
{
	struct trace_answers *a = &path->answers[hop];
	bool is_last = hop + 1 == path->hops;
	uint8_t to[MF_ADDRESS_BYTES], bytes[PROBE_BYTES] = {0};
	uint64_t sent, rtt;

	if ((is_last && p->far_fd < 0) || !trace_carrier(p->t, path, hop, to))
		return;
	mb_store_be32(bytes, MAGIC);
	mb_store_be64(bytes + 8, p->nonce);
	for (uint32_t i = 0; i < p->probes && !ui_term_caught(); i++) {
		/* The hop is in the number: a late answer is none to the probe after it. */
		uint32_t number = hop << 24 | i;

		mb_store_be32(bytes + 4, number);
		sent = ui_clock_ns();
		send_probe(p->fd, to, is_last ? p->far_port : p->port, bytes);
		if (await_answer(p, path, number, sent)) {
			rtt = ui_clock_ns() - sent;
			a->rtt_min_ns = a->answered++ && a->rtt_min_ns < rtt ? a->rtt_min_ns : rtt;
		} else if (ui_term_caught()) {
			return; /* a probe that was not waited for says nothing */
		}
		a->asked = true;
		a->sent++;
	}
}

void trace_prober_run(struct trace_prober *p, struct trace_path *path)
{
	/* Late answers of another path are none of this one. */
	p->nonce++;
	for (uint32_t hop = 0; hop < path->hops; hop++)
		ask_hop(p, path, hop);
}
