/* SPDX-License-Identifier: BSD-2-Clause */
/* meet.c - see meet.h. */
#include "common/tcp_exchange.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CALL_AGAIN_MS 100
#define CALLS 100

static int print_error(const char *program, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program, what, strerror(errno));
	return -1;
}

int meet_server(const char *program, uint16_t port)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1, peer;

	if (fd < 0)
		return print_error(program, "socket");
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&any, sizeof(any)) || listen(fd, 1)) {
		fprintf(stderr, "%s: --port %u: %s\n", program, port, strerror(errno));
		close(fd);
		return -1;
	}
	peer = accept(fd, NULL, NULL);
	if (peer < 0)
		print_error(program, "accept");
	close(fd);
	return peer;
}

static int call_once(const struct addrinfo *where)
{
	for (const struct addrinfo *a = where; a; a = a->ai_next) {
		int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);

		if (fd < 0)
			continue;
		if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

/* The server may be started a moment later. */
int meet_client(const char *program, const char *host, uint16_t port)
{
	const struct timespec pause = {.tv_nsec = CALL_AGAIN_MS * 1000000L};
	struct addrinfo want = {.ai_socktype = SOCK_STREAM}, *where;
	char service[8];
	int fd = -1, rc;

	snprintf(service, sizeof(service), "%u", port);
	rc = getaddrinfo(host, service, &want, &where);
	if (rc) {
		fprintf(stderr, "%s: %s: %s\n", program, host, gai_strerror(rc));
		return -1;
	}
	for (int i = 0; i < CALLS && fd < 0; i++) {
		if (i)
			nanosleep(&pause, NULL);
		fd = call_once(where);
	}
	if (fd < 0)
		fprintf(stderr, "%s: %s port %u: %s\n", program, host, port, strerror(errno));
	freeaddrinfo(where);
	return fd;
}

static int send_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = send(fd, p, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

static int receive_all(int fd, void *data, size_t size)
{
	char *p = data;

	while (size) {
		ssize_t n = recv(fd, p, size, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ECONNRESET;
		if (n <= 0)
			return -1;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

int meet_swap(const char *program, int fd, const void *mine, void *theirs, size_t size)
{
	if (send_all(fd, mine, size) || receive_all(fd, theirs, size))
		return print_error(program, "the peer is gone");
	return 0;
}

int meet_barrier(const char *program, int fd)
{
	char mine = 'b', theirs;

	return meet_swap(program, fd, &mine, &theirs, 1);
}
