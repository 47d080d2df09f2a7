/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_af_packet.c - rings over the loopback of a network namespace: they talk to each other and
 * to a port of UDP sockets, and what cannot be sent is counted by its reason.
 */
#include "support/netns.h"
#include "support/test.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "base/bytes.h"
#include "io/af_packet.h"
#include "io/backlog.h"
#include "io/drivers.h"

#define AFP_PORT 4791
#define AFP_EV 50000

static const uint8_t host[16] = {[10] = 0xFF, [11] = 0xFF, 10, 7, 0, 1};

static int afp_send_error; /* what the kernel says when it is to send; -1: it forgets to */
static uint32_t afp_losses_asked;

ssize_t __real_send(int fd, const void *bytes, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags)
{
	if (afp_send_error == 0)
		return __real_send(fd, bytes, n, flags);
	errno = afp_send_error;
	return afp_send_error < 0 ? 0 : -1;
}

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	afp_losses_asked += level == SOL_PACKET && name == PACKET_STATISTICS;
	return __real_getsockopt(fd, level, name, value, len);
}

struct afp_fixture {
	struct mio_port *a, *b; /* two processes of one host: they differ in the UDP port */
};

static struct mio_addr afp_addr(uint16_t udp_port)
{
	struct mio_addr addr = {.udp_port = udp_port};

	memcpy(addr.ip, host, 16);
	return addr;
}

static struct mio_port *afp_open_on(const char *ifname, const struct mio_addr *local,
				    uint32_t rx_buffer_bytes)
{
	struct mio_af_packet_cfg cfg = {
		.local = *local, .ifname = ifname, .rx_buffer_bytes = rx_buffer_bytes};
	struct mio_error error = {""};
	struct mio_port *p = NULL;
	int fd = -1;

	if (mio_udp_claim(&cfg.local, NULL, &fd, &error) ||
	    mio_af_packet_open(&cfg, fd, &p, &error))
		fail_msg("%s", error.text);
	return p;
}

static struct mio_port *afp_open(uint16_t udp_port)
{
	struct mio_addr local = afp_addr(udp_port);

	return afp_open_on("lo", &local, 1u << 20);
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

	afp_send_error = 0;
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

		if (poll(&pfd, 1, 60000) != 1)
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
	/* Nobody asks for losses where the kernel does not say that there are some. */
	afp_losses_asked = 0;
	afp_send(fixture->a, AFP_PORT + 1, 30, 64);
	afp_expect(fixture->b, 30, 64);
	assert_u_eq(afp_losses_asked, 0);
}

/* A slot that the caller may still read is not handed out again. */
TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, small_ring_is_handed_out_once)
{
	struct afp_fixture *fixture = *state;
	struct mio_addr local = afp_addr(AFP_PORT + 5);
	struct mio_port *small = afp_open_on("lo", &local, 1);
	struct mio_rx got[MIO_BURST_MAX];

	afp_send(fixture->a, AFP_PORT + 5, 20, 100);
	assert_u_eq(mio_port_rx(small, 7, got, MIO_BURST_MAX), MIO_RING_SLOTS_A_BLOCK);
	for (uint32_t i = 0; i < MIO_RING_SLOTS_A_BLOCK; i++)
		assert_u_eq(got[i].bytes[0], i);
	mio_port_close(small);
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, says_whether_more_may_wait)
{
	struct afp_fixture *fixture = *state;
	struct mio_rx got[16];

	afp_send(fixture->a, AFP_PORT + 1, 20, 100);
	assert_u_eq(mio_port_rx(fixture->b, 7, got, 16), 16);
	assert_true(fixture->b->status->rx_more);
	assert_u_eq(mio_port_rx(fixture->b, 7, got, 16), 4);
	assert_false(fixture->b->status->rx_more);
}

/* ---- when the system does not take frames ---- */

