/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a switch trims behind the kernel's own SRv6: a host, a switch that takes its uSID off, and a
 * host behind a port of that switch which has no room for data. Ordinary sockets at both ends, UDP
 * to a list of uSIDs and IPv6 in IPv6, up to packets that the kernel keeps in several pieces. And
 * TCP over plain routes through the same port, while everything that can be wrong with it is.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/frame.h"
#include "support/netns.h"
#include "support/test.h"
#include "switchq/switchq.h"

#define UDP_PORT 4791
#define TRIMMABLE 4
#define TRIMMED_LASTHOP 16
#define ECT0 2
#define OUTER (FRAME_ETH + FRAME_V6)
#define SENDER 0
#define RECEIVER 1
/* Options of linux/udp.h, which does not go with netinet/udp.h. */
#define NO_CHECK6_TX 101
#define NO_CHECK6_RX 102

struct net {
	struct mswq *swq;
	uint32_t ifindex;
	pid_t host[2]; /* processes that hold the namespaces of the hosts */
	int udp[2], raw[2], tcp[2];
	char why[300];
};

static struct net net = {.udp = {-1, -1}, .raw = {-1, -1}, .tcp = {-1, -1}};

/* Runs `ip` on a host. */
static void on_host(int host, const char *arguments)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "PATH=$PATH:/usr/sbin:/sbin nsenter --net=/proc/%d/ns/net ip %s",
		 (int)net.host[host], arguments);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

static void cable(int host, const char *port, const char *far)
{
	char command[200];

	snprintf(command, sizeof(command),
		 "link add %s mtu 9000 type veth peer name %s mtu 9000 netns %d", port, far,
		 (int)net.host[host]);
	test_ip(command);
	snprintf(command, sizeof(command), "link set %s up", port);
	test_ip(command);
	on_host(host, "link set lo up");
	snprintf(command, sizeof(command), "link set %s up", far);
	on_host(host, command);
}

/* A full port would drop the questions for neighbours, so nobody has to ask. */
static void addresses(void)
{
	test_ip("addr add fd01::1/64 dev da nodad");
	test_ip("addr add fd02::1/64 dev db nodad");
	test_ip("link set db address 02:00:00:00:00:01");
	on_host(RECEIVER, "link set eb address 02:00:00:00:00:02");
	test_ip("neigh add fd02::2 lladdr 02:00:00:00:00:02 dev db nud permanent");
	on_host(SENDER, "addr add fd01::2/64 dev ea nodad");
	on_host(SENDER, "route add fcbb:bb00::/32 via fd01::1 dev ea src fd01::2");
	on_host(SENDER, "route add fd02::/64 via fd01::1 dev ea");
	on_host(RECEIVER, "addr add fd02::2/64 dev eb nodad");
	on_host(RECEIVER, "route add fd01::/64 via fd02::1 dev eb");
	on_host(RECEIVER, "-6 route add local fcbb:bb00:8::/48 dev lo");
	test_sysctl("net/ipv6/conf/all/forwarding", "1");
	test_ip("link add sr0 type ifb");
	test_ip("link set sr0 up");
	test_ip("route add fcbb:bb00:8::/48 via fd02::2 dev db");
}

static bool usid_route(void)
{
	return system("PATH=$PATH:/usr/sbin:/sbin ip -6 route add fcbb:bb00:a000::/48 encap "
		      "seg6local action End flavors next-csid lblen 32 nflen 16 dev sr0") == 0;
}

static void option(int fd, int level, int name, int value)
{
	assert_int_equal(setsockopt(fd, level, name, &value, sizeof(value)), 0);
}

/* Segments and checksums are made before the wire, as the far end of a real one would see them. */
static void no_offload(int fd, const char *ifname)
{
	static const uint32_t commands[] = {ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct ethtool_value off = {.cmd = commands[i]};
		struct ifreq request = {.ifr_data = (void *)&off};

		snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", ifname);
		assert_int_equal(ioctl(fd, SIOCETHTOOL, &request), 0);
	}
}

