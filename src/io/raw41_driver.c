/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raw41_driver.c - bursts over two raw sockets: one sends packets whose headers, outer and inner,
 * are written here; the other gets what arrives with next header 41, filtered in the kernel by the
 * inner UDP port, because every raw socket of the host is shown every such packet.
 */
#include "io/drivers.h"

#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/list.h"
#include "io/backlog.h"
#include "io/udp.h"
#include "wire/ip_udp.h"

#define RAW41_RX_BATCH 32u
#define RAW41_HEADERS (MW_IPV6_BYTES + MW_IP_UDP_MAX)
#define RAW41_RX_BYTES (MW_IP_UDP_MAX + MIO_FRAME_MAX)

struct raw41_rx_control {
	_Alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint32_t)) +
					    CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

struct raw41_tx_side {
	int fd;
	struct mmsghdr msg[MIO_BURST_MAX];
	struct sockaddr_in6 to[MIO_BURST_MAX];
	struct iovec iov[MIO_BURST_MAX][1 + MIO_IOV_MAX];
	uint8_t headers[MIO_BURST_MAX][RAW41_HEADERS];
};

struct raw41_rx_side {
	struct mmsghdr msg[RAW41_RX_BATCH];
	struct iovec iov[RAW41_RX_BATCH];
	struct raw41_rx_control control[RAW41_RX_BATCH];
	struct sockaddr_in6 from[RAW41_RX_BATCH];
	uint8_t bytes[RAW41_RX_BATCH][RAW41_RX_BYTES];
	uint32_t overflow_seen; /* the kernel's running count of drops, 32 bits */
};

struct raw41_port {
	struct mio_port port;
	struct mio_status status;
	struct mio_addr local;
	uint8_t gid[16];
	int claimed_fd;
	struct mio_backlog backlog;
	struct raw41_tx_side tx;
	struct raw41_rx_side rx;
};

static struct raw41_port *raw41_of(struct mio_port *port)
{
	return mb_container_of(port, struct raw41_port, port);
}

/* ---- sending ---- */

static void raw41_fill_message(struct raw41_port *r, uint32_t i, const struct mio_tx *frame)
{
	struct msghdr *m = &r->tx.msg[i].msg_hdr;
	uint8_t *headers = r->tx.headers[i];
	struct mw_ip_udp h = mio_tx_headers(frame, r->gid, frame->dst_gid);
	size_t inner;

	mb_assert(!mw_is_ipv4(h.dst)); /* the caller that makes up addresses has checked them */
	inner = mw_ip_udp_write(&h, headers + MW_IPV6_BYTES);
	h = mio_tx_headers(frame, r->local.ip, frame->dst.ip);
	mw_ip_encapsulate(&h, inner + frame->len, headers);
	memcpy(&r->tx.to[i].sin6_addr, frame->dst.ip, 16);
	r->tx.iov[i][0] = (struct iovec){headers, MW_IPV6_BYTES + inner};
	memcpy(&r->tx.iov[i][1], frame->iov, frame->n_iov * sizeof(*frame->iov));
	m->msg_iov = r->tx.iov[i];
	m->msg_iovlen = 1 + frame->n_iov;
}

/*
 * raw41_send sends frames[0..n) and returns how many it dealt with: sent, or refused and counted.
 * Fewer than n: the socket has no room for the next.
 */
static uint32_t raw41_send(struct raw41_port *r, const struct mio_tx *frames, uint32_t n)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < n; i++)
		raw41_fill_message(r, i, &frames[i]);
	while (done < n) {
		int sent = sendmmsg(r->tx.fd, r->tx.msg + done, n - done, MSG_DONTWAIT);

		if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EINTR))
			return done;
		if (sent < 0) {
			mio_count_refused(&r->status, errno);
			done++;
			continue;
		}
		for (int i = 0; i < sent; i++, done++) {
			r->status.tx_frames++;
			r->status.tx_bytes += frames[done].len;
		}
	}
	return done;
}

static void raw41_tx_burst(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames,
			   uint32_t n)
{
	struct raw41_port *r = raw41_of(port);
	uint32_t done = 0;

	mb_assert(n <= MIO_BURST_MAX);
	if (!r->status.blocked)
		done = raw41_send(r, frames, n);
	for (; done < n; done++)
		mio_backlog_put(&r->backlog, now_ns, &frames[done]);
}

static uint64_t raw41_deadline(const struct mio_port *port)
{
	return mio_backlog_deadline(&mb_container_of(port, const struct raw41_port, port)->backlog);
}

