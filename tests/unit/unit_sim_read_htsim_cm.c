/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_read_cm.c - connection matrices of htsim: what they say, and each way to be wrong. */
#include "sim_fixture.h"

#include "sim/import/flow_files.h"

#define HEAD "Nodes 8\nConnections 2\n"

static void cm_good(struct ms_cm *cm, const char *text)
{
	struct ms_file_error error;

	if (!ms_cm_read(cm, "f.cm", text, &error))
		fail_msg("%s", error.text);
}

TEST(ms_cm_read, flows_with_starts_in_picoseconds)
{
	struct ms_cm cm;

	cm_good(&cm, "# two\nNodes 8\nConnections 2\n2->7 id 1 start 0 size 2000000\n"
		     "3->0 start 16000000.0 size 5 prio 3 msg 4\n");
	assert_u_eq(cm.nodes, 8);
	assert_u_eq(cm.flows.n, 2);
	assert_u_eq(cm.flows.flow[0].src, 2);
	assert_u_eq(cm.flows.flow[0].dst, 7);
	assert_u_eq(cm.flows.flow[0].bytes, 2000000);
	assert_u_eq(cm.flows.flow[1].start_ns, 16000);
	ms_cm_fini(&cm);
}

TEST(ms_cm_read, a_message_without_a_number)
{
	struct ms_cm cm;

	cm_good(&cm, HEAD "0->1 id 1 msg start 0 size 40860\n0->1 id 1 msg start 0 size 1\n");
	assert_u_eq(cm.flows.n, 2);
	ms_cm_fini(&cm);
}

TEST(ms_cm_read, one_flow_starts_another)
{
	struct ms_cm cm;

	cm_good(&cm, HEAD "Triggers 1\n2->4 id 2 trigger 9 size 7\n"
			  "2->3 id 1 start 0 size 7 send_done_trigger 9\ntrigger id 9 oneshot\n");
	assert_u_eq(cm.flows.flow[0].n_needs, 1);
	assert_u_eq(cm.flows.need.at[cm.flows.flow[0].first_need].flow, 1);
	assert_i_eq(cm.flows.need.at[0].end, MS_SENT);
	assert_u_eq(cm.flows.flow[1].n_needs, 0);
	ms_cm_fini(&cm);
}

TEST(ms_cm_read, a_barrier_waits_for_all)
{
	struct ms_cm cm;

	cm_good(&cm, "Nodes 8\nConnections 4\nTriggers 1\n1->0 start 0 size 9 recv_done_trigger 3\n"
		     "2->0 start 0 size 9 recv_done_trigger 3\n0->5 trigger 3 size 9\n"
		     "0->6 trigger 3 size 9\ntrigger id 3 barrier count 2\n");
	for (uint32_t flow = 2; flow < 4; flow++) {
		const struct ms_list_flow *f = &cm.flows.flow[flow];

		assert_u_eq(f->n_needs, 2);
		for (uint32_t i = 0; i < 2; i++) {
			assert_u_eq(cm.flows.need.at[f->first_need + i].flow, i);
			assert_i_eq(cm.flows.need.at[f->first_need + i].end, MS_RECEIVED);
		}
	}
	ms_cm_fini(&cm);
}

TEST(ms_cm_read, news_from_other_hosts_travel)
{
	struct ms_cm cm;

	cm_good(&cm, "Nodes 8\nConnections 3\nTriggers 1\n1->2 start 0 size 9 recv_done_trigger 3\n"
		     "5->6 start 0 size 9 send_done_trigger 3\n6->7 trigger 3 size 9\n"
		     "trigger id 3 barrier count 2\n");
	assert_u_eq(cm.flows.n, 5);
	for (uint32_t i = 0; i < 2; i++) {
		const struct ms_list_flow *relay = &cm.flows.flow[3 + i];
		const struct ms_list_flow *waits = &cm.flows.flow[2];

		assert_u_eq(relay->src, i ? 5 : 2);
		assert_u_eq(relay->dst, 6);
		assert_u_eq(relay->bytes, 0);
		assert_u_eq(relay->n_needs, 1);
		assert_u_eq(cm.flows.need.at[relay->first_need].flow, i);
		assert_u_eq(waits->n_needs, 2);
		assert_u_eq(cm.flows.need.at[waits->first_need + i].flow, 3 + i);
		assert_i_eq(cm.flows.need.at[waits->first_need + i].end, MS_RECEIVED);
	}
	ms_cm_fini(&cm);
}

TEST(ms_cm_read, failed_links)
{
	struct ms_cm cm;

	cm_good(&cm, "Nodes 8\nConnections 1\nFailures 1\n0->1 start 0 size 1\n"
		     "failure switch_type AGG switch_id 3 link_id 1\n");
	assert_u_eq(cm.n_failures, 1);
	assert_u_eq(cm.failure[0].t1, 3);
	assert_u_eq(cm.failure[0].uplink, 1);
	ms_cm_fini(&cm);
}

