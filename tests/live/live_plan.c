/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_plan.c - `mrc plan` as a program: what it prints and writes, how it fails, and whether ip(8)
 * and yanglint take what it writes.
 *
 * Arguments: the program mrc, and docs/plan.md. MRC_SONIC_YANG names a folder of SONiC's YANG
 * modules, if there is one.
 */
#include "support/netns.h"
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAID_MAX 65536

static char folder[64];

static int plan_setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/softmrc-live-plan-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int plan_teardown(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

#define PLAN_TEST(name) TEST_WITH(plan_setup, plan_teardown, mrc_plan, name)

/* Runs `mrc plan ...`, stdout and stderr as one, and returns the exit status. */
static int plan(char said[SAID_MAX], const char *words)
{
	char command[1024];
	size_t len;
	FILE *from;
	int status;

	snprintf(command, sizeof(command), "%s plan %s 2>&1", test_arg(0), words);
	from = popen(command, "r");
	assert_non_null(from);
	len = fread(said, 1, SAID_MAX - 1, from);
	said[len] = '\0';
	status = pclose(from);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void says(const char *words, int status, const char *what)
{
	char said[SAID_MAX];

	assert_int_equal(plan(said, words), status);
	if (!strstr(said, what))
		fail_msg("mrc plan %s said:\n%swhere is: %s", words, said, what);
}

PLAN_TEST(prints_the_table)
{
	says("paper", 0, "6,144");
	says("paper", 0, "131,072");
	says("paper --against none", 0, "a NIC");
	says("--show-rates", 0, "[failures]");
	says("--help", 0, "examples:");
}

/* The user's page shows what the command prints, to the letter. */
PLAN_TEST(page_is_up_to_date)
{
	static char said[SAID_MAX], page[SAID_MAX];
	FILE *from = fopen(test_arg(1), "r");
	char *rest = said, *line, wanted[256];

	assert_non_null(from);
	page[fread(page, 1, sizeof(page) - 1, from)] = '\0';
	fclose(from);
	assert_int_equal(plan(said, "paper"), 0);
	while ((line = strsep(&rest, "\n"))) {
		snprintf(wanted, sizeof(wanted), "\n    %s\n", line);
		if (*line && !strstr(page, wanted))
			fail_msg("docs/plan.md has no line: %s", line);
	}
}

PLAN_TEST(names_what_is_wrong)
{
	says("", 2, "want a TOPOLOGY");
	says("papper", 1, "did you mean paper");
	says("lab --emit sonik", 2, "did you mean sonic");
	says("lab --emit sonic --node host1", 1, "sonic is for switches");
	says("lab --emit sonic", 1, "want --out DIR");
	says("lab --emit frr --yang /tmp", 2, "for --emit sonic only");
	says("lab --emit sonic --trim sideways", 2, "want symmetric or asymmetric");
	says("lab --rates /no/such/file", 1, "/no/such/file: No such file");
	says("lab --emit svg --out /proc/no", 1, "/proc/no");
}

PLAN_TEST(prints_json)
{
	char said[SAID_MAX];
	json_t *root;

	assert_int_equal(plan(said, "paper --json"), 0);
	root = json_loads(said, 0, NULL);
	assert_non_null(root);
	assert_i_eq(json_integer_value(json_object_get(json_object_get(root, "plan"), "switches")),
		    6144);
	json_decref(root);
}

PLAN_TEST(takes_rates_from_a_file)
{
	char words[128], command[128];

	snprintf(command, sizeof(command), "printf '[price]\\nswitch = 1000\\n' > %s/r.toml",
		 folder);
	assert_int_equal(system(command), 0);
	snprintf(words, sizeof(words), "paper --json --rates %s/r.toml", folder);
	says(words, 0, "\"switch_usd\": 6144000.0,");
	snprintf(command, sizeof(command), "printf '[price]\\nswitch = -1\\n' > %s/r.toml", folder);
	assert_int_equal(system(command), 0);
	says(words, 1, "r.toml:2: price.switch = -1: want a number");
}

static size_t count_files(const char *path, const char *suffix)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	char below[512];
	size_t n = 0;

	while (dir && (d = readdir(dir))) {
		size_t len = strlen(d->d_name), end = strlen(suffix);

		snprintf(below, sizeof(below), "%s/%s", path, d->d_name);
		if (d->d_type == DT_DIR && d->d_name[0] != '.')
			n += count_files(below, suffix);
		n += d->d_type == DT_REG && len > end && strcmp(d->d_name + len - end, suffix) == 0;
	}
	if (dir)
		closedir(dir);
	return n;
}

static void emit(const char *words)
{
	char all[256], said[SAID_MAX];

	snprintf(all, sizeof(all), "%s --out %s", words, folder);
	if (plan(said, all))
		fail_msg("mrc plan %s: %s", all, said);
}

PLAN_TEST(writes_a_file_for_each_node)
{
	emit("lab --emit iproute");
	emit("lab --emit softmrc");
	emit("lab --emit sonic --trim symmetric");
	emit("lab --emit frr");
	emit("lab --emit eos --plain-routes");
	emit("lab --emit svg");
	emit("lab --emit frr --node plane0.t0-0");
	assert_u_eq(count_files(folder, ".ip"), 24);
	assert_u_eq(count_files(folder, ".toml"), 8);
	assert_u_eq(count_files(folder, ".config_db.json"), 16);
	assert_u_eq(count_files(folder, ".frr.conf"), 16);
	assert_u_eq(count_files(folder, ".eos.cfg"), 16);
	assert_u_eq(count_files(folder, ".svg"), 1);
	assert_u_eq(count_files(folder, ".new"), 0);
}

/* As on a full disk: no file has room for a byte, or not for all of its own. */
static void has_no_room(const char *words, const char *blocks, const char *file)
{
	char command[1024], wanted[256], said[SAID_MAX];
	size_t len;
	FILE *from;

	snprintf(command, sizeof(command),
		 "trap '' XFSZ; ulimit -f %s; %s plan %s --out %s/full 2>&1", blocks, test_arg(0),
		 words, folder);
	from = popen(command, "r");
	assert_non_null(from);
	len = fread(said, 1, SAID_MAX - 1, from);
	said[len] = '\0';
	assert_int_equal(WEXITSTATUS(pclose(from)), 1);
	snprintf(wanted, sizeof(wanted), "mrc plan: %s/full/%s: File too large\n", folder, file);
	assert_string_equal(said, wanted);
}

PLAN_TEST(writes_a_file_whole_or_not_at_all)
{
	char words[128], command[256];

	has_no_room("lab --emit frr", "0", "plane0/t0-0.frr.conf");
	has_no_room("lab --emit svg", "2", "lab.svg"); /* half of it */
	assert_u_eq(count_files(folder, ""), 0);
	snprintf(words, sizeof(words), "lab --emit svg --out %s/full", folder);
	says(words, 0, "1 file in ");
	snprintf(command, sizeof(command), "cp %s/full/lab.svg %s/before", folder, folder);
	assert_int_equal(system(command), 0);
	has_no_room("lab --emit svg", "2", "lab.svg");
	assert_u_eq(count_files(folder, ""), 2);
	snprintf(command, sizeof(command), "cmp %s/full/lab.svg %s/before", folder, folder);
	assert_int_equal(system(command), 0);
}

/* A fabric of 131,072 hosts is written as it goes, and can be stopped; no file is left half
 * done. */
PLAN_TEST(can_be_interrupted)
{
	struct timespec moment = {.tv_nsec = 20000000};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(98);
		execl(test_arg(0), "mrc", "plan", "paper", "--emit", "softmrc", "--out", folder,
		      (char *)NULL);
		_exit(99);
	}
	while (count_files(folder, ".toml") < 10 && waitpid(pid, &status, WNOHANG) == 0)
		nanosleep(&moment, NULL);
	kill(pid, SIGINT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_u_between(count_files(folder, ".toml"), 10, 131071);
	assert_u_eq(count_files(folder, ".new"), 0);
}

/* Whether the kernel has what a list needs; the kind of link that SIDs can hang on. */
static const char *sid_device(void)
{
	static const char *const kinds[] = {"dummy", "ifb"};
	char command[128];

	for (size_t i = 0; i < 2; i++) {
		snprintf(command, sizeof(command), "ip link add try0 type %s 2>/dev/null",
			 kinds[i]);
		if (system(command) == 0)
			return system("ip link del try0") == 0 ? kinds[i] : NULL;
	}
	return NULL;
}

static bool seg6local_works(const char *device)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "ip link add try0 type %s && ip link set try0 up && ip -6 route add fc00::/48 "
		 "encap seg6local action End flavors next-csid lblen 32 nflen 16 dev try0 "
		 "2>/dev/null; s=$?; ip link del try0; exit $s",
		 device);
	return system(command) == 0;
}

