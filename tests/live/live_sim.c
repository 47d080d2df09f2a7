/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_sim.c - `mrc sim` as a command: small runs, their files, what is refused, what a signal
 * leaves behind, and a sweep that goes on where it was interrupted.
 *
 * Arguments: the program mrc, docs/simulator.md.
 */
#include "support/test.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX 144
#define SAID_MAX 65536

/* A small fabric, so that runs are short under sanitizers too. */
#define SMALL                                                                                \
	"--set", "topology.planes=2", "--set", "topology.hosts_per_t0=4", "--set",           \
		"topology.t0s=4", "--set", "topology.t1s=4", "--set", "topology.t0_ports=8", \
		"--set", "topology.t1_ports=4"

static char folder[64];

static int sim_setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/live_sim.XXXXXX");
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static int sim_teardown(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return chdir("/") || system(command);
}

#define SIM_TEST(verb, name) TEST_WITH(sim_setup, sim_teardown, mrc_sim_##verb, name)

static pid_t start(const char *out, char *const *words)
{
	char *argv[WORDS_MAX] = {(char *)(uintptr_t)test_arg(0), (char *)(uintptr_t) "sim"};
	pid_t pid;

	assert_non_null(argv[0]);
	for (int i = 0; words[i]; i++)
		argv[i + 2] = words[i];
	pid = fork();
	if (pid == 0) {
		if (!freopen(out, "w", stdout))
			_exit(126);
		dup2(1, 2);
		execv(argv[0], argv);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

static int finish(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#define RUN(...) finish(start("said", (char *[]){__VA_ARGS__, NULL}))

static void read_file(const char *path, char text[SAID_MAX])
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, SAID_MAX - 1, f) : 0;

	text[n] = '\0';
	if (f)
		fclose(f);
}

static void assert_in(const char *path, const char *part)
{
	static char text[SAID_MAX];

	read_file(path, text);
	if (!strstr(text, part))
		fail_msg("no <%s> in %s:\n%s", part, path, text);
}

static size_t lines_of(const char *path)
{
	static char text[SAID_MAX];
	size_t n = 0;

	read_file(path, text);
	for (const char *c = text; *c; c++)
		n += *c == '\n';
	return n;
}

static double figure(const char *path, const char *name, const char *member)
{
	json_t *json = json_load_file(path, 0, NULL), *at;
	double value;

	assert_non_null(json);
	at = json_object_get(json, name);
	at = member ? json_object_get(at, member) : at;
	if (!json_is_number(at))
		fail_msg("%s has no number %s", path, name);
	value = json_number_value(at);
	json_decref(json);
	return value;
}

SIM_TEST(run, a_dash_is_standard_output)
{
	assert_i_eq(RUN("run", "permutation", SMALL, "--json=-", "--quiet"), 0);
	assert_u_eq((uint64_t)figure("said", "hosts", NULL), 16);
	assert_int_equal(access("-", F_OK), -1);
}

/* Nothing else is printed there. */
SIM_TEST(figure, a_dash_is_standard_output)
{
	json_t *made;

	assert_i_eq(RUN("figure", "9b", "--quick", "--quiet", "--json", "-"), 0);
	made = json_load_file("said", 0, NULL);
	assert_non_null(made);
	json_decref(made);
	assert_int_equal(access("-", F_OK), -1);
}

SIM_TEST(run, writes_every_figure)
{
	static const char *const names[] = {
		"hosts",      "planes",		"flows",	"flows_unfinished",
		"packets",    "hops",		"trims",	"ecn_marks",
		"drops",      "retransmits",	"simulated_us", "wall_s",
		"hops_per_s", "peak_rss_bytes", "ideal_us",	"seed",
		"threads"};

	assert_i_eq(RUN("run", "permutation", SMALL, "--json=r.json", "--quiet"), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		figure("r.json", names[i], NULL);
	assert_u_eq((uint64_t)figure("r.json", "hosts", NULL), 16);
	assert_u_eq((uint64_t)figure("r.json", "flows_unfinished", NULL), 0);
	assert_true(figure("r.json", "fct_us", "p50") <= figure("r.json", "fct_us", "p99"));
	assert_true(figure("r.json", "fct_us", "p99") <= figure("r.json", "fct_us", "p100"));
	assert_in("said", "16 flows, 0 unfinished");
}

/* Per-flow times and what happened at every hop, with a link that flaps. */
/* With as many --set as may be, a flag that stands for a key counts as well. */
SIM_TEST(run, takes_flags_behind_all_changes)
{
	enum { CHANGES = 64 };
	char *words[2 * CHANGES + 7] = {"run",	    "check-lone-flow", "--quiet",
					"--json=r", "--seed",	       "5"};

	for (int i = 0; i < CHANGES; i++) {
		words[6 + 2 * i] = "--set";
		words[7 + 2 * i] = "seed=4";
	}
	assert_i_eq(finish(start("said", words)), 0);
	assert_true(figure("r", "seed", NULL) == 5);
}

SIM_TEST(run, threads_change_nothing)
{
	static const char *const threads[] = {"1", "2", "3"};
	json_t *one = NULL, *json;

	for (int i = 0; i < 3; i++) {
		assert_i_eq(RUN("run", "fault-flap", "--quiet", "--set", "workload.bytes=1M",
				"--flows", i ? "other.csv" : "first.csv", "--json=r.json",
				"--threads", (char *)(uintptr_t)threads[i]),
			    0);
		json = json_load_file("r.json", 0, NULL);
		assert_non_null(json);
		if (!i) {
			one = json;
			assert_u_eq(lines_of("first.csv"), 65);
			continue;
		}
		assert_int_equal(system("cmp first.csv other.csv"), 0);
		assert_string_equal(json_string_value(json_object_get(one, "hash")),
				    json_string_value(json_object_get(json, "hash")));
		json_decref(json);
	}
	json_decref(one);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

SIM_TEST(run, names_who_waits_for_whom)
{
	write_file("wait.csv", "src,dst,bytes,after\n0,1,5,2\n1,0,5,1\n");
	write_file("wait.toml", "[topology]\nbase = \"tiny\"\n[[workload]]\nkind = \"flows\"\n"
				"file = \"wait.csv\"\n");
	assert_i_eq(RUN("run", "./wait.toml"), 2);
	assert_in("said", "waits for");
}

SIM_TEST(run, writes_series_and_capture)
{
	assert_i_eq(RUN("run", "permutation", SMALL, "--quiet", "--series", "s.csv", "--evs",
			"e.csv", "--capture", "c.pcapng", "--set",
			"output.capture_links=[\"host0.e0\"]", "--set",
			"output.links=[\"host0.e0\",\"plane1.t0-0.d1\"]"),
		    0);
	assert_in("s.csv", "time_ns,link,up,queue_bytes");
	assert_in("s.csv", ",plane1.t0-0.d1,1,");
	assert_true(lines_of("s.csv") > 10);
	assert_in("e.csv", ",tx_retransmits,");
	assert_true(lines_of("e.csv") > 5);
}

SIM_TEST(run, refuses_what_is_wrong)
{
	assert_i_eq(RUN("run", "permutaton"), 2);
	assert_in("said", "unknown scenario; did you mean permutation?");
	assert_i_eq(RUN("run", "./no.toml"), 2);
	assert_in("said", "./no.toml: cannot be read");
	assert_i_eq(RUN("run", "permutation", "--set", "mrc.evs=x"), 2);
	assert_in("said", "--set: mrc.evs = x: expected a number");
	assert_i_eq(RUN("run", "permutation", "--flows", "/no/such/folder/f"), 2);
	assert_in("said", "/no/such/folder/f: cannot be written: No such file");
	assert_i_eq(RUN("run", "permutation", SMALL, "--series", "s", "--set",
			"output.links=[\"host0.e9\"]"),
		    2);
	assert_in("said", "output.links: host0.e9: ");
}

SIM_TEST(run, refuses_what_does_not_fit)
{
	assert_i_eq(RUN("run", "paper-permutation", "--memory", "1G"), 2);
	assert_in("said", "paper-permutation: needs up to ");
	assert_in("said", "GiB");
	assert_in("said", "1 GiB are allowed");
}

SIM_TEST(run, unfinished_flows_are_a_failure)
{
	assert_i_eq(RUN("run", "permutation", SMALL, "--end", "2us", "--json=r.json"), 1);
	assert_true(figure("r.json", "flows_unfinished", NULL) > 0);
	assert_in("r.json", "\"partial\": true");
}

SIM_TEST(run, expectations)
{
	assert_i_eq(RUN("run", "check-lone-flow", "--expect", "--quiet"), 0);
	assert_in("said", "holds    fct_us.p100 = 169.77");
	assert_i_eq(
		RUN("run", "check-lone-flow", "--expect", "--quiet", "--set", "workload.bytes=1M"),
		1);
	assert_in("said", "VIOLATED fct_us.p100");
}

/* Rows of docs/simulator.md that take no time, by their own bands. A sample has one of RoCE. */
SIM_TEST(run, rows_that_are_quick)
{
	static const char *const rows[] = {"check-line-rate",	    "check-port-lost",
					   "check-ring-one-t0",	    "check-ring",
					   "check-victim",	    "check-degraded",
					   "check-incast-ecn",	    "check-all-to-all",
					   "check-roce-victim-pfc", "check-degraded-oblivious",
					   "check-blackhole",	    "check-blackhole-oblivious"};
	static char said[SAID_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i += test_takes_sample() ? 4 : 1) {
		int status = RUN("run", (char *)(uintptr_t)rows[i], "--expect", "--quiet");

		read_file("said", said);
		if (status != 0 || !strstr(said, "holds"))
			fail_msg("%s: %d\n%s", rows[i], status, said);
	}
}

/* A dead plane costs its share, however many destinations there are: here a tenth of the preset. */
SIM_TEST(run, many_destinations)
{
	static char said[SAID_MAX];
	int status = RUN("run", "check-many-destinations", "--expect", "--quiet", "--set",
			 "workload.group_size=1024");

	read_file("said", said);
	if (status != 0 || !strstr(said, "holds"))
		fail_msg("%d\n%s", status, said);
}

/*
 * The same bits from one process, and from two that mpirun starts; faults in between. What Open MPI
 * itself never frees is not ours to report.
 */
static void ranks_change_nothing(const char *scenario, const char *change)
{
	static const char form[] =
		"ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 "
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe "
		"-np 2 %s sim run %s --quiet --set workload.bytes=1M --set %s --json=2.json "
		"--flows 2.csv > said 2>&1";
	char command[600];
	json_t *one, *two;

	if (system("mpirun --version > version 2>&1"))
		test_skip("there is no mpirun");
	assert_i_eq(RUN("run", (char *)(uintptr_t)scenario, "--quiet", "--set", "workload.bytes=1M",
			"--set", (char *)(uintptr_t)change, "--json=1.json", "--flows", "1.csv"),
		    0);
	snprintf(command, sizeof(command), form, test_arg(0), scenario, change);
	if (system(command)) {
		assert_in("said", "MPI");
		test_skip("built without MPI");
	}
	assert_int_equal(system("cmp 1.csv 2.csv"), 0);
	one = json_load_file("1.json", 0, NULL);
	two = json_load_file("2.json", 0, NULL);
	assert_string_equal(json_string_value(json_object_get(one, "hash")),
			    json_string_value(json_object_get(two, "hash")));
	assert_true(json_equal(json_object_get(one, "roce"), json_object_get(two, "roce")) ||
		    !json_object_get(one, "roce"));
	json_decref(one);
	json_decref(two);
}

SIM_TEST(run, ranks_change_nothing)
{
	ranks_change_nothing("fault-flap", "seed=1");
}

/* A pause may cross ranks, and each has to know of dead links as soon as the other. */
SIM_TEST(run, ranks_change_nothing_of_roce)
{
	ranks_change_nothing("check-roce-reconverge", "pfc.xoff=20k");
}

static void wait_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* A run of minutes is interrupted once it has written something. */
SIM_TEST(run, a_signal_leaves_a_valid_result)
{
	pid_t pid = start("said", (char *[]){"run", "permutation", "--set", "workload.bytes=1G",
					     "--json=r.json", "--evs", "e.csv", "--set",
					     "output.every=1us", "--quiet", NULL});
	struct stat st = {0};

	for (int i = 0; i < 600 && (stat("e.csv", &st) || st.st_size == 0); i++)
		wait_ms(100);
	kill(pid, SIGINT);
	assert_i_eq(finish(pid), 3);
	assert_in("r.json", "\"state\": \"interrupted\"");
	assert_true(figure("r.json", "flows_unfinished", NULL) > 0);
}

SIM_TEST(compare, two_results)
{
	assert_i_eq(RUN("run", "permutation", SMALL, "--json=a.json", "--quiet"), 0);
	assert_i_eq(RUN("run", "permutation", SMALL, "--json=b.json", "--quiet", "--set",
			"workload.bytes=2M"),
		    0);
	assert_i_eq(RUN("compare", "a.json", "b.json"), 0);
	assert_in("said", "completion P100 (us)");
	assert_in("said", "workload.0.bytes  1048576  2097152");
	assert_in("said", "ratio");
	assert_i_eq(RUN("compare", "a.json", "b.json", "--json"), 0);
	assert_in("said", "\"ratio\"");
	assert_i_eq(RUN("compare", "a.json", "no.json"), 2);
	assert_in("said", "no.json");
	assert_i_eq(RUN("compare", "a.json"), 2);
}

SIM_TEST(sweep, keeps_what_is_finished)
{
	assert_i_eq(RUN("sweep", "permutation", SMALL, "--vary", "seed=1,2", "--dir", "d"), 0);
	assert_u_eq(lines_of("d/sweep.csv"), 3);
	assert_int_equal(unlink("d/seed=2.json"), 0);
	assert_int_equal(system("cp d/seed=1.json before"), 0);
	assert_i_eq(RUN("sweep", "permutation", SMALL, "--vary", "seed=1,2,3", "--dir", "d"), 0);
	/* wall_s and the like would be others had it been run again. */
	assert_int_equal(system("cmp before d/seed=1.json"), 0);
	assert_u_eq(lines_of("d/sweep.csv"), 4);
	assert_in("said", "3 of 3: seed=");
	assert_i_eq(RUN("sweep", "incast", "--vary", "seed=1,2", "--dir", "d"), 2);
	assert_in("said", "is the folder of another sweep");
}

/* As if disks were full: no file that begins from now on has room for more. */
static void leave_room(rlim_t bytes)
{
	struct rlimit room;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &room), 0);
	room.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &room), 0);
}

