/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_udp.c - the UDP driver over loopback. */
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "io/drivers.h"
#include "io/udp.h"
#include "unit/loopback.h"

#define UDP_PORT_A 34791u
#define UDP_PORT_B 34792u
#define UDP_EV_BASE 52000u
#define UDP_EVS 4u

/*
 * sendmmsg is wrapped by the linker, so that a test can make the system refuse: of each call only
 * the first udp_room messages pass, then the socket is full.
 */
int __real_sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags);
int __real_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);

int __real_recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags,
		    struct timespec *timeout);
int __wrap_recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags,
		    struct timespec *timeout);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

static uint32_t udp_empty_looks;	 /* so many times nothing has arrived */
static const struct timespec *udp_stamp; /* what the kernel says of a frame's arrival */
static const struct timespec *udp_wall;	 /* what the wall clock shows */
static unsigned int udp_room = UINT_MAX;
static int udp_refusal = EAGAIN;
static bool udp_no_runs; /* as where no device can segment */
static uint32_t udp_runs_tried;
static bool udp_no_route; /* nothing goes */
static bool udp_lies;	  /* takes runs, and sends each as one packet */
static bool udp_no_connect;
static uint32_t udp_connects;	   /* tried, to somebody */
static uint32_t udp_named;	   /* messages that named where they go */
static uint32_t udp_pieces;	   /* iovecs of the largest message */
static uint32_t udp_errors_to_say; /* of a connected socket, one a call */

static bool udp_is_run(const struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c;
	     c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)m, c))
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_SEGMENT)
			return true;
	return false;
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	udp_connects += to->sa_family != AF_UNSPEC;
	if (!udp_no_connect)
		return __real_connect(fd, to, len);
	errno = ENETUNREACH;
	return -1;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (!udp_wall || clock != CLOCK_REALTIME)
		return __real_clock_gettime(clock, now);
	*now = *udp_wall;
	return 0;
}

int __wrap_recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags,
		    struct timespec *timeout)
{
	int got;

	if (udp_empty_looks > 0) {
		udp_empty_looks--;
		errno = EAGAIN;
		return -1;
	}
	got = __real_recvmmsg(fd, msgs, n, flags, timeout);
	for (int i = 0; udp_stamp && i < got; i++) {
		struct msghdr *m = &msgs[i].msg_hdr;

		for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
			if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS)
				memcpy(CMSG_DATA(c), udp_stamp, sizeof(*udp_stamp));
	}
	return got;
}

static void udp_look_at(const struct mmsghdr *msgs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		udp_named += msgs[i].msg_hdr.msg_name != NULL;
		if (msgs[i].msg_hdr.msg_iovlen > udp_pieces)
			udp_pieces = (uint32_t)msgs[i].msg_hdr.msg_iovlen;
	}
}

int __wrap_sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags)
{
	bool is_run = udp_is_run(&msgs->msg_hdr);
	int sent;

	udp_runs_tried += is_run;
	udp_look_at(msgs, n);
	if (udp_errors_to_say > 0 && !msgs->msg_hdr.msg_name) {
		udp_errors_to_say--;
		errno = ECONNREFUSED;
		return -1;
	}
	if (udp_no_route) {
		errno = ENETUNREACH;
		return -1;
	}
	if (udp_no_runs && is_run) {
		errno = EIO;
		return -1;
	}
	for (unsigned int i = 0; udp_lies && i < n; i++)
		msgs[i].msg_hdr.msg_controllen = 0;
	if (udp_room == 0) {
		errno = udp_refusal;
		return -1;
	}
	sent = __real_sendmmsg(fd, msgs, n < udp_room ? n : udp_room, flags);
	if (sent > 0 && udp_room != UINT_MAX)
		udp_room -= (unsigned int)sent;
	return sent;
}

static struct mio_addr udp_addr(uint8_t last, uint16_t port)
{
	uint32_t ip = loopback_ip(0, last);
	struct mio_addr addr = {.ip = {[10] = 0xFF, [11] = 0xFF}, .udp_port = port};

	mb_store_be32(addr.ip + 12, ip);

	return addr;
}

static struct mio_port *udp_open(uint8_t last, uint16_t port)
{
	struct mio_udp_cfg cfg = {.local = udp_addr(last, port),
				  .ev_base = UDP_EV_BASE,
				  .n_evs = UDP_EVS,
				  .max_run = 1,
				  .rx_buffer_bytes = 1u << 20};
	struct mio_port *p = NULL;
	struct mio_error error = {""};
	int fd = -1;

	if (mio_udp_claim(&cfg.local, NULL, &fd, &error) || mio_udp_open(&cfg, fd, &p, &error))
		fail_msg("%s", error.text);
	return p;
}

static struct mio_tx udp_frame(struct iovec *iov, const char *text, uint32_t ev, uint8_t last,
			       uint16_t port)
{
	*iov = (struct iovec){(void *)(uintptr_t)text, strlen(text)};
	return (struct mio_tx){.iov = iov,
			       .n_iov = 1,
			       .len = (uint32_t)iov->iov_len,
			       .ev = ev,
			       .sport = (uint16_t)ev,
			       .dst = udp_addr(last, port),
			       .tos = 0x11,
			       .is_data = true};
}

/* udp_receive waits up to a second for n frames. */
static uint32_t udp_receive(struct mio_port *port, struct mio_rx *got, uint32_t n)
{
	struct pollfd pfd = {port->status->fd, POLLIN, 0};
	uint32_t all = 0;

	while (all < n && poll(&pfd, 1, 1000) == 1)
		all += mio_port_rx(port, 42, got + all, n - all);
	return all;
}

