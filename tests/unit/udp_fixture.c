/* SPDX-License-Identifier: BSD-2-Clause */
/* udp_fixture.c - see udp_fixture.h. */
#include "unit/udp_fixture.h"

#include <netinet/udp.h>
#include <poll.h>

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

uint32_t udp_empty_looks;
const struct timespec *udp_stamp;
const struct timespec *udp_wall;
unsigned int udp_room = UINT_MAX;
int udp_refusal = EAGAIN;
bool udp_no_runs;
uint32_t udp_runs_tried;
bool udp_no_route;
bool udp_lies;
bool udp_no_connect;
uint32_t udp_connects;
uint32_t udp_named;
uint32_t udp_pieces;
uint32_t udp_errors_to_say;
uint8_t udp_run_bytes[MIO_BURST_MAX][UDP_RUN_BYTES];

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

struct mio_addr udp_addr(uint8_t last, uint16_t port)
{
	uint32_t ip = loopback_ip(0, last);
	struct mio_addr addr = {.ip = {[10] = 0xFF, [11] = 0xFF}, .udp_port = port};

	mb_store_be32(addr.ip + 12, ip);

	return addr;
}

struct mio_port *udp_open_runs_of(uint32_t max_run, uint8_t last, uint16_t port)
{
	struct mio_udp_cfg cfg = {.local = udp_addr(last, port),
				  .ev_base = UDP_EV_BASE,
				  .n_evs = UDP_EVS,
				  .max_run = max_run,
				  .rx_buffer_bytes = 1u << 20};
	struct mio_port *p = NULL;
	struct mio_error error = {""};
	int fd = -1;

	if (mio_udp_claim(&cfg.local, NULL, &fd, &error) || mio_udp_open(&cfg, fd, &p, &error))
		fail_msg("%s", error.text);
	return p;
}

struct mio_tx udp_frame(struct iovec *iov, const char *text, uint32_t ev, uint8_t last,
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

uint32_t udp_receive(struct mio_port *port, struct mio_rx *got, uint32_t n)
{
	struct pollfd pfd = {port->status->fd, POLLIN, 0};
	uint32_t all = 0;

	while (all < n && poll(&pfd, 1, 1000) == 1)
		all += mio_port_rx(port, 42, got + all, n - all);
	return all;
}

uint32_t udp_runs(struct mio_tx *frames, uint8_t bytes[][UDP_RUN_BYTES], struct iovec *iov)
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

void udp_expect_runs(struct mio_port *port, uint32_t a_time)
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

uint32_t udp_send_runs(struct mio_port *a, uint64_t now_ns)
{
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	udp_runs_tried = 0;
	mio_port_tx(a, now_ns, frames, udp_runs(frames, udp_run_bytes, iov));
	return udp_runs_tried;
}

uint32_t udp_send_singles(struct mio_port *a, uint64_t now_ns, uint8_t to, uint8_t tos, uint32_t n)
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
