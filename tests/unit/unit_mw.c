/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows: what may be bound, what peers find, when it is over. */
#include "windows_fixture.h"

#define HALF (MR_START + MR_LENGTH / 2)
#define KEY_1 (MW_1 << 8 | 9u)
#define KEY_2 (MW_2 << 8 | 9u)

/* REQ(ext.mw.bind) */
FIXTURE_TEST(mt_mw_bind, a_part_of_a_region)
{
	struct mt_local_wr wr = bind_of(MW_1, 9);
	const struct mt_mr *mw;

	assert_false(peer_may(MW_1 << 8 | 1, HALF, 1, 0));
	assert_true(mt_mw_bind(n.qp, &wr));
	assert_true(peer_may(KEY_1, HALF, MR_LENGTH / 2, PEERS));
	assert_false(peer_may(KEY_1, HALF - 1, 1, RD_ACCESS_REMOTE_READ));
	assert_false(peer_may(KEY_1, HALF, MR_LENGTH / 2 + 1, RD_ACCESS_REMOTE_READ));
	assert_false(peer_may(MW_1 << 8 | 1, HALF, 1, RD_ACCESS_REMOTE_READ));
	mw = mt_mr_check_peer(n.qp, KEY_1, HALF + 5, 1, PEERS);
	assert_ptr_equal(mw->user, &n);
	assert_u_eq(HALF + 5 - mw->origin, MR_LENGTH / 2 + 5);
}

FIXTURE_TEST(mt_mw_bind, zero_based)
{
	struct mt_local_wr wr = bind_of(MW_1, 9);
	const struct mt_mr *mw;

	wr.zero_based = true;
	assert_true(mt_mw_bind(n.qp, &wr));
	assert_false(peer_may(KEY_1, HALF, 1, PEERS));
	mw = mt_mr_check_peer(n.qp, KEY_1, 7, 1, PEERS);
	assert_non_null(mw);
	assert_u_eq(7 - mw->origin, MR_LENGTH / 2 + 7);
}

FIXTURE_TEST(mt_mw_bind, zero_based_begins_at_zero)
{
	struct mt_local_wr wr = bind_of(MW_1, 9);

	wr.zero_based = true;
	assert_true(mt_mw_bind(n.qp, &wr));
	assert_true(peer_may(KEY_1, 0, MR_LENGTH / 2, PEERS));
	assert_false(peer_may(KEY_1, 1, MR_LENGTH / 2, PEERS));
}

FIXTURE_TEST(mt_mw_bind, a_single_byte)
{
	for (uint32_t window = MW_1; window <= MW_2; window++) {
		struct mt_local_wr wr = bind_of(window, 9);

		wr.length = 1;
		assert_true(mt_mw_bind(n.qp, &wr));
		assert_true(peer_may(wr.rkey, HALF, 1, PEERS));
		assert_false(peer_may(wr.rkey, HALF, 2, PEERS));
	}
	assert_u_eq(n.engine->mrs.mrs[MR_INDEX].windows, 2);
}

/* REQ(ext.mw.remote-only) */
FIXTURE_TEST(mt_mr_check, a_window_is_no_memory_of_ours)
{
	const struct mt_mr_table *t = &n.engine->mrs;

	for (uint32_t window = MW_1; window <= MW_2; window++) {
		struct mt_local_wr wr = bind_of(window, 9);

		wr.access |= RD_ACCESS_LOCAL_WRITE | RD_ACCESS_MW_BIND;
		assert_true(mt_mw_bind(n.qp, &wr));
		assert_null(mt_mr_check(t, wr.rkey, NODE_PD, HALF, 1, MT_MR_LOCAL));
		assert_null(mt_mr_check(t, wr.rkey, NODE_PD, HALF, 1, RD_ACCESS_LOCAL_WRITE));
		assert_null(mt_mr_check(t, wr.rkey, NODE_PD, HALF, 1, RD_ACCESS_MW_BIND));
	}
}

static void refused(struct mt_local_wr wr)
{
	assert_false(mt_mw_bind(n.qp, &wr));
	assert_u_eq(n.engine->mrs.mrs[MR_INDEX].windows, 0);
}

/* REQ(ext.mw.rights) */
FIXTURE_TEST(mt_mw_bind, what_may_not_be)
{
	struct mt_local_wr wr = bind_of(MW_1, 9);

	wr.lkey ^= 1;
	refused(wr);
	wr = bind_of(MW_1, 9);
	wr.lkey = NODE_KEY; /* without MW_BIND */
	wr.addr = NODE_MR_START;
	refused(wr);
	wr = bind_of(MW_1, 9);
	wr.length++;
	refused(wr);
	wr = bind_of(MW_1, 9);
	wr.rkey = MW_2 << 8 | 9;
	refused(wr);
	wr.rkey = KEY_1 ^ 1u << 31;
	refused(wr);
	wr = bind_of(MR_INDEX, 9);
	refused(wr);
	wr = bind_of(MW_2, 1); /* the key that it has */
	refused(wr);
	wr = bind_of(99999, 1);
	refused(wr);
}

