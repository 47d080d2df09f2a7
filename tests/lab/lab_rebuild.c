/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_rebuild.c - labs that go up and down, switches that reboot, and what is left when the process
 * that builds a lab is stopped or killed in the middle of it: nothing.
 */
#include "fabric/fabric_path.h"
#include "lab/lab_fixture.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

#include <sys/wait.h>
#include <unistd.h>

static void name_of(char *name, pid_t pid)
{
	snprintf(name, ML_LAB_NAME_MAX, "t%d", (int)pid);
}

TEST(lab_up, leaves_nothing_when_down)
{
	struct ml_down down;
	struct ml_error e;
	struct fixture r;

	fixture_able();
	fixture_open(&r, "tiny", 20000000, true);
	assert_u_eq(fixture_leftover(r.name), r.t->n_nodes);
	fixture_whole(&r);
	fixture_close(&r); /* looks for leftovers */
	name_of(r.name, getpid());
	assert_i_eq(ml_lab_down(r.name, &down, &e), 0);
	assert_u_eq(down.namespaces, 0);
	assert_null(ml_lab_open(r.name, &e));
	assert_non_null(strstr(e.text, "not up"));
}

TEST(lab_up, twice_is_refused)
{
	struct ml_options options = {.topology = "tiny"};
	struct ml_error e;
	struct fixture r;

	fixture_able();
	fixture_open(&r, "tiny", 0, false);
	options.name = r.name;
	assert_null(ml_lab_up(&options, &e));
	assert_non_null(strstr(e.text, "up already"));
	fixture_whole(&r);
	fixture_close(&r);
}

TEST(lab_up, what_cannot_be_is_refused_and_leaves_nothing)
{
	struct ml_options options = {.name = "Big", .topology = "tiny"};
	char name[ML_LAB_NAME_MAX];
	struct ml_error e;

	fixture_able();
	assert_null(ml_lab_up(&options, &e));
	assert_non_null(strstr(e.text, "letters a-z"));
	name_of(name, getpid());
	options.name = name;
	options.topology = "paper";
	assert_null(ml_lab_up(&options, &e));
	assert_non_null(strstr(e.text, "too large"));
	options.topology = "papre";
	assert_null(ml_lab_up(&options, &e));
	assert_non_null(strstr(e.text, "paper"));
	options.topology = "tiny";
	options.pace_bps = 1;
	assert_null(ml_lab_up(&options, &e));
	assert_non_null(strstr(e.text, "100k"));
	assert_u_eq(fixture_leftover(name), 0);
}

static void mtu_of(void *context)
{
	FILE *f = popen("ip link show dev e1", "r");
	char text[256] = "", *mtu;

	if (f && fgets(text, sizeof(text), f) && (mtu = strstr(text, "mtu ")))
		*(int *)context = atoi(mtu + 4);
	if (f)
		pclose(f);
}

TEST(lab_up, has_the_mtu_that_was_asked_for)
{
	struct ml_options options = {.topology = "tiny", .mtu = 9000, .goes_with_process = true};
	char name[ML_LAB_NAME_MAX];
	struct fixture r = {0};
	struct ml_lab *again;
	struct ml_error e;
	int mtu = 0;

	fixture_able();
	name_of(name, getpid());
	options.name = name;
	r.lab = ml_lab_up(&options, &e);
	if (!r.lab)
		fail_msg("%s", e.text);
	fixture_inside(&r, 2, mtu_of, &mtu);
	assert_i_eq(mtu, 9000);
	again = ml_lab_open(name, &e);
	assert_non_null(again);
	assert_u_eq(ml_lab_topology(again)->cfg.mtu, 9000);
	ml_lab_close(again);
	ml_lab_close(r.lab);
	options.mtu = 1000;
	assert_null(ml_lab_up(&options, &e));
	assert_non_null(strstr(e.text, "MTU 1000"));
}

/* ---- stopped, killed ---- */

static int stop_at(void *context, const char *what, size_t done, size_t of)
{
	(void)what;
	(void)of;
	return done == *(size_t *)context;
}

TEST(lab_up, stopped_at_any_step_leaves_nothing)
{
	struct ml_options options = {.topology = "tiny", .progress = stop_at};
	char name[ML_LAB_NAME_MAX];
	struct ml_error e;

	fixture_able();
	name_of(name, getpid());
	options.name = name;
	for (size_t step = 0; step < 5; step++) {
		options.context = &step;
		assert_null(ml_lab_up(&options, &e));
		assert_non_null(strstr(e.text, "stopped"));
		assert_u_eq(fixture_leftover(name), 0);
	}
}

/* Dies by SIGKILL when ports are about to be made. */
static int die_at(void *context, const char *what, size_t done, size_t of)
{
	(void)what;
	(void)of;
	if (done == *(size_t *)context)
		raise(SIGKILL);
	return 0;
}

static void wait_until_gone(const char *name)
{
	for (int i = 0; i < 3000 && fixture_leftover(name); i++)
		poll(NULL, 0, 20);
	assert_u_eq(fixture_leftover(name), 0);
}

