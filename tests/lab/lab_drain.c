/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_drain.c - parts of a lab of four hosts drained, switched off, and given back, under mrc perf
 * in both directions: not a packet is lost. And what is refused.
 */
#include "lab/lab.h"
#include "lab/lab_command.h"
#include "support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 60000

static pid_t running[4];
static size_t n_running;

#define want command_want

static int id(void)
{
	return (int)getpid();
}

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* `mrc <words>` by the shell, until the test ends. */
__attribute__((format(printf, 1, 2))) static void begin(const char *format, ...)
{
	char words[512], command[1024];
	va_list args;
	pid_t pid;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	snprintf(command, sizeof(command), "exec %s %s >/dev/null 2>&1", test_arg(0), words);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0 && n_running < sizeof(running) / sizeof(running[0]));
	running[n_running++] = pid;
}

static int take_down(void **state)
{
	(void)state;
	while (n_running > 0) {
		kill(-running[--n_running], SIGKILL);
		kill(running[n_running], SIGKILL);
		waitpid(running[n_running], NULL, 0);
	}
	return command_run("lab down dr%d", id());
}

#define LAB_TEST(name) TEST_WITH(NULL, take_down, mrc_lab_drain, name)

/* ---- the job ---- */

/* A counter, summed over the processes of the lab. */
static long sum(const char *name)
{
	char key[64];
	long all = 0;

	assert_i_eq(command_run("stat --json"), 0);
	snprintf(key, sizeof(key), "\"%s\": ", name);
	for (const char *at = command_said; (at = strstr(at, key));) {
		at += strlen(key);
		all += strtol(at, NULL, 10);
	}
	return all;
}

/* A client calls for three seconds, in which a server on a busy machine may not have begun. */
static void wait_for_a_listener(void)
{
	for (long ms = 0;
	     command_run("lab shell dr%d host3 -- grep -q ' 0A ' /proc/net/tcp6", id()) != 0;
	     ms += 50, sleep_ms(50))
		if (ms > PATIENCE_MS)
			fail_msg("the server does not listen: %s", command_said);
}

static void begin_job(void)
{
	long ms = 0;

	/*
	 * host3 answers host0, so that there is data in both directions, until take_down ends both:
	 * on a busy machine the drains take more than a minute.
	 */
	begin("lab shell dr%d host3 -- %s perf --server", id(), test_arg(0));
	wait_for_a_listener();
	begin("lab shell dr%d host0 -- %s perf fd6d:7263:0:1::4 --size 64K --duration 3600s "
	      "--both",
	      id(), test_arg(0));
	while (sum("tx_data_packets") < 200) {
		if ((ms += 100) > PATIENCE_MS)
			fail_msg("no traffic: %s", command_said);
		sleep_ms(100);
	}
}

/* Sent again though no link lost them: on a busy machine answers are late and buffers full. */
static long sent_again_in_vain(void)
{
	return sum("rx_duplicates") + sum("plane_rx_overruns");
}

static long lost(void)
{
	long again = sum("tx_retransmits");

	return again - sent_again_in_vain();
}

static void goes_on(void)
{
	long before = sum("tx_data_packets"), ms = 0;

	while (sum("tx_data_packets") < before + 50) {
		if ((ms += 50) > PATIENCE_MS)
			fail_msg("no traffic any more: %s", command_said);
		sleep_ms(50);
	}
}

/* ---- what is tried ---- */

static void drain_each(void)
{
	static const char *const parts[] = {"plane1.t0-0.t1-0", "plane1.t1-1", "plane0.t0-1",
					    "host3.plane1"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		want(command_run("lab drain dr%d %s", id(), parts[i]), 0, "safe to take away");
		/* Nothing goes over what is switched off now. */
		want(command_run("lab fault dr%d %s down", id(), parts[i]), 0, "");
		goes_on();
		want(command_run("lab undrain dr%d %s", id(), parts[i]), 1, "carries nothing");
		want(command_run("lab fault dr%d %s lift", id(), parts[i]), 0, "1 fault lifted");
		want(command_run("lab undrain dr%d %s", id(), parts[i]), 0, "back in use");
	}
}

LAB_TEST(loses_nothing)
{
	if (command_run("lab up tiny --name dr%d --pace 20M", id()) != 0)
		test_skip(command_said);
	begin_job();
	drain_each();
	want(command_run("lab roll dr%d t1 --plane 1", id()), 0, "2/2 plane1.t1-1: drained in ");
	want(command_run("lab drain dr%d", id()), 0, "nothing is drained");
	goes_on();
	/* One that was sent again for nothing may be on its way still; an EV is retired for one. */
	for (long ms = 0; lost() > 0 || sum("evs_retired") > sent_again_in_vain();
	     ms += 50, sleep_ms(50))
		if (ms > PATIENCE_MS)
			fail_msg("%ld packets were lost, %ld EVs retired", lost(),
				 sum("evs_retired"));
}

