/* SPDX-License-Identifier: BSD-2-Clause */
/* Trimming: what is cut, how, and what is left alone. */
#include <stdio.h>

#include "bpf/fixture.h"
#include "support/test.h"
#include "wire/dscp.h"
#include "wire/packet.h"

#define TRIMMABLE 4
#define RETX 8
#define TRIMMED 12
#define TRIMMED_LASTHOP 16

/* Frame lengths for links of MTU 1500, 4200, 4400 and 9000, and one byte more than what is cut. */
static const size_t lengths[] = {129, 1514, 3000, 4214, 4414, 9014};
static const enum frame_form v6_forms[] = {FRAME_DIRECT, FRAME_INNER, FRAME_SRH_DIRECT,
					   FRAME_SRH_INNER, FRAME_TCP};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void expect(const struct frame *got, const struct frame *want, enum frame_form form,
		   size_t len)
{
	if (got->len != want->len || memcmp(got->bytes, want->bytes, want->len) != 0)
		fail_msg("form %d, %zu bytes: %zu left, %zu wanted, or other bytes", (int)form, len,
			 got->len, want->len);
}

/* Each form and length through the full queue, on the wire and, where it fits, in a test run. */
static void trim_all(struct fixture *r)
{
	struct frame in, run, out, want;

	for (size_t i = 0; i < COUNT(v6_forms) * COUNT(lengths); i++) {
		enum frame_form form = v6_forms[i / COUNT(lengths)];
		size_t len = lengths[i % COUNT(lengths)];

		frame_make(&in, form, len, TRIMMABLE, 1, (uint32_t)i);
		want = in;
		frame_trimmed(&want, form, r->port.trim_bytes, r->port.trim_dscp,
			      r->port.repair_udp);
		assert_true(fixture_pass(r, &in, &out));
		expect(&out, &want, form, len);
		if (len > FIXTURE_RUN_MAX)
			continue;
		run = in;
		assert_int_equal(fixture_run(r, &run), FIXTURE_REDIRECT);
		expect(&run, &want, form, len);
	}
}

/* REQ(switch.trim.cut) REQ(switch.trim.inner) REQ(switch.trim.eligible) */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, trims_every_form_and_length)
{
	struct fixture *r = fixture_of(state);

	fixture_slow(r, 0, 1 << 20);
	trim_all(r);
	assert_u_eq(fixture_read(r).trimmed, fixture_read(r).offered);
	assert_u_eq(fixture_read(r).sent_bytes, fixture_read(r).offered * 128);
}

TEST_WITH(fixture_setup, fixture_teardown, swq_egress, repairs_udp_without_an_inner_header)
{
	struct fixture *r = fixture_of(state);

	fixture_slow(r, 0, 1 << 20);
	r->port.repair_udp = true;
	fixture_set(r);
	trim_all(r);
}

/* Every trim length, odd ones too, with a checksum and without. */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, repaired_checksum_is_right_at_every_length)
{
	struct fixture *r = fixture_of(state);
	struct frame in, want;

	fixture_slow(r, 0, 64 << 20);
	r->port.repair_udp = true;
	for (uint32_t bytes = MSWQ_TRIM_MIN; bytes <= 3000; bytes += bytes < 300 ? 1 : 97) {
		r->port.trim_bytes = (uint16_t)bytes;
		fixture_set(r);
		frame_make(&in, FRAME_DIRECT, 3400, TRIMMABLE, 1, bytes);
		if (bytes % 3 == 0)
			memset(in.bytes + in.bth - 2, 0, 2);
		want = in;
		frame_trimmed(&want, FRAME_DIRECT, bytes, TRIMMED, true);
		assert_int_equal(fixture_run(r, &in), FIXTURE_REDIRECT);
		expect(&in, &want, FRAME_DIRECT, bytes);
	}
	r->port.trim_bytes = MSWQ_TRIM_MAX;
	fixture_set(r);
	frame_make(&in, FRAME_DIRECT, 9014, TRIMMABLE, 1, 1);
	want = in;
	frame_trimmed(&want, FRAME_DIRECT, MSWQ_TRIM_MAX, TRIMMED, true);
	assert_true(fixture_pass(r, &in, &in));
	expect(&in, &want, FRAME_DIRECT, MSWQ_TRIM_MAX);
}

