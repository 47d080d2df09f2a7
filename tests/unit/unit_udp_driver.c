/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_udp_driver.c - the UDP driver over loopback. */
#include "unit/udp_fixture.h"

#include <netinet/udp.h>
#include <poll.h>

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
