/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets through a lab: see lab_fixture.h. */
#include "lab/lab_fixture.h"
#include "fabric/fabric_path.h"
#include "fabric/usid.h"
#include "lab/lab.h"
#include "lab/netns.h"
#include "wire/srv6.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define SILENCE_MS 200
#define PATIENCE_MS 10000 /* for what has to come, on a busy machine */
/* Packets sent before the receiver looks: what a socket's buffer surely holds. */
#define BATCH 50u
#ifndef UDP_NO_CHECK6_TX
#define UDP_NO_CHECK6_TX 101
#define UDP_NO_CHECK6_RX 102
#endif

/* ---- labs ---- */

void fixture_able(void)
{
	struct ml_error e;

	if (ml_needs_ns_holder() && ml_rootless_enter(&e))
		test_skip(e.text);
}

static void open_socket(void *context)
{
	int *out = context, on = 1, bytes = 1 << 20;
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(FIXTURE_PORT)};
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	*out = -1;
	if (fd < 0 || setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) ||
	    bind(fd, (struct sockaddr *)&any, sizeof(any)))
		return;
	*out = fd;
}

struct inside {
	const struct fixture *fixture;
	uint32_t node;
	void (*fn)(void *context);
	void *context;
};

static int go_inside(void *context, size_t item, struct ml_error *e)
{
	const struct inside *i = context;
	char name[ML_NETNS_MAX];

	(void)item;
	if (ml_netns_enter(ml_lab_namespace(i->fixture->lab, i->node, name), e))
		return -1;
	i->fn(i->context);
	return 0;
}

void fixture_inside(const struct fixture *r, uint32_t node, void (*fn)(void *context),
		    void *context)
{
	struct inside i = {r, node, fn, context};
	struct ml_error e;

	if (ml_threads_call(go_inside, &i, &e))
		fail_msg("%s", e.text);
}

void fixture_open(struct fixture *r, const char *topology, uint64_t pace_bps, bool programs)
{
	struct ml_options options = {.name = r->name,
				     .topology = topology,
				     .pace_bps = pace_bps,
				     .no_programs = !programs,
				     .goes_with_process = true};
	struct ml_error e;
	const char *why;

	*r = (struct fixture){0};
	snprintf(r->name, sizeof(r->name), "t%d", (int)getpid());
	r->lab = ml_lab_up(&options, &e);
	if (!r->lab)
		fail_msg("%s", e.text);
	r->t = ml_lab_topology(r->lab);
	r->programs = ml_lab_programs(r->lab, &why);
	r->sock = calloc(r->t->n_hosts, sizeof(*r->sock));
	assert_non_null(r->sock);
	for (uint32_t host = 0; host < r->t->n_hosts; host++) {
		fixture_inside(r, host, open_socket, &r->sock[host]);
		assert_true(r->sock[host] >= 0);
	}
}

void fixture_close(struct fixture *r)
{
	for (uint32_t host = 0; r->sock && host < r->t->n_hosts; host++)
		close(r->sock[host]);
	free(r->sock);
	ml_lab_close(r->lab);
	assert_u_eq(fixture_leftover(r->name), 0);
	*r = (struct fixture){0};
}

static void ignore(void *context, const char *name)
{
	(void)context;
	(void)name;
}

size_t fixture_leftover(const char *name)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "mrc-%s-", name);
	return ml_netns_list(prefix, ignore, NULL);
}

void fixture_fault(struct fixture *r, const char *target, const char *words)
{
	struct mf_fault fault;
	struct ml_error e;

	if (ml_fault_read(r->t, target, words, &fault, &e) || ml_lab_add_fault(r->lab, &fault, &e))
		fail_msg("%s", e.text);
}

void fixture_lift(struct fixture *r)
{
	struct ml_error e;

	if (ml_lab_clear_fault(r->lab, NULL, MF_FAULT_KINDS, &e) < 0)
		fail_msg("%s", e.text);
}

/* ---- packets ---- */

static void carrier(const struct fixture *r, uint32_t src, uint32_t dst, uint32_t ev,
		    struct sockaddr_in6 *to)
{
	struct mf_pair pair = mf_pair_of(r->t, src, dst);
	uint32_t block = mf_usid_block(r->t, mf_ev_plane(ev));
	uint16_t usid[MF_USIDS_MAX];
	uint32_t n = mf_usids_of(r->t, &pair, ev, usid);

	*to = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(FIXTURE_PORT)};
	for (uint32_t i = 0; i < 4; i++)
		to->sin6_addr.s6_addr[i] = (uint8_t)(block >> (24 - 8 * i));
	for (uint32_t i = 0; i < n; i++) {
		to->sin6_addr.s6_addr[4 + 2 * i] = (uint8_t)(usid[i] >> 8);
		to->sin6_addr.s6_addr[5 + 2 * i] = (uint8_t)usid[i];
	}
}

