/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_demo.c - `mrc demo` as a whole, small: that it passes, what its result holds, and that it
 * leaves nothing behind however it ends. On loopback, and in the lab with and without root.
 *
 * Argument: the program mrc.
 */
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char dir[64], out[128], log_path[128];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/live-demo-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(out, sizeof(out), "%s/result.json", dir);
	snprintf(log_path, sizeof(log_path), "%s/log", dir);
	setenv("TMPDIR", dir, 1);
	return 0;
}

static int remove_dir(void **state)
{
	char command[128];

	(void)state;
	unsetenv("TMPDIR");
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

#define DEMO_TEST(name) TEST_WITH(make_dir, remove_dir, mrc_demo, name)

#define ARGUMENTS_MAX 28

/* Starts mrc with words; everything it says goes to the log. */
static pid_t start(char *const *words)
{
	char *argv[ARGUMENTS_MAX] = {(char *)(uintptr_t)test_arg(0)};
	pid_t pid;

	assert_non_null(test_arg(0));
	for (int i = 0; words[i]; i++)
		argv[i + 1] = words[i];
	pid = fork();
	if (pid == 0) {
		int fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, 1);
		dup2(fd, 2);
		execv(argv[0], argv);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

#define START(...) start((char *[]){__VA_ARGS__, NULL})

static int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static char *said(void)
{
	static char text[65536];
	size_t n;
	FILE *f = fopen(log_path, "r");

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static void assert_said(const char *word)
{
	const char *text = said();

	if (!strstr(text, word))
		fail_msg("no \"%s\" in:\n%s", word, text);
}

/* Nothing but the log and the result may be left. */
static void assert_clean(void)
{
	DIR *d = opendir(dir);
	const struct dirent *entry;

	assert_non_null(d);
	while ((entry = readdir(d)))
		if (strncmp(entry->d_name, "mrc-demo", 8) == 0)
			fail_msg("%s/%s is left", dir, entry->d_name);
	closedir(d);
}

/* The process of a rank that runs now, found by the statistics it publishes; waits for it. */
static pid_t find_rank(void)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	char command[256];

	snprintf(command, sizeof(command), "ls %s/mrc-demo-*/healthy-mrc/ 2>/dev/null", dir);
	for (int i = 0; i < 18000; i++) {
		char name[256];
		int pid = 0;
		FILE *f = popen(command, "r");

		assert_non_null(f);
		while (!pid && fgets(name, sizeof(name), f))
			if (strstr(name, ".mrcstats") && sscanf(name, "%d", &pid) != 1)
				pid = 0;
		pclose(f);
		if (pid)
			return pid;
		nanosleep(&pause, NULL);
	}
	fail_msg("no rank after 180 s:\n%s", said());
	return 0;
}

static bool is_gone(pid_t pid)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	for (int i = 0; i < 6000; i++) {
		if (kill(pid, 0) && errno == ESRCH)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static const json_t *at(const json_t *o, const char *a, const char *b)
{
	return json_object_get(json_object_get(o, a), b);
}

DEMO_TEST(passes_and_says_so_in_numbers)
{
	int status = wait_for(START("demo", "--on", "loopback", "--plain", "--ranks", "2",
				    "--planes", "2", "--pace", "400M", "--script", "t1,corrupt",
				    "--steps", "40", "--out", out));
	json_t *result;
	const json_t *fault;

	if (status)
		fail_msg("status %d:\n%s", status, said());
	assert_said("PASS");
	assert_clean();
	result = json_load_file(out, 0, NULL);
	assert_non_null(result);
	assert_true(json_is_true(json_object_get(result, "pass")));
	assert_string_equal(json_string_value(at(result, "fault_free", "sha256")),
			    json_string_value(at(result, "with_faults", "sha256")));
	assert_u_eq(json_array_size(json_object_get(result, "faults")), 2);
	fault = json_array_get(json_object_get(result, "faults"), 0);
	assert_true(json_is_real(at(fault, "times", "found_ms")));
	assert_true(json_is_real(at(fault, "times", "left_ms")));
	fault = json_array_get(json_object_get(result, "faults"), 1);
	assert_true(json_is_real(at(fault, "times", "found_ms")));
	assert_true(json_is_null(at(fault, "times", "left_ms")));
	assert_true(json_integer_value(json_object_get(fault, "data_packets_lost")) > 0);
	assert_true(json_integer_value(at(fault, "counters", "evs_retired")) > 0);
	assert_true(json_integer_value(at(fault, "counters", "drop_icrc")) > 0);
	json_decref(result);
}

/* Says why and skips where there can be no lab; as the demo itself says it. */
static void skip_without_lab(int status)
{
	char *why = status == 1 ? strstr(said(), "no lab: ") : NULL;

	if (!why)
		return;
	why[strcspn(why, "\n")] = '\0';
	test_skip(why);
}

/* Every namespace of the demo's lab has its process's number in its name. */
static void assert_no_lab(pid_t pid)
{
	char command[128];

	snprintf(command, sizeof(command), "ip netns 2>/dev/null | grep -q '^mrc-demo%d-'",
		 (int)pid);
	assert_true(system(command) != 0);
}

static void assert_lab_result(bool trims)
{
	json_t *result = json_load_file(out, 0, NULL);
	const json_t *fabric = at(result, "with_faults", "fabric");

	assert_non_null(result);
	assert_true(json_is_true(json_object_get(result, "pass")));
	assert_string_equal(json_string_value(at(result, "config", "on")), "lab");
	assert_int_equal(json_is_true(at(result, "config", "trims")), trims);
	if (trims)
		assert_true(json_integer_value(json_object_get(fabric, "trimmed")) +
				    json_integer_value(json_object_get(fabric, "marked")) >
			    0);
	json_decref(result);
}

/*
 * Whole, with MRC_ROUNDS, or short: three times as fast and with as few steps as the faults allow,
 * the last words of a command line.
 */
static bool is_whole(void)
{
	return test_rounds(1) > 1;
}

#define LAB_FLAGS                                                                            \
	"--on", "lab", "--plain", "--ranks", "4", "--planes", "2", "--paths", "2", "--pace", \
		is_whole() ? "20M" : "60M"
#define LAB_STEPS(least) is_whole() ? NULL : "--steps", least

DEMO_TEST(runs_in_the_lab)
{
	pid_t pid = START("demo", LAB_FLAGS, "--script", "t1,reboot,incast", "--out", out,
			  LAB_STEPS("25"));
	int status = wait_for(pid);

	skip_without_lab(status);
	if (status)
		fail_msg("status %d:\n%s", status, said());
	assert_said("kernel SRv6, switches that trim and mark");
	assert_lab_result(true);
	assert_clean();
	assert_no_lab(pid);
}

/* In a user namespace no program can be loaded into the switches. */
DEMO_TEST(runs_in_the_lab_without_root)
{
	int status = wait_for(START("demo", LAB_FLAGS, "--on", "rootless", "--no-tcp", "--script",
				    "t1,port", "--out", out, LAB_STEPS("18")));

	skip_without_lab(status);
	if (status)
		fail_msg("status %d:\n%s", status, said());
	assert_said("without root, switches neither trim nor mark");
	assert_lab_result(false);
	assert_clean();
}

DEMO_TEST(takes_its_lab_along_when_it_is_killed)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	char command[128];
	int there = 0;
	pid_t pid;

	if (system("unshare -n true 2>/dev/null") != 0)
		test_skip("no right to make network namespaces");
	pid = START("demo", LAB_FLAGS, "--no-tcp", "--script", "t1", "--out", out);
	find_rank();
	kill(pid, SIGKILL);
	assert_int_equal(wait_for(pid), -SIGKILL);
	snprintf(command, sizeof(command), "ip netns | grep -q '^mrc-demo%d-'", (int)pid);
	for (int i = 0; i < 1200 && there == 0; i++) {
		there = system(command);
		nanosleep(&pause, NULL);
	}
	assert_true(there != 0);
}

/* The verdict is not taken on trust: without the ICRC corruption must make the demo fail. */
DEMO_TEST(fails_when_corruption_goes_unnoticed)
{
	pid_t pid;

	setenv("MRC_ICRC", "off", 1);
	pid = START("demo", "--on", "loopback", "--plain", "--no-tcp", "--ranks", "2", "--planes",
		    "2", "--pace", "400M", "--script", "corrupt", "--steps", "30", "--out", out);
	unsetenv("MRC_ICRC");
	assert_int_equal(wait_for(pid), 1);
	assert_said("FAIL  ");
	assert_clean();
}

DEMO_TEST(is_interrupted_cleanly)
{
	pid_t pid = START("demo", "--on", "loopback", "--plain", "--ranks", "2", "--pace", "10M",
			  "--out", out);
	pid_t rank = find_rank();

	kill(pid, SIGINT);
	assert_int_equal(wait_for(pid), 1);
	assert_said("interrupted (Interrupt)");
	assert_true(is_gone(rank));
	assert_clean();
}

DEMO_TEST(takes_its_processes_along_when_it_is_killed)
{
	pid_t pid = START("demo", "--on", "loopback", "--plain", "--ranks", "2", "--pace", "10M",
			  "--out", out);
	pid_t rank = find_rank();

	kill(pid, SIGKILL);
	assert_int_equal(wait_for(pid), -SIGKILL);
	assert_true(is_gone(rank));
}

DEMO_TEST(names_a_rank_that_died)
{
	pid_t pid = START("demo", "--on", "loopback", "--plain", "--ranks", "2", "--pace", "10M",
			  "--out", out);

	kill(find_rank(), SIGKILL);
	assert_int_equal(wait_for(pid), 1);
	assert_said("was killed by signal 9");
	assert_said("FAIL  fault-free run: rank ");
	assert_clean();
}

DEMO_TEST(prints_json_on_stdout_only)
{
	char command[512];
	json_t *result;

	snprintf(command, sizeof(command),
		 "'%s' demo --on loopback --json --no-tcp --ranks 2 --planes 2 --pace 400M "
		 "--script t1 --steps 20 "
		 "--out %s >%s 2>/dev/null",
		 test_arg(0), out, log_path);
	assert_int_equal(system(command), 0);
	result = json_load_file(log_path, 0, NULL);
	assert_non_null(result);
	assert_true(json_is_null(json_object_get(result, "tcp")));
	json_decref(result);
}

TEST_WITH(make_dir, remove_dir, mrc, explains_itself)
{
	assert_int_equal(wait_for(START("--help")), 0);
	assert_said("demo");
	assert_int_equal(wait_for(START("--version")), 0);
	assert_said("mrc ");
	assert_int_equal(wait_for(START("dmeo")), 2);
	assert_said("mrc: dmeo: no such verb; did you mean demo?");
	assert_int_equal(wait_for(START("demo", "--help")), 0);
	assert_said("--script LIST");
}

DEMO_TEST(refuses_bad_command_lines)
{
	static const struct {
		const char *flag, *value, *says;
	} bad[] = {
		{"--on", "mars", "--on mars: want lab, rootless or loopback"},
		{"--ranks", "1", "--ranks 1: want a number from 2 to 32"},
		{"--pace", "fast", "--pace fast: want bits per second"},
		{"--script", "plan", "--script plan: no such fault; did you mean plane?"},
		{"--steps", "3", "--steps 3: want at least"},
		{"--out", "/nowhere/r.json", "--out /nowhere/r.json: No such file"},
		{"--frob", "1", "--frob: no such flag"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(wait_for(START("demo", (char *)(uintptr_t)bad[i].flag,
						(char *)(uintptr_t)bad[i].value)),
				 2);
		assert_said(bad[i].says);
		assert_clean();
	}
}
