/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_run.c - `mrc run`: what a program finds that is started by it, as root and without rights.
 *
 * Arguments: the program mrc, the folder of the examples, examples/pyverbs_write.py, and the
 * libraries that a program of others loads first, with a sanitizer.
 */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char out[16384];

/* EVs of this test alone, below the ports that the kernel gives away; 8 a port by default. */
#define EV_BASE 12000
#define EV_SPAN 8000
#define EVS 8

/* Runs `mrc run words` through a shell, by nobody if wanted; returns the exit status. */
static int run(bool as_nobody, const char *words)
{
	char command[1024];
	size_t n;
	FILE *f;
	int status;

	/* Only processes of one user share the ports of EVs, and others use the default ones. */
	snprintf(command, sizeof(command),
		 "%senv MRC_PORTS=127.0.0.1 MRC_EV_BASE=%d ASAN_OPTIONS=detect_leaks=0 "
		 "'%s' run %s 2>&1",
		 as_nobody && geteuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups "
					     : "",
		 EV_BASE + (as_nobody ? EV_SPAN : 0) + getpid() % EV_SPAN / EVS * EVS, test_arg(0),
		 words);
	f = popen(command, "r");
	assert_non_null(f);
	n = fread(out, 1, sizeof(out) - 1, f);
	out[n] = '\0';
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void assert_said(const char *text)
{
	if (!strstr(out, text))
		fail_msg("no \"%s\" in:\n%s", text, out);
}

static void skip_without_view(void)
{
	char *why = strstr(out, "no view of the device");

	if (!why)
		return;
	why[strcspn(why, "\n")] = '\0';
	test_skip(why);
}

#define LOOK                                                                                    \
	"-- sh -c 'cd /sys/class/infiniband/mrc0/ports/1; cat gid_attrs/types/3 gids/3 state; " \
	"test -c /dev/infiniband/uverbs0 -a -r /dev/infiniband/uverbs0 && echo char;"           \
	"test -e /sys/class/net/lo/mtu -a -c /dev/null && echo rest; id -u'"

static void assert_seen(void)
{
	assert_said("RoCE v2\n0000:0000:0000:0000:0000:ffff:7f00:0001\n4: ACTIVE\n");
	assert_said("char\n");
	assert_said("rest\n");
}

TEST(mrc_run, shows_the_device)
{
	assert_int_equal(run(false, LOOK), 0);
	skip_without_view();
	assert_seen();
}

TEST(mrc_run, shows_it_to_anybody_who_stays_who_they_are)
{
	if (run(true, "--help"))
		test_skip("the user nobody cannot reach the program mrc");
	assert_int_equal(run(true, LOOK), 0);
	skip_without_view();
	assert_seen();
	if (geteuid() == 0)
		assert_said("65534\n");
}

/*
 * What node_exporter's infiniband collector and the like read: what went over the device. The
 * program is at work for as long as it takes, for a busy machine reads its counts late.
 */
TEST(mrc_run, shows_counters_that_grow)
{
	char words[900];

	snprintf(words, sizeof(words),
		 "-- sh -c 'cd /sys/class/infiniband/mrc0/ports/1; cat rate "
		 "counters/port_xmit_data; "
		 "%s/write_bw --self --min 65536 --max 65536 --ms 60000 >/dev/null 2>&1 & "
		 "for i in $(seq 600); do sleep 0.1; "
		 "test $(cat counters/port_xmit_data) -gt 16384 && "
		 "test $(cat counters/port_rcv_packets) -gt 10 && "
		 "test $(cat hw_counters/tx_data_bytes) -gt 65536 && echo grown && break; done; "
		 "cat hw_counters/local_ack_timeout_err; kill $!'",
		 test_arg(1));
	assert_int_equal(run(false, words), 0);
	skip_without_view();
	assert_said(" Gb/sec (1X)\n0\n");
	assert_said("grown\n");
}

/* Whether a process lives that was started with a word in its environment. */
static bool is_left(const char *word)
{
	char look[200];

	snprintf(look, sizeof(look), "grep -qsF '%s' /proc/[0-9]*/environ", word);
	return system(look) == 0;
}

/*
 * The process that writes them is gone with the program, and is no child of it. The number of their
 * mount namespace would not tell: the kernel gives it to the next one.
 */
TEST(mrc_run, leaves_no_process_behind)
{
	char value[40], word[80];

	snprintf(value, sizeof(value), "%d.", (int)getpid());
	snprintf(word, sizeof(word), "LIVE_RUN_LEFT=%s", value);
	setenv("LIVE_RUN_LEFT", value, 1);
	assert_int_equal(run(false, "-- sh -c 'read of </proc/$$/task/$$/children; echo \"<$of>\"; "
				    "tr \"\\0\" \"\\n\" </proc/$$/environ | grep ^LIVE_RUN_LEFT='"),
			 0);
	unsetenv("LIVE_RUN_LEFT");
	skip_without_view();
	assert_said("<>\n");
	assert_said(word);
	for (int i = 0; i < 600 && is_left(word); i++)
		usleep(100000);
	assert_false(is_left(word));
}

/* Where others may write in the folder, their links lead a step with rights to no other file. */
static void keeps_links_of_others(const char *folder, const char *words)
{
	static const char *const at[] = {"dev/infiniband/uverbs0",
					 "sys/class/infiniband/mrc0/node_type"};
	char path[200], other[100];
	struct stat st;

	snprintf(other, sizeof(other), "%s/other", folder);
	for (size_t i = 0; i < 2; i++) {
		FILE *f = fopen(other, "w");

		assert_non_null(f);
		fputs("of another user", f);
		fclose(f);
		assert_int_equal(chmod(other, 0600), 0);
		snprintf(path, sizeof(path), "%s/view/%s", folder, at[i]);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(symlink(other, path), 0);
		assert_int_equal(run(false, words), (int)i);
		assert_said(at[i]);
		assert_int_equal(stat(other, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		assert_int_equal(st.st_size, strlen("of another user"));
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(run(false, words), 0);
}

/* Nor do links in place of its folders. */
static void keeps_folders_of_others(const char *folder, const char *words)
{
	static const char *const at[] = {"dev/infiniband", "sys/class/infiniband/mrc0/ports",
					 "sys/class", "sys"};
	char line[500];

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		snprintf(line, sizeof(line),
			 "cd %s && rm -rf elsewhere && mkdir -p elsewhere/class && mv view/%s was "
			 "&& ln -s %s/elsewhere view/%s",
			 folder, at[i], folder, at[i]);
		assert_int_equal(system(line), 0);
		assert_int_equal(run(false, words), i > 0);
		assert_said(at[i]);
		assert_said("Not a directory");
		snprintf(line, sizeof(line),
			 "cd %s && rm view/%s && mv was view/%s && rmdir elsewhere/class elsewhere",
			 folder, at[i], at[i]);
		assert_int_equal(system(line), 0);
	}
	assert_int_equal(run(false, words), 0);
	assert_string_equal(out, "");
}

/* A pipe keeps no step waiting, and another name of a file is not written to. */
static void keeps_other_files(const char *folder, const char *words)
{
	static const char *const make[] = {"mkfifo $at", "ln other $at", "mkdir $at"};
	char line[500];

	for (size_t i = 0; i < sizeof(make) / sizeof(make[0]); i++) {
		snprintf(line, sizeof(line),
			 "cd %s && echo good >other && at=view/sys/class/infiniband/mrc0/fw_ver && "
			 "rm -rf $at && %s",
			 folder, make[i]);
		assert_int_equal(system(line), 0);
		assert_int_equal(run(false, words), 1);
		assert_said("mrc0/fw_ver: ");
		snprintf(line, sizeof(line),
			 "cd %s && rm -rf view/sys/class/infiniband/mrc0/fw_ver && grep -q good "
			 "other",
			 folder);
		assert_int_equal(system(line), 0);
	}
	assert_int_equal(run(false, words), 0);
}

/*
 * As a container does: a step writes the view, what starts the program mounts it, and the program
 * has no rights and makes no namespace.
 */
TEST(mrc_run, writes_a_view_that_others_mount)
{
	char folder[] = "/tmp/live_run.XXXXXX", words[900];

	if (geteuid())
		test_skip("mounts need root");
	assert_non_null(mkdtemp(folder));
	snprintf(words, sizeof(words), "--write-view=%s/view", folder);
	assert_int_equal(run(false, words), 0);
	/* Again, as a step that is repeated. */
	assert_int_equal(run(false, words), 0);
	assert_string_equal(out, "");
	keeps_links_of_others(folder, words);
	keeps_folders_of_others(folder, words);
	keeps_other_files(folder, words);
	snprintf(
		words, sizeof(words),
		"--no-views -- unshare --mount sh -c 'mount --bind %s/view/sys/class /sys/class && "
		"exec setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all "
		"--inh-caps=-all --no-new-privs sh -c \"cd /sys/class/infiniband/mrc0/ports/1 && "
		"cat gid_attrs/types/3 gids/3 state && test -e /sys/class/net/lo/mtu && echo rest; "
		"id -u\"'; echo >%s/view/dev/infiniband/uverbs0 && test -c "
		"%s/view/dev/infiniband/uverbs0 && echo node; rm -rf %s",
		folder, folder, folder, folder);
	assert_int_equal(run(false, words), 0);
	assert_said("RoCE v2\n0000:0000:0000:0000:0000:ffff:7f00:0001\n4: ACTIVE\nrest\n65534\n");
	assert_said("node\n");
}

/* Nothing of it is seen by anybody else. */
TEST(mrc_run, leaves_the_machine_as_it_was)
{
	assert_int_equal(run(false, "-- sh -c 'exit 0'"), 0);
	assert_int_equal(access("/sys/class/infiniband/mrc0/ports/1/gids/0", F_OK), -1);
}

TEST(mrc_run, sets_what_programs_look_for)
{
	assert_int_equal(run(false, "--no-views -- env"), 0);
	assert_said("/softmrc/libibverbs.so.1\n");
	assert_said("NCCL_IB_HCA=mrc\n");
	assert_said("NCCL_GIN_TYPE=0\n");
	/* The drop-in's folder, and libmrc's, for programs that link it. */
	assert_said("LD_LIBRARY_PATH=/");
	assert_said("/lib/softmrc:/");
	assert_int_equal(run(false,
			     "--no-views -- sh -c 'IFS=:; for d in $LD_LIBRARY_PATH; do "
			     "test -e $d/libnv_mrc.so -a -e $d/libmrc.so.1 && exit 3; done'"),
			 3);
}

/* docs/programs.md: a program in Python, in the folder of the sources. */
TEST(mrc_run, runs_pyverbs)
{
	char words[900];

	if (system("/usr/bin/python3 -c 'import pyverbs.qp' 2>/dev/null"))
		test_skip("python3-pyverbs is not installed");
	/* A sanitizer's library is to be there before a program of others. */
	snprintf(words, sizeof(words), "--no-views -- env LD_PRELOAD='%s' /usr/bin/python3 '%s'",
		 test_arg(3), test_arg(2));
	assert_int_equal(run(false, words), 0);
	assert_said("mrc0: over every plane\n");
}

TEST(mrc_run, exit_status_is_the_programs)
{
	assert_int_equal(run(false, "--no-views -- sh -c 'exit 7'"), 7);
	assert_int_equal(run(false, "--no-views sh -c 'exit 8'"), 8);
	assert_int_equal(run(false, "--no-views -- /no/such/program"), 127);
	assert_said("mrc run: /no/such/program: No such file");
	assert_int_equal(run(false, "--no-views -- /etc/passwd"), 126);
}

TEST(mrc_run, reports_what_went_over_mrc)
{
	char words[512];

	snprintf(words, sizeof(words),
		 "--no-views --report -- '%s/write_bw' --self --min 65536 --max 65536 --ms 20",
		 test_arg(1));
	assert_int_equal(run(false, words), 0);
	assert_said("s, 2 processes over MRC\n");
	assert_said("plane 0  sent ");
	assert_said("  EVs      ");
}

TEST(mrc_run, stays_until_the_program_ends_and_tells_how)
{
	assert_int_equal(run(false, "--no-views --report -- sh -c 'exit 7'"), 7);
	assert_said("s, 0 processes over MRC\n");
	assert_int_equal(run(false, "--no-views --report -- sh -c 'kill -TERM $$'"), 143);
	assert_int_equal(
		run(false, "--no-views --report -- sh -c 'kill -TERM $PPID; exec sleep 60'"), 143);
	assert_int_equal(run(false, "--no-views --json=/no/such/file -- true"), 1);
	assert_said("/no/such/file: No such file");
	assert_int_equal(run(false, "--no-views --json -- true"), 2);
	assert_int_equal(run(false, "--no-views --report -- /no/such/program"), 127);
}

TEST(mrc_run, wrong_usage)
{
	assert_int_equal(run(false, ""), 2);
	assert_said("want a program to run");
	assert_int_equal(run(false, "--no-view -- true"), 2);
	assert_said("did you mean --no-views?");
	assert_int_equal(run(false, "--write-view=/tmp -- true"), 2);
	assert_said("--write-view runs no program: leave true out");
	assert_int_equal(run(false, "--write-view=/proc/none"), 1);
	assert_said("mrc run: --write-view=/proc/none: /proc/none/sys/class/: No such file");
	assert_int_equal(run(false, "--help"), 0);
	assert_said("mrc run -- ib_write_bw");
}
