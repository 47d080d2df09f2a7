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

TEST(ml_scenario_read, takes_the_largest_values)
{
	good("[[program]]\nname = \"a\"\nrun = \"r\"\nhost = \"9-9,4294967295\"\nstatus = 255\n"
	     "[[fault]]\ntarget = \"plane0\"\nfault = \"down\"\nfor = \"1us\"\nevery = \"2us\"\n"
	     "times = 1000\n[[check]]\ncounter = \"lost\"\nleast = 9223372036854775807\n");
	assert_u_eq(s.program[0].hosts, 2);
	assert_u_eq(s.program[0].host[0], 9);
	assert_u_eq(s.program[0].host[1], UINT32_MAX);
	assert_u_eq(s.program[0].status, 255);
	assert_u_eq(s.fault[0].times, 1000);
	assert_u_eq(s.check[0].least, INT64_MAX);
}

TEST(ml_scenario_read, says_where_it_is_no_toml)
{
	bad("title = \"t\"\n[[\n", "f:2: expected `key = value` or [table], with names of "
				   "letters, digits, _ and -");
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
	struct ml_scenario *alone = malloc(sizeof(*alone)); /* nothing of ours is behind it */

	for (uint32_t i = 0; i < ML_SCENARIO_CHECKS_MAX; i++)
		strcat(text, one);
	assert_non_null(alone);
	assert_i_eq(ml_scenario_read("f", text, alone, error), 0);
	assert_u_eq(alone->checks, ML_SCENARIO_CHECKS_MAX);
	free(alone);
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

/* A new element of a table that says nothing of it is zeros, whatever was there before. */
TEST(ml_toml_read, begins_an_element_with_zeros)
{
	struct row {
		uint32_t line, n;
	};
	struct whole {
		struct row row[1];
		uint32_t rows;
	} whole;
	const struct ml_toml_key key = {"row.n", MB_TOML_INTEGER, ml_toml_u32,
					offsetof(struct row, n), 9};
	const struct ml_toml_table table = {"row",
					    offsetof(struct whole, row),
					    sizeof(struct row),
					    offsetof(struct whole, rows),
					    1,
					    NULL};
	const struct ml_toml_format format = {&key, 1, &table, 1, "this file"};

	memset(&whole, 0x5A, sizeof(whole));
	whole.rows = 0;
	assert_i_eq(ml_toml_read(&format, "f", "[[row]]\n", &whole, error), 0);
	assert_u_eq(whole.rows, 1);
	assert_u_eq(whole.row[0].line, 1);
	assert_u_eq(whole.row[0].n, 0);
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

/* What is behind the last of each is none of them. */
TEST(ml_scenario_check_topology, as_much_as_there_is_room_for)
{
	static const char check[] = "[[check]]\nprogram = \"a\"\nsays = \"x\"\n";
	static char text[1 << 14];
	char *end;

	strcpy(text, "topology = \"tiny\"\n");
	for (uint32_t i = 0; i < ML_SCENARIO_PROGRAMS_MAX; i++) {
		strcat(text, "[[program]]\nname = \"a\"\nrun = \"r\"\nhost = \"0-3");
		for (uint32_t h = 4; h < ML_SCENARIO_HOSTS_MAX; h += 4)
			strcat(text, ",0-3");
		strcat(text, "\"\n");
	}
	for (uint32_t i = 1; i < ML_SCENARIO_CHECKS_MAX; i++)
		strcat(text, check);
	end = text + strlen(text);
	strcpy(end, check);
	does_not_fit(text, NULL);
	strcpy(end, "[[check]]\nprogram = \"b\"\nsays = \"x\"\n");
	does_not_fit(text, "f:319: program = b: there is no [[program]] of this name");
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
