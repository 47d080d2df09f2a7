/* SPDX-License-Identifier: BSD-2-Clause */
/* The environment that the TCP ring shares with the device. */
#include "ring_env.h"

#include "support/test.h"

#include <arpa/inet.h>

static struct ring_env env;

TEST(ring_env_parse_ports, takes_a_list)
{
	assert_int_equal(ring_env_parse_ports(&env, "127.0.0.1,127.0.1.1"), 0);
	assert_u_eq(env.planes, 2);
	assert_u_eq(ntohl(env.port[1].in.sin_addr.s_addr), 0x7f000101);
}

TEST(ring_env_parse_ports, refuses_other_text)
{
	static const char *const wrong[] = {"",
					    ",",
					    "127.0.0.1,",
					    "127.0.0",
					    "127.0.0.1%lo",
					    "localhost",
					    "127.0.0.1 127.0.0.2"};
	char many[33 * 10 + 1] = "";

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(ring_env_parse_ports(&env, wrong[i]), -1);
	for (int i = 0; i < 33; i++)
		strcat(many, i ? ",127.0.0.1" : "127.0.0.1");
	assert_int_equal(ring_env_parse_ports(&env, many), -1);
}

TEST(ring_env_parse_rate, knows_suffixes)
{
	uint64_t bps = 0;

	assert_int_equal(ring_env_parse_rate(&bps, "50M"), 0);
	assert_u_eq(bps, 50000000);
	assert_int_equal(ring_env_parse_rate(&bps, "1000G"), 0);
	assert_int_equal(ring_env_parse_rate(&bps, "1001G"), -1);
	assert_int_equal(ring_env_parse_rate(&bps, "50 M"), -1);
	assert_int_equal(ring_env_parse_rate(&bps, "M"), -1);
	assert_int_equal(ring_env_parse_rate(&bps, "-1"), -1);
}

TEST(ring_env_parse_paths, has_a_range)
{
	unsigned paths = 0;

	assert_int_equal(ring_env_parse_paths(&paths, "64"), 0);
	assert_u_eq(paths, 64);
	assert_int_equal(ring_env_parse_paths(&paths, "0"), -1);
	assert_int_equal(ring_env_parse_paths(&paths, "65"), -1);
	assert_int_equal(ring_env_parse_paths(&paths, "8x"), -1);
}

TEST(ring_env_read, has_defaults)
{
	unsetenv("MRC_PORTS");
	unsetenv("MRC_PACE");
	unsetenv("MRC_EVS");
	assert_int_equal(ring_env_read(&env), 0);
	assert_u_eq(env.planes, 1);
	assert_u_eq(env.pace_bps, 0);
	assert_u_eq(env.paths, 8);
}

TEST(ring_env_read, refuses_a_wrong_variable)
{
	setenv("MRC_PACE", "fast", 1);
	assert_int_equal(ring_env_read(&env), -1);
	unsetenv("MRC_PACE");
	setenv("MRC_EVS", "many", 1);
	assert_int_equal(ring_env_read(&env), -1);
	unsetenv("MRC_EVS");
}
