/* SPDX-License-Identifier: BSD-2-Clause */
/* EV format profiles: states, fields, and what the device can carry. REQ(ctl.profile-states) */
#include "unit/state_fixture.h"

#define CASE(name) TEST_WITH(fresh, sound, mn_fmt_modify, name)

static int modify(uint64_t id, struct mn_fmt_change c)
{
	return mn_fmt_modify(&node, &device, id, &c);
}

static int set(uint32_t format, const uint8_t *width, uint32_t n)
{
	return modify(3, (struct mn_fmt_change){MN_FMT_STATE | MN_FMT_FORMAT | MN_FMT_FIELDS,
						MN_OFFLINE, format, width, n, NULL});
}

static int move(uint32_t to)
{
	return modify(3, (struct mn_fmt_change){.mask = MN_FMT_STATE, .state = to});
}

CASE(one_step_at_a_time)
{
	add_stev(3);
	assert_i_eq(move(MN_INIT), EINVAL);
	assert_i_eq(move(MN_ONLINE), 0);
	assert_i_eq(move(MN_OFFLINE), 0);
	assert_i_eq(move(3), EINVAL);
	assert_i_eq(move(MN_INIT), 0);
	assert_u_eq(node.fmt[3].n_fields, 0);
	assert_i_eq(move(MN_ONLINE), EINVAL);
}

CASE(online_it_does_not_change)
{
	uint8_t vendor[MN_VENDOR_BYTES] = {7};

	add_stev(3);
	assert_i_eq(
		modify(3, (struct mn_fmt_change){.mask = MN_FMT_FORMAT, .format = MN_FORMAT_STEV}),
		EINVAL);
	assert_i_eq(move(MN_OFFLINE), 0);
	assert_i_eq(modify(3, (struct mn_fmt_change){.mask = MN_FMT_VENDOR, .vendor = vendor}), 0);
	assert_u_eq(node.fmt[3].vendor[0], 7);
}

CASE(nothing_without_a_state)
{
	assert_i_eq(
		modify(3, (struct mn_fmt_change){.mask = MN_FMT_FORMAT, .format = MN_FORMAT_STEV}),
		EINVAL);
	assert_i_eq(move(MN_OFFLINE), EINVAL); /* of which format? */
	assert_i_eq(modify(3, (struct mn_fmt_change){0}), 0);
}

CASE(online_takes_fields)
{
	assert_i_eq(modify(3, (struct mn_fmt_change){.mask = MN_FMT_STATE | MN_FMT_FORMAT,
						     .state = MN_OFFLINE,
						     .format = MN_FORMAT_UDP}),
		    0);
	assert_i_eq(move(MN_ONLINE), EINVAL);
}

/* A destination address is the most: no driver sends a routing header. */
CASE(no_more_bits_than_a_packet_carries)
{
	const uint8_t full[] = {32, 32, 32, 32, 1}, two[] = {16, 16, 1}, none[] = {0},
		      wide[] = {33};
	uint8_t many[MN_FIELDS_MAX + 1];

	memset(many, 1, sizeof(many));
	assert_i_eq(set(MN_FORMAT_SRV6, full, 5), E2BIG);
	assert_i_eq(set(MN_FORMAT_SRV6, full, 4), 0);
	assert_i_eq(move(MN_INIT), 0);
	assert_i_eq(set(MN_FORMAT_STEV, two, 3), E2BIG);
	assert_i_eq(set(MN_FORMAT_UDP, two, 2), E2BIG);
	assert_i_eq(set(MN_FORMAT_SRV6, many, sizeof(many)), E2BIG);
	assert_i_eq(set(MN_FORMAT_STEV, none, 1), EINVAL);
	assert_i_eq(set(MN_FORMAT_STEV, wide, 1), EINVAL);
	assert_i_eq(set(MN_FORMAT_STEV, two, 0), EINVAL);
	assert_u_eq(node.fmt[3].state, MN_INIT);
	assert_i_eq(set(MN_FORMAT_UDP, two, 1), 0);
}

CASE(formats_of_the_device_only)
{
	device.formats = MN_FORMAT_UDP;
	assert_i_eq(set(MN_FORMAT_STEV, (const uint8_t[]){16}, 1), EINVAL);
	assert_i_eq(set(MN_FORMAT_STEV | MN_FORMAT_UDP, (const uint8_t[]){16}, 1), EINVAL);
	assert_i_eq(set(MN_FORMAT_UDP, (const uint8_t[]){16}, 1), 0);
}

CASE(busy_while_an_ev_profile_is_online)
{
	add_stev(3);
	add_explicit(1, 3, 4);
	assert_i_eq(move(MN_OFFLINE), EBUSY);
	assert_i_eq(move_profile(1, MN_OFFLINE), 0);
	assert_i_eq(move(MN_OFFLINE), 0);
}

CASE(no_such_profile)
{
	struct mn_fmt_change c = {.mask = MN_FMT_STATE, .state = MN_OFFLINE};

	assert_i_eq(modify(0, c), EINVAL);
	assert_i_eq(modify(MN_FMT_PROFILES, c), EINVAL);
	assert_i_eq(modify(UINT64_MAX, c), EINVAL);
}
