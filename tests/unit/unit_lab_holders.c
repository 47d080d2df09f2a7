/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that hold labs of users without rights, as others find them: src/lab/rootless.c. They
 * are real, and hold nothing; what is done in their namespaces is noted.
 */
#include "lab/lab_state.h"
#include "support/noted_calls.h"
#include "support/open_fds.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[60], own[80], file[120];

static struct {
	pid_t test, holder;
	struct noted_calls calls;
	uid_t other; /* we are another user; 0: who we are */
	int readlink_error;
	unsigned int interrupts;
} t;

/* ---- the system ---- */

__typeof__(geteuid) __real_geteuid, __wrap_geteuid;
uid_t __wrap_geteuid(void)
{
	return t.other ? t.other : __real_geteuid();
}

__typeof__(mkdir) __real_mkdir, __wrap_mkdir;
int __wrap_mkdir(const char *path, mode_t mode)
{
	return note_call(&t.calls, "mkdir", EACCES) ? -1 : __real_mkdir(path, mode);
}

__typeof__(open) __real_open, __wrap_open;
int __wrap_open(const char *path, int flags, ...)
{
	char ns[40];

	snprintf(ns, sizeof(ns), "/proc/%d/ns/", (int)t.holder);
	if (strncmp(path, ns, strlen(ns)) == 0 && note_call(&t.calls, path + strlen(ns), EACCES))
		return -1;
	return __real_open(path, flags);
}

__typeof__(setns) __wrap_setns;
int __wrap_setns(int fd, int type)
{
	assert_true(fcntl(fd, F_GETFD) >= 0);
	return note_call(&t.calls,
			 type == CLONE_NEWUSER	? "to-user"
			 : type == CLONE_NEWNET ? "to-net"
			 : type == CLONE_NEWNS	? "to-mnt"
						: "to-other",
			 EINVAL);
}

__typeof__(readlink) __real_readlink, __wrap_readlink;
ssize_t __wrap_readlink(const char *path, char *to, size_t size)
{
	if (!t.readlink_error)
		return __real_readlink(path, to, size);
	errno = t.readlink_error;
	return -1;
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

__typeof__(waitpid) __real_waitpid, __wrap_waitpid;
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	return interrupt_call(&t.interrupts) ? -1 : __real_waitpid(pid, status, options);
}

/* The test itself does not end in the middle, as if all of it had passed. */
__typeof__(_exit) __real__exit, __wrap__exit;
void __wrap__exit(int status)
{
	if (getpid() == t.test)
		abort();
	__real__exit(status);
}

/* In a child, which has gone to where the lab is. */
__typeof__(ml_lab_down) __wrap_ml_lab_down;
int __wrap_ml_lab_down(const char *name, struct ml_down *down, struct ml_error *e)
{
	assert_string_equal(name, "u");
	assert_true(getpid() != t.test);
	assert_non_null(strstr(t.calls.steps, "user net mnt to-user to-net to-mnt "));
	*down = (struct ml_down){5, 7};
	return note_call(&t.calls, "down", 0) ? ml_error_set(e, "no down") : 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.test = getpid();
	snprintf(folder, sizeof(folder), "/tmp/unit_lab_holders.%d", (int)getpid());
	snprintf(own, sizeof(own), "%s/softmrc-lab", folder);
	snprintf(file, sizeof(file), "%s/u.holder", own);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	return __real_mkdir(folder, 0700) || __real_mkdir(own, 0700);
}

static int teardown(void **state)
{
	char command[100];

	(void)state;
	if (t.holder) {
		kill(t.holder, SIGKILL);
		__real_waitpid(t.holder, NULL, 0);
	}
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command) || __real_waitpid(-1, NULL, WNOHANG) >= 0; /* nobody is left */
}

#define HOLDER_TEST(function, name) TEST_WITH(setup, teardown, function, name)

static void file_says(const char *name, long pid, uint64_t since)
{
	char path[120];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", own, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "%ld %" PRIu64 "\n", pid, since);
	fclose(f);
}

