/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Named network namespaces: src/lab/netns.c, in a /run of the test's own. Signals are noted, and
 * sent to processes of the test alone.
 */
#include "lab/netns.h"
#include "support/open_fds.h"
#include "support/test.h"
#include "unit/lab_run_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct {
	pid_t child;		     /* which lives in a namespace */
	char signals[64];	     /* that it got: T, 0 or K, and o to another process */
	bool no_kill;		     /* they are refused */
	unsigned int polls, ends_at; /* the child ends by itself then; 0: it does not */
	unsigned int allocs;
	int umount_error;
	const char *machine;  /* the namespace of process 1; NULL: the truth */
	const char *vanishes; /* before it is removed */
	bool short_write, no_socket;
	uint32_t commands[8], n_commands, fails_at;
} t;

__typeof__(kill) __real_kill, __wrap_kill;
int __wrap_kill(pid_t pid, int number)
{
	size_t n = strlen(t.signals);

	assert_true(n + 1 < sizeof(t.signals));
	t.signals[n] = pid != t.child	   ? 'o'
		       : number == SIGTERM ? 'T'
		       : number == SIGKILL ? 'K'
					   : '0';
	errno = EPERM;
	return t.no_kill ? -1 : pid == t.child ? __real_kill(pid, number) : 0;
}

__typeof__(poll) __real_poll, __wrap_poll;
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	siginfo_t ended;

	assert_true(!fds && n == 0 && timeout_ms == 20);
	if (++t.polls == t.ends_at) {
		__real_kill(t.child, SIGKILL);
		waitid(P_PID, (id_t)t.child, &ended, WEXITED | WNOWAIT);
	}
	return 0;
}

__typeof__(calloc) __real_calloc, __wrap_calloc;
void *__wrap_calloc(size_t n, size_t size)
{
	return t.allocs && --t.allocs == 0 ? NULL : __real_calloc(n, size);
}

__typeof__(stat) __real_stat, __wrap_stat;
int __wrap_stat(const char *path, struct stat *st)
{
	return __real_stat(t.machine && strcmp(path, "/proc/1/ns/net") == 0 ? t.machine : path, st);
}

__typeof__(umount2) __real_umount2, __wrap_umount2;
int __wrap_umount2(const char *path, int flags)
{
	if (strcmp(path, "/run") == 0) /* the test itself */
		return __real_umount2(path, flags);
	assert_i_eq(flags, MNT_DETACH | UMOUNT_NOFOLLOW);
	if (t.vanishes)
		assert_i_eq(unlink(t.vanishes), 0);
	if (!t.umount_error)
		return __real_umount2(path, flags);
	errno = t.umount_error;
	return -1;
}

__typeof__(write) __real_write, __wrap_write;
ssize_t __wrap_write(int fd, const void *from, size_t size)
{
	return __real_write(fd, from, t.short_write ? size - 1 : size);
}

__typeof__(socket) __real_socket, __wrap_socket;
int __wrap_socket(int domain, int type, int protocol)
{
	errno = EMFILE;
	return t.no_socket ? -1 : __real_socket(domain, type, protocol);
}

__typeof__(ioctl) __wrap_ioctl;
int __wrap_ioctl(int fd, unsigned long what, ...)
{
	const struct ethtool_value *value;
	const struct ifreq *request;
	va_list args;

	va_start(args, what);
	request = va_arg(args, const struct ifreq *);
	va_end(args);
	assert_true(fd >= 0);
	assert_u_eq(what, SIOCETHTOOL);
	assert_string_equal(request->ifr_name, "e0");
	value = (const void *)request->ifr_data;
	assert_u_eq(value->data, 0);
	t.commands[t.n_commands++] = value->cmd;
	errno = EOPNOTSUPP;
	return t.n_commands == t.fails_at ? -1 : 0;
}

static int open_netns(void **state)
{
	int failed = lab_run_open(state);

	memset(&t, 0, sizeof(t));
	if (failed)
		return failed;
	lab_run_shell("mkdir /run/netns");
	return 0;
}

static int shut(void **state)
{
	if (t.child) {
		__real_kill(t.child, SIGKILL);
		waitpid(t.child, NULL, 0);
	}
	return lab_run_leave(state);
}

#define NETNS_TEST(function, name) TEST_WITH(open_netns, shut, function, name)

