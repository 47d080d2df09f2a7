/* SPDX-License-Identifier: BSD-2-Clause */
/* The verdict: src/demo/demo_run.h. */
#include "demo/demo_run.h"

#include "support/test.h"

static struct demo_outcome o;
static struct demo_facts facts;
static struct demo_script script;

/* Everything as it should be, with a fault that drops and one that corrupts. */
static int set_good(void **state)
{
	(void)state;
	o = (struct demo_outcome){0};
	script = (struct demo_script){.n = 2};
	script.fault[0] =
		(struct demo_fault){.brief = "dead", .signs = DEMO_SIGN_LOST | DEMO_SIGN_RETIRED};
	script.fault[1] = (struct demo_fault){
		.brief = "bits", .signs = DEMO_SIGN_LOST | DEMO_SIGN_RETIRED | DEMO_SIGN_ICRC};
	for (int i = 0; i < 2; i++) {
		o.fault[i].lost = 5;
		o.fault[i].counters.evs_retired = 2;
	}
	o.fault[1].counters.drop_icrc = 5;
	facts = (struct demo_facts){
		.lost_counted = true,
		.healthy_done = true,
		.faulty_done = true,
		.healthy_trouble = "?",
		.faulty_trouble = "?",
		.healthy_agree = true,
		.faulty_agree = true,
		.healthy_sha256 = "abc",
		.faulty_sha256 = "abc",
		.final_loss = 1.5,
		.bigram_bits = 3.5,
		.tcp_sha256 = "",
		.tcp_steps = 12,
		.tcp_steps_equal = 12,
	};
	return 0;
}

#define VERDICT_TEST(name) TEST_WITH(set_good, NULL, demo_outcome_evaluate, name)

/* Judges and returns the text of the only check that failed. */
static const char *only_failure(void)
{
	const char *text = NULL;

	demo_outcome_evaluate(&o, &facts, &script);
	assert_false(o.pass);
	for (uint32_t i = 0; i < o.checks; i++)
		if (!o.check[i].pass) {
			assert_null(text);
			text = o.check[i].text;
		}
	assert_non_null(text);
	return text;
}

VERDICT_TEST(passes_when_all_is_good)
{
	demo_outcome_evaluate(&o, &facts, &script);
	assert_true(o.pass);
	assert_u_eq(o.checks, 10);
}

VERDICT_TEST(fails_when_digests_differ)
{
	facts.faulty_sha256 = "abd";
	assert_string_equal(only_failure(), "weights with and without faults are different");
}

VERDICT_TEST(fails_when_ranks_differ)
{
	facts.faulty_agree = false;
	assert_string_equal(only_failure(),
			    "run with faults: all ranks ended with different weights");
}

VERDICT_TEST(fails_when_the_loss_stays_high)
{
	facts.final_loss = 3.5;
	assert_non_null(strstr(only_failure(), "final loss 3.500"));
}

VERDICT_TEST(fails_when_a_fault_destroyed_nothing)
{
	o.fault[0].lost = 0;
	assert_string_equal(only_failure(), "dead: 0 data packets destroyed");
}

VERDICT_TEST(fails_when_a_fault_retired_nothing)
{
	o.fault[1].counters.evs_retired = 0;
	assert_string_equal(only_failure(), "bits: 0 EVs retired");
}

VERDICT_TEST(passes_when_evs_were_out_before)
{
	o.fault[1].counters.evs_retired = 0;
	o.fault[1].out_before = 2;
	demo_outcome_evaluate(&o, &facts, &script);
	assert_true(o.pass);
	assert_non_null(strstr(o.check[o.checks - 1].text, "2 EVs or ports were out before"));
}

VERDICT_TEST(passes_when_a_port_was_left_and_no_ev)
{
	o.fault[1].counters.evs_retired = 0;
	o.fault[1].counters.uplinks_left = 1;
	demo_outcome_evaluate(&o, &facts, &script);
	assert_true(o.pass);
	assert_non_null(strstr(o.check[o.checks - 1].text, "1 ports were left"));
}

VERDICT_TEST(passes_when_a_port_was_reported_down_before_an_ev_was_retired)
{
	script.fault[0].signs = DEMO_SIGN_AVOIDED;
	o.fault[0].counters.evs_retired = 0;
	o.fault[0].counters.peer_ports_abandoned = 1;
	demo_outcome_evaluate(&o, &facts, &script);
	assert_true(o.pass);
}

VERDICT_TEST(fails_when_no_plane_was_avoided)
{
	script.fault[0].signs = DEMO_SIGN_AVOIDED;
	o.fault[0].counters.evs_retired = 0;
	assert_string_equal(only_failure(),
			    "dead: 0 EVs retired, 0 planes left for a peer's port that is down");
}

