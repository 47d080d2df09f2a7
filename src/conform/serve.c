/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve.c - see serve.h.
 *
 * The kit connects by TCP and says a line (serve_request.h), which is answered by a line:
 *
 *	qp ...			gid ADDR qpn N psn N rkey N va N length N mtu N
 *	write ..., recv ...	ok
 *	completion, received	success [IMM], error_wc and the reason, or none
 *	memory ...		hex digits
 *
 * A QP takes the place of the one before, and its memory is zero again. What cannot be done is
 * answered by "error" and the reason. One kit is served at a time; the next ones wait, and take the
 * place of one that goes, does not take its answers, or has been silent for too long.
 */
#include "conform/serve.h"

#include <mrc.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "conform/serve_request.h"

#define RETRY_LINEAR 7
#define RETRY_EXP 3

struct server {
	struct ibv_context *device;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct mrc_context *context;
	struct mrc_cq *send_cq, *recv_cq;
	struct mrc_qp *qp;
	union ibv_gid gid;
	uint8_t *memory;
	char reply[2 * CONFORM_SHOWN_MAX + 16];
};

static int say(struct server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int say(struct server *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->reply, sizeof(s->reply), format, args);
	va_end(args);
	return 0;
}

static int refuse(struct server *s, const char *what, int err)
{
	return say(s, "error %s: %s", what, strerror(err));
}

/* ---- the device ---- */

static struct ibv_context *open_named(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *device = NULL;

	for (size_t i = 0; list && list[i] && !device; i++)
		if (!name || strcmp(ibv_get_device_name(list[i]), name) == 0)
			device = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return device;
}

static int complain(const char *what)
{
	fprintf(stderr, "mrc conform --serve: %s: %s\n", what, strerror(errno));
	return -1;
}

static int open_server(struct server *s, const struct conform_serve_options *o)
{
	unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	s->device = open_named(o->device);
	if (!s->device)
		return complain(o->device ? o->device : "no device");
	if (ibv_query_gid(s->device, 1, (int)o->gid_index, &s->gid))
		return complain("GID");
	s->memory = calloc(1, CONFORM_MEMORY_BYTES);
	s->pd = s->memory ? ibv_alloc_pd(s->device) : NULL;
	s->mr = s->pd ? ibv_reg_mr(s->pd, s->memory, CONFORM_MEMORY_BYTES, access) : NULL;
	if (!s->mr)
		return complain("memory region");
	s->context = mrc_create_context(s->device, NULL);
	s->send_cq = s->context ? mrc_create_cq(s->context, CONFORM_DEPTH, NULL, NULL, 0) : NULL;
	s->recv_cq = s->send_cq ? mrc_create_cq(s->context, CONFORM_DEPTH, NULL, NULL, 0) : NULL;
	return s->recv_cq ? 0 : complain("MRC context and completion queues");
}

static void close_server(struct server *s)
{
	if (s->qp)
		mrc_destroy_qp(s->qp);
	if (s->recv_cq)
		mrc_destroy_cq(s->recv_cq);
	if (s->send_cq)
		mrc_destroy_cq(s->send_cq);
	if (s->context)
		mrc_destroy_context(s->context);
	if (s->mr)
		ibv_dereg_mr(s->mr);
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	if (s->device)
		ibv_close_device(s->device);
	free(s->memory);
}

/* ---- a QP ---- */

static const char *write_gid(const union ibv_gid *gid, char text[INET6_ADDRSTRLEN])
{
	return inet_ntop(AF_INET6, gid->raw, text, INET6_ADDRSTRLEN);
}

static enum ibv_mtu mtu_of(uint32_t bytes)
{
	uint32_t mtu = IBV_MTU_256;

	for (uint32_t b = 256; b < bytes && mtu < IBV_MTU_4096; b *= 2)
		mtu++;
	return (enum ibv_mtu)mtu;
}

