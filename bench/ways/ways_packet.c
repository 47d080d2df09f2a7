/* SPDX-License-Identifier: BSD-2-Clause */
/* ways_packet.c - round the socket layer: packet sockets with runs, and AF_XDP. */
#include "ways/ways.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "wire/ip_udp.h"

#define LINK_HEADERS (ETHER_HDR_LEN + MW_IPV4_BYTES + MW_UDP_BYTES)

/* struct virtio_net_hdr with the newest kind of run, which Debian 12's headers lack. */
#define NEEDS_CHECKSUM 1u
#define GSO_UDP_L4 5u
struct vnet_header {
	uint8_t flags, gso_type;
	uint16_t hdr_len, gso_size, csum_start, csum_offset;
};

struct prefix {
	struct vnet_header vnet;
	uint8_t link[LINK_HEADERS];
};

static struct prefix prefix[WAY_EVS];

static bool ask_interface(uint8_t mac[6], int *index)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = {.ifr_name = WAY_INTERFACE};
	bool good = fd >= 0 && ioctl(fd, SIOCGIFHWADDR, &r) == 0;

	if (good)
		memcpy(mac, r.ifr_hwaddr.sa_data, 6);
	good = good && ioctl(fd, SIOCGIFINDEX, &r) == 0;
	*index = r.ifr_ifindex;
	close(fd);
	return good;
}

/* Sums the pseudo header, which the sum that the device makes begins with. */
static uint16_t pseudo_sum(const uint8_t *ip, uint32_t udp_len)
{
	uint32_t sum = IPPROTO_UDP + udp_len;

	for (uint32_t i = 12; i < MW_IPV4_BYTES; i += 2)
		sum += mb_load_be16(ip + i);
	while (sum >> 16)
		sum = (sum & 0xFFFF) + (sum >> 16);
	return (uint16_t)sum;
}

/* Writes the headers of a packet, or run, of an EV: Ethernet, IP, UDP. */
static void write_headers(const struct sender *s, uint32_t ev, const uint8_t mac[6], uint32_t len,
			  uint8_t *to)
{
	struct mw_ip_udp h = {.sport = (uint16_t)(WAY_EV_BASE + ev), .dport = WAY_PORT, .len = len};

	h.src[10] = h.src[11] = h.dst[10] = h.dst[11] = 0xFF;
	inet_pton(AF_INET, way_ip[0], h.src + 12);
	inet_pton(AF_INET, way_ip[1], h.dst + 12);
	memcpy(to, s->peer_mac, 6);
	memcpy(to + 6, mac, 6);
	mb_store_be16(to + 12, ETHERTYPE_IP);
	mw_ip_udp_write(&h, to + ETHER_HDR_LEN);
}

bool way_packet_open(struct sender *s)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), one = 1;
	uint8_t mac[6];

	s->fd[0] = fd;
	if (fd < 0 || !ask_interface(mac, &at.sll_ifindex) ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)))
		return false;
	for (uint32_t ev = 0; ev < WAY_EVS; ev++) {
		uint8_t *link = prefix[ev].link, *udp = link + ETHER_HDR_LEN + MW_IPV4_BYTES;
		uint32_t len = s->run * WAY_PACKET;

		write_headers(s, ev, mac, len, link);
		mb_store_be16(udp + 6, pseudo_sum(link + ETHER_HDR_LEN, len + MW_UDP_BYTES));
		prefix[ev].vnet = (struct vnet_header){
			.flags = NEEDS_CHECKSUM,
			.gso_type = s->run > 1 ? GSO_UDP_L4 : 0,
			/* What is not said to be headers is given 32 KiB a piece. */
			.hdr_len = (uint16_t)(LINK_HEADERS + (s->run > 1 ? 0 : WAY_PACKET)),
			.gso_size = s->run > 1 ? WAY_PACKET : 0,
			.csum_start = ETHER_HDR_LEN + MW_IPV4_BYTES,
			.csum_offset = 6,
		};
	}
	return true;
}

size_t way_packet_burst(struct sender *s)
{
	uint32_t each = s->n_msgs / WAY_EVS;
	struct iovec *iov = s->iov;
	int n;

	for (uint32_t i = 0; i < s->n_msgs; i++) {
		uint32_t pieces = 1 + way_fill_run(s, i * s->run % WAY_BURST, iov + 1);

		iov[0] = (struct iovec){&prefix[i / each],
					offsetof(struct prefix, link) + LINK_HEADERS};
		s->msg[i].msg_hdr = (struct msghdr){.msg_iov = iov, .msg_iovlen = pieces};
		iov += pieces;
	}
	n = sendmmsg(s->fd[0], s->msg, s->n_msgs, 0);
	return n < 0 ? 0 : (size_t)n * s->run * WAY_PAYLOAD;
}

