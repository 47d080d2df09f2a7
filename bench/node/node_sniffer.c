/* SPDX-License-Identifier: BSD-2-Clause */
/* node_sniffer.c - when packets leave on an EV, as the kernel stamps them. */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "node/bench_node.h"

#define WATCH_NS UINT64_C(100000000)
#define ETHER_BYTES 14u
#define PORT_1 0x7f000001u

struct seen {
	uint32_t source, sport;
	uint64_t ns; /* CLOCK_REALTIME */
};

int bn_sniffer_open(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_IP));
	int on = 1, bytes = 64 << 20;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		bn_die("a packet socket");
	return fd;
}

/* Reads the next packet that leaves; on the loopback interface it is seen to come in as well. */
static bool next(int fd, struct seen *seen)
{
	uint8_t head[ETHER_BYTES + 28];
	char control[128];
	struct sockaddr_ll from;
	struct iovec iov = {head, sizeof(head)};
	struct msghdr msg = {.msg_name = &from,
			     .msg_namelen = sizeof(from),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	struct timespec ts;

	if (recvmsg(fd, &msg, MSG_TRUNC) < (ssize_t)sizeof(head))
		return false;
	*seen = (struct seen){0};
	if (from.sll_pkttype == PACKET_OUTGOING)
		return true;
	memcpy(&seen->source, head + ETHER_BYTES + 12, 4);
	seen->source = ntohl(seen->source);
	seen->sport = (uint32_t)head[ETHER_BYTES + 20] << 8 | head[ETHER_BYTES + 21];
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_TIMESTAMPNS) {
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		seen->ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	}
	return true;
}

static bool is_on(const struct seen *seen, uint32_t ev)
{
	return seen->source == PORT_1 && seen->sport >= BN_EV_BASE &&
	       (seen->sport - BN_EV_BASE) % BN_EV_STRIDE == ev;
}

bool bn_sniffer_sees(int fd, uint32_t ev, uint64_t ns)
{
	uint64_t end = bn_now_ns(CLOCK_REALTIME) + ns, begin = bn_now_ns(CLOCK_REALTIME);
	struct pollfd pfd = {fd, POLLIN, 0};
	struct seen seen;

	while (bn_now_ns(CLOCK_REALTIME) < end) {
		poll(&pfd, 1, 1);
		while (next(fd, &seen))
			if (is_on(&seen, ev) && seen.ns > begin)
				return true;
	}
	return false;
}

uint64_t bn_sniffer_last_after_denial(int fd, uint32_t ev)
{
	uint64_t begin = bn_now_ns(CLOCK_REALTIME), last = begin;
	struct pollfd pfd = {fd, POLLIN, 0};
	struct seen seen;

	bn_commit(ev);
	while (bn_now_ns(CLOCK_REALTIME) < begin + WATCH_NS) {
		poll(&pfd, 1, 1);
		while (next(fd, &seen))
			if (is_on(&seen, ev) && seen.ns > last)
				last = seen.ns;
	}
	return last - begin;
}