/* Frames arrive in the order of their lengths. */
static void afp_expect_growing(struct mio_port *port, uint64_t n, uint32_t last_len)
{
	struct pollfd pfd = {port->status->fd, POLLIN, 0};
	struct mio_rx got[16];
	uint32_t len = 0;

	while (port->status->rx_frames < n) {
		uint32_t burst;

		assert_i_eq(poll(&pfd, 1, 60000), 1);
		burst = mio_port_rx(port, 7, got, 16);
		for (uint32_t i = 0; i < burst; i++) {
			assert_true(got[i].len >= len);
			len = got[i].len;
		}
	}
	assert_u_eq(len, last_len);
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, full_ring_holds_frames_in_order)
{
	struct mio_port *a = ((struct afp_fixture *)*state)->a;
	struct mio_addr local = afp_addr(AFP_PORT + 5);
	struct mio_port *wide = afp_open_on("lo", &local, 4u << 20);
	uint64_t again;

	afp_send_error = -1;
	while (!a->status->blocked && a->status->tx_frames < 10000)
		afp_send(a, AFP_PORT + 5, 1, 64);
	assert_true(a->status->blocked);
	afp_send(a, AFP_PORT + 5, 2, 65);
	assert_u_eq(a->status->tx_backlogged, 3);
	afp_send_error = 0;
	/* The first of these empties the ring; the second must not overtake those that wait. */
	afp_send(a, AFP_PORT + 5, 2, 66);
	assert_u_eq(a->status->tx_backlogged, 5);
	again = mio_port_deadline(a);
	mio_port_tick(a, again - 1);
	assert_true(a->status->blocked);
	while (a->status->blocked && again < UINT64_C(1000000000)) {
		again = mio_port_deadline(a);
		mio_port_tick(a, again);
	}
	assert_false(a->status->blocked);
	assert_u_eq(mio_port_deadline(a), MIO_NEVER);
	assert_u_eq(a->status->tx_refused, 0);
	afp_expect_growing(wide, a->status->tx_frames, 66);
	mio_port_close(wide);
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, kernel_is_asked_again_to_send)
{
	struct afp_fixture *fixture = *state;
	struct mio_port *a = fixture->a;

	afp_send_error = ENETDOWN; /* an interface may come up again */
	afp_send(a, AFP_PORT + 1, 3, 64);
	assert_i_eq(a->status->error, 0);
	assert_u_eq(mio_port_deadline(a), 5 + MIO_BACKLOG_RETRY_NS);
	afp_send_error = 0;
	mio_port_tick(a, 5 + MIO_BACKLOG_RETRY_NS - 1);
	assert_u_eq(mio_port_deadline(a), 5 + MIO_BACKLOG_RETRY_NS);
	mio_port_tick(a, 5 + MIO_BACKLOG_RETRY_NS);
	assert_u_eq(mio_port_deadline(a), MIO_NEVER);
	afp_expect(fixture->b, 3, 64);
	afp_send_error = ENXIO; /* it is gone */
	afp_send(a, AFP_PORT + 1, 1, 64);
	assert_i_eq(a->status->error, ENXIO);
}

static bool afp_gone(void *to, const void *from, size_t len)
{
	(void)to;
	(void)from;
	(void)len;
	return false;
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, frame_whose_bytes_are_gone_is_counted)
{
	struct mio_port *a = ((struct afp_fixture *)*state)->a;
	uint8_t bytes[100] = {0};
	struct iovec iov;
	struct mio_tx frame = afp_frame(&iov, bytes, sizeof(bytes), AFP_EV, AFP_PORT + 1);

	frame.copy = afp_gone;
	mio_port_tx(a, 5, &frame, 1);
	assert_u_eq(a->status->tx_refused, 1);
	assert_i_eq(a->status->last_refusal, EFAULT);
	assert_u_eq(a->status->tx_frames, 0);
}

/* ---- on an interface with neighbours ---- */

static const struct mio_addr afp_wire_local = {{[10] = 0xFF, [11] = 0xFF, 10, 8, 0, 1}, AFP_PORT};

/* The next frame that leaves for UDP at the other end of the link, with its Ethernet header. */
static size_t afp_next_on_wire(int fd, uint8_t bytes[2048])
{
	struct pollfd pfd = {fd, POLLIN, 0};
	ssize_t n;

	do {
		assert_i_eq(poll(&pfd, 1, 60000), 1);
		n = recv(fd, bytes, 2048, 0);
		assert_true(n > 0);
	} while (mb_load_be16(bytes + 12) != ETH_P_IP || bytes[23] != IPPROTO_UDP);
	return (size_t)n;
}

static int afp_listen_on(const char *ifname)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_ALL),
				 .sll_ifindex = (int)if_nametoindex(ifname)};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	assert_true(fd >= 0);
	assert_i_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

TEST_WITH(afp_setup, afp_teardown, mio_af_packet_open, frames_have_the_addresses_of_both_ends)
{
	static const uint8_t macs[12] = {2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 6};
	uint8_t bytes[1473] = {0xAB}, seen[2048];
	struct mio_port *port;
	struct mio_tx frame;
	struct iovec iov;
	int fd;

	test_ip("link add w0 address 02:00:00:00:00:06 mtu 1500 type veth peer name w1");
	test_ip("link set w0 up");
	test_ip("link set w1 up");
	test_ip("addr add 10.8.0.1/24 dev w0");
	test_ip("neigh add 10.8.0.2 lladdr 02:00:00:00:00:07 dev w0 nud permanent");
	fd = afp_listen_on("w1");
	port = afp_open_on("w0", &afp_wire_local, 1u << 16);
	frame = afp_frame(&iov, bytes, 1472, AFP_EV, AFP_PORT); /* as long as the link allows */
	frame.dst = afp_wire_local;
	frame.dst.ip[15] = 2;
	mio_port_tx(port, 5, &frame, 1);
	assert_u_eq(afp_next_on_wire(fd, seen), 14 + 1500);
	assert_bytes_eq(seen, macs, 12);
	assert_u_eq(seen[14 + 28], 0xAB);
	iov.iov_len = frame.len = 1473;
	mio_port_tx(port, 5, &frame, 1);
	assert_i_eq(port->status->last_refusal, EMSGSIZE);
	iov.iov_len = frame.len = 100;
	frame.dst.ip[15] = 3;
	mio_port_tx(port, 5, &frame, 1);
	assert_i_eq(port->status->last_refusal, EHOSTUNREACH);
	assert_u_eq(port->status->tx_refused, 2);
	assert_u_eq(port->status->tx_frames, 1);
	mio_port_close(port);
	close(fd);
	test_ip("link del w0");
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
