/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_raw41.c - IPv6 in IPv6 over the loopback of a network namespace: what is sent arrives with
 * its EV, its mark and its source, and what is not for the port does not.
 */
#include "support/netns.h"
#include "support/test.h"

#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/drivers.h"
#include "wire/ip_udp.h"

#define RAW41_PORT 4791

static const uint8_t loopback[16] = {[15] = 1};

/* How many frames the system takes, whatever the socket. */
static unsigned raw41_room = UINT_MAX;

int __real_sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags)
{
	int sent;

	if (raw41_room == 0) {
		errno = EAGAIN;
		return -1;
	}
	sent = __real_sendmmsg(fd, msgs, n < raw41_room ? n : raw41_room, flags);
	if (sent > 0 && raw41_room != UINT_MAX)
		raw41_room -= (unsigned)sent;
	return sent;
}

struct raw41_fixture {
	struct mio_port *a, *b; /* two processes of one host: they differ in the UDP port */
};

static struct mio_port *raw41_open(uint16_t udp_port, uint32_t rx_buffer_bytes)
{
	struct mio_raw41_cfg cfg = {.local = {.udp_port = udp_port},
				    .rx_buffer_bytes = rx_buffer_bytes};
	struct mio_error error = {""};
	struct mio_port *p = NULL;

	memcpy(cfg.local.ip, loopback, 16);
	memcpy(cfg.gid, loopback, 16);
	if (mio_raw41_open(&cfg, -1, &p, &error))
		fail_msg("%s", error.text);
	return p;
}

static int raw41_setup(void **state)
{
	const char *why = NULL;
	struct raw41_fixture *fixture;

	*state = NULL;
	if (!test_netns(&why))
		test_skip(why);
	fixture = calloc(1, sizeof(*fixture));
	fixture->a = raw41_open(RAW41_PORT, 1u << 20);
	fixture->b = raw41_open(RAW41_PORT + 1, 1u << 20);
	*state = fixture;
	return 0;
}

static int raw41_teardown(void **state)
{
	struct raw41_fixture *fixture = *state;

	if (!fixture)
		return 0;
	mio_port_close(fixture->a);
	mio_port_close(fixture->b);
	free(fixture);
	return 0;
}

static struct mio_tx raw41_frame(struct iovec iov[2], const char *text, uint32_t ev)
{
	struct mio_tx frame = {.iov = iov,
			       .n_iov = 2,
			       .len = (uint32_t)strlen(text),
			       .ev = ev,
			       .sport = (uint16_t)(ev >> 16),
			       .flow_label = ev & 0xFFFF,
			       .dst = {.udp_port = RAW41_PORT + 1},
			       .tos = 0x12};

	iov[0] = (struct iovec){(void *)(uintptr_t)text, 2};
	iov[1] = (struct iovec){(void *)(uintptr_t)(text + 2), frame.len - 2};
	memcpy(frame.dst.ip, loopback, 16);
	memcpy(frame.dst_gid, loopback, 16);
	return frame;
}

static uint32_t raw41_receive(struct mio_port *port, struct mio_rx *got, uint32_t n)
{
	struct pollfd pfd = {port->status->fd, POLLIN, 0};

	return poll(&pfd, 1, 60000) == 1 ? mio_port_rx(port, 7, got, n) : 0;
}

/* REQ(wire.carrier.srv6) REQ(wire.ev.srv6-echo) */
TEST_WITH(raw41_setup, raw41_teardown, mio_raw41_open, frames_arrive_with_their_ev)
{
	struct raw41_fixture *fixture = *state;
	struct mio_tx frames[8];
	struct iovec iov[8][2];
	struct mio_rx got[16];

	for (uint32_t i = 0; i < 8; i++)
		frames[i] = raw41_frame(iov[i], "some frame", 0xC0001000 + i * 0x10001);
	mio_port_tx(fixture->a, 5, frames, 8);
	assert_u_eq(fixture->a->status->tx_frames, 8);
	assert_u_eq(raw41_receive(fixture->b, got, 16), 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_u_eq(got[i].src.udp_port, 0xC000 + i);
		assert_u_eq(got[i].flow_label, 0x1000 + i);
		assert_u_eq(got[i].tos, 0x12);
		assert_u_eq(got[i].len, 10);
		assert_bytes_eq(got[i].bytes, "some frame", 10);
		assert_bytes_eq(got[i].src.ip, loopback, 16);
	}
	assert_u_eq(mio_port_rx(fixture->a, 7, got, 16), 0); /* the other process's slot */
}

static void raw41_send(struct raw41_fixture *fixture, uint32_t first, uint32_t n)
{
	struct iovec iov[MIO_BURST_MAX][2];
	struct mio_tx frames[MIO_BURST_MAX];

	for (uint32_t i = 0; i < n; i++)
		frames[i] = raw41_frame(iov[i], "some frame", (50000u << 16) + first + i);
	mio_port_tx(fixture->a, 1000, frames, n);
}