SIM_TEST(sweep, keeps_no_result_that_is_not_whole)
{
	leave_room(1000);
	assert_i_eq(RUN("sweep", "permutation", SMALL, "--vary", "seed=1", "--dir", "d"), 2);
	leave_room(RLIM_INFINITY);
	assert_in("said", "seed=1 did not run: see d/seed=1.log");
	assert_in("d/seed=1.log", "d/seed=1.part: cannot be written: File too large\n");
	assert_i_eq(RUN("sweep", "permutation", SMALL, "--vary", "seed=1", "--dir", "d"), 0);
	assert_in("said", "1 of 1: seed=1");
	assert_u_eq(lines_of("d/sweep.csv"), 2);
}

SIM_TEST(sweep, writes_its_table_whole_or_not_at_all)
{
	assert_i_eq(RUN("sweep", "permutation", SMALL, "--vary", "seed=1", "--dir", "d"), 0);
	assert_int_equal(system("cp d/sweep.csv before"), 0);
	leave_room(100); /* sweep.json is there */
	assert_i_eq(RUN("sweep", "permutation", SMALL, "--vary", "seed=1", "--dir", "d"), 2);
	leave_room(RLIM_INFINITY);
	assert_int_equal(system("cmp before d/sweep.csv"), 0);
}

SIM_TEST(run, names_the_file_that_has_no_room)
{
	static const char *const key[] = {"flows", "series", "evs", "capture"};
	char set[4][64], wanted[96];

	for (size_t i = 0; i < 4; i++) {
		snprintf(set[i], sizeof(set[i]), "output.%s=%s.out", key[i], key[i]);
		snprintf(wanted, sizeof(wanted),
			 "mrc sim run: %s.out: cannot be written: File too large", key[i]);
		leave_room(200);
		assert_i_eq(RUN("run", "permutation", SMALL, "--quiet", "--set", set[i], "--set",
				"output.capture_links=[\"host0.e0\"]"),
			    1);
		leave_room(RLIM_INFINITY);
		assert_in("said", wanted);
	}
}

