/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_server.c - answers scrapes: see exporter.h.
 *
 * One thread, a few connections, and a time for each: who connects and says nothing, reads nothing
 * or sends a byte a second loses its place when the time is over, or when all places are taken and
 * it is the oldest. A reading is made for an answer, but not more often than ten times a second, so
 * that clients cannot make the reader work without end.
 */
#include "exporter/exporter.h"

#include "ui/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 16u
#define LIFE_NS UINT64_C(5000000000) /* Prometheus waits 10 s by default */
#define READING_NS UINT64_C(100000000)
/* A client that waits is seen again and again; without a descriptor for it that is a busy loop. */
#define DEAF_NS UINT64_C(200000000)
#define POLLED (CONNECTIONS + 2u)

struct connection {
	int fd; /* -1: free */
	uint64_t until_ns;
	char request[STAT_REQUEST_MAX];
	size_t got;
	struct ui_text answer; /* empty until the request is whole */
	size_t sent;
};

struct serving {
	const struct stat_server *server;
	int fd;
	uint64_t deaf_until_ns; /* no new client before */
	struct connection connection[CONNECTIONS];
	uint64_t read_ns;	   /* the last reading; 0: none */
	struct ui_text metrics[2]; /* of it, by enum stat_format */
};

/* getaddrinfo takes 99999 for 34463. */
static bool is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits <= 5 && !text[digits] && atoi(text) > 0 &&
	       atoi(text) <= UINT16_MAX;
}

/* NULL: it is no address. */
static struct addrinfo *find_address(const char *address)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	const char *colon = strrchr(address, ':');
	int len = colon ? (int)(colon - address) : 0;
	bool bracket = len > 1 && address[0] == '[' && address[len - 1] == ']';
	struct addrinfo *found = NULL;
	char host[64];

	if (!colon || !is_port(colon + 1) || len >= (int)sizeof(host))
		return NULL;
	snprintf(host, sizeof(host), "%.*s", bracket ? len - 2 : len, address + bracket);
	return getaddrinfo(len ? host : "127.0.0.1", colon + 1, &hints, &found) ? NULL : found;
}

