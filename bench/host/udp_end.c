/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_end.c - the bare sockets that MRC's UDP driver stands on: packets as long as MRC's, sent from
 * eight source ports in turn in bursts of 64, single or as runs (UDP_SEGMENT), fetched in batches.
 * There is no window and nothing is sent again: what counts is what arrived.
 */
#include "common/tcp_exchange.h"
#include "host/bench_host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PACKET (HB_PAYLOAD + HB_HEADERS)
#define BURST 64u
#define RUN_MAX 15u
#define RX_BATCH 32u
#define RX_RUNS 8u
#define RX_RUN_BYTES 65536u
#define RX_BUFFER (4 << 20)
#define QUIET_MS 20

static int print_error(const char *what)
{
	fprintf(stderr, "host: UDP: %s: %s\n", what, strerror(errno));
	return -1;
}

/* An address of either family. */
struct at {
	socklen_t len;
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
};

/* Sets what the address of a side is; in the fabric, where packets to its uSID arrive, any. */
static void set_address(const struct hb_case *c, int side, bool receives, struct at *at)
{
	memset(at, 0, sizeof(*at));
	if (c->net != HB_FABRIC) {
		at->in.sin_family = AF_INET;
		inet_pton(AF_INET, hb_space_address(c->net, side, false), &at->in.sin_addr);
		at->len = sizeof(at->in);
		return;
	}
	at->in6.sin6_family = AF_INET6;
	if (!receives)
		inet_pton(AF_INET6, hb_space_address(c->net, side, true), &at->in6.sin6_addr);
	at->len = sizeof(at->in6);
}

/* To a list of uSIDs, which changes on the way, packets have no checksum. */
static int no_checksum(int fd)
{
	int one = 1;

	return setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &one, sizeof(one)) ||
	       setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, &one, sizeof(one));
}

static int open_socket(const struct hb_case *c, int side, bool receives, struct at *at)
{
	int bytes = RX_BUFFER, fd;

	set_address(c, side, receives, at);
	fd = socket(at->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return print_error("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (c->net == HB_FABRIC && no_checksum(fd))
		return print_error("no checksums");
	if (bind(fd, &at->any, at->len) || getsockname(fd, &at->any, &at->len))
		return print_error("bind");
	return fd;
}

/* Messages of `run` packets each, as many as a socket gets of one burst. */
struct burst {
	uint32_t n;
	struct mmsghdr msg[BURST];
	struct iovec iov[2];
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(uint16_t))];
	uint8_t bytes[RUN_MAX * PACKET];
};

static void make_burst(struct burst *b, uint32_t run, struct at *to)
{
	uint32_t each = BURST / run / HB_EVS;
	uint16_t size = PACKET;
	struct cmsghdr *cm = (void *)b->control;

	memset(b->bytes, 0x5A, sizeof(b->bytes));
	b->n = each ? each : 1;
	b->iov[0] = (struct iovec){b->bytes, (size_t)run * PACKET};
	cm->cmsg_level = IPPROTO_UDP;
	cm->cmsg_type = UDP_SEGMENT;
	cm->cmsg_len = CMSG_LEN(sizeof(size));
	memcpy(CMSG_DATA(cm), &size, sizeof(size));
	for (uint32_t i = 0; i < b->n; i++) {
		b->msg[i].msg_hdr = (struct msghdr){.msg_name = &to->any,
						    .msg_namelen = to->len,
						    .msg_iov = b->iov,
						    .msg_iovlen = 1};
		if (run == 1)
			continue;
		b->msg[i].msg_hdr.msg_control = b->control;
		b->msg[i].msg_hdr.msg_controllen = sizeof(b->control);
	}
}

static int send_all(const struct hb_case *c, struct at *to, struct hb_end *out)
{
	static struct burst b;
	uint64_t begin = hb_now_ns(), end = begin + c->ms * UINT64_C(1000000);
	struct at at;
	int fd[HB_EVS];

	for (uint32_t i = 0; i < HB_EVS; i++) {
		fd[i] = open_socket(c, 0, false, &at);
		if (fd[i] < 0)
			return -1;
	}
	make_burst(&b, c->run, to);
	for (uint32_t ev = 0; hb_now_ns() < end; ev = (ev + 1) % HB_EVS) {
		int n = sendmmsg(fd[ev], b.msg, b.n, 0);

		if (n < 0)
			return print_error("send");
		out->sent_bytes += (uint64_t)n * c->run * HB_PAYLOAD;
	}
	out->ns = hb_now_ns() - begin;
	for (uint32_t i = 0; i < HB_EVS; i++)
		close(fd[i]);
	return 0;
}

