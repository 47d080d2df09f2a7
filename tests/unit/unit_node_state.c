/* SPDX-License-Identifier: BSD-2-Clause */
/* A state as a whole: what is empty, what is sound, ports. */
#include "unit/state_fixture.h"

#define CASE(function, name) TEST_WITH(fresh, NULL, function, name)

static void assert_unsound(void)
{
	const char *why = NULL;

	assert_false(mn_state_check(&node, &why));
	assert_non_null(why);
	mn_state_init(&node);
	assert_true(mn_state_check(&node, &why));
}

/* REQ(ctl.port-admin) */
CASE(mn_port_modify, ports_from_one_on)
{
	assert_i_eq(mn_port_modify(&node, &device, 0, MN_PORT_DOWN), EINVAL);
	assert_i_eq(mn_port_modify(&node, &device, PORTS + 1, MN_PORT_DOWN), EINVAL);
	assert_i_eq(mn_port_modify(&node, &device, 1, MN_PORT_ADMINS), EINVAL);
	assert_i_eq(mn_port_modify(&node, &device, PORTS, MN_PORT_SUSPENDED), 0);
	assert_u_eq(node.port_admin[PORTS - 1], MN_PORT_SUSPENDED);
}

CASE(mn_state_check, nothing_out_of_range)
{
	node.port_admin[31] = MN_PORT_ADMINS;
	assert_unsound();
	node.fmt[2].n_fields = MN_FIELDS_MAX + 1;
	assert_unsound();
	node.fmt[2].n_fields = 1; /* of no width */
	assert_unsound();
	node.fmt[2].format = 1u << 7; /* of no name, in a profile that nobody has made */
	assert_unsound();
	node.fmt[0].format = MN_FORMAT_STEV | MN_FORMAT_UDP;
	assert_unsound();
	node.ev[3].state = MN_ONLINE + 1;
	assert_unsound();
	node.ev[3].state = MN_ONLINE; /* of no mode */
	assert_unsound();
	node.ev[3].fmt = MN_FMT_PROFILES;
	assert_unsound();
	node.ev[3].first = 1;
	assert_unsound();
	node.ev[3].n_evs = 1;
	assert_unsound();
	node.n_evs = MN_EVS_MAX + 1;
	assert_unsound();
	node.n_evs = 1;
	assert_unsound();
	node.cc[4].algorithm = MN_CC_ALGORITHMS;
	assert_unsound();
	memset(&node.cc[4].nscc.eta, 0xFF, sizeof(float)); /* no number */
	assert_unsound();
	node.ev[0].state = MN_OFFLINE;
	assert_unsound();
}

CASE(mn_state_check, evs_of_profiles)
{
	add_stev(3);
	add_explicit(1, 3, 4);
	node.evs[2].port = 0; /* ONLINE, and a place without an EV */
	assert_unsound();
	add_stev(3);
	add_explicit(1, 3, 4);
	node.evs[2].port = MN_PORTS_MAX + 1;
	assert_unsound();
	add_stev(3);
	add_explicit(1, 3, 4);
	node.evs[2].denied = 2;
	assert_unsound();
	add_stev(3);
	add_explicit(1, 3, 4);
	node.fmt[3].n_fields = 1;
	node.ev[1].n_fields = 2;
	assert_unsound();
}

/* A value has no bits besides those that its format or its fields take. */
CASE(mn_state_check, evs_that_are_wider_than_their_format)
{
	add_stev(3);
	add_explicit(1, 3, 4);
	node.evs[2].val[4] = 1;
	assert_unsound();
	add_stev(3);
	add_explicit(1, 3, 4);
	node.evs[3].val[MW_EV_BYTES - 1] = 1;
	assert_unsound();
}

/* Any bytes are refused, or can be read all through. */
CASE(mn_state_check, random_changes)
{
	uint8_t *bytes = (uint8_t *)&node;
	uint32_t taken = 0;
	const char *why;

	for (int i = 0; i < 2000; i++) {
		fresh(NULL);
		add_stev(3);
		add_explicit(1, 3, 8);
		for (uint64_t n = test_rand() % 4 + 1; n > 0; n--)
			bytes[test_rand() % (offsetof(struct mn_state, evs) + 400)] =
				(uint8_t)test_rand();
		if (!mn_state_check(&node, &why))
			continue;
		taken++;
		for (uint32_t p = 0; p < MN_EV_PROFILES; p++)
			for (uint32_t k = 0; k < node.ev[p].n_evs; k++)
				mn_ev_number(&node, &node.ev[p], &node.evs[node.ev[p].first + k]);
		deny_ev(1, ev_of(3, 3), true);
		move_profile(1, MN_OFFLINE);
		move_profile(1, MN_INIT);
		assert_true(mn_state_check(&node, &why));
	}
	assert_true(taken > 100);
}
