/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labs of users without rights: src/lab/rootless.c. Namespaces are asked for and not made, and labs
 * are noted; the processes that keep them are real.
 */
#include "lab/lab_state.h"
#include "support/noted_calls.h"
#include "support/open_fds.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[60], own[80];

static struct {
	pid_t test;
	struct noted_calls calls;
	uid_t other; /* we are another user; 0: who we are */
	bool dies, short_word, short_map;
	unsigned int interrupts, wait_interrupts;
	bool is_left; /* the holder loses who started it */
	pid_t killed;
	struct ml_options options;
} t;

/* ---- the system ---- */

__typeof__(geteuid) __real_geteuid, __wrap_geteuid;
uid_t __wrap_geteuid(void)
{
	return t.other ? t.other : __real_geteuid();
}

__typeof__(getegid) __wrap_getegid;
gid_t __wrap_getegid(void)
{
	return 78;
}

__typeof__(unshare) __wrap_unshare;
int __wrap_unshare(int flags)
{
	if (flags == CLONE_NEWNET)
		return note_call(&t.calls, "net", EPERM);
	assert_i_eq(flags, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET);
	return note_call(&t.calls, "unshare", EPERM);
}

__typeof__(mount) __wrap_mount;
int __wrap_mount(const char *source, const char *target, const char *type, unsigned long flags,
		 const void *data)
{
	bool is_root = strcmp(target, "/") == 0;

	assert_string_equal(source, is_root ? "none" : "softmrc-lab");
	assert_u_eq(flags, is_root ? MS_REC | MS_PRIVATE : MS_NOSUID | MS_NODEV);
	assert_true(is_root ? !type && !data : !strcmp(type, "tmpfs") && !strcmp(data, "mode=755"));
	return note_call(&t.calls, target, EBUSY);
}

__typeof__(mkdir) __real_mkdir, __wrap_mkdir;
int __wrap_mkdir(const char *path, mode_t mode)
{
	return strcmp(path, "/run/netns") == 0 ? note_call(&t.calls, path, EROFS)
					       : __real_mkdir(path, mode);
}

/* Files that say who is who in a user namespace are of the test's folder. */
__typeof__(open) __real_open, __wrap_open;
int __wrap_open(const char *path, int flags, ...)
{
	static const char self[] = "/proc/self/", maps[] = "setgroups uid_map gid_map";

	if (strncmp(path, self, strlen(self)) == 0 && strstr(maps, path + strlen(self))) {
		assert_i_eq(flags, O_WRONLY | O_CLOEXEC);
		if (note_call(&t.calls, path + strlen(self), EACCES))
			return -1;
		snprintf(own, sizeof(own), "%s/%s", folder, path + strlen(self));
		return __real_open(own, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	}
	return __real_open(path, flags);
}

__typeof__(write) __real_write, __wrap_write;
ssize_t __wrap_write(int fd, const void *from, size_t size)
{
	bool is_cut = size == sizeof(struct ml_error) ? t.short_word : t.short_map;

	return __real_write(fd, from, is_cut ? size - 1 : size);
}

__typeof__(access) __real_access, __wrap_access;
int __wrap_access(const char *path, int mode)
{
	return strcmp(path, "/run") == 0 ? note_call(&t.calls, "access", EROFS)
					 : __real_access(path, mode);
}

__typeof__(fork) __real_fork, __wrap_fork;
pid_t __wrap_fork(void)
{
	return note_call(&t.calls, "fork", EAGAIN) ? -1 : __real_fork();
}

__typeof__(pipe2) __real_pipe2, __wrap_pipe2;
int __wrap_pipe2(int ends[2], int flags)
{
	return note_call(&t.calls, "pipe", EMFILE) ? -1 : __real_pipe2(ends, flags);
}

__typeof__(read) __real_read, __wrap_read;
ssize_t __wrap_read(int fd, void *to, size_t size)
{
	return interrupt_call(&t.interrupts) ? -1 : __real_read(fd, to, size);
}

__typeof__(waitpid) __real_waitpid, __wrap_waitpid;
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	return interrupt_call(&t.wait_interrupts) ? -1 : __real_waitpid(pid, status, options);
}

__typeof__(kill) __real_kill, __wrap_kill;
int __wrap_kill(pid_t pid, int number)
{
	assert_i_eq(number, SIGKILL);
	assert_true(pid > 1 && pid != t.test);
	t.killed = pid;
	return __real_kill(pid, number);
}

