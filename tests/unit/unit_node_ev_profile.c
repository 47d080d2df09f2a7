/* SPDX-License-Identifier: BSD-2-Clause */
/* EV profiles: states, modes, fields, numbers of EVs. REQ(ctl.profile-states) REQ(ctl.ev-modes) */
#include "unit/state_fixture.h"

#define CASE(name) TEST_WITH(fresh, sound, mn_ev_profile_modify, name)

static int modify(uint64_t id, struct mn_ev_change c)
{
	return mn_ev_profile_modify(&node, &device, id, &c);
}

static int set_fields(uint64_t id, const struct mn_ev_field *field, uint32_t n)
{
	return modify(id,
		      (struct mn_ev_change){.mask = MN_EV_FIELDS, .field = field, .n_fields = n});
}

static const struct mn_ev *ev_at(uint64_t id, uint32_t i)
{
	assert_true(i < node.ev[id].n_evs);
	return &node.evs[node.ev[id].first + i];
}

/* Tiers of 8, 4 and 4 bits, as a source-routed fabric may have them. */
static const uint8_t tiers[] = {8, 4, 4};
static const struct mn_ev_field tier_fields[] = {
	{8, 0, 0, 179, 0xff}, {4, 0, 0, 15, 0xf}, {4, 0, 0, 15, 0xf}};

CASE(one_step_at_a_time)
{
	add_stev(3);
	assert_i_eq(move_profile(1, MN_ONLINE), EINVAL);
	assert_i_eq(move_profile(1, MN_OFFLINE), EINVAL);
	add_explicit(1, 3, 4);
	assert_i_eq(move_profile(1, MN_INIT), EINVAL);
	assert_i_eq(move_profile(1, MN_OFFLINE), 0);
	assert_i_eq(move_profile(1, MN_INIT), 0);
	assert_u_eq(node.n_evs, 0);
	assert_i_eq(move_profile(1, MN_INIT), 0);
}

CASE(explicit_evs_must_all_be_there)
{
	add_stev(3);
	assert_i_eq(add_profile(1, MN_MODE_EXPLICIT, 3, 2), 0);
	assert_i_eq(move_profile(1, MN_ONLINE), EINVAL);
	assert_i_eq(replace_ev(1, (struct mn_ev){0}, ev_of(7, 1)), 0);
	assert_i_eq(move_profile(1, MN_ONLINE), EINVAL);
	assert_i_eq(replace_ev(1, (struct mn_ev){0}, ev_of(8, 2)), 0);
	assert_i_eq(move_profile(1, MN_ONLINE), 0);
}

CASE(its_format_must_be_online)
{
	struct mn_fmt_change off = {.mask = MN_FMT_STATE, .state = MN_OFFLINE};

	assert_i_eq(add_profile(1, MN_MODE_EXPLICIT, 3, 4), EINVAL);
	assert_i_eq(add_profile(1, MN_MODE_EXPLICIT, MN_FMT_PROFILES, 4), EINVAL);
	assert_i_eq(add_profile(1, MN_MODE_EXPLICIT, 0, 4), EINVAL);
	add_stev(3);
	add_explicit(1, 3, 4);
	assert_i_eq(move_profile(1, MN_OFFLINE), 0);
	assert_i_eq(mn_fmt_modify(&node, &device, 3, &off), 0);
	assert_i_eq(move_profile(1, MN_ONLINE), EINVAL);
}

CASE(automatic_evs_are_the_devices)
{
	struct mn_ev_change c = {
		.mask = MN_EV_STATE | MN_EV_MODE, .state = MN_OFFLINE, .mode = MN_MODE_AUTO};

	assert_i_eq(modify(1, c), 0);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_COUNT, .count = 33}), E2BIG);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_COUNT, .count = 32}), 0);
	assert_i_eq(set_fields(1, tier_fields, 3), EINVAL);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_COUNT}), 0);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_MIN_ACTIVE, .min_active = 33}),
		    EINVAL);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_MIN_ACTIVE, .min_active = 32}),
		    0);
	assert_i_eq(move_profile(1, MN_ONLINE), 0);
	assert_u_eq(node.n_evs, 0);
}