TEST_WITH(raw41_setup, raw41_teardown, mio_raw41_open, full_socket_holds_frames_in_order)
{
	struct raw41_fixture *fixture = *state;
	struct mio_rx got[16];

	raw41_room = 3;
	raw41_send(fixture, 0, 6);
	assert_true(fixture->a->status->blocked);
	raw41_room = UINT_MAX;
	raw41_send(fixture, 6, 2); /* must not overtake those that wait */
	assert_u_eq(fixture->a->status->tx_backlogged, 5);
	mio_port_tick(fixture->a, mio_port_deadline(fixture->a));
	assert_false(fixture->a->status->blocked);
	assert_u_eq(raw41_receive(fixture->b, got, 16), 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_u_eq(got[i].flow_label, i);
	assert_u_eq(fixture->a->status->tx_frames, 8);
}

/* A burst that was full may have left some behind; one that was not has not. */
TEST_WITH(raw41_setup, raw41_teardown, mio_raw41_open, says_whether_more_may_wait)
{
	struct raw41_fixture *fixture = *state;
	struct mio_rx got[4];

	raw41_send(fixture, 0, 6);
	assert_u_eq(raw41_receive(fixture->b, got, 4), 4);
	assert_true(fixture->b->status->rx_more);
	assert_u_eq(raw41_receive(fixture->b, got, 4), 2);
	assert_false(fixture->b->status->rx_more);
	assert_u_eq(mio_port_rx(fixture->b, 7, got, 4), 0);
	assert_false(fixture->b->status->rx_more);
	assert_i_eq(fixture->b->status->error, 0);
}

TEST_WITH(raw41_setup, raw41_teardown, mio_raw41_open, overruns_are_counted)
{
	struct raw41_fixture *fixture = *state;
	struct mio_port *small;
	struct mio_rx got[32];
	uint32_t seen = 0;

	mio_port_close(fixture->b);
	fixture->b = small = raw41_open(RAW41_PORT + 1, 8192);
	for (uint32_t i = 0; i < 10; i++)
		raw41_send(fixture, 0, MIO_BURST_MAX);
	for (uint32_t n = 1; n > 0; seen += n)
		n = mio_port_rx(small, 7, got, 32);
	assert_u_between(seen, 1, 10 * MIO_BURST_MAX - 1);
	raw41_send(fixture, 0, 1); /* the kernel says it with what comes next */
	assert_u_eq(raw41_receive(small, got, 32), 1);
	assert_u_eq(small->status->rx_overruns, 10 * MIO_BURST_MAX - seen);
	raw41_send(fixture, 0, 1);
	assert_u_eq(raw41_receive(small, got, 32), 1);
	assert_u_eq(small->status->rx_overruns, 10 * MIO_BURST_MAX - seen);
}

TEST_WITH(raw41_setup, raw41_teardown, mio_raw41_open, vanished_socket_ends_the_port)
{
	struct raw41_fixture *fixture = *state;
	int fd = fixture->a->status->fd;
	struct mio_rx got[2];

	close(fd);
	assert_u_eq(mio_port_rx(fixture->a, 0, got, 2), 0);
	assert_i_eq(fixture->a->status->error, EBADF);
	dup2(STDERR_FILENO, fd); /* so that closing the port closes no other's descriptor */
}

/* Sends one packet in a tunnel to an address. */
static void raw41_inject_to(const struct in6_addr *dst, uint8_t outer_tos, const uint8_t *packet,
			    size_t n)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr = *dst};
	int fd = socket(AF_INET6, SOCK_RAW, IPPROTO_IPV6), tos = outer_tos;

	if (IN6_IS_ADDR_MULTICAST(dst))
		to.sin6_scope_id = if_nametoindex("group0");
	assert_i_eq(setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos)), 0);
	assert_u_eq((size_t)sendto(fd, packet, n, 0, (struct sockaddr *)&to, sizeof(to)), n);
	close(fd);
}

/* raw41_inner writes a packet of 20 bytes from and to the loopback, and returns its length. */
static size_t raw41_inner(uint8_t packet[MW_IP_UDP_MAX + 256], const uint8_t src[16])
{
	struct mw_ip_udp h = {.sport = 50000, .dport = RAW41_PORT, .len = 20};

	memset(packet, 0, MW_IP_UDP_MAX + 256);
	memcpy(h.src, src, 16);
	memcpy(h.dst, loopback, 16);
	return mw_ip_udp_write(&h, packet) + h.len;
}

/* Sends one packet with headers as a switch or an unknown sender would leave them. */
static void raw41_inject(uint8_t outer_tos, uint8_t inner_tos, uint32_t promised, uint32_t there)
{
	struct mw_ip_udp h = {
		.sport = 50000, .dport = RAW41_PORT, .len = promised, .tos = inner_tos};
	uint8_t packet[MW_IP_UDP_MAX + 256] = {0};

	memcpy(h.src, loopback, 16);
	memcpy(h.dst, loopback, 16);
	raw41_inject_to(&in6addr_loopback, outer_tos, packet, mw_ip_udp_write(&h, packet) + there);
}

