/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_udp_peer.c - the UDP driver's sockets, each connected to whom most of its frames go to. */
#include "unit/udp_fixture.h"

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
