/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The neighbour link on kernel TCP, the yardstick for the other one: a connection a plane to the
 * next rank and one a plane from the previous rank, on the addresses that MRC would use, paced by
 * the kernel at the same rate. Each message is striped over the planes, a contiguous part each, as
 * multi-rail TCP transports do. Order is known at both ends, so there are no headers.
 *
 * One thread: while it waits for a message it also pushes out what is queued.
 */
#include "ring_env.h"
#include "ring_link.h"
#include "ring_tcp_fault.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Segments of 4 KiB, like the packets of the other transport; loopback would make them 64 KiB. */
#define SEGMENT_BYTES 4096
#define LIVENESS_MS 500
#define CONGESTION "cubic"

/* A part of a message that waits for room in its connection. */
struct piece {
	const uint8_t *data;
	size_t left;
};

struct plane {
	int next_fd, prev_fd;
	union ring_address next_address, prev_address; /* of the peers' ends */
	union ring_address next_local, prev_local;
	struct piece *queue; /* ring buffer of cfg.messages_max + 1 */
	unsigned head, tail;
	size_t want; /* bytes of the current message still to come */
	uint8_t *place;
};

struct tcp_link {
	struct ring_link link;
	struct ring_link_cfg cfg;
	struct ring_env env;
	struct ring_fault_watch *watch;
	struct plane plane[RING_PLANES_MAX];
	char congestion[16];
};

/* Where the previous rank may call. */
struct callable {
	union ring_address address[RING_PLANES_MAX];
	uint32_t planes;
};

static struct tcp_link *from_link(struct ring_link *link)
{
	return (struct tcp_link *)(void *)link;
}

static int print_error(const char *what, unsigned plane)
{
	fprintf(stderr, "ring: TCP on plane %u: %s: %s\n", plane, what, strerror(errno));
	return -1;
}

static int set_option(int fd, int level, int name, unsigned value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Options that a connection inherits from the socket that listens. */
static int set_options(struct tcp_link *l, int fd, unsigned plane)
{
	/* An unsigned int of bytes per second; ~0 stands for no limit. */
	uint64_t pace = l->env.pace_bps / 8;
	socklen_t len = sizeof(l->congestion);

	if (set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1) ||
	    set_option(fd, IPPROTO_TCP, TCP_MAXSEG, SEGMENT_BYTES))
		return print_error("segment size", plane);
	if (l->env.port[plane].any.sa_family == AF_INET &&
	    set_option(fd, IPPROTO_IP, IP_TTL, RING_FAULT_TTL))
		return print_error("TTL", plane);
	if (pace && set_option(fd, SOL_SOCKET, SO_MAX_PACING_RATE,
			       pace < UINT32_MAX ? (unsigned)pace : UINT32_MAX - 1))
		return print_error("pacing rate", plane);
	/* Where cubic may not be had the default stays, and the link's text says which it is. */
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, CONGESTION, strlen(CONGESTION));
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, l->congestion, &len))
		return print_error("congestion control", plane);
	return 0;
}

