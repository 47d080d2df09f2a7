/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * af_packet_driver.c - bursts through two rings.
 *
 * Sending: a frame is copied into a slot behind the headers made for it, and one send() asks the
 * kernel to work off what is in the ring. Without a free slot frames wait in the backlog.
 *
 * Receiving: frames are lent to the caller where they lie, and their slots go back to the kernel
 * with the next call.
 */
#include "io/drivers.h"

#include <errno.h>
#include <net/ethernet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/list.h"
#include "io/af_packet.h"
#include "io/backlog.h"
#include "wire/ip_udp.h"

#define AFP_TX_RING_BYTES (2u << 20)

struct afp_port {
	struct mio_port port;
	struct mio_status status;
	struct mio_addr local;
	struct mio_nexthop *nexthop;
	struct mio_backlog backlog;
	uint64_t kick_ns; /* when to ask the kernel again; MIO_NEVER: it has sent all */
	uint8_t mac[MIO_MAC_BYTES];
	uint32_t mtu;
	int tx_fd, claimed_fd;
	struct mio_ring tx, rx;
	uint32_t lent_from, lent; /* received slots that the caller may still read */
};

static struct afp_port *afp_of(struct mio_port *port)
{
	return mb_container_of(port, struct afp_port, port);
}

/* Writes the frame with its headers into a slot and returns the length of all; 0: bytes are
 * gone. */
static uint32_t afp_write(const struct afp_port *a, const struct mio_tx *frame,
			  const uint8_t dst_mac[MIO_MAC_BYTES], uint8_t *p)
{
	bool v4 = mw_is_ipv4(frame->dst.ip);
	struct mw_ip_udp h = mio_tx_headers(frame, a->local.ip, frame->dst.ip);
	uint8_t *at = p + ETHER_HDR_LEN;

	memcpy(p, dst_mac, MIO_MAC_BYTES);
	memcpy(p + MIO_MAC_BYTES, a->mac, MIO_MAC_BYTES);
	mb_store_be16(p + (size_t)2 * MIO_MAC_BYTES, v4 ? ETHERTYPE_IP : ETHERTYPE_IPV6);
	at += mw_ip_udp_write(&h, at);
	return mio_tx_gather(frame, at) ? (uint32_t)(at - p) + frame->len : 0;
}

/* Puts a frame into the ring, or refuses and counts it; false: the ring is full. */
static bool afp_enqueue(struct afp_port *a, uint64_t now_ns, const struct mio_tx *frame)
{
	struct tpacket2_hdr *slot = mio_ring_slot(&a->tx, a->tx.next);
	uint32_t headers = mw_is_ipv4(frame->dst.ip) ? 28 : 48;
	uint8_t mac[MIO_MAC_BYTES];
	int err;

	if (frame->len + headers > a->mtu) {
		mio_count_refused(&a->status, EMSGSIZE);
		return true;
	}
	err = mio_nexthop_find(a->nexthop, now_ns, frame->dst.ip, mac);
	if (err) {
		mio_count_refused(&a->status, err);
		return true;
	}
	if (mio_ring_status(slot) != TP_STATUS_AVAILABLE)
		return false;
	slot->tp_len = afp_write(a, frame, mac, (uint8_t *)slot + MIO_RING_TX_AT);
	if (slot->tp_len == 0) {
		mio_count_refused(&a->status, EFAULT);
		return true;
	}
	mio_ring_release(slot, TP_STATUS_SEND_REQUEST);
	a->tx.next = mio_ring_next(&a->tx, a->tx.next);
	a->status.tx_frames++;
	a->status.tx_bytes += frame->len;
	return true;
}

/* Makes the kernel send what is in the ring. */
static void afp_kick(struct afp_port *a, uint64_t now_ns)
{
	a->kick_ns = MIO_NEVER;
	if (send(a->tx_fd, NULL, 0, MSG_DONTWAIT) >= 0)
		return;
	a->kick_ns = now_ns + MIO_BACKLOG_RETRY_NS;
	if (mio_is_fatal(errno)) /* ENETDOWN may pass */
		a->status.error = errno;
}

static void afp_tx_burst(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames,
			 uint32_t n)
{
	struct afp_port *a = afp_of(port);

	mb_assert(n <= MIO_BURST_MAX);
	for (uint32_t i = 0; i < n; i++)
		if (a->status.blocked || !afp_enqueue(a, now_ns, &frames[i]))
			mio_backlog_put(&a->backlog, now_ns, &frames[i]);
	if (n > 0)
		afp_kick(a, now_ns);
}

static uint64_t afp_deadline(const struct mio_port *port)
{
	const struct afp_port *a = mb_container_of(port, const struct afp_port, port);
	uint64_t backlog_ns = mio_backlog_deadline(&a->backlog);

	return a->kick_ns < backlog_ns ? a->kick_ns : backlog_ns;
}

static bool afp_enqueue_backlogged(void *ctx, uint64_t now_ns, const struct mio_tx *frame)
{
	return afp_enqueue(ctx, now_ns, frame);
}

static void afp_tick(struct mio_port *port, uint64_t now_ns)
{
	struct afp_port *a = afp_of(port);

	if (now_ns < afp_deadline(port))
		return;
	mio_backlog_tick(&a->backlog, now_ns, afp_enqueue_backlogged, a);
	afp_kick(a, now_ns);
}

/* ---- receiving ---- */

static void afp_release_slots(struct afp_port *a)
{
	for (; a->lent > 0; a->lent--) {
		mio_ring_release(mio_ring_slot(&a->rx, a->lent_from), TP_STATUS_KERNEL);
		a->lent_from = mio_ring_next(&a->rx, a->lent_from);
	}
}

