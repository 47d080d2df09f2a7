/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_cli.c - `mrc lab` as a user meets it: labs of root and labs in a user namespace, what it says
 * and what it refuses, scenarios.
 */
#include "lab/lab.h"
#include "lab/lab_command.h"
#include "lab/lab_fixture.h"

#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `mrc lab <words>`; the exit status. */
#define lab(...) command_run("lab " __VA_ARGS__)

static void heard(const char *words)
{
	if (!strstr(command_said, words))
		fail_msg("\"%s\" was not said, but:\n%s", words, command_said);
}

#define good(...)                                                         \
	do {                                                              \
		int status_ = lab(__VA_ARGS__);                           \
		if (status_ != 0)                                         \
			fail_msg("status %d: %s", status_, command_said); \
	} while (0)

static int id(void)
{
	return (int)getpid();
}

/* Whether labs are possible at all, rootless or not: found out by making one. */
static void able(const char *flags)
{
	if (lab("up tiny --name c%d %s", id(), flags) != 0)
		test_skip(command_said);
}

static void use_and_remove(void)
{
	json_t *json;

	good("status c%d --json", id());
	json = json_loads(command_said, 0, NULL);
	assert_non_null(json);
	assert_i_eq(json_integer_value(json_object_get(json, "switches")), 8);
	assert_u_eq(json_array_size(json_object_get(json, "links")), 32);
	json_decref(json);
	good("shell c%d host1 -- sh -c 'echo at $MRC_LAB_NODE; grep gid $MRC_CONFIG'", id());
	heard("at host1");
	heard("gid = ");
	good("fault c%d plane0.t1-0 stall", id());
	good("fault c%d host0.plane1 loss 1%% in", id());
	good("fault c%d", id());
	heard("plane0.t1-0 stall");
	heard("host0.plane1 loss 1% in");
	good("reboot c%d plane1.t0-0", id());
	good("fault c%d plane1.t1-1 reboot", id());
	good("fault c%d plane0.t1-1 reboot", id());
	good("fault c%d", id());
	heard("plane1.t1-1 reboot");
	good("fault c%d plane1.t1-1 lift", id());
	heard("1 fault lifted");
	good("status c%d", id());
	heard("silent");
	good("watch c%d --count 1 --interval 20ms", id());
	heard("PACKETS/s");
	good("fault c%d plane0.t1-0 lift", id());
	good("fault c%d lift", id());
	heard("2 faults lifted");
	good("fault c%d", id());
	heard("no faults");
	assert_i_eq(lab("fault c%d plane0.t1-1 lift", id()), 1);
	good("down c%d", id());
	heard("12 namespaces removed");
	assert_i_eq(lab("status c%d", id()), 1);
	heard("not up");
}

TEST(mrc_lab, of_the_user_that_we_are)
{
	able("");
	heard("lab c");
	use_and_remove();
}

TEST(mrc_lab, in_a_user_namespace)
{
	able("--rootless");
	heard("in a user namespace");
	heard("without switch programs");
	use_and_remove();
}

/* Namespace holders note themselves in a folder of the test's. */
static char runtime[] = "/tmp/lab_cli.XXXXXX";

static int runtime_setup(void **state)
{
	(void)state;
	strcpy(runtime + strlen(runtime) - 6, "XXXXXX");
	return mkdtemp(runtime) && setenv("XDG_RUNTIME_DIR", runtime, 1) == 0 ? 0 : -1;
}

/* Nothing but the folder of holders may be left, and that goes with the last lab; that of a case
 * which failed in the middle is no second failure, and does not stay. */
static int runtime_teardown(void **state)
{
	char path[64];

	(void)state;
	lab("down c%d", id());
	unsetenv("XDG_RUNTIME_DIR");
	snprintf(path, sizeof(path), "%s/softmrc-lab", runtime);
	rmdir(path);
	return rmdir(runtime);
}

#define RUNTIME_TEST(name) TEST_WITH(runtime_setup, runtime_teardown, mrc_lab, name)

RUNTIME_TEST(in_a_user_namespace_says_what_is_wrong)
{
	char name[ML_LAB_NAME_MAX + 1];

	able("--rootless");
	assert_i_eq(lab("up tiny --name c%d --rootless", id()), 1);
	heard("up already");
	snprintf(name, sizeof(name), "c%d\n", id());
	good("status --names");
	heard(name);
	good("down c%d", id());
	assert_i_eq(lab("up labb --name c%d --rootless", id()), 1);
	heard("did you mean lab");
	assert_i_eq(lab("status c%d", id()), 1);
	heard("is not up");
}

