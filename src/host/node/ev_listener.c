/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_listener.c - a thread that hears from mrcd of the EV events of other processes, for one CQ.
 *
 * It waits for mrcd as long as the CQ lives, so that a daemon that is restarted is followed again;
 * what happens meanwhile is lost. mrcd tells each user of the processes that he may see.
 * REQ(ctl.event-queue)
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/node/node.h"

#define AGAIN_MS 1000
/* Events of processes are shorter; of longer ones, about changes, nothing is wanted. */
#define LINE_MAX_BYTES 1024u

struct mh_ev_listener {
	struct mh_nic *nic;
	struct mh_cq *cq;
	pthread_t thread;
	int stop_fd;
	_Atomic int fd; /* -1: mrcd is not there */
	char line[LINE_MAX_BYTES];
	size_t got;
	bool skips; /* the rest of a line that is too long */
};

/*
 * mrcd writes JSON without blanks, and in a text a quotation mark has a backslash before it, so
 * that what is found is a member.
 */
static bool number_of(const char *line, const char *member, uint64_t most, uint64_t *out)
{
	const char *at = strstr(line, member);

	if (!at)
		return false;
	errno = 0;
	*out = strtoull(at + strlen(member), NULL, 10);
	return !errno && *out <= most;
}

static bool read_event(const char *line, struct mh_ev_heard *ev, uint64_t *pid, uint64_t *device)
{
	uint64_t profile, index, number, port;

	if (!strstr(line, "\"event\":\"ev\"") ||
	    !number_of(line, "\"profile\":", MN_EV_PROFILES - 1, &profile) ||
	    !number_of(line, "\"index\":", MN_EVS_PROFILE_MAX - 1, &index) ||
	    !number_of(line, "\"number\":", UINT32_MAX, &number) ||
	    !number_of(line, "\"port\":", MN_PORTS_MAX, &port) ||
	    !number_of(line, "\"pid\":", UINT32_MAX, pid) ||
	    !number_of(line, "\"device\":", UINT32_MAX, device))
		return false;
	*ev = (struct mh_ev_heard){.profile = (uint32_t)profile,
				   .index = (uint32_t)index,
				   .number = (uint32_t)number,
				   .port = (uint8_t)port,
				   .good = strstr(line, "\"state\":\"good\"") != NULL};
	return ev->good || strstr(line, "\"state\":\"bad\"");
}

/* What this process's own engine says is in the CQ already. */
static void take_line(struct mh_ev_listener *l)
{
	struct mh_ev_heard heard;
	struct mh_ev_event event;
	uint64_t pid, device, dropped;

	if (number_of(l->line, "\"dropped\":", UINT32_MAX, &dropped))
		mh_cq_drop_ev_events(l->cq, (uint32_t)dropped);
	if (!read_event(l->line, &heard, &pid, &device) || device != l->nic->env.device ||
	    pid == (uint64_t)getpid())
		return;
	mh_nic_lock(l->nic);
	if (mh_node_wants_ev(l->nic, &heard, &event))
		mh_cq_add_ev_event(l->cq, &event);
	mh_nic_unlock(l->nic);
}

static void take_bytes(struct mh_ev_listener *l, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			l->skips |= l->got == sizeof(l->line) - 1;
			if (!l->skips)
				l->line[l->got++] = bytes[i];
			continue;
		}
		l->line[l->got] = '\0';
		if (!l->skips)
			take_line(l);
		l->got = 0;
		l->skips = false;
	}
}

/* Waits for one of the two; true: the listener is to stop. */
static bool wait_for(const struct mh_ev_listener *l, int fd, int ms)
{
	struct pollfd fds[2] = {{l->stop_fd, POLLIN, 0}, {fd, POLLIN, 0}};

	return poll(fds, fd < 0 ? 1 : 2, ms) > 0 && fds[0].revents;
}

/* Until the connection ends or the listener is to stop, which it returns. */
static bool hear(struct mh_ev_listener *l, int fd)
{
	char bytes[4096];

	for (;;) {
		ssize_t n;

		if (wait_for(l, fd, -1))
			return true;
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n > 0)
			take_bytes(l, bytes, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return false;
	}
}

static void *listen_main(void *ctx)
{
	static const char follow[] = "{\"do\":\"events\"}\n";
	struct mh_ev_listener *l = ctx;
	bool stops = false;

	while (!stops) {
		int fd = mh_node_dial(l->nic);

		l->got = 0;
		l->skips = false;
		atomic_store(&l->fd, fd);
		if (fd >= 0 && send(fd, follow, sizeof(follow) - 1, MSG_NOSIGNAL) > 0)
			stops = hear(l, fd);
		atomic_store(&l->fd, -1);
		if (fd >= 0)
			close(fd);
		stops = stops || wait_for(l, -1, AGAIN_MS);
	}
	return NULL;
}

/* Signals are the program's; its handlers must not run in our thread. See mem_guard.c. */
static int start(struct mh_ev_listener *l)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&l->thread, NULL, listen_main, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

int mh_ev_listener_start(struct mh_nic *nic, struct mh_cq *cq, struct mh_ev_listener **listener)
{
	struct mh_ev_listener *l;

	*listener = NULL;
	if (!nic->node->store.used)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return ENOMEM;
	l->nic = nic;
	l->cq = cq;
	atomic_store(&l->fd, -1);
	l->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (l->stop_fd >= 0 && start(l) == 0) {
		*listener = l;
		return 0;
	}
	if (l->stop_fd >= 0)
		close(l->stop_fd);
	free(l);
	return ENOMEM;
}

void mh_ev_listener_stop(struct mh_ev_listener *l)
{
	int cancel_state;

	if (!l)
		return;
	cancel_state = mh_cancel_disable();
	eventfd_write(l->stop_fd, 1);
	pthread_join(l->thread, NULL);
	close(l->stop_fd);
	free(l);
	mh_cancel_restore(cancel_state);
}

void mh_ev_listener_close_inherited(struct mh_ev_listener *l)
{
	int fd;

	if (!l)
		return;
	fd = atomic_load(&l->fd);
	if (fd >= 0)
		close(fd);
	close(l->stop_fd);
}
