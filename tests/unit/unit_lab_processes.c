/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that are started, awaited and ended: src/lab/processes.c, without a lab, or on hosts of
 * one that is a file's content alone: what a host gives its programs is noted in the environment.
 */
#include "lab/ip_batch.h"
#include "lab/lab_state.h"
#include "lab/scenario.h"
#include "support/noted_calls.h"
#include "support/open_fds.h"
#include "support/test.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the system, which fails where it is asked to ---- */

static struct {
	pid_t test;	       /* the process that tests; others are its children */
	const char *setenv_of; /* there is no memory for this variable */
	bool no_fork, no_memory, no_exe, no_shell, no_parent, no_netns;
	bool no_group_by_child, no_group_by_parent;
	unsigned int interrupts; /* so many waits are interrupted */
	uint64_t clock_ns;	 /* 0: the system's */
} t;

__typeof__(setenv) __real_setenv, __wrap_setenv;
int __wrap_setenv(const char *name, const char *value, int overwrite)
{
	if (t.setenv_of && strcmp(name, t.setenv_of) == 0) {
		errno = ENOMEM;
		return -1;
	}
	return __real_setenv(name, value, overwrite);
}

__typeof__(fork) __real_fork, __wrap_fork;
pid_t __wrap_fork(void)
{
	if (!t.no_fork)
		return __real_fork();
	errno = EAGAIN;
	return -1;
}

__typeof__(calloc) __real_calloc, __wrap_calloc;
void *__wrap_calloc(size_t n, size_t size)
{
	return t.no_memory ? NULL : __real_calloc(n, size);
}

__typeof__(readlink) __real_readlink, __wrap_readlink;
ssize_t __wrap_readlink(const char *path, char *text, size_t size)
{
	if (!t.no_exe)
		return __real_readlink(path, text, size);
	errno = ENOENT;
	return -1;
}

__typeof__(execv) __real_execv, __wrap_execv;
int __wrap_execv(const char *path, char *const argv[])
{
	if (!t.no_shell)
		return __real_execv(path, argv);
	errno = ENOENT;
	return -1;
}

__typeof__(getppid) __real_getppid, __wrap_getppid;
pid_t __wrap_getppid(void)
{
	return t.no_parent ? 1 : __real_getppid();
}

__typeof__(setpgid) __real_setpgid, __wrap_setpgid;
int __wrap_setpgid(pid_t pid, pid_t group)
{
	if (getpid() == t.test)
		return t.no_group_by_parent ? 0 : __real_setpgid(pid, group);
	/* Once the shell runs it is too late for the parent. */
	while (t.no_group_by_child && getpgid(0) != getpid())
		poll(NULL, 0, 1);
	return __real_setpgid(pid, group);
}

__typeof__(waitpid) __real_waitpid, __wrap_waitpid;
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	return interrupt_call(&t.interrupts) ? -1 : __real_waitpid(pid, status, options);
}

__typeof__(clock_gettime) __real_clock_gettime, __wrap_clock_gettime;
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (t.clock_ns == 0)
		return __real_clock_gettime(clock, ts);
	assert_i_eq(clock, CLOCK_MONOTONIC);
	*ts = (struct timespec){(time_t)(t.clock_ns / 1000000000u),
				(long)(t.clock_ns % 1000000000u)};
	return 0;
}

/* ---- a host ---- */

static char folder[] = "/tmp/unit_lab_processes.XXXXXX";

__typeof__(ml_lab_folder) __wrap_ml_lab_folder;
char *__wrap_ml_lab_folder(const struct ml_lab *lab, char *out)
{
	assert_string_equal(lab->name, "u");
	return strcpy(out, folder);
}

static void note_number(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	assert_i_eq(__real_setenv(name, text, 1), 0);
}

__typeof__(ml_lab_netns) __wrap_ml_lab_netns;
int __wrap_ml_lab_netns(const struct ml_lab *lab, uint32_t node, struct ml_error *e)
{
	assert_string_equal(lab->name, "u");
	return t.no_netns ? ml_error_set(e, "node %u is gone", node) : 1000 + (int)node;
}

