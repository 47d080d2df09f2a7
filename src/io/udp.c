/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp.c - bursts over the sockets of a UDP port.
 *
 * Sending: the frames of a burst are chained by EV, then each chain goes out in one sendmmsg on
 * that EV's socket. A frame for which the socket has no room is copied to the backlog, and so are
 * all that follow it until the backlog is empty again, so that frames of one EV stay in order.
 *
 * Receiving: one recvmmsg into buffers that live as long as the port.
 */
#include "io/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/list.h"
#include "io/hold.h"
#include "io/udp_socket.h"

#define UDP_RX_BATCH 32u
#define UDP_BACKLOG 256u
/* A full socket buffer drains at the speed of the link; looking again sooner gains nothing. */
#define UDP_RETRY_NS 200000u
#define UDP_END 0xFFu

#define UDP_TX_CONTROL CMSG_SPACE(sizeof(int))
#define UDP_FLOW_LABEL_MASK 0xFFFFFu
/* Traffic class, flow label, drops, time. */
#define UDP_RX_CONTROL (3 * CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(struct timespec)))

struct udp_tx_control {
	_Alignas(struct cmsghdr) char bytes[UDP_TX_CONTROL];
};

struct udp_rx_control {
	_Alignas(struct cmsghdr) char bytes[UDP_RX_CONTROL];
};

struct udp_tx_side {
	struct mmsghdr msg[MIO_BURST_MAX];
	union mio_udp_sa to[MIO_BURST_MAX];
	struct udp_tx_control control[MIO_BURST_MAX];
	/* Chains of frame numbers by EV: first[ev], next[frame], UDP_END. */
	uint8_t first[MIO_UDP_EVS_MAX], last[MIO_UDP_EVS_MAX], next[MIO_BURST_MAX];
	uint8_t frame_of_msg[MIO_BURST_MAX];
};

struct udp_rx_side {
	struct mmsghdr msg[UDP_RX_BATCH];
	struct iovec iov[UDP_RX_BATCH];
	union mio_udp_sa from[UDP_RX_BATCH];
	struct udp_rx_control control[UDP_RX_BATCH];
	uint8_t bytes[UDP_RX_BATCH][MIO_FRAME_MAX];
	struct timespec wall;	/* at the last recvmmsg */
	uint32_t overflow_seen; /* the kernel's running count of drops, 32 bits */
};

struct udp_port {
	struct mio_port port;
	struct mio_status status;
	uint16_t ev_base;
	uint32_t n_evs;
	bool ipv4;
	int send_fd[MIO_UDP_EVS_MAX];
	struct mio_hold *backlog; /* in order of arrival */
	uint64_t retry_ns;	  /* when to try the backlog again */
	struct udp_tx_side tx;
	struct udp_rx_side rx;
};

static struct udp_port *udp_of(struct mio_port *port)
{
	return mb_container_of(port, struct udp_port, port);
}

/* These end a port: its interface or its descriptors are gone. Others are a frame's bad luck. */
static bool udp_is_fatal(int code)
{
	return code == EBADF || code == ENOTSOCK || code == ENODEV;
}

static void udp_refused(struct udp_port *u, int code)
{
	u->status.tx_refused++;
	u->status.last_refusal = code;
	if (udp_is_fatal(code))
		u->status.error = code;
}

static void udp_hold(struct udp_port *u, uint64_t now_ns, const struct mio_tx *frame)
{
	if (!mio_hold_put(u->backlog, frame, 0)) {
		udp_refused(u, ENOBUFS);
		return;
	}
	u->status.tx_held++;
	if (!u->status.blocked)
		u->retry_ns = now_ns + UDP_RETRY_NS;
	u->status.blocked = true;
}

static void udp_fill(struct udp_port *u, uint32_t i, const struct mio_tx *frame)
{
	struct msghdr *m = &u->tx.msg[i].msg_hdr;
	int tos = frame->tos;

	m->msg_namelen = mio_udp_sockaddr(&frame->dst, &u->tx.to[i]);
	mb_assert(u->ipv4 == (m->msg_namelen == sizeof(u->tx.to[i].in)));
	if (!u->ipv4)
		u->tx.to[i].in6.sin6_flowinfo = htonl(frame->flow_label);
	m->msg_iov = (struct iovec *)(uintptr_t)frame->iov;
	m->msg_iovlen = frame->n_iov;
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(m)), &tos, sizeof(tos));
}

/*
 * udp_send sends msg[0..n) on one socket and returns how many it dealt with: sent, or refused and
 * counted. Fewer than n: the socket has no room for the next.
 */
