/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_selftest.c - does this system cut up a run, as it says?
 *
 * Whether a system knows UDP_SEGMENT it tells by an error, and frames go one by one then. One that
 * takes the message and sends all of it as one packet (kernels in user space are known to overlook
 * ancillary data) would lose every run, and nothing here would ever know: to a protocol that sends
 * again it is a network that loses most. So a run of three frames goes to the port itself once,
 * when it is opened.
 */
#include "io/udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "wire/ip_udp.h"

#define SEGMENT 64u
#define RUN_BYTES (2 * SEGMENT + SEGMENT / 2)
#define FRAMES 3u
/* A busy host hands over late what it sends to itself. */
#define WAIT_NS 10000000
#define LOOKS 3u
/* Of the ancillary data only UDP_GRO is looked for; there is room for all that is asked for. */
#define CONTROL_BYTES 256u

static void fill_run(uint8_t bytes[RUN_BYTES])
{
	for (uint32_t i = 0; i < RUN_BYTES; i++)
		bytes[i] = (uint8_t)(0xA5u ^ i);
}

static bool send_run(int fd, const struct mio_addr *to, uint8_t bytes[RUN_BYTES])
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(uint16_t))] = {0};
	struct cmsghdr *c = (void *)control;
	struct iovec iov = {bytes, RUN_BYTES};
	uint16_t segment = SEGMENT;
	union mio_udp_sa sa;
	struct mmsghdr m = {.msg_hdr = {.msg_name = &sa,
					.msg_namelen = mio_udp_sockaddr(to, &sa),
					.msg_iov = &iov,
					.msg_iovlen = 1,
					.msg_control = control,
					.msg_controllen = sizeof(control)}};

	c->cmsg_level = IPPROTO_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(segment));
	memcpy(CMSG_DATA(c), &segment, sizeof(segment));
	return sendmmsg(fd, &m, 1, MSG_DONTWAIT) == 1;
}

/* What of the run arrived, and whether it was right. */
struct arrival {
	uint32_t bytes;
	bool wrong;
};

/* How long the frames are that were merged into a message; 0: it is one frame. */
static uint32_t segment_of(struct msghdr *m)
{
	uint32_t segment = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO)
			memcpy(&segment, CMSG_DATA(c), sizeof(segment));
	return segment;
}

/* Takes a message; one that is no part of the run is of somebody else, and nothing to us. */
static void take_message(struct arrival *a, struct mmsghdr *m, const uint8_t *run)
{
	uint32_t len = m->msg_len, segment = segment_of(&m->msg_hdr);
	const uint8_t *bytes = m->msg_hdr.msg_iov[0].iov_base;

	if (len == 0 || len > RUN_BYTES - a->bytes || memcmp(bytes, run + a->bytes, len) != 0)
		return;
	a->wrong |= segment == 0 ? len > SEGMENT : segment != SEGMENT;
	a->bytes += len;
}

static void receive_run(struct arrival *a, int fd, const uint8_t *run)
{
	_Alignas(struct cmsghdr) char control[FRAMES][CONTROL_BYTES];
	uint8_t bytes[FRAMES][2 * RUN_BYTES];
	struct iovec iov[FRAMES];
	struct mmsghdr m[FRAMES];
	int got;

	for (uint32_t i = 0; i < FRAMES; i++) {
		iov[i] = (struct iovec){bytes[i], sizeof(bytes[i])};
		m[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i],
					       .msg_iovlen = 1,
					       .msg_control = control[i],
					       .msg_controllen = sizeof(control[i])};
	}
	got = recvmmsg(fd, m, FRAMES, MSG_DONTWAIT, NULL);
	for (int i = 0; i < got; i++)
		take_message(a, &m[i], run);
}

bool mio_udp_runs_are_cut(int tx_fd, int rx_fd, const struct mio_addr *local)
{
	const struct timespec wait = {0, WAIT_NS / LOOKS};
	struct pollfd pfd = {rx_fd, POLLIN, 0};
	struct arrival a = {0, false};
	uint8_t run[RUN_BYTES];

	fill_run(run);
	if (!send_run(tx_fd, local, run))
		return true;
	for (uint32_t look = 0; look < LOOKS; look++) {
		receive_run(&a, rx_fd, run);
		if (a.bytes == RUN_BYTES || ppoll(&pfd, 1, &wait, NULL) < 0)
			break;
	}
	return !a.wrong;
}
