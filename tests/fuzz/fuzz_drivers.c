/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is what a kernel hands to a port driver that captures: packets with
 * headers of any kind, whole, cut or noise, with any ancillary data; and frames to send, for which
 * the kernel has room or not. Sockets and rings are the test's.
 *
 * What is received lies within its packet and was for this port; what is sent has headers that are
 * read back as the same; the capture is whole and has a record for each frame.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "io/af_packet.h"
#include "io/drivers.h"
#include "io/udp.h"
#include "support/fuzz_input.h"
#include "wire/ip_udp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define UDP_PORT 4791u
#define EV_BASE 50000u
#define EVS 2u
#define FDS_MAX 32u
#define PACKETS_MAX 8u
#define PACKET_MAX 9000u
#define STEPS_MAX 64u
#define LINK_BYTES 14u
#define SRH_BYTES 24u

enum driver { UDP4, UDP6, UDP6_RUNS, AFP4, AFP6, RAW41, DRIVERS };

static const uint8_t addresses[2][16] = {{[10] = 0xFF, [11] = 0xFF, [12] = 127, 0, 0, 1},
					 {0xFD, [15] = 1}};
static const uint8_t peers[2][16] = {{[10] = 0xFF, [11] = 0xFF, [12] = 127, 0, 0, 9},
				     {0xFD, [15] = 9}};
static const uint8_t gid[16] = {0xFE, 0xED, [15] = 1}, peer_gid[16] = {0xFE, 0xED, [15] = 9};

/* A packet that waits in the kernel. */
struct packet {
	size_t len;
	uint8_t bytes[PACKET_MAX];
	uint8_t ancillary;
	struct mio_addr src;
};

static struct {
	struct fuzz_input in;
	enum driver driver;
	int fds[FDS_MAX]; /* our sockets */
	uint32_t n_fds;
	union mio_udp_sa peer[FDS_MAX]; /* whom each is connected to; family 0: nobody */
	bool no_connect;
	bool opening;	  /* the port sends to itself what is a run */
	uint8_t *ring[2]; /* of a packet socket: received, sent */
	size_t ring_bytes[2];
	int ring_next;	  /* which is mapped next */
	uint32_t ring_at; /* the slot that the kernel fills next */
	struct packet packet[PACKETS_MAX];
	uint32_t n_packets;
	uint32_t room; /* messages that may leave */
	int refusal;   /* errno value where there is none */
	uint32_t received, sent;
} k;

/* ---- the system calls of the drivers ---- */

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __real_bind(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *to, socklen_t len);
int __real_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
void *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);
int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned n, int flags);
int __wrap_recvmmsg(int fd, struct mmsghdr *msg, unsigned n, int flags, struct timespec *timeout);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags);

/* The number of one of our sockets; n_fds: it is none. */
static uint32_t number_of(int fd)
{
	uint32_t i = 0;

	while (i < k.n_fds && k.fds[i] != fd)
		i++;
	return i;
}

static bool is_ours(int fd)
{
	return number_of(fd) < k.n_fds;
}

/* A file in memory stands for a socket, which a ring may be mapped from. */
int __wrap_socket(int domain, int type, int protocol)
{
	bool plain = domain == AF_INET && (type & 0xF) == SOCK_DGRAM && k.driver >= AFP4;
	int fd;

	if (plain || domain == AF_NETLINK || k.n_fds == FDS_MAX)
		return __real_socket(domain, type, protocol);
	fd = memfd_create("socket", MFD_CLOEXEC);
	k.fds[k.n_fds++] = fd;
	return fd;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	int which = name == PACKET_RX_RING ? 0 : 1;
	const struct tpacket_req *req = value;

	if (!is_ours(fd))
		return __real_setsockopt(fd, level, name, value, len);
	if (level != SOL_PACKET || (name != PACKET_RX_RING && name != PACKET_TX_RING))
		return 0;
	k.ring_next = which;
	k.ring_bytes[which] = (size_t)req->tp_block_size * req->tp_block_nr;
	mb_assert(ftruncate(fd, (off_t)k.ring_bytes[which]) == 0);
	return 0;
}

/* A ring is mapped right after it was asked for. */
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	uint8_t *ring = __real_mmap(at, n, protection, flags, fd, offset);

	if (fd >= 0 && is_ours(fd))
		k.ring[k.ring_next] = ring;
	return ring;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	if (!is_ours(fd))
		return __real_getsockopt(fd, level, name, value, len);
	memset(value, 1, *len);
	return 0;
}