TEST(mio_udp, frame_arrives_with_ev_dscp_and_source)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B);
	struct mio_addr from = udp_addr(1, 0);
	struct mio_rx got[4];
	struct iovec iov;
	struct mio_tx frame = udp_frame(&iov, "hello", UDP_EV_BASE + 3, 2, UDP_PORT_B);

	mio_port_tx(a, 0, &frame, 1);
	assert_u_eq(udp_receive(b, got, 1), 1);
	assert_u_eq(got[0].len, 5);
	assert_memory_equal(got[0].bytes, "hello", 5);
	assert_u_eq(got[0].src.udp_port, UDP_EV_BASE + 3);
	assert_memory_equal(got[0].src.ip, from.ip, 16);
	assert_u_eq(got[0].tos, 0x11);
	assert_u_between(got[0].time_ns, 0, 42);
	assert_u_eq(a->status->tx_frames, 1);
	assert_u_eq(a->status->tx_bytes, 5);
	assert_u_eq(b->status->rx_frames, 1);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, burst_over_several_evs_keeps_order_in_each)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B);
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[MIO_BURST_MAX];
	uint8_t bytes[MIO_BURST_MAX];
	uint32_t last[UDP_EVS] = {0};
	struct mio_rx got[32];

	for (uint32_t i = 0; i < MIO_BURST_MAX; i++) {
		frames[i] = udp_frame(&iov[i], "", UDP_EV_BASE + i * 7 % UDP_EVS, 2, UDP_PORT_B);
		bytes[i] = (uint8_t)(i + 1);
		iov[i] = (struct iovec){&bytes[i], 1};
		frames[i].len = 1;
	}
	mio_port_tx(a, 0, frames, MIO_BURST_MAX);
	for (uint32_t half = 0; half < 2; half++) {
		assert_u_eq(udp_receive(b, got, 32), 32);
		for (uint32_t i = 0; i < 32; i++) {
			uint32_t ev = got[i].src.udp_port - UDP_EV_BASE;

			assert_true(got[i].bytes[0] > last[ev]);
			last[ev] = got[i].bytes[0];
		}
	}
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, frame_that_the_system_refuses_is_counted)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	static const char big[MIO_FRAME_MAX + 1] = {0};
	struct iovec iov[MIO_IOV_MAX];
	struct mio_tx frame = udp_frame(iov, "x", UDP_EV_BASE, 2, UDP_PORT_B);

	/* 20 pieces of 4 KB make a datagram that UDP cannot carry. */
	for (uint32_t i = 0; i < MIO_IOV_MAX; i++)
		iov[i] = (struct iovec){(void *)(uintptr_t)big, MIO_FRAME_MAX};
	frame.n_iov = MIO_IOV_MAX;
	mio_port_tx(a, 0, &frame, 1);
	assert_u_eq(a->status->tx_refused, 1);
	assert_i_eq(a->status->last_refusal, EMSGSIZE);
	assert_i_eq(a->status->error, 0);
	frame = udp_frame(iov, "x", UDP_EV_BASE + UDP_EVS, 2, UDP_PORT_B);
	mio_port_tx(a, 0, &frame, 1);
	assert_u_eq(a->status->tx_refused, 2);
	assert_i_eq(a->status->last_refusal, EADDRNOTAVAIL);
	mio_port_close(a);
}

TEST(mio_udp, refused_frame_does_not_stop_the_burst)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B);
	static char big[70000];
	struct mio_tx frames[3];
	struct iovec iov[3];
	struct mio_rx got[3];

	frames[0] = udp_frame(&iov[0], "one", UDP_EV_BASE, 2, UDP_PORT_B);
	frames[1] = udp_frame(&iov[1], "two", UDP_EV_BASE, 2, UDP_PORT_B);
	iov[1] = (struct iovec){big, sizeof(big)};
	frames[2] = udp_frame(&iov[2], "three", UDP_EV_BASE, 2, UDP_PORT_B);
	mio_port_tx(a, 0, frames, 3);
	assert_u_eq(udp_receive(b, got, 2), 2);
	assert_memory_equal(got[1].bytes, "three", 5);
	assert_u_eq(a->status->tx_refused, 1);
	assert_u_eq(a->status->tx_frames, 2);
	mio_port_close(a);
	mio_port_close(b);
}

/* udp_numbered sends frames numbered from first on, on one EV. */
static void udp_numbered(struct mio_port *a, uint64_t now_ns, uint8_t first, uint32_t n)
{
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[MIO_BURST_MAX];
	uint8_t bytes[MIO_BURST_MAX];

	for (uint32_t i = 0; i < n; i++) {
		frames[i] = udp_frame(&iov[i], "", UDP_EV_BASE, 2, UDP_PORT_B);
		bytes[i] = (uint8_t)(first + i);
		iov[i] = (struct iovec){&bytes[i], 1};
		frames[i].len = 1;
	}
	mio_port_tx(a, now_ns, frames, n);
}

TEST(mio_udp, full_socket_holds_frames_in_order)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B);
	struct mio_rx got[20];
	uint64_t again;

	udp_room = 3;
	udp_numbered(a, 1000, 0, 8);
	assert_true(a->status->blocked);
	assert_u_eq(a->status->tx_backlogged, 5);
	udp_room = UINT_MAX;
	udp_numbered(a, 1000, 8, 2); /* must not overtake those that wait */
	again = mio_port_deadline(a);
	assert_u_between(again, 1001, 1000 + 1000000);
	mio_port_tick(a, again - 1);
	assert_true(a->status->blocked);
	udp_room = 4;
	mio_port_tick(a, again);
	assert_true(a->status->blocked);
	assert_true(mio_port_deadline(a) > again);
	udp_room = UINT_MAX;
	mio_port_tick(a, mio_port_deadline(a));
	assert_false(a->status->blocked);
	assert_u_eq(mio_port_deadline(a), MIO_NEVER);
	assert_u_eq(udp_receive(b, got, 10), 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_u_eq(got[i].bytes[0], i);
	assert_u_eq(a->status->tx_frames, 10);
	assert_u_eq(a->status->tx_refused, 0);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, backlog_is_bounded)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);

	udp_room = 0;
	udp_refusal = ENOBUFS;
	for (int i = 0; i < 5; i++)
		udp_numbered(a, 0, 0, 64);
	udp_room = UINT_MAX;
	udp_refusal = EAGAIN;
	assert_u_eq(a->status->tx_backlogged, 256);
	assert_u_eq(a->status->tx_refused, 5 * 64 - 256);
	assert_i_eq(a->status->last_refusal, ENOBUFS);
	assert_i_eq(a->status->error, 0);
	mio_port_close(a);
}

