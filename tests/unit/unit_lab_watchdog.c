/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that takes a lab down when the one that it watches dies: src/lab/watchdog.c. What it
 * would take down it writes into a file, with what it is like by then.
 */
#include "lab/lab_state.h"
#include "support/noted_calls.h"
#include "support/open_fds.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct ml_lab lab = {.name = "w", .id = 4711};
static char path[40];

static struct {
	pid_t test;
	unsigned int fork_fails; /* the nth, here or in a child; 0: none */
	unsigned int wait_interrupts, read_interrupts, send_interrupts;
	bool dies;
} t;

__typeof__(fork) __real_fork, __wrap_fork;
pid_t __wrap_fork(void)
{
	if (!t.fork_fails || --t.fork_fails > 0)
		return __real_fork();
	errno = EAGAIN;
	return -1;
}

__typeof__(waitpid) __real_waitpid, __wrap_waitpid;
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	return interrupt_call(&t.wait_interrupts) ? -1 : __real_waitpid(pid, status, options);
}

__typeof__(read) __real_read, __wrap_read;
ssize_t __wrap_read(int fd, void *to, size_t size)
{
	if (t.dies)
		_exit(1);
	return interrupt_call(&t.read_interrupts) ? -1 : __real_read(fd, to, size);
}

/* The test itself does not end in the middle, as if all of it had passed. */
__typeof__(_exit) __real__exit, __wrap__exit;
void __wrap__exit(int status)
{
	if (getpid() == t.test)
		abort();
	__real__exit(status);
}

__typeof__(send) __real_send, __wrap_send;
ssize_t __wrap_send(int fd, const void *from, size_t size, int flags)
{
	return interrupt_call(&t.send_interrupts) ? -1 : __real_send(fd, from, size, flags);
}

static bool is_ignored(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static bool is_null(int fd)
{
	struct stat null, st;

	return stat("/dev/null", &null) == 0 && fstat(fd, &st) == 0 && st.st_rdev == null.st_rdev;
}

__typeof__(ml_down_if_same) __wrap_ml_down_if_same;
int __wrap_ml_down_if_same(const char *name, uint64_t id, struct ml_error *e)
{
	bool aside = getsid(0) == getpid() && is_ignored(SIGINT) && is_ignored(SIGTERM) &&
		     is_ignored(SIGHUP) && is_null(0) && is_null(1) && is_null(2);
	bool closed = fcntl(3, F_GETFD) >= 0 && !is_null(3);
	FILE *f;

	(void)e;
	for (int fd = 4; fd < 100; fd++)
		closed = closed && fcntl(fd, F_GETFD) < 0;
	f = fopen(path, "we");
	if (f) {
		fprintf(f, "%s %u %s %s", name, (unsigned int)id, aside ? "aside" : "beside",
			closed ? "closed" : "open");
		fclose(f);
	}
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.test = getpid();
	snprintf(path, sizeof(path), "/tmp/unit_lab_watchdog.%d", (int)getpid());
	/* Who runs this may ignore them, as nohup(1) does. */
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	/* It is left to us, so that we see it end. */
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

#define WATCHDOG_TEST(name) TEST_WITH(setup, teardown, ml_watchdog, name)

static int start(void)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;
	int low[8], fd;

	/* Those that it uses itself are of something else. */
	for (size_t i = 0; i < 8; i++)
		low[i] = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	fd = ml_watchdog_start(&lab, &e);
	for (size_t i = 0; i < 8; i++)
		close(low[i]);
	if (fd < 0)
		fail_msg("%s", e.text);
	assert_u_eq(test_open_fds(), open_before + 1);
	return fd;
}

/* Waits for the end of the watchdog, which is to have written this; "": nothing. */
static void it_ends(const char *want)
{
	char text[80] = "";
	pid_t pid;
	FILE *f;

	assert_i_eq(getpid(), t.test);
	do
		pid = __real_waitpid(-1, NULL, 0);
	while (pid < 0 && errno == EINTR);
	assert_true(pid > 0);
	assert_i_eq(__real_waitpid(-1, NULL, 0), -1); /* there was one */
	f = fopen(path, "re");
	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	assert_string_equal(text, want);
}

WATCHDOG_TEST(lets_a_lab_be_when_all_is_well)
{
	uint32_t open_before = test_open_fds();
	int fd;

	t.wait_interrupts = t.read_interrupts = 2;
	fd = start();
	assert_u_eq(t.wait_interrupts, 0);
	t.send_interrupts = 2;
	ml_watchdog_stop(fd);
	assert_u_eq(t.send_interrupts, 0);
	it_ends("");
	assert_u_eq(test_open_fds(), open_before);
	ml_watchdog_stop(-1);
}

WATCHDOG_TEST(takes_a_lab_down_when_its_owner_is_gone)
{
	int fd = start();

	close(fd);
	it_ends("w 4711 aside closed");
}

WATCHDOG_TEST(takes_a_lab_down_at_a_word_that_it_does_not_know)
{
	int fd = start();

	assert_i_eq(send(fd, "x", 1, 0), 1);
	it_ends("w 4711 aside closed");
	close(fd);
}

WATCHDOG_TEST(waits_as_long_as_its_owner_lives)
{
	int fd = start();

	poll(NULL, 0, 50);
	assert_i_eq(access(path, F_OK), -1);
	ml_watchdog_stop(fd);
	it_ends("");
}

/* Somebody killed it: what it watched does not end with it. */
WATCHDOG_TEST(that_died_ends_nobody)
{
	int fd;

	t.dies = true;
	fd = start();
	it_ends("");
	ml_watchdog_stop(fd);
}

static void is_not_started(const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	assert_i_eq(ml_watchdog_start(&lab, &e), -1);
	assert_i_eq(getpid(), t.test);
	assert_string_equal(e.text, why);
	assert_u_eq(test_open_fds(), open_before);
}

WATCHDOG_TEST(that_cannot_be_started_is_missed)
{
	struct rlimit before, few;

	t.fork_fails = 1;
	is_not_started("fork: Resource temporarily unavailable");
	t.fork_fails = 2; /* in the child */
	is_not_started("fork: Resource temporarily unavailable");
	t.fork_fails = 0;
	assert_i_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){(rlim_t)test_next_fd() + 1, before.rlim_max};
	assert_i_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	is_not_started("socketpair: Too many open files");
	assert_i_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Then nobody can know how its parent ended; it watches all the same. */
WATCHDOG_TEST(watches_for_one_who_ignores_the_ends_of_children)
{
	int fd;

	signal(SIGCHLD, SIG_IGN);
	fd = start();
	signal(SIGCHLD, SIG_DFL);
	close(fd);
	it_ends("w 4711 aside closed");
}
