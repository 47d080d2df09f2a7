/* SPDX-License-Identifier: BSD-2-Clause */
/* The states of a QP and what may be set in each. */
#include "unit/node_fixture.h"

/* All attributes but the state. */
#define ALL_ATTRIBUTES ((RD_QP_SVC_TIME_DEST << 1) - 1 - RD_QP_STATE)

static int init(void **state)
{
	defaults(state);
	node_open(&n, &opts, 0);
	return 0;
}

#define CASE(function, name) TEST_WITH(init, close_node, function, name)

/* Attributes with which every move is possible. */
static struct rd_qp_attr good(enum rd_qp_state state)
{
	struct rd_qp_attr a = opts.attr;

	a.state = state;
	a.dest = n.peer;
	a.dest_qpn = n.peer_qpn;
	return a;
}

static int move(enum rd_qp_state state)
{
	struct rd_qp_attr a = good(state);

	return node_modify(&n, n.qp, &a, RD_QP_STATE | RD_QP_DEST * (state == RD_QPS_RTR));
}

/* From wherever it is to `state`, over RESET. */
static void bring_to(enum rd_qp_state state)
{
	assert_i_eq(move(RD_QPS_RESET), MT_OK);
	if (state == RD_QPS_ERR)
		assert_i_eq(move(RD_QPS_ERR), MT_OK);
	for (unsigned s = RD_QPS_INIT; state != RD_QPS_ERR && s <= state; s++)
		assert_i_eq(move((enum rd_qp_state)s), MT_OK);
	assert_u_eq(n.qp->state, state);
}

/* REQ(api.qp.modify.order) */
CASE(mt_qp_modify, moves_of_the_state_machine)
{
	static const char *const allowed[RD_QPS_COUNT] = {
		/*           to RESET INIT RTR RTS SQD ERR */
		[RD_QPS_RESET] = "yynnny", [RD_QPS_INIT] = "yyynny", [RD_QPS_RTR] = "ynnyny",
		[RD_QPS_RTS] = "ynnyyy",   [RD_QPS_SQD] = "ynnyyy",  [RD_QPS_ERR] = "ynnnny",
	};

	for (unsigned from = 0; from < RD_QPS_COUNT; from++) {
		for (unsigned to = 0; to < RD_QPS_COUNT; to++) {
			bool ok = allowed[from][to] == 'y';

			bring_to((enum rd_qp_state)from);
			assert_i_eq(move((enum rd_qp_state)to), ok ? MT_OK : MT_ERR_STATE);
			assert_u_eq(n.qp->state, ok ? to : from);
		}
	}
}

CASE(mt_qp_modify, no_such_state)
{
	struct rd_qp_attr a = good(RD_QPS_COUNT);

	assert_i_eq(mt_qp_modify(n.qp, 0, &a, RD_QP_STATE), MT_ERR_INVALID);
	a.state = (enum rd_qp_state) - 1;
	assert_i_eq(mt_qp_modify(n.qp, 0, &a, RD_QP_STATE), MT_ERR_INVALID);
}

/* Sets one attribute to a value in INIT and says what came of it. */
#define SETS(bit, field, value) \
	(a = good(RD_QPS_INIT), a.field = (value), mt_qp_modify(n.qp, 0, &a, bit))

