/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of memory regions, and each reason to refuse an access. */
#include "core/state/engine_state.h"
#include "unit/node_fixture.h"

#define START UINT64_C(0x10000)
#define LENGTH UINT64_C(0x1000)
#define KEY (2u << 8 | 0x33u)
#define PD 5u

static int cookie;

static int one_mr(void **state)
{
	defaults(state);
	node_open(&n, &opts, 0);
	return mt_mr_add(n.engine, KEY, PD, START, LENGTH, RD_ACCESS_REMOTE_WRITE, &cookie);
}

#define CASE(function, name) TEST_WITH(one_mr, close_node, function, name)

static bool allowed(uint32_t key, uint32_t pd, uint64_t addr, uint64_t len, uint32_t access)
{
	return mt_mr_check(&n.engine->mrs, key, pd, addr, len, access) != NULL;
}

static bool in_range(uint64_t addr, uint64_t len)
{
	return allowed(KEY, PD, addr, len, RD_ACCESS_REMOTE_WRITE);
}

/* The higher bits of a key are its owner's to choose. */
TEST(mt_mr_table_init, an_index_has_no_more_bits_than_it_needs)
{
	struct mt_mr mrs[9] = {{0}};

	for (uint32_t max = 1; max <= 8; max++) {
		struct mt_mr_table t = {.mrs = mrs, .max = max};

		mt_mr_table_init(&t);
		assert_u_eq(t.index_mask, max < 2 ? 1 : max < 4 ? 3 : max < 8 ? 7 : 15);
	}
}

/* REQ(rsp.mr.every-packet) */
CASE(mt_mr_check, inside)
{
	const struct mt_mr *mr = mt_mr_check(&n.engine->mrs, KEY, PD, START, LENGTH, 0);

	assert_non_null(mr);
	assert_ptr_equal(mr->user, &cookie);
	assert_u_eq(mr->start, START);
	assert_true(in_range(START + LENGTH - 1, 1));
	assert_true(in_range(START + LENGTH, 0));
	assert_true(in_range(START + 7, LENGTH - 7));
}

CASE(mt_mr_check, outside)
{
	assert_false(in_range(START - 1, 1));
	assert_false(in_range(START - 1, LENGTH));
	assert_false(in_range(START, LENGTH + 1));
	assert_false(in_range(START + 1, LENGTH));
	assert_false(in_range(START + LENGTH, 1));
	assert_false(in_range(START + 1, UINT64_MAX));
	assert_false(in_range(UINT64_MAX, START + LENGTH));
	assert_false(in_range(0, 1));
}

CASE(mt_mr_check, wrong_key_domain_or_right)
{
	const uint32_t both = RD_ACCESS_REMOTE_WRITE | RD_ACCESS_LOCAL_WRITE;

	assert_true(allowed(KEY, PD, START, 1, RD_ACCESS_REMOTE_WRITE));
	assert_false(allowed(KEY ^ 1, PD, START, 1, 0));     /* an old tag */
	assert_false(allowed(KEY + 0x100, PD, START, 1, 0)); /* an index without an MR */
	assert_false(allowed(0, PD, START, 1, 0));
	assert_false(allowed(0x33, PD, START, 1, 0));	    /* index 0 */
	assert_false(allowed(0, 0, 0, 0, 0));		    /* which is all zero otherwise */
	assert_false(allowed(UINT32_MAX, PD, START, 1, 0)); /* beyond the table */
	assert_false(allowed(5u << 8 | 0x33, PD, START, 1, 0));
	assert_false(allowed(KEY, PD + 1, START, 1, 0));
	assert_false(allowed(KEY, PD, START, 1, RD_ACCESS_LOCAL_WRITE));
	assert_false(allowed(KEY, PD, START, 1, both));
}

CASE(mt_mr_add, refusals)
{
	assert_i_eq(mt_mr_add(n.engine, 0 << 8 | 1, PD, 0, 1, 0, NULL), MT_ERR_INVALID);
	assert_i_eq(mt_mr_add(n.engine, 5 << 8 | 1, PD, 0, 1, 0, NULL), MT_ERR_INVALID);
	assert_i_eq(mt_mr_add(n.engine, 2 << 8 | 1, PD, 0, 1, 0, NULL), MT_ERR_EXISTS);
	assert_i_eq(mt_mr_add(n.engine, 3 << 8 | 1, PD, UINT64_MAX, 2, 0, NULL), MT_ERR_INVALID);
	assert_i_eq(mt_mr_add(n.engine, 4 << 8 | 1, PD, UINT64_MAX - 1, 1, 0, NULL), MT_OK);
	assert_true(allowed(4u << 8 | 1, PD, UINT64_MAX - 1, 1, 0));
	assert_true(in_range(START, 1)); /* the refused one changed nothing */
}

