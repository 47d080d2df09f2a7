/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_af_packet.c - rings over the loopback of a network namespace: they talk to each other and
 * to a port of UDP sockets, and what cannot be sent is counted by its reason.
 */
#include "support/netns.h"
#include "support/test.h"

#include <errno.h>
#include <poll.h>

#include "io/drivers.h"

#define AFP_PORT 4791
#define AFP_EV 50000

static const uint8_t host[16] = {[10] = 0xFF, [11] = 0xFF, 10, 7, 0, 1};

struct afp_fixture {
	struct mio_port *a, *b; /* two processes of one host: they differ in the UDP port */
};

static struct mio_addr afp_addr(uint16_t udp_port)
{
	struct mio_addr addr = {.udp_port = udp_port};

	memcpy(addr.ip, host, 16);
	return addr;
}

static struct mio_port *afp_open(uint16_t udp_port)
{
	struct mio_af_packet_cfg cfg = {
		.local = afp_addr(udp_port), .ifname = "lo", .rx_buffer_bytes = 1u << 20};
	struct mio_error error = {""};
	struct mio_port *p = NULL;
	int fd = -1;

	if (mio_udp_claim(&cfg.local, NULL, &fd, &error) ||
	    mio_af_packet_open(&cfg, fd, &p, &error))
		fail_msg("%s", error.text);
	return p;
}

static struct mio_port *udp_open(uint16_t udp_port)
{
	struct mio_udp_cfg cfg = {.local = afp_addr(udp_port),
				  .ev_base = AFP_EV,
				  .n_evs = 8,
				  .max_run = 1,
				  .rx_buffer_bytes = 1u << 20};
	struct mio_error error = {""};
	struct mio_port *p = NULL;
	int fd = -1;

	if (mio_udp_claim(&cfg.local, NULL, &fd, &error) || mio_udp_open(&cfg, fd, &p, &error))
		fail_msg("%s", error.text);
	return p;
}

static int afp_setup(void **state)
{
	const char *why = NULL;
	struct afp_fixture *fixture;

	*state = NULL;
	if (!test_netns(&why))
		test_skip(why);
	test_ip("addr replace 10.7.0.1/32 dev lo");
	/* Frames that did not come from its own IP look to the kernel as if another host had our
	   address; only its UDP sockets care. */
	test_sysctl("net/ipv4/conf/lo/accept_local", "1");
	fixture = calloc(1, sizeof(*fixture));
	fixture->a = afp_open(AFP_PORT);
	fixture->b = afp_open(AFP_PORT + 1);
	*state = fixture;
	return 0;
}

static int afp_teardown(void **state)
{
	struct afp_fixture *fixture = *state;

	if (!fixture)
		return 0;
	mio_port_close(fixture->a);
	mio_port_close(fixture->b);
	free(fixture);
	return 0;
}

static struct mio_tx afp_frame(struct iovec *iov, uint8_t *bytes, uint32_t len, uint32_t ev,
			       uint16_t udp_port)
{
	*iov = (struct iovec){bytes, len};
	return (struct mio_tx){.iov = iov,
			       .n_iov = 1,
			       .len = len,
			       .ev = ev,
			       .sport = (uint16_t)ev,
			       .dst = afp_addr(udp_port),
			       .tos = 0x12,
			       .is_data = true};
}

/* Sends n frames of `len` bytes, EVs in turn, the first byte counting. */
static void afp_send(struct mio_port *port, uint16_t udp_port, uint32_t n, uint32_t len)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t bytes[MIO_FRAME_MAX] = {(uint8_t)i};
		struct iovec iov;
		struct mio_tx frame = afp_frame(&iov, bytes, len, AFP_EV + i % 8, udp_port);

		mio_port_tx(port, 5, &frame, 1);
	}
}

