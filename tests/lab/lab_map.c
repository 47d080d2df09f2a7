/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_map.c - `mrc map check` on labs of four hosts: what it says of each fault, and its exit
 * statuses.
 */
#include "fabric/ev_links.h"
#include "fabric/topology_toml.h"
#include "lab/lab.h"
#include "lab/lab_command.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Rounds of 100 ms, and times as long, for what an idle machine does at once. */
#define PATIENCE_ROUNDS 600
#define PATIENCE_FACTOR 16

#define mrc command_run
#define want command_want

static int id(void)
{
	return (int)getpid();
}

static int take_down(void **state)
{
	(void)state;
	return mrc("lab down m%d", id());
}

#define LAB_TEST(name) TEST_WITH(NULL, take_down, mrc_map_check, name)

struct expect {
	const char *target, *fault;
	const char *says; /* of the first part */
	size_t parts;	  /* lines of parts that are sick */
	uint32_t for_ms;  /* what is there now and then takes longer to be sure */
	bool needs_programs;
};

static const struct expect faults[] = {
	{"host3.plane0", "down", "host3.plane0: dead,", 1, 400, false},
	{"plane0.t0-0.t1-0", "blackhole", "plane0.t0-0.t1-0: dead,", 1, 400, false},
	{"plane0.t0-0.t1-0", "blackhole out", "plane0.t0-0.t1-0: dead out,", 1, 400, false},
	{"plane0.t0-0.t1-0", "blackhole in", "plane0.t0-0.t1-0: dead in,", 1, 400, false},
	{"host0.plane1", "blackhole in", "host0.plane1: dead in,", 1, 400, false},
	{"plane1.t1-0", "stall", "plane1.t1-0: dead,", 1, 400, false},
	{"plane1.t0-1", "stall", "plane1.t0-1: dead,", 1, 400, false},
	{"plane1.t0-1", "reboot", "plane1.t0-1: dead,", 1, 400, false},
	{"host2", "blackhole", "host2: dead,", 1, 400, false},
	{"plane1", "blackhole", "plane1: dead,", 1, 400, false},
	{"host2", "blackhole out", "host2: dead out,", 1, 400, false},
	{"host2", "blackhole in", "host2: dead in,", 1, 400, false},
	{"plane0.t0-1.t1-1", "slow 20M", "plane0.t0-1.t1-1: slow,", 1, 2000, false},
	{"host0.plane0", "slow 20M out", "host0.plane0: slow out,", 1, 2000, false},
	{"host0.plane0", "slow 20M in", "host0.plane0: slow in,", 1, 2000, false},
	{"plane0.t0-1.t1-1", "loss 20%", "plane0.t0-1.t1-1: lossy ", 1, 1000, false},
	{"host1.plane0", "swap host2.plane0",
	 "host1.plane0: wrong cable, exchanged with host2.plane0", 2, 400, false},
	{"plane0.t0-0.t1-0", "swap plane0.t0-0.t1-1",
	 "plane0.t0-0.t1-0: wrong cable, exchanged with plane0.t0-0.t1-1", 2, 400, false},
	{"plane0.t0-0.t1-1", "swap plane0.t0-1.t1-1",
	 "plane0.t0-0.t1-1: wrong cable, exchanged with plane0.t0-1.t1-1", 2, 600, false},
	{"plane1.t0-1.t1-0", "corrupt 20%", "plane1.t0-1.t1-0: corrupting ", 1, 1000, true},
	{"plane1.t0-1.t1-0", "duplicate 20%", "plane1.t0-1.t1-0: duplicating ", 1, 1000, true},
	{"plane1.t0-1.t1-0", "reorder 20%", "plane1.t0-1.t1-0: reordering ", 1, 1000, true},
};

static size_t lines(void)
{
	size_t n = 0;

	for (const char *c = command_said; *c; c++)
		n += *c == '\n';
	return n;
}

/* ---- who is accused ---- */

static bool has_link(const struct mf_topology *t, const char *name, uint32_t link)
{
	struct mf_target target;
	struct mf_error e;

	assert_true(mf_target_find(t, name, &target, &e));
	return mf_part_has(t, &target, link) || mf_part_has(t, &target, mf_link_reverse(link));
}