/* REQ(ext.mw.rights) */
FIXTURE_TEST(mt_mw_bind, writing_where_we_may_not)
{
	struct mt_local_wr wr = bind_of(MW_1, 9);

	assert_i_eq(mt_mr_remove(n.engine, MR_INDEX), MT_OK);
	assert_i_eq(mt_mr_add(n.engine, MR_KEY, NODE_PD, MR_START, MR_LENGTH,
			      RD_ACCESS_MW_BIND | RD_ACCESS_REMOTE_READ, &n),
		    MT_OK);
	refused(wr);
	wr.access = RD_ACCESS_REMOTE_ATOMIC;
	refused(wr);
	wr.access = RD_ACCESS_REMOTE_READ;
	assert_true(mt_mw_bind(n.qp, &wr));
}

/* REQ(ext.mw.rebind) */
FIXTURE_TEST(mt_mw_bind, type_1_again_and_to_nothing)
{
	struct mt_local_wr wr = bind_of(MW_1, 9);

	assert_true(mt_mw_bind(n.qp, &wr));
	wr.rkey++;
	assert_true(mt_mw_bind(n.qp, &wr));
	assert_false(peer_may(KEY_1, HALF, 1, PEERS));
	assert_true(peer_may(KEY_1 + 1, HALF, 1, PEERS));
	assert_u_eq(n.engine->mrs.mrs[MR_INDEX].windows, 1);
	wr = (struct mt_local_wr){.rkey = KEY_1, .window = MW_1};
	assert_true(mt_mw_bind(n.qp, &wr));
	assert_false(peer_may(KEY_1, 0, 0, RD_ACCESS_REMOTE_READ));
	assert_u_eq(n.engine->mrs.mrs[MR_INDEX].windows, 0);
}

/* REQ(ext.mw.rebind) REQ(ext.mw.invalidate) */
FIXTURE_TEST(mt_mw_invalidate, type_2_before_it_is_bound_again)
{
	struct mt_local_wr wr = bind_of(MW_2, 9), empty = {.rkey = KEY_2, .window = MW_2};

	assert_false(mt_mw_bind(n.qp, &empty));
	assert_true(mt_mw_bind(n.qp, &wr));
	wr.rkey++;
	assert_false(mt_mw_bind(n.qp, &wr));
	assert_false(mt_mw_invalidate(n.qp, KEY_2 + 1));
	assert_true(mt_mw_invalidate(n.qp, KEY_2));
	assert_false(peer_may(KEY_2, HALF, 1, PEERS));
	assert_false(mt_mw_invalidate(n.qp, KEY_2));
	assert_true(mt_mw_bind(n.qp, &wr));
}

FIXTURE_TEST(mt_mw_invalidate, neither_type_1_nor_a_region)
{
	struct mt_local_wr wr = bind_of(MW_1, 9);

	assert_true(mt_mw_bind(n.qp, &wr));
	assert_false(mt_mw_invalidate(n.qp, KEY_1));
	assert_false(mt_mw_invalidate(n.qp, MR_KEY));
	assert_false(mt_mw_invalidate(n.qp, UINT32_MAX));
	assert_true(peer_may(KEY_1, HALF, 1, PEERS));
}

/* REQ(ext.mw.of-qp) */
FIXTURE_TEST(mt_mr_check_peer, a_window_of_another_qp)
{
	struct mt_qp *other = node_add_qp(&n, 0x103, 0x104, NULL);
	struct mt_local_wr one = bind_of(MW_1, 9), two = bind_of(MW_2, 9);

	assert_true(mt_mw_bind(n.qp, &one) && mt_mw_bind(n.qp, &two));
	assert_non_null(mt_mr_check_peer(other, KEY_1, HALF, 1, PEERS));
	assert_null(mt_mr_check_peer(other, KEY_2, HALF, 1, PEERS));
	assert_false(mt_mw_invalidate(other, KEY_2));
	assert_true(peer_may(KEY_2, HALF, 1, PEERS));
}

