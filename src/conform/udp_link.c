/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_link.c - see udp_link.h. Traffic class and flow label travel in control messages. Sockets
 * that send are not connected: on one that is Linux counts the IPv4 Identification up, which the
 * ICRC covers; IP_RECVERR brings the word of a host that nobody listens all the same.
 */
#include "conform/udp_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* linux/in6.h has them, which netinet/in.h does not bear beside it. */
#define FLOWINFO_OPTION 11
#define AUTOFLOWLABEL_OPTION 70
#define SLOTS 64u
#define SLOT_QPNS (1u << 14)
/* Of a slot's QP numbers, those from here on: programs count theirs from 0. */
#define FIRST_INDEX 0x1000u
#define RX_BUFFER (8 << 20)
/* ICMP messages that are taken at a time: whoever makes them up does not keep the kit busy. */
#define ICMP_MAX 64u
/* Two clocks that were read within this were read at the same time; how often that is tried. */
#define AT_ONCE_NS 20000u
#define AT_ONCE_TRIES 10

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return ns_of(&t);
}

static uint64_t now_ns(void *context)
{
	(void)context;
	return clock_ns(CLOCK_MONOTONIC);
}

/* ---- sending ---- */

static int socket_of(const struct cf_udp_link *l, const struct cf_frame *f)
{
	size_t udp = cf_frame_udp(f) - 8;
	uint16_t port = (uint16_t)(f->bytes[udp] << 8 | f->bytes[udp + 1]);

	for (unsigned i = 0; i < CF_EVS; i++)
		if (l->link.ev[i] == port)
			return l->sends[i];
	return l->sends[0];
}

static void put_class(struct msghdr *msg, int family, int value)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	c->cmsg_level = family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
	c->cmsg_type = family == AF_INET ? IP_TOS : IPV6_TCLASS;
	c->cmsg_len = CMSG_LEN(sizeof(value));
	memcpy(CMSG_DATA(c), &value, sizeof(value));
}

static int send_frame(void *context, const struct cf_frame *f)
{
	struct cf_udp_link *l = context;
	bool ipv4 = l->family == AF_INET;
	size_t at = cf_frame_udp(f);
	struct iovec iov = {.iov_base = (void *)(uintptr_t)(f->bytes + at), .iov_len = f->len - at};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr msg = {.msg_name = ipv4 ? (void *)&l->to4 : (void *)&l->to6,
			     .msg_namelen = ipv4 ? sizeof(l->to4) : sizeof(l->to6),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};

	l->to4.sin_port = l->to6.sin6_port = htons(l->link.their_port);
	put_class(&msg, l->family,
		  ipv4 ? f->bytes[1] : (f->bytes[0] << 4 | f->bytes[1] >> 4) & 0xFF);
	return sendmsg(socket_of(l, f), &msg, 0) >= 0 ? 0 : errno;
}

/* ---- hearing ---- */

/* The kernel's stamp by our clock, however long the kit waited for a processor meanwhile. */
static uint64_t by_our_clock(const struct timespec *stamp)
{
	uint64_t before, wall, after, age;
	int tries = 0;

	do {
		before = now_ns(NULL);
		wall = clock_ns(CLOCK_REALTIME);
		after = now_ns(NULL);
	} while (after - before > AT_ONCE_NS && ++tries < AT_ONCE_TRIES);
	age = wall > ns_of(stamp) ? wall - ns_of(stamp) : 0;
	return age < after ? after - age : after;
}

static void read_controls(struct msghdr *msg, struct cf_packet *carrier, uint64_t *came_ns)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		struct timespec stamp;
		uint32_t word = 0;
		int value = 0;

		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
			value = *(const uint8_t *)CMSG_DATA(c);
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
			memcpy(&value, CMSG_DATA(c), sizeof(value));
		} else {
			if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == FLOWINFO_OPTION) {
				memcpy(&word, CMSG_DATA(c), sizeof(word));
				carrier->f[CF_F_FLOW] = ntohl(word) & 0xFFFFF;
			} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
				memcpy(&stamp, CMSG_DATA(c), sizeof(stamp));
				*came_ns = by_our_clock(&stamp);
			}
			continue;
		}
		carrier->f[CF_F_DSCP] = (uint64_t)value >> 2 & 0x3F;
		carrier->f[CF_F_ECN] = (uint64_t)value & 3;
	}
}

