/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port at twice its rate, for real: the program decides, HTB delays. Frames go from one network
 * namespace to another; every one is accounted for at both ends, and what was trimmed arrives
 * before data that was sent earlier.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf/frame.h"
#include "support/netns.h"
#include "support/test.h"
#include "switchq/switchq.h"

#define RATE 20000000u
#define FRAME_BYTES 3000u
#define FRAMES 1000u
/* Two frames in the time that the port needs for one. */
#define INTERVAL_NS (FRAME_BYTES * 8ull * 1000000000u / RATE / 2)
#define LIMIT_BYTES 60000u
#define TRIM_BYTES 128u

struct arrival {
	uint32_t psn;
	bool cut;
};

struct bench {
	struct mswq *swq;
	struct mswq_port port;
	uint32_t ifindex;
	pid_t far; /* a process that holds the other namespace */
	int send, receive;
	struct arrival arrivals[FRAMES];
	size_t n;
};

static struct bench bench;
static struct mswq_error error;

static int packet_socket(const char *name)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_ALL),
				 .sll_ifindex = (int)if_nametoindex(name)};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	int bytes = 8 << 20, one = 1;

	assert_true(fd >= 0 && at.sll_ifindex > 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)), 0);
	/* Nothing of what waits in the shaper may be refused for want of a send buffer. */
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)), 0);
	return fd;
}

/* In the other namespace: the link up, and a socket that stays there when we have left. */
static void open_far_end(void)
{
	char path[64];
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), there;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)bench.far);
	there = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(home >= 0 && there >= 0);
	assert_int_equal(setns(there, CLONE_NEWNET), 0);
	test_sysctl("net/ipv6/conf/wire/disable_ipv6", "1");
	test_ip("link set wire up");
	bench.receive = packet_socket("wire");
	assert_int_equal(setns(home, CLONE_NEWNET), 0);
	close(home);
	close(there);
}

static void shape(void)
{
	char lines[2048];
	FILE *tc = popen("PATH=$PATH:/usr/sbin:/sbin tc -batch -", "we");

	assert_non_null(tc);
	mswq_htb_lines(lines, sizeof(lines), "port", 4400, &bench.port, NULL);
	fputs(lines, tc);
	assert_int_equal(pclose(tc), 0);
}

static void make_port(void)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	char command[64];

	test_sysctl("net/ipv6/conf/default/disable_ipv6", "1");
	test_ip("link add port mtu 4400 type veth peer name wire mtu 4400");
	bench.far = test_netns_hold();
	snprintf(command, sizeof(command), "link set wire netns %d", (int)bench.far);
	test_ip(command);
	test_ip("link set port up");
	open_far_end();
	bench.ifindex = if_nametoindex("port");
	mswq_port_default(&bench.port, &dscp, RATE, 0, false);
	bench.port.limit_bytes = LIMIT_BYTES;
	bench.port.ecn_max_bytes = LIMIT_BYTES;
	if (mswq_port_set(bench.swq, bench.ifindex, &bench.port, &error) ||
	    mswq_attach(bench.swq, -1, bench.ifindex, &error))
		fail_msg("%s", error.text);
	shape();
	bench.send = packet_socket("port");
}

static int setup(void **state)
{
	const char *why;

	*state = NULL;
	if (!test_netns(&why)) {
		snprintf(error.text, sizeof(error.text), "%s", why);
		return 0;
	}
	if (mswq_load(4, &bench.swq, &error) != 0)
		return 0;
	make_port();
	*state = &bench;
	return 0;
}

static int teardown(void **state)
{
	if (!*state)
		return 0;
	kill(bench.far, SIGKILL);
	waitpid(bench.far, NULL, 0);
	close(bench.send);
	close(bench.receive);
	mswq_close(bench.swq);
	return 0;
}

/* Takes what is there, waiting at most so long for the first. */
static size_t collect(int timeout_ms)
{
	struct pollfd p = {.fd = bench.receive, .events = POLLIN};
	size_t before = bench.n;
	uint8_t b[FRAME_MAX];

	while (poll(&p, 1, bench.n == before ? timeout_ms : 0) == 1) {
		ssize_t n = recv(bench.receive, b, sizeof(b), 0);
		size_t psn = frame_headers(FRAME_INNER) + 9; /* in the BTH */

		assert_true(n == FRAME_BYTES || n == TRIM_BYTES);
		assert_true(bench.n < FRAMES);
		bench.arrivals[bench.n++] = (struct arrival){
			.psn = (uint32_t)b[psn] << 16 | (uint32_t)b[psn + 1] << 8 | b[psn + 2],
			.cut = n == TRIM_BYTES};
	}
	return bench.n - before;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void overload(void)
{
	uint64_t start = now_ns();
	struct frame f;

	for (uint32_t i = 0; i < FRAMES; i++) {
		while (now_ns() - start < i * INTERVAL_NS)
			collect(1);
		frame_make(&f, FRAME_INNER, FRAME_BYTES, 4, 2, i);
		assert_int_equal(send(bench.send, f.bytes, f.len, 0), FRAME_BYTES);
	}
	while (collect(1000))
		;
}

/* Trims that arrived while data sent before them was still under way. */
static size_t overtakers(void)
{
	uint32_t earliest = UINT32_MAX; /* PSN of the data that arrives from here on */
	size_t found = 0;

	for (size_t i = bench.n; i-- > 0;) {
		const struct arrival *a = &bench.arrivals[i];

		if (a->cut)
			found += earliest < a->psn;
		else if (a->psn < earliest)
			earliest = a->psn;
	}
	return found;
}

/* REQ(switch.control.first) */
TEST_WITH(setup, teardown, mswq, overloaded_port_accounts_for_every_packet)
{
	struct mswq_reading r;
	size_t cut = 0;

	if (!*state)
		test_skip(error.text);
	overload();
	assert_int_equal(mswq_read(bench.swq, bench.ifindex, &r, &error), 0);
	for (size_t i = 0; i < bench.n; i++)
		cut += bench.arrivals[i].cut;
	assert_u_eq(r.count.offered, FRAMES);
	assert_u_eq(r.count.full + r.count.trimmed + r.count.trim_dropped, FRAMES);
	assert_u_eq(r.count.trimmed, cut);
	assert_u_eq(r.count.full, bench.n - cut);
	/* Half of it is too much, less what the queue holds; more where the sender came late. */
	assert_u_between(cut, FRAMES * 2 / 5, FRAMES - 1);
	assert_u_between(r.count.marked, 1, r.count.full);
	assert_u_between(overtakers(), cut * 4 / 5, cut);
}
