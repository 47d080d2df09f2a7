/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_addr.c - one GID, one address per plane. */
#include "support/test.h"

#include "host/addr.h"

#define IP(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

static struct mh_addr_map addr_map(uint32_t prefix)
{
	struct mh_env env = {.n_ports = 3, .prefix = prefix};
	struct mh_addr_map map;

	env.port[0].ip = IP(10, 0, 0, 7);
	env.port[1].ip = IP(10, 0, 1, 7);
	env.port[2].ip = IP(192, 168, 9, 7);
	mh_addr_map_init(&map, &env);
	return map;
}

TEST(mh_addr_from_ip, is_mapped)
{
	static const uint8_t want[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 1, 2, 3};
	uint8_t gid[16];

	mh_addr_from_ip(IP(10, 1, 2, 3), gid);
	assert_bytes_eq(gid, want, 16);
}

TEST(mh_addr_to_ip, reads_back_and_refuses_others)
{
	uint8_t gid[16];
	uint32_t ip;

	mh_addr_from_ip(IP(10, 1, 2, 3), gid);
	assert_true(mh_addr_to_ip(gid, &ip));
	assert_u_eq(ip, IP(10, 1, 2, 3));
	gid[0] = 0xFD;
	assert_false(mh_addr_to_ip(gid, &ip));
	memset(gid, 0, sizeof(gid));
	assert_false(mh_addr_to_ip(gid, &ip));
}

TEST(mh_addr_on_plane, takes_subnet_of_the_plane)
{
	struct mh_addr_map map = addr_map(24);

	assert_u_eq(mh_addr_on_plane(&map, 0, IP(10, 0, 0, 200)), IP(10, 0, 0, 200));
	assert_u_eq(mh_addr_on_plane(&map, 1, IP(10, 0, 0, 200)), IP(10, 0, 1, 200));
	assert_u_eq(mh_addr_on_plane(&map, 2, IP(10, 0, 0, 200)), IP(192, 168, 9, 200));
}

TEST(mh_addr_on_plane, prefix_zero_is_one_address_for_all)
{
	struct mh_addr_map map = addr_map(0);

	assert_u_eq(mh_addr_on_plane(&map, 2, IP(10, 0, 0, 200)), IP(10, 0, 0, 200));
}

TEST(mh_addr_gid_of, undoes_on_plane)
{
	for (uint32_t prefix = 1; prefix < 32; prefix++) {
		struct mh_addr_map map = addr_map(prefix);
		uint32_t host = (uint32_t)test_rand() & map.host_mask;
		uint32_t gid_ip = (map.local_ip[0] & ~map.host_mask) | host;

		for (uint32_t plane = 0; plane < 3; plane++) {
			uint8_t got[16], want[16];
			uint32_t ip = mh_addr_on_plane(&map, plane, gid_ip);

			mh_addr_from_ip(gid_ip, want);
			assert_true(mh_addr_gid_of(&map, plane, ip, got));
			assert_bytes_eq(got, want, 16);
		}
	}
}

TEST(mh_addr_gid_of, refuses_other_subnets)
{
	struct mh_addr_map map = addr_map(24);
	uint8_t gid[16];

	assert_false(mh_addr_gid_of(&map, 0, IP(10, 0, 1, 8), gid));
	assert_false(mh_addr_gid_of(&map, 1, IP(10, 0, 0, 8), gid));
	assert_true(mh_addr_gid_of(&map, 1, IP(10, 0, 1, 8), gid));
}