TEST(mio_udp, unreachable_network_is_counted_not_fatal)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);

	udp_room = 0;
	udp_refusal = ENETUNREACH;
	udp_numbered(a, 0, 0, 3);
	udp_room = UINT_MAX;
	udp_refusal = EAGAIN;
	assert_u_eq(a->status->tx_refused, 3);
	assert_false(a->status->blocked);
	assert_i_eq(a->status->error, 0);
	mio_port_close(a);
}

TEST(mio_udp, oversize_datagram_is_counted_not_delivered)
{
	struct mio_port *b = udp_open(2, UDP_PORT_B);
	struct mio_addr to = udp_addr(2, UDP_PORT_B);
	union mio_udp_sa sa;
	static char big[MIO_FRAME_MAX + 1];
	struct mio_rx got[2];
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	assert_u_eq(mio_udp_sockaddr(&to, &sa), sizeof(sa.in));
	assert_i_eq(sendto(s, big, sizeof(big), 0, &sa.any, sizeof(sa.in)), sizeof(big));
	assert_i_eq(sendto(s, big, MIO_FRAME_MAX, 0, &sa.any, sizeof(sa.in)), MIO_FRAME_MAX);
	assert_u_eq(udp_receive(b, got, 1), 1);
	assert_u_eq(got[0].len, MIO_FRAME_MAX);
	assert_u_eq(b->status->rx_oversize, 1);
	close(s);
	mio_port_close(b);
}

/* A burst that was full may have left some behind; one that was not has not. */
TEST(mio_udp, says_whether_more_may_wait)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B);
	struct mio_rx got[4];

	udp_numbered(a, 0, 0, 6);
	assert_u_eq(udp_receive(b, got, 4), 4);
	assert_true(b->status->rx_more);
	assert_u_eq(mio_port_rx(b, 0, got, 4), 2);
	assert_false(b->status->rx_more);
	assert_u_eq(mio_port_rx(b, 0, got, 4), 0);
	assert_false(b->status->rx_more);
	mio_port_close(a);
	mio_port_close(b);
}

/* Overruns are reported with the next datagram that finds room. */
TEST(mio_udp, overruns_are_counted)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B);
	static char text[4000];
	struct mio_rx got[32];
	struct iovec iov;
	struct mio_tx frame;
	uint64_t n = b->status->rx_buffer_bytes / 1000;

	memset(text, 'x', sizeof(text) - 1);
	for (uint64_t i = 0; i < n; i++) {
		frame = udp_frame(&iov, text, UDP_EV_BASE, 2, UDP_PORT_B);
		mio_port_tx(a, 0, &frame, 1);
	}
	while (mio_port_rx(b, 0, got, 32) > 0)
		;
	mio_port_tx(a, 0, &frame, 1);
	assert_u_eq(udp_receive(b, got, 1), 1);
	assert_u_eq(b->status->rx_frames + b->status->rx_overruns, n + 1);
	assert_true(b->status->rx_overruns > 0);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, vanished_socket_ends_the_port)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	int fd = a->status->fd;
	struct mio_rx got[2];

	close(fd);
	assert_u_eq(mio_port_rx(a, 0, got, 2), 0);
	assert_i_eq(a->status->error, EBADF);
	dup2(STDERR_FILENO, fd); /* so that closing the port closes no other's descriptor */
	mio_port_close(a);
}

/* ---- runs ---- */

#define UDP_RUN 8u
#define UDP_RUN_BYTES 1000u

static struct mio_port *udp_open_runs(uint8_t last, uint16_t port)
{
	struct mio_udp_cfg cfg = {.local = udp_addr(last, port),
				  .ev_base = UDP_EV_BASE,
				  .n_evs = UDP_EVS,
				  .max_run = UDP_RUN,
				  .rx_buffer_bytes = 1u << 20};
	struct mio_port *p = NULL;
	struct mio_error error = {""};
	int fd = -1;

	if (mio_udp_claim(&cfg.local, NULL, &fd, &error) || mio_udp_open(&cfg, fd, &p, &error))
		fail_msg("%s", error.text);
	return p;
}

/* Frames of two pieces, each filled with its number; every 20th is shorter, and so ends a run. */
static uint32_t udp_runs(struct mio_tx *frames, uint8_t bytes[][UDP_RUN_BYTES], struct iovec *iov)
{
	for (uint32_t i = 0; i < MIO_BURST_MAX; i++) {
		uint32_t len = i % 20 == 19 ? 300 : UDP_RUN_BYTES;

		memset(bytes[i], (int)i, UDP_RUN_BYTES);
		frames[i] =
			udp_frame(&iov[2 * i], "", UDP_EV_BASE + i / 10 % UDP_EVS, 2, UDP_PORT_B);
		iov[2 * i] = (struct iovec){bytes[i], 100};
		iov[2 * i + 1] = (struct iovec){bytes[i] + 100, len - 100};
		frames[i].n_iov = 2;
		frames[i].len = len;
	}
	return MIO_BURST_MAX;
}