/* A holder that is killed takes its lab along; what it noted is not taken for a lab. */
RUNTIME_TEST(in_a_user_namespace_goes_with_its_holder)
{
	char path[128];
	FILE *f;
	int pid;

	able("--rootless");
	snprintf(path, sizeof(path), "%s/softmrc-lab/c%d.holder", runtime, id());
	f = fopen(path, "re");
	assert_non_null(f);
	assert_i_eq(fscanf(f, "%d", &pid), 1);
	fclose(f);
	assert_i_eq(kill(pid, SIGKILL), 0);
	for (int i = 0; i < 3000 && lab("status c%d", id()) == 0; i++)
		poll(NULL, 0, 20);
	assert_i_eq(lab("shell c%d host0 -- true", id()), 1);
	heard("is not up");
	assert_i_eq(access(path, F_OK), -1);
	able("--rootless"); /* its name is free */
	good("down c%d", id());
	heard("12 namespaces removed");
}

TEST(mrc_lab, says_what_is_wrong)
{
	able("");
	assert_i_eq(lab("up tiny --name c%d", id()), 1);
	heard("up already");
	assert_i_eq(lab("fault c%d plane0.t0-7 down", id()), 1);
	heard("plane0.t0-0");
	assert_i_eq(lab("fault c%d plane0.t0-0 dwon", id()), 1);
	heard("did you mean down?");
	assert_i_eq(lab("reboot c%d host0", id()), 1);
	heard("only switches");
	assert_i_eq(lab("reboot c%d", id()), 2);
	assert_i_eq(lab("statsu"), 2);
	heard("did you mean status?");
	assert_i_eq(lab("shell c%d host0 -- sh -c 'exit 7'", id()), 7);
	good("down c%d", id());
	assert_i_eq(lab("up labb --name c%d", id()), 1);
	heard("did you mean lab");
	assert_i_eq(lab("up tiny --name UP"), 1);
	heard("letters a-z");
}

TEST(mrc_lab, flaps)
{
	able("");
	good("fault c%d host0.plane0 flap --count 2 --for 50ms --gap 50ms", id());
	good("fault c%d", id());
	heard("no faults");
	good("down c%d", id());
}

/* ---- scenarios ---- */

static void write_scenario(char *path, const char *text)
{
	FILE *f;

	snprintf(path, 64, "/tmp/softmrc-scenario-%d.toml", id());
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_i_eq(fclose(f), 0);
}

TEST(mrc_lab_run, holds_a_run_against_its_checks)
{
	char path[64];

	able("");
	good("down c%d", id());
	write_scenario(path, "title = \"words\"\ntopology = \"tiny\"\nlimit = \"20s\"\n"
			     "[[program]]\nname = \"a\"\nhost = [0, 2]\n"
			     "run = \"echo hello from $MRC_LAB_NODE; sleep 0.3\"\n"
			     "[[program]]\nname = \"b\"\nhost = 1\nrun = \"exit 3\"\nstatus = 3\n"
			     "[[program]]\nname = \"c\"\nhost = 1\nrun = \"sleep 1000\"\n"
			     "background = true\n"
			     "[[fault]]\ntarget = \"plane0.t1-0\"\nfault = \"stall\"\n"
			     "at = \"50ms\"\nfor = \"50ms\"\nevery = \"100ms\"\ntimes = 2\n"
			     "[[fault]]\ntarget = \"plane1.t0-0\"\nfault = \"reboot\"\n"
			     "for = \"100ms\"\n"
			     "[[check]]\nprogram = \"a\"\nsays = \"hello from host\"\n");
	good("run %s", path);
	heard("2 of 2 did");
	heard("plane0.t1-0 stall");
	heard("plane1.t0-0 off");
	heard("plane1.t0-0 on");
	write_scenario(path, "topology = \"tiny\"\nlimit = \"1s\"\n"
			     "[[program]]\nname = \"a\"\nhost = 0\nrun = \"sleep 1000\"\n");
	assert_i_eq(lab("run %s --json", path), 1);
	heard("still ran at the limit");
	unlink(path);
}