static void afp_count_losses(struct afp_port *a)
{
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);

	/* The kernel counts from one question to the next. */
	if (getsockopt(a->status.fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len) == 0)
		a->status.rx_overruns += stats.tp_drops;
}

/* afp_parse_slot reads a received slot; false: not for us, or longer than any frame. */
static bool afp_parse_slot(struct afp_port *a, const struct tpacket2_hdr *slot, uint64_t now_ns,
			   struct mio_rx *frame)
{
	const uint8_t *ip = (const uint8_t *)slot + slot->tp_net;
	uint32_t link = slot->tp_net - slot->tp_mac;
	struct mw_ip_udp h;
	size_t headers;

	if (slot->tp_len > slot->tp_snaplen) {
		a->status.rx_oversize++;
		return false;
	}
	if (slot->tp_snaplen < link || !mw_ip_udp_read(ip, slot->tp_snaplen - link, &h, &headers) ||
	    h.dport != a->local.udp_port || memcmp(h.dst, a->local.ip, 16) != 0)
		return false;
	/* The tap is before all that the kernel looks at. */
	if (!mw_ip_udp_is_sound(ip, &h, headers, !(slot->tp_status & TP_STATUS_CSUMNOTREADY))) {
		a->status.rx_unsound++;
		return false;
	}
	if (h.len > MIO_FRAME_MAX) {
		a->status.rx_oversize++;
		return false;
	}
	*frame = mio_rx_frame(&a->status, &h, ip + headers, now_ns);
	frame->stamp_ns = slot->tp_sec * UINT64_C(1000000000) + slot->tp_nsec;
	return true;
}

static uint32_t afp_rx_burst(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames,
			     uint32_t n)
{
	struct afp_port *a = afp_of(port);
	uint32_t taken = 0;

	afp_release_slots(a);
	while (taken < n && a->lent < a->rx.slots) {
		const struct tpacket2_hdr *slot = mio_ring_slot(&a->rx, a->rx.next);
		uint32_t status = mio_ring_status(slot);

		if (!(status & TP_STATUS_USER))
			break;
		if (status & TP_STATUS_LOSING)
			afp_count_losses(a);
		taken += afp_parse_slot(a, slot, now_ns, &frames[taken]);
		a->rx.next = mio_ring_next(&a->rx, a->rx.next);
		a->lent++;
	}
	a->status.rx_more = taken == n;
	return taken;
}

/* ---- opening ---- */

static void afp_close_sockets(struct afp_port *a)
{
	mio_ring_unmap(&a->tx);
	mio_ring_unmap(&a->rx);
	mio_close_fds((int[]){a->tx_fd, a->status.fd, a->claimed_fd}, 3);
}

static void afp_close_inherited(struct mio_port *port)
{
	struct afp_port *a = afp_of(port);

	afp_close_sockets(a);
	mio_nexthop_close_inherited(a->nexthop);
}

static void afp_close(struct mio_port *port)
{
	struct afp_port *a = afp_of(port);

	afp_close_sockets(a);
	if (a->nexthop)
		mio_nexthop_close(a->nexthop);
	mio_backlog_fini(&a->backlog);
	free(a);
}

static const struct mio_port_ops afp_ops = {
	.tx_burst = afp_tx_burst,
	.rx_burst = afp_rx_burst,
	.deadline = afp_deadline,
	.tick = afp_tick,
	.close = afp_close,
	.close_inherited = afp_close_inherited,
};

static int afp_open_parts(struct afp_port *a, const struct mio_af_packet_cfg *cfg, int claimed_fd,
			  struct mio_error *error)
{
	struct mio_afp_iface iface;
	int err = mio_afp_iface(cfg->ifname, &iface, error);

	if (err)
		return err;
	a->mtu = iface.mtu;
	memcpy(a->mac, iface.mac, sizeof(a->mac));
	err = mio_nexthop_open(iface.index, iface.no_arp, &a->nexthop, error);
	if (!err)
		err = mio_afp_tx_socket(&iface, &a->tx_fd, error);
	if (!err)
		err = mio_afp_rx_socket(&iface, &cfg->local, &a->status.fd, error);
	if (!err)
		err = mio_afp_rings(a->tx_fd, &a->tx, AFP_TX_RING_BYTES, a->status.fd, &a->rx,
				    cfg->rx_buffer_bytes, error);
	if (!err)
		err = mio_afp_bind(&iface, a->status.fd, claimed_fd, error);
	a->status.rx_buffer_bytes = a->rx.slots * MIO_FRAME_MAX;
	return err;
}

int mio_af_packet_open(const struct mio_af_packet_cfg *cfg, int claimed_fd, struct mio_port **port,
		       struct mio_error *error)
{
	struct afp_port *a = calloc(1, sizeof(*a));
	int err;

	if (!a || !mio_backlog_init(&a->backlog, &a->status)) {
		free(a);
		strcpy(error->text, "no memory for an AF_PACKET port");
		return ENOMEM;
	}
	a->port = (struct mio_port){&afp_ops, &a->status, 1};
	a->local = cfg->local;
	a->claimed_fd = a->tx_fd = a->status.fd = -1;
	a->kick_ns = MIO_NEVER;
	err = afp_open_parts(a, cfg, claimed_fd, error);
	if (err) {
		afp_close(&a->port);
		return err;
	}
	a->claimed_fd = claimed_fd;
	*port = &a->port;
	return 0;
}