/* A process that waits, with a file that says so. */
static void hold(void)
{
	t.holder = __real_fork();
	assert_true(t.holder >= 0);
	if (t.holder == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	file_says("u.holder", t.holder, ml_process_since(t.holder));
}

static void join(int want, const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e = {{0}};

	t.calls.steps[0] = '\0';
	assert_i_eq(ml_ns_holder_join("u", &e), want);
	assert_string_equal(e.text, why);
	assert_u_eq(test_open_fds(), open_before);
}

/* ---- joined ---- */

HOLDER_TEST(ml_ns_holder_join, goes_to_where_the_lab_is)
{
	struct ml_error e;

	join(0, "");
	hold();
	join(1, "");
	assert_string_equal(t.calls.steps, "user net mnt to-user to-net to-mnt ");
	t.readlink_error = EACCES; /* namespaces of another user's, which are there */
	join(1, "");
	assert_i_eq(ml_ns_holder_join("U", &e), -1);
}

static void is_not_joined(const char *failing, const char *space, const char *error)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;
	char want[120];

	t.calls.failing = failing;
	t.calls.steps[0] = '\0';
	assert_i_eq(ml_ns_holder_join("u", &e), -1);
	snprintf(want, sizeof(want), "entering the %s namespace of process %d: %s", space,
		 (int)t.holder, error);
	assert_string_equal(e.text, want);
	assert_u_eq(test_open_fds(), open_before);
}

HOLDER_TEST(ml_ns_holder_join, says_where_it_cannot_go)
{
	hold();
	is_not_joined("to-user", "user", "Invalid argument");
	is_not_joined("to-net", "net", "Invalid argument");
	is_not_joined("to-mnt", "mnt", "Invalid argument");
	is_not_joined("user", "user", "Permission denied");
	is_not_joined("net", "net", "Permission denied");
	is_not_joined("mnt", "mnt", "Permission denied");
}

/* ---- found ---- */

/* The file of one that is gone goes, too. */
static void is_gone(long pid, uint64_t since)
{
	file_says("u.holder", pid, since);
	join(0, "");
	assert_i_eq(access(file, F_OK), -1);
}

HOLDER_TEST(ml_ns_holder_join, knows_a_holder_from_whoever_has_its_number)
{
	uint64_t since;
	FILE *f;

	hold();
	since = ml_process_since(t.holder);
	is_gone(t.holder, since + 1);
	is_gone(t.holder, 0);
	is_gone(0, since);
	is_gone(-t.holder, since);
	is_gone(999999999, 0);
	f = fopen(file, "we");
	fprintf(f, "%d\n", (int)t.holder);
	fclose(f);
	join(0, "");
	assert_i_eq(access(file, F_OK), -1);
	t.readlink_error = ENOENT; /* it is ending, and holds nothing any more */
	is_gone(t.holder, since);
}

static void folder_is_wrong(int want, int want_up, const char *why)
{
	struct ml_options options = {.name = "u"};
	struct ml_error e = {{0}};
	char text[300];

	assert_i_eq(ml_ns_holder_join("u", &e), want);
	snprintf(text, sizeof(text), "%s: %s", own, why);
	if (want)
		assert_string_equal(e.text, text);
	assert_i_eq(ml_ns_holder_start(&options, &e), want_up);
	assert_string_equal(e.text, text);
}

/* What others put there keeps nobody from labs without a holder; one's own has to be safe. */
HOLDER_TEST(ml_ns_holder_join, takes_no_folder_of_others)
{
	static const char cure[] = "remove it, or name another folder in XDG_RUNTIME_DIR";
	char why[200], command[100];

	snprintf(why, sizeof(why), "mode 0770 lets others write; chmod 700 %s", own);
	assert_i_eq(chmod(own, 0770), 0);
	folder_is_wrong(-1, -1, why);
	snprintf(why, sizeof(why), "mode 0702 lets others write; chmod 700 %s", own);
	assert_i_eq(chmod(own, 0702), 0);
	folder_is_wrong(-1, -1, why);
	t.other = __real_geteuid() + 1;
	snprintf(why, sizeof(why), "belongs to user %u, not to user %u; %s", __real_geteuid(),
		 t.other, cure);
	folder_is_wrong(0, -1, why);
	t.other = 0;
	assert_i_eq(rmdir(own), 0);
	snprintf(command, sizeof(command), "touch %s", own);
	assert_i_eq(system(command), 0);
	snprintf(why, sizeof(why), "is no folder; %s", cure);
	folder_is_wrong(0, -1, why);
	assert_i_eq(unlink(own), 0);
	t.calls.failing = "mkdir";
	folder_is_wrong(0, -1, "No such file or directory");
}

