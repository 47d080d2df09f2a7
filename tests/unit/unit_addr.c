/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_addr.c - one GID, one address per plane. */
#include "support/test.h"

#include "base/bytes.h"
#include "host/config/env.h"

#define IP(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

static struct mh_addr_map addr_map(uint32_t prefix)
{
	struct mh_env env = {.n_ports = 3, .prefix = 96 + prefix};
	struct mh_addr_map map;

	mh_addr_from_ip(IP(10, 0, 0, 7), env.port[0].ip);
	mh_addr_from_ip(IP(10, 0, 1, 7), env.port[1].ip);
	mh_addr_from_ip(IP(192, 168, 9, 7), env.port[2].ip);
	mh_addr_map_init(&map, &env);
	return map;
}

/* addr_on_plane works on IPv4 addresses in host order. */
static uint32_t addr_on_plane(const struct mh_addr_map *map, uint32_t plane, uint32_t gid_ip)
{
	uint8_t gid[16], ip[16];

	mh_addr_from_ip(gid_ip, gid);
	mh_addr_on_plane(map, plane, gid, ip);
	assert_true(mh_addr_is_ipv4(ip));
	return mb_load_be32(ip + 12);
}

static bool addr_is_peer(const struct mh_addr_map *map, uint32_t plane, uint32_t from)
{
	uint8_t gid[16], ip[16];

	mh_addr_from_ip(from, ip);
	return mh_addr_gid_of(map, plane, ip, gid);
}

TEST(mh_addr_from_ip, is_mapped)
{
	static const uint8_t want[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 1, 2, 3};
	uint8_t gid[16];

	mh_addr_from_ip(IP(10, 1, 2, 3), gid);
	assert_bytes_eq(gid, want, 16);
}

TEST(mh_addr_is_ipv4, mapped_only)
{
	uint8_t gid[16];

	mh_addr_from_ip(IP(10, 1, 2, 3), gid);
	assert_true(mh_addr_is_ipv4(gid));
	gid[0] = 0xFD;
	assert_false(mh_addr_is_ipv4(gid));
	memset(gid, 0, sizeof(gid));
	assert_false(mh_addr_is_ipv4(gid));
}

TEST(mh_addr_map_init, takes_the_ports_that_there_are)
{
	struct mh_env env = {.n_ports = 1, .prefix = 96 + 24};
	struct mh_addr_map map = {.n_planes = 0};
	static const uint8_t none[16];

	mh_addr_from_ip(IP(10, 0, 0, 7), env.port[0].ip);
	mh_addr_from_ip(IP(10, 0, 1, 7), env.port[1].ip);
	mh_addr_map_init(&map, &env);
	assert_u_eq(map.n_planes, 1);
	assert_bytes_eq(map.local[0], env.port[0].ip, 16);
	assert_bytes_eq(map.local[1], none, 16);
}

TEST(mh_addr_first_hop, without_paths_is_the_peer)
{
	struct mh_addr_map map = addr_map(24);
	uint8_t gid[16], ip[16] = {0}, want[16];

	mh_addr_from_ip(IP(10, 0, 0, 9), gid);
	mh_addr_from_ip(IP(10, 0, 1, 9), want);
	assert_true(mh_addr_first_hop(&map, 1, 0, gid, ip));
	assert_bytes_eq(ip, want, 16);
}

TEST(mh_addr_is_reachable, in_the_family_of_the_ports)
{
	struct mh_addr_map map = addr_map(24);
	uint8_t gid[16] = {0xFD};

	assert_false(mh_addr_is_reachable(&map, gid));
	mh_addr_from_ip(IP(10, 0, 0, 9), gid);
	assert_true(mh_addr_is_reachable(&map, gid));
}

TEST(mh_addr_on_plane, takes_subnet_of_the_plane)
{
	struct mh_addr_map map = addr_map(24);

	assert_u_eq(addr_on_plane(&map, 0, IP(10, 0, 0, 200)), IP(10, 0, 0, 200));
	assert_u_eq(addr_on_plane(&map, 1, IP(10, 0, 0, 200)), IP(10, 0, 1, 200));
	assert_u_eq(addr_on_plane(&map, 2, IP(10, 0, 0, 200)), IP(192, 168, 9, 200));
}

TEST(mh_addr_on_plane, prefix_zero_is_one_address_for_all)
{
	struct mh_addr_map map = addr_map(0);

	assert_u_eq(addr_on_plane(&map, 2, IP(10, 0, 0, 200)), IP(10, 0, 0, 200));
}

TEST(mh_addr_gid_of, undoes_on_plane)
{
	for (uint32_t prefix = 1; prefix < 32; prefix++) {
		struct mh_addr_map map = addr_map(prefix);
		uint8_t host[16], gid[16], ip[16], got[16];

		test_rand_bytes(host, sizeof(host));
		mh_addr_on_plane(&map, 0, host, gid);
		for (uint32_t plane = 0; plane < 3; plane++) {
			mh_addr_on_plane(&map, plane, gid, ip);
			assert_true(mh_addr_gid_of(&map, plane, ip, got));
			assert_bytes_eq(got, gid, 16);
		}
	}
}

