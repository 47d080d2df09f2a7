/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of a port: each does what it says, is counted, and goes when it is healed. */
#include <math.h>

#include "bpf/fixture.h"
#include "bpf/map.h"
#include "support/test.h"
#include "switchq/switchq_handle.h"

#define TRIMMABLE 4

static const struct mswq_faults none;

static void make(struct frame *f, size_t len, uint32_t psn)
{
	frame_make(f, FRAME_INNER, len, TRIMMABLE, 2, psn);
}

static void expect_taken(struct fixture *r, const struct frame *want)
{
	struct frame out;

	assert_u_eq(fixture_take(r, &out), want->len);
	assert_bytes_eq(out.bytes, want->bytes, want->len);
}

TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, blackhole_takes_everything_silently)
{
	struct fixture *r = fixture_of(state);
	struct frame f;

	fixture_slow(r, 1 << 20, 1 << 20);
	fixture_fault(r, &(struct mswq_faults){.blackhole = true});
	for (int form = 0; form < FRAME_FORMS; form++) {
		frame_make(&f, (enum frame_form)form, 1500, TRIMMABLE, 2, 1);
		/* Stolen, not shot: the sender is told that it went out. */
		assert_int_equal(fixture_run(r, &f), FIXTURE_STOLEN);
	}
	assert_u_eq(fixture_read(r).blackholed, FRAME_FORMS);
	fixture_fault(r, &none);
	make(&f, 1500, 1);
	fixture_send(r, &f);
	expect_taken(r, &f);
	assert_u_eq(fixture_read(r).full, 1);
}

/* The generator of the program, written down once more. */
static uint64_t draw(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, loss_follows_the_seed)
{
	enum { TRIES = 5000, PPM = 30000 };
	struct fixture *r = fixture_of(state);
	struct frame f;

	fixture_slow(r, 64 << 20, 0);
	r->port.seed = test_seed();
	fixture_set(r);
	fixture_fault(r, &(struct mswq_faults){.loss_ppm = PPM});
	for (uint64_t i = 0; i < TRIES; i++) {
		bool lost = (draw(r->port.seed, i) >> 32) * MSWQ_PPM_MAX >> 32 < PPM;

		make(&f, 200, 1);
		assert_int_equal(fixture_run(r, &f), lost ? FIXTURE_STOLEN : FIXTURE_OK);
	}
	/* Five standard deviations: 5 sqrt(5000 * 0.03 * 0.97) = 60. */
	assert_u_between(fixture_read(r).lost, 90, 210);
}

TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, loss_of_all_and_of_none)
{
	struct fixture *r = fixture_of(state);
	struct frame f;

	fixture_slow(r, 1 << 20, 0);
	for (int i = 0; i < 200; i++) {
		fixture_fault(r, i % 2 ? &none : &(struct mswq_faults){.loss_ppm = MSWQ_PPM_MAX});
		make(&f, 200, 1);
		assert_int_equal(fixture_run(r, &f), i % 2 ? FIXTURE_OK : FIXTURE_STOLEN);
	}
}

TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, corruption_spares_the_headers)
{
	struct fixture *r = fixture_of(state);
	struct frame f, out;

	fixture_slow(r, 64 << 20, 0);
	r->ingress = 1;
	fixture_fault(r, &(struct mswq_faults){.corrupt_ppm = MSWQ_PPM_MAX});
	for (int i = 0; i < FRAME_ARP * 100; i++) {
		enum frame_form form = (enum frame_form)(i % FRAME_ARP);
		size_t headers = frame_headers(form), differ = 0;

		frame_make(&f, form, headers + 1 + (size_t)i, 0, 0, 1);
		out = f;
		assert_int_equal(fixture_run(r, &out), FIXTURE_OK);
		assert_bytes_eq(out.bytes, f.bytes, headers);
		for (size_t at = headers; at < f.len; at++)
			differ += (size_t)__builtin_popcount(out.bytes[at] ^ f.bytes[at]);
		assert_u_eq(differ, 1);
	}
	frame_make(&f, FRAME_TCP, frame_headers(FRAME_TCP), 0, 0, 1);
	out = f;
	fixture_run(r, &out);
	assert_bytes_eq(out.bytes, f.bytes, f.len);
	assert_u_eq(fixture_read(r).corrupted, FRAME_ARP * 100);
}