CASE(generated_evs_are_all_different_and_the_same_on_all_ports)
{
	add_format(3, MN_FORMAT_STEV, tiers, 3);
	assert_i_eq(add_profile(1, MN_MODE_GENERATED, 3, 512), 0);
	assert_i_eq(move_profile(1, MN_ONLINE), EINVAL);
	assert_i_eq(set_fields(1, tier_fields, 3), 0);
	assert_i_eq(move_profile(1, MN_ONLINE), 0);
	for (uint32_t i = 0; i < 512; i++) {
		const struct mn_ev *ev = ev_at(1, i);

		assert_u_eq(ev->port, i % PORTS + 1);
		assert_bytes_eq(ev->val, ev_at(1, i / PORTS * PORTS)->val, MW_EV_BYTES);
		assert_true(ev->val[0] <= 179);
		assert_true(mw_ev_bits_are_zero(ev->val, 16));
		for (uint32_t k = i % PORTS; k < i; k += PORTS)
			assert_memory_not_equal(ev->val, ev_at(1, k)->val, MW_EV_BYTES);
	}
}

/* 128 of 180 uplinks, no two alike. */
CASE(few_generated_evs_spread_over_the_first_field)
{
	bool seen[256] = {false};

	add_format(3, MN_FORMAT_STEV, tiers, 3);
	assert_i_eq(add_profile(1, MN_MODE_GENERATED, 3, 512), 0);
	assert_i_eq(set_fields(1, tier_fields, 3), 0);
	for (uint32_t i = 0; i < 512; i += PORTS) {
		assert_false(seen[ev_at(1, i)->val[0]]);
		seen[ev_at(1, i)->val[0]] = true;
	}
	assert_true(ev_at(1, 508)->val[0] >= 170);
}

CASE(no_more_generated_evs_than_there_can_be)
{
	const struct mn_ev_field two = {8, 0, 3, 4, 0xff};

	add_format(3, MN_FORMAT_STEV, tiers, 3);
	assert_i_eq(add_profile(1, MN_MODE_GENERATED, 3, 2 * PORTS + 1), 0);
	assert_i_eq(set_fields(1, &two, 1), E2BIG);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_COUNT, .count = 2 * PORTS}), 0);
	assert_i_eq(set_fields(1, &two, 1), 0);
	assert_u_eq(ev_at(1, 0)->val[0], 3);
	assert_u_eq(ev_at(1, PORTS)->val[0], 4);
}

/* REQ(srv6.ev-expansion) */
CASE(fields_that_do_not_go_into_the_format)
{
	const struct mn_ev_field bad[] = {
		{9, 0, 0, 0, 0},     /* wider than its place */
		{0, 0, 0, 0, 0},     /* of no bits */
		{8, 256, 0, 0, 0},   /* an initial value beyond the field */
		{8, 0, 0, 0, 0x100}, /* a mask beyond it */
		{8, 0, 2, 1, 0xff},  /* an empty range */
		{8, 0, 0, 16, 0xf},  /* a range beyond the mask */
	};
	struct mn_ev_field four[4] = {tier_fields[0], tier_fields[1], tier_fields[2],
				      tier_fields[2]};

	add_format(3, MN_FORMAT_STEV, tiers, 3);
	assert_i_eq(add_profile(1, MN_MODE_GENERATED, 3, 8), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_i_eq(set_fields(1, &bad[i], 1), EINVAL);
	assert_i_eq(set_fields(1, four, 4), E2BIG);
	assert_u_eq(node.ev[1].n_fields, 0);
}

CASE(room_for_so_many_evs)
{
	add_stev(3);
	assert_i_eq(add_profile(1, MN_MODE_EXPLICIT, 3, 0), EINVAL);
	assert_i_eq(add_profile(1, MN_MODE_EXPLICIT, 3, MN_EVS_PROFILE_MAX + 1), E2BIG);
	for (uint64_t id = 1; id <= 4; id++)
		assert_i_eq(add_profile(id, MN_MODE_EXPLICIT, 3, MN_EVS_PROFILE_MAX), 0);
	assert_u_eq(node.n_evs, MN_EVS_MAX);
	assert_i_eq(add_profile(5, MN_MODE_EXPLICIT, 3, 1), E2BIG);
	assert_i_eq(move_profile(2, MN_INIT), 0);
	assert_i_eq(add_profile(5, MN_MODE_EXPLICIT, 3, MN_EVS_PROFILE_MAX), 0);
}

/* The EVs of profiles lie behind each other, whatever happens to those before them. */
CASE(profiles_keep_their_evs)
{
	add_stev(3);
	add_explicit(2, 3, 6);
	add_explicit(1, 3, 4);
	add_explicit(7, 3, 5);
	assert_i_eq(move_profile(1, MN_OFFLINE), 0);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_COUNT, .count = 9}), 0);
	assert_i_eq(deny_ev(0, ev_of(50, 1), true), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_bytes_eq(ev_at(7, i)->val, ev_of(i + 1, 1).val, MW_EV_BYTES);
	assert_i_eq(move_profile(1, MN_INIT), 0);
	assert_i_eq(deny_ev(0, ev_of(50, 1), false), 0);
	for (uint32_t i = 0; i < 6; i++)
		assert_bytes_eq(ev_at(2, i)->val, ev_of(i + 1, 1).val, MW_EV_BYTES);
	assert_u_eq(node.n_evs, 11);
}

