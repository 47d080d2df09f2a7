/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_scenario.c - scenario files: what they come to, changes from outside, each wrong
 * file. */
#include "sim_fixture.h"

#include <stdio.h>

#include "sim/scenario/scenario.h"
#include "sim/scenario/scenario_keys.h"
#include "unit/sim_fault_name.h"

#define TINY "[topology]\nbase = \"tiny\"\n"
#define LOAD "[[workload]]\nkind = \"permutation\"\n"

static struct ms_scenario *good_with(const char *text, const char *const *change, size_t n)
{
	const struct ms_changes changes = {change, n};
	struct ms_file_error error;
	struct ms_scenario *s = ms_scenario_read("f.toml", text, &changes, &error);

	if (!s)
		fail_msg("%s", error.text);
	return s;
}

static struct ms_scenario *good(const char *text)
{
	return good_with(text, NULL, 0);
}

TEST(ms_scenario_read, defaults)
{
	struct ms_scenario *s = good(TINY LOAD);

	assert_u_eq(s->fabric.n_hosts, 4);
	assert_u_eq(s->run.seed, 1);
	assert_u_eq(s->run.threads, 1);
	assert_u_eq(s->run.end_ps, MS_NEVER);
	assert_u_eq(s->run.n_workloads, 1);
	assert_i_eq(s->run.workload[0].kind, MS_PERMUTATION);
	assert_u_eq(s->run.workload[0].bytes, 1048576);
	assert_u_eq(s->run.n_faults, 0);
	assert_u_eq(s->run.queue[MS_PORT_T0_DOWN].ecn_max_bytes, 0);
	assert_true(s->run.mrc.trim_nack);
	ms_scenario_destroy(s);
}

TEST(ms_scenario_read, every_table)
{
	struct ms_scenario *s =
		good("title = \"all\"\nseed = 7\nthreads = 2\nend = \"3ms\"\n"
		     "[mrc]\nevs = 1\nmpr = 9\nreorder_max = \"9us\"\n[nscc]\ncontrol = \"none\"\n"
		     "[queues]\ntrim_to = 200\necn_last_hop = true\n[queues.t0_up]\ntrim = \"7k\"\n"
		     "[output]\nevery = \"2us\"\nlinks = [\"host0.e1\"]\n" TINY LOAD
		     "bytes = \"2k\"\nstart = \"1us\"\n");

	assert_string_equal(s->head.title, "all");
	assert_u_eq(s->run.seed, 7);
	assert_u_eq(s->run.threads, 2);
	assert_u_eq(s->run.end_ps, 3000000000);
	assert_u_eq(s->run.mrc.evs, 1);
	assert_u_eq(s->run.mrc.mpr, 9);
	assert_u_eq(s->run.mrc.timing.reorder_max_ns, 9000);
	assert_u_eq(s->run.mrc.cc.kind, MT_CC_NONE);
	assert_u_eq(s->run.trim_to_bytes, 200);
	assert_true(s->run.queue[MS_PORT_T0_DOWN].ecn_max_bytes > 0);
	assert_u_eq(s->run.queue[MS_PORT_T0_UP].trim_bytes, 7168);
	assert_u_eq(s->output.every_ns, 2000);
	assert_string_equal(s->output.links, "host0.e1");
	assert_u_eq(s->run.workload[0].bytes, 2048);
	assert_u_eq(s->run.workload[0].start_ns, 1000);
	ms_scenario_destroy(s);
}

TEST(ms_scenario_read, without_trimming_and_ecn)
{
	struct ms_scenario *s = good(TINY "[queues]\ntrimming = false\necn = false\n" LOAD);

	assert_false(s->run.mrc.trim_nack);
	assert_false(s->run.mrc.cc.trimming);
	for (int kind = 0; kind < MS_PORT_KINDS; kind++) {
		assert_u_eq(s->run.queue[kind].trim_bytes, 0);
		assert_u_eq(s->run.queue[kind].ecn_max_bytes, 0);
	}
	ms_scenario_destroy(s);
}

TEST(ms_scenario_read, changes_replace_what_the_file_says)
{
	static const char *const change[] = {"seed=9", "topology.planes=4", "workload.1.bytes=3M",
					     "workload.bytes=2M", "title=other words"};
	struct ms_scenario *s =
		good_with("seed = 2\n" TINY "planes = 1\n" LOAD LOAD "bytes = 5\n", change, 5);

	assert_u_eq(s->run.seed, 9);
	assert_u_eq(s->fabric.cfg.planes, 4);
	assert_u_eq(s->run.workload[0].bytes, 2 << 20);
	assert_u_eq(s->run.workload[1].bytes, 3 << 20);
	assert_string_equal(s->head.title, "other words");
	ms_scenario_destroy(s);
}

