/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that are started, awaited and ended: src/lab/processes.c, without a lab. */
#include "lab/scenario.h"
#include "support/test.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/unit_lab_processes.XXXXXX";
static struct ml_processes c;

static int setup(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	ml_processes_open(&c, NULL, folder);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	ml_processes_stop(&c);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
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

	start(&program);
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
	for (int i = 0; i < 2000 && kill(grandchild, 0) == 0; i++)
		poll(NULL, 0, 10);
	assert_i_eq(kill(grandchild, 0), -1);
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
