/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_ev_listener_thread.c - the thread that hears of EV events of other processes, its
 * connection, and what a forked child does with that: src/host/node/ev_listener.c. Calls of the
 * system fail as the test says, and what the thread hears comes a few bytes at a time.
 */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/node/node.h"
#include "support/open_fds.h"

#define FOLLOW "{\"do\":\"events\"}\n"
#define PIECE 8u

static struct {
	struct mh_nic nic;
	struct mh_node node;
	struct mh_cq cq;
	struct mh_ev_listener *listener;
	uint32_t fds_before;
	bool no_memory;
	int no_eventfd, no_thread; /* an errno value */
	int stop_fd;
	sem_t dials;	 /* one for each time that the thread asks for a connection ... */
	sem_t go;	 /* ... and when it gets one */
	int connection;	 /* -1: mrcd is not there */
	int ours;	 /* the other end */
	sigset_t mask;	 /* of the thread */
	sigset_t before; /* of the test */
	_Atomic int recv_errs[2];
	sem_t heard; /* that something was dropped */
	uint32_t dropped;
} t;

__typeof__(mh_node_dial) __real_mh_node_dial, __wrap_mh_node_dial;
int __wrap_mh_node_dial(const struct mh_nic *nic)
{
	assert_ptr_equal(nic, &t.nic);
	pthread_sigmask(SIG_SETMASK, NULL, &t.mask);
	sem_post(&t.dials);
	sem_wait(&t.go);
	return t.connection;
}

__typeof__(recv) __real_recv, __wrap_recv;
ssize_t __wrap_recv(int fd, void *bytes, size_t n, int flags)
{
	for (uint32_t i = 0; i < 2; i++) {
		errno = atomic_exchange(&t.recv_errs[i], 0);
		if (errno)
			return -1;
	}
	errno = EAGAIN;
	/* What is behind the bytes is not theirs. */
	memset(bytes, '\n', n);
	return __real_recv(fd, bytes, n < PIECE ? n : PIECE, flags);
}

__typeof__(poll) __real_poll, __wrap_poll;
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	return __real_poll(fds, n, ms > 0 ? 1 : ms);
}

__typeof__(eventfd) __real_eventfd, __wrap_eventfd;
int __wrap_eventfd(unsigned int count, int flags)
{
	errno = t.no_eventfd;
	t.stop_fd = t.no_eventfd ? -1 : __real_eventfd(count, flags);
	return t.stop_fd;
}

__typeof__(pthread_create) __real_pthread_create, __wrap_pthread_create;
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *ctx)
{
	return t.no_thread ? t.no_thread : __real_pthread_create(thread, attr, run, ctx);
}

__typeof__(calloc) __real_calloc, __wrap_calloc;
void *__wrap_calloc(size_t n, size_t size)
{
	return t.no_memory ? NULL : __real_calloc(n, size);
}

__typeof__(mh_cq_drop_ev_events) __real_mh_cq_drop_ev_events, __wrap_mh_cq_drop_ev_events;
void __wrap_mh_cq_drop_ev_events(struct mh_cq *cq, uint32_t n)
{
	assert_ptr_equal(cq, &t.cq);
	t.dropped = n;
	sem_post(&t.heard);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.nic.node = &t.node;
	t.node.store.used = true;
	t.connection = t.ours = -1;
	t.fds_before = test_open_fds();
	pthread_sigmask(SIG_SETMASK, NULL, &t.before);
	return sem_init(&t.dials, 0, 0) || sem_init(&t.go, 0, 0) || sem_init(&t.heard, 0, 0);
}

/* No case leaves a descriptor open or a signal blocked. */
static int teardown(void **state)
{
	sigset_t now;

	(void)state;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (int s = 1; s <= SIGSYS; s++)
		if (sigismember(&now, s) != sigismember(&t.before, s))
			return s;
	return test_open_fds() != t.fds_before;
}

#define THREAD_TEST(function, name) TEST_WITH(setup, teardown, function, name)

static void start(void)
{
	assert_i_eq(mh_ev_listener_start(&t.nic, &t.cq, &t.listener), 0);
	assert_non_null(t.listener);
}