/* REQ(api.qp.ranges) */
CASE(mt_qp_modify, numbers_and_their_ranges)
{
	struct rd_qp_attr a;

	assert_i_eq(SETS(RD_QP_DEST, dest_qpn, 0), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_DEST, dest_qpn, 1 << 24), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_DEST, dest_qpn, 0xFFFFFF), MT_OK);
	assert_i_eq(SETS(RD_QP_RQ_PSN, rq_psn, 1 << 24), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_RQ_PSN, rq_psn, 0xFFFFFF), MT_OK);
	assert_i_eq(SETS(RD_QP_SQ_PSN, sq_psn, 1 << 24), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_SQ_PSN, sq_psn, 0), MT_OK);
	assert_i_eq(SETS(RD_QP_MPR, mpr, 0), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_MPR, mpr, 255), MT_OK);
	assert_i_eq(SETS(RD_QP_MPR_DEST, mpr_dest, 0), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_MPR_DEST, mpr_dest, 255), MT_OK);
	assert_i_eq(SETS(RD_QP_MAX_WIMM, max_wimm, 0), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_MAX_WIMM, max_wimm, 65535), MT_OK);
	assert_i_eq(SETS(RD_QP_MAX_WIMM_DEST, max_wimm_dest, 0), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_MAX_WIMM_DEST, max_wimm_dest, 1024), MT_OK);
	assert_i_eq(SETS(RD_QP_MAX_WIMM_DEST, max_wimm_dest, 1025), MT_ERR_INVALID);
}

/* REQ(wire.pmtu) */
CASE(mt_qp_modify, retries_sizes_and_rights)
{
	static const uint32_t mtus[] = {256, 512, 1024, 2048, 4096};
	struct rd_qp_attr a;

	assert_i_eq(SETS(RD_QP_TIMEOUT, timeout, 24), MT_OK);
	assert_i_eq(SETS(RD_QP_TIMEOUT, timeout, 25), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_RETRY, retry_linear, 7), MT_OK);
	assert_i_eq(SETS(RD_QP_RETRY, retry_linear, 8), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_RETRY, retry_exp, 25), MT_OK);
	assert_i_eq(SETS(RD_QP_RETRY, retry_exp, 26), MT_ERR_INVALID);
	for (int i = 0; i < 5; i++) {
		assert_i_eq(SETS(RD_QP_PATH_MTU, path_mtu, mtus[i]), MT_OK);
		assert_i_eq(SETS(RD_QP_PATH_MTU, path_mtu, mtus[i] + 1), MT_ERR_INVALID);
	}
	assert_i_eq(SETS(RD_QP_PATH_MTU, path_mtu, 128), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_PATH_MTU, path_mtu, 8192), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_ACCESS, access, 0), MT_OK);
	assert_i_eq(SETS(RD_QP_ACCESS, access, 16), MT_ERR_INVALID);
}

CASE(mt_qp_modify, profiles_must_be_defined)
{
	struct rd_qp_attr a;

	assert_i_eq(SETS(RD_QP_EV_PROFILE, ev_profile, 0), MT_OK);
	assert_i_eq(SETS(RD_QP_EV_PROFILE, ev_profile, 1), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_EV_PROFILE, ev_profile, opts.cfg.max_profiles), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_CC_PROFILE, cc_profile, 0), MT_OK);
	assert_i_eq(SETS(RD_QP_CC_PROFILE, cc_profile, 1), MT_ERR_INVALID);
	assert_i_eq(SETS(RD_QP_CC_PROFILE, cc_profile, opts.cfg.max_profiles), MT_ERR_INVALID);
}

/* What lies behind the last profile is no profile, whatever it holds. */
CASE(mt_qp_modify, no_profile_beyond_the_last)
{
	struct mt_ev_profile *behind = n.engine->ev_profiles + opts.cfg.max_profiles;
	struct mt_ev_profile was = *behind;
	struct rd_qp_attr a;

	behind->cfg.evs = opts.evs;
	assert_i_eq(SETS(RD_QP_EV_PROFILE, ev_profile, opts.cfg.max_profiles), MT_ERR_INVALID);
	*behind = was;
}

CASE(mt_qp_modify, default_profile_not_defined)
{
	n.engine->cc_profiles[0].set = false;
	assert_i_eq(move(RD_QPS_RTR), MT_ERR_INVALID);
	assert_u_eq(n.qp->state, RD_QPS_INIT);
	n.engine->cc_profiles[0].set = true;
	assert_i_eq(move(RD_QPS_RTR), MT_OK);
}