int __wrap_bind(int fd, const struct sockaddr *to, socklen_t len)
{
	return is_ours(fd) ? 0 : __real_bind(fd, to, len);
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	uint32_t i = number_of(fd);

	if (i == k.n_fds)
		return __real_connect(fd, to, len);
	if (k.no_connect) {
		errno = ENETUNREACH;
		return -1;
	}
	memset(&k.peer[i], 0, sizeof(k.peer[i]));
	if (to->sa_family != AF_UNSPEC)
		memcpy(&k.peer[i], to, len);
	return 0;
}

/* check_packet reads an IP packet that leaves, and what it is wrapped in. */
static void check_packet(const uint8_t *bytes, size_t n)
{
	const uint8_t *dst = k.driver == RAW41 ? peer_gid : peers[k.driver != AFP4];
	struct mw_ip_udp h;
	size_t headers;

	if (k.driver == RAW41) {
		mb_assert(n > MW_IPV6_BYTES && bytes[0] >> 4 == 6 && bytes[6] == IPPROTO_IPV6);
		mb_assert(mb_load_be16(bytes + 4) == n - MW_IPV6_BYTES);
		bytes += MW_IPV6_BYTES;
		n -= MW_IPV6_BYTES;
	}
	mb_assert(mw_ip_udp_read(bytes, n, &h, &headers) && headers + h.len == n);
	mb_assert(h.dport == UDP_PORT && memcmp(h.dst, dst, 16) == 0);
	k.sent++;
}

/* check_target sees that a message goes to the peer, be it named or connected to. */
static void check_target(uint32_t socket, const struct msghdr *m)
{
	const union mio_udp_sa *to = m->msg_name ? m->msg_name : &k.peer[socket];
	struct mio_addr addr;

	mb_assert(to->any.sa_family == (k.driver == UDP4 ? AF_INET : AF_INET6));
	mio_udp_from_sockaddr(to, &addr);
	mb_assert(addr.udp_port == UDP_PORT);
	mb_assert(memcmp(addr.ip, (k.opening ? addresses : peers)[k.driver != UDP4], 16) == 0);
}

static void check_message(uint32_t socket, const struct msghdr *m)
{
	uint8_t bytes[PACKET_MAX];
	size_t n = 0;

	if (k.driver != RAW41) {
		check_target(socket, m);
		k.sent += (uint32_t)m->msg_iovlen > 0;
		return;
	}
	for (size_t i = 0; i < m->msg_iovlen; i++) {
		mb_assert(m->msg_iov[i].iov_len <= sizeof(bytes) - n);
		memcpy(bytes + n, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
		n += m->msg_iov[i].iov_len;
	}
	check_packet(bytes, n);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned n, int flags)
{
	(void)flags;
	mb_assert(is_ours(fd) && n > 0);
	if (k.room == 0) {
		errno = k.refusal;
		return -1;
	}
	n = n < k.room ? n : k.room;
	for (unsigned i = 0; i < n; i++)
		check_message(number_of(fd), &msg[i].msg_hdr);
	k.room -= n;
	return (int)n;
}

/* The kernel takes what is in the ring of a packet socket. */
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags)
{
	struct mio_ring ring = {.memory = k.ring[1],
				.blocks = (uint32_t)(k.ring_bytes[1] / MIO_RING_BLOCK)};

	(void)bytes;
	(void)flags;
	mb_assert(is_ours(fd) && n == 0 && ring.memory);
	for (uint32_t i = 0; i < ring.blocks * MIO_RING_SLOTS_A_BLOCK; i++) {
		struct tpacket2_hdr *slot = mio_ring_slot(&ring, i);

		if (slot->tp_status != TP_STATUS_SEND_REQUEST)
			continue;
		if (k.room == 0) {
			errno = k.refusal;
			return -1;
		}
		k.room--;
		check_packet((uint8_t *)slot + MIO_RING_TX_AT + LINK_BYTES,
			     slot->tp_len - LINK_BYTES);
		slot->tp_status = TP_STATUS_AVAILABLE;
	}
	return 0;
}

/* put_control adds a piece of ancillary data if there is room for it. */
static void put_control(struct msghdr *m, size_t *used, int level, int type, uint32_t value)
{
	struct cmsghdr *c = (void *)((char *)m->msg_control + *used);

	if (*used + CMSG_SPACE(sizeof(value)) > m->msg_controllen)
		return;
	*c = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(value)), .cmsg_level = level, .cmsg_type = type};
	memcpy(CMSG_DATA(c), &value, sizeof(value));
	*used += CMSG_SPACE(sizeof(value));
}