/* Receives n frames, in bursts, and checks them; fails when they do not come. */
static void afp_expect(struct mio_port *port, uint32_t n, uint32_t len)
{
	uint32_t seen = 0;

	while (seen < n) {
		struct pollfd pfd = {port->status->fd, POLLIN, 0};
		struct mio_rx got[16];
		uint32_t burst;

		if (poll(&pfd, 1, 2000) != 1)
			fail_msg("%u of %u frames came", seen, n);
		burst = mio_port_rx(port, 7, got, 16);
		for (uint32_t i = 0; i < burst; i++, seen++) {
			assert_u_eq(got[i].len, len);
			assert_u_eq(got[i].bytes[0], (uint8_t)seen);
			assert_u_eq(got[i].src.udp_port, AFP_EV + seen % 8);
			assert_u_eq(got[i].tos, 0x12);
			assert_bytes_eq(got[i].src.ip, host, 16);
		}
	}
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, frames_arrive_in_order)
{
	struct afp_fixture *fixture = *state;
	struct mio_rx got[4];

	afp_send(fixture->a, AFP_PORT + 1, 30, 200);
	afp_expect(fixture->b, 30, 200);
	assert_u_eq(mio_port_rx(fixture->a, 7, got, 4), 0);
	assert_u_eq(fixture->a->status->tx_frames, 30);
	assert_u_eq(fixture->b->status->rx_frames, 30);
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, rings_go_round)
{
	struct afp_fixture *fixture = *state;

	for (uint32_t pass_no = 0; pass_no < 40; pass_no++) {
		afp_send(fixture->a, AFP_PORT + 1, 50, MIO_FRAME_MAX);
		afp_expect(fixture->b, 50, MIO_FRAME_MAX);
	}
	assert_u_eq(fixture->b->status->rx_overruns, 0);
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, udp_sockets_are_peers_like_any)
{
	struct mio_port *udp, *afp = ((struct afp_fixture *)*state)->a;

	udp = udp_open(AFP_PORT + 2);
	afp_send(afp, AFP_PORT + 2, 20, 1000);
	afp_expect(udp, 20, 1000);
	afp_send(udp, AFP_PORT, 20, 1000);
	afp_expect(afp, 20, 1000);
	mio_port_close(udp);
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, overrun_is_counted)
{
	struct afp_fixture *fixture = *state;
	struct mio_rx got[MIO_BURST_MAX];
	uint32_t seen = 0;

	for (uint32_t i = 0; i < 10; i++)
		afp_send(fixture->a, AFP_PORT + 1, 50, 4000);
	for (uint32_t n = 1; n > 0; seen += n)
		n = mio_port_rx(fixture->b, 7, got, MIO_BURST_MAX);
	assert_true(seen < 500);
	afp_send(fixture->a, AFP_PORT + 1, 1, 64); /* the kernel says it with what comes next */
	while (mio_port_rx(fixture->b, 7, got, MIO_BURST_MAX) > 0)
		seen++;
	assert_u_eq(fixture->b->status->rx_overruns, 501 - seen);
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, frame_beyond_the_mtu_is_counted)
{
	struct mio_port *port = ((struct afp_fixture *)*state)->a, *small;
	uint8_t bytes[4000] = {0};
	struct iovec iov;
	struct mio_tx frame = afp_frame(&iov, bytes, sizeof(bytes), AFP_EV, AFP_PORT + 1);

	test_ip("link set lo mtu 1500");
	small = afp_open(AFP_PORT + 4);
	mio_port_tx(small, 5, &frame, 1);
	test_ip("link set lo mtu 65536");
	assert_u_eq(small->status->tx_refused, 1);
	assert_i_eq(small->status->last_refusal, EMSGSIZE);
	mio_port_tx(port, 5, &frame, 1);
	assert_u_eq(port->status->tx_refused, 0);
	mio_port_close(small);
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, names_an_interface_that_is_not_there)
{
	struct mio_af_packet_cfg cfg = {.local = afp_addr(AFP_PORT + 3), .ifname = "nosuch0"};
	struct mio_error error;
	struct mio_port *port;

	(void)state;
	assert_i_eq(mio_af_packet_open(&cfg, -1, &port, &error), ENODEV);
	assert_string_equal(error.text, "interface for AF_PACKET on nosuch0: No such device");
}