/* RESET to INIT to RTR to RTS. Returns 0 or an errno value. */
static int connect_qp(struct server *s, const struct conform_serve_options *o,
		      const struct conform_wish *w)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = {.is_global = 1,
			    .grh = {.sgid_index = (uint8_t)o->gid_index, .hop_limit = 64}},
		.dest_qp_num = w->qpn,
		.rq_psn = w->psn,
		.path_mtu = mtu_of(w->mtu),
	};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = w->peer_psn};
	struct mrc_qp_attr mrc = {.mpr = {8, 8},
				  .wimm = {32, 32},
				  .timeout = (uint8_t)w->timeout,
				  .retry = {RETRY_LINEAR, RETRY_EXP}};
	int err = mrc_modify_qp(s->qp, &init, IBV_QP_STATE, NULL, 0);

	memcpy(rtr.ah_attr.grh.dgid.raw, w->gid, sizeof(w->gid));
	if (!err)
		err = mrc_modify_qp(s->qp, &rtr,
				    IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					    IBV_QP_PATH_MTU,
				    &mrc, MRC_QP_MPR_DEST | MRC_QP_MAX_WIMM_DEST);
	if (!err)
		err = mrc_modify_qp(s->qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN, &mrc,
				    MRC_QP_MPR | MRC_QP_MAX_WIMM | MRC_QP_TIMEOUT |
					    MRC_QP_RETRY_CNT);
	return err;
}

static void drain(struct mrc_cq *cq)
{
	struct ibv_wc wc;

	while (mrc_poll_cq(cq, 1, &wc) > 0)
		continue;
}