SIM_TEST(figure, names_the_file_that_has_no_room)
{
	leave_room(500);
	assert_i_eq(RUN("figure", "9b", "--quick", "--quiet", "--json=f.json", "--markdown=f.md",
			"--html=f.html"),
		    1);
	leave_room(RLIM_INFINITY);
	assert_in("said", "mrc sim figure: f.json: cannot be written: File too large");
	assert_in("said", "mrc sim figure: f.md: cannot be written: File too large");
	assert_in("said", "mrc sim figure: f.html: cannot be written: File too large");
}

SIM_TEST(list, shows_scenarios_and_keys)
{
	assert_i_eq(RUN("list"), 0);
	assert_in("said", "paper-allreduce");
	assert_i_eq(RUN("list", "permutation"), 0);
	assert_in("said", "kind = \"permutation\"");
	assert_i_eq(RUN("list", "--json"), 0);
	assert_in("said", "\"hosts\": 131072");
	assert_i_eq(RUN("keys"), 0);
	assert_in("said", "[[fault]]");
	assert_i_eq(RUN("lisst"), 2);
	assert_in("said", "did you mean list");
}

/* ---- jobs and days ---- */

#define JOB                                                                                    \
	"[topology]\nbase = \"pod\"\n[[job]]\ndp = 4\nplacement = \"strided\"\nstride = 256\n" \
	"steps = 9\nforward = \"20us\"\nbackward = \"40us\"\ndp_bytes = \"1M\"\nbuckets = 1\n" \
	"[goodput]\nsamples = 1\ntrials = 2\nhorizon = \"2d\"\ngpus = [\"512\", \"2048\"]\n"   \
	"reconverge = [\"1s\"]\n[[rate]]\nof = \"gpu\"\nper_year = 1\n"                        \
	"[[rate]]\nof = \"host-t0\"\nper_year = 5\nrepair = \"30s\"\n"