HOLDER_TEST(ml_ns_holder_join, has_a_folder_in_tmp_without_another)
{
	static const char *const none[] = {NULL, ""};
	struct ml_options options = {.name = "u"};
	struct ml_error e;
	char want[100];

	t.other = 4711;
	t.calls.failing = "mkdir";
	snprintf(want, sizeof(want), "/tmp/softmrc-lab-4711: No such file or directory");
	for (size_t i = 0; i < 2; i++) {
		if (none[i])
			setenv("XDG_RUNTIME_DIR", none[i], 1);
		else
			unsetenv("XDG_RUNTIME_DIR");
		assert_i_eq(ml_ns_holder_start(&options, &e), -1);
		assert_string_equal(e.text, want);
	}
}

/* ---- stopped ---- */

static void stop(int want, const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_down down = {0};
	struct ml_error e = {{0}};
	int status;

	t.calls.steps[0] = '\0';
	assert_i_eq(ml_ns_holder_stop("u", &down, &e), want);
	assert_i_eq(getpid(), t.test);
	assert_string_equal(e.text, why);
	assert_u_eq(test_open_fds(), open_before);
	if (want == 1)
		assert_true(down.namespaces == 5 && down.processes == 7);
	if (want == 0)
		return;
	/* Even where it failed. */
	assert_i_eq(__real_waitpid(t.holder, &status, 0), t.holder);
	t.holder = 0;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_i_eq(access(file, F_OK), -1);
}

HOLDER_TEST(ml_ns_holder_stop, takes_the_lab_down_and_ends_who_held_it)
{
	stop(0, "");
	hold();
	t.interrupts = 2;
	stop(1, "");
	assert_u_eq(t.interrupts, 0);
	assert_i_eq(access(own, F_OK), -1); /* no other is left */
	assert_i_eq(__real_mkdir(own, 0700), 0);
	file_says("other.holder", 1, 1);
	hold();
	stop(1, "");
	assert_i_eq(access(own, F_OK), 0);
}

HOLDER_TEST(ml_ns_holder_stop, says_that_it_could_not)
{
	static const char *const failing[] = {"down", "to-net"};

	for (size_t i = 0; i < 2; i++) {
		hold();
		t.calls.failing = failing[i];
		stop(-1, "lab u cannot be cleared from inside");
		assert_i_eq(__real_mkdir(own, 0700), 0);
	}
	hold();
	t.calls.failing = "pipe";
	stop(-1, "pipe: Too many open files");
	assert_i_eq(__real_mkdir(own, 0700), 0);
	hold();
	t.calls.failing = "fork";
	stop(-1, "lab u cannot be cleared from inside");
}

/* ---- listed ---- */

static char listed[100];

static void list(void *context, const char *name)
{
	assert_ptr_equal(context, &t);
	strcat(listed, name);
	strcat(listed, " ");
}

HOLDER_TEST(ml_ns_holder_list, has_the_labs_whose_holder_lives)
{
	uint32_t open_before = test_open_fds();
	uint64_t since;

	hold();
	since = ml_process_since(t.holder);
	file_says("dead.holder", t.holder, since + 1);
	file_says("x.old", t.holder, since);
	file_says("y.holder.old", t.holder, since);
	file_says("abcdefghijklmnop.holder", t.holder, since);
	file_says("U.holder", t.holder, since);
	listed[0] = '\0';
	ml_ns_holder_list(list, &t);
	assert_string_equal(listed, "u ");
	file_says("abcdefghijklmno.holder", t.holder, since);
	assert_i_eq(unlink(file), 0);
	listed[0] = '\0';
	ml_ns_holder_list(list, &t);
	assert_string_equal(listed, "abcdefghijklmno ");
	assert_i_eq(chmod(own, 0777), 0);
	listed[0] = '\0';
	ml_ns_holder_list(list, &t);
	assert_string_equal(listed, "");
	assert_u_eq(test_open_fds(), open_before);
}