static const struct sim_bad bad_lines[] = {
	{"", "f.cm: has no line `Nodes N`"},
	{"Nodes x\n", "f.cm:1: Nodes x: expected a number from 2 to"},
	{"Nodes 1\n", "f.cm:1: Nodes 1: expected"},
	{"Nodes\n", "f.cm:1: Nodes nothing: expected"},
	{"Node 8\n", "f.cm:1: Node: unexpected word; did you mean Nodes?"},
	{"0->1 start 0 size 1\n", "f.cm:1: expected `Nodes N` before"},
	{"Nodes 8\nConnections 1\n0->8 start 0 size 1\n", "f.cm:3: 0->8: expected SRC->DST"},
	{"Nodes 8\nConnections 1\n->2 start 0 size 1\n", "f.cm:3: ->2: expected SRC->DST"},
	{"Nodes 8\nConnections 1\n3->3 start 0 size 1\n", "f.cm:3: 3->3: a host sends to itself"},
	{"Nodes 8\nConnections 1\n0->1 size 1\n", "f.cm:3: 0->1: has no start"},
	{"Nodes 8\nConnections 1\n0->1 start 0\n", "f.cm:3: 0->1: has no size"},
	{"Nodes 8\nConnections 1\n0->1 start -5 size 1\n",
	 "f.cm:3: start -5: expected picoseconds"},
	{"Nodes 8\nConnections 1\n0->1 start\n", "f.cm:3: start nothing: expected"},
	{"Nodes 8\nConnections 1\n0->1 start 0 size big\n", "f.cm:3: size big: expected a number"},
	{"Nodes 8\nConnections 1\n0->1 start 0 sise 1\n", "f.cm:3: sise: unexpected word; did you "
							  "mean size?"},
	{"Nodes 8\nConnections 1\n0->1 start 0 size 1 id 0\n", "f.cm:3: id 0: expected"},
	{"Nodes 8\nConnections 2\n0->1 start 0 size 1\n", "f.cm: Connections 2: the file has 1"},
	{"Nodes 8\nTriggers 1\nConnections 1\n0->1 start 0 size 1\n",
	 "f.cm: Triggers 1: the file has 0"},
	{"Nodes 8\nConnections 1\nFailures 1\n0->1 start 0 size 1\n",
	 "f.cm: Failures 1: the file has 0"},
	{"Nodes 8\nConnections 1\n0->1 start 0 size 1\nwhat\n", "f.cm:4: what: unexpected word"},
	{"Nodes 8\nConnections 1\nFailures 1\n0->1 start 0 size 1\nfailure switch_type TOR\n",
	 "f.cm:5: switch_type TOR: expected AGG"},
	{"Nodes 8\nConnections 1\nFailures 1\n0->1 start 0 size 1\nfailure switch_type AGG\n",
	 "f.cm:5: failure: expected switch_type AGG switch_id ID"},
};

static void cm_refused(const struct sim_bad *bad, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ms_file_error error = {""};
		struct ms_cm cm;

		if (ms_cm_read(&cm, "f.cm", bad[i].text, &error))
			fail_msg("\"%s\" was taken", bad[i].text);
		sim_said(&error, "f.cm", bad[i].says);
		assert_null(cm.flows.flow);
	}
}

TEST(ms_cm_read, wrong_lines)
{
	cm_refused(bad_lines, sizeof(bad_lines) / sizeof(bad_lines[0]));
}

#define TWO "Nodes 8\nConnections 2\nTriggers 1\n"
#define FIRE "1->2 start 0 size 1 recv_done_trigger 4\n"

static const struct sim_bad bad_triggers[] = {
	{"Nodes 8\nConnections 2\n" FIRE "2->3 trigger 4 size 1\n",
	 "f.cm:4: trigger 4: is not described"},
	{TWO FIRE "2->3 trigger 4 start 0 size 1\ntrigger id 4 oneshot\n",
	 "f.cm:5: 2->3: has both a start and a trigger"},
	{TWO "1->2 start 0 size 1\n2->3 trigger 4 size 1\ntrigger id 4 oneshot\n",
	 "f.cm:6: trigger id 4: 0 flows fire it; expected 1"},
	{TWO FIRE "2->3 trigger 4 size 1\ntrigger id 4 barrier count 2\n",
	 "f.cm:6: trigger id 4: 1 flows fire it; expected 2"},
	{TWO FIRE "2->3 trigger 4 size 1\ntrigger oneshot\n", "f.cm:6: trigger: has no id"},
	{TWO FIRE "2->3 trigger 4 size 1\ntrigger id 4\n", "f.cm:6: trigger: has no kind"},
	{TWO FIRE "2->3 trigger 4 size 1\ntrigger id 4 oneshoot\n", "did you mean oneshot?"},
	{"Nodes 8\nConnections 3\nTriggers 1\n" FIRE FIRE
	 "2->3 trigger 4 size 1\ntrigger id 4 multishot\n",
	 "f.cm:7: trigger id 4 multishot: which flow it starts depends"},
	{"Nodes 8\nConnections 2\nTriggers 2\n" FIRE
	 "2->3 trigger 4 size 1\ntrigger id 4 oneshot\ntrigger id 4 oneshot\n",
	 "trigger id 4: was described before, in line"},
};

TEST(ms_cm_read, wrong_triggers)
{
	cm_refused(bad_triggers, sizeof(bad_triggers) / sizeof(bad_triggers[0]));
}