/* ---- AF_XDP: half of the ring's chunks hold a packet's first 4096 bytes, half the rest ---- */

#define CHUNK 4096u
#define SLOTS 1024u
#define DESCS (2 * SLOTS)
#ifndef XDP_USE_SG
#define XDP_USE_SG (1 << 4)
#endif
#ifndef XDP_PKT_CONTD
#define XDP_PKT_CONTD 1u
#endif

static struct {
	uint8_t *chunks;
	struct xdp_desc *desc;
	uint32_t *tx_producer, *done_producer, *done_consumer;
	uint32_t sent; /* descriptors */
} xdp;

static bool map_rings(int fd)
{
	struct xdp_umem_reg reg = {.len = (uint64_t)DESCS * CHUNK, .chunk_size = CHUNK};
	struct xdp_mmap_offsets at;
	socklen_t len = sizeof(at);
	uint8_t *tx, *done;
	int n = DESCS;

	xdp.chunks = mmap(NULL, reg.len, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (xdp.chunks == MAP_FAILED)
		return false;
	reg.addr = (uintptr_t)xdp.chunks;
	if (setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &reg, sizeof(reg)) ||
	    setsockopt(fd, SOL_XDP, XDP_UMEM_FILL_RING, &n, sizeof(n)) ||
	    setsockopt(fd, SOL_XDP, XDP_UMEM_COMPLETION_RING, &n, sizeof(n)) ||
	    setsockopt(fd, SOL_XDP, XDP_TX_RING, &n, sizeof(n)) ||
	    getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &len))
		return false;
	tx = mmap(NULL, at.tx.desc + DESCS * sizeof(struct xdp_desc), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_POPULATE, fd, XDP_PGOFF_TX_RING);
	done = mmap(NULL, at.cr.desc + DESCS * sizeof(uint64_t), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_POPULATE, fd, XDP_UMEM_PGOFF_COMPLETION_RING);
	if (tx == MAP_FAILED || done == MAP_FAILED)
		return false;
	xdp.desc = (void *)(tx + at.tx.desc);
	xdp.tx_producer = (void *)(tx + at.tx.producer);
	xdp.done_producer = (void *)(done + at.cr.producer);
	xdp.done_consumer = (void *)(done + at.cr.consumer);
	return true;
}

bool way_xdp_open(struct sender *s)
{
	struct sockaddr_xdp at = {.sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY | XDP_USE_SG};
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0), index;
	uint8_t mac[6];

	s->fd[0] = fd;
	if (fd < 0 || !ask_interface(mac, &index) || !map_rings(fd))
		return false;
	at.sxdp_ifindex = (uint32_t)index;
	for (uint32_t ev = 0; ev < WAY_EVS; ev++)
		write_headers(s, ev, mac, WAY_PACKET, prefix[ev].link);
	return bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
}

/* Writes a packet of an EV into the two chunks of the next slot. */
static void write_packet(struct sender *s, uint32_t packet, uint32_t ev)
{
	uint32_t before = LINK_HEADERS + WAY_HEADERS, slot = xdp.sent / 2 % SLOTS;
	uint64_t at = (uint64_t)slot * 2 * CHUNK;
	const uint8_t *payload = way_payload(s);
	uint8_t *to = xdp.chunks + at;

	memcpy(to, prefix[ev].link, LINK_HEADERS);
	memcpy(to + LINK_HEADERS, s->headers[packet], WAY_HEADERS);
	memcpy(to + before, payload, CHUNK - before);
	memcpy(to + CHUNK, payload + CHUNK - before, before);
	memcpy(to + CHUNK + before, s->ends[packet], WAY_END);
	xdp.desc[xdp.sent++ % DESCS] = (struct xdp_desc){at, CHUNK, XDP_PKT_CONTD};
	xdp.desc[xdp.sent++ % DESCS] = (struct xdp_desc){at + CHUNK, before + WAY_END, 0};
}

size_t way_xdp_burst(struct sender *s)
{
	uint32_t n = 0;
	ssize_t rc;

	for (; n < WAY_BURST; n++) {
		uint32_t done = __atomic_load_n(xdp.done_producer, __ATOMIC_ACQUIRE);

		if (xdp.sent - done + 2 > DESCS)
			break;
		write_packet(s, n, n * WAY_EVS / WAY_BURST);
	}
	__atomic_store_n(xdp.tx_producer, xdp.sent, __ATOMIC_RELEASE);
	/* The kernel sends some packets a call, and says that there are more. */
	do
		rc = sendto(s->fd[0], NULL, 0, MSG_DONTWAIT, NULL, 0);
	while (rc < 0 && (errno == EAGAIN || errno == EBUSY));
	__atomic_store_n(xdp.done_consumer, __atomic_load_n(xdp.done_producer, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
	return rc < 0 ? 0 : (size_t)n * WAY_PAYLOAD;
}
