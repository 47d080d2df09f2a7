/* SPDX-License-Identifier: BSD-2-Clause */
/* Scenario files as they are read: src/lab/scenario.c and toml_table.c. */
#include "base/quantity.h"
#include "fabric/topology_toml.h"
#include "lab/scenario.h"
#include "support/test.h"

#include <stdio.h>

static struct ml_scenario s;
static char error[ML_SCENARIO_ERROR_MAX];

static void good(const char *text)
{
	if (ml_scenario_read("f", text, &s, error))
		fail_msg("%s", error);
}

static void bad(const char *text, const char *why)
{
	assert_i_eq(ml_scenario_read("f", text, &s, error), -1);
	assert_string_equal(error, why);
}

TEST(ml_scenario_read, takes_what_is_left_out_from_us)
{
	good("");
	assert_string_equal(s.topology, "lab");
	assert_u_eq(s.pace_bps, ML_PACE_OF_TOPOLOGY);
	assert_u_eq(s.limit_ns, 60000000000u);
	assert_false(s.needs_programs);
	good("[[fault]]\ntarget = \"plane0\"\nfault = \"down\"\n[[check]]\ncounter = \"lost\"\n");
	assert_u_eq(s.fault[0].times, 1);
	assert_u_eq(s.check[0].counter, ML_SCENARIO_LOST);
	assert_u_eq(s.check[0].least, 0);
	assert_u_eq(s.check[0].most, INT64_MAX);
}

TEST(ml_scenario_read, takes_every_key)
{
	good("title = \"t\"\ntopology = \"tiny\"\npace = \"10M\"\nlimit = \"2s\"\n"
	     "needs_programs = true\n[[program]]\nname = \"a\"\nhost = \"0-2,7\"\nrun = \"r\"\n"
	     "at = \"1ms\"\nform = \"udp\"\nbackground = true\nstatus = 7\n[[fault]]\n"
	     "target = \"host0\"\nfault = \"down\"\nat = \"1us\"\nfor = \"2us\"\nevery = \"3us\"\n"
	     "times = 4\n[[check]]\nprogram = \"a\"\nsays = \"x\"\n[[check]]\n"
	     "counter = \"packets\"\nof = \"plane0\"\nleast = 5\nmost = 6\n");
	assert_u_eq(s.pace_bps, 10000000);
	assert_u_eq(s.limit_ns, 2000000000);
	assert_true(s.needs_programs && s.program[0].background);
	assert_u_eq(s.program[0].line, 6);
	assert_u_eq(s.program[0].hosts, 4);
	assert_u_eq(s.program[0].host[2], 2);
	assert_u_eq(s.program[0].host[3], 7);
	assert_i_eq(s.program[0].form, MF_HOST_UDP);
	assert_u_eq(s.program[0].status, 7);
	assert_u_eq(s.fault[0].at_ns + s.fault[0].for_ns + s.fault[0].every_ns, 6000);
	assert_u_eq(s.fault[0].times, 4);
	assert_string_equal(s.check[0].says, "x");
	assert_u_eq(s.check[1].counter, ML_SCENARIO_PACKETS);
	assert_u_eq(s.check[1].least, 5);
	assert_u_eq(s.check[1].most, 6);
}

TEST(ml_scenario_read, refuses_values)
{
	static const char *const wrong[][2] = {
		{"title = \"\"", "title = : is empty"},
		{"title = 7", "title = 7: has the wrong type"},
		{"pace = \"1\"", "pace = 1: must be 0 or " MB_QUANTITY_RATE_FORM ", 100k to 100G"},
		{"limit = \"2h\"",
		 "limit = 2h: must be " MB_QUANTITY_TIME_FORM ", at most an hour"},
		{"nonsense = 1", "nonsense = 1: unknown key; docs/lab.md lists them"},
		{"name = \"a\"", "name = a: unknown key; did you mean pace"},
	};
	char want[256];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(want, sizeof(want), "f:1: %s", wrong[i][1]);
		bad(wrong[i][0], want);
	}
	bad("[program]\nhost = 1\n",
	    "f:2: program.host = 1: write [[...]] above, with two brackets");
}

TEST(ml_scenario_read, refuses_values_in_tables)
{
	static const char hosts[] = "must be up to 128 hosts such as 3, \"0-3,7\" or [0, 1]";
	static const char number[] = "must be a whole number that is not negative, or is too large";
	static const struct {
		const char *key, *value, *shown, *why;
	} wrong[] = {
		{"program.host", "\"\"", "", hosts},
		{"program.host", "\"a\"", "a", hosts},
		{"program.host", "\"1-\"", "1-", hosts},
		{"program.host", "\"1,\"", "1,", hosts},
		{"program.host", "\"0,3-1\"", "0,3-1", hosts},
		{"program.host", "\" 1\"", " 1", hosts},
		{"program.host", "\"1;2\"", "1;2", hosts},
		{"program.host", "-1", "-1", hosts},
		{"program.host", "4294967296", "4294967296", hosts},
		{"program.host", "\"0-128\"", "0-128", hosts},
		{"program.host", "\"0-127,3\"", "0-127,3", hosts},
		{"program.host", "[]", "", hosts},
		{"program.form", "\"tcp\"", "tcp", "must be raw41 or udp"},
		{"program.status", "256", "256", number},
		{"program.status", "-1", "-1", number},
		{"fault.times", "1001", "1001", number},
		{"check.least", "9223372036854775808", "9223372036854775808", number},
		{"check.least", "99999999999999999999", "99999999999999999999", number},
		{"check.counter", "\"smiles\"", "smiles",
		 "must be packets, trimmed, marked, dropped or lost"},
	};
	char text[128], want[256];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *dot = strchr(wrong[i].key, '.');

		snprintf(text, sizeof(text), "[[%.*s]]\n%s = %s\n", (int)(dot - wrong[i].key),
			 wrong[i].key, dot + 1, wrong[i].value);
		snprintf(want, sizeof(want), "f:2: %s = %s: %s", wrong[i].key, wrong[i].shown,
			 wrong[i].why);
		bad(text, want);
	}
}