TEST(lab_up, killed_at_any_step_leaves_nothing)
{
	struct ml_options options = {.topology = "tiny", .progress = die_at};
	char name[ML_LAB_NAME_MAX];
	struct ml_error e;
	int status;

	fixture_able();
	name_of(name, getpid());
	options.name = name;
	for (size_t step = 1; step < 5; step++) {
		pid_t child = fork();

		options.context = &step;
		if (child == 0) {
			ml_lab_up(&options, &e);
			_exit(0);
		}
		assert_i_eq(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		wait_until_gone(name);
	}
	assert_null(ml_lab_open(name, &e));
}

TEST(lab_up, goes_when_its_owner_is_killed)
{
	char name[ML_LAB_NAME_MAX], word;
	int status, ready[2];
	pid_t child;

	fixture_able();
	assert_i_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		struct ml_options options = {
			.name = name, .topology = "tiny", .goes_with_process = true};
		struct ml_error e;

		name_of(name, getpid());
		word = ml_lab_up(&options, &e) ? 'y' : 'n';
		if (write(ready[1], &word, 1) == 1)
			pause();
		_exit(1);
	}
	assert_i_eq(read(ready[0], &word, 1), 1);
	assert_i_eq(word, 'y');
	name_of(name, child);
	assert_u_eq(fixture_leftover(name), 12);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	wait_until_gone(name);
	close(ready[0]);
	close(ready[1]);
}

/* Starts a process that owns a lab, and waits until that is up. */
static pid_t start_owner(const char *name)
{
	struct ml_options options = {.name = name, .topology = "tiny", .goes_with_process = true};
	struct ml_error e;
	int ready[2];
	char word = 'n';
	pid_t child;

	assert_i_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		word = ml_lab_up(&options, &e) ? 'y' : 'n';
		if (write(ready[1], &word, 1) == 1)
			pause();
		_exit(1);
	}
	assert_i_eq(read(ready[0], &word, 1), 1);
	assert_i_eq(word, 'y');
	close(ready[0]);
	close(ready[1]);
	return child;
}

static void end_owner(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	assert_i_eq(waitpid(child, &status, 0), child);
}

/* Its watchdog knows its own lab, not whatever has the name by then. */
TEST(lab_up, of_an_owner_that_is_killed_spares_a_later_lab_of_its_name)
{
	struct ml_options options = {.topology = "tiny"};
	char name[ML_LAB_NAME_MAX];
	struct ml_down down;
	struct ml_error e;
	pid_t owner;

	fixture_able();
	name_of(name, getpid());
	options.name = name;
	owner = start_owner(name);
	assert_i_eq(ml_lab_down(name, &down, &e), 0);
	ml_lab_close(ml_lab_up(&options, &e));
	assert_u_eq(fixture_leftover(name), 12);
	end_owner(owner);
	poll(NULL, 0, 1000);
	assert_u_eq(fixture_leftover(name), 12);
	assert_i_eq(ml_lab_down(name, &down, &e), 0);
}

static void change_state(const char *name, const char *sed)
{
	char command[200];

	snprintf(command, sizeof(command), "sed -i '%s' /run/softmrc/lab/%s.json", sed, name);
	assert_i_eq(system(command), 0);
}

/* The owner of a lab is killed after sed changed its file; the lab is there a second later. */
static void watchdog_spares(const char *sed)
{
	char name[ML_LAB_NAME_MAX];
	struct ml_down down;
	struct ml_error e;
	pid_t owner;

	fixture_able();
	name_of(name, getpid());
	owner = start_owner(name);
	change_state(name, sed);
	end_owner(owner);
	poll(NULL, 0, 1000);
	assert_u_eq(fixture_leftover(name), 12);
	assert_i_eq(ml_lab_down(name, &down, &e), 0);
	assert_u_eq(down.namespaces, 12);
}

TEST(lab_watchdog, spares_a_lab_of_its_name_and_another_id)
{
	watchdog_spares("s/\"id\": \"[0-9a-f]*\"/\"id\": \"0123456789abcdef\"/");
}

/* Whose lab it is cannot be known. */
TEST(lab_watchdog, spares_a_lab_whose_file_cannot_be_read)
{
	watchdog_spares("s/{/[/");
}

TEST(lab_watchdog, removes_what_is_left_without_a_file)
{
	char name[ML_LAB_NAME_MAX], path[64];
	pid_t owner;

	fixture_able();
	name_of(name, getpid());
	owner = start_owner(name);
	snprintf(path, sizeof(path), "/run/softmrc/lab/%s.json", name);
	assert_i_eq(unlink(path), 0);
	end_owner(owner);
	wait_until_gone(name);
}

/* Process 1 lives, but it is not the one that the number was of. */
TEST(lab_up, takes_the_place_of_an_owner_whose_number_is_used_again)
{
	struct ml_options options = {.topology = "tiny"};
	char name[ML_LAB_NAME_MAX];
	struct ml_down down;
	struct ml_error e;
	struct ml_lab *lab;

	fixture_able();
	name_of(name, getpid());
	options.name = name;
	ml_lab_close(ml_lab_up(&options, &e));
	change_state(name,
		     "s/\"owner\": 0/\"owner\": 1/; s/\"owner_since\": 0/\"owner_since\": 999/");
	lab = ml_lab_up(&options, &e);
	if (!lab)
		fail_msg("%s", e.text);
	ml_lab_close(lab);
	assert_i_eq(ml_lab_down(name, &down, &e), 0);
}

