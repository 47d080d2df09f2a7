/* SPDX-License-Identifier: BSD-2-Clause */
/* ways_udp.c - UDP sockets, one for each source port; one call for each, or io_uring for all. */
#include "ways/ways.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ECT0 2

/* Class of service, and the size of segments. */
struct control {
	_Alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint16_t))];
};

static struct sockaddr_in peer;
static struct control control;

static void set_address(struct sockaddr_in *at, int side, uint32_t port)
{
	*at = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	inet_pton(AF_INET, way_ip[side], &at->sin_addr);
}

static int open_socket(const struct sender *s, uint32_t ev)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1, tos = ECT0;
	struct sockaddr_in at;

	set_address(&at, 0, WAY_EV_BASE + ev);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)))
		return -1;
	if (s->way == WAY_ZEROCOPY && setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		return -1;
	if (s->way == WAY_CONNECTED && (setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)) ||
					connect(fd, (const struct sockaddr *)&peer, sizeof(peer))))
		return -1;
	return fd;
}

static void put(struct cmsghdr *c, int level, int type, const void *value, size_t len)
{
	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), value, len);
}

bool way_udp_open(struct sender *s)
{
	uint16_t segment = WAY_PACKET;
	int tos = ECT0;

	set_address(&peer, 1, WAY_PORT);
	put((void *)control.bytes, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	put((void *)(control.bytes + CMSG_SPACE(sizeof(tos))), IPPROTO_UDP, UDP_SEGMENT, &segment,
	    sizeof(segment));
	for (uint32_t ev = 0; ev < WAY_EVS; ev++) {
		s->fd[ev] = open_socket(s, ev);
		if (s->fd[ev] < 0)
			return false;
	}
	return true;
}

/* Makes all messages of a burst; those of an EV follow each other. */
static void fill_burst(struct sender *s)
{
	bool connected = s->way == WAY_CONNECTED;
	struct iovec *iov = s->iov;

	for (uint32_t i = 0; i < s->n_msgs; i++) {
		uint32_t n = way_fill_run(s, i * s->run % WAY_BURST, iov);
		size_t skip = connected ? CMSG_SPACE(sizeof(int)) : 0;
		size_t end = s->run > 1 ? sizeof(control.bytes) : CMSG_SPACE(sizeof(int));

		s->msg[i].msg_hdr = (struct msghdr){.msg_iov = iov, .msg_iovlen = n};
		iov += n;
		if (!connected) {
			s->msg[i].msg_hdr.msg_name = &peer;
			s->msg[i].msg_hdr.msg_namelen = sizeof(peer);
		}
		if (end == skip)
			continue;
		s->msg[i].msg_hdr.msg_control = control.bytes + skip;
		s->msg[i].msg_hdr.msg_controllen = end - skip;
	}
}

/* The kernel says which pages it is done with; nothing is changed in them here. */
static void take_notes(int fd)
{
	_Alignas(struct cmsghdr) char bytes[128];
	struct msghdr m = {.msg_control = bytes, .msg_controllen = sizeof(bytes)};

	while (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0)
		m.msg_controllen = sizeof(bytes);
}

size_t way_udp_burst(struct sender *s)
{
	uint32_t each = s->n_msgs / WAY_EVS;
	size_t all = 0;

	fill_burst(s);
	for (uint32_t ev = 0; ev < WAY_EVS; ev++) {
		int n = sendmmsg(s->fd[ev], s->msg + (size_t)ev * each, each,
				 s->way == WAY_ZEROCOPY ? MSG_ZEROCOPY : 0);

		if (n < 0)
			return 0;
		if (s->way == WAY_ZEROCOPY)
			take_notes(s->fd[ev]);
		all += (size_t)n * s->run * WAY_PAYLOAD;
	}
	return all;
}

/* ---- io_uring, by its system calls: Debian's library needs no more than this ---- */

static struct {
	int fd;
	uint32_t *sq_tail, *sq_array, *cq_head, *cq_tail;
	uint32_t sq_mask, cq_mask;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
} ring;

static void *map(size_t bytes, off_t what)
{
	void *at =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, what);

	return at == MAP_FAILED ? NULL : at;
}

bool way_uring_open(void)
{
	struct io_uring_params p = {0};
	uint8_t *sq, *cq;

	ring.fd = (int)syscall(SYS_io_uring_setup, 2 * WAY_BURST, &p);
	if (ring.fd < 0)
		return false;
	sq = map(p.sq_off.array + p.sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	cq = map(p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	ring.sqe = map(p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	if (!sq || !cq || !ring.sqe)
		return false;
	ring.sq_tail = (void *)(sq + p.sq_off.tail);
	ring.sq_array = (void *)(sq + p.sq_off.array);
	ring.cq_head = (void *)(cq + p.cq_off.head);
	ring.cq_tail = (void *)(cq + p.cq_off.tail);
	ring.sq_mask = *(uint32_t *)(void *)(sq + p.sq_off.ring_mask);
	ring.cq_mask = *(uint32_t *)(void *)(cq + p.cq_off.ring_mask);
	ring.cqe = (void *)(cq + p.cq_off.cqes);
	return true;
}

/* Takes what has completed; false: a message was refused. */
static bool take_completions(void)
{
	uint32_t tail = __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE), head = *ring.cq_head;
	int error = 0;

	for (; head != tail; head++)
		if (ring.cqe[head & ring.cq_mask].res < 0)
			error = -ring.cqe[head & ring.cq_mask].res;
	__atomic_store_n(ring.cq_head, head, __ATOMIC_RELEASE);
	errno = error;
	return error == 0;
}

size_t way_uring_burst(struct sender *s)
{
	uint32_t tail = *ring.sq_tail, each = s->n_msgs / WAY_EVS;

	fill_burst(s);
	for (uint32_t i = 0; i < s->n_msgs; i++, tail++) {
		uint32_t at = tail & ring.sq_mask;

		ring.sqe[at] = (struct io_uring_sqe){.opcode = IORING_OP_SENDMSG,
						     .fd = s->fd[i / each],
						     .addr = (uintptr_t)&s->msg[i].msg_hdr,
						     .len = 1};
		ring.sq_array[at] = at;
	}
	__atomic_store_n(ring.sq_tail, tail, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring.fd, s->n_msgs, s->n_msgs, IORING_ENTER_GETEVENTS, NULL,
		    0) < 0 ||
	    !take_completions())
		return 0;
	return (size_t)s->n_msgs * s->run * WAY_PAYLOAD;
}