TEST(ms_scenario_read, another_base_by_a_change)
{
	static const char *const change[] = {"topology.base=lab"};
	struct ms_scenario *s = good_with(TINY "planes = 3\n" LOAD, change, 1);

	assert_u_eq(s->fabric.n_hosts, 8);
	assert_u_eq(s->fabric.cfg.planes, 3);
	ms_scenario_destroy(s);
}

/* Faults are written as "us link kind;". */
static void faults_are(const char *text, const char *want)
{
	struct ms_scenario *s = good(text);
	char got[400] = "";

	for (uint32_t i = 0; i < s->run.n_faults; i++) {
		const struct ms_fault *f = &s->run.faults[i];
		size_t at = strlen(got);

		snprintf(got + at, sizeof(got) - at, "%u %u %s %u;", (uint32_t)(f->at_ps / 1000000),
			 f->link, fault_name(f->kind), f->value);
	}
	assert_string_equal(got, want);
	ms_scenario_destroy(s);
}

TEST(ms_scenario_fault_events, a_cable_and_one_way_of_it)
{
	faults_are(TINY LOAD "[[fault]]\nkind = \"down\"\ntarget = \"host1.e0\"\nat = \"3us\"\n"
			     "for = \"2us\"\n",
		   "3 2 down 0;3 3 down 0;5 2 up 0;5 3 up 0;");
	faults_are(TINY LOAD
		   "[[fault]]\nkind = \"loss\"\ntarget = \"host1.e0\"\ndirection = \"in\"\n"
		   "share = 0.25\n",
		   "0 3 loss 250000;");
}

TEST(ms_scenario_fault_events, a_flap)
{
	faults_are(TINY LOAD
		   "[[fault]]\nkind = \"flap\"\ntarget = \"host0.e0\"\ndirection = \"out\"\n"
		   "period = \"4us\"\nat = \"1us\"\nfor = \"6us\"\n",
		   "1 0 down 0;3 0 up 0;5 0 down 0;7 0 up 0;");
}

TEST(ms_scenario_fault_events, all_of_a_class)
{
	struct ms_scenario *s =
		good(TINY LOAD "[[fault]]\nkind = \"slow\"\nof = \"t0-t1\"\nshare = 0.5\n");

	assert_u_eq(s->run.n_faults, 2 * mf_topology_cables(&s->fabric, MF_T0_T1));
	ms_scenario_destroy(s);
}

/* Each cable of a plane has two directions; a transceiver serves four cables. */
TEST(ms_scenario_fault_events, a_plane_and_a_transceiver)
{
	struct ms_scenario *s =
		good(TINY LOAD "[[fault]]\nkind = \"stall\"\ntarget = \"plane1\"\n");

	assert_u_eq(s->run.n_faults, 2 * s->fabric.plane_cables);
	for (uint32_t i = 0; i < s->run.n_faults; i++)
		assert_u_eq(mf_link_plane(&s->fabric, s->run.faults[i].link), 1);
	ms_scenario_destroy(s);
	s = good(TINY LOAD "[[fault]]\nkind = \"down\"\ntarget = \"plane0.t0-1.transceiver0\"\n");
	assert_u_eq(s->run.n_faults, 2 * MF_TRANSCEIVER_PORTS);
	ms_scenario_destroy(s);
}

TEST(ms_scenario_fault_events, random_ones_follow_from_the_seed)
{
	static const char text[] = "end = \"1ms\"\n" TINY LOAD
				   "[[random]]\nkind = \"down\"\nof = \"t1\"\nbetween = \"10us\"\n"
				   "for = \"5us\"\n";
	static const char *const change[] = {"seed=2"};
	struct ms_scenario *a = good(text), *b = good(text), *c = good_with(text, change, 1);

	/* About 100 T1s go, each with four links, and come back; some while they are down. */
	assert_u_between(a->run.n_faults, 300, 1000);
	assert_u_eq(a->run.n_faults, b->run.n_faults);
	assert_memory_equal(a->faults, b->faults, a->run.n_faults * sizeof(*a->faults));
	assert_true(c->run.n_faults != a->run.n_faults ||
		    memcmp(a->faults, c->faults, a->run.n_faults * sizeof(*a->faults)) != 0);
	ms_scenario_destroy(a);
	ms_scenario_destroy(b);
	ms_scenario_destroy(c);
}