/* The test itself does not end in the middle, as if all of it had passed. */
__typeof__(_exit) __real__exit, __wrap__exit;
void __wrap__exit(int status)
{
	if (getpid() == t.test)
		abort();
	__real__exit(status);
}

__typeof__(ml_lab_up) __wrap_ml_lab_up;
struct ml_lab *__wrap_ml_lab_up(const struct ml_options *options, struct ml_error *e)
{
	pid_t parent = getppid();

	if (t.dies)
		_exit(3);
	if (t.is_left && __real_kill(parent, SIGKILL) == 0)
		while (getppid() == parent)
			poll(NULL, 0, 1);
	ml_error_set(e, "no lab");
	return note_call(&t.calls, "up", 0) || options != &t.options
		       ? NULL
		       : (struct ml_lab *)(void *)e; /* any address */
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.test = getpid();
	t.options = (struct ml_options){.name = "u"};
	snprintf(folder, sizeof(folder), "/tmp/unit_lab_rootless.%d", (int)getpid());
	snprintf(own, sizeof(own), "%s/softmrc-lab", folder);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	/* Who runs this may ignore them, as nohup(1) does. */
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	return __real_mkdir(folder, 0700);
}

static int teardown(void **state)
{
	char command[100];
	pid_t pid;

	(void)state;
	memset(&t, 0, sizeof(t));
	while ((pid = __real_waitpid(-1, NULL, WNOHANG)) > 0)
		;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return pid == 0 ? -1 : system(command); /* nobody is left behind */
}

#define ROOTLESS_TEST(function, name) TEST_WITH(setup, teardown, function, name)

/* ---- entered ---- */

static void map_is(const char *name, const char *want)
{
	char path[100], text[80] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_string_equal(text, want);
}

static void is_not_entered(const char *failing, const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	t.calls.failing = failing;
	t.calls.steps[0] = '\0';
	assert_i_eq(ml_rootless_enter(&e), -1);
	assert_string_equal(e.text, why);
	assert_u_eq(test_open_fds(), open_before);
}

ROOTLESS_TEST(ml_rootless_enter, is_root_in_namespaces_of_its_own)
{
	struct ml_error e;

	t.other = 4711;
	assert_i_eq(ml_rootless_enter(&e), 0);
	assert_string_equal(t.calls.steps, "unshare setgroups uid_map gid_map / /run /run/netns ");
	map_is("setgroups", "deny");
	map_is("uid_map", "0 4711 1");
	map_is("gid_map", "0 78 1");
	is_not_entered("unshare",
		       "a user namespace cannot be made: Operation not permitted (sysctls "
		       "user.max_user_namespaces, kernel.unprivileged_userns_clone)");
	is_not_entered("setgroups", "user namespace: writing its maps: Permission denied");
	is_not_entered("uid_map", "user namespace: writing its maps: Permission denied");
	is_not_entered("gid_map", "user namespace: writing its maps: Permission denied");
	is_not_entered("/", "user namespace: a /run of its own: Device or resource busy");
	is_not_entered("/run", "user namespace: a /run of its own: Device or resource busy");
	is_not_entered("/run/netns", "user namespace: a /run of its own: Read-only file system");
	t.calls.failing = NULL;
	t.short_map = true;
	assert_i_eq(ml_rootless_enter(&e), -1);
}

ROOTLESS_TEST(ml_needs_ns_holder, is_said_of_who_cannot_make_what_a_lab_needs)
{
	assert_false(ml_needs_ns_holder());
	t.calls.failing = "net";
	assert_true(ml_needs_ns_holder());
	t.calls.failing = "access";
	assert_true(ml_needs_ns_holder());
}

/* ---- started ---- */

static void start(void)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	if (ml_ns_holder_start(&t.options, &e))
		fail_msg("%s", e.text);
	assert_u_eq(test_open_fds(), open_before);
}

/* Whose number is in the file of a lab. */
static pid_t holder_of(const char *name)
{
	unsigned long long since = 0;
	char path[120];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.holder", own, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	assert_i_eq(fscanf(f, "%d %llu", &pid, &since), 2);
	fclose(f);
	assert_u_eq(since, ml_process_since(pid));
	return pid;
}