static void read_source(const struct cf_udp_link *l, const void *from, struct cf_packet *carrier)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	memcpy(carrier->dst, l->link.ours, 16);
	carrier->f[CF_F_DPORT] = l->link.our_port;
	if (l->family == AF_INET) {
		memcpy(&in4, from, sizeof(in4));
		carrier->src[10] = carrier->src[11] = 0xFF;
		memcpy(carrier->src + 12, &in4.sin_addr, 4);
		carrier->f[CF_F_OVER] = ntohs(in4.sin_port);
	} else {
		memcpy(&in6, from, sizeof(in6));
		memcpy(carrier->src, &in6.sin6_addr, 16);
		carrier->f[CF_F_OVER] = ntohs(in6.sin6_port);
	}
}

/* Returns 1, 0 when nothing is there after all, or -1. */
static int read_frame(struct cf_udp_link *l, struct cf_frame *f)
{
	struct sockaddr_storage from = {0};
	uint8_t udp[CF_FRAME_MAX];
	_Alignas(struct cmsghdr) char control[256];
	struct iovec iov = {.iov_base = udp, .iov_len = sizeof(udp)};
	struct msghdr msg = {.msg_name = &from,
			     .msg_namelen = sizeof(from),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(l->hears, &msg, MSG_DONTWAIT);
	struct cf_packet carrier = {0};

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	read_controls(&msg, &carrier, &f->came_ns);
	read_source(l, &from, &carrier);
	return cf_frame_wrap(f, &carrier, udp, (size_t)n) == 0;
}

/*
 * What ICMP said about packets of ours; 0: nothing that was not told before. The messages lie in a
 * queue of their own, and while one is there the socket is not to be waited for.
 */
static int pending_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		err = errno;
	for (unsigned i = 0; i < ICMP_MAX; i++) {
		struct msghdr nothing = {0};

		if (recvmsg(fd, &nothing, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			break;
	}
	return err;
}

static int receive_frame(void *context, uint64_t until_ns, struct cf_frame *f)
{
	struct cf_udp_link *l = context;

	for (;;) {
		struct pollfd fds[1 + CF_EVS] = {{.fd = l->hears, .events = POLLIN}};
		uint64_t now = now_ns(NULL), left = until_ns > now ? until_ns - now : 0;
		struct timespec wait = {.tv_sec = (time_t)(left / 1000000000u),
					.tv_nsec = (long)(left % 1000000000u)};

		for (unsigned i = 0; i < CF_EVS; i++)
			fds[i + 1] = (struct pollfd){.fd = l->sends[i]};
		if (ppoll(fds, 1 + CF_EVS, &wait, NULL) < 0 && errno != EINTR)
			return -1;
		if (fds[0].revents) {
			int n = read_frame(l, f);

			if (n)
				return n;
		}
		for (unsigned i = 0; i < CF_EVS; i++)
			if (fds[i + 1].revents & POLLERR) {
				errno = pending_error(l->sends[i]);
				if (errno)
					return -1;
			}
		if (now_ns(NULL) >= until_ns)
			return 0;
	}
}

/* ---- opening ---- */

static void set(int fd, int level, int option, int value)
{
	/* What a kernel does not know shows as a case that is not as it should be. */
	(void)setsockopt(fd, level, option, &value, sizeof(value));
}

static int open_socket(int family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	set(fd, SOL_SOCKET, SO_RCVBUF, RX_BUFFER);
	set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	if (family == AF_INET) {
		set(fd, IPPROTO_IP, IP_RECVTOS, 1);
		set(fd, IPPROTO_IP, IP_RECVERR, 1);
		set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
	} else {
		set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		set(fd, IPPROTO_IPV6, FLOWINFO_OPTION, 1);
		set(fd, IPPROTO_IPV6, AUTOFLOWLABEL_OPTION, 0);
		set(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
		set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
	}
	return fd;
}

/* Binds to our address; *port is 0 for any and becomes what it is. Returns 0 or -1. */
static int bind_to(const struct cf_udp_link *l, int fd, uint16_t *port)
{
	struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons(*port)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
				   .sin6_port = htons(*port),
				   .sin6_scope_id = l->to6.sin6_scope_id};
	bool ipv4 = l->family == AF_INET;
	socklen_t len = ipv4 ? sizeof(in4) : sizeof(in6);
	struct sockaddr *at = ipv4 ? (struct sockaddr *)&in4 : (struct sockaddr *)&in6;

	memcpy(&in4.sin_addr, l->link.ours + 12, 4);
	memcpy(&in6.sin6_addr, l->link.ours, 16);
	if (bind(fd, at, len) || getsockname(fd, at, &len))
		return -1;
	*port = ntohs(ipv4 ? in4.sin_port : in6.sin6_port);
	return 0;
}

/* Which address of ours leads to the target. Returns 0 or -1. */
static int find_ours(struct cf_udp_link *l)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
	bool ipv4 = l->family == AF_INET;
	socklen_t len = ipv4 ? sizeof(in4) : sizeof(in6);
	int fd = socket(l->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err =
		fd < 0 ||
		connect(fd, ipv4 ? (struct sockaddr *)&l->to4 : (struct sockaddr *)&l->to6, len) ||
		getsockname(fd, ipv4 ? (struct sockaddr *)&in4 : (struct sockaddr *)&in6, &len);

	if (fd >= 0)
		close(fd);
	if (err)
		return -1;
	if (ipv4) {
		l->link.ours[10] = l->link.ours[11] = 0xFF;
		memcpy(l->link.ours + 12, &in4.sin_addr, 4);
	} else {
		memcpy(l->link.ours, &in6.sin6_addr, 16);
	}
	return 0;
}

static int open_hearing(struct cf_udp_link *l, uint16_t base_port)
{
	l->hears = open_socket(l->family);
	if (l->hears < 0)
		return -1;
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		l->link.our_port = (uint16_t)(base_port + slot);
		if (bind_to(l, l->hears, &l->link.our_port) == 0) {
			l->link.first_qpn = slot * SLOT_QPNS + FIRST_INDEX;
			return 0;
		}
		if (errno != EADDRINUSE)
			return -1;
	}
	return -1;
}

int cf_udp_link_open(struct cf_udp_link *l, const uint8_t theirs[16], uint32_t scope,
		     const uint8_t *from, uint16_t base_port, char why[CF_SAY_MAX])
{
	int err = 0;

	*l = (struct cf_udp_link){.link = {.send = send_frame,
					   .receive = receive_frame,
					   .now_ns = now_ns,
					   .their_port = base_port},
				  .family = cf_address_is_ipv4(theirs) ? AF_INET : AF_INET6,
				  .hears = -1};
	l->link.context = l;
	memcpy(l->link.theirs, theirs, 16);
	l->to4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(base_port)};
	l->to6 = (struct sockaddr_in6){
		.sin6_family = AF_INET6, .sin6_port = htons(base_port), .sin6_scope_id = scope};
	memcpy(&l->to4.sin_addr, theirs + 12, 4);
	memcpy(&l->to6.sin6_addr, theirs, 16);
	for (unsigned i = 0; i < CF_EVS; i++)
		l->sends[i] = open_socket(l->family);
	if (from)
		memcpy(l->link.ours, from, 16);
	err = (!from && find_ours(l)) || open_hearing(l, base_port);
	for (unsigned i = 0; i < CF_EVS && !err; i++)
		err = bind_to(l, l->sends[i], &l->link.ev[i]);
	if (!err)
		return 0;
	snprintf(why, CF_SAY_MAX, "UDP sockets towards the target: %s", strerror(errno));
	cf_udp_link_close(l);
	return -1;
}

void cf_udp_link_close(struct cf_udp_link *l)
{
	if (l->hears >= 0)
		close(l->hears);
	for (unsigned i = 0; i < CF_EVS; i++)
		if (l->sends[i] >= 0)
			close(l->sends[i]);
}