LAB_TEST(refuses_the_last_evs)
{
	if (command_run("lab up tiny --name dr%d --pace 20M", id()) != 0)
		test_skip(command_said);
	want(command_run("lab drain dr%d plane0.t1-1 --json", id()), 0, "\"denials\": 4");
	want(command_run("lab drain dr%d plane1", id()), 0, "plane1: safe");
	want(command_run("lab drain dr%d plane0.t0-0.t1-0", id()), 1,
	     "host0 would have no EV to host1 left; drained already: plane0.t1-1, plane1");
	want(command_run("lab drain dr%d plane0.t1-1", id()), 1, "is drained already");
	want(command_run("lab roll dr%d t1", id()), 1, "would have no EV to");
	want(command_run("lab drain dr%d", id()), 0, "plane0.t1-1\nplane1\n");
	/* What another part needs stays denied: plane0 has one EV of each host left to take. */
	want(command_run("lab undrain dr%d plane1", id()), 0, "8 denials lifted");
	want(command_run("lab drain dr%d plane0", id()), 0, "4 denials on 4 hosts");
	want(command_run("lab undrain dr%d plane0", id()), 0, "4 denials lifted");
	/* By its other name, from the other end. */
	want(command_run("lab drain dr%d plane1.t0-0.t1-0", id()), 0, "safe");
	want(command_run("lab undrain dr%d plane1.t1-0.t0-0", id()), 0, "back in use");
	/* What is broken leaves fewer EVs, too. */
	want(command_run("lab fault dr%d plane1 blackhole", id()), 0, "");
	want(command_run("lab drain dr%d plane0.t1-0", id()), 1, "would have no EV to");
	want(command_run("lab fault dr%d lift", id()), 0, "1 fault");
	want(command_run("lab fault dr%d plane1 loss 100%%", id()), 0, "");
	want(command_run("lab drain dr%d plane0.t1-0", id()), 1, "would have no EV to");
	want(command_run("lab fault dr%d lift", id()), 0, "1 fault");
	want(command_run("lab undrain dr%d --all", id()), 0, "4 denials lifted");
	want(command_run("lab undrain dr%d plane1", id()), 1, "is not drained; drained is nothing");
	/* Who follows cannot be seen. */
	setenv("MRC_CONFIG", "/no/such.toml", 1);
	want(command_run("lab drain dr%d plane1", id()), 1, "the statistics of processes: ");
	unsetenv("MRC_CONFIG");
	want(command_run("lab drain dr%d", id()), 0, "nothing is drained");
}

/* An mrcd that keeps the store of host1, until the test ends. */
static void begin_mrcd(void)
{
	want(command_run("lab shell dr%d host1 -- sh -c 'printf \"[device]\\nports = 2\\nevs = "
			 "2\\nev_format = "
			 "\\\"stev\\\"\\n\" >$MRC_NODE_DIR/mrcd.toml'",
			 id()),
	     0, "");
	begin("lab shell dr%d host1 -- sh -c 'exec %sd --config $MRC_NODE_DIR/mrcd.toml'", id(),
	      test_arg(0));
	for (long ms = 0;
	     command_run("lab shell dr%d host1 -- %s ctl status", id(), test_arg(0)) != 0;
	     ms += 50, sleep_ms(50))
		if (ms > PATIENCE_MS)
			fail_msg("mrcd does not answer: %s", command_said);
}

static void ctl(const char *words, const char *says)
{
	want(command_run("lab shell dr%d host1 -- %s ctl %s", id(), test_arg(0), words), 0, says);
}

/* Of others' denials none is lifted, and an mrcd that keeps a host's store is asked. */
LAB_TEST(keeps_what_others_decided)
{
	if (command_run("lab up tiny --name dr%d --pace 20M", id()) != 0)
		test_skip(command_said);
	begin_mrcd();
	ctl("deny --reason mine 1:0xc0000001", "");
	want(command_run("lab drain dr%d plane0", id()), 0, "7 denials on 4 hosts");
	ctl("ev 0", "reason=drain of plane0 cable=plane0.t0-0.u0 - plane0.t1-0");
	want(command_run("lab undrain dr%d plane0", id()), 0, "7 denials lifted");
	ctl("ev 0", "reason=mine");
	if (strstr(command_said, "drain of"))
		fail_msg("denied still: %s", command_said);
}

/* An mrcd is asked for each profile: what it did for the first is taken back, and so is host0's. */
LAB_TEST(takes_back_what_was_done_in_part)
{
	if (command_run("lab up tiny --name dr%d --pace 20M", id()) != 0)
		test_skip(command_said);
	begin_mrcd();
	ctl("format 1 mode=stev fields=16,16 state=online", "");
	ctl("ev 1 mode=explicit format=1 min_active=2 evs=1:0xc0000000,2:0xc0010000 state=online",
	    "");
	want(command_run("lab drain dr%d plane0.t1-0", id()), 1, "host1: mrcd: ");
	ctl("ev 0", "");
	if (strstr(command_said, "drain of"))
		fail_msg("denied still: %s", command_said);
	want(command_run("lab drain dr%d", id()), 0, "nothing is drained");
	want(command_run("lab drain dr%d plane0.t1-1", id()), 0, "4 denials on 4 hosts");
}