CASE(mt_qp_modify, rtr_wants_a_destination)
{
	struct rd_qp_attr a = good(RD_QPS_RTR);

	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE), MT_ERR_INVALID);
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_DEST), MT_OK); /* given before */
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE), MT_OK);
}

/* What may be set in a state, one attribute at a time. */
static uint32_t settable(enum rd_qp_state state)
{
	struct rd_qp_attr a = good(state);
	uint32_t mask = 0;

	bring_to(state);
	for (uint32_t bit = 2; bit <= RD_QP_SVC_TIME_DEST; bit <<= 1) {
		int r = mt_qp_modify(n.qp, 0, &a, bit);

		assert_true(r == MT_OK || r == MT_ERR_STATE);
		mask |= r == MT_OK ? bit : 0;
	}
	return mask;
}

CASE(mt_qp_modify, what_may_be_set_when)
{
	const uint32_t always = RD_QP_ACCESS | RD_QP_TRIM_NACK_DEST | RD_QP_SVC_TIME_DEST;
	const uint32_t before_rts = RD_QP_SQ_PSN | RD_QP_MPR | RD_QP_MAX_WIMM | RD_QP_TIMEOUT |
				    RD_QP_RETRY | RD_QP_CC_PROFILE | RD_QP_DYNAMIC_MPR |
				    RD_QP_MPR_DEST | RD_QP_MAX_WIMM_DEST | RD_QP_EV_PROFILE;

	assert_u_eq(settable(RD_QPS_RESET), ALL_ATTRIBUTES);
	assert_u_eq(settable(RD_QPS_INIT), ALL_ATTRIBUTES);
	assert_u_eq(settable(RD_QPS_RTR), always | before_rts);
	assert_u_eq(settable(RD_QPS_RTS), always);
	assert_u_eq(settable(RD_QPS_SQD), always);
	assert_u_eq(settable(RD_QPS_ERR), always);
}

/* Without memory for READs and atomics, which is taken on the way, there can be none later. */
CASE(mt_qp_modify, reads_are_agreed_on_before_they_are_answered_or_asked)
{
	struct rd_qp_attr a = good(RD_QPS_INIT);

	assert_i_eq(mt_qp_modify(n.qp, 0, &a, RD_QP_MAX_DEST_RD_ATOMIC), MT_OK);
	assert_i_eq(mt_qp_modify(n.qp, 0, &a, RD_QP_MAX_RD_ATOMIC), MT_OK);
	assert_i_eq(move(RD_QPS_RTR), MT_OK);
	assert_i_eq(mt_qp_modify(n.qp, 0, &a, RD_QP_MAX_DEST_RD_ATOMIC), MT_ERR_STATE);
	assert_i_eq(mt_qp_modify(n.qp, 0, &a, RD_QP_MAX_RD_ATOMIC), MT_OK);
	assert_i_eq(move(RD_QPS_RTS), MT_OK);
	assert_i_eq(mt_qp_modify(n.qp, 0, &a, RD_QP_MAX_DEST_RD_ATOMIC), MT_ERR_STATE);
	assert_i_eq(mt_qp_modify(n.qp, 0, &a, RD_QP_MAX_RD_ATOMIC), MT_ERR_STATE);
}

/* REQ(api.qp.modify.order) */
CASE(mt_qp_modify, an_error_changes_nothing)
{
	struct rd_qp_attr before, after, a = good(RD_QPS_RTR);

	mt_qp_query(n.qp, &before);
	a.p_key = 0x1234;
	a.timeout = 25; /* the last one that is looked at */
	assert_i_eq(node_modify(&n, n.qp, &a, ALL_ATTRIBUTES | RD_QP_STATE), MT_ERR_INVALID);
	mt_qp_query(n.qp, &after);
	node_check_attr_eq(&after, &before);
	a = good(RD_QPS_RTS);
	a.p_key = 0x1234;
	assert_i_eq(node_modify(&n, n.qp, &a, ALL_ATTRIBUTES | RD_QP_STATE), MT_ERR_STATE);
	mt_qp_query(n.qp, &after);
	node_check_attr_eq(&after, &before);
}

