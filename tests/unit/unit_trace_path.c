/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of `mrc trace`: hops, EVs as words, the carriers of probes, and what is shown. */
#include "cli/trace/trace.h"
#include "fabric_fixture.h"

#include "wire/srv6.h"

static struct trace_path path_in(const struct mf_topology *t, uint32_t src, uint32_t dst,
				 uint32_t ev)
{
	struct trace_path path;

	trace_path_of(t, src, dst, ev, &path);
	return path;
}

static void assert_shown(struct ui_text *text, const char *wanted)
{
	assert_string_equal(text->data, wanted);
	ui_text_fini(text);
}

TEST(trace_ev_read, numbers_and_ports)
{
	struct mf_topology t = fabric("lab");
	uint32_t ev = 0;

	assert_true(trace_ev_read(&t, "0xc0010001", &ev));
	assert_u_eq(ev, mf_ev_of(1, 1, 0));
	assert_true(trace_ev_read(&t, "3221356545", &ev));
	assert_u_eq(ev, mf_ev_of(2, 1, 0));
	/* The port says the plane, as in `mrc ctl`. */
	assert_true(trace_ev_read(&t, "4:0xc0010001", &ev));
	assert_u_eq(ev, mf_ev_of(3, 1, 0));
}

TEST(trace_ev_read, refuses)
{
	static const char *const words[] = {"",
					    "x",
					    "49153",
					    "0xc0010002",
					    "0xc0040000",
					    "0:0xc0010001",
					    "5:0xc0010001",
					    "1:",
					    ":0xc0010001",
					    "-1",
					    "+3221356545",
					    "0xc0010001 ",
					    "4294967297",
					    "1:2:3",
					    "99999999999999999999"};
	struct mf_topology t = fabric("lab");
	uint32_t ev;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (trace_ev_read(&t, words[i], &ev))
			fail_msg("\"%s\" was read as %x", words[i], ev);
}

/* Follows a carrier from the source through switches by their uSIDs alone. */
static uint32_t follow(const struct mf_topology *t, const struct trace_path *path, uint32_t hop)
{
	uint32_t plane = mf_ev_plane(path->ev), at = path->node[0], steps = 0;
	uint8_t address[16];
	struct mw_usids list;

	assert_true(trace_carrier(t, path, hop, address));
	assert_true(mw_usids_decode(address, &list));
	assert_u_eq(list.block, mf_usid_block(t, plane));
	assert_u_eq(mw_usid_shift(address), mf_usid_switch(t, mf_node_at(t, at)));
	for (; mw_usid_first(address); steps++) {
		uint16_t next = mw_usid_shift(address);
		uint32_t port, ports = mf_node_ports(t, mf_node_at(t, at).tier), to = 0;

		for (port = 0; port < ports; port++) {
			to = mf_link_to(t, mf_link_out(t, at, port)).node;
			if (next == (to < t->n_hosts ? mf_usid_dst(t, plane, to)
						     : mf_usid_switch(t, mf_node_at(t, to))))
				break;
		}
		if (port == ports)
			fail_msg("node %u has no neighbour of uSID %04x", at, next);
		at = to;
	}
	assert_u_eq(steps, hop + 1 == path->hops ? hop : 2 * hop + 1);
	return at;
}

TEST(trace_carrier, there_and_back)
{
	struct mf_topology t = fabric("lab");
	struct trace_path path = path_in(&t, 0, 5, mf_ev_of(1, 1, 0));

	assert_u_eq(path.hops, 4);
	for (uint32_t hop = 0; hop < 3; hop++)
		assert_u_eq(follow(&t, &path, hop), 0);
	assert_u_eq(follow(&t, &path, 3), 5);
}

TEST(trace_carrier, what_is_too_long)
{
	struct mf_topology t = fabric("small3");
	struct trace_path path = path_in(&t, 0, 29, mf_ev_of(1, 2, 5));
	uint8_t address[16];

	assert_u_eq(path.hops, 6);
	for (uint32_t hop = 0; hop < 3; hop++)
		assert_u_eq(follow(&t, &path, hop), 0);
	assert_false(trace_carrier(&t, &path, 3, address));
	assert_false(trace_carrier(&t, &path, 4, address));
	assert_u_eq(follow(&t, &path, 5), 29);
}

TEST(trace_show_hops, with_and_without_answers)
{
	struct mf_topology t = fabric("lab");
	struct trace_path path = path_in(&t, 0, 1, mf_ev_of(1, 1, 0));
	struct ui_text text = {0};

	trace_show_hops(&t, &path, false, &text);
	assert_shown(&text, "EV 0xc0010001 of host0 to host1, plane 1\n"
			    "  1  host0.e1 - plane1.t0-0\n"
			    "  2  plane1.t0-0.d1 - host1\n");
	path.answers[0] = (struct trace_answers){true, 3, 2, 4380};
	trace_show_hops(&t, &path, true, &text);
	assert_shown(&text, "EV 0xc0010001 of host0 to host1, plane 1\n"
			    "  1  host0.e1 - plane1.t0-0  4.38 us, 1 of 3 lost\n"
			    "  2  plane1.t0-0.d1 - host1  not asked\n");
	path.answers[1] = (struct trace_answers){true, 3, 0, 0};
	trace_show_hops(&t, &path, true, &text);
	assert_non_null(strstr(text.data, "  2  plane1.t0-0.d1 - host1  no answer\n"));
	ui_text_fini(&text);
}

TEST(trace_show_line, says_where_silence_begins)
{
	struct mf_topology t = fabric("lab");
	struct trace_path path = path_in(&t, 0, 5, mf_ev_of(1, 1, 0));
	struct ui_text text = {0};

	for (uint32_t hop = 0; hop < 4; hop++)
		path.answers[hop] = (struct trace_answers){true, 3, hop == 1 ? 0 : 3, 12900};
	trace_show_line(&t, &path, true, &text);
	assert_shown(&text, "0xc0010001  plane1.t0-0.u1 - plane1.t1-1  no answer from "
			    "plane1.t0-0.u1 - plane1.t1-1 on\n");
	path.answers[1].answered = 3;
	trace_show_line(&t, &path, true, &text);
	assert_shown(&text, "0xc0010001  plane1.t0-0.u1 - plane1.t1-1  12.9 us\n");
	/* What was not asked is no silence. */
	path.answers[3].asked = false;
	assert_u_eq(trace_path_silent(&path), 4);
}

TEST(trace_part_show, hosts_as_ranges)
{
	struct mf_topology t = fabric("small3");
	struct trace_part part = {
		.t = &t, .name = "plane0.t1-0.t2-0", .src = MF_HOST_NONE, .dst = MF_HOST_NONE};
	struct ui_text text = {0};
	struct mf_error why;

	assert_true(mf_target_find(&t, part.name, &part.part, &why));
	trace_part_show(&part, &text);
	assert_shown(&text, "0xc0000000  30 of 30 hosts: host0-29\n");
	part.src = 3;
	trace_part_show(&part, &text);
	assert_shown(&text, "0xc0000000  plane0.t0-0.u0 - plane0.t1-0.u0 - plane0.t2-0\n");
	part.dst = 5; /* of the same pod */
	trace_part_show(&part, &text);
	assert_shown(&text, "no EV uses plane0.t1-0.t2-0\n");
	part.dst = 12;
	part.src = MF_HOST_NONE;
	trace_part_show(&part, &text);
	assert_shown(&text, "0xc0000000  10 of 30 hosts: host0-9\n");
}