static void fill_control(struct msghdr *m, const struct packet *p)
{
	uint8_t a = p->ancillary;
	bool v4 = k.driver == UDP4;
	size_t used = 0;

	if (a & 1)
		put_control(m, &used, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TOS : IPV6_TCLASS,
			    a * 3u & 0xFF);
	if (a & 2)
		put_control(m, &used, SOL_SOCKET, SO_RXQ_OVFL, a);
	if (a & 4 && k.driver == UDP6)
		put_control(m, &used, IPPROTO_IPV6, MIO_UDP_FLOWINFO, a * 0x01010101u);
	if (a & 4 && k.driver == UDP6_RUNS)
		put_control(m, &used, IPPROTO_UDP, UDP_GRO, 1u + (a >> 3) * 40u);
	m->msg_controllen = used;
}

int __wrap_recvmmsg(int fd, struct mmsghdr *msg, unsigned n, int flags, struct timespec *timeout)
{
	unsigned got = 0;

	(void)flags;
	(void)timeout;
	mb_assert(is_ours(fd));
	for (; got < n && got < k.n_packets; got++) {
		const struct packet *p = &k.packet[got];
		struct msghdr *m = &msg[got].msg_hdr;
		size_t room = m->msg_iov[0].iov_len;

		m->msg_flags = p->len > room ? MSG_TRUNC : 0;
		msg[got].msg_len = (unsigned)(p->len < room ? p->len : room);
		memcpy(m->msg_iov[0].iov_base, p->bytes, msg[got].msg_len);
		fill_control(m, p);
		if (m->msg_name)
			mio_udp_sockaddr(&p->src, m->msg_name);
	}
	k.n_packets -= got;
	memmove(k.packet, k.packet + got, k.n_packets * sizeof(k.packet[0]));
	if (got == 0)
		errno = EAGAIN;
	return got ? (int)got : -1;
}

/* ---- packets that arrive ---- */

/* put_srh puts a routing header that is used up behind an IPv6 header. */
static size_t put_srh(uint8_t *ip, size_t n, uint8_t how)
{
	memmove(ip + MW_IPV6_BYTES + SRH_BYTES, ip + MW_IPV6_BYTES, n - MW_IPV6_BYTES);
	memset(ip + MW_IPV6_BYTES, 0, SRH_BYTES);
	ip[MW_IPV6_BYTES] = ip[6];
	ip[MW_IPV6_BYTES + 1] = SRH_BYTES / 8 - 1;
	ip[MW_IPV6_BYTES + 2] = 4;
	ip[MW_IPV6_BYTES + 3] = how & 1;
	ip[6] = IPPROTO_ROUTING;
	mb_store_be16(ip + 4, (uint16_t)(mb_load_be16(ip + 4) + SRH_BYTES));
	return n + SRH_BYTES;
}

/* make_packet writes an IP packet for this port, and what is wrong with it. */
static size_t make_packet(uint8_t *ip)
{
	bool v4 = k.driver == AFP4;
	uint8_t how = fuzz_u8(&k.in);
	struct mw_ip_udp h = {.sport = EV_BASE,
			      .dport = how & 1 ? fuzz_u16(&k.in) : UDP_PORT,
			      .flow_label = how * 77u,
			      .len = how & 2 ? fuzz_u16(&k.in) % 5000u : fuzz_u8(&k.in),
			      .tos = how};
	size_t n;

	memcpy(h.src, k.driver == RAW41 ? peer_gid : peers[!v4], 16);
	memcpy(h.dst, k.driver == RAW41 ? gid : addresses[!v4], 16);
	n = mw_ip_udp_write(&h, ip);
	memset(ip + n, how, h.len);
	n += h.len;
	if (how & 8 && !v4)
		n = put_srh(ip, n, how >> 7);
	for (uint32_t i = how >> 4 & 3; i > 0; i--) {
		size_t at = fuzz_u8(&k.in) % n;

		ip[at] = fuzz_u8(&k.in);
	}
	return how & 0x40 ? fuzz_u16(&k.in) % (n + 1) : n;
}

static void step_packet(uint8_t op)
{
	struct packet *p = &k.packet[k.n_packets];

	if (k.n_packets == PACKETS_MAX)
		return;
	memset(p, 0, sizeof(*p));
	p->ancillary = fuzz_u8(&k.in);
	memcpy(p->src.ip, peers[k.driver != UDP4], 16);
	if (op & 8 && k.driver != UDP4)
		memcpy(p->src.ip, peers[0], 16);
	p->src.udp_port = (uint16_t)(EV_BASE + (op >> 4));
	if (op & 4)
		p->len = fuzz_take(&k.in, p->bytes, fuzz_u8(&k.in));
	else if (k.driver >= AFP4)
		p->len = make_packet(p->bytes);
	else
		p->len = fuzz_u16(&k.in) % PACKET_MAX;
	k.n_packets++;
}

