/* SPDX-License-Identifier: BSD-2-Clause */
/* What a controller changes of an EV profile while QPs use it. */
#include "core/endpoint/endpoint.h"
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

#define CASE(name) TEST_WITH(connected, close_node, engine_profiles, name)

static int deny(uint32_t ev, bool deny)
{
	int r;

	ENGINE_NODE_CALL(&n.base, r, mt_ev_profile_deny(n.engine, 0, ev, deny));
	return r;
}

static enum mt_ev_state state_of(uint32_t ev)
{
	struct mt_ev_info info;

	assert_true(mt_qp_ev_info(n.qp, ev, &info));
	return info.state;
}

/* How many of the packets that may leave now carry the value of an EV. */
static uint32_t sent_on(uint32_t value)
{
	struct mt_tx_desc sent[SENT_MAX];
	uint32_t on = 0, got;

	assert_i_eq(node_post(&n, n.qp, 70, 64 * MTU, RD_SEND_SIGNALED), MT_OK);
	got = node_tx(&n, 1000, sent, SENT_MAX);
	assert_true(got > 2 * n.opts.ev_profile.n_evs);
	for (uint32_t i = 0; i < got; i++)
		on += sent[i].ev == value;
	return on;
}

/* REQ(ctl.ev-denied) */
CASE(a_denied_ev_is_used_no_more)
{
	assert_i_eq(deny(3, true), MT_OK);
	assert_u_eq(state_of(3), MT_EV_DENIED);
	assert_u_eq(sent_on(n.opts.evs[3].value), 0);
}

CASE(an_ev_that_is_denied_no_more_is_used)
{
	assert_i_eq(deny(3, true), MT_OK);
	assert_i_eq(deny(3, false), MT_OK);
	assert_u_eq(state_of(3), MT_EV_GOOD);
	assert_true(sent_on(n.opts.evs[3].value) > 0);
}

/* REQ(ctl.ev-denied) */
CASE(a_new_destination_hears_of_it)
{
	struct rd_gid other = {{0xFD, [15] = 9}};
	struct mb_link user;
	struct mt_ev_set *s;

	assert_i_eq(deny(5, true), MT_OK);
	assert_i_eq(deny(0, true), MT_OK);
	n.engine->ev_profiles[0].denied[0] |= 1u << opts.ev_profile.n_evs; /* there is no such EV */
	mb_link_init(&user);
	while (!(s = mt_ev_sets_acquire(n.engine, 0, &other, &user)))
		engine_node_grow(&n.base);
	assert_u_eq(mt_ev_state_of(s, 5), MT_EV_DENIED);
	assert_u_eq(mt_ev_state_of(s, 0), MT_EV_DENIED);
	assert_u_eq(mt_ev_state_of(s, 4), MT_EV_GOOD);
	mt_ev_sets_release(n.engine, s, &user);
}

static int with_backups(void **state)
{
	defaults(state);
	opts.ev_profile.n_active = 4;
	start();
	return 0;
}

static void add_memory(size_t bytes)
{
	size_t size = mb_pool_block_size(bytes);

	mt_engine_add_memory(n.engine, engine_node_block(&n.base, size), size);
}

/* Neither what a new set shares with others, nor itself, stays behind when it finds too little. */
TEST_WITH(with_backups, close_node, engine_profiles, a_new_destination_without_memory)
{
	const struct rd_gid other = {{0xFD, [15] = 9}};
	struct mt_ev_profile_cfg profile = opts.ev_profile;
	struct mb_link user;
	size_t before;
	int r;

	profile.evs = opts.evs;
	ENGINE_NODE_CALL(&n.base, r, mt_ev_profile_set(n.engine, 1, &profile));
	assert_i_eq(r, MT_OK);
	ENGINE_NODE_CALL(&n.base, r, mt_ev_profile_deny(n.engine, 1, 0, true));
	assert_i_eq(r, MT_OK);
	mb_link_init(&user);
	node_exhaust(&n);
	before = n.engine->pool.in_use;
	add_memory(mt_ev_shared_size(&profile, opts.cfg.n_ports));
	assert_null(mt_ev_sets_acquire(n.engine, 1, &other, &user));
	assert_u_eq(n.engine->pool.in_use, before);
	add_memory(mt_ev_sets_bytes(profile.n_evs, opts.cfg.n_ports));
	assert_null(mt_ev_sets_acquire(n.engine, 1, &other, &user));
	assert_u_eq(n.engine->pool.in_use, before);
	assert_null(n.engine->ev_profiles[1].shared);
	engine_node_grow(&n.base);
	assert_non_null(mt_ev_sets_acquire(n.engine, 1, &other, &user));
}