static void sockets(int host)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_port = htons(UDP_PORT)};
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), there;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)net.host[host]);
	there = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(setns(there, CLONE_NEWNET), 0);
	net.tcp[host] = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	no_offload(net.tcp[host], host == SENDER ? "ea" : "eb");
	net.udp[host] = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	net.raw[host] = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_IPV6);
	assert_int_equal(bind(net.udp[host], (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(setns(home, CLONE_NEWNET), 0);
	option(net.udp[host], IPPROTO_UDP, host == SENDER ? NO_CHECK6_TX : NO_CHECK6_RX, 1);
	for (int i = 0; i < 2; i++) {
		int fd = i ? net.raw[host] : net.udp[host];
		struct timeval patience = {.tv_sec = 5};

		option(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		option(fd, IPPROTO_IPV6, IPV6_TCLASS, TRIMMABLE << 2 | ECT0);
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	}
	close(home);
	close(there);
}

static void full_port(struct mswq_error *error)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct mswq_port port;

	net.ifindex = if_nametoindex("db");
	mswq_port_default(&port, &dscp, 1000000000, 0, true);
	port.limit_bytes = 0;
	port.repair_udp = true;
	if (mswq_port_set(net.swq, net.ifindex, &port, error) ||
	    mswq_attach(net.swq, -1, net.ifindex, error))
		fail_msg("%s", error->text);
}

static int setup(void **state)
{
	struct mswq_error error;
	const char *why;

	*state = NULL;
	if (!test_netns(&why)) {
		snprintf(net.why, sizeof(net.why), "%s", why);
		return 0;
	}
	if (mswq_load(4, &net.swq, &error) != 0) {
		snprintf(net.why, sizeof(net.why), "%s", error.text);
		return 0;
	}
	for (int host = 0; host < 2; host++)
		net.host[host] = test_netns_hold();
	cable(SENDER, "da", "ea");
	cable(RECEIVER, "db", "eb");
	addresses();
	*state = &net;
	if (!usid_route()) {
		snprintf(net.why, sizeof(net.why), "this kernel or ip knows no uSIDs (next-csid)");
		return 0;
	}
	sockets(SENDER);
	sockets(RECEIVER);
	full_port(&error);
	return 0;
}

static int teardown(void **state)
{
	if (!*state)
		return 0;
	/*
	 * This switch stays for the next case. Cables go before the hosts, because the kernel
	 * clears the namespaces of the dead, and their ends of cables, in its own time.
	 */
	test_ip("link del da");
	test_ip("link del db");
	test_ip("link del sr0");
	for (int host = 0; host < 2; host++) {
		kill(net.host[host], SIGKILL);
		waitpid(net.host[host], NULL, 0);
		close(net.udp[host]);
		close(net.raw[host]);
		close(net.tcp[host]);
	}
	mswq_close(net.swq);
	return 0;
}

static void send_to_carrier(int fd, const uint8_t *bytes, size_t len)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6};

	/* A raw socket takes no port. */
	to.sin6_port = fd == net.udp[SENDER] ? htons(UDP_PORT) : 0;
	assert_int_equal(inet_pton(AF_INET6, "fcbb:bb00:a000:8::", &to.sin6_addr), 1);
	assert_int_equal(sendto(fd, bytes, len, 0, (struct sockaddr *)&to, sizeof(to)), len);
}

/* What arrives must be the first `want` bytes of what was sent, and say where it was trimmed. */
static void expect(int fd, const uint8_t *bytes, size_t want)
{
	uint8_t got[FRAME_MAX];
	union {
		struct cmsghdr head;
		uint8_t room[64];
	} control;
	struct iovec iov = {.iov_base = got, .iov_len = sizeof(got)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &message, 0);
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	int tclass;

	if (n != (ssize_t)want)
		fail_msg("%zd bytes arrived, %zu wanted", n, want);
	assert_bytes_eq(got, bytes, want);
	assert_true(c && c->cmsg_type == IPV6_TCLASS);
	memcpy(&tclass, CMSG_DATA(c), sizeof(tclass));
	assert_int_equal(tclass, TRIMMED_LASTHOP << 2 | ECT0);
}