static void end(pid_t holder)
{
	int status;

	assert_true(holder > 0);
	assert_i_eq(__real_kill(holder, SIGKILL), 0);
	assert_i_eq(__real_waitpid(holder, &status, 0), holder);
	assert_true(WIFSIGNALED(status));
}

/* A value of its status in /proc, a number in hexadecimal, or the letter of its state. */
static unsigned long status_of(pid_t pid, const char *key)
{
	char path[60], line[200];
	unsigned long value = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			value = strcmp(key, "State:\t") == 0
					? (unsigned char)line[7]
					: strtoul(line + strlen(key), NULL, 16);
	fclose(f);
	return value;
}

/* Its descriptors are three, of /dev/null. */
static bool holds_nothing(pid_t pid)
{
	char path[80], to[80];

	for (int fd = 0; fd < 40; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		n = readlink(path, to, sizeof(to) - 1);
		to[n < 0 ? 0 : n] = '\0';
		if (strcmp(to, fd < 3 ? "/dev/null" : "") != 0)
			return false;
	}
	return true;
}

ROOTLESS_TEST(ml_ns_holder_start, leaves_a_process_that_only_waits)
{
	struct ml_error e;
	pid_t holder;

	t.interrupts = 2;
	start();
	assert_u_eq(t.interrupts, 0);
	holder = holder_of("u");
	assert_true(holder > 0);
	for (int i = 0;
	     i < 6000 && !(holds_nothing(holder) && status_of(holder, "State:\t") == 'S'); i++)
		poll(NULL, 0, 10);
	assert_true(holds_nothing(holder));
	assert_u_eq(status_of(holder, "State:\t"), 'S');
	assert_u_eq(status_of(holder, "SigIgn:\t") & 3, 3);
	assert_i_eq(getsid(holder), holder);
	assert_i_eq(ml_ns_holder_start(&t.options, &e), -1);
	assert_string_equal(e.text, "lab u is up already; mrc lab down u removes it");
	end(holder);
	t.options.name = NULL; /* "lab" */
	start();
	end(holder_of("lab"));
}

static void is_not_started(const char *failing, const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	t.calls.failing = failing;
	assert_i_eq(ml_ns_holder_start(&t.options, &e), -1);
	assert_string_equal(e.text, why);
	assert_i_eq(getpid(), t.test);
	assert_u_eq(test_open_fds(), open_before);
	assert_i_eq(holder_of("u"), 0);
	assert_i_eq(__real_waitpid(-1, NULL, 0), -1); /* it has been waited for */
}

ROOTLESS_TEST(ml_ns_holder_start, says_why_there_is_no_lab)
{
	char path[120];
	struct ml_error e;

	is_not_started("pipe", "pipe: Too many open files");
	is_not_started("fork", "fork: Resource temporarily unavailable");
	is_not_started("/run/netns", "user namespace: a /run of its own: Read-only file system");
	t.interrupts = t.wait_interrupts = 1;
	is_not_started("up", "no lab");
	assert_u_eq(t.wait_interrupts, 0);
	t.dies = true;
	is_not_started(NULL, "the lab's namespace holder died");
	t.dies = false;
	t.short_word = true;
	is_not_started(NULL, "the lab's namespace holder died");
	t.short_word = false;
	t.options.name = "U";
	is_not_started(NULL, "U: no name of a lab; 1 to 15 letters a-z and digits");
	t.options.name = "u";
	snprintf(path, sizeof(path), "%s/u.holder", own);
	assert_i_eq(__real_mkdir(path, 0700), 0);
	assert_i_eq(ml_ns_holder_start(&t.options, &e), -1);
	assert_non_null(strstr(e.text, "u.holder: Is a directory"));
	assert_i_eq(__real_waitpid(t.killed, NULL, 0), t.killed);
}

/* Who would use the lab was killed while it was being made. */
ROOTLESS_TEST(ml_ns_holder_start, holds_nothing_for_who_is_gone)
{
	int status = 0;
	pid_t child, orphan = 0;

	assert_i_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	t.is_left = true;
	child = __real_fork();
	if (child == 0)
		start();
	assert_i_eq(__real_waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	for (int i = 0; i < 6000 && orphan == 0; i++) {
		orphan = __real_waitpid(-1, &status, WNOHANG);
		poll(NULL, 0, 10);
	}
	assert_true(orphan > 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}