/* Receives all frames, a few at a time, and checks that each is whole and from its EV. */
static void udp_expect_runs(struct mio_port *port, uint32_t a_time)
{
	uint64_t seen = 0;

	while (seen != UINT64_MAX) {
		struct mio_rx got[32];
		uint32_t n = mio_port_rx(port, 42, got, a_time);

		/* Frames that a run left behind do not show on the descriptor. */
		if (n == 0)
			n = udp_receive(port, got, 1);
		assert_true(n > 0);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t i = got[k].bytes[0];

			assert_true(i < MIO_BURST_MAX);
			assert_u_eq(seen >> i & 1, 0);
			seen |= UINT64_C(1) << i;
			assert_u_eq(got[k].len, i % 20 == 19 ? 300 : UDP_RUN_BYTES);
			assert_u_eq(got[k].bytes[got[k].len - 1], i);
			assert_u_eq(got[k].src.udp_port, UDP_EV_BASE + i / 10 % UDP_EVS);
			assert_u_eq(got[k].tos, 0x11);
		}
	}
}

static uint8_t udp_run_bytes[MIO_BURST_MAX][UDP_RUN_BYTES];

TEST(mio_udp, runs_arrive_as_the_frames_they_were)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	assert_u_eq(a->max_run, UDP_RUN);
	for (uint32_t a_time = 1; a_time < 32; a_time += 6) {
		mio_port_tx(a, 0, frames, udp_runs(frames, udp_run_bytes, iov));
		udp_expect_runs(b, a_time);
	}
	assert_u_eq(a->status->tx_frames, b->status->rx_frames);
	assert_u_eq(a->status->tx_bytes, b->status->rx_bytes);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, runs_reach_a_port_that_expects_none)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B);
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	mio_port_tx(a, 0, frames, udp_runs(frames, udp_run_bytes, iov));
	udp_expect_runs(b, 32);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, where_runs_are_refused_frames_go_one_by_one)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	udp_no_runs = true;
	mio_port_tx(a, 0, frames, udp_runs(frames, udp_run_bytes, iov));
	udp_no_runs = false;
	udp_expect_runs(b, 32);
	assert_u_eq(a->status->tx_refused, 0);
	mio_port_close(a);
	mio_port_close(b);
}

/* Sends a burst and returns how many of its calls began with a run. */
static uint32_t udp_send_runs(struct mio_port *a, uint64_t now_ns)
{
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	udp_runs_tried = 0;
	mio_port_tx(a, now_ns, frames, udp_runs(frames, udp_run_bytes, iov));
	return udp_runs_tried;
}

/* Sends single frames from one EV, and returns how many of them named where they go. */
static uint32_t udp_send_singles(struct mio_port *a, uint64_t now_ns, uint8_t to, uint8_t tos,
				 uint32_t n)
{
	udp_named = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct iovec iov;
		struct mio_tx frame = udp_frame(&iov, "hello", UDP_EV_BASE + 1, to, UDP_PORT_B);

		frame.tos = tos;
		mio_port_tx(a, now_ns, &frame, 1);
	}
	return udp_named;
}

#define SECOND_NS UINT64_C(1000000000)
#define SECONDS(n) ((n)*SECOND_NS)

TEST(mio_udp, runs_that_are_refused_are_tried_again_ever_more_rarely)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	uint64_t now = 5;

	udp_no_runs = true;
	assert_u_eq(udp_send_runs(a, now), 1);
	for (uint64_t pause = SECOND_NS; pause <= 4 * SECOND_NS; pause *= 2) {
		assert_u_eq(udp_send_runs(a, now + pause - 1), 0);
		now += pause;
		assert_u_eq(udp_send_runs(a, now), 1);
	}
	/* Sixteen, thirty-two and sixty-four seconds; and never less often than that. */
	for (uint64_t pause = 8 * SECOND_NS; pause <= 64 * SECOND_NS; pause *= 2)
		assert_u_eq(udp_send_runs(a, now += pause), 1);
	assert_u_eq(udp_send_runs(a, now + 64 * SECOND_NS - 1), 0);
	assert_u_eq(udp_send_runs(a, now += 64 * SECOND_NS), 1);
	udp_no_runs = false;
	now += 64 * SECOND_NS;
	assert_true(udp_send_runs(a, now) > 1);
	/* Runs went: the next refusal is the first again. */
	udp_no_runs = true;
	assert_u_eq(udp_send_runs(a, now), 1);
	udp_no_runs = false;
	assert_true(udp_send_runs(a, now + SECOND_NS) > 1);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, a_network_that_refuses_all_says_nothing_about_runs)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);

	udp_no_route = true;
	udp_send_runs(a, 5);
	udp_no_route = false;
	assert_u_eq(a->status->tx_refused, MIO_BURST_MAX);
	assert_true(udp_send_runs(a, 6) > 1);
	assert_null(a->status->no_runs);
	udp_expect_runs(b, 32);
	/* Nor does it when what goes next is no run. */
	udp_no_route = true;
	udp_send_runs(a, 7);
	udp_no_route = false;
	udp_send_singles(a, 8, 2, 0x11, 1);
	assert_null(a->status->no_runs);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, socket_that_fills_up_in_a_run_keeps_order)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	udp_room = 3;
	mio_port_tx(a, 0, frames, udp_runs(frames, udp_run_bytes, iov));
	assert_true(a->status->blocked);
	udp_room = UINT_MAX;
	mio_port_tick(a, mio_port_deadline(a));
	assert_false(a->status->blocked);
	udp_expect_runs(b, 32);
	mio_port_close(a);
	mio_port_close(b);
}

/* ---- how much a run holds ---- */

