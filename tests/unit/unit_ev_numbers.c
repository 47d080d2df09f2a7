/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_ev_numbers.c - EVs of the host as those of this process: src/host/node/ev_numbers.c. */
#include "support/test.h"

#include "host/node/node.h"

/* Source ports 50000 to 50003; the base is a multiple of nothing. */
static struct mh_env env_of(enum mw_ev_format format)
{
	return (struct mh_env){
		.driver = MH_DRIVER_UDP, .ev_format = format, .ev_base = 50000, .evs = 4};
}

TEST(mh_ev_number_sent, of_a_source_port_of_ours)
{
	struct mh_env env = env_of(MW_EV_UDP);

	assert_u_eq(mh_ev_number_sent(&env, 0, 50000), 50000);
	assert_u_eq(mh_ev_number_sent(&env, 0, 50003), 50003);
	env = env_of(MW_EV_STEV);
	assert_u_eq(mh_ev_number_sent(&env, 0, 50003u << 16 | 0xABCD), 50003u << 16 | 0xABCD);
}

/* One of the sockets, always the same, stands for a port that this process has not. */
TEST(mh_ev_number_sent, of_another_source_port)
{
	struct mh_env env = env_of(MW_EV_UDP);
	const uint32_t other = 3 * MH_EV_BASE_STRIDE + 2;

	assert_u_eq(mh_ev_number_sent(&env, 0, other), 50002);
	assert_u_eq(mh_ev_number_sent(&env, 0, other + 4), 50002);
	assert_u_eq(mh_ev_number_sent(&env, 0, 50004), 50000 + 50004 % MH_EV_BASE_STRIDE % 4);
	assert_u_eq(mh_ev_number_sent(&env, 0, 49999), 50000 + 49999 % MH_EV_BASE_STRIDE % 4);
	/* What is above the bits of a port counts for nothing. */
	assert_u_eq(mh_ev_number_sent(&env, 0, 7u << 16 | other), 50002);
	env = env_of(MW_EV_STEV);
	assert_u_eq(mh_ev_number_sent(&env, 0, other << 16 | 0xABCD), 50002u << 16 | 0xABCD);
}

/* A plane has one socket, whose port says which. */
TEST(mh_ev_number_sent, of_a_path)
{
	struct mh_env env = env_of(MW_EV_UDP);

	env.srv6.n_rows = 1;
	assert_u_eq(mh_ev_number_sent(&env, 1, 7u << 16 | 0xABCD), 50001u << 16 | 0xABCD);
}

/* Who writes the outer header writes any port. */
TEST(mh_ev_number_sent, by_another_driver)
{
	struct mh_env env = env_of(MW_EV_UDP);

	env.driver = MH_DRIVER_RAW41;
	assert_u_eq(mh_ev_number_sent(&env, 0, 7u << 16 | 0xABCD), 7u << 16 | 0xABCD);
}