/*
 * The kernel writes the checksum of this host's own TCP behind the program: a flipped bit would get
 * one that fits.
 */
TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, corrupted_tcp_of_this_host_is_lost)
{
	struct fixture *r = fixture_of(state);
	struct frame f;

	fixture_slow(r, 64 << 20, 0);
	fixture_fault(
		r, &(struct mswq_faults){.corrupt_ppm = MSWQ_PPM_MAX, .reorder_ppm = MSWQ_PPM_MAX});
	frame_make(&f, FRAME_TCP, 1514, 0, 0, 1);
	assert_int_equal(fixture_run(r, &f), FIXTURE_STOLEN);
	assert_u_eq(fixture_read(r).lost, 1);
	fixture_fault(r, &(struct mswq_faults){.reorder_ppm = MSWQ_PPM_MAX});
	assert_int_equal(fixture_run(r, &f), FIXTURE_OK);
	assert_u_eq(fixture_read(r).held, 0);
	/* What others sent is summed already. */
	r->ingress = 1;
	assert_int_equal(fixture_run(r, &f), FIXTURE_STOLEN);
	assert_u_eq(fixture_read(r).held, 1);
}

TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, duplicate_leaves_twice)
{
	struct fixture *r = fixture_of(state);
	struct frame f;

	fixture_slow(r, 1 << 20, 1 << 20);
	fixture_fault(r, &(struct mswq_faults){.duplicate_ppm = MSWQ_PPM_MAX});
	for (int form = 0; form < FRAME_FORMS; form++) {
		frame_make(&f, (enum frame_form)form, 9014, TRIMMABLE, 2, 1);
		fixture_send(r, &f);
		expect_taken(r, &f);
		expect_taken(r, &f);
	}
	assert_true(fixture_none(r));
	assert_u_eq(fixture_read(r).offered, FRAME_FORMS);
	assert_u_eq(fixture_read(r).duplicated, FRAME_FORMS);
	assert_u_eq(fixture_read(r).full, 2 * FRAME_FORMS);
}

/* The copy goes through the queue by itself: one has room, the other is trimmed. */
TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, duplicate_is_queued_by_itself)
{
	struct fixture *r = fixture_of(state);
	struct frame f, cut;

	fixture_slow(r, 2000, 1 << 20);
	fixture_fault(r, &(struct mswq_faults){.duplicate_ppm = MSWQ_PPM_MAX});
	make(&f, 1514, 7);
	cut = f;
	frame_trimmed(&cut, FRAME_INNER, 128, 12, false);
	fixture_send(r, &f);
	expect_taken(r, &f);
	expect_taken(r, &cut);
	assert_u_eq(fixture_read(r).trimmed, 1);
}

TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, reordered_packet_leaves_behind_the_next)
{
	static const size_t lengths[][2] = {{200, 200}, {9014, 200}, {200, 9014}, {4252, 1514}};
	struct fixture *r = fixture_of(state);
	struct frame first, second;

	fixture_slow(r, 1 << 20, 1 << 20);
	fixture_fault(r, &(struct mswq_faults){.reorder_ppm = MSWQ_PPM_MAX});
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		make(&first, lengths[i][0], 1);
		make(&second, lengths[i][1], 2);
		fixture_send(r, &first);
		assert_u_eq(fixture_read(r).held, 1);
		fixture_send(r, &second);
		assert_u_eq(fixture_read(r).held, 0);
		expect_taken(r, &second);
		expect_taken(r, &first);
		assert_u_eq(fixture_read(r).reordered, i + 1);
	}
	assert_true(fixture_none(r));
}