/* Sends frames of `pieces` iovecs each, the last other than those; how many went as runs. */
static uint64_t udp_first_run(uint32_t frames, uint32_t len, uint32_t pieces, uint32_t last_len,
			      uint32_t last_pieces)
{
	struct mio_udp_cfg cfg = {.local = udp_addr(1, UDP_PORT_A),
				  .ev_base = UDP_EV_BASE,
				  .n_evs = 1,
				  .max_run = MIO_BURST_MAX,
				  .rx_buffer_bytes = 1u << 20};
	static char bytes[MIO_FRAME_MAX];
	struct iovec iov[2][MIO_IOV_MAX];
	struct mio_tx burst[MIO_BURST_MAX];
	struct mio_error error = {""};
	struct mio_port *port;
	uint64_t in_runs;
	int fd;

	assert_i_eq(mio_udp_claim(&cfg.local, NULL, &fd, &error), 0);
	assert_i_eq(mio_udp_open(&cfg, fd, &port, &error), 0);
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t of = k ? last_len : len, n = k ? last_pieces : pieces;

		for (uint32_t i = 0; i < n; i++)
			iov[k][i] = (struct iovec){bytes, i ? 1 : of - (n - 1)};
	}
	for (uint32_t i = 0; i < frames; i++) {
		bool last = i + 1 == frames;

		burst[i] = udp_frame(&(struct iovec){0}, "", UDP_EV_BASE, 1, UDP_PORT_A);
		burst[i].iov = iov[last];
		burst[i].n_iov = last ? last_pieces : pieces;
		burst[i].len = last ? last_len : len;
	}
	mio_port_tx(port, 0, burst, frames);
	assert_u_eq(port->status->tx_frames, frames);
	in_runs = port->status->tx_run_frames;
	mio_port_close(port);
	return in_runs;
}

/* An IP packet's 65,000 bytes and the kernel's 1,024 iovecs; what is beyond goes by itself. */
TEST(mio_udp, a_run_is_as_long_as_one_message_may_be)
{
	assert_u_eq(udp_first_run(16, 4224, 1, 65000 - 15 * 4224, 1), 16);
	assert_u_eq(udp_first_run(16, 4224, 1, 65001 - 15 * 4224, 1), 15);
	assert_u_eq(udp_first_run(52, 1000, 20, 1000, 4), 52);
	assert_u_eq(udp_first_run(52, 1000, 20, 1000, 5), 51);
}

/* The last frame of a run may be of one piece, which is its headers, payload and end. */
TEST(mio_udp, a_frame_of_one_piece_ends_a_run)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	static uint8_t bytes[2][100];
	struct iovec iov[2][3] = {{{bytes[0], 40}, {bytes[0] + 40, 56}, {bytes[0] + 96, 4}},
				  /* Of the last only the first is of the frame. */
				  {{bytes[1], 50}, {bytes[1] + 50, 7}}};
	struct mio_tx frames[2];
	struct mio_rx got[2];

	memset(bytes[0], 1, 100);
	memset(bytes[1], 2, 100);
	for (uint32_t i = 0; i < 2; i++) {
		frames[i] = udp_frame(&(struct iovec){0}, "", UDP_EV_BASE, 2, UDP_PORT_B);
		frames[i].iov = iov[i];
		frames[i].n_iov = i ? 1 : 3;
		frames[i].len = i ? 50 : 100;
	}
	mio_port_tx(a, 0, frames, 2);
	assert_u_eq(a->status->tx_run_frames, 2);
	assert_u_eq(udp_receive(b, got, 1) + mio_port_rx(b, 42, got + 1, 1), 2);
	assert_u_eq(got[1].len, 50);
	assert_bytes_eq(got[0].bytes, bytes[0], 100);
	assert_bytes_eq(got[1].bytes, bytes[1], 50);
	mio_port_close(a);
	mio_port_close(b);
}

/* ---- systems that cannot, and those that lie ---- */

TEST(mio_udp_runs_are_cut, a_system_that_takes_runs_and_cuts_none_is_found)
{
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];
	struct mio_port *a, *b;

	udp_lies = true;
	a = udp_open_runs(1, UDP_PORT_A);
	udp_lies = false;
	b = udp_open_runs(2, UDP_PORT_B);
	assert_u_eq(a->max_run, 1);
	assert_non_null(strstr(a->status->no_runs, "does not cut them up"));
	assert_u_eq(b->max_run, UDP_RUN);
	assert_null(b->status->no_runs);
	udp_runs_tried = 0;
	mio_port_tx(a, SECONDS(9), frames, udp_runs(frames, udp_run_bytes, iov));
	assert_u_eq(udp_runs_tried, 0);
	udp_expect_runs(b, 32);
	mio_port_close(a);
	mio_port_close(b);
}

/* A kernel that does not merge hands over what it has cut up. */
TEST(mio_udp_runs_are_cut, a_receiver_without_merging_gets_the_frames)
{
	struct mio_addr local = udp_addr(1, UDP_PORT_A);
	struct mio_error error;
	int rx, tx;

	assert_i_eq(mio_udp_claim(&local, NULL, &rx, &error), 0);
	assert_i_eq(mio_udp_send_socket(&local, NULL, UDP_EV_BASE, &tx, &error), 0);
	assert_true(mio_udp_runs_are_cut(tx, rx, &local));
	udp_lies = true;
	assert_false(mio_udp_runs_are_cut(tx, rx, &local));
	udp_lies = false;
	close(tx);
	close(rx);
}

/* A host that is busy hands over late: three looks are taken, after a pause each. */
TEST(mio_udp_runs_are_cut, a_run_that_comes_late_is_seen_until_the_third_look)
{
	struct mio_port *a;

	udp_lies = true;
	udp_empty_looks = 2;
	a = udp_open_runs(1, UDP_PORT_A);
	assert_u_eq(a->max_run, 1);
	mio_port_close(a);
	udp_empty_looks = 3;
	a = udp_open_runs(1, UDP_PORT_A);
	assert_u_eq(a->max_run, UDP_RUN);
	assert_u_eq(udp_empty_looks, 0);
	udp_lies = false;
	mio_port_close(a);
}

TEST(mio_udp_runs_are_cut, what_does_not_arrive_says_nothing)
{
	struct mio_port *a;

	udp_no_route = true;
	a = udp_open_runs(1, UDP_PORT_A);
	udp_no_route = false;
	assert_u_eq(a->max_run, UDP_RUN);
	assert_null(a->status->no_runs);
	mio_port_close(a);
}