static void write_job(const char *more)
{
	FILE *f = fopen("job.toml", "w");

	assert_non_null(f);
	fprintf(f, "%s%s", JOB, more);
	assert_int_equal(fclose(f), 0);
}

SIM_TEST(goodput, measures_packets_and_goes_through_days)
{
	json_t *points, *r;

	write_job("");
	assert_i_eq(RUN("goodput", "./job.toml", "--quiet", "--json=r"), 0);
	assert_in("said", "the model against packets");
	r = json_load_file("r", 0, NULL);
	assert_non_null(r);
	points = json_object_get(r, "points");
	assert_u_eq(json_array_size(points), 4);
	for (size_t i = 0; i < 4; i++) {
		const json_t *p = json_array_get(points, i);
		double goodput = json_number_value(json_object_get(p, "goodput"));

		assert_true(goodput > 0.5 && goodput < 1);
	}
	assert_string_equal(json_string_value(json_object_get(r, "model")),
			    "step-level, fed by packet runs");
	json_decref(r);
}

SIM_TEST(goodput, refuses_what_is_wrong)
{
	write_job("[[rate]]\nof = \"t1\"\nper_year = -1\n");
	assert_i_eq(RUN("goodput", "./job.toml"), 2);
	assert_in("said", "rate.per_year = -1: expected more than 0");
	assert_i_eq(RUN("goodput", "permutation"), 2);
	assert_in("said", "has no [[job]]");
	assert_i_eq(RUN("goodput"), 2);
	assert_in("said", "expected a scenario");
}