VERDICT_TEST(fails_when_corruption_was_not_noticed)
{
	o.fault[1].counters.drop_icrc = 0;
	assert_string_equal(only_failure(), "bits: 0 packets refused by ICRC");
}

VERDICT_TEST(fails_when_a_run_was_not_finished)
{
	facts.faulty_done = false;
	facts.faulty_trouble = "rank 3 was killed";
	assert_string_equal(only_failure(), "run with faults: rank 3 was killed");
}

VERDICT_TEST(fails_when_tcp_computed_something_else)
{
	facts.tcp_steps_equal = 11;
	assert_non_null(strstr(only_failure(), "TCP finished 12 steps, 11 of them"));
	set_good(NULL);
	facts.tcp_done = facts.tcp_agree = true;
	facts.tcp_sha256 = "xyz";
	assert_non_null(strstr(only_failure(), "different"));
}

VERDICT_TEST(does_not_ask_tcp_to_finish)
{
	facts.tcp_steps = facts.tcp_steps_equal = 0;
	demo_outcome_evaluate(&o, &facts, &script);
	assert_true(o.pass);
}

/* ---- figures of a run ---- */

static struct demo_run healthy, faulty;
static struct demo_step steps[40];

/* Steps of 300 ms; a fault from step 10 on doubles four of them. */
static void make_run(void)
{
	uint64_t t = 1000;

	script = (struct demo_script){.n = 1, .steps = 40};
	script.fault[0] = (struct demo_fault){.slower_num = 2, .slower_den = 1};
	faulty = (struct demo_run){.cfg.script = &script, .start_ns = 0};
	healthy = faulty;
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t ns = i >= 10 && i < 14 ? 600 : 300;

		if (i == 10)
			faulty.fault[0].strike_ns = t;
		if (i == 14)
			faulty.fault[0].clear_ns = t;
		steps[i] = (struct demo_step){
			.start_ns = t, .end_ns = t + ns, .comm_ns = ns, .loss = i};
		t += ns;
	}
	faulty.end_ns = t;
	faulty.job.report.steps = healthy.job.report.steps = steps;
	faulty.job.report.n = healthy.job.report.n = 40;
	faulty.fault[0].phase = DEMO_CLEARED;
	faulty.fault[0].hits.data = 9;
	faulty.fault[0].at_end.evs_retired = 4;
	faulty.fault[0].at_strike.evs_retired = 1;
	faulty.fault[0].out_at_strike = 2;
}

TEST(demo_outcome_make, measures_before_during_and_after)
{
	make_run();
	demo_outcome_make(&o, &healthy, &faulty);
	assert_u_eq(o.fault[0].before.step_ns, 300);
	assert_u_eq(o.fault[0].before.n, 9); /* not the cold first one */
	assert_u_eq(o.fault[0].during.step_ns, 600);
	assert_u_eq(o.fault[0].during.n, 4);
	assert_u_eq(o.fault[0].after.step_ns, 300);
	assert_u_eq(o.fault[0].expect_ns, 600);
	assert_u_eq(o.fault[0].lost, 9);
	assert_u_eq(o.fault[0].counters.evs_retired, 3);
	assert_u_eq(o.fault[0].out_before, 2);
}

TEST(demo_outcome_make, compares_the_losses_of_tcp)
{
	make_run();
	faulty.tcp.report.steps = steps;
	faulty.tcp.report.n = 5;
	faulty.tcp_steps = 5;
	demo_outcome_make(&o, &healthy, &faulty);
	assert_u_eq(o.tcp_steps_equal, 5);
}

TEST(demo_outcome_make, fails_when_nothing_ran)
{
	make_run();
	memset(&faulty, 0, sizeof(faulty));
	demo_outcome_make(&o, &healthy, &faulty);
	assert_false(o.pass);
}

/* An incast destroys nothing, and need not retire anything. */
VERDICT_TEST(asks_of_each_fault_its_own_signs)
{
	script.fault[0].signs = DEMO_SIGN_QUEUES;
	o.fault[0].lost = 0;
	o.fault[0].counters.evs_retired = 0;
	assert_string_equal(only_failure(), "dead: 0 packets trimmed");
	o.fault[0].trimmed = 3;
	demo_outcome_evaluate(&o, &facts, &script);
	assert_true(o.pass);
}

VERDICT_TEST(does_not_ask_for_what_nobody_counts)
{
	facts.lost_counted = false;
	o.fault[0].lost = 0;
	demo_outcome_evaluate(&o, &facts, &script);
	assert_true(o.pass);
}