static int make_qp(struct server *s, const struct conform_serve_options *o,
		   const struct conform_wish *w)
{
	struct mrc_qp_init_attr attr = {.send_cq = s->send_cq,
					.recv_cq = s->recv_cq,
					.pd = s->pd,
					.sq_sig_all = 1,
					.cap = {.max_send_wr = CONFORM_DEPTH,
						.max_recv_wr = CONFORM_DEPTH,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	char gid[INET6_ADDRSTRLEN];
	uint32_t qpn;
	int err;

	if (s->qp)
		mrc_destroy_qp(s->qp);
	drain(s->send_cq);
	drain(s->recv_cq);
	memset(s->memory, 0, CONFORM_MEMORY_BYTES);
	s->qp = mrc_create_qp(s->context, &attr);
	if (!s->qp)
		return refuse(s, "mrc_create_qp", errno);
	err = connect_qp(s, o, w);
	if (err || mrc_get_qpn(s->qp, &qpn))
		return refuse(s, "mrc_modify_qp", err ? err : errno);
	return say(s, "gid %s qpn %u psn %u rkey 0x%x va 0x%llx length %u mtu %u",
		   write_gid(&s->gid, gid), qpn, w->peer_psn, s->mr->rkey,
		   (unsigned long long)(uintptr_t)s->memory, CONFORM_MEMORY_BYTES, w->mtu);
}

/* ---- what the kit asks for ---- */

static int post_write(struct server *s, const struct conform_request *r)
{
	/* What is sent is behind what the kit writes to. */
	struct ibv_sge sge = {
		.addr = (uintptr_t)s->memory, .length = r->number[0], .lkey = s->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = r->number[0] ? 1 : 0,
		.opcode = r->n_numbers == 2 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(r->number[1]),
		/* Memory of the kit, which has none: it looks at packets alone. */
		.wr.rdma = {.remote_addr = 0x10000, .rkey = 0x1234},
	};
	struct ibv_send_wr *bad;
	int err;

	if (!s->qp)
		return say(s, "error write: want a QP before");
	err = mrc_post_send(s->qp, &wr, &bad);
	return err ? refuse(s, "mrc_post_send", err) : say(s, "ok");
}

static int post_recv(struct server *s, uint32_t n)
{
	struct ibv_recv_wr wr = {0}, *bad;

	if (!s->qp)
		return say(s, "error recv: want a QP before");
	for (uint32_t i = 0; i < n; i++) {
		int err = mrc_post_recv(s->qp, &wr, &bad);

		if (err)
			return refuse(s, "mrc_post_recv", err);
	}
	return say(s, "ok");
}

static int wait_for(struct server *s, struct mrc_cq *cq, uint32_t ms)
{
	struct ibv_wc wc;
	int n;

	for (uint32_t i = 0;; i++) {
		n = mrc_poll_cq(cq, 1, &wc);
		if (n || i >= ms)
			break;
		poll(NULL, 0, 1);
	}
	if (n < 0)
		return refuse(s, "mrc_poll_cq", errno);
	if (n == 0)
		return say(s, "none");
	if (wc.status != IBV_WC_SUCCESS)
		return say(s, "error_wc %s", ibv_wc_status_str(wc.status));
	return say(s, "success %u", wc.wc_flags & IBV_WC_WITH_IMM ? ntohl(wc.imm_data) : 0);
}

static int show_memory(struct server *s, uint32_t offset, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		snprintf(s->reply + 2 * (size_t)i, 3, "%02x", s->memory[offset + i]);
	return 0;
}

static int obey(struct server *s, const struct conform_serve_options *o, const char *line)
{
	struct conform_request r;
	char why[CONFORM_WHY_MAX];

	if (conform_request_read(line, &r, why))
		return say(s, "error %s", why);
	switch (r.verb) {
	case CONFORM_QP:
		return make_qp(s, o, &r.wish);
	case CONFORM_WRITE:
		return post_write(s, &r);
	case CONFORM_RECV:
		return post_recv(s, r.number[0]);
	case CONFORM_COMPLETION:
		return wait_for(s, s->send_cq, r.number[0]);
	case CONFORM_RECEIVED:
		return wait_for(s, s->recv_cq, r.number[0]);
	case CONFORM_MEMORY:
	case CONFORM_VERBS:
		break;
	}
	return show_memory(s, r.number[0], r.number[1]);
}

/* ---- the connection ---- */

/* Kits that may wait. */
#define WAITING 16
/* So long an answer may lie before its kit has taken it. */
#define TAKE_S 10
/* Where there is no descriptor for the next kit, until there may be one again. */
#define REST_MS 100

struct kit {
	int fd;
	char line[CONFORM_LINE_MAX + 1];
	size_t n;
	uint64_t heard_ms; /* when it came, or its last line did */
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int bind_any(int family, uint32_t port)
{
	struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	bool ipv6 = family == AF_INET6;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, off = 0;
	int err;

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    (!ipv6 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0) &&
	    bind(fd, ipv6 ? (struct sockaddr *)&any6 : (struct sockaddr *)&any4,
		 ipv6 ? sizeof(any6) : sizeof(any4)) == 0 &&
	    listen(fd, WAITING) == 0)
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* Both versions of IP, or IPv4 where the kernel has no other. */
static int listen_at(uint32_t port)
{
	int fd = bind_any(AF_INET6, port);

	if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
		fd = bind_any(AF_INET, port);
	if (fd < 0)
		complain("TCP port");
	return fd;
}

/*
 * Waits for bytes of the kit. False: it has been silent for too long, and another one waits. What
 * comes in pieces is no line before it is whole, so a kit that sends a byte now and then is silent.
 */
static bool wait_for_kit(const struct kit *k, int listener, uint32_t silence_ms)
{
	for (;;) {
		uint64_t silent = now_ms() - k->heard_ms;
		bool early = silent < silence_ms;
		struct pollfd fds[2] = {{.fd = k->fd, .events = POLLIN},
					{.fd = early ? -1 : listener, .events = POLLIN}};

		if (poll(fds, 2, early ? (int)(silence_ms - silent) : -1) < 0 && errno != EINTR)
			return false;
		if (fds[1].revents)
			return false;
		if (fds[0].revents)
			return true;
	}
}

/* Takes what of a line is in the bytes; returns how many, *whole: the line's end was among them. */
static size_t take_line(struct kit *k, const char *bytes, size_t n, bool *whole)
{
	*whole = false;
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n') {
			*whole = true;
			k->line[k->n] = '\0';
			k->n = 0;
			return i + 1;
		}
		/* Of a long line what there is room for, one too many, so that it is refused. */
		if (bytes[i] != '\r' && k->n < CONFORM_LINE_MAX)
			k->line[k->n++] = bytes[i] ? bytes[i] : '?';
	}
	return n;
}

/* False: the kit does not take it. */
static bool answer(const struct kit *k, const char *reply)
{
	char text[sizeof(((struct server *)NULL)->reply) + 1];
	size_t len = (size_t)snprintf(text, sizeof(text), "%s\n", reply), at = 0;
	uint64_t began_ms = now_ms();

	while (at < len) {
		ssize_t n = send(k->fd, text + at, len - at, MSG_NOSIGNAL);

		if ((n < 0 && errno != EINTR) || now_ms() - began_ms > TAKE_S * UINT64_C(1000))
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Obeys the lines among the bytes. */
static bool obey_all(struct server *s, const struct conform_serve_options *o, struct kit *k,
		     const char *bytes, size_t n)
{
	bool whole;

	for (size_t at = 0; at < n;) {
		at += take_line(k, bytes + at, n - at, &whole);
		if (!whole)
			continue;
		obey(s, o, k->line);
		if (!answer(k, s->reply))
			return false;
		k->heard_ms = now_ms();
	}
	return true;
}

/* Takes the descriptor over. */
static void serve_kit(struct server *s, const struct conform_serve_options *o, int fd, int listener)
{
	struct timeval take = {.tv_sec = TAKE_S};
	struct kit k = {.fd = fd, .heard_ms = now_ms()};
	char bytes[CONFORM_LINE_MAX];
	ssize_t n;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &take, sizeof(take)) != 0) {
		/* One that takes no answers would hold the server. */
		complain("a kit's time limit");
		close(fd);
		return;
	}
	while (wait_for_kit(&k, listener, o->silence_ms)) {
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
		if (n > 0 && !obey_all(s, o, &k, bytes, (size_t)n))
			break;
	}
	close(fd);
}

/* Returns the next kit; -1: there is none yet; -2: there will be none. */
static int next_kit(int listener)
{
	struct pollfd waits = {.fd = listener, .events = POLLIN};
	int fd, err;

	(void)poll(&waits, 1, -1);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	err = errno;
	if (fd >= 0 || err == EINTR || err == EAGAIN || err == ECONNABORTED)
		return fd;
	complain("a kit");
	if (err != EMFILE && err != ENFILE && err != ENOBUFS && err != ENOMEM)
		return -2;
	poll(NULL, 0, REST_MS);
	return -1;
}

static int serve_all(struct server *s, const struct conform_serve_options *o)
{
	int fd = listen_at(o->port), kit;
	bool served = false;

	if (fd < 0)
		return 1;
	printf("ready on TCP port %u\n", o->port);
	fflush(stdout);
	while (!(o->once && served)) {
		kit = next_kit(fd);
		if (kit == -2)
			break;
		if (kit < 0)
			continue;
		serve_kit(s, o, kit, fd);
		served = true;
	}
	close(fd);
	return o->once && served ? 0 : 1;
}

/* A QP for a kit that connects to nothing. */
static int serve_one(struct server *s, const struct conform_serve_options *o)
{
	struct conform_wish wish;
	char why[CONFORM_WHY_MAX];

	if (conform_wish_read(o->peer, &wish, why)) {
		fprintf(stderr, "mrc conform --serve: --peer: %s\n", why);
		return 1;
	}
	make_qp(s, o, &wish);
	if (strncmp(s->reply, "error ", 6) == 0) {
		fprintf(stderr, "mrc conform --serve: %s\n", s->reply + 6);
		return 1;
	}
	printf("%s\n", s->reply);
	fflush(stdout);
	for (;;)
		pause();
}

int conform_serve(const struct conform_serve_options *options)
{
	static struct server s;
	int status;

	status = open_server(&s, options) ? 1 : 0;
	if (status == 0)
		status = options->peer ? serve_one(&s, options) : serve_all(&s, options);
	close_server(&s);
	return status;
}