/* The list of a node runs without error where its ports are. REQ(plan.emit.iproute) */
static void run_list(const char *node, const char *path, const char *const ports[],
		     const char *device)
{
	char words[160], command[256];

	for (size_t i = 0; ports[i]; i++) {
		snprintf(command, sizeof(command), "link add %s type veth peer name %s.x", ports[i],
			 ports[i]);
		test_ip(command);
	}
	snprintf(words, sizeof(words), "tiny --emit iproute --node %s --sid-device %s", node,
		 device);
	emit(words);
	snprintf(command, sizeof(command), "-batch %s/%s.ip", folder, path);
	test_ip(command);
	for (size_t i = 0; ports[i]; i++) {
		snprintf(command, sizeof(command), "link del %s", ports[i]);
		test_ip(command);
	}
}

PLAN_TEST(ip_takes_its_lists)
{
	const char *why, *device;

	if (!test_netns(&why))
		test_skip(why);
	device = sid_device();
	if (!device)
		test_skip("neither dummy nor ifb devices in this kernel");
	if (!seg6local_works(device))
		test_skip("no seg6local with next-csid in this kernel, or ip(8) does not know it");
	run_list("host2", "hosts/t0-1/host2", (const char *[]){"e0", "e1", NULL}, device);
	run_list("plane1.t0-0", "plane1/t0-0", (const char *[]){"d0", "d1", "u0", "u1", NULL},
		 device);
}