/* REQ(ctl.ev-denied) */
CASE(the_last_ev_cannot_be_denied)
{
	uint16_t all = n.opts.ev_profile.n_evs;

	for (uint16_t i = 0; i + 1 < all; i++)
		assert_i_eq(deny(i, true), MT_OK);
	assert_i_eq(deny(all - 1u, true), MT_ERR_STATE);
	assert_u_eq(state_of(all - 1u), MT_EV_GOOD);
	assert_i_eq(deny(0, true), MT_OK); /* it was already */
	assert_true(sent_on(n.opts.evs[all - 1].value) > 0);
}

CASE(what_is_not_there)
{
	assert_i_eq(deny(n.opts.ev_profile.n_evs, true), MT_ERR_INVALID);
	assert_i_eq(mt_ev_profile_deny(n.engine, 1, 0, true), MT_ERR_INVALID);
	assert_i_eq(mt_ev_profile_deny(n.engine, UINT32_MAX, 0, true), MT_ERR_INVALID);
	assert_i_eq(mt_ev_profile_replace(n.engine, 0, n.opts.ev_profile.n_evs, 1), MT_ERR_INVALID);
	assert_i_eq(mt_ev_profile_replace(n.engine, UINT32_MAX, 0, 1), MT_ERR_INVALID);
	assert_u_eq(mt_ev_profile_states(n.engine, 1, (uint8_t[MT_EVS_MAX]){0}), 0);
	assert_i_eq(deny(2, false), MT_OK);
}

CASE(another_value_takes_the_place_of_one)
{
	uint32_t old = n.opts.evs[2].value;

	assert_i_eq(mt_ev_profile_replace(n.engine, 0, 2, 0xBEEF), MT_OK);
	assert_true(sent_on(0xBEEF) > 0);
	assert_u_eq(sent_on(old), 0);
}

/* What was lost on the old path does not count. */
CASE(a_bad_ev_is_good_with_another_value)
{
	struct mt_ev_change changes[2];

	assert_u_eq(mt_ev_retire(n.qp->ev_set, 2, 1000, MT_EV_BY_LOSS, changes), 1);
	assert_i_eq(mt_ev_profile_replace(n.engine, 0, 2, 0xBEEF), MT_OK);
	assert_u_eq(state_of(2), MT_EV_GOOD);
}

CASE(states_over_all_destinations)
{
	uint8_t states[MT_EVS_MAX];
	struct mt_ev_change changes[2];

	assert_i_eq(deny(1, true), MT_OK);
	mt_ev_retire(n.qp->ev_set, 2, 1000, MT_EV_BY_LOSS, changes);
	assert_u_eq(mt_ev_profile_states(n.engine, 0, states), n.opts.ev_profile.n_evs);
	assert_u_eq(states[0], MT_EV_GOOD);
	assert_u_eq(states[1], MT_EV_DENIED);
	assert_u_eq(states[2], MT_EV_ASSUMED_BAD);
}

