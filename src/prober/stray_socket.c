/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stray_socket.c - sees the probes that come to a host and are for another one, and ICMPv6 messages
 * of switches about probes whose hop limit is over: see probe_socket.h.
 */
#include "prober/probe_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* In an IPv6 packet: what is behind its header, and the first uSID of its destination. */
#define NEXT_HEADER_AT 6u
#define USID_AT 28u
#define IPV6_BYTES 40u
/* Where the probe is within the packet that an ICMPv6 error quotes. */
#define QUOTED_AT (IPV6_BYTES + 8u + PROBE_HEADER_BYTES)
#define DOES_NOT_MATCH 0
#define WHOLE 0xffffffffu

/* Takes what comes in and is a probe that does not end here, or an error about one. */
static int set_filter(int fd, uint16_t own_usid)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 10, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, PROBE_HEADER_BYTES),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROBE_MAGIC, 0, 2),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, USID_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_usid, 6, 7),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, NEXT_HEADER_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 4),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IPV6_BYTES),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ICMP6_TIME_EXCEEDED, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, QUOTED_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROBE_MAGIC, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, DOES_NOT_MATCH),
		BPF_STMT(BPF_RET | BPF_K, WHOLE),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

int stray_socket_open(uint16_t own_usid)
{
	struct sockaddr_ll all = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IPV6)};
	/* Without a protocol it takes nothing before there is a filter. */
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd < 0 ||
	    (set_filter(fd, own_usid) == 0 && bind(fd, (struct sockaddr *)&all, sizeof(all)) == 0))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

int stray_socket_receive(int fd, struct probe_packet *packet)
{
	uint8_t bytes[PROBE_BYTES_MAX];
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	ssize_t n = recvfrom(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &size);
	size_t at = PROBE_HEADER_BYTES;

	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	*packet = (struct probe_packet){.port = (uint32_t)from.sll_ifindex};
	if (n > (ssize_t)NEXT_HEADER_AT && bytes[NEXT_HEADER_AT] == IPPROTO_ICMPV6) {
		packet->looped = true;
		at = QUOTED_AT;
	}
	return n > (ssize_t)at && probe_packet_read(bytes + at, (size_t)n - at, packet) ? 1 : -1;
}
