/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_fault_spans.c - spans of faults and the changes they come to. */
#include "support/test.h"

#include <stdio.h>

#include "fabric/fabric_node.h"
#include "fabric/topology_toml.h"
#include "sim/scenario/scenario.h"
#include "unit/sim_fault_name.h"

/* Changes are written as "time link kind value;". */
static void events_are(struct ms_fault_spans *l, const char *want)
{
	struct ms_fault *events;
	char got[600] = "";
	uint32_t n;

	assert_true(ms_fault_spans_events(l, &events, &n));
	for (uint32_t i = 0; i < n; i++) {
		size_t at = strlen(got);

		snprintf(got + at, sizeof(got) - at, "%u %u %s %u;", (uint32_t)events[i].at_ps,
			 events[i].link, fault_name(events[i].kind), events[i].value);
	}
	assert_string_equal(got, want);
	free(events);
	ms_fault_spans_fini(l);
}

static void add(struct ms_fault_spans *l, uint64_t from, uint64_t until, uint32_t link,
		enum ms_fault_kind kind, uint32_t value)
{
	const struct ms_fault_span span = {from, until, link, value, (uint8_t)kind};

	assert_true(ms_fault_spans_add(l, &span));
}

TEST(ms_fault_spans_events, begin_and_end)
{
	struct ms_fault_spans l = {0};

	add(&l, 10, 20, 3, MS_FAULT_DOWN, 0);
	add(&l, 5, UINT64_MAX, 4, MS_FAULT_LOSS, 7);
	add(&l, 8, 8, 1, MS_FAULT_DOWN, 0);
	events_are(&l, "5 4 loss 7;10 3 down 0;20 3 up 0;");
}

TEST(ms_fault_spans_events, none)
{
	struct ms_fault_spans l = {0};

	events_are(&l, "");
}

TEST(ms_fault_spans_events, the_worst_holds)
{
	struct ms_fault_spans l = {0};

	add(&l, 10, 50, 2, MS_FAULT_LOSS, 100);
	add(&l, 20, 30, 2, MS_FAULT_LOSS, 900);
	add(&l, 40, 60, 2, MS_FAULT_LOSS, 50);
	events_are(&l, "10 2 loss 100;20 2 loss 900;30 2 loss 100;50 2 loss 50;60 2 loss 0;");
}

TEST(ms_fault_spans_events, the_slowest_holds)
{
	struct ms_fault_spans l = {0};

	add(&l, 0, 30, 2, MS_FAULT_RATE, 500000);
	add(&l, 10, 20, 2, MS_FAULT_RATE, 250000);
	events_are(&l, "0 2 rate 500000;10 2 rate 250000;20 2 rate 500000;30 2 rate 1000000;");
}

TEST(ms_fault_spans_events, touching_spans_are_one)
{
	struct ms_fault_spans l = {0};

	add(&l, 20, 30, 2, MS_FAULT_DOWN, 0);
	add(&l, 10, 20, 2, MS_FAULT_DOWN, 0);
	add(&l, 15, 18, 2, MS_FAULT_DOWN, 0);
	events_are(&l, "10 2 down 0;30 2 up 0;");
}

TEST(ms_fault_spans_link, all_links_of_a_switch)
{
	struct ms_fault_span span = {1, 2, 0, 1, MS_FAULT_BLACKHOLE};
	struct ms_fault_spans l = {0};
	struct mf_target target;
	struct mf_topology t;
	struct mf_error error;
	char why[MF_TOML_ERROR_BYTES];

	assert_true(mf_topology_open("tiny", &t, why));
	assert_true(mf_target_find(&t, "plane1.t1-1", &target, &error));
	for (uint32_t i = 0; i < target.links; i++) {
		span.link = mf_target_link(&t, &target, i);
		assert_true(ms_fault_spans_link(&l, span, MF_DIRECTION_BOTH));
	}
	assert_u_eq(l.list.n, 2 * mf_node_ports(&t, MF_T1));
	for (uint32_t i = 0; i < l.list.n; i++)
		assert_true(mf_link_from(&t, l.list.at[i].link).node == target.node ||
			    mf_link_to(&t, l.list.at[i].link).node == target.node);
	ms_fault_spans_fini(&l);
}

TEST(ms_fault_spans_link, one_way)
{
	const struct ms_fault_span span = {1, 2, 6, 1, MS_FAULT_BLACKHOLE};
	struct ms_fault_spans l = {0};

	assert_true(ms_fault_spans_link(&l, span, MF_DIRECTION_OUT));
	assert_true(ms_fault_spans_link(&l, span, MF_DIRECTION_IN));
	events_are(&l, "1 6 blackhole 1;1 7 blackhole 1;2 6 blackhole 0;2 7 blackhole 0;");
}