static uint32_t udp_send(struct udp_port *u, int fd, const struct mio_tx *frames, uint32_t n)
{
	uint32_t done = 0;

	while (done < n) {
		int sent = sendmmsg(fd, u->tx.msg + done, n - done, MSG_DONTWAIT);

		if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EINTR))
			return done;
		if (sent < 0) {
			udp_refused(u, errno);
			done++;
			continue;
		}
		for (int i = 0; i < sent; i++, done++) {
			u->status.tx_frames++;
			u->status.tx_bytes += frames[u->tx.frame_of_msg[done]].len;
		}
	}
	return done;
}

static void udp_send_chain(struct udp_port *u, uint64_t now_ns, uint32_t ev,
			   const struct mio_tx *frames)
{
	uint32_t n = 0;
	uint32_t done;

	for (uint8_t i = u->tx.first[ev]; i != UDP_END; i = u->tx.next[i]) {
		udp_fill(u, n, &frames[i]);
		u->tx.frame_of_msg[n++] = i;
	}
	done = udp_send(u, u->send_fd[ev], frames, n);
	for (; done < n; done++)
		udp_hold(u, now_ns, &frames[u->tx.frame_of_msg[done]]);
}

static void udp_chain(struct udp_port *u, uint32_t ev, uint8_t frame)
{
	u->tx.next[frame] = UDP_END;
	if (u->tx.first[ev] == UDP_END)
		u->tx.first[ev] = frame;
	else
		u->tx.next[u->tx.last[ev]] = frame;
	u->tx.last[ev] = frame;
}

static void udp_tx_burst(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames,
			 uint32_t n)
{
	struct udp_port *u = udp_of(port);

	mb_assert(n <= MIO_BURST_MAX);
	memset(u->tx.first, UDP_END, u->n_evs);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t ev = (uint32_t)frames[i].sport - u->ev_base;

		if (ev >= u->n_evs)
			udp_refused(u, EADDRNOTAVAIL);
		else if (u->status.blocked)
			udp_hold(u, now_ns, &frames[i]);
		else
			udp_chain(u, ev, (uint8_t)i);
	}
	for (uint32_t ev = 0; ev < u->n_evs; ev++)
		if (u->tx.first[ev] != UDP_END)
			udp_send_chain(u, now_ns, ev, frames);
}

static uint64_t udp_deadline(const struct mio_port *port)
{
	const struct udp_port *u = mb_container_of(port, const struct udp_port, port);

	return u->status.blocked ? u->retry_ns : MIO_NEVER;
}

/* udp_tick sends the backlog until the system is full again; then everything waits once more. */
static void udp_tick(struct mio_port *port, uint64_t now_ns)
{
	struct udp_port *u = udp_of(port);

	if (!u->status.blocked || now_ns < u->retry_ns)
		return;
	while (mio_hold_count(u->backlog) > 0) {
		const struct mio_tx *frame = mio_hold_first(u->backlog);

		u->tx.frame_of_msg[0] = 0;
		udp_fill(u, 0, frame);
		if (udp_send(u, u->send_fd[frame->sport - u->ev_base], frame, 1) == 0) {
			u->retry_ns = now_ns + UDP_RETRY_NS;
			return;
		}
		mio_hold_pop(u->backlog);
	}
	u->status.blocked = false;
}

/* udp_age returns how long ago a frame came, by the kernel's stamp, at most a second. */
static uint64_t udp_age(const struct timespec *stamp, const struct timespec *now)
{
	int64_t age = (int64_t)(now->tv_sec - stamp->tv_sec) * 1000000000 +
		      (now->tv_nsec - stamp->tv_nsec);

	/* The wall clock may have been set in between. */
	return age < 0 || age > 1000000000 ? 0 : (uint64_t)age;
}

/* udp_note takes one piece of ancillary data: DSCP and ECN, flow label, time, drops so far. */
static void udp_note(struct udp_port *u, const struct cmsghdr *c, struct mio_rx *frame)
{
	const uint8_t *data = CMSG_DATA(c);
	struct timespec stamp;
	uint32_t number;
	uint64_t age;

	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
		frame->tos = *data;
	} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
		memcpy(&stamp, data, sizeof(stamp));
		age = udp_age(&stamp, &u->rx.wall);
		frame->time_ns -= age < frame->time_ns ? age : frame->time_ns;
	} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
		memcpy(&number, data, sizeof(number));
		u->status.rx_overruns += number - u->rx.overflow_seen;
		u->rx.overflow_seen = number;
	} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
		memcpy(&number, data, sizeof(number));
		frame->tos = (uint8_t)number;
	} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == MIO_UDP_FLOWINFO) {
		memcpy(&number, data, sizeof(number));
		frame->flow_label = ntohl(number) & UDP_FLOW_LABEL_MASK;
	}
}