static bool raw41_send_backlogged(void *ctx, uint64_t now_ns, const struct mio_tx *frame)
{
	(void)now_ns;
	return raw41_send(ctx, frame, 1) == 1;
}

static void raw41_tick(struct mio_port *port, uint64_t now_ns)
{
	struct raw41_port *r = raw41_of(port);

	mio_backlog_tick(&r->backlog, now_ns, raw41_send_backlogged, r);
}

/* ---- receiving ---- */

/*
 * Takes the outer traffic class and the kernel's count of drops from the ancillary data. *to_us:
 * the outer destination is an address of this host, not a group.
 */
static uint8_t raw41_read_ancillary(struct raw41_port *r, struct msghdr *m, bool *to_us)
{
	uint8_t tos = 0;

	*to_us = true;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
			int value;

			memcpy(&value, CMSG_DATA(c), sizeof(value));
			tos = (uint8_t)value;
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			*to_us = !IN6_IS_ADDR_MULTICAST(&info.ipi6_addr);
		} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
			uint32_t drops;

			memcpy(&drops, CMSG_DATA(c), sizeof(drops));
			r->status.rx_overruns += drops - r->rx.overflow_seen;
			r->rx.overflow_seen = drops;
		}
	}
	return tos;
}

/* raw41_parse turns message i into a frame; false: it is none for us, or longer than any. */
static bool raw41_parse(struct raw41_port *r, uint32_t i, uint64_t now_ns, struct mio_rx *frame)
{
	struct msghdr *m = &r->rx.msg[i].msg_hdr;
	struct mw_ip_udp h;
	size_t headers;
	bool to_us;
	uint8_t outer_tos = raw41_read_ancillary(r, m, &to_us);

	if (m->msg_flags & MSG_TRUNC) {
		r->status.rx_oversize++;
		return false;
	}
	if (!mw_ip_udp_read(r->rx.bytes[i], r->rx.msg[i].msg_len, &h, &headers) ||
	    h.dport != r->local.udp_port || memcmp(h.dst, r->gid, 16) != 0)
		return false;
	if (!to_us || !mw_ip_udp_is_sound(r->rx.bytes[i], &h, headers, true)) {
		r->status.rx_unsound++;
		return false;
	}
	*frame = mio_rx_frame(&r->status, &h, r->rx.bytes[i] + headers, now_ns);
	memcpy(frame->outer_src, &r->rx.from[i].sin6_addr, 16);
	frame->tos = mw_ecn_combine(outer_tos, h.tos);
	return true;
}

static uint32_t raw41_rx_burst(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames,
			       uint32_t n)
{
	struct raw41_port *r = raw41_of(port);
	uint32_t want = n < RAW41_RX_BATCH ? n : RAW41_RX_BATCH, taken = 0;
	int got;

	for (uint32_t i = 0; i < want; i++)
		r->rx.msg[i].msg_hdr.msg_controllen = sizeof(r->rx.control[i]);
	got = recvmmsg(r->status.fd, r->rx.msg, want, MSG_DONTWAIT, NULL);
	if (got < 0) {
		if (mio_is_fatal(errno))
			r->status.error = errno;
		r->status.rx_more = false;
		return 0;
	}
	for (uint32_t i = 0; i < (uint32_t)got; i++)
		if (raw41_parse(r, i, now_ns, &frames[taken]))
			taken++;
	r->status.rx_more = (uint32_t)got == want;
	return taken;
}

/* ---- opening ---- */

static void raw41_close_inherited(struct mio_port *port)
{
	struct raw41_port *r = raw41_of(port);

	mio_close_fds((int[]){r->tx.fd, r->status.fd, r->claimed_fd}, 3);
}

static void raw41_close(struct mio_port *port)
{
	struct raw41_port *r = raw41_of(port);

	raw41_close_inherited(port);
	mio_backlog_fini(&r->backlog);
	free(r);
}

static const struct mio_port_ops raw41_ops = {
	.tx_burst = raw41_tx_burst,
	.rx_burst = raw41_rx_burst,
	.deadline = raw41_deadline,
	.tick = raw41_tick,
	.close = raw41_close,
	.close_inherited = raw41_close_inherited,
};

static int raw41_fail(const struct mio_raw41_cfg *cfg, const char *what, struct mio_error *error)
{
	int code = errno;

	snprintf(error->text, sizeof(error->text), "%s for protocol 41%s%s: %s%s", what,
		 cfg->ifname ? " on " : "", cfg->ifname ? cfg->ifname : "", strerror(code),
		 code == EPERM ? "; raw sockets need CAP_NET_RAW (run as root, or setcap "
				 "cap_net_raw+ep)"
			       : "");
	return code;
}