CASE(mt_qp_modify, no_memory_changes_nothing)
{
	struct rd_qp_attr before, after, a = good(RD_QPS_RTR);
	size_t in_use, wanted, blocks = 0;

	node_exhaust(&n);
	in_use = n.engine->pool.in_use;
	mt_qp_query(n.qp, &before);
	while (mt_qp_modify(n.qp, 0, &a, ALL_ATTRIBUTES | RD_QP_STATE) == MT_ERR_MEMORY) {
		/* What sets share; the EV set; a window and a stash that could be had. */
		assert_true(++blocks <= 4);
		mt_qp_query(n.qp, &after);
		node_check_attr_eq(&after, &before);
		assert_u_eq(n.engine->pool.in_use, in_use);
		wanted = mt_engine_memory_wanted(n.engine);
		mt_engine_add_memory(n.engine, engine_node_block(&n.base, wanted), wanted);
	}
	assert_u_eq(n.qp->state, RD_QPS_RTR);
}

/* Two processes at one address have the EVs in common, and a peer each. */
TEST_WITH(defaults, close_node, mt_qp_modify, no_memory_for_another_peer_of_the_destination)
{
	struct rd_qp_attr a;
	struct mt_qp *other;
	uint32_t users;

	opts.cfg.qpn_index_bits = 20;
	start();
	a = good(RD_QPS_RTR);
	a.dest_qpn = 5u << 20 | 9;
	other = engine_node_qp(&n.base, &opts.cap, n.qpn + 1, NULL);
	assert_i_eq(engine_node_bring_to(&n.base, other, 0, &a, RD_QPS_INIT), MT_OK);
	node_exhaust(&n);
	users = n.qp->ev_set->refs;
	assert_i_eq(mt_qp_modify(other, 0, &a, ALL_ATTRIBUTES | RD_QP_STATE), MT_ERR_MEMORY);
	assert_u_eq(n.qp->ev_set->refs, users);
}

/* It asks for a window and a stash of just the size that was agreed on. */
CASE(mt_qp_modify, rtr_wants_memory_for_the_window_that_was_agreed)
{
	struct rd_qp_attr a = good(RD_QPS_RTR);
	bool asked = false;
	size_t wanted;

	a.mpr_dest = 128;
	a.max_wimm_dest = 1;
	node_exhaust(&n);
	while (mt_qp_modify(n.qp, 0, &a, ALL_ATTRIBUTES | RD_QP_STATE) == MT_ERR_MEMORY) {
		wanted = mt_engine_memory_wanted(n.engine);
		assert_true(wanted <= mt_rx_window_size(128 * 128));
		asked |= wanted == mt_rx_window_size(128 * 128);
		mt_engine_add_memory(n.engine, engine_node_block(&n.base, wanted), wanted);
	}
	assert_true(asked);
}

CASE(mt_qp_modify, reset_gives_all_memory_back)
{
	size_t in_use = n.engine->pool.in_use;
	size_t blocks;

	opts.attr.mpr_dest = 3;
	for (int i = 0; i < 5; i++) {
		struct rd_qp_attr a = good(RD_QPS_RTR);

		assert_i_eq(move(RD_QPS_INIT), MT_OK);
		assert_i_eq(node_modify(&n, n.qp, &a, ALL_ATTRIBUTES | RD_QP_STATE), MT_OK);
		assert_i_eq(move(RD_QPS_RTS), MT_OK);
		assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
		assert_true(n.engine->pool.in_use > in_use);
		assert_i_eq(move(RD_QPS_RESET), MT_OK);
		assert_u_eq(n.engine->pool.in_use, in_use);
		if (i > 0)
			assert_u_eq(n.base.n_blocks, blocks);
		blocks = n.base.n_blocks;
	}
}