static int open_socket(struct tcp_link *l, unsigned plane)
{
	const union ring_address *local = &l->env.port[plane];
	int fd = socket(local->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return print_error("socket", plane);
	if (set_options(l, fd, plane)) {
		close(fd);
		return -1;
	}
	if (bind(fd, &local->any, ring_address_size(local))) {
		print_error("bind to the port's address", plane);
		close(fd);
		return -1;
	}
	return fd;
}

static int listen_on(struct tcp_link *l, unsigned plane, union ring_address *address)
{
	int fd = open_socket(l, plane);
	socklen_t len = sizeof(*address);

	if (fd < 0)
		return -1;
	if (listen(fd, 1) == 0 && getsockname(fd, &address->any, &len) == 0)
		return fd;
	print_error("listen", plane);
	close(fd);
	return -1;
}

static int make_nonblocking(int fd)
{
	return fcntl(fd, F_SETFL, O_NONBLOCK);
}

static int call_next(struct tcp_link *l, unsigned plane)
{
	struct plane *p = &l->plane[plane];
	socklen_t len = sizeof(p->next_local);

	p->next_fd = open_socket(l, plane);
	if (p->next_fd < 0)
		return -1;
	if (connect(p->next_fd, &p->next_address.any, ring_address_size(&p->next_address)) ||
	    getsockname(p->next_fd, &p->next_local.any, &len) || make_nonblocking(p->next_fd))
		return print_error("connect to the next rank", plane);
	return 0;
}

static int accept_prev(struct tcp_link *l, unsigned plane, int listener)
{
	struct plane *p = &l->plane[plane];
	struct pollfd wait = {.fd = listener, .events = POLLIN};
	socklen_t len = sizeof(p->prev_address);

	if (poll(&wait, 1, RING_MEET_TIMEOUT_MS) != 1) {
		errno = ETIMEDOUT;
		return print_error("call of the previous rank", plane);
	}
	p->prev_fd = accept4(listener, &p->prev_address.any, &len, SOCK_CLOEXEC);
	len = sizeof(p->prev_local);
	if (p->prev_fd < 0 || getsockname(p->prev_fd, &p->prev_local.any, &len) ||
	    make_nonblocking(p->prev_fd))
		return print_error("accept the previous rank", plane);
	return 0;
}

static int meet_and_call(struct tcp_link *l, struct callable *mine)
{
	struct callable nothing = {0}, next, unused;

	if (ring_meet_swap(l->cfg.meet, &nothing, mine, &next, &unused, sizeof(*mine)))
		return -1;
	if (next.planes != l->env.planes) {
		fprintf(stderr, "ring: rank %u has %u planes, this rank %u (MRC_PORTS)\n",
			ring_meet_next(l->cfg.meet), next.planes, l->env.planes);
		return -1;
	}
	for (unsigned p = 0; p < l->env.planes; p++) {
		l->plane[p].next_address = next.address[p];
		if (call_next(l, p))
			return -1;
	}
	return 0;
}

static int connect_all(struct tcp_link *l)
{
	struct callable mine = {.planes = l->env.planes};
	int listener[RING_PLANES_MAX];
	unsigned n = 0;
	int rc = 0;

	while (n < l->env.planes && !rc) {
		listener[n] = listen_on(l, n, &mine.address[n]);
		if (listener[n] < 0)
			rc = -1;
		else
			n++;
	}
	rc = rc ? rc : meet_and_call(l, &mine);
	for (unsigned p = 0; p < n; p++) {
		rc = rc ? rc : accept_prev(l, p, listener[p]);
		close(listener[p]);
	}
	return rc;
}

static int open_queues(struct tcp_link *l)
{
	for (unsigned p = 0; p < l->env.planes; p++) {
		l->plane[p].queue = calloc(l->cfg.messages_max + 1, sizeof(struct piece));
		if (!l->plane[p].queue) {
			fprintf(stderr, "ring: out of memory\n");
			return -1;
		}
	}
	return 0;
}

/* Hosts are known to the fault table by their IPv4 address on plane 0; others feel real faults. */
static int follow_faults(struct tcp_link *l)
{
	struct ring_fault_flow flow[2 * RING_PLANES_MAX];
	struct plane *zero = &l->plane[0];
	unsigned n = 0;

	if (l->env.port[0].any.sa_family != AF_INET)
		return 0;
	for (unsigned p = 0; p < l->env.planes; p++) {
		struct plane *q = &l->plane[p];

		flow[n++] = (struct ring_fault_flow){
			.fd = q->next_fd,
			.plane = p,
			.from = zero->next_address.in.sin_addr,
			.to = l->env.port[0].in.sin_addr,
			.caller_port = ring_address_port(&q->next_local),
			.called_port = ring_address_port(&q->next_address),
		};
		flow[n++] = (struct ring_fault_flow){
			.fd = q->prev_fd,
			.plane = p,
			.from = zero->prev_address.in.sin_addr,
			.to = l->env.port[0].in.sin_addr,
			.caller_port = ring_address_port(&q->prev_address),
			.called_port = ring_address_port(&q->prev_local),
		};
	}
	return ring_fault_start(&l->watch, flow, n);
}

static int report_lost(const struct tcp_link *l, unsigned plane, bool next, ssize_t rc)
{
	fprintf(stderr, "ring: the connection %s rank %u on plane %u broke: %s\n",
		next ? "to" : "from",
		next ? ring_meet_next(l->cfg.meet) : ring_meet_prev(l->cfg.meet), plane,
		rc == 0 ? "closed" : strerror(errno));
	return -1;
}

static bool would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static int push_plane(struct tcp_link *l, unsigned plane)
{
	struct plane *p = &l->plane[plane];

	while (p->head != p->tail) {
		struct piece *piece = &p->queue[p->head];
		ssize_t n = send(p->next_fd, piece->data, piece->left, MSG_NOSIGNAL);

		if (n < 0)
			return would_block() ? 0 : report_lost(l, plane, true, n);
		piece->data += n;
		piece->left -= (size_t)n;
		if (piece->left)
			return 0;
		p->head = (p->head + 1) % (l->cfg.messages_max + 1);
	}
	return 0;
}

static int pull_plane(struct tcp_link *l, unsigned plane)
{
	struct plane *p = &l->plane[plane];

	while (p->want) {
		ssize_t n = recv(p->prev_fd, p->place, p->want, 0);

		if (n < 0)
			return would_block() ? 0 : report_lost(l, plane, false, n);
		if (n == 0)
			return report_lost(l, plane, false, n);
		p->place += n;
		p->want -= (size_t)n;
	}
	return 0;
}

/* Waits until a connection can make progress, then lets all try. */
static int wait_and_move(struct tcp_link *l)
{
	struct pollfd wait[2 * RING_PLANES_MAX];
	unsigned planes = l->env.planes;
	int rc;

	for (unsigned p = 0; p < planes; p++) {
		struct plane *q = &l->plane[p];

		wait[2 * p] = (struct pollfd){.fd = q->want ? q->prev_fd : -1, .events = POLLIN};
		wait[2 * p + 1] = (struct pollfd){.fd = q->head != q->tail ? q->next_fd : -1,
						  .events = POLLOUT};
	}
	rc = poll(wait, 2 * planes, LIVENESS_MS);
	if (rc < 0 && errno != EINTR)
		return print_error("poll", 0);
	if (rc == 0 && ring_meet_broken(l->cfg.meet))
		return -1;
	for (unsigned p = 0; p < planes; p++)
		if (pull_plane(l, p) || push_plane(l, p))
			return -1;
	return 0;
}

/* The part of a message that travels on a plane: whole floats, as equal as can be. */
static void find_stripe(const struct tcp_link *l, size_t bytes, unsigned plane, size_t *first,
			size_t *len)
{
	size_t words = bytes / sizeof(float);

	*first = words * plane / l->env.planes * sizeof(float);
	*len = words * (plane + 1) / l->env.planes * sizeof(float) - *first;
}

static int tcp_send(struct ring_link *link, size_t from, size_t to, size_t bytes)
{
	struct tcp_link *l = from_link(link);

	(void)to; /* the receiver knows */
	for (unsigned p = 0; p < l->env.planes; p++) {
		struct plane *q = &l->plane[p];
		size_t first, len;

		find_stripe(l, bytes, p, &first, &len);
		if (!len)
			continue;
		q->queue[q->tail] =
			(struct piece){.data = l->cfg.memory + from + first, .left = len};
		q->tail = (q->tail + 1) % (l->cfg.messages_max + 1);
		if (push_plane(l, p))
			return -1;
	}
	return 0;
}

static bool message_whole(const struct tcp_link *l)
{
	for (unsigned p = 0; p < l->env.planes; p++)
		if (l->plane[p].want)
			return false;
	return true;
}

static int tcp_receive(struct ring_link *link, size_t to, size_t bytes)
{
	struct tcp_link *l = from_link(link);

	for (unsigned p = 0; p < l->env.planes; p++) {
		size_t first;

		find_stripe(l, bytes, p, &first, &l->plane[p].want);
		l->plane[p].place = l->cfg.memory + to + first;
		if (pull_plane(l, p))
			return -1;
	}
	while (!message_whole(l))
		if (wait_and_move(l))
			return -1;
	return 0;
}

static bool all_pushed(const struct tcp_link *l)
{
	for (unsigned p = 0; p < l->env.planes; p++)
		if (l->plane[p].head != l->plane[p].tail)
			return false;
	return true;
}

/* The kernel holds a copy of what it has taken; that is all that must be waited for. */
static int tcp_flush(struct ring_link *link)
{
	struct tcp_link *l = from_link(link);

	while (!all_pushed(l))
		if (wait_and_move(l))
			return -1;
	return 0;
}

static unsigned tcp_paths(const struct ring_link *link, unsigned *path, unsigned max)
{
	const struct tcp_link *l = (const struct tcp_link *)(const void *)link;
	unsigned p;

	for (p = 0; p < l->env.planes && p < max; p++) {
		struct ring_fault_flow flow = {
			.caller_port = ring_address_port(&l->plane[p].next_local),
			.called_port = ring_address_port(&l->plane[p].next_address),
		};

		path[p] = ring_fault_path(&flow, l->env.paths);
	}
	return p;
}

static bool tcp_feels_loss(const struct ring_link *link)
{
	return ring_fault_filters(((const struct tcp_link *)(const void *)link)->watch);
}

static void tcp_close(struct ring_link *link)
{
	struct tcp_link *l = from_link(link);

	ring_fault_stop(l->watch);
	for (unsigned p = 0; p < RING_PLANES_MAX; p++) {
		if (l->plane[p].next_fd >= 0)
			close(l->plane[p].next_fd);
		if (l->plane[p].prev_fd >= 0)
			close(l->plane[p].prev_fd);
		free(l->plane[p].queue);
	}
	free(l);
}

static void describe_planes(struct tcp_link *l)
{
	char pace[48] = "not paced";

	if (l->env.pace_bps)
		snprintf(pace, sizeof(pace), "paced at %g Mb/s each",
			 (double)l->env.pace_bps / 1e6);
	snprintf(l->link.text, sizeof(l->link.text),
		 "TCP (%s), %u connections a neighbour, %s, segments of %d bytes", l->congestion,
		 l->env.planes, pace, SEGMENT_BYTES);
}

struct ring_link *ring_tcp_open(const struct ring_link_cfg *cfg)
{
	static const struct ring_link_ops ops = {
		.send = tcp_send,
		.receive = tcp_receive,
		.flush = tcp_flush,
		.paths = tcp_paths,
		.feels_loss = tcp_feels_loss,
		.close = tcp_close,
	};
	struct tcp_link *l = calloc(1, sizeof(*l));

	if (!l) {
		fprintf(stderr, "ring: out of memory\n");
		return NULL;
	}
	l->link.ops = &ops;
	l->cfg = *cfg;
	for (unsigned p = 0; p < RING_PLANES_MAX; p++)
		l->plane[p].next_fd = l->plane[p].prev_fd = -1;
	if (ring_env_read(&l->env) || open_queues(l) || connect_all(l) || follow_faults(l)) {
		tcp_close(&l->link);
		return NULL;
	}
	describe_planes(l);
	return &l->link;
}