/* What others have sent by then is neither taken for the run nor a reason to wait. */
TEST(mio_udp_runs_are_cut, frames_of_others_do_not_matter)
{
	struct mio_port *b = udp_open(2, UDP_PORT_B), *a = NULL;
	struct mio_udp_cfg cfg = {.local = udp_addr(1, UDP_PORT_A),
				  .ev_base = UDP_EV_BASE,
				  .n_evs = 1,
				  .max_run = UDP_RUN,
				  .rx_buffer_bytes = 1u << 20};
	struct mio_error error;
	static char large[101]; /* as long as a run that is not cut up may be */
	struct iovec iov;
	struct mio_tx frame;
	int fd;

	memset(large, 'x', sizeof(large) - 1);
	assert_i_eq(mio_udp_claim(&cfg.local, NULL, &fd, &error), 0);
	frame = udp_frame(&iov, large, UDP_EV_BASE, 1, UDP_PORT_A);
	for (uint32_t i = 0; i < 5; i++)
		mio_port_tx(b, 0, &frame, 1);
	assert_i_eq(mio_udp_open(&cfg, fd, &a, &error), 0);
	assert_u_eq(a->max_run, UDP_RUN);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, says_why_runs_do_not_go_until_they_do)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);

	udp_no_runs = true;
	udp_send_runs(a, 5);
	udp_no_runs = false;
	assert_string_equal(a->status->no_runs, "the system refuses them");
	assert_u_eq(a->status->tx_runs, 0);
	udp_expect_runs(b, 32);
	udp_send_runs(a, SECONDS(2));
	udp_expect_runs(b, 32);
	assert_null(a->status->no_runs);
	/* Ten frames go to each EV in turn: a run of eight and one of two; see udp_runs. */
	assert_u_between(a->status->tx_runs, 8, 16);
	assert_u_between(a->status->tx_run_frames, 48, 64);
	mio_port_close(a);
	mio_port_close(b);
}

/* ---- sockets that are connected ---- */

static void udp_expect_tos(struct mio_port *port, uint8_t tos, uint32_t n)
{
	struct mio_rx got[32];

	assert_true(n <= 32);
	assert_u_eq(udp_receive(port, got, n), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_u_eq(got[i].tos, tos);
		assert_u_eq(got[i].src.udp_port, UDP_EV_BASE + 1);
	}
}

TEST(mio_udp_peer, most_of_what_goes_one_way_need_not_say_where)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B), *c = udp_open(3, UDP_PORT_B);

	udp_connects = 0;
	assert_u_eq(udp_send_singles(a, 0, 2, 0x11, 24), 16);
	udp_expect_tos(b, 0x11, 24);
	assert_u_eq(udp_connects, 1);
	/* Another class, and another peer: they say so, and arrive as they should. */
	assert_u_eq(udp_send_singles(a, 0, 2, 0x2A, 8), 8);
	udp_expect_tos(b, 0x2A, 8);
	assert_u_eq(udp_send_singles(a, 0, 3, 0x11, 7), 7);
	udp_expect_tos(c, 0x11, 7);
	assert_u_eq(udp_send_singles(a, 0, 2, 0x11, 3), 0);
	udp_expect_tos(b, 0x11, 3);
	assert_u_eq(udp_connects, 1);
	/* The other one has the majority now. */
	assert_u_eq(udp_send_singles(a, 0, 3, 0x11, 32), 4 + 16);
	udp_expect_tos(c, 0x11, 32);
	assert_u_eq(udp_connects, 2);
	mio_port_close(a);
	mio_port_close(b);
	mio_port_close(c);
}

TEST(mio_udp_peer, without_a_majority_nothing_is_connected)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B), *c = udp_open(3, UDP_PORT_B);
	struct mio_rx got[32];

	udp_connects = 0;
	for (uint32_t i = 0; i < 64; i++) {
		assert_u_eq(udp_send_singles(a, 0, i % 2 ? 2 : 3, 0x11, 1), 1);
		assert_u_eq(udp_receive(i % 2 ? b : c, got, 1), 1);
	}
	assert_u_eq(udp_connects, 0);
	mio_port_close(a);
	mio_port_close(b);
	mio_port_close(c);
}

/* The kernel tells a connected socket that its peer is gone; that is no news for who sends. */
TEST(mio_udp_peer, one_that_is_said_to_be_gone_is_sent_to_all_the_same)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	assert_u_eq(udp_send_singles(a, 0, 2, 0x11, 24), 16);
	mio_port_close(b);
	udp_connects = 0;
	/* The first is answered with an error, with which the second meets. */
	assert_u_eq(udp_send_singles(a, 0, 2, 0x11, 40), 39);
	assert_u_eq(a->status->tx_refused, 0);
	assert_u_eq(a->status->tx_frames, 24 + 40);
	assert_u_eq(udp_send_singles(a, SECONDS(1) - 1, 2, 0x11, 1), 1);
	assert_u_eq(udp_connects, 0);
	b = udp_open_runs(2, UDP_PORT_B);
	udp_send_singles(a, SECONDS(1), 2, 0x11, 1);
	assert_u_eq(udp_connects, 1);
	udp_expect_tos(b, 0x11, 1);
	mio_port_tx(a, 0, frames, udp_runs(frames, udp_run_bytes, iov));
	udp_expect_runs(b, 32);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp_peer, an_error_in_a_run_says_nothing_about_runs)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);

	for (uint32_t i = 0; i < 16; i++) {
		udp_send_runs(a, 0);
		udp_expect_runs(b, 32);
	}
	udp_errors_to_say = 1;
	assert_true(udp_send_runs(a, 0) > 4);
	assert_u_eq(udp_errors_to_say, 0);
	udp_expect_runs(b, 32);
	assert_true(udp_send_runs(a, 0) > 1);
	udp_expect_runs(b, 32);
	assert_u_eq(a->status->tx_refused, 0);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp_peer, a_connection_that_is_refused_is_asked_for_once_a_second)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B);

	udp_connects = 0;
	udp_no_connect = true;
	assert_u_eq(udp_send_singles(a, 5, 2, 0x11, 32), 32);
	assert_u_eq(udp_connects, 1);
	udp_no_connect = false;
	assert_u_eq(udp_send_singles(a, SECONDS(1), 2, 0x11, 1), 1);
	assert_u_eq(udp_connects, 1);
	udp_send_singles(a, SECONDS(1) + 5, 2, 0x11, 1);
	assert_u_eq(udp_connects, 2);
	assert_u_eq(udp_send_singles(a, SECONDS(1) + 6, 2, 0x11, 1), 0);
	udp_expect_tos(b, 0x11, 32);
	udp_expect_tos(b, 0x11, 3);
	mio_port_close(a);
	mio_port_close(b);
}

