/* SPDX-License-Identifier: BSD-2-Clause */
/* Early immediates: out in order of RQMSN, not before their turn, no more than agreed. */
#include "support/test.h"

#include "core/window/window.h"

static struct mt_imm places[8];
static struct mt_imm_stash st;

static void fresh(uint32_t limit)
{
	memset(places, 0xFF, sizeof(places));
	mt_imm_stash_init(&st, limit);
	mt_imm_stash_attach(&st, places);
}

static bool put(uint16_t rqmsn, uint64_t psn, uint64_t msn)
{
	struct mt_imm w = {
		.psn = psn, .msn = msn, .imm = 0xA000u + rqmsn, .byte_len = 5, .solicited = true};

	return mt_imm_stash_insert(&st, rqmsn, &w);
}

TEST(mt_imm_stash_size, a_power_of_two_of_places)
{
	assert_u_eq(mt_imm_stash_size(1), sizeof(struct mt_imm));
	assert_u_eq(mt_imm_stash_size(5), 8 * sizeof(struct mt_imm));
	assert_u_eq(mt_imm_stash_size(1024), 1024 * sizeof(struct mt_imm));
}

/* REQ(rsp.wimm.stash) */
TEST(mt_imm_stash_pop, in_order_of_sending)
{
	struct mt_imm w;

	fresh(4);
	assert_true(put(1, 20, 2));
	assert_false(mt_imm_stash_pop(&st, 100, 100, &w));
	assert_true(put(0, 10, 1));
	assert_true(mt_imm_stash_pop(&st, 100, 100, &w));
	assert_u_eq(w.imm, 0xA000);
	assert_u_eq(w.byte_len, 5);
	assert_true(w.solicited);
	assert_true(mt_imm_stash_pop(&st, 100, 100, &w));
	assert_u_eq(w.imm, 0xA001);
	assert_false(mt_imm_stash_pop(&st, 100, 100, &w));
}

TEST(mt_imm_stash_pop, not_before_its_packet_and_message)
{
	struct mt_imm w;

	fresh(4);
	assert_true(put(0, 10, 3));
	assert_false(mt_imm_stash_pop(&st, 10, 4, &w)); /* its own packet is the one expected */
	assert_false(mt_imm_stash_pop(&st, 11, 3, &w)); /* its message is not complete */
	assert_true(mt_imm_stash_pop(&st, 11, 4, &w));
	assert_u_eq(w.msn, 3);
}

TEST(mt_imm_stash_resize, keeps_what_is_stashed)
{
	static struct mt_imm other[16];
	struct mt_imm w;

	fresh(4);
	assert_u_eq(mt_imm_stash_span(&st), 0);
	assert_true(put(2, 30, 3));
	assert_u_eq(mt_imm_stash_span(&st), 3);
	mt_imm_stash_resize(&st, other, 9);
	assert_true(put(8, 90, 9));
	assert_false(put(9, 95, 10));
	assert_false(put(2, 30, 3)); /* is there */
	assert_true(put(0, 10, 1));
	assert_true(put(1, 20, 2));
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(mt_imm_stash_pop(&st, 100, 100, &w));
		assert_u_eq(w.imm, 0xA000 + i);
	}
	assert_true(mt_imm_stash_pop(&st, 100, 100, &w) == false);
	assert_u_eq(st.filled, 1);
}

TEST(mt_imm_stash_resize, a_full_ring_moves_as_it_is)
{
	static struct mt_imm other[8];
	struct mt_imm w;

	fresh(4);
	for (uint16_t i = 0; i < 4; i++)
		assert_true(put(i, i * 10u, i));
	assert_u_eq(mt_imm_stash_span(&st), 4);
	memset(other, 0xFF, sizeof(other));
	mt_imm_stash_resize(&st, other, 8);
	assert_u_eq(mt_imm_stash_span(&st), 4);
	assert_true(put(4, 40, 4)); /* the place behind is free */
	for (uint32_t i = 0; i < 5; i++) {
		assert_true(mt_imm_stash_pop(&st, 100, 100, &w));
		assert_u_eq(w.imm, 0xA000 + i);
	}
	assert_u_eq(st.filled, 0);
}

/* REQ(rsp.wimm.limit) */
TEST(mt_imm_stash_insert, no_more_than_the_limit)
{
	struct mt_imm w;

	fresh(3);
	assert_true(put(2, 30, 3));
	assert_false(put(3, 40, 4)); /* the fourth in flight, though there is a fourth place */
	assert_false(put(0xFFFF, 0, 0));
	assert_true(put(0, 10, 1));
	assert_true(mt_imm_stash_pop(&st, 100, 100, &w));
	assert_true(put(3, 40, 4));
	assert_false(put(0, 10, 1)); /* already delivered */
}

TEST(mt_imm_stash_insert, same_number_twice)
{
	fresh(4);
	assert_true(put(1, 20, 2));
	assert_false(put(1, 21, 3));
	assert_u_eq(places[1].psn, 20);
}

TEST(mt_imm_stash_insert, numbers_wrap_at_16_bits)
{
	struct mt_imm w;

	fresh(2);
	for (uint32_t i = 0; i < 70000; i += 2) {
		assert_true(put((uint16_t)(i + 1), i + 1, i + 1));
		assert_true(put((uint16_t)i, i, i));
		assert_true(mt_imm_stash_pop(&st, i + 2, i + 2, &w));
		assert_u_eq(w.msn, i);
		assert_true(mt_imm_stash_pop(&st, i + 2, i + 2, &w));
		assert_u_eq(w.msn, i + 1);
	}
}