CASE(mt_qp_modify, reset_drops_what_is_queued)
{
	struct mt_event ev;

	node_connect(&n);
	assert_i_eq(node_post(&n, n.qp, 1, 1, RD_SEND_SIGNALED), MT_OK);
	assert_i_eq(mt_qp_post_recv(n.qp, 2), MT_OK);
	node_drain(&n, 1000);
	mt_qp_fail(n.qp, RD_WC_FATAL_ERR, RD_WC_FATAL_ERR);
	assert_i_eq(move(RD_QPS_RESET), MT_OK);
	assert_false(node_poll(&n, &ev));
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
	assert_i_eq(move(RD_QPS_INIT), MT_OK);
	node_connect(&n); /* and it is as new */
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	assert_u_eq(node_drain(&n, 2000), 1);
	assert_u_eq(n.qp->req.window.next, node_psn(1));
}

/* REQ(req.error.flush) */
CASE(mt_qp_modify, error_flushes_and_says_nothing_else)
{
	struct mt_event ev;

	node_connect(&n);
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	assert_i_eq(mt_qp_post_recv(n.qp, 2), MT_OK);
	node_drain(&n, 1000);
	assert_i_eq(move(RD_QPS_ERR), MT_OK);
	assert_true(node_poll(&n, &ev) && ev.wr_id == 1 && ev.status == RD_WC_WR_FLUSH_ERR);
	assert_true(node_poll(&n, &ev) && ev.wr_id == 2 && ev.status == RD_WC_WR_FLUSH_ERR);
	assert_false(node_poll(&n, &ev)); /* whoever asked for it knows */
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
}

CASE(mt_qp_modify, error_keeps_what_failed_before)
{
	struct mt_event ev;

	node_connect(&n);
	mt_qp_fail(n.qp, RD_WC_RETRY_EXC_ERR, RD_WC_RETRY_EXC_ERR);
	assert_i_eq(move(RD_QPS_ERR), MT_OK);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_QP);
	assert_u_eq(ev.status, RD_WC_RETRY_EXC_ERR);
}

CASE(mt_qp_query, returns_what_was_set)
{
	struct rd_qp_attr a = good(RD_QPS_RTR), got;

	a.rq_psn = 17;
	a.access = RD_ACCESS_REMOTE_WRITE;
	a.mpr = 2;
	a.mpr_dest = 3;
	a.max_wimm = 4;
	a.max_wimm_dest = 5;
	a.timeout = 6;
	a.retry_linear = 1;
	a.retry_exp = 9;
	a.p_key = 0x8001;
	a.trim_nack_dest = false;
	a.dynamic_mpr = true;
	assert_i_eq(node_modify(&n, n.qp, &a, ALL_ATTRIBUTES | RD_QP_STATE), MT_OK);
	mt_qp_query(n.qp, &got);
	node_check_attr_eq(&got, &a);
	assert_u_eq(n.qp->rsp.window.expected, (1 << 24) + 17);
	assert_u_eq(n.qp->rsp.window.limit, 3 * 128);
	assert_u_eq(n.qp->rsp.stash.limit, 5);
}

/* ---- limits and EV profile change in RTR, with packets already there ---- */

static void ready_to_receive(void)
{
	struct rd_qp_attr a = good(RD_QPS_RTR);

	assert_i_eq(node_modify(&n, n.qp, &a, UINT32_MAX), MT_OK);
}

static void receive(uint32_t i, uint8_t opcode)
{
	struct mw_packet pkt = node_write(&n, opcode, i, (uint16_t)i, 4, 4);

	node_rx(&n, 0, &pkt);
}

/* The i-th packet, with the immediate that takes the r-th receive. */
static void receive_imm(uint32_t i, uint16_t r)
{
	struct mw_packet pkt = node_write(&n, MW_WRITE_ONLY_IMM, i, (uint16_t)i, 4, 4);

	pkt.data.meth.rqmsn = r;
	node_rx(&n, 0, &pkt);
}

