/* SPDX-License-Identifier: BSD-2-Clause */
/* Single EVs of a profile. REQ(ctl.ev-ops) REQ(ctl.ev-denied) */
#include "unit/state_fixture.h"

static int online(void **unused)
{
	fresh(unused);
	add_stev(3);
	add_explicit(1, 3, 8);
	return 0;
}

#define CASE(name) TEST_WITH(online, sound, mn_ev_modify, name)

static bool is_denied(uint32_t i)
{
	return node.evs[node.ev[1].first + i].denied;
}

CASE(denied_says_who)
{
	assert_i_eq(deny_ev(1, ev_of(3, 3), true), 0);
	assert_true(is_denied(2));
	assert_u_eq(node.evs[node.ev[1].first + 2].denied_by, USER);
	assert_i_eq(deny_ev(1, ev_of(3, 3), false), 0);
	assert_false(is_denied(2));
	assert_u_eq(node.evs[node.ev[1].first + 2].denied_by, 0);
}

CASE(of_another_port_is_another_ev)
{
	assert_i_eq(deny_ev(1, ev_of(3, 2), true), ENOENT);
	assert_i_eq(deny_ev(1, ev_of(99, 3), true), ENOENT);
	assert_i_eq(deny_ev(1, ev_of(3, PORTS + 1), true), EINVAL);
}

CASE(never_the_last_ones)
{
	for (uint32_t i = 0; i < 7; i++)
		assert_i_eq(deny_ev(1, ev_of(i + 1, (uint8_t)(i % PORTS + 1)), true), 0);
	assert_i_eq(deny_ev(1, ev_of(8, 4), true), EBUSY);
	assert_false(is_denied(7));
	node.ev[1].min_active = 2;
	assert_i_eq(deny_ev(1, ev_of(7, 3), false), 0);
	assert_i_eq(deny_ev(1, ev_of(7, 3), true), EBUSY);
}

CASE(all_copies_are_denied_together)
{
	assert_i_eq(replace_ev(1, ev_of(5, 1), ev_of(1, 1)), 0);
	assert_i_eq(deny_ev(1, ev_of(1, 1), true), 0);
	assert_true(is_denied(0) && is_denied(4));
}

CASE(replaced_once_or_everywhere)
{
	struct mn_ev_op op = {
		.ev = ev_of(1, 1), .replaces = true, .all = true, .with = ev_of(20, 1)};

	assert_i_eq(replace_ev(1, ev_of(5, 1), ev_of(1, 1)), 0);
	assert_i_eq(mn_ev_modify(&node, &device, 1, &op), 0);
	assert_i_eq(replace_ev(1, ev_of(1, 1), ev_of(21, 1)), ENOENT);
	assert_i_eq(replace_ev(1, ev_of(20, 1), ev_of(21, 1)), 0);
	assert_i_eq(replace_ev(1, ev_of(20, 1), ev_of(22, 1)), 0);
	assert_i_eq(replace_ev(1, ev_of(20, 1), ev_of(23, 1)), ENOENT);
}

CASE(online_the_port_stays)
{
	assert_i_eq(replace_ev(1, ev_of(1, 1), ev_of(20, 2)), EINVAL);
	assert_i_eq(move_profile(1, MN_OFFLINE), 0);
	assert_i_eq(replace_ev(1, ev_of(1, 1), ev_of(20, 2)), 0);
	assert_i_eq(replace_ev(1, ev_of(2, 2), ev_of(21, PORTS + 1)), EINVAL);
	assert_i_eq(replace_ev(1, ev_of(2, 2), ev_of(21, 0)), EINVAL);
}

CASE(bits_that_do_not_count_are_zero)
{
	struct mn_ev wide = ev_of(20, 1);

	wide.val[4] = 1;
	assert_i_eq(replace_ev(1, ev_of(1, 1), wide), EINVAL);
	add_format(4, MN_FORMAT_UDP, (const uint8_t[]){16}, 1);
	assert_i_eq(add_profile(2, MN_MODE_EXPLICIT, 4, 2), 0);
	assert_i_eq(replace_ev(2, (struct mn_ev){0}, ev_of(0x10000, 1)), EINVAL);
	assert_i_eq(replace_ev(2, (struct mn_ev){0}, ev_of(0xFFFF, 1)), 0);
}

/* The state knows of a device's own EVs those that are denied. */
CASE(of_the_devices_own)
{
	device.n_evs = 3;
	assert_i_eq(deny_ev(0, ev_of(50, 1), true), 0);
	assert_i_eq(deny_ev(0, ev_of(50, 1), true), 0);
	assert_u_eq(node.ev[0].n_evs, 1);
	assert_i_eq(deny_ev(0, ev_of(51, 2), true), 0);
	assert_i_eq(deny_ev(0, ev_of(52, 3), true), EBUSY);
	assert_i_eq(deny_ev(0, ev_of(52, 3), false), 0);
	assert_i_eq(deny_ev(0, ev_of(50, 1), false), 0);
	assert_u_eq(node.ev[0].n_evs, 1);
	assert_u_eq(node.evs[0].port, 2);
	assert_i_eq(replace_ev(0, ev_of(51, 2), ev_of(53, 2)), EINVAL);
}