/* REQ(plan.emit.sonic) */
PLAN_TEST(yang_modules_of_sonic_allow_it)
{
	const char *yang = getenv("MRC_SONIC_YANG");
	char words[512];

	says("lab --emit sonic --node plane0.t0-0 --yang /no/such", 1, "--yang /no/such: ");
	if (!yang)
		test_skip("MRC_SONIC_YANG names no folder of SONiC's YANG modules");
	snprintf(words, sizeof(words), "lab --emit sonic --yang %s", yang);
	emit(words);
	snprintf(
		words, sizeof(words),
		"paper --emit sonic --node plane7.t0-511 --trim symmetric --plain-routes --yang %s",
		yang);
	emit(words);
	snprintf(words, sizeof(words), "threetier --emit sonic --node plane0.t2-1023 --yang %s",
		 yang);
	emit(words);
}

/* Runs a command with the name of a lab of this test's own in it; false: it failed. */
static bool with_lab(const char *format)
{
	char command[512], name[24];

	snprintf(name, sizeof(name), "plan%d", (int)getpid());
	snprintf(command, sizeof(command), format, name, name);
	return system(command) == 0;
}

static bool lab_up(void)
{
	char command[256];

	snprintf(command, sizeof(command), "%s lab up tiny --pace 0 --name plan%d >/dev/null 2>&1",
		 test_arg(0), (int)getpid());
	return geteuid() == 0 && system(command) == 0;
}

static void lab_down(void)
{
	char command[256];

	snprintf(command, sizeof(command), "%s lab down plan%d >/dev/null 2>&1", test_arg(0),
		 (int)getpid());
	assert_int_equal(system(command), 0);
}

/* A running lab is as planned, and what is done to it is named. REQ(plan.diff) */
PLAN_TEST(diff_holds_a_running_lab_against_the_plan)
{
	char words[64], said[3][SAID_MAX];
	int status[3];
	bool changed;

	if (!lab_up())
		test_skip("no lab can be made here (mrc lab up tiny says why)");
	snprintf(words, sizeof(words), "diff plan%d", (int)getpid());
	status[0] = plan(said[0], words);
	changed = with_lab("ip -n mrc-%s-plane0.t0-0 -6 route del fcbb:bb00:b001::/48 && "
			   "ip -n mrc-%s-plane1.t1-1 -6 route add fc00:9::/48 via fe80::1 dev d1");
	status[1] = plan(said[1], words);
	snprintf(words, sizeof(words), "diff plan%d --node host0", (int)getpid());
	status[2] = plan(said[2], words);
	lab_down();
	assert_true(changed);
	assert_int_equal(status[0], 0);
	assert_string_equal(said[0], "12 nodes as planned\n");
	assert_int_equal(status[1], 1);
	assert_non_null(strstr(said[1], "missing   fcbb:bb00:b001::/48 (plane0.t1-1)"));
	assert_non_null(strstr(said[1], "extra     fc00:9::/48  running: via fe80::1 dev d1"));
	assert_non_null(strstr(said[1], "2 differences at 2 of 12 nodes"));
	assert_int_equal(status[2], 0);
}

PLAN_TEST(diff_of_saved_tables)
{
	char command[256], words[128];

	snprintf(command, sizeof(command),
		 "mkdir -p %s/plane0 && echo '[]' > %s/plane0/t1-0.routes.json", folder, folder);
	assert_int_equal(system(command), 0);
	snprintf(words, sizeof(words), "diff --dir %s --topology tiny --node plane0.t1-0", folder);
	says(words, 1, "missing   fcbb:bb00:b000::/48  plan: uN");
	snprintf(words, sizeof(words), "diff --dir %s --topology tiny --node plane0.t1-1", folder);
	says(words, 2, "plane0/t1-1.routes.json: No such file");
	snprintf(words, sizeof(words), "diff --dir %s", folder);
	says(words, 2, "--dir wants --topology");
	says("diff no-such-lab", 2, "no-such-lab");
}