/* REQ(ext.mw.holds-mr) */
FIXTURE_TEST(mt_mr_remove, with_a_window)
{
	struct mt_local_wr wr = bind_of(MW_2, 9);

	assert_true(mt_mw_bind(n.qp, &wr));
	assert_i_eq(mt_mr_remove(n.engine, MR_INDEX), MT_ERR_STATE);
	assert_true(peer_may(KEY_2, HALF, 1, PEERS));
	assert_i_eq(mt_mw_remove(n.engine, MW_2), MT_OK);
	assert_false(peer_may(KEY_2, HALF, 1, PEERS));
	assert_i_eq(mt_mr_remove(n.engine, MW_1), MT_ERR_INVALID);
	assert_i_eq(mt_mr_remove(n.engine, MR_INDEX), MT_OK);
	assert_i_eq(mt_mw_remove(n.engine, MW_2), MT_ERR_INVALID);
	assert_i_eq(mt_mw_add(n.engine, MW_2 << 8 | 1, NODE_PD, RD_MW_TYPE_2),
		    MT_OK); /* it is free */
}

FIXTURE_TEST(mt_mw_add, refusals)
{
	assert_i_eq(mt_mw_add(n.engine, 0 << 8 | 1, NODE_PD, RD_MW_TYPE_1), MT_ERR_INVALID);
	assert_i_eq(mt_mw_add(n.engine, 5 << 8 | 1, NODE_PD, RD_MW_TYPE_1), MT_ERR_INVALID);
	assert_i_eq(mt_mw_add(n.engine, MR_INDEX << 8 | 1, NODE_PD, RD_MW_TYPE_1), MT_ERR_EXISTS);
	assert_i_eq(mt_mw_add(n.engine, MW_1 << 8 | 1, NODE_PD, RD_MW_TYPE_2), MT_ERR_EXISTS);
	assert_i_eq(mt_mw_remove(n.engine, MR_INDEX), MT_ERR_INVALID);
}

/* REQ(ext.mw.of-qp) */
FIXTURE_TEST(mt_mw_unbind_qp, with_a_reset)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};

	assert_i_eq(post(bind_of(MW_1, 9), 1), MT_OK);
	assert_i_eq(post(bind_of(MW_2, 9), 2), MT_OK);
	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	assert_false(peer_may(KEY_2, HALF, 1, PEERS));
	assert_true(peer_may(KEY_1, HALF, 1, PEERS));
	assert_u_eq(n.engine->mrs.mrs[MR_INDEX].windows, 1);
}

/* The first index is one like any other. REQ(ext.mw.of-qp) */
FIXTURE_TEST(mt_mw_unbind_qp, a_window_of_the_first_index)
{
	struct mt_local_wr wr = bind_of(NODE_MR_INDEX, 9);

	assert_i_eq(mt_mr_remove(n.engine, NODE_MR_INDEX), MT_OK);
	assert_i_eq(mt_mw_add(n.engine, NODE_MR_INDEX << 8 | 1, NODE_PD, RD_MW_TYPE_2), MT_OK);
	assert_true(mt_mw_bind(n.qp, &wr));
	mt_mw_unbind_qp(n.qp);
	assert_false(peer_may(wr.rkey, HALF, 1, PEERS));
}

/* REQ(ext.mw.read) */
FIXTURE_TEST(mt_rd_atomic_execute, a_read_through_a_window)
{
	struct mw_packet p = node_write(&n, MW_READ_REQUEST, 0, 0, 0, 0);
	struct mt_tx_desc d;

	assert_i_eq(post(bind_of(MW_2, 9), 1), MT_OK);
	agree();
	p.data.reth.va = HALF + 8;
	p.data.reth.rkey = KEY_2;
	p.data.imm = 100;
	node_rx(&n, 2000, &p);
	assert_i_eq(post(invalidate_of(KEY_2), 2), MT_OK);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_RESPONSE_ONLY, &d));
	assert_u_eq(d.sge[0].lkey, MR_KEY);
	assert_u_eq(d.sge[0].addr, HALF + 8);
	assert_u_eq(d.sge[0].length, 100);
}

/* Writes through a window go where the window is, and nowhere when it is gone. */
FIXTURE_TEST(mt_mw_bind, a_write_through_it)
{
	struct mw_packet p = node_write(&n, MW_WRITE_ONLY, 0, 0, 100, 100);

	assert_i_eq(post(bind_of(MW_2, 9), 1), MT_OK);
	agree();
	p.data.reth.va = HALF + 8;
	p.data.reth.rkey = KEY_2;
	node_rx(&n, 2000, &p);
	assert_u_eq(n.last_at, MR_LENGTH / 2 + 8);
	assert_i_eq(post(invalidate_of(KEY_2), 2), MT_OK);
	p = node_write(&n, MW_WRITE_ONLY, 1, 1, 100, 100);
	p.data.reth.va = HALF + 8;
	p.data.reth.rkey = KEY_2;
	node_rx(&n, 3000, &p);
	assert_u_eq(n.placed, 1);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	assert_u_eq(node_stats(&n).rx_access_errors, 1);
}