/*
 * A cut inside the headers leaves nothing to repair. The kernel refuses it where it knows of a
 * transport header behind the cut, as it does here of what comes from a socket: then it is a drop.
 */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, cuts_inside_the_headers)
{
	struct fixture *r = fixture_of(state);
	struct frame in, out, want;

	fixture_slow(r, 0, 1 << 20);
	r->port.repair_udp = true;
	r->port.trim_bytes = MSWQ_TRIM_MIN;
	fixture_set(r);
	for (size_t i = 0; i < COUNT(v6_forms); i++) {
		frame_make(&in, v6_forms[i], 1514, RETX, 0, 1);
		want = out = in;
		frame_trimmed(&want, v6_forms[i], MSWQ_TRIM_MIN, TRIMMED, true);
		assert_int_equal(fixture_run(r, &out), FIXTURE_REDIRECT);
		expect(&out, &want, v6_forms[i], 1514);
	}
	assert_u_eq(fixture_read(r).trimmed, COUNT(v6_forms));
	frame_make(&in, FRAME_INNER, 1514, RETX, 0, 1);
	fixture_send(r, &in);
	assert_true(fixture_none(r));
	assert_u_eq(fixture_read(r).trimmed, COUNT(v6_forms));
	assert_u_eq(fixture_read(r).dropped, 1);
	assert_u_eq(fixture_read(r).sent_bytes, COUNT(v6_forms) * MSWQ_TRIM_MIN);
}

/* REQ(switch.trim.last-hop) */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, last_hop_has_a_dscp_of_its_own)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct mw_dscp_map map = mw_dscp_map_default();
	struct fixture *r = fixture_of(state);
	struct frame in, out;

	for (int last_hop = 0; last_hop < 2; last_hop++) {
		mswq_port_default(&r->port, &dscp, MSWQ_RATE_MIN, 0, last_hop);
		r->port.limit_bytes = 0;
		fixture_set(r);
		frame_make(&in, FRAME_INNER, 1514, TRIMMABLE, 1, 1);
		assert_true(fixture_pass(r, &in, &out));
		assert_int_equal(mw_dscp_decode(&map, frame_dscp(out.bytes)),
				 last_hop ? MW_DSCP_TRIMMED_LASTHOP : MW_DSCP_TRIMMED);
	}
}

/*
 * Each class of a map that is not the default one is treated by its number there, also where the
 * default map has that number for another class. REQ(switch.dscp.class) REQ(wire.dscp.values)
 */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, a_map_of_other_numbers)
{
	const struct mw_dscp_map map = {.code = {46, 12, 16, 4, 8, 0}};
	struct fixture *r = fixture_of(state);
	struct frame in, out;

	assert_int_equal(mw_dscp_map_check(&map), MW_DSCP_CLASSES);
	mswq_port_default(&r->port, &map, MSWQ_RATE_MIN, 0, true);
	r->port.limit_bytes = 0;
	r->port.control_limit_bytes = 1 << 20;
	fixture_set(r);
	for (enum mw_dscp_class c = MW_DSCP_TRIMMABLE; c <= MW_DSCP_TRIMMABLE_RETX; c++) {
		frame_make(&in, FRAME_INNER, 1514, map.code[c], 1, c);
		assert_true(fixture_pass(r, &in, &out));
		assert_u_eq(out.len, r->port.trim_bytes);
		assert_int_equal(mw_dscp_decode(&map, frame_dscp(out.bytes)),
				 MW_DSCP_TRIMMED_LASTHOP);
	}
	assert_u_eq(fixture_read(r).trimmed, 2);
	frame_make(&in, FRAME_INNER, 1514, map.code[MW_DSCP_NO_TRIM], 1, 7);
	assert_false(fixture_pass(r, &in, &out));
	assert_u_eq(fixture_read(r).dropped, 1);
	for (enum mw_dscp_class c = MW_DSCP_TRIMMED; c <= MW_DSCP_CONTROL; c++) {
		frame_make(&in, FRAME_INNER, 256, map.code[c], 1, c);
		out = in;
		assert_int_equal(fixture_run(r, &out), FIXTURE_OK);
		expect(&out, &in, FRAME_INNER, 256);
	}
	assert_u_eq(fixture_read(r).control, 3);
}