/* A profile that is gone is named by no QP; those that use it go on. */
CASE(a_profile_that_is_gone)
{
	struct rd_qp_attr a = {.ev_profile = 0};
	uint8_t states[MT_EVS_MAX];
	struct mt_qp *other;

	assert_i_eq(deny(1, true), MT_OK);
	mt_ev_profile_clear(n.engine, 0);
	assert_u_eq(mt_ev_profile_states(n.engine, 0, states), 0);
	assert_u_eq(state_of(1), MT_EV_DENIED);
	assert_true(sent_on(n.opts.evs[0].value) > 0);
	other = engine_node_qp(&n.base, &n.opts.cap, n.qpn + 1, NULL);
	assert_non_null(other);
	a.state = RD_QPS_INIT;
	assert_i_eq(node_modify(&n, other, &a, RD_QP_STATE | RD_QP_EV_PROFILE), MT_ERR_INVALID);
	mt_cc_profile_clear(n.engine, 0);
	assert_i_eq(node_modify(&n, other, &a, RD_QP_STATE | RD_QP_CC_PROFILE), MT_ERR_INVALID);
}

/* An event names the place of its EV in the profile. */
CASE(events_name_the_profile)
{
	struct mt_event ev;

	assert_i_eq(deny(6, true), MT_OK);
	assert_i_eq(deny(6, false), MT_OK);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_EV);
	assert_u_eq(ev.ev_profile, 0);
	assert_u_eq(ev.ev_index, 6);
	assert_u_eq(ev.ev_state, MT_EV_GOOD);
}

/* Defines a profile again. */
static void define(uint32_t id, const struct mt_ev *evs, uint16_t count)
{
	struct mt_ev_profile_cfg profile = opts.ev_profile;
	int r;

	profile.evs = evs;
	profile.n_evs = profile.n_active = count;
	ENGINE_NODE_CALL(&n.base, r, mt_ev_profile_set(n.engine, id, &profile));
	assert_i_eq(r, MT_OK);
}

/* A QP with the profile, to a host of this number. */
static struct mt_qp *qp_to(uint8_t host, uint32_t profile)
{
	struct rd_qp_attr a = opts.attr;
	struct mt_qp *qp = engine_node_qp(&n.base, &opts.cap, n.qpn + host, NULL);

	a.dest.b[0] = host;
	a.dest_qpn = 9;
	a.ev_profile = profile;
	assert_non_null(qp);
	assert_i_eq(engine_node_bring_to(&n.base, qp, 0, &a, RD_QPS_RTS), MT_OK);
	return qp;
}

/* States of profile 0; what lies behind them is left alone. */
static const uint8_t *states_of(uint8_t before)
{
	static uint8_t states[MT_EVS_MAX + 1];
	uint32_t count;

	memset(states, before, sizeof(states));
	count = mt_ev_profile_states(n.engine, 0, states);
	assert_u_eq(states[count], before);
	return states;
}

/* Numbers of more than one word, and the first. */
CASE(many_evs_are_denied_one_by_one)
{
	struct mt_ev evs[130];

	for (uint16_t i = 0; i < 130; i++)
		evs[i] = (struct mt_ev){.value = i, .port = i % 2};
	define(0, evs, 130);
	for (uint32_t i = 0; i < 130; i++) {
		assert_i_eq(deny(i, true), MT_OK);
		if (i > 0)
			assert_i_eq(deny(i - 1, false), MT_OK);
		for (uint32_t k = 0; k < 130; k++)
			assert_u_eq(states_of(0xFF)[k], k == i ? MT_EV_DENIED : MT_EV_STATES);
	}
	for (uint32_t i = 0; i < 128; i++)
		assert_i_eq(deny(i, true), MT_OK);
	assert_i_eq(deny(64, false), MT_OK);
	for (uint32_t k = 0; k < 130; k++)
		assert_u_eq(states_of(0xFF)[k], k == 64 || k == 128 ? MT_EV_STATES : MT_EV_DENIED);
}

TEST(mt_ev_denied_bytes, a_word_for_each_64)
{
	assert_u_eq(mt_ev_denied_bytes(1), 8);
	assert_u_eq(mt_ev_denied_bytes(64), 8);
	assert_u_eq(mt_ev_denied_bytes(65), 16);
	assert_u_eq(mt_ev_denied_bytes(MT_EVS_MAX), MT_EVS_MAX / 8);
}

CASE(the_first_ev_may_be_the_last_that_is_left)
{
	for (uint16_t i = 1; i < n.opts.ev_profile.n_evs; i++)
		assert_i_eq(deny(i, true), MT_OK);
	assert_i_eq(deny(0, true), MT_ERR_STATE);
}