/* Fetches what is there; payload bytes, -1 when an error came. */
static int64_t receive_packets(int fd, bool runs)
{
	static uint8_t bytes[RX_RUNS * RX_RUN_BYTES];
	uint32_t slots = runs ? RX_RUNS : RX_BATCH, size = runs ? RX_RUN_BYTES : PACKET;
	struct mmsghdr msg[RX_BATCH];
	struct iovec iov[RX_BATCH];
	int64_t all = 0;
	int n;

	for (uint32_t i = 0; i < slots; i++) {
		iov[i] = (struct iovec){bytes + (size_t)i * size, size};
		msg[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
	}
	n = recvmmsg(fd, msg, slots, MSG_DONTWAIT, NULL);
	if (n < 0 && errno != EAGAIN)
		return print_error("receive");
	for (int i = 0; i < n; i++)
		all += (int64_t)(msg[i].msg_len / PACKET) * HB_PAYLOAD;
	return all;
}

/* Receives until the sender has ended and nothing more comes. */
static int receive_all(int fd, int peer, bool runs, struct hb_end *out)
{
	struct pollfd fds[2] = {{fd, POLLIN, 0}, {peer, POLLIN, 0}};
	bool ended = false;
	int one = 1;

	if (runs && setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)))
		return print_error("UDP_GRO");
	for (;;) {
		int64_t got = receive_packets(fd, runs);
		int n;

		if (got < 0)
			return -1;
		out->bytes += (uint64_t)got;
		if (got > 0)
			continue;
		n = poll(fds, ended ? 1 : 2, ended ? QUIET_MS : -1);
		if (n == 0)
			return 0;
		ended |= fds[1].revents != 0;
	}
}

static int run_ping_pong(const struct hb_case *c, int side, int fd, struct at *to,
			 struct hb_end *out)
{
	static struct hb_times times;
	uint64_t end = hb_now_ns() + c->ms * UINT64_C(1000000);
	int flags = c->kind == HB_POLL ? MSG_DONTWAIT : 0;
	uint8_t bytes[HB_PING_BYTES] = {0};

	hb_times_begin(&times);
	while (!bytes[0]) {
		uint64_t sent = hb_now_ns();

		if (side == 0) {
			bytes[0] = sent >= end;
			if (sendto(fd, bytes, sizeof(bytes), 0, &to->any, to->len) < 0)
				return print_error("send");
		}
		while (recv(fd, bytes, sizeof(bytes), flags) < 0)
			if (errno != EAGAIN)
				return print_error("receive");
		if (side == 1 && sendto(fd, bytes, sizeof(bytes), 0, &to->any, to->len) < 0)
			return print_error("send");
		if (side == 0)
			hb_times_add(&times, hb_now_ns() - sent);
	}
	hb_times_end(&times, out);
	return 0;
}

int hb_udp_end(const struct hb_case *c, int side, int fd, struct hb_end *out)
{
	struct at mine, theirs;
	int s = open_socket(c, side, side == 1, &mine), rc;
	uint64_t cpu;

	if (s < 0 || meet_swap(hb_program, fd, &mine, &theirs, sizeof(mine)))
		return -1;
	if (c->net == HB_FABRIC)
		inet_pton(AF_INET6, hb_fabric_carrier(side), &theirs.in6.sin6_addr);
	cpu = hb_cpu_ns();
	if (c->kind != HB_BANDWIDTH) {
		rc = run_ping_pong(c, side, s, &theirs, out);
	} else if (side == 0) {
		rc = send_all(c, &theirs, out);
		if (!rc && write(fd, "", 1) != 1)
			rc = print_error("tell the receiver");
	} else {
		rc = receive_all(s, fd, c->run > 1, out);
	}
	out->cpu_ns = hb_cpu_ns() - cpu;
	close(s);
	return rc;
}