/* ---- what lies between two payloads of a run ---- */

#define UDP_PIECES_BYTES 600u

/* How long piece p of frame i is: headers, payload, end. Odd frames have another end. */
static uint32_t udp_piece_bytes(const uint32_t ends[2], uint32_t headers, uint32_t i, uint32_t p)
{
	uint32_t end = ends[i % 2];

	return p == 0 ? headers : p == 2 ? end : UDP_PIECES_BYTES - headers - end;
}

/* Sends a run of frames as the host makes them; how many iovecs it took. */
static uint32_t udp_run_of_three_pieces(struct mio_port *a, uint32_t headers,
					const uint32_t ends[2])
{
	static uint8_t bytes[UDP_RUN][3][UDP_PIECES_BYTES];
	struct iovec iov[UDP_RUN][3];
	struct mio_tx frames[UDP_RUN];

	for (uint32_t i = 0; i < UDP_RUN; i++) {
		frames[i] = udp_frame(&iov[i][0], "", UDP_EV_BASE, 2, UDP_PORT_B);
		for (uint32_t p = 0; p < 3; p++) {
			memset(bytes[i][p], (int)(3 * i + p + 1), UDP_PIECES_BYTES);
			iov[i][p] =
				(struct iovec){bytes[i][p], udp_piece_bytes(ends, headers, i, p)};
		}
		frames[i].n_iov = 3;
		frames[i].len = UDP_PIECES_BYTES;
	}
	udp_pieces = 0;
	mio_port_tx(a, 0, frames, UDP_RUN);
	return udp_pieces;
}

static void udp_expect_three_pieces(struct mio_port *b, uint32_t headers, const uint32_t ends[2])
{
	for (uint32_t i = 0; i < UDP_RUN; i++) {
		struct mio_rx got[1];
		uint32_t at = 0;

		if (mio_port_rx(b, 42, got, 1) == 0)
			assert_u_eq(udp_receive(b, got, 1), 1);
		assert_u_eq(got[0].len, UDP_PIECES_BYTES);
		for (uint32_t p = 0; p < 3; p++)
			for (uint32_t n = udp_piece_bytes(ends, headers, i, p); n > 0; n--)
				assert_u_eq(got[0].bytes[at++], 3 * i + p + 1);
	}
}

TEST(mio_udp, short_ends_and_headers_go_as_one_piece)
{
	static const struct {
		uint32_t headers, ends[2], pieces;
	} rows[] = {
		{36, {4, 4}, 2 * UDP_RUN + 1},
		{64, {64, 64}, 2 * UDP_RUN + 1},
		/* Too long for the room that each has. */
		{65, {4, 4}, 3 * UDP_RUN},
		{36, {65, 65}, 3 * UDP_RUN},
		/* Every other end is joined. */
		{36, {4, 65}, 3 * UDP_RUN - UDP_RUN / 2},
	};
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t headers = rows[i].headers;

		assert_u_eq(udp_run_of_three_pieces(a, headers, rows[i].ends), rows[i].pieces);
		udp_expect_three_pieces(b, headers, rows[i].ends);
	}
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp_claim, taken_number_is_EADDRINUSE)
{
	struct mio_addr local = udp_addr(1, UDP_PORT_A);
	struct mio_error error;
	int first, second;
	char text[16];

	assert_i_eq(mio_udp_claim(&local, NULL, &first, &error), 0);
	assert_i_eq(mio_udp_claim(&local, NULL, &second, &error), EADDRINUSE);
	assert_non_null(strstr(error.text, loopback_text(0, 1, text)));
	assert_non_null(strstr(error.text, "port 34791"));
	close(first);
	assert_i_eq(mio_udp_claim(&local, NULL, &second, &error), 0);
	close(second);
}

TEST(mio_udp_claim, foreign_address_says_so)
{
	struct mio_addr local = {.ip = {[10] = 0xFF, [11] = 0xFF, 192, 0, 2, 1}, .udp_port = 4791};
	struct mio_error error;
	int fd;

	assert_i_eq(mio_udp_claim(&local, NULL, &fd, &error), EADDRNOTAVAIL);
	assert_non_null(strstr(error.text, "192.0.2.1"));
	assert_non_null(strstr(error.text, "MRC_PORTS"));
}

TEST(mio_udp_claim, foreign_ipv6_address_says_so)
{
	struct mio_addr local = {.ip = {0x20, 0x01, 0x0D, 0xB8, [15] = 7}, .udp_port = 4791};
	struct mio_error error;
	int fd;

	assert_i_eq(mio_udp_claim(&local, NULL, &fd, &error), EADDRNOTAVAIL);
	assert_non_null(strstr(error.text, "2001:db8::7"));
}

TEST(mio_udp_claim, missing_interface_says_so)
{
	struct mio_addr local = udp_addr(1, UDP_PORT_A);
	struct mio_error error;
	int fd;

	assert_i_eq(mio_udp_claim(&local, "nosuchif0", &fd, &error), ENODEV);
	assert_non_null(strstr(error.text, "%nosuchif0"));
}