/* REQ(api.qp.modify.order) */
CASE(mt_qp_modify, limits_as_responder_change_until_rts)
{
	struct rd_qp_attr a = good(RD_QPS_RTS);

	ready_to_receive();
	receive(2, MW_WRITE_ONLY);
	receive(70, MW_WRITE_ONLY);
	a.mpr_dest = 3;
	a.max_wimm_dest = 77;
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE | RD_QP_MPR_DEST | RD_QP_MAX_WIMM_DEST),
		    MT_OK);
	assert_u_eq(n.qp->rsp.window.limit, 3 * 128);
	assert_u_eq(n.qp->rsp.stash.limit, 77);
	receive(2, MW_WRITE_ONLY); /* is there already */
	receive(3 * 128 - 1, MW_WRITE_ONLY);
	assert_u_eq(node_stats(&n).rx_duplicates, 1);
	assert_u_eq(n.qp->rsp.window.ahead, 3);
	for (uint32_t i = 0; i < 70; i++)
		if (i != 2)
			receive(i, MW_WRITE_ONLY);
	assert_u_eq(n.qp->rsp.window.expected, node_psn(71));
	assert_u_eq(n.qp->rsp.msn, 71);
}

CASE(mt_qp_modify, another_ev_profile_until_rts)
{
	struct mt_ev evs[2] = {{900, 0}, {901, 1}};
	struct mt_ev_profile_cfg other = n.opts.ev_profile;
	struct rd_qp_attr a = good(RD_QPS_RTS);
	struct mt_ev_set *old;

	other.evs = evs;
	other.n_evs = other.n_active = 2;
	other.min_active = 1;
	assert_i_eq(mt_ev_profile_set(n.engine, 1, &other), MT_OK);
	ready_to_receive();
	old = n.qp->ev_set;
	receive(0, MW_WRITE_ONLY); /* has a pending ACK, on whatever path */
	a.ev_profile = 1;
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE | RD_QP_EV_PROFILE), MT_OK);
	assert_true(n.qp->ev_set != old);
	assert_u_eq(n.qp->ev_set->n_evs, 2);
	assert_u_eq(n.qp->ev_set->refs, 1);
	assert_true(node_drain(&n, 0) > 0);
}

/* What was received and what waits needs memory of the new size: all of it, or nothing changes. */
CASE(mt_qp_modify, limits_change_only_with_memory)
{
	struct rd_qp_attr a = good(RD_QPS_RTS);
	size_t in_use, wanted, blocks = 0;

	ready_to_receive();
	receive(2, MW_WRITE_ONLY);
	receive(5, MW_WRITE_ONLY_IMM);
	node_drain(&n, 0);
	node_exhaust(&n);
	in_use = n.engine->pool.in_use;
	a.mpr_dest = 3;
	a.max_wimm_dest = 77;
	while (mt_qp_modify(n.qp, 0, &a, RD_QP_MPR_DEST | RD_QP_MAX_WIMM_DEST) == MT_ERR_MEMORY) {
		assert_true(++blocks <= 2); /* bitmaps, then the stash */
		assert_u_eq(n.engine->pool.in_use, in_use);
		assert_u_eq(n.qp->rsp.window.limit, 128);
		wanted = mt_engine_memory_wanted(n.engine);
		mt_engine_add_memory(n.engine, engine_node_block(&n.base, wanted), wanted);
	}
	assert_u_eq(blocks, 2);
	assert_u_eq(n.qp->rsp.window.limit, 3 * 128);
	assert_u_eq(n.qp->rsp.stash.limit, 77);
	assert_u_eq(n.qp->rsp.window.ahead, 2);
	assert_i_eq(move(RD_QPS_RESET), MT_OK);
	assert_i_eq(move(RD_QPS_INIT), MT_OK);
}