TEST(mh_addr_gid_of, refuses_other_subnets)
{
	struct mh_addr_map map = addr_map(24);

	assert_false(addr_is_peer(&map, 0, IP(10, 0, 1, 8)));
	assert_false(addr_is_peer(&map, 1, IP(10, 0, 0, 8)));
	assert_true(addr_is_peer(&map, 1, IP(10, 0, 1, 8)));
}

TEST(mh_addr_gid_of, ipv6_subnets)
{
	struct mh_env env = {.n_ports = 2, .prefix = 64};
	uint8_t peer[16] = {0xFD, [7] = 1, [15] = 9}, gid[16];
	struct mh_addr_map map;

	env.port[0].ip[0] = env.port[1].ip[0] = 0xFD;
	env.port[0].ip[15] = env.port[1].ip[15] = 5;
	env.port[1].ip[7] = 1;
	mh_addr_map_init(&map, &env);
	assert_false(map.ipv4);
	assert_false(mh_addr_gid_of(&map, 0, peer, gid));
	assert_true(mh_addr_gid_of(&map, 1, peer, gid));
	peer[7] = 0;
	assert_bytes_eq(gid, peer, 16);
}

/* One port alone has no subnet to compare: any host bits are a peer's, but not of any family. */
TEST(mh_addr_gid_of, refuses_the_other_family)
{
	struct mh_env env = {.n_ports = 1, .prefix = 0};
	uint8_t ipv4[16], ipv6[16] = {0xFD, [15] = 9}, gid[16];
	struct mh_addr_map map;

	mh_addr_from_ip(IP(192, 0, 2, 1), ipv4);
	env.port[0].ip[0] = 0xFD;
	mh_addr_map_init(&map, &env);
	assert_true(mh_addr_gid_of(&map, 0, ipv6, gid));
	assert_false(mh_addr_gid_of(&map, 0, ipv4, gid));
	mh_addr_from_ip(IP(192, 0, 2, 2), env.port[0].ip);
	mh_addr_map_init(&map, &env);
	assert_true(mh_addr_gid_of(&map, 0, ipv4, gid));
	assert_false(mh_addr_gid_of(&map, 0, ipv6, gid));
}

/* What is tunnelled comes from the address that the inner source has on the plane. */
TEST(mh_addr_is_carrier_of, the_plane_address_of_the_gid)
{
	struct mh_addr_map map = addr_map(24);
	uint8_t gid[16], outer[16];

	mh_addr_from_ip(IP(10, 0, 0, 9), gid);
	mh_addr_on_plane(&map, 1, gid, outer);
	assert_true(mh_addr_is_carrier_of(&map, 1, outer, gid));
	assert_false(mh_addr_is_carrier_of(&map, 0, outer, gid));
	outer[15] ^= 1;
	assert_false(mh_addr_is_carrier_of(&map, 1, outer, gid));
	memset(outer, 0, sizeof(outer));
	assert_true(mh_addr_is_carrier_of(&map, 1, outer, gid)); /* no tunnel */
}

/* REQ(wire.icrc.inner) */
TEST(mh_addr_icrc_local, with_an_inner_header_a_host_has_one_address)
{
	struct mh_addr_map map = addr_map(24);
	uint8_t gid[16], ip[16];

	mh_addr_from_ip(IP(10, 0, 0, 9), gid);
	mh_addr_on_plane(&map, 1, gid, ip);
	assert_memory_equal(mh_addr_icrc_local(&map, 1), map.local[1], 16);
	assert_ptr_equal(mh_addr_icrc_peer(&map, gid, ip), ip);
	map.inner = true;
	assert_memory_equal(mh_addr_icrc_local(&map, 1), map.local[0], 16);
	assert_ptr_equal(mh_addr_icrc_peer(&map, gid, ip), gid);
	assert_true(addr_is_peer(&map, 1, IP(10, 0, 0, 9)));
	assert_false(addr_is_peer(&map, 1, IP(10, 0, 1, 9)));
}

TEST(mh_addr_text, both_families)
{
	uint8_t ip[16] = {0xFD, [15] = 9};
	char text[MH_ADDR_TEXT_MAX];

	assert_string_equal(mh_addr_text(ip, text), "fd00::9");
	mh_addr_from_ip(IP(10, 1, 2, 3), ip);
	assert_string_equal(mh_addr_text(ip, text), "10.1.2.3");
}

TEST(mh_addr_icrc_carrier, both_families)
{
	uint8_t src[16] = {0xFD, [15] = 1}, dst[16] = {0xFD, [15] = 2};
	struct mh_addr_datagram d = {src, dst, 50000, 4791, 100};
	struct mw_icrc_carrier c = mh_addr_icrc_carrier(&d);

	assert_u_eq(c.ip_version, 6);
	assert_u_eq(c.ip_len, 108);
	assert_u_eq(c.udp_len, 108);
	assert_bytes_eq(c.dst, dst, 16);
	mh_addr_from_ip(IP(10, 0, 0, 1), src);
	mh_addr_from_ip(IP(10, 0, 0, 2), dst);
	c = mh_addr_icrc_carrier(&d);
	assert_u_eq(c.ip_version, 4);
	assert_u_eq(c.ip_len, 128);
	assert_bytes_eq(c.src, src + 12, 4);
	assert_bytes_eq(c.dst, dst + 12, 4);
}