/* REQ(srv6.decapsulate) REQ(rsp.ecn.combine) */
TEST_WITH(raw41_setup, raw41_teardown, mio_raw41_open, sees_marks_and_trims_of_the_outer_header)
{
	struct raw41_fixture *fixture = *state;
	struct mio_rx got[2];

	raw41_inject(0x13, 0x12, 20, 20);
	assert_u_eq(raw41_receive(fixture->a, got, 2), 1);
	assert_u_eq(got[0].tos, 0x13);
	raw41_inject(12u << 2, 4u << 2, 200, 64); /* cut: the inner header promises more */
	assert_u_eq(raw41_receive(fixture->a, got, 2), 1);
	assert_u_eq(got[0].len, 64);
	assert_u_eq(got[0].tos >> 2, 12);
}

/* The kernel does not look at inner headers, nor whether the outer destination is a group. */
TEST_WITH(raw41_setup, raw41_teardown, mio_raw41_open, refuses_what_no_host_sends)
{
	static const uint8_t group[16] = {0xFF, 2, [15] = 1};
	struct raw41_fixture *fixture = *state;
	uint8_t packet[MW_IP_UDP_MAX + 256];
	struct in6_addr all_nodes;
	struct mio_rx got[8];
	size_t n;

	test_ip("link add group0 type veth peer name group1");
	test_ip("link set group0 addrgenmode none up");
	test_ip("link set group1 addrgenmode none up");
	test_ip("addr add fd07::1/64 dev group0 nodad");
	memcpy(&all_nodes, group, 16);
	n = raw41_inner(packet, group);
	raw41_inject_to(&in6addr_loopback, 0, packet, n);
	n = raw41_inner(packet, loopback);
	raw41_inject_to(&all_nodes, 0, packet, n);
	packet[MW_IPV6_BYTES + 5]--; /* the UDP length */
	raw41_inject_to(&in6addr_loopback, 0, packet, n);
	packet[MW_IPV6_BYTES + 5]++;
	packet[MW_IPV6_BYTES + 7]++; /* the UDP checksum */
	raw41_inject_to(&in6addr_loopback, 0, packet, n);
	raw41_inject(0, 0, 20, 20);
	assert_u_eq(raw41_receive(fixture->a, got, 8), 1);
	/* That to the group comes back from either end of the link. */
	assert_u_between(fixture->a->status->rx_unsound, 4, 5);
	test_ip("link del group0");
	assert_bytes_eq(got[0].outer_src, loopback, 16);
}

TEST_WITH(raw41_setup, raw41_teardown, mio_raw41_open, attackers_do_not_stop_it)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct raw41_fixture *fixture = *state;
	struct mio_rx got[32];
	int fd = socket(AF_INET6, SOCK_RAW, IPPROTO_IPV6);

	for (size_t i = 0; i < 200; i++) {
		uint8_t bytes[120];
		size_t n = 1 + test_rand_below(sizeof(bytes));

		test_rand_bytes(bytes, n);
		if (n > 41)
			bytes[6] = test_rand_chance(1, 2) ? IPPROTO_ROUTING : IPPROTO_UDP;
		sendto(fd, bytes, n, 0, (struct sockaddr *)&to, sizeof(to));
	}
	close(fd);
	while (mio_port_rx(fixture->a, 7, got, 32) > 0)
		;
	raw41_inject(0, 0, 20, 20);
	for (unsigned tries = 0; tries < 20; tries++)
		if (raw41_receive(fixture->a, got, 32) == 1)
			return;
	fail_msg("a good frame did not arrive behind the noise");
}

TEST_WITH(raw41_setup, raw41_teardown, mio_raw41_open, frame_without_a_route_is_counted)
{
	struct raw41_fixture *fixture = *state;
	struct iovec iov[2];
	struct mio_tx frame = raw41_frame(iov, "lost", 1);

	frame.dst.ip[0] = 0x20;
	mio_port_tx(fixture->a, 5, &frame, 1);
	assert_u_eq(fixture->a->status->tx_refused, 1);
	assert_i_eq(fixture->a->status->last_refusal, ENETUNREACH);
}

TEST(mio_raw41_open, refuses_ipv4)
{
	struct mio_raw41_cfg cfg = {.local = {.ip = {[10] = 0xFF, [11] = 0xFF, 10, 0, 0, 1}}};
	struct mio_error error;
	struct mio_port *port;

	assert_i_eq(mio_raw41_open(&cfg, -1, &port, &error), EAFNOSUPPORT);
	assert_string_equal(error.text, "protocol 41 carries IPv6; the port has an IPv4 address");
}