/* As many as the profile is never to be without stay, whenever they were denied. */
CASE(of_automatic_ones_with_a_least_number)
{
	struct mn_ev_change c = {.mask = MN_EV_MIN_ACTIVE, .min_active = 3};

	assert_i_eq(add_profile(2, MN_MODE_AUTO, 0, 4), 0);
	assert_i_eq(deny_ev(2, ev_of(50, 1), true), 0);
	assert_i_eq(deny_ev(2, ev_of(51, 2), true), 0);
	assert_i_eq(mn_ev_profile_modify(&node, &device, 2, &c), 0);
	assert_i_eq(move_profile(2, MN_ONLINE), EINVAL);
	assert_i_eq(deny_ev(2, ev_of(51, 2), false), 0);
	assert_i_eq(move_profile(2, MN_ONLINE), 0);
	assert_i_eq(deny_ev(2, ev_of(52, 3), true), EBUSY);
	assert_i_eq(deny_ev(2, ev_of(50, 1), false), 0);
	assert_i_eq(deny_ev(2, ev_of(52, 3), true), 0);
}

/* A format that was made narrower holds an EV no longer. */
CASE(of_fields_that_do_not_fit_their_format_now)
{
	const struct mn_ev_field half = {16, 0, 0, 0, 0xffff};
	struct mn_ev_change c = {.mask = MN_EV_FIELDS,
				 .field = (const struct mn_ev_field[]){half, half},
				 .n_fields = 2};
	struct mn_fmt_change narrow = {.mask = MN_FMT_STATE, .state = MN_OFFLINE};

	assert_i_eq(move_profile(1, MN_OFFLINE), 0);
	assert_i_eq(mn_ev_profile_modify(&node, &device, 1, &c), 0);
	assert_i_eq(mn_fmt_modify(&node, &device, 3, &narrow), 0);
	narrow = (struct mn_fmt_change){
		.mask = MN_FMT_FIELDS, .width = (const uint8_t[]){8}, .n_fields = 1};
	assert_i_eq(mn_fmt_modify(&node, &device, 3, &narrow), 0);
	assert_i_eq(replace_ev(1, ev_of(1, 1), (struct mn_ev){.val = {1}, .port = 1}), EINVAL);
	narrow = (struct mn_fmt_change){.mask = MN_FMT_STATE, .state = MN_INIT};
	assert_i_eq(mn_fmt_modify(&node, &device, 3, &narrow), 0);
	assert_i_eq(replace_ev(1, ev_of(1, 1), (struct mn_ev){.val = {1}, .port = 1}), EINVAL);
	assert_i_eq(move_profile(1, MN_ONLINE), EINVAL);
}

CASE(no_such_profile)
{
	assert_i_eq(deny_ev(2, ev_of(1, 1), true), EINVAL);
	assert_i_eq(deny_ev(MN_EV_PROFILES, ev_of(1, 1), true), EINVAL);
}

/* Numbers of this machine where there are no fields, else the bits in the order of the wire. */
CASE(what_travels)
{
	const struct mn_ev_field half = {16, 0xAB00, 0, 0, 0xff};
	struct mn_ev_change c = {.mask = MN_EV_FIELDS,
				 .field = (const struct mn_ev_field[]){half, half},
				 .n_fields = 2};
	const struct mn_ev *ev;

	assert_i_eq(replace_ev(1, ev_of(1, 1), ev_of(0xC0DE1234, 1)), 0);
	ev = &node.evs[node.ev[1].first];
	assert_u_eq(mn_ev_number(&node, &node.ev[1], ev), 0xC0DE1234);
	assert_i_eq(move_profile(1, MN_OFFLINE), 0);
	assert_i_eq(mn_ev_profile_modify(&node, &device, 1, &c), 0);
	assert_i_eq(move_profile(1, MN_ONLINE), EINVAL); /* EVs of 16 bits now */
	assert_i_eq(replace_ev(1, *ev, (struct mn_ev){.val = {0x12, 0x34}, .port = 1}), 0);
	assert_u_eq(mn_ev_number(&node, &node.ev[1], ev), 0xAB12AB34);
	assert_i_eq(move_profile(1, MN_ONLINE), 0);
}

/* A user's denial takes the place of others; those leave what is denied, and lift their own. */
CASE(who_may_take_back_what)
{
	struct mn_ev_op op = {.ev = ev_of(1, 1), .denied = true, .denier = MN_DENIED_BY_MAP};

	for (uint32_t id = 0; id < 2; id++) {
		const struct mn_ev_profile *p = &node.ev[id];

		op.denied = true;
		op.denier = MN_DENIED_BY_MAP;
		assert_i_eq(mn_ev_modify(&node, &device, id, &op), 0);
		op.denier = MN_DENIED_BY_DRAIN;
		assert_i_eq(mn_ev_modify(&node, &device, id, &op), 0);
		assert_u_eq(node.evs[p->first].denier, MN_DENIED_BY_MAP);
		op.denied = false;
		assert_i_eq(mn_ev_modify(&node, &device, id, &op), 0);
		assert_true(p->n_evs && node.evs[p->first].denied);
		assert_i_eq(deny_ev(id, ev_of(1, 1), true), 0);
		assert_u_eq(node.evs[p->first].denier, MN_DENIED_BY_USER);
		op.denier = MN_DENIED_BY_MAP;
		assert_i_eq(mn_ev_modify(&node, &device, id, &op), 0);
		assert_true(node.evs[p->first].denied);
		assert_i_eq(deny_ev(id, ev_of(1, 1), false), 0);
		assert_true(!p->n_evs || !node.evs[p->first].denied);
	}
}