/* The receiver's own decoder finds the packet in what is left. */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, what_is_left_can_be_decoded)
{
	static const struct {
		enum frame_form form;
		uint16_t bytes;
	} least[] = {{FRAME_DIRECT, 78},
		     {FRAME_INNER, 118},
		     {FRAME_SRH_DIRECT, 102},
		     {FRAME_SRH_INNER, 142}};
	struct fixture *r = fixture_of(state);
	struct frame in, out;
	struct mw_packet pkt;
	size_t headers;

	fixture_slow(r, 0, 1 << 20);
	for (size_t i = 0; i < COUNT(least); i++) {
		r->port.trim_bytes = least[i].bytes;
		fixture_set(r);
		frame_make(&in, least[i].form, 4214, TRIMMABLE, 1, 4711 + (uint32_t)i);
		assert_true(fixture_pass(r, &in, &out));
		assert_u_eq(out.len, least[i].bytes);
		assert_int_equal(mw_packet_decode(out.bytes + in.bth, out.len - in.bth, true, &pkt,
						  &headers),
				 MW_OK);
		assert_u_eq(pkt.bth.psn, 4711 + i);
		assert_int_equal(mw_packet_decode(out.bytes + in.bth, out.len - in.bth - 1, true,
						  &pkt, &headers),
				 MW_SHORT);
	}
}

/* REQ(switch.trim.short) */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, too_short_to_trim_is_sent_whole)
{
	struct fixture *r = fixture_of(state);
	struct frame in, out, want;

	fixture_slow(r, 0, 1 << 20);
	for (int remark = 0; remark < 2; remark++) {
		r->port.remark_short = remark;
		fixture_set(r);
		for (size_t len = frame_headers(FRAME_INNER) + 12; len <= 128; len++) {
			frame_make(&in, FRAME_INNER, len, TRIMMABLE, 2, 1);
			want = in;
			if (remark)
				frame_trimmed(&want, FRAME_INNER, len, TRIMMED, false);
			assert_true(fixture_pass(r, &in, &out));
			expect(&out, &want, FRAME_INNER, len);
		}
	}
	assert_u_eq(fixture_read(r).whole, fixture_read(r).offered);
}

/* REQ(switch.trim.eligible) */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, what_may_not_be_trimmed_is_dropped)
{
	struct fixture *r = fixture_of(state);
	struct frame in;
	uint64_t sent = 0;

	fixture_slow(r, 0, 1 << 20);
	for (int form = 0; form < FRAME_FORMS; form++) {
		for (uint8_t dscp = 0; dscp < 64; dscp++) {
			bool v6 = frame_outer_v6((enum frame_form)form);

			frame_make(&in, (enum frame_form)form, 1514, dscp, 1, 1);
			if (form != FRAME_ARP && (dscp == 46 || dscp == 12 || dscp == 16))
				continue; /* control */
			if (v6 && (dscp == TRIMMABLE || dscp == RETX))
				continue;
			assert_int_equal(fixture_run(r, &in), FIXTURE_SHOT);
			assert_u_eq(fixture_read(r).dropped, ++sent);
		}
	}
	assert_u_eq(fixture_read(r).offered, sent);
}

TEST_WITH(fixture_setup, fixture_teardown, swq_egress, trimming_can_be_off)
{
	struct fixture *r = fixture_of(state);
	struct frame in;

	fixture_slow(r, 0, 1 << 20);
	r->port.trim_bytes = 0;
	fixture_set(r);
	frame_make(&in, FRAME_INNER, 1514, TRIMMABLE, 1, 1);
	assert_int_equal(fixture_run(r, &in), FIXTURE_SHOT);
	assert_u_eq(fixture_read(r).dropped, 1);
}

/* REQ(switch.trim.dropped) */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, trims_beyond_the_control_limit_are_dropped)
{
	struct fixture *r = fixture_of(state);
	struct frame in;

	fixture_slow(r, 0, 2000 * 10 + 1000);
	r->port.trim_bytes = 2000;
	fixture_set(r);
	for (int i = 0; i < 25; i++) {
		frame_make(&in, FRAME_INNER, 3000, TRIMMABLE, 1, 1);
		assert_int_equal(fixture_run(r, &in), i < 10 ? FIXTURE_REDIRECT : FIXTURE_SHOT);
	}
	assert_u_eq(fixture_read(r).trimmed, 10);
	assert_u_eq(fixture_read(r).trim_dropped, 15);
	assert_u_eq(fixture_read(r).dropped, 0);
}

/* A packet that another switch trimmed is control here: neither cut again nor marked. */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, trimmed_packets_are_not_trimmed_again)
{
	struct fixture *r = fixture_of(state);
	struct frame in, out;

	fixture_slow(r, 0, 1 << 20);
	r->port.trim_dscp = TRIMMED_LASTHOP;
	fixture_set(r);
	frame_make(&in, FRAME_INNER, 256, TRIMMED, 1, 1);
	out = in;
	assert_int_equal(fixture_run(r, &out), FIXTURE_OK);
	expect(&out, &in, FRAME_INNER, 256);
	assert_u_eq(fixture_read(r).control, 1);
}
