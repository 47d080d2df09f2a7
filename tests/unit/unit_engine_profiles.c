/* SPDX-License-Identifier: BSD-2-Clause */
/* What a controller changes of an EV profile while QPs use it. */
#include "core/endpoint/endpoint.h"
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
	mb_link_init(&user);
	while (!(s = mt_ev_sets_acquire(n.engine, 0, &other, &user)))
		engine_node_grow(&n.base);
	assert_u_eq(mt_ev_state_of(s, 5), MT_EV_DENIED);
	assert_u_eq(mt_ev_state_of(s, 4), MT_EV_GOOD);
	mt_ev_sets_release(n.engine, s, &user);
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

/* Denying takes memory, and what finds none changes nothing that is seen. */
CASE(without_memory)
{
	node_exhaust(&n);
	assert_i_eq(mt_ev_profile_deny(n.engine, 0, 3, true), MT_ERR_MEMORY);
	assert_u_eq(state_of(3), MT_EV_GOOD);
	assert_i_eq(deny(3, true), MT_OK);
	assert_u_eq(state_of(3), MT_EV_DENIED);
}
