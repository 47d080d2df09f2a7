/* SPDX-License-Identifier: BSD-2-Clause */
/* The kit's sockets, on loopback: src/conform/udp_link.h. */
#include "conform/udp_link.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "support/test.h"

#define MS_NS UINT64_C(1000000)
/* How far two clocks may seem apart: the second is read a moment later. */
#define CLOCKS_NS (5 * MS_NS)

static struct cf_udp_link udp;
static unsigned polls;

int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *wait, const sigset_t *mask);
/* The linker puts it in the place of that of shared libraries, too. */
__attribute__((visibility("default"))) int
__wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *wait, const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *wait, const sigset_t *mask)
{
	polls++;
	return __real_ppoll(fds, n, wait, mask);
}

/* Nobody listens at the other address. */
static int udp_setup(void **state)
{
	static const uint8_t theirs[16] = {[10] = 0xFF, 0xFF, 127, 77, 0, 1};
	static const uint8_t ours[16] = {[10] = 0xFF, 0xFF, 127, 77, 0, 2};
	char why[CF_SAY_MAX];

	(void)state;
	polls = 0;
	if (cf_udp_link_open(&udp, theirs, 0, ours, 4791, why))
		fail_msg("%s", why);
	return 0;
}

static int udp_teardown(void **state)
{
	(void)state;
	cf_udp_link_close(&udp);
	return 0;
}

#define UDP_TEST(name) TEST_WITH(udp_setup, udp_teardown, cf_udp_link, name)

static int send_one(void)
{
	struct cf_packet p;
	struct cf_frame f;

	cf_packet_init(&p, CF_PROBE);
	memcpy(p.src, udp.link.ours, 16);
	memcpy(p.dst, udp.link.theirs, 16);
	p.f[CF_F_OVER] = udp.link.ev[0];
	cf_packet_encode(&p, &f);
	return udp.link.send(&udp, &f);
}

static int hear(uint64_t wait_ns)
{
	struct cf_frame f;

	return udp.link.receive(&udp, udp.link.now_ns(&udp) + wait_ns, &f);
}

UDP_TEST(a_closed_port_is_said)
{
	assert_int_equal(send_one(), 0);
	assert_int_equal(hear(1000 * MS_NS), -1);
	assert_int_equal(errno, ECONNREFUSED);
}

/* ICMP's word lies in a queue, and a socket with something in it is ready at once, for ever. */
UDP_TEST(a_closed_port_that_was_said_wakes_nobody)
{
	assert_int_equal(send_one(), 0);
	assert_int_equal(hear(1000 * MS_NS), -1);
	polls = 0;
	assert_int_equal(hear(20 * MS_NS), 0);
	assert_u_between(polls, 1, 3);
	/* A packet that is sent after it may take the error, and leaves the message. */
	assert_int_equal(send_one(), 0);
	assert_int_equal(send_one(), ECONNREFUSED);
	polls = 0;
	(void)hear(20 * MS_NS);
	assert_u_between(polls, 1, 3);
}

UDP_TEST(silence_lasts_as_long_as_was_asked)
{
	uint64_t from_ns = udp.link.now_ns(&udp);

	assert_int_equal(hear(5 * MS_NS), 0);
	assert_true(udp.link.now_ns(&udp) - from_ns >= 5 * MS_NS);
}

/* A kit that waits for a processor reads a packet late, which does not change when it came. */
UDP_TEST(a_packet_came_when_it_was_there)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(udp.link.our_port)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	uint64_t before_ns = udp.link.now_ns(&udp), there_ns;
	struct pollfd in = {.fd = udp.hears, .events = POLLIN};
	struct cf_frame f;

	memcpy(&at.sin_addr, udp.link.ours + 12, 4);
	assert_int_equal(sendto(fd, "word", 4, 0, (struct sockaddr *)&at, sizeof(at)), 4);
	assert_int_equal(poll(&in, 1, 60000), 1);
	there_ns = udp.link.now_ns(&udp);
	poll(NULL, 0, 20);
	assert_int_equal(udp.link.receive(&udp, udp.link.now_ns(&udp) + 1000 * MS_NS, &f), 1);
	assert_u_between(f.came_ns, before_ns - CLOCKS_NS, there_ns + CLOCKS_NS);
	close(fd);
}