/* Starts a process in a namespace, which does as it is told by SIGTERM or not. */
static void start_in(const char *name, bool obeys)
{
	struct ml_error e;
	int ready[2];
	char word;

	assert_i_eq(pipe(ready), 0);
	t.child = fork();
	assert_true(t.child >= 0);
	if (t.child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!obeys)
			signal(SIGTERM, SIG_IGN);
		if (ml_netns_enter(name, &e) || __real_write(ready[1], "y", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_i_eq(read(ready[0], &word, 1), 1);
	close(ready[0]);
	close(ready[1]);
}

/* Clears names that begin so; how many processes were ended. */
static size_t clear(const char *prefix)
{
	uint32_t open_before = test_open_fds();
	size_t processes = 100;
	struct ml_error e;

	if (ml_netns_clear(prefix, &processes, &e))
		fail_msg("%s", e.text);
	assert_u_eq(test_open_fds(), open_before);
	return processes - 100;
}

static void is_not_cleared(const char *why)
{
	uint32_t open_before = test_open_fds();
	size_t processes = 0;
	struct ml_error e;

	assert_i_eq(ml_netns_clear("mrc-a-", &processes, &e), -1);
	assert_string_equal(e.text, why);
	assert_u_eq(test_open_fds(), open_before);
}

/* ---- by name ---- */

static char listed[256];

static void list(void *context, const char *name)
{
	assert_ptr_equal(context, &t);
	strcat(listed, name);
}

NETNS_TEST(ml_netns_list, has_names_that_begin_so)
{
	uint32_t open_before = test_open_fds();

	lab_run_shell("cd /run/netns && touch mrc-a-1 mrc-ab-1 mrc-");
	listed[0] = '\0';
	assert_u_eq(ml_netns_list("mrc-a-", list, &t), 1);
	assert_string_equal(listed, "mrc-a-1");
	assert_u_eq(ml_netns_list("mrc-", list, &t), 3);
	lab_run_shell("rm -r /run/netns");
	assert_u_eq(ml_netns_list("mrc-", list, &t), 0);
	assert_u_eq(test_open_fds(), open_before);
}

NETNS_TEST(ml_netns_enter, goes_there_or_says_why_not)
{
	int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	uint32_t open_before = test_open_fds();
	struct stat before, there, now;
	struct ml_error e;

	lab_run_shell("ip netns add mrc-a-1 && touch /run/netns/mrc-a-2");
	assert_i_eq(fstat(own, &before), 0);
	assert_i_eq(ml_netns_enter("mrc-a-1", &e), 0);
	assert_i_eq(stat("/proc/thread-self/ns/net", &now), 0);
	assert_i_eq(stat("/run/netns/mrc-a-1", &there), 0);
	assert_u_eq(now.st_ino, there.st_ino);
	assert_i_eq(setns(own, CLONE_NEWNET), 0);
	assert_i_eq(ml_netns_enter("mrc-a-2", &e), -1);
	assert_string_equal(e.text, "entering network namespace mrc-a-2: Invalid argument");
	assert_i_eq(ml_netns_enter("mrc-a-3", &e), -1);
	assert_string_equal(e.text, "/run/netns/mrc-a-3: No such file or directory");
	assert_i_eq(stat("/proc/thread-self/ns/net", &now), 0);
	assert_u_eq(now.st_ino, before.st_ino);
	assert_u_eq(test_open_fds(), open_before);
	close(own);
}

/* ---- cleared ---- */

NETNS_TEST(ml_netns_clear, removes_names_that_begin_so)
{
	lab_run_shell("ip netns add mrc-a-1 && ip netns add mrc-ab-1 && touch /run/netns/mrc-a-2");
	assert_u_eq(clear("mrc-a-"), 0);
	lab_run_shell("test \"$(ls /run/netns)\" = mrc-ab-1");
	assert_string_equal(t.signals, "");
	assert_u_eq(clear("mrc-a-"), 0);
}

NETNS_TEST(ml_netns_clear, ends_who_obeys_at_once)
{
	lab_run_shell("ip netns add mrc-a-0 && ip netns add mrc-a-1 && ip netns add mrc-b-1");
	start_in("mrc-a-1", true);
	assert_u_eq(clear("mrc-b-"), 0);
	assert_string_equal(t.signals, "");
	t.ends_at = 1; /* or before */
	assert_u_eq(clear("mrc-a-"), 1);
	assert_true(strcmp(t.signals, "T") == 0 || strcmp(t.signals, "T0") == 0);
	lab_run_shell("test -z \"$(ls /run/netns)\"");
}

NETNS_TEST(ml_netns_clear, kills_who_does_not_obey)
{
	int status;

	lab_run_shell("ip netns add mrc-a-1");
	start_in("mrc-a-1", false);
	assert_u_eq(clear("mrc-a-"), 1);
	assert_string_equal(t.signals, "T000000000000000K");
	assert_u_eq(t.polls, 15);
	assert_i_eq(waitpid(t.child, &status, 0), t.child);
	t.child = 0;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

NETNS_TEST(ml_netns_clear, waits_for_who_takes_a_moment)
{
	lab_run_shell("ip netns add mrc-a-1");
	start_in("mrc-a-1", false);
	t.ends_at = 4;
	assert_u_eq(clear("mrc-a-"), 1);
	assert_string_equal(t.signals, "T0000");
}

NETNS_TEST(ml_netns_clear, counts_nobody_who_is_not_ours_to_end)
{
	lab_run_shell("ip netns add mrc-a-1");
	start_in("mrc-a-1", true);
	t.no_kill = true;
	assert_u_eq(clear("mrc-a-"), 0);
	assert_string_equal(t.signals, "T");
	assert_u_eq(t.polls, 0);
}

/* We are in one of them ourselves. */
NETNS_TEST(ml_netns_clear, does_not_end_itself)
{
	int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct ml_error e;

	lab_run_shell("ip netns add mrc-a-1");
	assert_i_eq(ml_netns_enter("mrc-a-1", &e), 0);
	assert_u_eq(clear("mrc-a-"), 0);
	assert_string_equal(t.signals, "");
	assert_i_eq(setns(own, CLONE_NEWNET), 0);
	close(own);
}

/* Where process 1 is all of the machine may be. */
NETNS_TEST(ml_netns_clear, does_not_end_the_machine)
{
	lab_run_shell("ip netns add mrc-a-1");
	start_in("mrc-a-1", true);
	t.machine = "/run/netns/mrc-a-1";
	assert_u_eq(clear("mrc-a-"), 0);
	assert_string_equal(t.signals, "");
	lab_run_shell("test -z \"$(ls /run/netns)\"");
}

/* A link to a namespace is removed, and what is in the namespace lives. */
NETNS_TEST(ml_netns_clear, follows_no_link)
{
	lab_run_shell("ip netns add other && ln -s other /run/netns/mrc-a-1");
	start_in("other", true);
	assert_u_eq(clear("mrc-a-"), 0);
	assert_string_equal(t.signals, "");
	lab_run_shell("test \"$(ls /run/netns)\" = other && ip netns exec other true");
}

/* Of so many files that are no namespaces all are removed; of some processes are not looked for. */
NETNS_TEST(ml_netns_clear, takes_more_names_than_it_can_remember)
{
	lab_run_shell("cd /run/netns && touch $(seq -f mrc-a-%g 4097)");
	assert_u_eq(clear("mrc-a-"), 0);
	lab_run_shell("test -z \"$(ls /run/netns)\"");
}

NETNS_TEST(ml_netns_clear, goes_on_after_what_cannot_be_removed)
{
	lab_run_shell("cd /run/netns && mkdir 'mrc-a-\033' && touch 'mrc-a-\033/kept' mrc-a-1 "
		      "mrc-a-2");
	is_not_cleared("removing /run/netns/mrc-a-?: Directory not empty");
	lab_run_shell("cd /run/netns && test $(ls | wc -l) = 1 && rm -r mrc* && touch mrc-a-1");
	t.umount_error = EPERM;
	is_not_cleared("removing /run/netns/mrc-a-1: Operation not permitted");
	lab_run_shell("test -f /run/netns/mrc-a-1");
	t.umount_error = EINVAL;
	t.vanishes = "/run/netns/mrc-a-1";
	assert_u_eq(clear("mrc-a-"), 0);
	t.allocs = 1;
	is_not_cleared("no memory");
}

/* ---- inside ---- */

NETNS_TEST(ml_netns_sysctl, writes_all_of_it)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	assert_i_eq(unshare(CLONE_NEWNET), 0);
	assert_i_eq(ml_netns_sysctl("ipv4/ip_forward", "1", &e), 0);
	lab_run_shell("test $(cat /proc/sys/net/ipv4/ip_forward) = 1");
	assert_i_eq(ml_netns_sysctl("nosuch", "1", &e), -1);
	assert_string_equal(e.text, "writing 1 to /proc/sys/net/nosuch: No such file or directory");
	t.short_write = true;
	assert_i_eq(ml_netns_sysctl("ipv4/ip_forward", "01", &e), -1);
	assert_u_eq(test_open_fds(), open_before);
}

static void offloads_stay(const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	t.n_commands = 0;
	assert_i_eq(ml_netns_plain_port("e0", &e), -1);
	assert_string_equal(e.text, why);
	assert_u_eq(t.n_commands, t.fails_at);
	assert_u_eq(test_open_fds(), open_before);
}

TEST(ml_netns_plain_port, turns_four_offloads_off)
{
	static const uint32_t commands[] = {ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO,
					    ETHTOOL_STXCSUM};
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	memset(&t, 0, sizeof(t));
	assert_i_eq(ml_netns_plain_port("e0", &e), 0);
	assert_u_eq(t.n_commands, 4);
	assert_memory_equal(t.commands, commands, sizeof(commands));
	assert_u_eq(test_open_fds(), open_before);
	for (t.fails_at = 1; t.fails_at <= 4; t.fails_at++)
		offloads_stay("turning the offloads of e0 off: Operation not supported");
	t.fails_at = 0;
	t.no_socket = true;
	offloads_stay("turning the offloads of e0 off: Too many open files");
}