/* What was held meets the queue when it leaves: the one that overtook took the room. */
TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set,
	  reordered_packet_is_queued_when_it_leaves)
{
	struct fixture *r = fixture_of(state);
	struct frame first, second;

	fixture_slow(r, 2000, 1 << 20);
	fixture_fault(r, &(struct mswq_faults){.reorder_ppm = MSWQ_PPM_MAX});
	make(&first, 1514, 1);
	make(&second, 1400, 2);
	fixture_send(r, &first);
	fixture_send(r, &second);
	expect_taken(r, &second);
	frame_trimmed(&first, FRAME_INNER, 128, 12, false);
	expect_taken(r, &first);
}

TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, healing_releases_what_is_held)
{
	struct fixture *r = fixture_of(state);
	struct frame first, other;

	fixture_slow(r, 1 << 20, 1 << 20);
	fixture_fault(r, &(struct mswq_faults){.reorder_ppm = MSWQ_PPM_MAX});
	make(&first, 1514, 1);
	fixture_send(r, &first);
	fixture_fault(r, &none);
	/* Not IPv6: it can carry nothing behind it. */
	frame_make(&other, FRAME_V4, 300, 0, 0, 2);
	fixture_send(r, &other);
	expect_taken(r, &other);
	assert_u_eq(fixture_read(r).held, 1);
	make(&other, 400, 3);
	fixture_send(r, &other);
	expect_taken(r, &other);
	expect_taken(r, &first);
	make(&other, 500, 4);
	fixture_send(r, &other);
	expect_taken(r, &other);
	assert_true(fixture_none(r));
}

TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, faults_outlive_new_parameters)
{
	struct mswq_faults want = {.blackhole = true,
				   .loss_ppm = 1,
				   .corrupt_ppm = 2,
				   .duplicate_ppm = 3,
				   .reorder_ppm = 4,
				   .slow_bits = 50000};
	struct fixture *r = fixture_of(state);
	struct swq_config got;
	struct mswq_error error;
	struct mswq *other;

	fixture_slow(r, 1 << 20, 1 << 20);
	fixture_fault(r, &want);
	r->port.trim_bytes = 256;
	fixture_set(r);
	/* Another process would find them so. */
	assert_int_equal(mswq_reopen(mswq_id(r->swq), &other, &error), 0);
	assert_int_equal(mswq_sys_map_get(other->map[MSWQ_CONFIGS], &r->ifindex, &got, 0), 0);
	mswq_close(other);
	assert_true(got.flags & SWQ_BLACKHOLE);
	assert_u_eq(got.loss_ppm, 1);
	assert_u_eq(got.corrupt_ppm, 2);
	assert_u_eq(got.duplicate_ppm, 3);
	assert_u_eq(got.reorder_ppm, 4);
	assert_u_eq(got.slow_bits, 50000);
}

TEST_WITH(fixture_setup, fixture_teardown, mswq_fault_set, all_faults_at_once_lose_count_of_nothing)
{
	struct fixture *r = fixture_of(state);
	size_t rounds = test_rounds(3000);
	uint64_t taken = 0;
	struct mswq_counters c;
	struct frame f;

	fixture_slow(r, 64 << 20, 64 << 20);
	fixture_fault(r, &(struct mswq_faults){.loss_ppm = 100000,
					       .corrupt_ppm = 100000,
					       .duplicate_ppm = 100000,
					       .reorder_ppm = 100000});
	for (size_t i = 0; i < rounds; i++) {
		enum frame_form form = (enum frame_form)test_rand_below(FRAME_FORMS);
		size_t room = 9014 - frame_headers(form);

		frame_make(&f, form, frame_headers(form) + test_rand_below(room),
			   (uint8_t)test_rand_below(64), 2, 1);
		fixture_send(r, &f);
		/* The socket's buffer is not for ever. */
		while (fixture_read(r).full + fixture_read(r).control > taken &&
		       fixture_take(r, &f))
			taken++;
	}
	c = fixture_read(r);
	assert_u_eq(taken, c.full + c.control);
	assert_u_eq(c.offered, rounds);
	assert_true(c.duplicated && c.reordered && c.lost && c.corrupted);
}
