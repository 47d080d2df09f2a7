/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that are cut short, contradict themselves or are noise, against a plain account of what a
 * switch may do with them. Whatever it is not sure of it passes or drops, but never rewrites.
 */
#include "bpf/fixture.h"
#include "support/test.h"

#define CONTROL_DSCPS (UINT64_C(1) << 46 | UINT64_C(1) << 12 | UINT64_C(1) << 16)
#define TRIMMABLE_DSCPS (UINT64_C(1) << 4 | UINT64_C(1) << 8)
/* BPF_PROG_TEST_RUN refuses IP frames without a whole header; those go over the wire below. */
#define SHORTEST 54u

struct account {
	int family;
	uint8_t dscp, ecn;
	size_t end;	/* of the IP packet */
	size_t headers; /* at least so many bytes are headers */
};

static struct account account_of(const struct frame *f)
{
	const uint8_t *b = f->bytes;
	struct account a = {0};

	if (b[12] == 0x86 && b[13] == 0xdd && f->len >= 54 && b[14] >> 4 == 6) {
		size_t payload = (size_t)b[18] << 8 | b[19];

		a.end = 54 + payload;
		a.headers = 54;
		a.family = payload && a.end <= f->len ? 6 : 0;
	} else if (b[12] == 8 && b[13] == 0 && f->len >= 34 && b[14] >> 4 == 4) {
		a.headers = 14 + (b[14] & 15) * 4u;
		a.end = 14 + ((size_t)b[16] << 8 | b[17]);
		a.family = a.headers >= 34 && a.end >= a.headers && a.end <= f->len ? 4 : 0;
	}
	if (a.family) {
		a.dscp = frame_dscp(b);
		a.ecn = frame_ecn(b);
	}
	return a;
}

/* A frame of some form, with its length, its first bytes or both spoilt. */
static void spoil(struct frame *f)
{
	enum frame_form form = (enum frame_form)test_rand_below(FRAME_FORMS);
	size_t least = frame_headers(form) < SHORTEST ? SHORTEST : frame_headers(form);
	size_t room = FIXTURE_RUN_MAX - least;
	static const uint8_t dscps[] = {4, 8, 12, 16, 46, 0, 63};

	frame_make(f, form, least + test_rand_below(test_rand_chance(1, 2) ? 80 : room),
		   dscps[test_rand_below(sizeof(dscps))], (uint8_t)test_rand_below(4), 1);
	if (test_rand_chance(1, 3))
		f->len = SHORTEST + test_rand_below(f->len - SHORTEST + 1);
	if (test_rand_chance(1, 3))
		f->bytes[18 + test_rand_below(2)] = (uint8_t)test_rand();
	for (uint64_t n = test_rand_below(4); n; n--)
		f->bytes[12 + test_rand_below(110)] ^= (uint8_t)(1u << test_rand_below(8));
}

/* What a port without room for data does with a frame; want becomes what leaves. */
static enum fixture_verdict fate_of(const struct frame *in, struct frame *want)
{
	struct account a = account_of(in);
	enum fixture_verdict verdict = FIXTURE_SHOT;

	*want = *in;
	if (CONTROL_DSCPS >> a.dscp & 1) {
		verdict = FIXTURE_OK;
	} else if (a.family == 6 && (TRIMMABLE_DSCPS >> a.dscp & 1)) {
		verdict = in->len > 128 ? FIXTURE_REDIRECT : FIXTURE_OK;
		if (in->len > 128)
			frame_trimmed(want, FRAME_TCP, 128, 12, false);
	}
	return verdict;
}

static void check_full(struct fixture *r, const struct frame *in)
{
	struct frame out = *in, want;
	enum fixture_verdict verdict = fate_of(in, &want);

	assert_int_equal(fixture_run(r, &out), verdict);
	assert_u_eq(out.len, want.len);
	assert_bytes_eq(out.bytes, want.bytes, want.len);
}

TEST_WITH(fixture_setup, fixture_teardown, swq_egress, never_trims_what_it_does_not_understand)
{
	struct fixture *r = fixture_of(state);
	size_t rounds = test_rounds(20000);
	struct frame f;

	fixture_slow(r, 0, 256 << 20);
	for (size_t i = 0; i < rounds; i++) {
		spoil(&f);
		check_full(r, &f);
	}
	assert_true(fixture_read(r).trimmed > 0);
	assert_true(fixture_read(r).whole > 0);
}