/* IPv6: the same, and the flow label arrives as it was written; nothing of the kernel's own. */
TEST(mio_udp, ipv6_carries_flow_label_and_class)
{
	struct mio_udp_cfg cfg = {.local = {.ip = {[15] = 1}, .udp_port = UDP_PORT_A},
				  .ev_base = UDP_EV_BASE,
				  .n_evs = UDP_EVS,
				  .max_run = 1,
				  .rx_buffer_bytes = 1u << 20};
	struct iovec iov = {(void *)(uintptr_t) "hello", 5};
	struct mio_tx frame = {
		.iov = &iov, .n_iov = 1, .len = 5, .sport = UDP_EV_BASE + 1, .tos = 0x2A};
	struct mio_error error = {""};
	struct mio_port *port;
	struct mio_rx got[2];
	int fd;

	if (mio_udp_claim(&cfg.local, NULL, &fd, &error) == EADDRNOTAVAIL)
		test_skip("this host has no IPv6");
	assert_i_eq(mio_udp_open(&cfg, fd, &port, &error), 0);
	frame.dst = cfg.local;
	/* Twenty times each, so that in the end the socket is connected. */
	for (uint32_t i = 0; i < 60; i++) {
		uint32_t label = i / 20 % 2;

		frame.flow_label = label * 0x12345;
		mio_port_tx(port, 0, &frame, 1);
		assert_u_eq(udp_receive(port, got, 1), 1);
		assert_u_eq(got[0].flow_label, label * 0x12345);
		assert_u_eq(got[0].tos, 0x2A);
		assert_u_eq(got[0].src.udp_port, UDP_EV_BASE + 1);
		assert_memory_equal(got[0].src.ip, cfg.local.ip, 16);
	}
	mio_port_close(port);
}

/* A frame that waited is stamped with when it came, not with when it was fetched. */
TEST(mio_udp, stamp_is_the_time_of_arrival)
{
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	struct timespec wait = {0, 20000000};
	uint64_t now = UINT64_C(1000000000000);
	struct mio_rx got[1] = {{.time_ns = now}};
	struct iovec iov;
	struct mio_tx frame = udp_frame(&iov, "hello", UDP_EV_BASE, 1, UDP_PORT_A);

	/* Linux begins to stamp a while after the first socket has asked for it. */
	for (unsigned tries = 0; tries < 100 && now - got[0].time_ns < 20000000; tries++) {
		mio_port_tx(a, 0, &frame, 1);
		nanosleep(&wait, NULL);
		assert_u_eq(mio_port_rx(a, now, got, 1), 1);
	}
	assert_u_between(now - got[0].time_ns, 20000000, 1000000000);
	mio_port_close(a);
}

/* The wall clock, by which frames are stamped, may be set at any time. */
TEST(mio_udp, stamp_that_cannot_be_is_not_believed)
{
	static const struct {
		int64_t age_ns;
		uint64_t believed;
	} rows[] = {{0, 0},
		    {1, 1},
		    {-1, 0},
		    {999999999, 999999999},
		    {1000000000, 1000000000},
		    {1000000001, 0},
		    {-1000000000, 0}};
	const struct timespec stamp = {1000, 500};
	struct mio_port *a = udp_open(1, UDP_PORT_A);
	uint64_t now = UINT64_C(1000000000000);
	struct mio_rx got[1];
	struct iovec iov;
	struct mio_tx frame = udp_frame(&iov, "hello", UDP_EV_BASE, 1, UDP_PORT_A);

	udp_stamp = &stamp;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t at = stamp.tv_sec * 1000000000 + stamp.tv_nsec + rows[i].age_ns;
		struct timespec wall = {at / 1000000000, at % 1000000000};
		struct pollfd pfd = {a->status->fd, POLLIN, 0};

		udp_wall = &wall;
		mio_port_tx(a, 0, &frame, 1);
		assert_i_eq(poll(&pfd, 1, 1000), 1);
		assert_u_eq(mio_port_rx(a, now, got, 1), 1);
		assert_u_eq(now - got[0].time_ns, rows[i].believed);
		assert_u_eq(got[0].stamp_ns, UINT64_C(1000000000500));
	}
	udp_wall = NULL;
	udp_stamp = NULL;
	mio_port_close(a);
}

static int udp_zero_checksums(int fd, int name)
{
	socklen_t len = sizeof(int);
	int on = -1;

	assert_i_eq(getsockopt(fd, IPPROTO_UDP, name, &on, &len), 0);
	return on;
}

/* Whoever did not ask for packets without a checksum must not be given any. */
TEST(mio_udp, checksums_are_left_out_only_where_that_is_asked_for)
{
	for (int asked = 0; asked <= 1; asked++) {
		struct mio_udp_cfg cfg = {.local = {.ip = {[15] = 1}, .udp_port = UDP_PORT_A},
					  .ev_base = UDP_EV_BASE,
					  .n_evs = 2,
					  .max_run = 1,
					  .rx_buffer_bytes = 1u << 16,
					  .zero_checksum = asked};
		struct mio_status status = {.fd = -1};
		struct mio_error error = {""};
		struct mio_udp_tx *tx = NULL;
		struct mio_port *port;
		int fd;

		if (mio_udp_claim(&cfg.local, NULL, &fd, &error) == EADDRNOTAVAIL)
			test_skip("this host has no IPv6");
		assert_i_eq(mio_udp_open(&cfg, fd, &port, &error), 0);
		assert_i_eq(udp_zero_checksums(port->status->fd, UDP_NO_CHECK6_RX), asked);
		mio_port_close(port);
		assert_i_eq(mio_udp_tx_create(&cfg, &status, &tx, &error), 0);
		assert_i_eq(udp_zero_checksums(mio_udp_tx_fd(tx), UDP_NO_CHECK6_TX), asked);
		mio_udp_tx_destroy(tx);
	}
}
