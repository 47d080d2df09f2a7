/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stray_socket.c - sees the probes that come to a host and are for another one, which the host's
 * kernel drops: so a cable is told from the one that it was exchanged with.
 */
#include "cli/map/prober.h"
#include "fabric/usid.h"
#include "lab/ip_batch.h"
#include "lab/netns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Where the first uSID is, behind the block of the IPv6 destination. */
#define USID_AT 28u
#define DOES_NOT_MATCH 0
#define WHOLE 0xffffffffu

struct opening {
	const struct ml_lab *lab;
	int *fd;
};

/* Takes what comes in, looks like a probe and does not end here. */
static int set_filter(int fd, uint16_t own_usid)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 4, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, PROBE_HEADER_BYTES),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROBE_MAGIC, 0, 2),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, USID_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_usid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, DOES_NOT_MATCH),
		BPF_STMT(BPF_RET | BPF_K, WHOLE),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

/* In the namespace of a host. */
static int open_one(void *context, size_t host, struct ml_error *e)
{
	const struct opening *o = context;
	const struct mf_topology *t = ml_lab_topology(o->lab);
	struct sockaddr_ll all = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IPV6)};
	char name[ML_NETNS_MAX];
	int fd;

	if (ml_netns_enter(ml_lab_namespace(o->lab, (uint32_t)host, name), e))
		return -1;
	/* Without a protocol it takes nothing before there is a filter. */
	fd = o->fd[host] = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || set_filter(fd, mf_usid_dst(t, 0, (uint32_t)host)) ||
	    bind(fd, (struct sockaddr *)&all, sizeof(all)))
		return ml_error_set(e, "a packet socket of %s: %s", name, strerror(errno));
	return 0;
}

int stray_sockets_open(const struct ml_lab *lab, int *fd, struct ml_error *e)
{
	struct opening o = {lab, fd};

	return ml_threads_run(ml_lab_topology(lab)->n_hosts, open_one, &o, e);
}

int stray_receive(int fd, struct probe_packet *packet)
{
	uint8_t bytes[PROBE_BYTES_MAX];
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	ssize_t n = recvfrom(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &size);

	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	*packet = (struct probe_packet){.port = (uint32_t)from.sll_ifindex};
	return n > (ssize_t)PROBE_HEADER_BYTES &&
			       probe_packet_read(bytes + PROBE_HEADER_BYTES,
						 (size_t)n - PROBE_HEADER_BYTES, packet)
		       ? 1
		       : -1;
}