/* Whether all cables of what is named are at fault, as a single one of a dead switch is. */
static bool is_at_fault(const struct mf_topology *t, const struct expect *x, const char *name)
{
	const char *other = strncmp(x->fault, "swap ", 5) == 0 ? x->fault + 5 : x->target;
	struct mf_target named;
	struct mf_error e;

	if (!mf_target_find(t, name, &named, &e))
		fail_msg("%s: %s", e.value, e.what);
	for (uint32_t i = 0; i < named.links; i++) {
		uint32_t link = mf_target_link(t, &named, i);

		if (!has_link(t, x->target, link) && !has_link(t, other, link))
			return false;
	}
	return true;
}

/* The last one may have no line feed. */
static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* What is not named yet may be asked again; who is accused falsely is so once too often. */
static void accuses_nobody_else(const struct expect *x)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("tiny");
	struct mf_topology t;
	struct mf_error e;
	char name[128];

	assert_true(mf_topology_init(&t, &cfg, &e));
	for (const char *line = command_said; *line; line = next_line(line))
		if (sscanf(line, "%127[^: ]:", name) == 1 && line[strlen(name)] == ':' &&
		    !is_at_fault(&t, x, name))
			fail_msg("%s %s: accuses %s:\n%s", x->target, x->fault, name, command_said);
}

static bool is_named(const struct expect *x, uint32_t for_ms)
{
	int status = mrc("map check m%d --for %ums", id(), for_ms);

	accuses_nobody_else(x);
	return status == 1 && strstr(command_said, x->says) && lines() == x->parts + 1;
}

/* On a busy machine answers are late, and it takes longer to be sure. */
static void name(const struct expect *x)
{
	uint32_t for_ms = x->for_ms;

	while (!is_named(x, for_ms)) {
		if (for_ms >= x->for_ms * PATIENCE_FACTOR)
			fail_msg("%s %s: want %s, %zu parts, but:\n%s", x->target, x->fault,
				 x->says, x->parts, command_said);
		for_ms *= 4;
	}
}

static void name_each(bool programs)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const struct expect *x = &faults[i];

		if (x->needs_programs && !programs)
			continue;
		want(mrc("lab fault m%d %s %s", id(), x->target, x->fault), 0, "");
		name(x);
		want(mrc("lab fault m%d %s lift %.*s", id(), x->target, (int)strcspn(x->fault, " "),
			 x->fault),
		     0, "1 fault lifted");
	}
	want(mrc("map check m%d --json", id()), 0, "\"healthy\": true");
}

LAB_TEST(names_each_fault)
{
	if (mrc("lab up tiny --name m%d --pace 100M", id()) != 0)
		test_skip(command_said);
	want(mrc("map check m%d", id()), 0, "healthy; ");
	name_each(mrc("lab status m%d", id()) == 0 &&
		  !strstr(command_said, "without switch programs"));
}

LAB_TEST(works_without_rights)
{
	static const struct expect swapped = {
		"host0.plane0", "swap host1.plane0", "exchanged with host1.plane0", 2, 500, false};

	if (mrc("lab up tiny --name m%d --rootless", id()) != 0)
		test_skip(command_said);
	want(mrc("map check m%d --for 500ms", id()), 0, "healthy; ");
	want(mrc("lab fault m%d %s %s", id(), swapped.target, swapped.fault), 0, "");
	name(&swapped);
}

/*
 * Stopped for longer than it was to take it still sends what it would have sent in that time, or
 * gives up where ten times as long does not do on this machine.
 */
LAB_TEST(takes_longer_where_it_is_late)
{
	const char *healthy;
	time_t begin;

	if (mrc("lab up tiny --name m%d --pace 100M", id()) != 0)
		test_skip(command_said);
	begin = time(NULL);
	want(shell_run("%s map check m%d --for 500ms & p=$!; sleep 0.1; kill -STOP $p; sleep 1; "
		       "kill -CONT $p; wait $p",
		       test_arg(0), id()),
	     0, "healthy; ");
	healthy = strstr(command_said, "healthy; ");
	/* 50 rounds of 48 routes and of plain packets, in pairs. */
	if (atoi(healthy + strlen("healthy; ")) < 50 * 2 * 48 && time(NULL) - begin < 5)
		fail_msg("sent too little: %s", command_said);
}

