/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_end.c - one connection of the kernel's TCP, with a congestion control that does not pace. */
#include "common/tcp_exchange.h"
#include "host/bench_host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uint8_t block[HB_MESSAGE];

static int print_error(const char *what)
{
	fprintf(stderr, "host: TCP: %s: %s\n", what, strerror(errno));
	return -1;
}

static bool supports_control(int fd, const char *name)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0;
}

const char *hb_tcp_control(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *name = fd >= 0 && supports_control(fd, "cubic") ? "cubic" : "reno";

	if (fd >= 0)
		close(fd);
	return name;
}

static int listen_there(const struct hb_case *c, struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*at);

	*at = (struct sockaddr_in){.sin_family = AF_INET};
	inet_pton(AF_INET, hb_space_address(c->net, 1, false), &at->sin_addr);
	if (fd < 0 || bind(fd, (struct sockaddr *)at, len) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)at, &len))
		return print_error("listen");
	return fd;
}

/* The connection of both ends: side 1 listens, and says over fd where. */
static int connect_ends(const struct hb_case *c, int side, int fd)
{
	struct sockaddr_in mine = {0}, theirs;
	int listener = side == 1 ? listen_there(c, &mine) : -1, s, one = 1;

	if ((side == 1 && listener < 0) || meet_swap(hb_program, fd, &mine, &theirs, sizeof(mine)))
		return -1;
	if (side == 1) {
		s = accept(listener, NULL, NULL);
		close(listener);
	} else {
		s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (s >= 0 && !supports_control(s, hb_tcp_control()))
			return print_error(hb_tcp_control());
		if (s >= 0 && connect(s, (struct sockaddr *)&theirs, sizeof(theirs)))
			return print_error("connect");
	}
	if (s < 0 || setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		return print_error("connection");
	if (!supports_control(s, hb_tcp_control()))
		return print_error(hb_tcp_control());
	return s;
}

static int send_all(const struct hb_case *c, int s, struct hb_end *out)
{
	uint64_t begin = hb_now_ns(), end = begin + c->ms * UINT64_C(1000000);
	char byte;

	while (hb_now_ns() < end)
		if (send(s, block, sizeof(block), 0) < 0)
			return print_error("send");
	shutdown(s, SHUT_WR);
	/* The receiver closes when it has everything. */
	if (recv(s, &byte, 1, 0) != 0)
		return print_error("end");
	out->ns = hb_now_ns() - begin;
	return 0;
}

static int receive_all(int s, struct hb_end *out)
{
	ssize_t n;

	while ((n = recv(s, block, sizeof(block), 0)) > 0)
		out->bytes += (uint64_t)n;
	return n < 0 ? print_error("receive") : 0;
}

static int run_ping_pong(const struct hb_case *c, int side, int s, struct hb_end *out)
{
	static struct hb_times times;
	uint64_t end = hb_now_ns() + c->ms * UINT64_C(1000000);
	int flags = c->kind == HB_POLL ? MSG_DONTWAIT : 0;
	uint8_t bytes[HB_PING_BYTES] = {0};

	hb_times_begin(&times);
	while (!bytes[0]) {
		uint64_t sent = hb_now_ns();
		size_t got = 0;

		if (side == 0) {
			bytes[0] = sent >= end;
			if (send(s, bytes, sizeof(bytes), 0) < 0)
				return print_error("send");
		}
		while (got < sizeof(bytes)) {
			ssize_t n = recv(s, bytes + got, sizeof(bytes) - got, flags);

			if (n == 0 || (n < 0 && errno != EAGAIN))
				return print_error("receive");
			got += n > 0 ? (size_t)n : 0;
		}
		if (side == 1 && send(s, bytes, sizeof(bytes), 0) < 0)
			return print_error("send");
		if (side == 0)
			hb_times_add(&times, hb_now_ns() - sent);
	}
	hb_times_end(&times, out);
	return 0;
}

int hb_tcp_end(const struct hb_case *c, int side, int fd, struct hb_end *out)
{
	int s = connect_ends(c, side, fd), rc;
	uint64_t cpu;

	if (s < 0)
		return -1;
	cpu = hb_cpu_ns();
	if (c->kind != HB_BANDWIDTH)
		rc = run_ping_pong(c, side, s, out);
	else
		rc = side == 0 ? send_all(c, s, out) : receive_all(s, out);
	out->cpu_ns = hb_cpu_ns() - cpu;
	close(s);
	return rc;
}
