/* SPDX-License-Identifier: BSD-2-Clause */
/* The TCP connection of the two ends: see perf.h. */
#include "cli/perf/perf.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/printable.h"

/* Between two attempts to reach a server that is not there yet. */
#define CALL_GAP_MS 200u

static int set_link_error(struct perf_link *link, const char *what)
{
	snprintf(link->error, sizeof(link->error), "%s: %s", what, strerror(errno));
	return -1;
}

/* An end that goes away without a word, as a machine does that loses power, is noticed. */
static void set_options(int fd)
{
	static const struct {
		int level, name, value;
	} option[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
		      {SOL_SOCKET, SO_KEEPALIVE, 1},
		      {IPPROTO_TCP, TCP_KEEPIDLE, 5},
		      {IPPROTO_TCP, TCP_KEEPINTVL, 2},
		      {IPPROTO_TCP, TCP_KEEPCNT, 3}};

	/* Without one of them the run works as well, only its end may take longer. */
	for (size_t i = 0; i < sizeof(option) / sizeof(option[0]); i++)
		(void)setsockopt(fd, option[i].level, option[i].name, &option[i].value,
				 sizeof(option[i].value));
}

int perf_link_listen(struct perf_link *link, uint16_t port)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1, off = 0;

	link->fd = -1;
	if (fd < 0)
		return set_link_error(link, "socket");
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) ||
	    bind(fd, (struct sockaddr *)&any, sizeof(any)) || listen(fd, 4)) {
		char what[40];

		snprintf(what, sizeof(what), "TCP port %u", port);
		set_link_error(link, what);
		close(fd);
		return -1;
	}
	return fd;
}

int perf_link_accept(struct perf_link *link, int listener)
{
	link->have = 0;
	link->error[0] = '\0';
	link->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (link->fd < 0)
		return errno == EINTR ? -1 : set_link_error(link, "accept");
	set_options(link->fd);
	return 0;
}

static int call_once(const struct addrinfo *where)
{
	for (const struct addrinfo *a = where; a; a = a->ai_next) {
		int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol), err;

		if (fd < 0)
			continue;
		if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
			return fd;
		err = errno;
		close(fd);
		errno = err;
	}
	return -1;
}

int perf_link_connect(struct perf_link *link, const char *host, uint16_t port, uint32_t patience_ms)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	char service[8], what[120];
	struct addrinfo *where;
	int rc;

	link->have = 0;
	link->fd = -1;
	snprintf(service, sizeof(service), "%u", port);
	rc = getaddrinfo(host, service, &hints, &where);
	if (rc) {
		snprintf(link->error, sizeof(link->error), "%.100s: %s", host, gai_strerror(rc));
		return -1;
	}
	for (uint32_t ms = 0;; ms += CALL_GAP_MS) {
		link->fd = call_once(where);
		if (link->fd >= 0 || errno != ECONNREFUSED || ms >= patience_ms)
			break;
		if (poll(NULL, 0, CALL_GAP_MS) < 0)
			break;
	}
	if (link->fd < 0) {
		snprintf(what, sizeof(what), "%.80s, TCP port %u", host, port);
		set_link_error(link, what);
	}
	freeaddrinfo(where);
	if (link->fd < 0)
		return -1;
	set_options(link->fd);
	return 0;
}

void perf_link_close(struct perf_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
}

static int send_bytes(struct perf_link *link, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = send(link->fd, bytes, n, MSG_NOSIGNAL);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return set_link_error(link, "the peer");
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

int perf_link_send(struct perf_link *link, json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);
	int rc;

	json_decref(message);
	if (!text) {
		snprintf(link->error, sizeof(link->error), "no memory for a message");
		return -1;
	}
	rc = send_bytes(link, text, strlen(text));
	free(text);
	return rc ? rc : send_bytes(link, "\n", 1);
}

/* Takes the first whole line out of the buffer; NULL when there is none or it is no JSON. */
static json_t *take_line(struct perf_link *link, bool *broken)
{
	char *end = memchr(link->line, '\n', link->have);
	size_t n = end ? (size_t)(end - link->line) + 1 : 0;
	json_error_t why;
	json_t *json;

	*broken = false;
	if (!end)
		return NULL;
	json = json_loadb(link->line, n - 1, JSON_REJECT_DUPLICATES, &why);
	link->have -= n;
	memmove(link->line, link->line + n, link->have);
	*broken = !json_is_object(json);
	if (*broken) {
		snprintf(link->error, sizeof(link->error), "the peer speaks something else");
		json_decref(json);
		return NULL;
	}
	return json;
}

/* Waits and reads more into the buffer. 1: some bytes; 0: the time is over; -1: an error. */
static int read_more(struct perf_link *link, int timeout_ms)
{
	struct pollfd p = {.fd = link->fd, .events = POLLIN};
	int ready = poll(&p, 1, timeout_ms);
	ssize_t n;

	if (ready == 0)
		return 0;
	if (ready < 0)
		return set_link_error(link, "wait for the peer");
	n = recv(link->fd, link->line + link->have, sizeof(link->line) - link->have, 0);
	if (n < 0)
		return set_link_error(link, "the peer");
	if (n == 0) {
		snprintf(link->error, sizeof(link->error),
			 sizeof(link->line) == link->have ? "the peer sends endless lines"
							  : "the peer has gone");
		return -1;
	}
	link->have += (size_t)n;
	return 1;
}

static json_t *check_error(struct perf_link *link, json_t *json)
{
	const char *text = json_string_value(json_object_get(json, "error"));

	if (!text)
		return json;
	snprintf(link->error, sizeof(link->error), "the peer says: %.180s", text);
	mb_printable(link->error, sizeof(link->error));
	json_decref(json);
	return NULL;
}

json_t *perf_link_receive(struct perf_link *link, int timeout_ms, bool *nothing)
{
	bool broken;
	json_t *json;

	if (nothing)
		*nothing = false;
	while (!(json = take_line(link, &broken))) {
		int got = broken ? -1 : read_more(link, timeout_ms);

		if (got > 0)
			continue;
		if (got == 0 && nothing)
			*nothing = true;
		if (got == 0)
			snprintf(link->error, sizeof(link->error), "the peer does not answer");
		return NULL;
	}
	return check_error(link, json);
}

bool perf_link_is_closed(const struct perf_link *link)
{
	struct pollfd p = {.fd = link->fd, .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0;
}