/* Two descriptors a host are more than a shell lets a program have at first. */
LAB_TEST(takes_the_files_that_it_may_have)
{
	char command[512];

	if (mrc("lab up tiny --name m%d", id()) != 0)
		test_skip(command_said);
	snprintf(command, sizeof(command), "ulimit -Sn 12 && exec %s map check m%d --for 300ms",
		 test_arg(0), id());
	assert_i_eq(system(command), 0);
}

/* What breaks and is mended again is a line each; the picture has a letter where it is. */
LAB_TEST(draws_and_watches)
{
	if (mrc("lab up tiny --name m%d --pace 100M", id()) != 0)
		test_skip(command_said);
	want(mrc("map watch m%d --for 400ms", id()), 0, "");
	assert_string_equal(command_said, "");
	want(mrc("lab fault m%d plane0.t0-1.t1-0 blackhole", id()), 0, "");
	want(mrc("map m%d --svg m%d.svg", id(), id()), 1, "\n  t0-1      X    .");
	want(mrc("map m%d --json", id()), 1, "\"part\": \"plane0.t0-1.t1-0\"");
	want(shell_run("grep -q '<title>plane0.t0-1.t1-0: dead' m%d.svg && rm m%d.svg", id(), id()),
	     0, "");
	want(shell_run("%s map watch m%d --for 120s --json >m%d.w & p=$!; "
		       "said() { while kill -0 $p && ! grep -q \"$1\" m%d.w; do sleep 0.1; "
		       "done; }; "
		       "said begun; %s lab fault m%d lift >/dev/null; said ended; "
		       "kill -INT $p; wait $p; cat m%d.w; rm m%d.w",
		       test_arg(0), id(), id(), id(), test_arg(0), id(), id(), id()),
	     0, "\"change\":\"begun\"");
	want(0, 0, "\"change\":\"ended\"");
	assert_u_eq(lines(), 2);
	want(mrc("map m%d --svg /no/such/folder/x.svg", id()), 2, "--svg /no/such/folder/x.svg");
}

/* Until process $p, which waits for answers, has its descriptors for each of four hosts. */
#define WHEN_IT_ASKS                                                                      \
	"while kill -0 $p && test $(ls /proc/$p/fd | wc -l) -lt 11; do sleep 0.05; done " \
	"2>/dev/null; "

/* Who was interrupted has not seen that all is well. */
LAB_TEST(says_that_it_was_interrupted)
{
	if (mrc("lab up tiny --name m%d --pace 100M", id()) != 0)
		test_skip(command_said);
	want(shell_run("exec 2>&1; %s map m%d --for 120s & p=$!; " WHEN_IT_ASKS
		       "kill -INT $p; wait $p",
		       test_arg(0), id()),
	     2, "mrc map: interrupted\n");
}

/* mrcd is beside mrc, and has a name that is one letter longer. */
static void start_mrcd(uint32_t host, const char *map)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "printf '[node]\\ndir = \"%%s\"\\n[device]\\nports = 2\\nev_format = \"stev\"\\n"
		 "evs = 2\\n[metrics]\\nlisten = \":9891\"\\n[map]\\nfabric = \"tiny\"\\nhost = "
		 "%u\\ninterfaces = [\"e0\", \"e1\"]\\n%s\\n' $PWD/m%d.%u >m%d.%u.toml; "
		 "exec %s lab shell m%d host%u -- %sd --config m%d.%u.toml >/dev/null 2>&1 &",
		 host, map, id(), host, id(), host, test_arg(0), id(), host, test_arg(0), id(),
		 host);
	assert_i_eq(system(command), 0);
}

static bool scraped(const char *words)
{
	mrc("lab shell m%d host0 -- bash -c 'exec 3<>/dev/tcp/127.0.0.1/9891; printf \"GET "
	    "/metrics HTTP/1.0\\r\\n\\r\\n\" >&3; cat <&3'",
	    id());
	return strstr(command_said, words);
}

static void wait_for(const char *words)
{
	for (uint32_t i = 0; !scraped(words); i++) {
		if (i == PATIENCE_ROUNDS)
			fail_msg("never <%s>, but:\n%s", words, command_said);
		usleep(100000);
	}
}

#define UPLINK(t1) "plane=\"0\",t0=\"t0-0\",kind=\"t1\",via=\"t1-" t1 "\""
/* There is none where nothing is. */
#define LOST ",symptom=\"lost\"} "

