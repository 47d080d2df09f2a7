/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_exchange.c - see tcp_exchange.h. */
#include "common/tcp_exchange.h"

#include <mrc/meet.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define CALL_MS 10000

static int print_error(const char *program, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program, what, strerror(errno));
	return -1;
}

int meet_server(const char *program, uint16_t port)
{
	int fd, err = mrc_meet_listen(NULL, port, MRC_MEET_FOREVER, &fd);

	if (!err)
		return fd;
	fprintf(stderr, "%s: --port %u: %s\n", program, port, strerror(err));
	return -1;
}

int meet_client(const char *program, const char *host, uint16_t port)
{
	int fd, err = mrc_meet_call(host, port, CALL_MS, &fd);

	if (!err)
		return fd;
	fprintf(stderr, "%s: %s port %u: %s\n", program, host, port, strerror(err));
	return -1;
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
	return mrc_meet_sync(fd, fd, MRC_MEET_FOREVER) ? print_error(program, "the peer is gone")
						       : 0;
}