/* A minute of faults on 32 NICs: all that is named is named rightly, the same on every machine. */
#define MAP                                                                             \
	"[[rate]]\nof = \"t0-t1\"\nper_year = 20000\nrepair = \"10s\"\n"                \
	"[[rate]]\nof = \"t1\"\nper_year = 10000\nrepair = \"10s\"\n"                   \
	"[[rate]]\nname = \"lossy\"\nof = \"host-t0\"\nkind = \"loss\"\nshare = 0.02\n" \
	"per_year = 10000\nrepair = \"1m\"\n"

static double at(const json_t *r, const char *list, size_t i, const char *key)
{
	return json_number_value(json_object_get(json_array_get(json_object_get(r, list), i), key));
}

SIM_TEST(map, names_faults_and_compares_what_is_done)
{
	json_t *r;

	write_job(MAP);
	assert_i_eq(RUN("map", "./job.toml", "--quiet", "--json=r", "--set", "goodput.fabric=lab8",
			"--set", "goodput.horizon=1m"),
		    0);
	assert_in("said", "false accusations: 0; another part named beside one at fault: 0");
	r = json_load_file("r", 0, NULL);
	assert_non_null(r);
	assert_u_eq(json_array_size(json_object_get(r, "classes")), 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(at(r, "classes", i, "missed") == 0);
	assert_true(at(r, "classes", 1, "named") == 7);
	assert_true(at(r, "classes", 3, "named") == 6);
	/* 40 ms until a probe is known to be lost, and some steps of ten. */
	assert_true(at(r, "classes", 1, "name_ms_p50") > 50 &&
		    at(r, "classes", 1, "name_ms_p50") < 120);
	/* Two cables of a T1 are dead for ten seconds of it, and are what is denied. */
	assert_true(at(r, "policies", 2, "denials") > 0);
	assert_true(at(r, "policies", 2, "wrong_denials") == 0);
	/* A plane that is denied costs less than one that loses packets. */
	assert_true(at(r, "policies", 0, "pace") < at(r, "policies", 2, "pace"));
	assert_true(at(r, "policies", 1, "pace") <= at(r, "policies", 2, "pace"));
	json_decref(r);
}

SIM_TEST(map, refuses_what_is_wrong)
{
	write_job("[[rate]]\nof = \"t1\"\nkind = \"slow\"\nshare = 0.1\nper_year = 1\n");
	assert_i_eq(RUN("map", "./job.toml", "--set", "goodput.horizon=1m"), 2);
	assert_in("said", "rate.kind: expected down, blackhole, stall or loss");
	assert_i_eq(RUN("map", "./job.toml"), 2);
	assert_in("said", "goodput.horizon: expected a day at most");
	assert_i_eq(RUN("map", "./job.toml", "--set", "goodput.fabric=threetier"), 2);
	assert_in("said", "goodput.fabric: expected two tiers");
	assert_i_eq(RUN("map", "permutation"), 2);
	assert_in("said", "has no [[job]]");
	assert_i_eq(RUN("map"), 2);
	assert_in("said", "expected a scenario");
}

SIM_TEST(run, shows_the_steps_of_a_job)
{
	write_job("");
	assert_i_eq(RUN("run", "./job.toml", "--quiet"), 0);
	assert_in("said", "1 x 1 x 4, 1");
}

SIM_TEST(hashing, is_exact_and_drawn)
{
	assert_i_eq(RUN("hashing", "--links", "2", "--flows", "2"), 0);
	assert_in("said", "1.500");
	assert_i_eq(RUN("hashing", "--links", "0"), 2);
}

/* The manual has every key as the program knows it. */
SIM_TEST(keys, stand_in_the_manual)
{
	static char manual[4 * SAID_MAX], said[SAID_MAX];
	FILE *f = fopen(test_arg(1), "r");

	assert_non_null(f);
	manual[fread(manual, 1, sizeof(manual) - 1, f)] = '\0';
	fclose(f);
	assert_i_eq(RUN("keys", "--markdown"), 0);
	read_file("said", said);
	if (!strstr(manual, said))
		fail_msg("docs/simulator.md does not end with what mrc sim keys --markdown says");
}
