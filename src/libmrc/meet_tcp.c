/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meet_tcp.c - a TCP connection between two ends, over IPv4 or IPv6.
 *
 * Sockets are made non-blocking while they are waited for, so that each wait has a limit. A thread
 * cannot be cancelled meanwhile: the socket would stay.
 */
#include "libmrc/meet.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One address may not answer at all, while another one would. */
#define TRY_MS 3000
/* Between two rounds of tries at a host that refuses, as it does until it listens. */
#define TRY_AGAIN_MS 50
#define PORT_CHARS 6

/* What a host's name or address stands for; EADDRNOTAVAIL: nothing. */
static int addresses(const char *host, uint16_t port, int flags, struct addrinfo **found)
{
	struct addrinfo want = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
	char service[PORT_CHARS];

	snprintf(service, sizeof(service), "%u", port);
	errno = 0;
	switch (getaddrinfo(host, service, &want, found)) {
	case 0:
		return 0;
	case EAI_MEMORY:
		return ENOMEM;
	case EAI_SYSTEM:
		/* Not every module of the resolver says which error it was. */
		return errno ? errno : EADDRNOTAVAIL;
	case EAI_AGAIN:
		return EAGAIN;
	default:
		return EADDRNOTAVAIL;
	}
}

static int socket_for(const struct addrinfo *a, int *fd)
{
	*fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
	return *fd < 0 ? errno : 0;
}

/* Closes fd on an error, and makes it blocking without one. */
static int hand_over(int fd, int err, int *out)
{
	int flags = err ? 0 : fcntl(fd, F_GETFL);

	if (!err && (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK)))
		err = errno;
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

static int bind_and_listen(int fd, const struct addrinfo *a)
{
	int on = 1, off = 0;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		return errno;
	/* All addresses of IPv6 are those of IPv4, too. */
	if (a->ai_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)))
		return errno;
	return bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 1) ? errno : 0;
}

/* A caller that has gone again before it was accepted is none. */
static bool was_no_caller(int err)
{
	return err == EAGAIN || err == EWOULDBLOCK || err == EINTR || err == ECONNABORTED;
}

static int accept_one(int listener, struct ma_meet_limit limit, int *fd)
{
	for (;;) {
		int err = ma_meet_wait(listener, POLLIN, limit);

		if (err)
			return err;
		*fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (*fd >= 0)
			return 0;
		if (!was_no_caller(errno))
			return errno;
	}
}

static int listen_at(const struct addrinfo *a, struct ma_meet_limit limit, int *fd)
{
	int listener, err = socket_for(a, &listener);

	if (err)
		return err;
	err = bind_and_listen(listener, a);
	if (!err)
		err = accept_one(listener, limit, fd);
	close(listener);
	return err;
}

/* All addresses: IPv6 takes both kinds, but a kernel may be without it. */
static int listen_anywhere(uint16_t port, struct ma_meet_limit limit, int *fd)
{
	struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct addrinfo a6 = {.ai_family = AF_INET6,
			      .ai_socktype = SOCK_STREAM,
			      .ai_addr = (struct sockaddr *)&any6,
			      .ai_addrlen = sizeof(any6)};
	struct addrinfo a4 = {.ai_family = AF_INET,
			      .ai_socktype = SOCK_STREAM,
			      .ai_addr = (struct sockaddr *)&any4,
			      .ai_addrlen = sizeof(any4)};
	int err = listen_at(&a6, limit, fd);

	return err == EAFNOSUPPORT || err == EADDRNOTAVAIL ? listen_at(&a4, limit, fd) : err;
}

static int listen_at_address(const char *address, uint16_t port, struct ma_meet_limit limit,
			     int *fd)
{
	struct addrinfo *a;
	int err = addresses(address, port, AI_NUMERICHOST, &a);

	if (err)
		return err == EADDRNOTAVAIL ? EINVAL : err;
	err = listen_at(a, limit, fd);
	freeaddrinfo(a);
	return err;
}

int mrc_meet_listen(const char *address, uint16_t port, int timeout_ms, int *fd)
{
	struct ma_meet_limit limit;
	int cancel, err;

	if (port == 0 || !fd || ma_meet_limit_init(&limit, timeout_ms))
		return ma_errno(EINVAL);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = address ? listen_at_address(address, port, limit, fd)
		      : listen_anywhere(port, limit, fd);
	pthread_setcancelstate(cancel, NULL);
	return ma_errno(err);
}

/*
 * A port that nobody listens at, and that the kernel hands out, may be handed out to the call
 * itself, which then connects to itself. Closed by a reset, it leaves the port to who will listen.
 */
static int refuse_self(int fd)
{
	const struct linger reset = {.l_onoff = 1};
	struct sockaddr_storage ours = {0}, theirs = {0};
	socklen_t ours_size = sizeof(ours), theirs_size = sizeof(theirs);

	if (getsockname(fd, (struct sockaddr *)&ours, &ours_size) ||
	    getpeername(fd, (struct sockaddr *)&theirs, &theirs_size))
		return errno;
	if (ours_size != theirs_size || memcmp(&ours, &theirs, ours_size) != 0)
		return 0;
	return setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) ? errno : ECONNREFUSED;
}

static int call_address(const struct addrinfo *a, struct ma_meet_limit limit, int *out)
{
	int fd, err = socket_for(a, &fd);
	socklen_t size = sizeof(err);

	if (err)
		return err;
	err = connect(fd, a->ai_addr, a->ai_addrlen) ? errno : 0;
	if (err == EINPROGRESS) {
		err = ma_meet_wait(fd, POLLOUT, ma_meet_limit_sooner(limit, TRY_MS));
		if (!err && getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size))
			err = errno;
	}
	if (!err)
		err = refuse_self(fd);
	return hand_over(fd, err, out);
}

/* Without descriptors no address helps. */
static bool is_final(int err)
{
	return err == 0 || err == EMFILE || err == ENFILE || err == ENOMEM;
}

static int call_all(const struct addrinfo *found, struct ma_meet_limit limit, int *fd)
{
	int err = ETIMEDOUT;

	do {
		for (const struct addrinfo *a = found; a; a = a->ai_next) {
			err = call_address(a, limit, fd);
			if (is_final(err))
				return err;
		}
		ma_meet_pause(TRY_AGAIN_MS, limit);
	} while (!ma_meet_limit_is_over(limit));
	return err;
}

/* The time that a name takes is not counted. */
static int call_host(const char *host, uint16_t port, int timeout_ms, int *fd)
{
	struct ma_meet_limit limit;
	struct addrinfo *found;
	int err = addresses(host, port, 0, &found);

	if (err)
		return err;
	err = ma_meet_limit_init(&limit, timeout_ms);
	if (!err)
		err = call_all(found, limit, fd);
	freeaddrinfo(found);
	return err;
}

int mrc_meet_call(const char *host, uint16_t port, int timeout_ms, int *fd)
{
	int cancel, err;

	if (!host || port == 0 || !fd || timeout_ms < MRC_MEET_FOREVER)
		return ma_errno(EINVAL);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = call_host(host, port, timeout_ms, fd);
	pthread_setcancelstate(cancel, NULL);
	return ma_errno(err);
}