/*
 * A classic filter over what follows the outer header: an inner IPv6 header whose next header is
 * UDP, and the UDP destination port. What has an extension header in between is let through and
 * judged by raw41_parse. The unprivileged claim of the number is a UDP socket that hears nothing.
 */
static int raw41_filter(int fd, uint16_t udp_port)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ROUTING, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 3),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, MW_IPV6_BYTES + 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, udp_port, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int raw41_option(int fd, int level, int name)
{
	int one = 1;

	return setsockopt(fd, level, name, &one, sizeof(one));
}

static int raw41_sockets(struct raw41_port *r, const struct mio_raw41_cfg *cfg,
			 struct mio_error *error)
{
	int flags = SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK;

	r->tx.fd = socket(AF_INET6, flags, IPPROTO_RAW);
	r->status.fd = socket(AF_INET6, flags, IPPROTO_IPV6);
	r->status.rx_asks_system = true;
	if (r->tx.fd < 0 || r->status.fd < 0)
		return raw41_fail(cfg, "socket", error);
	if (cfg->ifname && (setsockopt(r->status.fd, SOL_SOCKET, SO_BINDTODEVICE, cfg->ifname,
				       (socklen_t)strlen(cfg->ifname)) < 0 ||
			    setsockopt(r->tx.fd, SOL_SOCKET, SO_BINDTODEVICE, cfg->ifname,
				       (socklen_t)strlen(cfg->ifname)) < 0))
		return raw41_fail(cfg, "SO_BINDTODEVICE", error);
	if (raw41_filter(r->status.fd, cfg->local.udp_port) < 0)
		return raw41_fail(cfg, "SO_ATTACH_FILTER", error);
	if (raw41_option(r->status.fd, IPPROTO_IPV6, IPV6_RECVTCLASS) < 0 ||
	    raw41_option(r->status.fd, IPPROTO_IPV6, IPV6_RECVPKTINFO) < 0 ||
	    raw41_option(r->status.fd, SOL_SOCKET, SO_RXQ_OVFL) < 0)
		return raw41_fail(cfg, "setsockopt", error);
	r->status.rx_buffer_bytes = mio_udp_grow_buffer(r->status.fd, cfg->rx_buffer_bytes);
	return 0;
}

static void raw41_prepare(struct raw41_port *r)
{
	for (uint32_t i = 0; i < MIO_BURST_MAX; i++) {
		r->tx.to[i].sin6_family = AF_INET6;
		r->tx.msg[i].msg_hdr.msg_name = &r->tx.to[i];
		r->tx.msg[i].msg_hdr.msg_namelen = sizeof(r->tx.to[i]);
	}
	for (uint32_t i = 0; i < RAW41_RX_BATCH; i++) {
		r->rx.iov[i] = (struct iovec){r->rx.bytes[i], RAW41_RX_BYTES};
		r->rx.msg[i].msg_hdr.msg_iov = &r->rx.iov[i];
		r->rx.msg[i].msg_hdr.msg_iovlen = 1;
		r->rx.msg[i].msg_hdr.msg_control = &r->rx.control[i];
		r->rx.msg[i].msg_hdr.msg_name = &r->rx.from[i];
		r->rx.msg[i].msg_hdr.msg_namelen = sizeof(r->rx.from[i]);
	}
}

int mio_raw41_open(const struct mio_raw41_cfg *cfg, int claimed_fd, struct mio_port **port,
		   struct mio_error *error)
{
	struct raw41_port *r;
	int err;

	if (mw_is_ipv4(cfg->local.ip) || mw_is_ipv4(cfg->gid)) {
		strcpy(error->text, "protocol 41 carries IPv6; the port has an IPv4 address");
		return EAFNOSUPPORT;
	}
	r = calloc(1, sizeof(*r));
	if (!r || !mio_backlog_init(&r->backlog, &r->status)) {
		free(r);
		strcpy(error->text, "no memory for a port of protocol 41");
		return ENOMEM;
	}
	r->port = (struct mio_port){&raw41_ops, &r->status, 1};
	r->local = cfg->local;
	memcpy(r->gid, cfg->gid, sizeof(r->gid));
	r->claimed_fd = r->tx.fd = r->status.fd = -1;
	err = raw41_sockets(r, cfg, error);
	if (err) {
		raw41_close(&r->port);
		return err;
	}
	raw41_prepare(r);
	r->claimed_fd = claimed_fd;
	*port = &r->port;
	return 0;
}