static const struct sim_bad bads[] = {
	{"", "f.toml: has no fabric"},
	{TINY, "f.toml: has no workload"},
	{"seed = \n" TINY LOAD, "f.toml:1: a value is"},
	{"sed = 4\n" TINY LOAD, "f.toml:1: sed: unknown key; did you mean seed?"},
	{"seed = 0\n" TINY LOAD, "f.toml:1: seed = 0: expected a number from 1 to"},
	{"seed = \"4\"\n" TINY LOAD, "f.toml:1: seed = 4: expected a number"},
	{"seed = 4\nseed = 5\n" TINY LOAD, "f.toml:2: seed = 5: was given before, in line 1"},
	{"end = \"3\"\n" TINY LOAD, "f.toml:1: end = 3: expected a time such as"},
	{"[topology]\nbase = \"tinny\"\n" LOAD, "did you mean tiny?"},
	{"[topology]\nbase = \"tiny\"\nplans = 3\n" LOAD, "did you mean topology.planes?"},
	{"[topology]\nfile = \"no/such.toml\"\n" LOAD, "no/such.toml: cannot be read"},
	{"[topology]\nhtsim = \"no.topo\"\n" LOAD, "no.topo: cannot be read"},
	{TINY "[queue]\n[queues]\nx = 1\n" LOAD, "f.toml:5: queues.x: unknown key"},
	{TINY "[ques]\nx = 1\n" LOAD, "f.toml:4: ques.x: unknown table [ques]; did you mean"},
	{TINY "[[queues]]\nx = 1\n" LOAD, "f.toml:3: queues: expected a table in single brackets"},
	{TINY "[workload]\nkind = \"flow\"\n",
	 "f.toml:4: workload.kind = flow: there are 0 [[workload]]"},
	{TINY "[[workload]]\nbytes = 5\n", "f.toml:3: workload: has no kind"},
	{TINY "[[workload]]\nkind = \"incest\"\n", "f.toml:4: workload.kind = incest: did you mean "
						   "incast? expected one of permutation"},
	{TINY "[[workload]]\nkind = \"flow\"\ndst = 4\n", "f.toml:3: workload: src = 0, dst = 4"},
	{TINY "[[workload]]\nkind = \"incast\"\ngroup_size = 9\n", "f.toml:3: workload: "},
	{TINY "[[workload]]\nkind = \"matrix\"\n", "f.toml:3: workload: has no file"},
	{TINY "[[workload]]\nkind = \"flows\"\nfile = \"no.csv\"\n", "no.csv: cannot be read"},
	{TINY LOAD "[mrc]\nevs = 0\n", "f.toml:6: mrc.evs = 0: expected a number from 1"},
	{TINY LOAD "[nscc]\ncontrol = \"nsc\"\n", "did you mean nscc? expected one of none, nscc"},
	{TINY LOAD "[queues.t0_up]\necn_share = 1.5\n",
	 "expected a share such as 0.25, from 0 to 1"},
	{TINY LOAD "[[fault]]\ntarget = \"host0\"\n", "f.toml:5: fault: has no kind"},
	{TINY LOAD "[[fault]]\nkind = \"down\"\n", "f.toml:5: down: expected a target"},
	{TINY LOAD "[[fault]]\nkind = \"loss\"\ntarget = \"host0\"\n", "loss: has no share"},
	{TINY LOAD "[[fault]]\nkind = \"flap\"\ntarget = \"host0\"\n", "flap: has no period"},
	{TINY LOAD "[[fault]]\nkind = \"down\"\ntarget = \"host9\"\n",
	 "f.toml:5: target = host9: "},
	{TINY LOAD "[[fault]]\nkind = \"down\"\ntarget = \"host0.e7\"\n", "target = host0.e7: "},
	{TINY LOAD "[[fault]]\nkind = \"stall\"\ntarget = \"host0\"\n", "stall: expected a switch"},
	{TINY LOAD "[[fault]]\nkind = \"down\"\nof = \"t2\"\n", "expected a fabric of three tiers"},
	{TINY LOAD "[[random]]\nkind = \"down\"\nof = \"t1\"\nbetween = \"1us\"\nfor = \"1us\"\n",
	 "f.toml:5: down: expected an `end` of the run"},
	{TINY LOAD "[[random]]\nkind = \"down\"\nof = \"t1\"\n", "expected `between` and `for`"},
	{TINY "[[job]]\ndp = 5\n",
	 "f.toml:3: job: tp x pp x dp = 1 x 1 x 5 = 5 ranks from first = 0 "
	 "on, stride 1: the last is on host 4; hosts are 0 to 3"},
	{TINY "[[job]]\ndp = 4\nep = 3\n", "f.toml:3: job: ep = 3: a divisor of dp = 4"},
	{TINY "[[job]]\ndp = -4\n", "f.toml:4: job.dp = -4: expected a number from 1"},
	{TINY "[[job]]\nplacement = \"good\"\n",
	 "job.placement = good: expected one of contiguous, strided, random"},
	{TINY "[[job]]\ndp = 3\n[[job]]\ndp = 2\nfirst = 2\n",
	 "f.toml:5: job: host 2 is in the job of line 3 too"},
	{TINY "[[job]]\njitter = -1\n", "job.jitter = -1: expected a share"},
	{TINY "[[job]]\ndp = 2\n[[rate]]\nof = \"t1\"\nper_year = -3\n",
	 "f.toml:5: rate.per_year = -3: expected more than 0"},
	{TINY "[[job]]\ndp = 2\n[[rate]]\nof = \"t1\"\n",
	 "f.toml:5: rate: expected one of per_year and per_minute"},
	{TINY "[[job]]\ndp = 2\n[[rate]]\nof = \"t9\"\nper_year = 1\n",
	 "f.toml:6: rate.of = t9: did you mean t"},
	{TINY "[[job]]\ndp = 2\n[[rate]]\nof = \"t1-t2\"\nper_year = 1\n", "three tiers"},
	{TINY LOAD "[[rate]]\nof = \"t1\"\nper_year = 1\n", "f.toml:5: rate: expected a [[job]]"},
	{TINY LOAD "[goodput]\ngpus = [\"many\"]\n", "goodput.gpus = many: expected at most 16"},
	{TINY LOAD "[goodput]\nreconverge = [\"1\"]\n", "goodput.reconverge = 1: expected"},
	{TINY LOAD "[goodput]\nfabric = \"papr\"\n", "did you mean paper"},
	{TINY LOAD "[[expect]]\nmin = 3\n", "f.toml:5: expect: expected a figure"},
	{TINY LOAD "[[expect]]\nfigure = \"x\"\nmin = \"a\"\n",
	 "expect.min = a: expected a number"},
};

