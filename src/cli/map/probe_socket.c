/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_socket.c - probes as UDP packets, without rights and without UDP checksum: switches change
 * the destination, and what was changed on the way is to be seen, not thrown away.
 *
 * 	magic (4) : flags (4) : stream (4) : sequence number (4) : nonce (8), and then the nonce
 * 	again and again, each byte with its place added
 */
#include "base/bytes.h"
#include "cli/map/prober.h"
#include "lab/netns.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIXED_BYTES 24u
#define FLAG_ASKS 1u
#define FLAG_DAMAGED 2u /* on the way to the one that sends it back */
/* Several rounds of full-size probes; the kernel may give less. */
#define BUFFER_BYTES (4 << 20)

struct opening {
	const struct ml_lab *lab;
	int *fd;
	uint16_t *port;
};

/* In the namespace of a host. */
static int open_one(void *context, size_t host, struct ml_error *e)
{
	const struct opening *o = context;
	struct sockaddr_in6 own = {.sin6_family = AF_INET6};
	int on = 1, bytes = BUFFER_BYTES, fd;
	socklen_t size = sizeof(own);
	char name[ML_NETNS_MAX];

	if (ml_netns_enter(ml_lab_namespace(o->lab, (uint32_t)host, name), e))
		return -1;
	fd = o->fd[host] = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) ||
	    bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
	    getsockname(fd, (struct sockaddr *)&own, &size))
		return ml_error_set(e, "a socket of %s: %s", name, strerror(errno));
	/* Root in a user namespace may not; then it is what the machine allows. */
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	o->port[host] = own.sin6_port;
	return 0;
}

int probe_sockets_open(const struct ml_lab *lab, int *fd, uint16_t *port, struct ml_error *e)
{
	struct opening o = {lab, fd, port};

	return ml_threads_run(ml_lab_topology(lab)->n_hosts, open_one, &o, e);
}

/* ---- packets ---- */

static uint8_t filler(const struct probe_packet *p, uint32_t at)
{
	return (uint8_t)((p->nonce >> at % 8 * 8) + at);
}

static void write_packet(uint8_t *out, const struct probe_packet *p)
{
	mb_store_be32(out, PROBE_MAGIC);
	mb_store_be32(out + 4, (p->asks ? FLAG_ASKS : 0) | (p->whole ? 0 : FLAG_DAMAGED));
	mb_store_be32(out + 8, p->stream);
	mb_store_be32(out + 12, p->seq);
	mb_store_be64(out + 16, p->nonce);
	for (uint32_t at = FIXED_BYTES; at < p->bytes; at++)
		out[at] = filler(p, at);
}

bool probe_packet_read(const uint8_t *in, size_t bytes, struct probe_packet *p)
{
	uint32_t flags;

	if (bytes < PROBE_BYTES_MIN || mb_load_be32(in) != PROBE_MAGIC)
		return false;
	flags = mb_load_be32(in + 4);
	p->bytes = (uint32_t)bytes;
	p->asks = flags & FLAG_ASKS;
	p->stream = mb_load_be32(in + 8);
	p->seq = mb_load_be32(in + 12);
	p->nonce = mb_load_be64(in + 16);
	p->whole = !(flags & FLAG_DAMAGED);
	for (uint32_t at = FIXED_BYTES; at < bytes && p->whole; at++)
		p->whole = in[at] == filler(p, at);
	return true;
}

/* Room for one control message. */
union control {
	struct cmsghdr align;
	uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

static void put_port(struct msghdr *m, union control *control, uint32_t port)
{
	struct in6_pktinfo info = {.ipi6_ifindex = port};
	struct cmsghdr *c;

	memset(control, 0, sizeof(*control));
	m->msg_control = control;
	m->msg_controllen = sizeof(control->bytes);
	c = CMSG_FIRSTHDR(m);
	c->cmsg_level = IPPROTO_IPV6;
	c->cmsg_type = IPV6_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(c), &info, sizeof(info));
}

int probe_send(int fd, const uint8_t to[16], uint16_t to_port, uint32_t by_port,
	       const struct probe_packet *packet)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = to_port};
	uint8_t bytes[PROBE_BYTES_MAX];
	struct iovec iov = {bytes, packet->bytes};
	struct msghdr m = {.msg_name = &address,
			   .msg_namelen = sizeof(address),
			   .msg_iov = &iov,
			   .msg_iovlen = 1};
	union control control;

	memcpy(&address.sin6_addr, to, sizeof(address.sin6_addr));
	write_packet(bytes, packet);
	if (by_port)
		put_port(&m, &control, by_port);
	return sendmsg(fd, &m, 0) < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)
		       ? -1
		       : 0;
}

static uint32_t port_of(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct in6_pktinfo info;

		if (c->cmsg_level != IPPROTO_IPV6 || c->cmsg_type != IPV6_PKTINFO)
			continue;
		memcpy(&info, CMSG_DATA(c), sizeof(info));
		return info.ipi6_ifindex;
	}
	return 0;
}

int probe_receive(int fd, struct probe_packet *packet)
{
	uint8_t bytes[PROBE_BYTES_MAX];
	union control control;
	struct iovec iov = {bytes, sizeof(bytes)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control.bytes)};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);

	/* An error that waits at the socket is about a packet that counts as lost anyway. */
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	*packet = (struct probe_packet){.port = port_of(&m)};
	return probe_packet_read(bytes, (size_t)n, packet) ? 1 : -1;
}