static void fill(struct fixture_packet *p)
{
	for (size_t i = 0; i < sizeof(p->rest); i++)
		p->rest[i] = (uint8_t)(p->number + i);
}

void fixture_send(const struct fixture *r, uint32_t src, uint32_t dst, uint32_t ev, uint32_t n)
{
	struct fixture_packet p = {.src = src, .dst = dst, .ev = ev};
	struct sockaddr_in6 to;

	carrier(r, src, dst, ev, &to);
	for (; p.number < n; p.number++) {
		fill(&p);
		if (sendto(r->sock[src], &p, sizeof(p), 0, (struct sockaddr *)&to, sizeof(to)) !=
			    sizeof(p) &&
		    errno != ENETUNREACH && errno != EHOSTUNREACH)
			fail_msg("host %u cannot send: %s", src, strerror(errno));
	}
}

static void read_control(const struct fixture *r, struct msghdr *m, struct fixture_arrival *a)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct in6_pktinfo info;

		if (c->cmsg_type == IPV6_HOPLIMIT)
			memcpy(&a->hop_limit, CMSG_DATA(c), sizeof(int));
		if (c->cmsg_type != IPV6_PKTINFO)
			continue;
		memcpy(&info, CMSG_DATA(c), sizeof(info));
		/* Interfaces of a lab are numbered from 1000, by the link that they send on. */
		a->plane = mf_link_plane(r->t, info.ipi6_ifindex - 1000);
	}
}

static bool take(const struct fixture *r, uint32_t host, struct fixture_arrival *a)
{
	_Alignas(struct cmsghdr) char control[256];
	struct iovec data = {&a->packet, sizeof(a->packet)};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct fixture_packet same;
	ssize_t n = recvmsg(r->sock[host], &m, MSG_DONTWAIT);

	if (n < 0)
		return false;
	a->host = host;
	read_control(r, &m, a);
	same = a->packet;
	fill(&same);
	a->whole = n == sizeof(same) && memcmp(&same, &a->packet, sizeof(same)) == 0;
	return true;
}

static bool take_any(const struct fixture *r, int timeout_ms, struct fixture_arrival *a)
{
	struct pollfd fds[64];
	uint32_t hosts = r->t->n_hosts;

	assert_true(hosts <= 64);
	for (uint32_t i = 0; i < hosts; i++)
		fds[i] = (struct pollfd){.fd = r->sock[i], .events = POLLIN};
	if (poll(fds, hosts, timeout_ms) <= 0)
		return false;
	for (uint32_t i = 0; i < hosts; i++)
		if (fds[i].revents & POLLIN && take(r, i, a))
			return true;
	return false;
}

bool fixture_receive(const struct fixture *r, struct fixture_arrival *a)
{
	return take_any(r, SILENCE_MS, a);
}

uint32_t fixture_drain(const struct fixture *r)
{
	struct fixture_arrival a;
	uint32_t n = 0;

	while (fixture_receive(r, &a))
		n++;
	return n;
}

uint32_t fixture_count(const struct fixture *r, uint32_t src, uint32_t dst, uint32_t ev, uint32_t n)
{
	struct fixture_arrival a;
	uint32_t got = 0;

	for (uint32_t sent = 0; sent < n; sent += BATCH) {
		fixture_send(r, src, dst, ev, n - sent < BATCH ? n - sent : BATCH);
		while (take_any(r, n - sent <= BATCH ? SILENCE_MS : 0, &a))
			got += a.host == dst && a.whole && a.packet.ev == ev && a.packet.src == src;
	}
	return got;
}

void fixture_whole(const struct fixture *r)
{
	struct fixture_arrival a;
	uint32_t sent = 0, got = 0;

	for (uint32_t src = 0; src < r->t->n_hosts; src++)
		for (uint32_t dst = 0; dst < r->t->n_hosts; dst++) {
			struct mf_pair pair = mf_pair_of(r->t, src, dst);
			uint32_t paths = src == dst ? 0 : mf_path_count(r->t, &pair);

			for (uint32_t i = 0; i < paths; i++, sent++)
				fixture_send(r, src, dst, mf_ev_nth(r->t, i), 1);
			while (take_any(r, 0, &a))
				got += a.host == a.packet.dst && a.whole;
		}
	while (take_any(r, got < sent ? PATIENCE_MS : SILENCE_MS, &a))
		got += a.host == a.packet.dst && a.whole;
	assert_u_eq(got, sent);
}