TEST_WITH(fixture_setup, fixture_teardown, swq_egress, truncated_headers_are_never_trimmed)
{
	struct fixture *r = fixture_of(state);
	uint64_t dropped = 0;
	struct frame f, out, want;

	fixture_slow(r, 0, 1 << 20);
	for (int form = 0; form < FRAME_FORMS; form++) {
		for (size_t len = 15; len < frame_headers((enum frame_form)form); len++) {
			frame_make(&f, (enum frame_form)form, 1514, 4, 1, 1);
			f.len = len;
			assert_int_equal(fate_of(&f, &want), FIXTURE_SHOT);
			fixture_send(r, &f);
			assert_u_eq(fixture_read(r).dropped, ++dropped);
			/* Nor are they where there is room. */
			r->port.limit_bytes = 1 << 20;
			fixture_set(r);
			assert_u_eq(fixture_pass(r, &f, &out), len);
			assert_bytes_eq(out.bytes, f.bytes, len);
			r->port.limit_bytes = 0;
			fixture_set(r);
		}
	}
}

/* UDP is repaired where it is one: headers that lead astray change nothing behind the cut. */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, repairs_nothing_outside_the_packet)
{
	struct fixture *r = fixture_of(state);
	size_t rounds = test_rounds(20000);
	struct frame in, out;

	fixture_slow(r, 0, 256 << 20);
	r->port.repair_udp = true;
	fixture_set(r);
	for (size_t i = 0; i < rounds; i++) {
		size_t differ = 0;

		spoil(&in);
		out = in;
		if (fixture_run(r, &out) != FIXTURE_REDIRECT)
			continue;
		assert_u_eq(out.len, 128);
		/* Beyond the outer header at most length and checksum of one UDP header. */
		for (size_t at = 54; at < out.len; at++)
			differ += out.bytes[at] != in.bytes[at];
		assert_true(differ <= 4);
	}
}

TEST_WITH(fixture_setup, fixture_teardown, swq_egress, never_marks_what_it_does_not_understand)
{
	struct fixture *r = fixture_of(state);
	size_t rounds = test_rounds(20000);
	struct frame f, out;

	fixture_slow(r, 256 << 20, 256 << 20);
	r->port.ecn = true;
	r->port.ecn_min_bytes = 0;
	r->port.ecn_max_bytes = 1;
	fixture_set(r);
	frame_make(&f, FRAME_INNER, 3000, 0, 0, 1);
	fixture_run(r, &f);
	for (size_t i = 0; i < rounds; i++) {
		struct account a;

		spoil(&f);
		out = f;
		a = account_of(&f);
		assert_int_equal(fixture_run(r, &out), FIXTURE_OK);
		if (a.family && !(CONTROL_DSCPS >> a.dscp & 1) && a.ecn)
			assert_u_eq(frame_ecn(out.bytes), 3);
		else
			assert_bytes_eq(out.bytes, f.bytes, f.len);
	}
	assert_true(fixture_read(r).marked > 0);
}

TEST_WITH(fixture_setup, fixture_teardown, swq_egress, corrupts_one_bit_inside_the_packet_or_none)
{
	struct fixture *r = fixture_of(state);
	size_t rounds = test_rounds(20000);
	uint64_t flipped = 0;
	struct frame f, out;

	fixture_slow(r, 256 << 20, 256 << 20);
	r->ingress = 1;
	fixture_fault(r, &(struct mswq_faults){.corrupt_ppm = MSWQ_PPM_MAX});
	for (size_t i = 0; i < rounds; i++) {
		struct account a;
		uint64_t bits = 0;

		spoil(&f);
		out = f;
		a = account_of(&f);
		fixture_run(r, &out);
		assert_u_eq(out.len, f.len);
		for (size_t at = 0; at < f.len; at++) {
			uint8_t difference = out.bytes[at] ^ f.bytes[at];

			bits += (uint64_t)__builtin_popcount(difference);
			if (difference)
				assert_true(a.family && at >= a.headers && at < a.end);
		}
		assert_true(bits <= 1);
		flipped += bits;
	}
	assert_u_eq(fixture_read(r).corrupted, flipped);
	assert_true(flipped > 0);
}