static void stop(void)
{
	sem_post(&t.go);
	mh_ev_listener_stop(t.listener);
	if (t.ours >= 0)
		close(t.ours);
}

static void wait_for(sem_t *sem)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	assert_i_eq(sem_timedwait(sem, &until), 0);
}

/* mrcd takes the connection that the thread asks for; it is asked for events. */
static void take(void)
{
	char line[sizeof(FOLLOW)] = "";
	int ends[2];

	assert_i_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	t.connection = ends[0];
	t.ours = ends[1];
	wait_for(&t.dials);
	sem_post(&t.go);
	assert_i_eq(read(t.ours, line, sizeof(line) - 1), sizeof(line) - 1);
	assert_string_equal(line, FOLLOW);
}

/* mrcd ends; the thread asks for the next connection then. */
static void leave(void)
{
	close(t.ours);
	t.connection = t.ours = -1;
}

static void expect_dropped(uint32_t n)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "{\"dropped\":%u}\n", n);

	assert_i_eq(send(t.ours, line, (size_t)len, MSG_NOSIGNAL), len);
	wait_for(&t.heard);
	assert_u_eq(t.dropped, n);
}

THREAD_TEST(mh_ev_listener_start, where_nothing_is_shared)
{
	t.node.store.used = false;
	t.listener = (struct mh_ev_listener *)&t;
	assert_i_eq(mh_ev_listener_start(&t.nic, &t.cq, &t.listener), 0);
	assert_null(t.listener);
	mh_ev_listener_stop(NULL);
	mh_ev_listener_close_inherited(NULL);
}

static void expect_none(void)
{
	t.listener = (struct mh_ev_listener *)&t;
	assert_i_eq(mh_ev_listener_start(&t.nic, &t.cq, &t.listener), ENOMEM);
	assert_null(t.listener);
	assert_u_eq(test_open_fds(), t.fds_before);
}

THREAD_TEST(mh_ev_listener_start, without_what_it_takes)
{
	t.no_memory = true;
	expect_none();
	t.no_memory = false;
	t.no_eventfd = EMFILE;
	expect_none();
	t.no_eventfd = 0;
	t.no_thread = EAGAIN;
	expect_none();
}

/* The program's handlers run in the program's threads; faults are the guard's in any thread. */
THREAD_TEST(mh_ev_listener_start, with_signals_blocked)
{
	start();
	wait_for(&t.dials);
	for (int s = 1; s <= SIGSYS; s++)
		if (s != SIGKILL && s != SIGSTOP)
			assert_i_eq(sigismember(&t.mask, s), s != SIGSEGV && s != SIGBUS);
	stop();
}

THREAD_TEST(mh_ev_listener_stop, leaves_the_thread_as_it_was)
{
	int was;

	start();
	stop();
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &was);
	assert_i_eq(was, PTHREAD_CANCEL_ENABLE);
}

/* No interruption ends a connection; an error does, or its end, whatever there was before. */
THREAD_TEST(mh_ev_listener, follows_mrcd)
{
	start();
	take();
	expect_dropped(1);
	t.recv_errs[0] = EAGAIN;
	t.recv_errs[1] = EINTR;
	expect_dropped(2);
	t.recv_errs[0] = ECONNRESET;
	assert_i_eq(send(t.ours, "\n", 1, MSG_NOSIGNAL), 1);
	leave();
	take();
	expect_dropped(3);
	leave();
	stop();
}

/* ---- forks ---- */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Whether a child that gives the listener up has a descriptor then. */
static void expect_in_child(int fd, bool fd_is_open)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		mh_ev_listener_close_inherited(t.listener);
		_exit(!is_open(t.stop_fd) && is_open(fd) == fd_is_open ? 0 : 1);
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	assert_i_eq(status, 0);
}

/* It closes its copies, and nothing that the program has opened. */
THREAD_TEST(mh_ev_listener_close_inherited, of_what_there_is)
{
	int connection;

	start();
	assert_true(is_open(0));
	expect_in_child(0, true);
	take();
	connection = t.connection;
	expect_in_child(connection, false);
	leave();
	wait_for(&t.dials);
	assert_i_eq(dup2(0, connection), connection);
	expect_in_child(connection, true);
	close(connection);
	stop();
}