TEST(ms_scenario_read, wrong_files)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct ms_file_error error = {""};

		if (ms_scenario_read("f.toml", bads[i].text, NULL, &error))
			fail_msg("\"%s\" was taken", bads[i].text);
		if (!strstr(error.text, bads[i].says))
			fail_msg("\"%s\" says nothing of \"%s\"", error.text, bads[i].says);
	}
}

TEST(ms_scenario_read, wrong_changes)
{
	static const struct sim_bad changes[] = {
		{"seed", "--set: seed: expected TABLE.KEY=VALUE"},
		{"sed=3", "--set: sed: unknown key; did you mean seed?"},
		{"mrc.evs=none", "--set: mrc.evs = none: expected a number"},
		{"workload.3.bytes=5", "--set: workload.bytes = 5: there is 1 [[workload]]"},
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct ms_changes one = {&changes[i].text, 1};
		struct ms_file_error error = {""};

		assert_null(ms_scenario_read("f.toml", TINY LOAD, &one, &error));
		sim_said(&error, "--set", changes[i].says + strlen("--set"));
	}
}

/* Every scenario that is built in can be read, has a title, and what it compares with is there. */
TEST(ms_presets, all_are_good)
{
	for (const struct mb_named_text *p = ms_presets; p->name; p++) {
		struct ms_file_error error;
		struct ms_scenario *s = ms_scenario_read(p->name, p->text, NULL, &error);

		if (!s)
			fail_msg("%s", error.text);
		if (!s->head.title[0])
			fail_msg("%s has no title", p->name);
		for (uint32_t k = 0; k < s->n_expectations; k++)
			if (s->expectation[k].than[0] &&
			    !mb_named_text_find(ms_presets, s->expectation[k].than))
				fail_msg("%s compares with %s", p->name, s->expectation[k].than);
		ms_scenario_destroy(s);
	}
	assert_null(mb_named_text_find(ms_presets, "no-such-scenario"));
	assert_string_equal(mb_named_text_near(ms_presets, "permutatoin"), "permutation");
}

TEST(ms_scenario_tables, words_are_those_of_the_workload)
{
	for (int kind = 0; kind < MS_LIST; kind++)
		assert_string_equal(ms_load_names[kind],
				    ms_workload_kind_name((enum ms_workload_kind)kind));
}