/* There is one more behind the last. */
CASE(the_number_of_profiles_is_none)
{
	define(1, opts.evs, 4);
	n.engine->cfg.max_profiles = 1;
	assert_i_eq(mt_ev_profile_deny(n.engine, 1, 0, true), MT_ERR_INVALID);
	assert_i_eq(mt_ev_profile_replace(n.engine, 1, 0, 1), MT_ERR_INVALID);
	assert_u_eq(mt_ev_profile_states(n.engine, 1, (uint8_t[MT_EVS_MAX]){0}), 0);
}

/* Sets that were made before a profile was defined again have EVs of their own. */
CASE(sets_of_before_do_not_follow)
{
	define(0, opts.evs, 4);
	assert_i_eq(deny(3, true), MT_OK);
	assert_u_eq(state_of(3), MT_EV_GOOD);
	assert_u_eq(states_of(0xFF)[3], MT_EV_DENIED);
}

CASE(a_value_changes_before_there_is_a_set)
{
	struct mt_ev_info info;

	define(1, opts.evs, 4);
	assert_i_eq(mt_ev_profile_replace(n.engine, 1, 2, 0xBEEF), MT_OK);
	assert_true(mt_qp_ev_info(qp_to(1, 1), 2, &info));
	assert_u_eq(info.ev.value, 0xBEEF);
}

/* Nothing is left to be probed, and whoever listens hears that it is good. */
CASE(a_bad_ev_with_another_value_is_probed_no_more)
{
	struct mt_event ev;

	mt_qp_retire_ev_group(n.qp, 2, 0, MT_EV_BY_LOSS);
	assert_true(n.qp->ev_set->timer.deadline_ns != UINT64_MAX);
	while (node_poll(&n, &ev))
		;
	assert_i_eq(mt_ev_profile_replace(n.engine, 0, 2, 0xBEEF), MT_OK);
	assert_u_eq(n.qp->ev_set->timer.deadline_ns, UINT64_MAX);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_EV);
	assert_u_eq(ev.ev_state, MT_EV_GOOD);
	assert_u_eq(ev.ev_cause, MT_EV_BY_OPERATOR);
}

/* The worst of all destinations, in whatever order they come. */
CASE(states_are_the_worst)
{
	struct mt_ev_change changes[2];
	struct mt_qp *other = qp_to(1, 0);
	const uint8_t *states;

	assert_ptr_not_equal(other->ev_set, n.qp->ev_set);
	assert_i_eq(deny(0, true), MT_OK);
	mt_ev_retire(n.qp->ev_set, 2, 1000, MT_EV_BY_LOSS, changes);
	mt_ev_retire(other->ev_set, 3, 1000, MT_EV_BY_LOSS, changes);
	states = states_of(MT_EV_STATES);
	assert_u_eq(states[0], MT_EV_DENIED);
	assert_u_eq(states[1], MT_EV_GOOD);
	assert_u_eq(states[2], MT_EV_ASSUMED_BAD);
	assert_u_eq(states[3], MT_EV_ASSUMED_BAD);
}

/* What says which EVs were denied goes with the profile. */
CASE(a_profile_that_is_gone_takes_its_denials_along)
{
	size_t before = n.engine->pool.in_use, held;

	define(1, opts.evs, 4);
	held = n.engine->pool.in_use;
	assert_i_eq(mt_ev_profile_deny(n.engine, 1, 0, true), MT_OK);
	assert_true(n.engine->pool.in_use > held);
	mt_ev_profile_clear(n.engine, 1);
	assert_u_eq(n.engine->pool.in_use, before);
}

/* Denying takes memory, and what finds none changes nothing that is seen. */
CASE(without_memory)
{
	node_exhaust(&n);
	assert_i_eq(mt_ev_profile_deny(n.engine, 0, 3, true), MT_ERR_MEMORY);
	assert_u_eq(state_of(3), MT_EV_GOOD);
	assert_i_eq(deny(3, true), MT_OK);
	assert_u_eq(state_of(3), MT_EV_DENIED);
}