/* What is neither index nor low byte is of the key, too. */
CASE(mt_mr_check, bits_above_the_index)
{
	const uint32_t key = 0xABC00000u | 3u << 8 | 7u;

	assert_i_eq(mt_mr_add(n.engine, key, PD, START, LENGTH, 0, NULL), MT_OK);
	for (uint32_t bit = 0; bit < 32; bit++)
		assert_false(allowed(key ^ 1u << bit, PD, START, 1, 0));
	assert_true(allowed(key, PD, START, 1, 0));
	assert_i_eq(mt_mr_add(n.engine, key ^ 1u << 31, PD, 0, 1, 0, NULL), MT_ERR_EXISTS);
	assert_i_eq(mt_mr_remove(n.engine, 3), MT_OK);
	assert_false(allowed(key, PD, START, 1, 0));
}

CASE(mt_mr_add, the_last_index_and_the_shortest_length)
{
	const uint32_t last = opts.cfg.max_mrs;
	struct mt_mr_part part;

	assert_i_eq(mt_mr_add(n.engine, (last + 1) << 8 | 1, PD, START, 1, 0, NULL),
		    MT_ERR_INVALID);
	assert_i_eq(mt_mr_add(n.engine, last << 8 | 1, PD, START, 0, 0, NULL), MT_OK);
	assert_true(mt_mr_find(n.engine, last << 8 | 1, START, 0, &part));
	assert_false(mt_mr_find(n.engine, last << 8 | 1, START, 1, &part));
	assert_i_eq(mt_mr_remove(n.engine, last), MT_OK);
	assert_false(mt_mr_find(n.engine, last << 8 | 1, START, 0, &part));
}

CASE(mt_mr_remove, its_key_ends_at_once)
{
	assert_i_eq(mt_mr_remove(n.engine, 2), MT_OK);
	assert_false(in_range(START, 1));
	assert_i_eq(mt_mr_remove(n.engine, 2), MT_ERR_INVALID);
	assert_i_eq(mt_mr_remove(n.engine, 0), MT_ERR_INVALID);
	assert_i_eq(mt_mr_remove(n.engine, 99), MT_ERR_INVALID);
	assert_i_eq(mt_mr_add(n.engine, 2u << 8 | 0x34, PD, START, LENGTH, 0, NULL), MT_OK);
	assert_false(in_range(START, 1));
	assert_true(allowed(2u << 8 | 0x34, PD, START, 1, 0));
}

CASE(mt_mr_find, inside_and_outside)
{
	struct mt_mr_part part;

	assert_true(mt_mr_find(n.engine, KEY, START, LENGTH, &part));
	assert_ptr_equal(part.mr_user, &cookie);
	assert_u_eq(part.offset, 0);
	assert_u_eq(part.pd, PD);
	assert_u_eq(part.access, RD_ACCESS_REMOTE_WRITE);
	assert_true(mt_mr_find(n.engine, KEY, START + LENGTH - 1, 1, &part));
	assert_u_eq(part.offset, LENGTH - 1);
	assert_true(mt_mr_find(n.engine, KEY, START + LENGTH, 0, &part));
	assert_false(mt_mr_find(n.engine, KEY, START, LENGTH + 1, &part));
	assert_false(mt_mr_find(n.engine, KEY, START + LENGTH - 1, 2, &part));
	assert_false(mt_mr_find(n.engine, KEY, START - 1, 1, &part));
	assert_false(mt_mr_find(n.engine, KEY, UINT64_MAX, 2, &part));
}

CASE(mt_mr_find, keys_of_no_mr)
{
	static const uint32_t none[] = {KEY ^ 1, KEY + 256, UINT32_MAX, 0, 1};
	struct mt_mr_part part;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(mt_mr_find(n.engine, none[i], START, 1, &part));
	assert_i_eq(mt_mw_add(n.engine, 3u << 8 | 1, PD, RD_MW_TYPE_1), MT_OK);
	assert_false(mt_mr_find(n.engine, 3u << 8 | 1, 0, 0, &part));
	assert_i_eq(mt_mr_remove(n.engine, 2), MT_OK);
	assert_false(mt_mr_find(n.engine, KEY, START, 1, &part));
}
