/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_read_flows.c - flow lists in CSV, and the list that they grow. */
#include "sim_fixture.h"

#include "sim/import/flow_files.h"

static void flows_good(struct ms_flow_list *list, const char *text)
{
	struct ms_file_error error;

	if (!ms_flows_read(list, 8, "f.csv", text, &error))
		fail_msg("%s", error.text);
}

TEST(ms_flows_read, columns_in_any_order)
{
	struct ms_flow_list list;

	flows_good(&list, "bytes,dst,src\n64k,1,0\n# none\n2000, 3, 2\n");
	assert_u_eq(list.n, 2);
	assert_u_eq(list.flow[0].bytes, 65536);
	assert_u_eq(list.flow[1].src, 2);
	assert_u_eq(list.flow[1].dst, 3);
	ms_flow_list_fini(&list);
}

TEST(ms_flows_read, flows_after_others)
{
	struct ms_flow_list list;

	flows_good(&list, "src,dst,bytes,start,after\n3,4,1,0,2 3\n1,3,1,1.5us,\n3,2,1,,\n");
	assert_u_eq(list.flow[1].start_ns, 1500);
	assert_u_eq(list.flow[0].n_needs, 2);
	assert_u_eq(list.need.at[0].flow, 1);
	assert_i_eq(list.need.at[0].end, MS_RECEIVED);
	assert_u_eq(list.need.at[1].flow, 2);
	assert_i_eq(list.need.at[1].end, MS_SENT);
	ms_flow_list_fini(&list);
}

TEST(ms_flow_list_add, grows)
{
	struct ms_flow_list list = {0};

	for (uint32_t i = 0; i < 1000; i++) {
		const struct ms_list_flow flow = {.src = i, .dst = i + 1, .bytes = i};

		assert_true(ms_flow_list_add(&list, &flow));
		assert_true(i == 0 || ms_flow_list_add_dependency(&list, i, i - 1, MS_RECEIVED));
	}
	assert_u_eq(list.n, 1000);
	assert_u_eq(list.need.n, 999);
	assert_u_eq(list.flow[999].first_need, 998);
	ms_flow_list_fini(&list);
	assert_null(list.flow);
}

#define HEAD "src,dst,bytes,start,after\n"

static const struct sim_bad bads[] = {
	{"", "f.csv: is empty"},
	{"src,dst\n", "f.csv:1: has no column bytes"},
	{"src,dst,byts\n", "f.csv:1: column byts: no such column; did you mean bytes"},
	{"src,dst,bytes,src\n", "f.csv:1: column src: appears twice"},
	{"src,dst,bytes\n", "f.csv: has no flow"},
	{"src,dst,bytes\n1,2\n", "f.csv:2: has 2 values; expected 3"},
	{"src,dst,bytes\n8,2,5\n", "f.csv:2: src 8: expected a host from 0 to 7"},
	{"src,dst,bytes\n1,x,5\n", "f.csv:2: dst x: expected a host"},
	{"src,dst,bytes\n1,1,5\n", "f.csv:2: dst 1: expected another host than src"},
	{"src,dst,bytes\n1,2,5q\n", "f.csv:2: bytes 5q: expected bytes"},
	{HEAD "1,2,5,9,\n", "f.csv:2: start 9: expected a time"},
	{HEAD "1,2,5,,1\n", "f.csv:2: after 1: expected another flow, from 1 to 1"},
	{HEAD "1,2,5,,\n3,4,5,,1\n", "f.csv:3: after 1: that flow goes from host 1 to host 2"},
	{HEAD "1,2,5,,\n1,4,5,,x\n", "f.csv:3: after x: expected another flow"},
};

TEST(ms_flows_read, wrong_files)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct ms_file_error error = {""};
		struct ms_flow_list list;

		if (ms_flows_read(&list, 8, "f.csv", bads[i].text, &error))
			fail_msg("\"%s\" was taken", bads[i].text);
		sim_said(&error, "f.csv", bads[i].says);
		assert_null(list.flow);
	}
}