TEST(ml_scenario_read, refuses_a_text_that_does_not_fit)
{
	char text[160] = "[[program]]\nname = \"";

	memset(text + strlen(text), 'a', 31); /* the rest of it is zeros */
	strcat(text, "\"\nhost = 0\nrun = \"r\"\n");
	good(text);
	assert_u_eq(strlen(s.program[0].name), 31);
	snprintf(text, sizeof(text), "[[program]]\nname = \"%032d\"\n", 0);
	bad(text, "f:2: program.name = 00000000000000000000000000000000: is too long");
}

TEST(ml_scenario_read, refuses_more_than_there_is_room_for)
{
	static const char one[] = "[[check]]\ncounter = \"lost\"\n";
	char text[(ML_SCENARIO_CHECKS_MAX + 1) * sizeof(one)] = "";

	for (uint32_t i = 0; i < ML_SCENARIO_CHECKS_MAX; i++)
		strcat(text, one);
	good(text);
	assert_u_eq(s.checks, ML_SCENARIO_CHECKS_MAX);
	strcat(text, one);
	bad(text, "f:129: more than 64 [[check]]");
	bad("\n[[cheque]]\n", "f:2: [[cheque]]: unknown table; there are program, fault, check");
}

TEST(ml_scenario_read, refuses_what_does_not_go_together)
{
	static const char several[] =
		"f:1: a fault that comes several times needs for, and a longer every";
	static const char what[] = "f:1: a check has program and says, or counter";

	bad("[[program]]\nname = \"a\"\nrun = \"r\"\n", "f:1: a program needs name, host and run");
	bad("[[program]]\nhost = 1\nrun = \"r\"\n", "f:1: a program needs name, host and run");
	bad("[[fault]]\ntarget = \"plane0\"\n", "f:1: a fault needs target and fault");
	bad("[[fault]]\ntarget = \"a\"\nfault = \"down\"\ntimes = 0\n", several);
	bad("[[fault]]\ntarget = \"a\"\nfault = \"down\"\ntimes = 2\nfor = \"1s\"\nevery = "
	    "\"1s\"\n",
	    several);
	bad("[[fault]]\ntarget = \"a\"\nfault = \"reboot\"\n", "f:1: a reboot needs for");
	bad("[[check]]\nprogram = \"a\"\n", what);
	bad("[[check]]\nprogram = \"a\"\nsays = \"x\"\ncounter = \"lost\"\n", what);
}

/* ---- against the topology ---- */

static void does_not_fit(const char *text, const char *why)
{
	static struct mf_topology t;
	char what[MF_TOML_ERROR_BYTES];

	assert_true(mf_topology_open("tiny", &t, what));
	good(text);
	if (!why) {
		if (ml_scenario_check_topology("f", &s, &t, error))
			fail_msg("%s", error);
		return;
	}
	assert_i_eq(ml_scenario_check_topology("f", &s, &t, error), -1);
	if (strncmp(error, why, strlen(why)) != 0)
		fail_msg("\"%s\", not \"%s\"", error, why);
}

TEST(ml_scenario_check_topology, names_the_line)
{
	static const char tiny[] = "topology = \"tiny\"\n[[program]]\nname = \"a\"\nrun = \"r\"\n";
	char text[256];

	snprintf(text, sizeof(text), "%shost = 3\n[[check]]\nprogram = \"a\"\nsays = \"x\"\n",
		 tiny);
	does_not_fit(text, NULL);
	snprintf(text, sizeof(text), "%shost = 4\n", tiny);
	does_not_fit(text, "f:2: host = 4: tiny has hosts 0 to 3");
	does_not_fit("\n[[fault]]\ntarget = \"plane9\"\nfault = \"down\"\n", "f:2: plane9: ");
	does_not_fit("[[fault]]\ntarget = \"plane0\"\nfault = \"dwon\"\n", "f:1: dwon: ");
	does_not_fit("[[check]]\nprogram = \"a\"\nsays = \"x\"\n",
		     "f:1: program = a: there is no [[program]] of this name");
	does_not_fit("[[check]]\ncounter = \"lost\"\nof = \"plane9\"\n", "f:1: plane9: ");
	does_not_fit("[[check]]\ncounter = \"lost\"\nof = \"plane1\"\n", NULL);
}

TEST(ml_scenario_check_topology, reads_the_faults)
{
	does_not_fit("[[fault]]\ntarget = \"host0.plane1\"\nfault = \"loss 1% in\"\n", NULL);
	assert_i_eq(s.fault[0].fault.kind, MF_FAULT_LOSS);
	assert_i_eq(s.fault[0].fault.direction, MF_DIRECTION_IN);
	assert_u_eq(s.fault[0].fault.value, 10000);
}

TEST(ml_scenario_counter_name, is_the_word_of_files)
{
	char text[64];

	for (int i = 0; i < ML_SCENARIO_COUNTERS; i++) {
		snprintf(text, sizeof(text), "[[check]]\ncounter = \"%s\"\n",
			 ml_scenario_counter_name((enum ml_scenario_counter)i));
		good(text);
		assert_i_eq(s.check[0].counter, i);
	}
}