CASE(busy_while_qps_use_it)
{
	add_stev(3);
	add_explicit(1, 3, 4);
	device.ev_in_use = 1u << 1;
	assert_i_eq(move_profile(1, MN_OFFLINE), EBUSY);
	device.ev_in_use = 1u << 2;
	assert_i_eq(move_profile(1, MN_OFFLINE), 0);
}

CASE(online_only_events_and_fields_change)
{
	add_stev(3);
	add_explicit(1, 3, 4);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_COUNT, .count = 3}), EINVAL);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_MIN_ACTIVE}), EINVAL);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_EVENT_MASK, .event_mask = 3}), 0);
	assert_i_eq(modify(1, (struct mn_ev_change){.mask = MN_EV_EVENT_MASK, .event_mask = 4}),
		    EINVAL);
	assert_u_eq(node.ev[1].event_mask, 3);
}

/* What the device itself uses: events of it may be asked for, and its EVs denied. */
CASE(profile_0_is_the_devices)
{
	assert_i_eq(modify(0, (struct mn_ev_change){.mask = MN_EV_EVENT_MASK, .event_mask = 2}), 0);
	assert_i_eq(move_profile(0, MN_OFFLINE), EINVAL);
	assert_i_eq(modify(MN_EV_PROFILES, (struct mn_ev_change){0}), EINVAL);
}

CASE(least_number_of_active_evs)
{
	struct mn_ev_change c = {.mask = MN_EV_STATE | MN_EV_MODE | MN_EV_FMT | MN_EV_COUNT |
					 MN_EV_MIN_ACTIVE,
				 .state = MN_OFFLINE,
				 .mode = MN_MODE_EXPLICIT,
				 .fmt = 3,
				 .count = 4,
				 .min_active = 5};

	add_stev(3);
	assert_i_eq(modify(1, c), EINVAL);
	c.min_active = 4;
	assert_i_eq(modify(1, c), 0);
}

/* Under QPs that use it the EVs stay, so that they must make sense with what comes. */
CASE(fields_of_one_that_is_online_take_its_evs)
{
	static const struct mn_ev_field narrow[] = {{4, 0, 0, 15, 15}};
	static const struct mn_ev_field wide[] = {{16, 0, 0, 0xFFFF, 0xFFFF},
						  {16, 0, 0, 0xFFFF, 0xFFFF}};
	struct mn_ev_change c = {.mask = MN_EV_FIELDS, .field = narrow, .n_fields = 1};

	add_stev(3);
	add_explicit(1, 3, 4);
	assert_i_eq(mn_ev_profile_modify(&node, &device, 1, &c), EINVAL);
	assert_u_eq(node.ev[1].n_fields, 0);
	c.field = wide;
	c.n_fields = 2;
	assert_i_eq(mn_ev_profile_modify(&node, &device, 1, &c), 0);
	assert_u_eq(node.ev[1].n_fields, 2);
}
