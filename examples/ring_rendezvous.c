/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The meeting place. Sockets are of the sequenced-packet kind, so that what one side writes is what
 * the other reads. A barrier is a token that travels round the ring twice: when rank 0 has it back
 * the first time everybody has arrived, and the second round tells them so.
 */
#include "ring_rendezvous.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define RETRY_MS 5

static const uint32_t token = 0x52494e47;

void ring_meet_init(struct ring_meet *m)
{
	*m = (struct ring_meet){.next_fd = -1, .prev_fd = -1};
}

void ring_meet_fini(struct ring_meet *m)
{
	if (m->next_fd >= 0)
		close(m->next_fd);
	if (m->prev_fd >= 0)
		close(m->prev_fd);
	ring_meet_init(m);
}

uint32_t ring_meet_next(const struct ring_meet *m)
{
	return (m->hello.rank + 1) % m->hello.ranks;
}

uint32_t ring_meet_prev(const struct ring_meet *m)
{
	return (m->hello.rank + m->hello.ranks - 1) % m->hello.ranks;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int make_address(struct sockaddr_un *address, const char *dir, uint32_t rank)
{
	int len;

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	len = snprintf(address->sun_path, sizeof(address->sun_path), "%s/rank-%u.sock", dir, rank);
	if (len < 0 || (size_t)len >= sizeof(address->sun_path)) {
		fprintf(stderr, "ring: --rendezvous %s: longer than a socket's name may be (%zu)\n",
			dir, sizeof(address->sun_path) - sizeof("/rank-00.sock"));
		return -1;
	}
	return 0;
}

static int print_error(const char *what, const char *path)
{
	fprintf(stderr, "ring: %s %s: %s\n", what, path, strerror(errno));
	return -1;
}

static int listen_at(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return print_error("socket for", address->sun_path);
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) || listen(fd, 1)) {
		print_error("listen at", address->sun_path);
		close(fd);
		return -1;
	}
	return fd;
}

/* The next rank may not be there yet: its socket is missing, or bound and not listening. */
static int call_on(const struct sockaddr_un *address)
{
	int64_t deadline = now_ms() + RING_MEET_TIMEOUT_MS;
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return print_error("socket for", address->sun_path);
	while (connect(fd, (const struct sockaddr *)address, sizeof(*address))) {
		bool early = errno == ENOENT || errno == ECONNREFUSED;

		if (early && now_ms() < deadline) {
			nanosleep(&pause, NULL);
			continue;
		}
		print_error(early ? "no peer connected within 30 s to" : "connect to",
			    address->sun_path);
		close(fd);
		return -1;
	}
	return fd;
}

static int wait_readable(int fd, const char *who, uint32_t rank)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int rc;

	do
		rc = poll(&p, 1, RING_MEET_TIMEOUT_MS);
	while (rc < 0 && errno == EINTR);
	if (rc == 1)
		return 0;
	fprintf(stderr, "ring: %s rank %u: nothing for 30 s\n", who, rank);
	return -1;
}

static int send_all(int fd, const void *data, size_t size, uint32_t rank)
{
	if (send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size)
		return 0;
	fprintf(stderr, "ring: rank %u is gone\n", rank);
	return -1;
}

static int receive_all(int fd, void *data, size_t size, uint32_t rank)
{
	ssize_t got;

	if (wait_readable(fd, "waiting for", rank))
		return -1;
	got = recv(fd, data, size, MSG_TRUNC);
	if (got == (ssize_t)size)
		return 0;
	if (got > 0)
		fprintf(stderr, "ring: rank %u sent %zd bytes instead of %zu: another version?\n",
			rank, got, size);
	else
		fprintf(stderr, "ring: rank %u is gone\n", rank);
	return -1;
}

static int check_hello(const struct ring_hello *mine, const struct ring_hello *theirs,
		       uint32_t rank)
{
	if (theirs->rank == rank && theirs->ranks == mine->ranks && theirs->kind == mine->kind &&
	    theirs->floats == mine->floats)
		return 0;
	fprintf(stderr,
		"ring: rank %u belongs to another job: it says rank %u of %u, transport %u, %llu "
		"floats; this is rank %u of %u, transport %u, %llu floats\n",
		rank, theirs->rank, theirs->ranks, theirs->kind, (unsigned long long)theirs->floats,
		mine->rank, mine->ranks, mine->kind, (unsigned long long)mine->floats);
	return -1;
}

static int accept_previous(struct ring_meet *m, int listener)
{
	if (wait_readable(listener, "no peer connected as", ring_meet_prev(m)))
		return -1;
	m->prev_fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (m->prev_fd >= 0)
		return 0;
	perror("ring: accept");
	return -1;
}

int ring_meet_open(struct ring_meet *m, const char *dir, const struct ring_hello *hello)
{
	struct sockaddr_un mine, next;
	struct ring_hello from_next, from_prev;
	int listener, rc;

	m->hello = *hello;
	if (make_address(&mine, dir, hello->rank) || make_address(&next, dir, ring_meet_next(m)))
		return -1;
	listener = listen_at(&mine);
	if (listener < 0)
		return -1;
	m->next_fd = call_on(&next);
	rc = m->next_fd < 0 ? -1 : accept_previous(m, listener);
	close(listener);
	unlink(mine.sun_path);
	if (rc || ring_meet_swap(m, hello, hello, &from_next, &from_prev, sizeof(*hello)))
		return -1;
	if (check_hello(hello, &from_next, ring_meet_next(m)) ||
	    check_hello(hello, &from_prev, ring_meet_prev(m)))
		return -1;
	return 0;
}

int ring_meet_swap(struct ring_meet *m, const void *to_next, const void *to_prev, void *from_next,
		   void *from_prev, size_t size)
{
	uint32_t next = ring_meet_next(m), prev = ring_meet_prev(m);

	if (send_all(m->next_fd, to_next, size, next) || send_all(m->prev_fd, to_prev, size, prev))
		return -1;
	if (receive_all(m->next_fd, from_next, size, next) ||
	    receive_all(m->prev_fd, from_prev, size, prev))
		return -1;
	return 0;
}

int ring_meet_barrier(struct ring_meet *m)
{
	uint32_t next = ring_meet_next(m), prev = ring_meet_prev(m);
	uint32_t got = 0;

	for (unsigned round = 0; round < 2; round++) {
		if (m->hello.rank == 0 && send_all(m->next_fd, &token, sizeof(token), next))
			return -1;
		if (receive_all(m->prev_fd, &got, sizeof(got), prev))
			return -1;
		if (m->hello.rank != 0 && send_all(m->next_fd, &token, sizeof(token), next))
			return -1;
	}
	return 0;
}

bool ring_meet_broken(const struct ring_meet *m)
{
	struct pollfd p[2] = {{.fd = m->next_fd, .events = POLLIN},
			      {.fd = m->prev_fd, .events = POLLIN}};

	if (poll(p, 2, 0) <= 0)
		return false;
	for (unsigned i = 0; i < 2; i++)
		if (p[i].revents & (POLLHUP | POLLERR)) {
			fprintf(stderr, "ring: rank %u is gone\n",
				i ? ring_meet_prev(m) : ring_meet_next(m));
			return true;
		}
	return false;
}