/* Datagrams from one host to another, which the ports of the first have counted. */
TEST(mrc_lab_run, holds_what_ports_counted_against_its_checks)
{
	char path[64];

	able("");
	good("down c%d", id());
	write_scenario(path, "topology = \"tiny\"\nlimit = \"20s\"\n"
			     "[[program]]\nname = \"a\"\nhost = 0\n"
			     "run = \"for i in 1 2 3 4 5 6 7 8 9; do "
			     "bash -c 'echo $i >/dev/udp/$MRC_LAB_ADDRESS_2/9'; done\"\n"
			     "[[check]]\ncounter = \"packets\"\nof = \"host0\"\nleast = 9\n"
			     "[[check]]\ncounter = \"lost\"\nmost = 0\n");
	good("run %s", path);
	heard("packets at host0: at least 9");
	heard("lost at all ports: 0 to 0");
	write_scenario(path, "topology = \"tiny\"\n[[check]]\ncounter = \"packets\"\n"
			     "least = 1000000\n[[check]]\ncounter = \"dropped\"\n");
	assert_i_eq(lab("run %s", path), 1);
	heard("packets at all ports: at least 1000000");
	heard("dropped at all ports: at least 0");
	unlink(path);
}

TEST(mrc_lab_run, says_what_is_wrong_with_a_file)
{
	static const struct {
		const char *text, *why;
	} files[] = {
		{"titel = \"x\"\n", ":1: titel = x: unknown key; did you mean title"},
		{"[[program]]\nname = \"a\"\n", ":1: a program needs name, host and run"},
		{"[program]\nname = \"a\"\n", "two brackets"},
		{"[[fault]]\ntarget = \"plane0\"\nfault = \"down\"\nat = \"soon\"\n",
		 ":4: fault.at = soon: must be a time"},
		{"[[fault]]\ntarget = \"plane0\"\nfault = \"down\"\ntimes = 3\n", "longer every"},
		{"[[fault]]\ntarget = \"plane0\"\nfault = \"reboot\"\n", "a reboot needs for"},
		{"[[check]]\ncounter = \"smiles\"\n", "packets, trimmed, marked"},
		{"[[check]]\nleast = 3\n", "or counter"},
		{"[[chekc]]\n", "there are program, fault, check"},
		{"pace = \"fast\"\n", "100k to 100G"},
		{"topology = \n", ":1:"},
	};
	char path[64];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		write_scenario(path, files[i].text);
		assert_i_eq(lab("run %s", path), 2);
		heard(files[i].why);
	}
	unlink(path);
	assert_i_eq(lab("run /nowhere.toml"), 2);
}

TEST(mrc_lab_run, fits_a_file_to_its_topology)
{
	char path[64];

	able("");
	good("down c%d", id());
	write_scenario(
		path, "topology = \"tiny\"\n[[program]]\nname = \"a\"\nhost = 4\nrun = \"true\"\n");
	assert_i_eq(lab("run %s", path), 1);
	heard(":2: host = 4: tiny has hosts 0 to 3");
	write_scenario(path,
		       "topology = \"tiny\"\n[[fault]]\ntarget = \"plane2\"\nfault = \"down\"\n");
	assert_i_eq(lab("run %s", path), 1);
	heard("did you mean plane0");
	unlink(path);
}

/* Starts a run, sends it a signal when its lab is up, and waits until nothing of it is left. */
static void interrupt(int number)
{
	char path[64], name[ML_LAB_NAME_MAX];
	int status;
	pid_t child;

	write_scenario(path, "topology = \"tiny\"\n"
			     "[[program]]\nname = \"a\"\nhost = 0\nrun = \"sleep 1000\"\n");
	child = fork();
	if (child == 0) {
		execl(test_arg(0), "mrc", "lab", "run", path, (char *)NULL);
		_exit(127);
	}
	snprintf(name, sizeof(name), "run%d", (int)child);
	for (int i = 0; i < 3000 && fixture_leftover(name) < 12; i++)
		poll(NULL, 0, 20);
	poll(NULL, 0, 200);
	kill(child, number);
	assert_i_eq(waitpid(child, &status, 0), child);
	for (int i = 0; i < 3000 && fixture_leftover(name); i++)
		poll(NULL, 0, 20);
	assert_u_eq(fixture_leftover(name), 0);
	unlink(path);
}

TEST(mrc_lab_run, leaves_nothing_when_it_is_stopped_or_killed)
{
	fixture_able();
	interrupt(SIGINT);
	interrupt(SIGKILL);
}