/* REQ(switch.trim.cut) REQ(switch.trim.inner) REQ(switch.trim.last-hop) */
TEST_WITH(setup, teardown, mswq, trims_behind_usids_reach_ordinary_sockets)
{
	static const size_t lengths[] = {200, 1514, 4252, 9014};
	struct mswq_reading r;
	struct mswq_error error;
	struct frame f;

	if (*net.why)
		test_skip(net.why);
	for (size_t i = 0; i < 4; i++) {
		frame_make(&f, FRAME_INNER, lengths[i], 0, 0, (uint32_t)i);
		send_to_carrier(net.raw[SENDER], f.bytes + OUTER, f.len - OUTER);
		expect(net.raw[RECEIVER], f.bytes + OUTER, 128 - OUTER);
		frame_make(&f, FRAME_DIRECT, lengths[i], 0, 0, (uint32_t)i);
		send_to_carrier(net.udp[SENDER], f.bytes + f.bth, f.len - f.bth);
		expect(net.udp[RECEIVER], f.bytes + f.bth, 128 - f.bth);
	}
	assert_int_equal(mswq_read(net.swq, net.ifindex, &r, &error), 0);
	assert_u_eq(r.count.trimmed, 8);
}

#define STREAM_BYTES (1u << 20)
#define PIECE 4096u

/* Byte i of the stream. */
static uint8_t stream(size_t i)
{
	return (uint8_t)(i * 2654435761u >> 13);
}

/* A process of its own sends the stream and ends. */
static pid_t send_stream(void)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(UDP_PORT)};
	uint8_t piece[PIECE];
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	alarm(160);
	if (inet_pton(AF_INET6, "fd02::2", &to.sin6_addr) != 1 ||
	    connect(net.tcp[SENDER], (struct sockaddr *)&to, sizeof(to)) != 0)
		_exit(1);
	for (size_t i = 0; i < STREAM_BYTES; i += PIECE) {
		for (size_t k = 0; k < PIECE; k++)
			piece[k] = stream(i + k);
		if (send(net.tcp[SENDER], piece, PIECE, 0) != (ssize_t)PIECE)
			_exit(2);
	}
	_exit(0);
}

static void receive_stream(int fd)
{
	uint8_t got[PIECE];
	size_t at = 0;
	ssize_t n;

	while ((n = recv(fd, got, sizeof(got), 0)) > 0) {
		for (ssize_t k = 0; k < n; k++)
			assert_u_eq(got[k], stream(at + (size_t)k));
		at += (size_t)n;
	}
	assert_int_equal(n, 0);
	assert_u_eq(at, STREAM_BYTES);
}

/* Everything that can be wrong with a port at once. */
static void faulty_port(void)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct mswq_faults faults = {.loss_ppm = 5000,
				     .corrupt_ppm = 5000,
				     .duplicate_ppm = 10000,
				     .reorder_ppm = 10000};
	struct mswq_error error;
	struct mswq_port port;

	mswq_port_default(&port, &dscp, 200000000, 1000000, true);
	assert_int_equal(mswq_port_set(net.swq, net.ifindex, &port, &error), 0);
	assert_int_equal(mswq_fault_set(net.swq, net.ifindex, &faults, &error), 0);
}

/* Starts the sender; returns the receiver's end. */
static int connect_stream(pid_t *sender)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_port = htons(UDP_PORT)};
	int fd;

	assert_int_equal(bind(net.tcp[RECEIVER], (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(net.tcp[RECEIVER], 1), 0);
	*sender = send_stream();
	fd = accept(net.tcp[RECEIVER], NULL, NULL);
	assert_true(fd >= 0);
	/* The sender's end is the sender's alone, so that its end is the stream's. */
	close(net.tcp[SENDER]);
	net.tcp[SENDER] = -1;
	return fd;
}

TEST_WITH(setup, teardown, mswq, tcp_gets_through_a_faulty_port_whole)
{
	struct mswq_reading r;
	struct mswq_error error;
	int fd, status;
	pid_t sender;

	if (*net.why)
		test_skip(net.why);
	faulty_port();
	fd = connect_stream(&sender);
	receive_stream(fd);
	close(fd);
	assert_int_equal(waitpid(sender, &status, 0), sender);
	assert_int_equal(status, 0);
	assert_int_equal(mswq_read(net.swq, net.ifindex, &r, &error), 0);
	assert_u_between(r.count.offered, STREAM_BYTES / 9000, UINT64_MAX);
	assert_u_eq(r.count.offered + r.count.duplicated,
		    r.count.full + r.count.dropped + r.count.lost + r.count.held);
}