/* Two hosts on machines of their own, as far as they know; each answers the other. */
LAB_TEST(is_fed_by_mrcd)
{
	char path[512];

	snprintf(path, sizeof(path), "%sd", test_arg(0));
	if (access(path, X_OK))
		test_skip("mrcd is not built");
	if (mrc("lab up tiny --name m%d --pace 100M", id()) != 0)
		test_skip(command_said);
	start_mrcd(0, "");
	start_mrcd(1, "policy = \"off\"");
	wait_for("softmrc_map_neighbours_living{host=\"host0\"} 1");
	wait_for("kind=\"peer\",via=\"host1\"} ");
	wait_for(UPLINK("0") "} ");
	wait_for(UPLINK("1") "} ");
	assert_null(strstr(command_said, UPLINK("0") LOST));
	want(0, 0, "\nsoftmrc_map_left_out_total{host=\"host0\"} 0\n");
	want(mrc("lab fault m%d plane0.t0-0.t1-0 blackhole", id()), 0, "");
	wait_for(UPLINK("0") LOST);
	assert_null(strstr(command_said, UPLINK("1") LOST));
	want(mrc("lab down m%d", id()), 0, "");
	assert_i_eq(system("rm -rf m*.[01].toml m*.[01]"), 0);
}

#define DENIED(n) "softmrc_node_evs_denied{profile=\"0\"} " n "\n"

static void ctl(const char *words)
{
	char dir[512];

	assert_non_null(getcwd(dir, sizeof(dir) - 16));
	want(mrc("lab shell m%d host0 -- env MRC_NODE_DIR=%s/m%d.0 %s ctl %s", id(), dir, id(),
		 test_arg(0), words),
	     0, "");
}

/* Ends mrcd of host0, as nobody would, and waits until it is gone. */
static void kill_mrcd(void)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "p=$(pgrep -f 'mrcd --config m%d.0.toml$') && kill -9 $p && "
		 "while kill -0 $p 2>/dev/null; do sleep 0.1; done",
		 id());
	assert_i_eq(system(command), 0);
}

/*
 * An uplink dies, and mrcd denies its EVs; it is killed, the uplink is mended, and the next mrcd
 * gives them back. What the operator denied stays.
 */
LAB_TEST(is_obeyed_by_mrcd)
{
	static const char acts[] = "policy = \"act\"\\nreturn_after = \"2s\"";
	char path[512];

	snprintf(path, sizeof(path), "%sd", test_arg(0));
	if (access(path, X_OK))
		test_skip("mrcd is not built");
	if (mrc("lab up tiny --name m%d --pace 100M", id()) != 0)
		test_skip(command_said);
	start_mrcd(0, acts);
	wait_for(DENIED("0"));
	ctl("deny 2:0xc0010001 --reason mine");
	wait_for(DENIED("1"));
	want(mrc("lab fault m%d plane0.t0-0.t1-0 blackhole", id()), 0, "");
	wait_for(DENIED("2"));
	want(0, 0, "softmrc_map_policy_parts{state=\"denied\"} 1\n");
	ctl("ev | grep -q 'part=plane0.t0-0.t1-0'");
	kill_mrcd();
	want(mrc("lab fault m%d lift", id()), 0, "");
	start_mrcd(0, acts);
	wait_for(DENIED("1"));
	want(0, 0, "softmrc_map_policy_returns_total 1\n");
	want(mrc("lab down m%d", id()), 0, "");
	assert_i_eq(system("rm -rf m*.[01].toml m*.[01]"), 0);
}

TEST(mrc_map_check, says_what_is_wrong)
{
	want(mrc("map check m%d", id()), 2, "is not up");
	want(mrc("map check m%d --for 1", id()), 2, "--for");
	want(mrc("map check m%d --rate 1", id()), 2, "--rate");
	want(mrc("map check m%d more", id()), 2, "more");
	want(mrc("map chekc"), 2, "did you mean check?");
}

LAB_TEST(sees_a_lab_go_down)
{
	if (mrc("lab up tiny --name m%d", id()) != 0)
		test_skip(command_said);
	want(shell_run("exec 2>&1; %s map check m%d --for 120s & p=$!; " WHEN_IT_ASKS
		       "%s lab down m%d >/dev/null; wait $p",
		       test_arg(0), id(), test_arg(0), id()),
	     2, "went down meanwhile");
	want(mrc("map check m%d", id()), 2, "is not up");
}