/* fill_ring has the kernel put packets into the ring, each at the end of its slot's bytes. */
static void fill_ring(void)
{
	struct mio_ring ring = {.memory = k.ring[0],
				.blocks = (uint32_t)(k.ring_bytes[0] / MIO_RING_BLOCK)};
	uint32_t slots = ring.blocks * MIO_RING_SLOTS_A_BLOCK;

	for (uint32_t i = 0; i < k.n_packets; i++, k.ring_at = (k.ring_at + 1) % slots) {
		struct tpacket2_hdr *slot = mio_ring_slot(&ring, k.ring_at);
		const struct packet *p = &k.packet[i];
		uint32_t mac = 66, room = MIO_RING_SLOT - mac, len = (uint32_t)p->len + LINK_BYTES;

		if (slot->tp_status != TP_STATUS_KERNEL)
			break;
		slot->tp_mac = (uint16_t)mac;
		slot->tp_net = (uint16_t)(mac + LINK_BYTES);
		slot->tp_len = len;
		slot->tp_snaplen = len < room ? len : room;
		memset((uint8_t *)slot + mac, 0, room);
		memcpy((uint8_t *)slot + slot->tp_net, p->bytes, slot->tp_snaplen - LINK_BYTES);
		slot->tp_status = TP_STATUS_USER | (p->ancillary & TP_STATUS_LOSING);
	}
	k.n_packets = 0;
}

/* What is lent of a ring ends where its packet ends. */
static void check_lent(const struct mio_rx *frame)
{
	size_t at = (size_t)(frame->bytes - k.ring[0]), slot = at % MIO_RING_BLOCK / MIO_RING_SLOT;
	const uint8_t *start =
		k.ring[0] + at / MIO_RING_BLOCK * MIO_RING_BLOCK + slot * MIO_RING_SLOT;
	const struct tpacket2_hdr *head = (const void *)start;

	mb_assert(frame->bytes + frame->len <= start + head->tp_mac + head->tp_snaplen);
}

static void step_receive(struct mio_port *port, uint8_t op)
{
	struct mio_rx frames[PACKETS_MAX];
	uint32_t got;

	if (k.ring[0])
		fill_ring();
	do {
		volatile uint8_t sum = 0;

		got = mio_port_rx(port, 1000, frames, 1 + (op >> 3) % PACKETS_MAX);
		for (uint32_t i = 0; i < got; i++) {
			mb_assert(frames[i].len <= MIO_FRAME_MAX);
			mb_assert(frames[i].flow_label <= 0xFFFFF);
			if (k.ring[0])
				check_lent(&frames[i]);
			for (uint32_t b = 0; b < frames[i].len; b++)
				sum = (uint8_t)(sum + frames[i].bytes[b]);
			k.received += k.driver == UDP4 || k.driver >= AFP4 ||
				      !mw_is_ipv4(frames[i].src.ip);
		}
	} while (got > 0 && port->status->rx_more);
}

/* ---- frames that leave ---- */

static void step_send(struct mio_port *port, uint8_t op, uint32_t *given)
{
	static const int refusals[] = {EAGAIN, ENETUNREACH, ENOBUFS, EIO};
	static uint8_t bytes[MIO_FRAME_MAX];
	uint32_t len = 1 + fuzz_u16(&k.in) % MIO_FRAME_MAX, n = 1 + (op >> 5),
		 v6 = k.driver != UDP4;
	struct iovec iov[2] = {{bytes, len / 2}, {bytes + len / 2, len - len / 2}};
	struct mio_tx frame = {.iov = iov,
			       .n_iov = 2,
			       .len = len,
			       .ev = EV_BASE,
			       .sport = (uint16_t)(EV_BASE + (op >> 3 & 1)),
			       .flow_label = len,
			       .dst.udp_port = UDP_PORT,
			       .tos = op};
	struct mio_tx frames[8] = {frame, frame, frame, frame, frame, frame, frame, frame};

	uint8_t limit = op & 0x10 ? fuzz_u8(&k.in) : 0;

	v6 &= k.driver != AFP4;
	for (uint32_t i = 0; i < 8; i++) {
		memcpy(frames[i].dst.ip, peers[v6], 16);
		memcpy(frames[i].dst_gid, peer_gid, 16);
	}
	k.room = op & 0x10 ? limit & 3 : 100;
	k.no_connect = limit & 0x10;
	k.refusal = refusals[limit >> 2 & 3];
	mio_port_tx(port, 1000, frames, n);
	*given += n;
}