__typeof__(setns) __wrap_setns;
int __wrap_setns(int fd, int type)
{
	assert_i_eq(type, CLONE_NEWNET);
	note_number("UNIT_NETNS", fd);
	return 0;
}

__typeof__(ml_host_environment) __wrap_ml_host_environment;
int __wrap_ml_host_environment(const struct ml_lab *lab, uint32_t node, enum mf_host_form form,
			       struct ml_error *e)
{
	(void)lab;
	(void)e;
	note_number("UNIT_NODE", (int)node);
	note_number("UNIT_FORM", form);
	return 0;
}

static struct ml_processes c;

static int setup(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	t.test = getpid();
	/* Who starts a program and ends leaves it to us, so that we see it end. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return -1;
	ml_processes_open(&c, NULL, folder);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	memset(&t, 0, sizeof(t));
	/* One that leads no group, which is what a test is about, would be waited for. */
	for (uint32_t i = 0; i < c.members; i++)
		if (c.member[i].pid > 0)
			kill(c.member[i].pid, SIGKILL);
	ml_processes_stop(&c);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* Waits for an orphan, which is to be killed. */
static void is_killed(pid_t orphan)
{
	int status = 0;
	pid_t pid = 0;

	for (int i = 0; i < 6000 && pid == 0; i++) {
		pid = waitpid(orphan, &status, WNOHANG);
		poll(NULL, 0, 10);
	}
	assert_i_eq(pid, orphan);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

#define PROCESS_TEST(function, name) TEST_WITH(setup, teardown, function, name)

static void start(const struct ml_scenario_program *program)
{
	struct ml_error e;

	if (ml_processes_start(&c, program, &e))
		fail_msg("%s", e.text);
}

static void wait_for_all(void)
{
	for (int i = 0; i < 2000 && ml_processes_poll(&c); i++)
		poll(NULL, 0, 10);
	assert_false(ml_processes_poll(&c));
}

static void printed(uint32_t member, const char *want)
{
	char *text = ml_processes_output(&c, member);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

PROCESS_TEST(ml_processes_start, each_on_its_host_knows_which_it_is)
{
	static const struct ml_scenario_program program = {
		.name = "a",
		.host = {5, 7},
		.hosts = 2,
		.run = "echo $MRC_LAB_INDEX; echo twice >&2; readlink /proc/$$/fd/0; exit $((3 + "
		       "MRC_LAB_INDEX))"};
	int ends[2], in = dup(STDIN_FILENO);

	assert_i_eq(pipe(ends), 0);
	assert_i_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO); /* not for them */
	start(&program);
	assert_i_eq(dup2(in, STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	close(in);
	wait_for_all();
	assert_u_eq(c.members, 2);
	assert_u_eq(c.member[0].host, 5);
	assert_u_eq(c.member[1].host, 7);
	assert_i_eq(c.member[0].status, 3);
	assert_i_eq(c.member[1].status, 4);
	assert_false(c.member[0].overdue);
	printed(0, "0\ntwice\n/dev/null\n");
	printed(1, "1\ntwice\n/dev/null\n");
}

/* Programs of softmrc are found first, beside the running one. */
PROCESS_TEST(ml_processes_start, looks_in_our_folders_first)
{
	static const struct ml_scenario_program program = {
		.name = "a", .hosts = 1, .run = "echo ${PATH%%:*}"};
	char own[ML_OWN_FOLDER_MAX], want[ML_OWN_FOLDER_MAX + 8];

	start(&program);
	wait_for_all();
	assert_non_null(ml_own_folder(own));
	snprintf(want, sizeof(want), "%s/.\n", own);
	printed(0, want);
}

PROCESS_TEST(ml_processes_poll, waits_for_none_in_the_background)
{
	static const struct ml_scenario_program daemon = {
		.name = "d", .hosts = 1, .run = "sleep 1000", .background = true};
	static const struct ml_scenario_program killed = {
		.name = "k", .hosts = 1, .run = "kill -TERM $$"};

	start(&daemon);
	start(&killed);
	wait_for_all();
	assert_i_eq(c.member[1].status, 128 + SIGTERM);
	assert_true(c.member[0].pid > 0);
	ml_processes_stop(&c);
	assert_i_eq(c.member[0].pid, 0);
	assert_i_eq(c.member[0].status, 128 + SIGKILL);
	assert_false(c.member[0].overdue);
}

/* With all that it started, which is in its process group. */
PROCESS_TEST(ml_processes_stop, ends_what_still_runs)
{
	static const struct ml_scenario_program program = {
		.name = "a", .hosts = 1, .run = "sleep 1000 & echo $!; wait"};
	char *text = NULL;
	pid_t grandchild;

	start(&program);
	for (int i = 0; i < 2000 && (!text || !strchr(text, '\n')); i++) {
		free(text);
		poll(NULL, 0, 10);
		text = ml_processes_output(&c, 0);
	}
	grandchild = (pid_t)atoi(text);
	free(text);
	assert_true(grandchild > 0);
	ml_processes_stop(&c);
	assert_true(c.member[0].overdue);
	is_killed(grandchild);
}

PROCESS_TEST(ml_processes_start, says_what_cannot_be)
{
	static const struct ml_scenario_program program = {
		.name = "many", .hosts = 1, .run = "true"};
	struct ml_error e;
	struct ml_processes lost;

	c.members = ML_PROCESSES_MAX;
	assert_i_eq(ml_processes_start(&c, &program, &e), -1);
	assert_string_equal(e.text, "more than 256 programs at once");
	assert_false(ml_processes_poll(&c));
	ml_processes_stop(&c); /* none runs */
	c.members = 0;
	ml_processes_open(&lost, NULL, "/nowhere");
	assert_i_eq(ml_processes_start(&lost, &program, &e), -1);
	assert_string_equal(e.text, "starting many: No such file or directory");
	assert_u_eq(lost.members, 0);
}

TEST(ml_program_find, names_the_places)
{
	char path[ML_OWN_FOLDER_MAX];
	struct ml_error e;

	assert_i_eq(ml_program_find("unit_lab_processes", path, sizeof(path), &e), 0);
	assert_i_eq(access(path, X_OK), 0);
	assert_i_eq(ml_program_find("no-such-program", path, sizeof(path), &e), -1);
	assert_non_null(strstr(e.text, "the program `no-such-program` is not in "));
	assert_non_null(strstr(e.text, "softmrc/examples"));
	assert_i_eq(ml_program_find("unit_lab_processes", path, 8, &e), -1);
}

/* A path that is cut off leads elsewhere: to this program itself, for one. */
TEST(ml_program_find, takes_no_path_that_is_cut_off)
{
	char path[ML_OWN_FOLDER_MAX];
	struct ml_error e;

	assert_i_eq(ml_program_find("unit_lab_processes", path, sizeof(path), &e), 0);
	assert_i_eq(ml_program_find("unit_lab_processesx", path, strlen(path) + 1, &e), -1);
	t.no_exe = true;
	assert_null(ml_own_folder(path));
	assert_i_eq(ml_program_find("unit_lab_processes", path, sizeof(path), &e), -1);
	assert_string_equal(e.text, "/proc/self/exe: No such file or directory");
	t.no_exe = false;
}

TEST(ml_clock_ns, counts_nanoseconds)
{
	t.clock_ns = UINT64_C(5000000007);
	assert_u_eq(ml_clock_ns(), UINT64_C(5000000007));
	t.clock_ns = 0;
}

/* ---- what a program is born with ---- */

/* Runs a line, which is to end with this status and to have printed a text. */
static void runs(const char *line, int status, const char *want)
{
	struct ml_scenario_program program = {.name = "a", .host = {2}, .hosts = 1};
	uint32_t member = c.members;

	snprintf(program.run, sizeof(program.run), "%s", line);
	start(&program);
	wait_for_all();
	assert_i_eq(c.member[member].status, status);
	printed(member, want);
}

/* Signals that we ignore are not ignored there. */
PROCESS_TEST(ml_processes_start, hears_signals_that_end_it)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};

	for (size_t i = 0; i < 3; i++)
		signal(signals[i], SIG_IGN);
	runs("while read -r name mask; do test $name = SigIgn: && echo $((0x$mask & 0x4003)); done "
	     "</proc/$$/status",
	     1, "0\n");
	for (size_t i = 0; i < 3; i++)
		signal(signals[i], SIG_DFL);
}

/* Both say so, since neither knows which of them is first. */
PROCESS_TEST(ml_processes_start, leads_a_process_group_whoever_is_first)
{
	static const struct ml_scenario_program sleeps = {
		.name = "s", .hosts = 1, .run = "exec sleep 1000"};

	t.no_group_by_parent = true;
	runs("read -r pid name state parent group rest </proc/$$/stat && test $group = $$", 0, "");
	t.no_group_by_parent = false;
	t.no_group_by_child = true;
	start(&sleeps);
	assert_i_eq(getpgid(c.member[1].pid), c.member[1].pid);
}

PROCESS_TEST(ml_processes_start, ends_with_the_process_that_started_it)
{
	static const struct ml_scenario_program sleeps = {
		.name = "s", .hosts = 1, .run = "echo $$; exec sleep 1000"};
	pid_t child = fork(), pid = 0;
	char *text = NULL;

	if (child == 0) {
		start(&sleeps);
		pause();
	}
	for (int i = 0; i < 2000 && (!text || !strchr(text, '\n')); i++) {
		free(text);
		poll(NULL, 0, 10);
		text = ml_processes_output(&c, 0);
	}
	pid = atoi(text);
	free(text);
	assert_true(pid > 0);
	assert_i_eq(kill(pid, 0), 0);
	assert_i_eq(kill(child, SIGKILL), 0);
	assert_i_eq(waitpid(child, NULL, 0), child);
	is_killed(pid);
}

/* It was killed before that could be asked for. */
PROCESS_TEST(ml_processes_start, does_not_outlive_who_was_gone_first)
{
	t.no_parent = true;
	runs("echo runs", 126, "");
}

PROCESS_TEST(ml_processes_start, looks_in_the_folders_of_the_system_without_a_path)
{
	char *path = strdup(getenv("PATH"));

	assert_i_eq(unsetenv("PATH"), 0);
	runs("echo ${PATH#*examples:*examples:}", 0, "/usr/bin:/bin:/usr/sbin:/sbin\n");
	assert_i_eq(setenv("PATH", "/here", 1), 0);
	runs("echo ${PATH#*examples:*examples:}", 0, "/here:/usr/sbin:/sbin\n");
	assert_i_eq(setenv("PATH", path, 1), 0);
	free(path);
}

PROCESS_TEST(ml_processes_start, says_in_the_output_what_was_missing)
{
	t.setenv_of = "MRC_LAB_INDEX";
	runs("echo runs", 126, "host2: Cannot allocate memory\n");
	t.setenv_of = "PATH";
	runs("echo runs", 126, "host2: Cannot allocate memory\n");
	t.setenv_of = NULL;
	t.no_exe = true;
	runs("echo runs", 126, "host2: No such file or directory\n");
	t.no_exe = false;
	t.no_shell = true;
	runs("echo runs", 127, "/bin/sh: No such file or directory\n");
}

PROCESS_TEST(ml_processes_start, leaves_no_descriptor_open)
{
	static const struct ml_scenario_program program = {.name = "a", .hosts = 1, .run = "true"};
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	runs("true", 0, "");
	t.no_fork = true;
	assert_i_eq(ml_processes_start(&c, &program, &e), -1);
	t.no_fork = false;
	assert_string_equal(e.text, "starting a: Resource temporarily unavailable");
	assert_u_eq(c.members, 1);
	assert_i_eq(c.member[1].pid, 0);
	assert_u_eq(test_open_fds(), open_before);
}

PROCESS_TEST(ml_processes_poll, says_how_long_each_ran)
{
	static const struct ml_scenario_program program = {.name = "a", .hosts = 1, .run = "true"};
	const uint64_t began = UINT64_C(7000000000), took = UINT64_C(1234567890);

	t.clock_ns = began;
	start(&program);
	assert_u_eq(c.member[0].ran_ns, began);
	t.clock_ns = began + took;
	wait_for_all();
	t.clock_ns += took;
	assert_false(ml_processes_poll(&c));
	assert_u_eq(c.member[0].ran_ns, took);
	t.clock_ns = 0;
}

PROCESS_TEST(ml_processes_stop, waits_on_when_a_signal_comes)
{
	static const struct ml_scenario_program sleeps = {
		.name = "s", .hosts = 1, .run = "exec sleep 1000"};
	pid_t pid;

	start(&sleeps);
	pid = c.member[0].pid;
	t.interrupts = 3;
	ml_processes_stop(&c);
	assert_u_eq(t.interrupts, 0);
	assert_i_eq(c.member[0].status, 128 + SIGKILL);
	assert_i_eq(waitpid(pid, NULL, WNOHANG), -1);
}

PROCESS_TEST(ml_processes_output, is_empty_without_a_file_and_none_without_memory)
{
	char *text = ml_processes_output(&c, 7);

	assert_string_equal(text, "");
	free(text);
	t.no_memory = true;
	text = ml_processes_output(&c, 7);
	t.no_memory = false;
	assert_null(text);
}

/* ---- on hosts ---- */

static void open_on_lab(void)
{
	struct ml_error e;
	struct ml_lab *lab = ml_state_create("u", "tiny", NULL, &e);

	assert_non_null(lab);
	ml_processes_open(&c, lab, NULL);
	assert_ptr_equal(c.lab, lab);
}

static void destroy_lab(void)
{
	ml_state_destroy((struct ml_lab *)(uintptr_t)c.lab);
	c.lab = NULL;
}

PROCESS_TEST(ml_processes_start, is_on_its_host_and_knows_all_addresses)
{
	struct ml_scenario_program program = {
		.name = "a", .host = {2, 3}, .hosts = 2, .form = MF_HOST_UDP};

	snprintf(program.run, sizeof(program.run), "%s",
		 "echo $UNIT_NETNS $UNIT_NODE $UNIT_FORM; env | grep '^MRC_LAB_[AI][DP]' | sort");
	open_on_lab();
	start(&program);
	wait_for_all();
	for (uint32_t i = 0; i < 2; i++) {
		char want[800], address[4][48], ipv4[4][48];

		for (uint32_t host = 0; host < 4; host++) {
			ml_host_address(c.lab, host, address[host]);
			ml_ipv4_of_host(ml_lab_topology(c.lab), host, ipv4[host]);
		}
		snprintf(want, sizeof(want),
			 "%u %u %d\nMRC_LAB_ADDRESS_0=%s\nMRC_LAB_ADDRESS_1=%s\n"
			 "MRC_LAB_ADDRESS_2=%s\nMRC_LAB_ADDRESS_3=%s\nMRC_LAB_IPV4_0=%s\n"
			 "MRC_LAB_IPV4_1=%s\nMRC_LAB_IPV4_2=%s\nMRC_LAB_IPV4_3=%s\n",
			 1002 + i, 2 + i, MF_HOST_UDP, address[0], address[1], address[2],
			 address[3], ipv4[0], ipv4[1], ipv4[2], ipv4[3]);
		printed(i, want);
	}
	destroy_lab();
}

PROCESS_TEST(ml_processes_start, does_not_run_beside_its_host)
{
	open_on_lab();
	t.no_netns = true;
	runs("echo runs", 126, "host2: node 2 is gone\n");
	t.no_netns = false;
	t.setenv_of = "MRC_LAB_ADDRESS_3";
	runs("echo runs", 126, "host2: Cannot allocate memory\n");
	t.setenv_of = "MRC_LAB_IPV4_3";
	runs("echo runs", 126, "host2: Cannot allocate memory\n");
	destroy_lab();
}