/* udp_take turns message i into a frame; false: it is longer than any frame. */
static bool udp_take(struct udp_port *u, uint32_t i, uint64_t now_ns, struct mio_rx *frame)
{
	struct msghdr *m = &u->rx.msg[i].msg_hdr;

	*frame = (struct mio_rx){
		.bytes = u->rx.bytes[i],
		.len = u->rx.msg[i].msg_len,
		.time_ns = now_ns,
	};
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		udp_note(u, c, frame);
	if (m->msg_flags & MSG_TRUNC) {
		u->status.rx_oversize++;
		return false;
	}
	mio_udp_from_sockaddr(&u->rx.from[i], &frame->src);
	u->status.rx_frames++;
	u->status.rx_bytes += frame->len;
	return true;
}

static uint32_t udp_rx_burst(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames,
			     uint32_t n)
{
	struct udp_port *u = udp_of(port);
	uint32_t want = n < UDP_RX_BATCH ? n : UDP_RX_BATCH;
	uint32_t taken = 0;
	int got;

	for (uint32_t i = 0; i < want; i++) {
		u->rx.msg[i].msg_hdr.msg_namelen = sizeof(u->rx.from[i]);
		u->rx.msg[i].msg_hdr.msg_controllen = sizeof(u->rx.control[i]);
	}
	got = recvmmsg(u->status.fd, u->rx.msg, want, MSG_DONTWAIT, NULL);
	if (got < 0) {
		if (udp_is_fatal(errno))
			u->status.error = errno;
		return 0;
	}
	if (got > 0)
		clock_gettime(CLOCK_REALTIME, &u->rx.wall);
	for (uint32_t i = 0; i < (uint32_t)got; i++)
		if (udp_take(u, i, now_ns, &frames[taken]))
			taken++;
	return taken;
}

static void udp_close(struct mio_port *port)
{
	struct udp_port *u = udp_of(port);

	for (uint32_t i = 0; i < u->n_evs; i++)
		if (u->send_fd[i] >= 0)
			close(u->send_fd[i]);
	if (u->status.fd >= 0)
		close(u->status.fd);
	mio_hold_destroy(u->backlog);
	free(u);
}

static const struct mio_port_ops udp_ops = {
	.tx_burst = udp_tx_burst,
	.rx_burst = udp_rx_burst,
	.deadline = udp_deadline,
	.tick = udp_tick,
	.close = udp_close,
};

static void udp_prepare_tx(struct udp_port *u)
{
	for (uint32_t i = 0; i < MIO_BURST_MAX; i++) {
		struct msghdr *m = &u->tx.msg[i].msg_hdr;
		struct cmsghdr *c = (void *)u->tx.control[i].bytes;

		m->msg_name = &u->tx.to[i];
		m->msg_control = c;
		m->msg_controllen = sizeof(u->tx.control[i]);
		c->cmsg_level = u->ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
		c->cmsg_type = u->ipv4 ? IP_TOS : IPV6_TCLASS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
	}
}

static void udp_prepare_rx(struct udp_port *u)
{
	for (uint32_t i = 0; i < UDP_RX_BATCH; i++) {
		struct msghdr *m = &u->rx.msg[i].msg_hdr;

		u->rx.iov[i] = (struct iovec){u->rx.bytes[i], MIO_FRAME_MAX};
		m->msg_name = &u->rx.from[i];
		m->msg_iov = &u->rx.iov[i];
		m->msg_iovlen = 1;
		m->msg_control = &u->rx.control[i];
	}
}

int mio_udp_open(const struct mio_udp_cfg *cfg, int claimed_fd, struct mio_port **port,
		 struct mio_error *error)
{
	struct udp_port *u = calloc(1, sizeof(*u));

	mb_assert(cfg->n_evs >= 1 && cfg->n_evs <= MIO_UDP_EVS_MAX);
	if (u)
		u->backlog = mio_hold_create(UDP_BACKLOG);
	if (!u || !u->backlog) {
		free(u);
		strcpy(error->text, "no memory for a UDP port");
		return ENOMEM;
	}
	u->port = (struct mio_port){.ops = &udp_ops, .status = &u->status, .max_run = 1};
	u->status.fd = -1;
	u->ev_base = cfg->ev_base;
	u->ipv4 = mio_udp_is_ipv4(&cfg->local);
	for (; u->n_evs < cfg->n_evs; u->n_evs++) {
		int err = mio_udp_send_socket(&cfg->local, cfg->ifname,
					      (uint16_t)(cfg->ev_base + u->n_evs),
					      &u->send_fd[u->n_evs], error);

		if (err) {
			udp_close(&u->port);
			return err;
		}
	}
	udp_prepare_tx(u);
	udp_prepare_rx(u);
	u->status.fd = claimed_fd;
	u->status.rx_buffer_bytes = mio_udp_grow_buffer(claimed_fd, cfg->rx_buffer_bytes);
	*port = &u->port;
	return 0;
}