int stat_server_open(const char *address, char *error, size_t size)
{
	struct addrinfo *found = find_address(address);
	int fd, one = 1;

	if (!found) {
		snprintf(error, size,
			 "must be ADDRESS:PORT in numbers, [IPV6]:PORT, or :PORT for 127.0.0.1");
		return -1;
	}
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, CONNECTIONS)) {
		snprintf(error, size, "%s", strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	return fd;
}

static void end_connection(struct connection *c)
{
	close(c->fd);
	ui_text_fini(&c->answer);
	c->fd = -1;
}

/* ---- answers ---- */

static const struct {
	const char *status, *body;
} plain[] = {
	[STAT_HTTP_ROOT] = {"200 OK", "softmrc: /metrics\n"},
	[STAT_HTTP_NOT_FOUND] = {"404 Not Found", "there is /metrics\n"},
	[STAT_HTTP_BAD_METHOD] = {"405 Method Not Allowed", "GET or HEAD\n"},
	[STAT_HTTP_BAD] = {"400 Bad Request", "no request of HTTP/1.1\n"},
};

static void put_answer(struct connection *c, const char *status, const char *type, const char *body,
		       size_t len, bool head)
{
	ui_text_add(&c->answer,
		    "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		    "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
		    status, type, len);
	if (!head)
		ui_text_add(&c->answer, "%s", body);
}

/* False: the statistics cannot be read. */
static bool read_metrics(struct serving *s)
{
	uint64_t now = ui_clock_ns();

	if (s->read_ns && now < s->read_ns + READING_NS)
		return true;
	if (stats_reader_read(s->server->stats, now))
		return false;
	for (int format = STAT_PROMETHEUS; format <= STAT_OPENMETRICS; format++) {
		ui_text_clear(&s->metrics[format]);
		stat_exposition_render(s->server->stats, s->server->processes,
				       (enum stat_format)format, &s->metrics[format]);
		if (s->server->more)
			s->server->more(s->server->ctx, (enum stat_format)format,
					&s->metrics[format]);
		stat_exposition_end((enum stat_format)format, &s->metrics[format]);
	}
	s->read_ns = now;
	return true;
}

static void answer_metrics(struct serving *s, struct connection *c,
			   const struct stat_request *request)
{
	static const char *const type[] = {
		[STAT_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
		[STAT_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8"};
	enum stat_format format = request->openmetrics ? STAT_OPENMETRICS : STAT_PROMETHEUS;
	static const char unread[] = "the statistics cannot be read\n";

	if (read_metrics(s))
		put_answer(c, "200 OK", type[format], s->metrics[format].data,
			   s->metrics[format].len, request->head);
	else
		put_answer(c, "500 Internal Server Error", "text/plain", unread, sizeof(unread) - 1,
			   request->head);
}

static void answer(struct serving *s, struct connection *c)
{
	struct stat_request request;
	enum stat_http kind = stat_http_read(c->request, c->got, &request);

	if (kind == STAT_HTTP_METRICS)
		answer_metrics(s, c, &request);
	else if (kind != STAT_HTTP_MORE)
		put_answer(c, plain[kind].status, "text/plain", plain[kind].body,
			   strlen(plain[kind].body), request.head);
}

/* ---- connections ---- */

/* What comes behind a request is not read: the end of the connection says so. */
static void receive(struct serving *s, struct connection *c)
{
	ssize_t n = recv(c->fd, c->request + c->got, sizeof(c->request) - c->got, 0);

	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			end_connection(c);
		return;
	}
	c->got += (size_t)n;
	answer(s, c);
}

static void send_answer(struct connection *c)
{
	ssize_t n = send(c->fd, c->answer.data + c->sent, c->answer.len - c->sent, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		end_connection(c);
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	if (c->sent < c->answer.len)
		return;
	/* What is left unread makes the kernel reset the connection, and with it the answer. */
	for (int i = 0; i < 4 && recv(c->fd, c->request, sizeof(c->request), MSG_DONTWAIT) > 0; i++)
		;
	end_connection(c);
}

/* The place of the oldest connection; `free` to prefer one that has none. */
static struct connection *find_oldest(struct serving *s, bool free)
{
	struct connection *oldest = NULL;

	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &s->connection[i];

		if (c->fd < 0 && free)
			return c;
		if (c->fd >= 0 && (!oldest || c->until_ns < oldest->until_ns))
			oldest = c;
	}
	return oldest;
}

/* The descriptor of the oldest client serves the next one, if that is what is missing. */
static void miss_descriptor(struct serving *s, uint64_t now)
{
	struct connection *oldest = find_oldest(s, false);

	if (oldest)
		end_connection(oldest);
	else
		s->deaf_until_ns = now + DEAF_NS;
}

static void take_connection(struct serving *s, uint64_t now)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *c;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			miss_descriptor(s, now);
		return;
	}
	c = find_oldest(s, true);
	if (c->fd >= 0)
		end_connection(c);
	c->fd = fd;
	c->until_ns = now + LIFE_NS;
	c->got = c->sent = 0;
}

static int wait_for_clients(struct serving *s, struct pollfd fds[POLLED])
{
	bool deaf = ui_clock_ns() < s->deaf_until_ns;

	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		const struct connection *c = &s->connection[i];

		fds[i] = (struct pollfd){.fd = c->fd, .events = c->answer.len ? POLLOUT : POLLIN};
	}
	fds[CONNECTIONS] = (struct pollfd){.fd = deaf ? -1 : s->fd, .events = POLLIN};
	fds[CONNECTIONS + 1] = (struct pollfd){.fd = s->server->stop_fd, .events = POLLIN};
	return poll(fds, POLLED, deaf ? (int)(DEAF_NS / 1000000) : 500);
}

static void serve(struct serving *s, const struct pollfd fds[POLLED])
{
	uint64_t now = ui_clock_ns();

	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &s->connection[i];

		if (c->fd < 0 || c->fd != fds[i].fd)
			continue;
		if (now >= c->until_ns)
			end_connection(c);
		else if (fds[i].revents && c->answer.len)
			send_answer(c);
		else if (fds[i].revents)
			receive(s, c);
	}
	if (fds[CONNECTIONS].revents)
		take_connection(s, now);
}

static int serve_until_stopped(struct serving *s)
{
	struct pollfd fds[POLLED];

	while (!ui_term_caught()) {
		int n = wait_for_clients(s, fds);

		if (n < 0 && errno != EINTR)
			return errno;
		if (n >= 0)
			serve(s, fds);
		if (n >= 0 && fds[CONNECTIONS + 1].revents)
			break;
	}
	return 0;
}

int stat_server_run(const struct stat_server *server, int fd)
{
	struct serving *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		close(fd);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < CONNECTIONS; i++)
		s->connection[i].fd = -1;
	s->server = server;
	s->fd = fd;
	err = serve_until_stopped(s);
	for (uint32_t i = 0; i < CONNECTIONS; i++)
		if (s->connection[i].fd >= 0)
			end_connection(&s->connection[i]);
	for (int format = STAT_PROMETHEUS; format <= STAT_OPENMETRICS; format++)
		ui_text_fini(&s->metrics[format]);
	free(s);
	close(fd);
	return err;
}