/* Another EV set was taken already when there is no memory for the window. */
CASE(mt_qp_modify, another_ev_profile_only_with_memory_for_the_window)
{
	struct mt_ev_profile_cfg other = n.opts.ev_profile;
	struct rd_qp_attr a = good(RD_QPS_RTS);
	size_t in_use, wanted, blocks = 0;

	other.evs = opts.evs;
	assert_i_eq(mt_ev_profile_set(n.engine, 1, &other), MT_OK);
	ready_to_receive();
	receive(2, MW_WRITE_ONLY);
	node_drain(&n, 0);
	node_exhaust(&n);
	in_use = n.engine->pool.in_use;
	a.mpr_dest = 128;
	a.ev_profile = 1;
	while (mt_qp_modify(n.qp, 0, &a, RD_QP_MPR_DEST | RD_QP_EV_PROFILE) == MT_ERR_MEMORY) {
		assert_true(++blocks <= 3); /* the set; the peer; the window */
		assert_u_eq(n.engine->pool.in_use, in_use);
		assert_u_eq(n.qp->attr.ev_profile, 0);
		wanted = mt_engine_memory_wanted(n.engine);
		mt_engine_add_memory(n.engine, engine_node_block(&n.base, wanted), wanted);
	}
	assert_u_eq(n.qp->attr.ev_profile, 1);
	assert_u_eq(n.qp->rsp.window.limit, 128 * 128);
}

/* The blocks of the pool that the responder's memory takes. */
static size_t responder_memory(void)
{
	const struct mt_responder *rsp = &n.qp->rsp;

	return (rsp->window.received ? mb_pool_block_size(mt_rx_window_size(rsp->window.limit))
				     : 0) +
	       (rsp->stash.slots ? mb_pool_block_size(mt_imm_stash_size(rsp->stash.limit)) : 0);
}

/* What is filled is replaced; what is empty goes, and comes back when it is needed. */
CASE(mt_qp_modify, limits_that_change_give_back_the_memory_of_the_old_ones)
{
	struct rd_qp_attr a = good(RD_QPS_RTS);
	size_t others;

	assert_i_eq(mt_qp_post_recv(n.qp, 1), MT_OK);
	ready_to_receive();
	receive_imm(0, 0);
	receive(2, MW_WRITE_ONLY);
	node_drain(&n, 0);
	others = mt_engine_memory_used(n.engine) - responder_memory();
	assert_non_null(n.qp->rsp.stash.slots);
	for (uint8_t mpr = 4; mpr > 0; mpr /= 2) {
		a.mpr_dest = mpr;
		a.max_wimm_dest = 100u * mpr;
		assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_MPR_DEST | RD_QP_MAX_WIMM_DEST), MT_OK);
		assert_null(n.qp->rsp.stash.slots);
		assert_non_null(n.qp->rsp.window.received);
		assert_u_eq(mt_engine_memory_used(n.engine), others + responder_memory());
	}
	receive_imm(4, 1);
	a.max_wimm_dest = 50;
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_MAX_WIMM_DEST), MT_OK);
	assert_non_null(n.qp->rsp.stash.slots);
	assert_u_eq(mt_engine_memory_used(n.engine), others + responder_memory());
}

/* What lies there already stays in the window. */
CASE(mt_qp_modify, a_lower_limit_keeps_what_is_there)
{
	struct rd_qp_attr a = good(RD_QPS_RTS);

	opts.attr.mpr_dest = 3;
	a.mpr_dest = 3;
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_MPR_DEST), MT_OK);
	ready_to_receive();
	receive(200, MW_WRITE_ONLY);
	a.mpr_dest = 1;
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_MPR_DEST), MT_OK);
	assert_u_eq(n.qp->rsp.window.limit, 201);
	receive(200, MW_WRITE_ONLY);
	assert_u_eq(node_stats(&n).rx_duplicates, 1);
}

