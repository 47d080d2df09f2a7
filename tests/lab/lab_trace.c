/* SPDX-License-Identifier: BSD-2-Clause */
/* lab_trace.c - `mrc trace` on a lab of four hosts: hops that answer, and silent ones. */
#include "lab/lab.h"
#include "lab/lab_command.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define want command_want
#define PATIENT "--probe --timeout 10s" /* for what answers, on a busy machine late */

static int id(void)
{
	return (int)getpid();
}

static size_t times_said(const char *words)
{
	size_t n = 0;

	for (const char *at = command_said; (at = strstr(at, words)); at++)
		n++;
	return n;
}

static void count(const char *words, size_t wanted)
{
	size_t n = times_said(words);

	if (n != wanted)
		fail_msg("want \"%s\" %zu times, not %zu:\n%s", words, wanted, n, command_said);
}

static int take_down(void **state)
{
	(void)state;
	return command_run("lab down tr%d", id());
}

#define LAB_TEST(name) TEST_WITH(NULL, take_down, mrc_trace, name)

/* Asks for longer where more are silent than should be: on a busy machine answers are late. */
static void ask_past(size_t answers)
{
	int status = 0;

	for (int ms = 60; ms <= 6000; ms *= 10) {
		status = command_run("trace host0 host3 0xc0010000 --lab tr%d --probe "
				     "--timeout %dms",
				     id(), ms);
		if (times_said("no answer") <= 4 - answers)
			break;
	}
	want(status, 1, "plane1.t0-0.u0 - plane1.t1-0");
	count("no answer", 4 - answers);
}

/* Each direction of a cable, a switch, and the host itself. */
static void silence_each(void)
{
	static const struct {
		const char *target, *fault;
		size_t answers; /* of the four hops */
	} faults[] = {
		{"plane1.t1-0", "stall", 1},
		{"plane1.t0-0.t1-0", "blackhole out", 1},
		{"plane1.t0-0.t1-0", "blackhole in", 1},
		{"plane1.t0-1.t1-0", "blackhole", 2},
		{"host3.plane1", "blackhole in", 3},
		{"plane1.t0-0", "stall", 0},
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		want(command_run("lab fault tr%d %s %s", id(), faults[i].target, faults[i].fault),
		     0, "");
		ask_past(faults[i].answers);
		/* The other uplink of the plane is well, but where the fault is in its way, too. */
		if (faults[i].answers == 1)
			want(command_run("trace host0 host3 0xc0010001 --lab tr%d " PATIENT, id()),
			     0, " us");
		want(command_run("lab fault tr%d %s lift", id(), faults[i].target), 0,
		     "1 fault lifted");
	}
}

LAB_TEST(asks_each_hop)
{
	if (command_run("lab up tiny --name tr%d --pace 100M", id()) != 0)
		test_skip(command_said);
	want(command_run("trace host0 host3 --lab tr%d " PATIENT, id()), 0,
	     "0xc0010001  plane1.t0-0.u1 - plane1.t1-1  ");
	count("s\n", 4);
	silence_each();
	want(command_run("trace host1 host0 2:0xc0010001 --lab tr%d " PATIENT " --json", id()), 0,
	     "\"link\": \"plane1.t0-0.d0\"");
	count("\"answered\": 3", 2);
	/* In the shell of a host it is that host which asks, and nobody sends back. */
	want(command_run("lab shell tr%d host0 -- %s trace host0 host3 0xc0010001 --fabric "
			 "tiny " PATIENT,
			 id(), test_arg(0)),
	     0, "plane1.t0-1.d1 - host3        not asked");
	want(command_run("lab shell tr%d host1 -- %s trace host0 host3 --fabric tiny --probe", id(),
			 test_arg(0)),
	     1, "host0: is not this machine");
	/* Of hops that a signal came before nothing is said: it comes when the first is asked. */
	want(command_run("lab fault tr%d plane1.t1-0 stall", id()), 0, "");
	want(command_run("lab shell tr%d host0 -- sh -c '"
			 "sent() { grep Udp6OutDatagrams /proc/net/snmp6; }; before=$(sent); "
			 "%s trace host0 host3 0xc0010000 --fabric tiny --probe --timeout 10s & "
			 "while [ \"$(sent)\" = \"$before\" ] && [ $((n += 1)) -lt 1200 ]; do "
			 "sleep 0.05; done; "
			 "kill $!; wait $!'",
			 id(), test_arg(0)),
	     1, "plane1.t0-0.u0 - plane1.t1-0  not asked");
	count("no answer", 0);
}

LAB_TEST(works_without_rights)
{
	if (command_run("lab up tiny --name tr%d --rootless", id()) != 0)
		test_skip(command_said);
	want(command_run("trace host0 host3 0xc0010001 --lab tr%d " PATIENT, id()), 0, " us");
	count("no answer", 0);
}

TEST(mrc_trace, says_what_is_wrong)
{
	want(command_run("trace"), 2, "mrc trace: want SRC DST [EV...], or --through PART");
	want(command_run("trace host0 host4 --fabric tiny"), 2,
	     "host4: this fabric has host0 to host3");
	want(command_run("trace host0 plane0.t0-0 --fabric tiny"), 2, "is a switch");
	want(command_run("trace host0 host0 --fabric tiny"), 2, "want another host");
	want(command_run("trace host0 fd6d:7263::9 --fabric tiny"), 2, "is no address of a host");
	want(command_run("trace host0 host3 0xc0020000 --fabric tiny"), 2,
	     "0xc0020000: no EV of a path of this fabric; want a number with planes 0 to 1 in bits "
	     "16 to 19, 0xc0000000 to 0xc0010001, or PORT:NUMBER with ports 1 to 2");
	want(command_run("trace --through plane0.t1-7 --fabric tiny"), 2,
	     "did you mean plane0.t1-0");
	want(command_run("trace --through plane0.t1-0 --fabric paper"), 2, "name the source");
	want(command_run("trace --through plane0.t1-0 --probe --fabric tiny"), 2, "--probe");
	want(command_run("trace host0 host1 --fabric tiny --lab x"), 2, "one of them");
	want(command_run("trace host0 host1 --lab tr%d", id()), 1, "is not up");
	want(command_run("trace host0 host1 --fabric nosuch"), 1, "nosuch");
}

TEST(mrc_trace, from_a_description)
{
	want(command_run("trace fd6d:7263::1 fd6d:7263:0:1::4 0xc0010001 --fabric tiny"), 0,
	     "EV 0xc0010001 of host0 to host3, plane 1");
	want(command_run("trace --through plane1.t1-1 --fabric tiny"), 0,
	     "0xc0010001  4 of 4 hosts: host0-3");
	setenv("MRC_FABRIC", "tiny", 1);
	want(command_run("trace host0 host1"), 0, "0xc0010000  host0.e1 - plane1.t0-0");
	unsetenv("MRC_FABRIC");
}