/* Until a drain has written host0's store and waits for host1's mrcd, which is stopped. */
static void wait_for_a_denial(void)
{
	for (long ms = 0;
	     command_run("lab shell dr%d host0 -- sh -c 'test -e $MRC_NODE_DIR/mrc0.state'", id());
	     ms += 50, sleep_ms(50))
		if (ms > PATIENCE_MS)
			fail_msg("host0 denies nothing");
}

/* Killed, or kept by an mrcd that hangs: what a drain did is known and can be taken back. */
LAB_TEST(is_known_when_it_was_ended)
{
	pid_t mrcd, drain;

	if (command_run("lab up tiny --name dr%d --pace 20M", id()) != 0)
		test_skip(command_said);
	begin_mrcd();
	mrcd = running[n_running - 1];
	kill(-mrcd, SIGSTOP);
	begin("lab drain dr%d plane0.t1-0", id());
	drain = running[n_running - 1];
	wait_for_a_denial();
	kill(drain, SIGKILL);
	want(command_run("lab drain dr%d", id()), 0, "plane0.t1-0: in part; drain it again");
	want(command_run("lab drain dr%d plane1.t1-0", id()), 1,
	     "host1: mrcd: no answer within 5 s");
	want(command_run("lab drain dr%d --json", id()), 0,
	     "\"drained\": [],\n  \"unfinished\": [\n    \"plane0.t1-0\"");
	kill(-mrcd, SIGCONT);
	/* What the drain meant to deny and somebody else did is his. */
	ctl("deny --reason mine 1:0xc0000000", "");
	want(command_run("lab drain dr%d plane0.t1-0", id()), 0, "safe to take away");
	want(command_run("lab undrain dr%d plane0.t1-0", id()), 0, "denials lifted");
	ctl("ev 0", "reason=mine");
	ctl("undeny 1:0xc0000000", "");
	ctl("ev 0", "");
	if (strstr(command_said, "drain of"))
		fail_msg("denied still: %s", command_said);
	want(command_run("lab drain dr%d plane0.t1-0", id()), 0, "4 denials on 4 hosts");
}

/* A process that goes by another store would send into the part. */
LAB_TEST(waits_for_all)
{
	if (command_run("lab up tiny --name dr%d --pace 20M", id()) != 0)
		test_skip(command_said);
	setenv("MRC_NODE_DIR", "off", 1);
	begin_job();
	unsetenv("MRC_NODE_DIR");
	want(command_run("lab drain dr%d plane0.t1-1 --timeout 300ms", id()), 1,
	     "does not go by its host's store (MRC_NODE_DIR); it stays drained");
	want(command_run("lab roll dr%d t1 --plane 1 --timeout 300ms", id()), 1,
	     "it is given back");
	want(command_run("lab drain dr%d", id()), 0, "plane0.t1-1\n");
	/* Given back by somebody else while it waits, it is neither safe nor drained. */
	want(command_run("lab drain dr%d plane0.t1-0 --timeout 600s 2>&1 & "
			 "until %s lab drain dr%d | grep -qx plane0.t1-0 || "
			 "test $((n += 1)) -gt 1200; do sleep 0.05; done; "
			 "%s lab undrain dr%d plane0.t1-0; kill $!; wait $!",
			 id(), test_arg(0), id(), test_arg(0), id()),
	     1, "plane0.t1-0: was given back meanwhile");
}

/* What was broken before is given back as broken as it was. */
LAB_TEST(rolls_what_has_a_fault)
{
	if (command_run("lab up tiny --name dr%d --pace 20M", id()) != 0)
		test_skip(command_said);
	want(command_run("lab fault dr%d plane1.t0-1.t1-0 blackhole", id()), 0, "");
	want(command_run("lab roll dr%d t1 --plane 1", id()), 0, "2/2 plane1.t1-1: drained in ");
	want(command_run("lab drain dr%d", id()), 0, "nothing is drained");
	/* It looks once, however late. */
	want(command_run("lab drain dr%d plane0.t1-0 --timeout 1ms", id()), 1,
	     "nothing has crossed it, but only for ");
}

LAB_TEST(works_without_rights)
{
	if (command_run("lab up tiny --name dr%d --rootless", id()) != 0)
		test_skip(command_said);
	want(command_run("lab drain dr%d plane1.t1-0", id()), 0, "4 denials on 4 hosts");
	want(command_run("lab undrain dr%d --all", id()), 0, "4 denials lifted");
}

TEST(mrc_lab_drain, says_what_is_wrong)
{
	want(command_run("lab drain"), 2, "want a LAB");
	want(command_run("lab undrain dr%d", id()), 2, "a PART or --all");
	want(command_run("lab undrain dr%d plane0 --all", id()), 2, "a PART or --all");
	want(command_run("lab drain dr%d plane0", id()), 1, "is not up");
	want(command_run("lab roll dr%d t3", id()), 2, "t3: want a LAB and t0, t1 or t2");
}