static void flush(struct mio_port *port)
{
	k.room = 1u << 30;
	for (uint64_t now = 2000000; mio_port_deadline(port) != MIO_NEVER; now += 1000000)
		mio_port_tick(port, now);
}

/* ---- the capture ---- */

static char capture_path[] = "/tmp/fuzz_drivers.XXXXXX";

static void remove_capture(void)
{
	unlink(capture_path);
}

/* check_capture walks the blocks of the file: all whole, and as many packets as were seen. */
static void check_capture(uint32_t packets)
{
	FILE *f = fopen(capture_path, "rb");
	uint32_t head[2], tail, n = 0;

	mb_assert(f);
	while (fread(head, sizeof(head), 1, f) == 1) {
		mb_assert(head[1] >= 12 && head[1] % 4 == 0);
		mb_assert(fseek(f, (long)head[1] - 12, SEEK_CUR) == 0);
		mb_assert(fread(&tail, sizeof(tail), 1, f) == 1 && tail == head[1]);
		n += head[0] == 6;
	}
	mb_assert(feof(f) && n == packets);
	fclose(f);
}

/* ---- opening ---- */

static struct mio_port *open_driver(void)
{
	bool v4 = k.driver == UDP4 || k.driver == AFP4;
	struct mio_addr local = {.udp_port = UDP_PORT};
	struct mio_udp_cfg udp = {.ev_base = EV_BASE,
				  .n_evs = EVS,
				  .max_run = k.driver == UDP6_RUNS ? 8 : 1,
				  .rx_buffer_bytes = 65536};
	struct mio_af_packet_cfg afp = {.ifname = "lo", .rx_buffer_bytes = 65536};
	struct mio_raw41_cfg raw = {.rx_buffer_bytes = 65536};
	struct mio_port *port = NULL;
	struct mio_error error;
	int fd, err;

	memcpy(local.ip, addresses[!v4], 16);
	memcpy(raw.gid, gid, 16);
	udp.local = afp.local = raw.local = local;
	if (k.driver == RAW41)
		err = mio_raw41_open(&raw, -1, &port, &error);
	else if (k.driver >= AFP4)
		err = mio_af_packet_open(&afp, -1, &port, &error);
	else
		err = mio_udp_claim(&local, NULL, &fd, &error) ||
		      mio_udp_open(&udp, fd, &port, &error);
	if (err)
		mb_panic(__FILE__, __LINE__, error.text);
	return port;
}

static struct mio_port *open_capture(struct mio_port *below, struct mio_capture **capture)
{
	struct mio_addr local = {.udp_port = UDP_PORT};
	struct mio_port *port;
	struct mio_error error;

	memcpy(local.ip, addresses[k.driver != UDP4 && k.driver != AFP4], 16);
	mb_assert(mio_capture_open(capture_path, 0, capture, &error) == 0);
	mb_assert(mio_pcap_open(*capture, "port0", &local, k.driver == RAW41 ? gid : NULL,
				k.driver <= UDP6_RUNS, below, &port) == 0);
	return port;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mio_capture *capture;
	struct mio_port *port;
	static bool has_path;
	uint32_t given = 0;

	if (!has_path) {
		close(mkstemp(capture_path));
		atexit(remove_capture);
		has_path = true;
	}
	memset(&k, 0, sizeof(k));
	k.in = (struct fuzz_input){data, size};
	k.driver = fuzz_below(&k.in, DRIVERS);
	k.opening = true;
	k.room = fuzz_below(&k.in, 2);
	k.refusal = EIO;
	port = open_capture(open_driver(), &capture);
	k.opening = false;
	for (uint32_t i = 0; k.in.left > 0 && i < STEPS_MAX; i++) {
		uint8_t op = fuzz_u8(&k.in);

		if ((op & 3) == 0)
			step_receive(port, op);
		else if ((op & 3) == 1)
			step_send(port, op, &given);
		else
			step_packet(op);
	}
	step_receive(port, 0);
	flush(port);
	mb_assert(k.sent + port->status->tx_refused <= given || k.driver <= UDP6_RUNS);
	mio_port_close(port);
	mb_assert(mio_capture_close(capture) == 0);
	check_capture(given + k.received);
	return 0;
}