TEST(lab_open, refuses_the_file_of_another_name)
{
	struct ml_options options = {.topology = "tiny"};
	char name[ML_LAB_NAME_MAX];
	struct ml_down down;
	struct ml_error e;

	fixture_able();
	name_of(name, getpid());
	options.name = name;
	ml_lab_close(ml_lab_up(&options, &e));
	change_state(name, "s/\"name\": \"/&..\\/x/");
	assert_null(ml_lab_open(name, &e));
	assert_non_null(strstr(e.text, "not a lab of this version"));
	assert_i_eq(ml_lab_down(name, &down, &e), 0);
}

TEST(lab_down, takes_only_names_of_labs)
{
	static const char *const bad[] = {
		"", "..", "../x", "a/b", "a-b", "A", "lab;x", "a\n", "abcdefghijklmnopq"};
	struct ml_down down;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ml_error e = {{0}};

		assert_i_eq(ml_lab_down(bad[i], &down, &e), -1);
		assert_non_null(strstr(e.text, "no name of a lab"));
	}
}

TEST(lab_down, ends_what_runs_there)
{
	struct ml_down down;
	struct ml_error e;
	struct fixture r;
	int fd, status;
	pid_t child;

	fixture_able();
	fixture_open(&r, "tiny", 0, false);
	fd = ml_lab_netns(r.lab, 0, &e);
	assert_true(fd >= 0);
	child = fork();
	if (child == 0) {
		if (setns(fd, CLONE_NEWNET) == 0)
			for (;;)
				pause();
		_exit(1);
	}
	close(fd);
	poll(NULL, 0, 200);
	assert_i_eq(ml_lab_down(r.name, &down, &e), 0);
	assert_u_eq(down.processes, 1);
	assert_u_eq(down.namespaces, 12);
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	fixture_close(&r);
}

/* ---- reboots ---- */

static uint32_t pass(const struct fixture *r, uint32_t plane, uint32_t t1)
{
	return fixture_count(r, 0, 2, mf_ev_of(plane, t1, 0), 20);
}

TEST(lab_reboot, brings_a_switch_back_as_it_was)
{
	static const char *const names[] = {"plane0.t1-0", "plane1.t0-1"};
	struct ml_error e;
	uint32_t node;
	struct fixture r;

	fixture_able();
	fixture_open(&r, "tiny", 20000000, true);
	for (size_t i = 0; i < 2; i++) {
		assert_i_eq(ml_node_find(r.t, names[i], &node, &e), 0);
		assert_i_eq(ml_lab_set_switch(r.lab, node, false, &e), 0);
		assert_u_eq(fixture_leftover(r.name), 11);
		assert_u_eq(pass(&r, i ? 1 : 0, 0), 0);
		assert_u_eq(pass(&r, i ? 0 : 1, 1), 20);
		assert_i_eq(ml_lab_set_switch(r.lab, node, false, &e), -1);
		assert_i_eq(ml_lab_set_switch(r.lab, node, true, &e), 0);
		fixture_whole(&r);
	}
	fixture_close(&r);
}

TEST(lab_reboot, keeps_faults_and_minds_neighbours_that_are_off)
{
	struct ml_error e;
	uint32_t t0, t1;
	struct fixture r;

	fixture_able();
	fixture_open(&r, "tiny", 20000000, true);
	assert_i_eq(ml_node_find(r.t, "plane0.t0-0", &t0, &e), 0);
	assert_i_eq(ml_node_find(r.t, "plane0.t1-0", &t1, &e), 0);
	fixture_fault(&r, "plane0.t0-0.t1-1", "blackhole");
	assert_i_eq(ml_lab_set_switch(r.lab, t0, false, &e), 0);
	assert_i_eq(ml_lab_set_switch(r.lab, t1, false, &e), 0);
	fixture_fault(&r, "plane0.t0-0.t1-0", "down");
	assert_i_eq(ml_lab_set_switch(r.lab, t0, true, &e), 0);
	assert_i_eq(ml_lab_set_switch(r.lab, t1, true, &e), 0);
	assert_u_eq(pass(&r, 0, 0), 0);
	assert_u_eq(pass(&r, 0, 1), 0);
	assert_u_eq(pass(&r, 1, 0), 20);
	fixture_lift(&r);
	fixture_whole(&r);
	fixture_close(&r);
}

TEST(lab_reboot, of_a_host_is_refused)
{
	struct ml_error e;
	struct fixture r;

	fixture_able();
	fixture_open(&r, "tiny", 0, false);
	assert_i_eq(ml_lab_set_switch(r.lab, 0, false, &e), -1);
	assert_non_null(strstr(e.text, "only switches"));
	fixture_close(&r);
}