CASE(mt_qp_modify, reset_takes_it_off_all_lists)
{
	struct mt_event ev;

	node_connect(&n);
	assert_i_eq(mt_qp_post_recv(n.qp, 2), MT_OK);
	assert_i_eq(mt_qp_post_recv(n.qp, 3), MT_OK);
	receive(0, MW_WRITE_ONLY_IMM);
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	assert_i_eq(move(RD_QPS_RESET), MT_OK);
	assert_true(mb_link_is_empty(&n.qp->ready) && mb_link_is_empty(&n.qp->control) &&
		    mb_link_is_empty(&n.qp->completion));
	assert_u_eq(node_drain(&n, 1000), 0);
	node_check_no_event(&n);
	assert_i_eq(move(RD_QPS_INIT), MT_OK);
	node_connect(&n); /* with no receive, and nothing to report */
	assert_u_eq(n.qp->rsp.rq.tail, 0);
	assert_i_eq(mt_qp_post_recv(n.qp, 4), MT_OK);
	receive(0, MW_WRITE_ONLY_IMM);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.wr_id, 4);
	node_check_no_event(&n);
}

/* Answers that were queued before go out once at most, and none is left in the queue. */
CASE(mt_qp_modify, reset_forgets_what_was_to_be_answered)
{
	uint32_t n_free = n.engine->controls.n_free;
	struct mw_packet probe;

	node_connect(&n);
	probe = node_probe(&n, 1);
	node_rx(&n, 0, &probe);
	assert_u_eq(n.engine->controls.n_free, n_free - 1);
	assert_i_eq(move(RD_QPS_RESET), MT_OK);
	assert_u_eq(n.engine->controls.n_free, n_free);
}

/* REQ(req.sqd.drained) */
CASE(mt_qp_modify, drained_is_said_once_and_after_what_had_begun)
{
	struct mw_packet ack;
	struct mt_event ev;

	node_connect(&n);
	assert_i_eq(node_post(&n, n.qp, 1, 1, RD_SEND_SIGNALED), MT_OK);
	node_drain(&n, 1000);
	node_check_no_event(&n);
	assert_i_eq(move(RD_QPS_SQD), MT_OK);
	node_check_no_event(&n);
	ack = node_ack(&n, 0x1F, 1);
	node_rx(&n, 2000, &ack);
	node_check_completion(&n, 1, RD_WC_SUCCESS);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_SQ_DRAINED);
	assert_ptr_equal(ev.qp_user, &n);
	node_check_no_event(&n);
	assert_i_eq(move(RD_QPS_RTS), MT_OK);
	node_check_no_event(&n);
	assert_i_eq(move(RD_QPS_SQD), MT_OK); /* nothing is left: it is drained at once */
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_SQ_DRAINED);
	node_check_no_event(&n);
}

/* REQ(req.spray.in-order) */
CASE(mt_qp_modify, each_qp_draws_evs_of_its_own)
{
	struct mt_qp *other;
	struct mb_prng a, b;

	node_connect(&n);
	other = node_add_qp(&n, n.qpn + 1, n.peer_qpn + 1, NULL);
	a = n.qp->req.spray.prng;
	b = other->req.spray.prng;
	assert_true(mb_prng_u64(&a) != mb_prng_u64(&b));
}

static int with_order(void **state)
{
	defaults(state);
	opts.cap.extensions = MW_EXT_SEND;
	opts.cap.in_order = true;
	start();
	return 0;
}

/* REQ(ext.order.wait) */
TEST_WITH(with_order, close_node, mt_qp_modify, reset_leaves_the_list_of_waiting_ends_empty)
{
	assert_i_eq(move(RD_QPS_RESET), MT_OK);
	assert_i_eq(move(RD_QPS_INIT), MT_OK);
	node_connect(&n);
	receive(1, MW_WRITE_ONLY); /* waits for the one before it */
	assert_u_eq(n.placed, 0);
	receive(0, MW_WRITE_ONLY);
	assert_u_eq(n.placed, 2);
	assert_u_eq(n.qp->ext->in_order.count, 0);
}
