/* SPDX-License-Identifier: BSD-2-Clause */
/* The hosts' own addresses. */
#include "fabric_fixture.h"

#include <arpa/inet.h>

#include "fabric/usid.h"

static void assert_address(const uint8_t *got, const char *want)
{
	char text[INET6_ADDRSTRLEN];

	assert_non_null(inet_ntop(AF_INET6, got, text, sizeof(text)));
	assert_string_equal(text, want);
}

/* REQ(topo.address.host) */
TEST(mf_address_of_host, pod_t0_and_usid)
{
	struct mf_topology lab = fabric("lab"), three = fabric("threetier");
	uint8_t address[MF_ADDRESS_BYTES];

	mf_address_of_host(&lab, 7, address);
	assert_address(address, "fd6d:7263:0:1::8");
	mf_address_of_host(&three, 65535, address);
	assert_address(address, "fd6d:7263:3f:1f::101f");
}

/* REQ(topo.address.plane) */
TEST(mf_address_on_plane, block_and_usids)
{
	struct mf_topology lab = fabric("lab"), paper = fabric("paper");
	uint8_t address[MF_ADDRESS_BYTES];

	mf_address_on_plane(&lab, 7, 3, address);
	assert_address(address, "fcbb:bb03:8::1");
	mf_address_on_plane(&paper, 131071, 7, address);
	assert_address(address, "fcbb:bb00:afff:1eff::1");
}

static void assert_found(const struct mf_topology *t, uint32_t host)
{
	uint8_t address[MF_ADDRESS_BYTES];
	uint32_t found = UINT32_MAX;

	mf_address_of_host(t, host, address);
	assert_true(mf_address_host(t, address, &found));
	assert_u_eq(found, host);
	for (uint32_t plane = 0; plane < t->cfg.planes; plane++) {
		mf_address_on_plane(t, host, plane, address);
		assert_true(mf_address_host(t, address, &found));
		assert_u_eq(found, host);
	}
}

TEST(mf_address_host, finds_every_host)
{
	const char *const names[] = {"tiny", "lab8", "pod", "small3"};
	struct mf_topology big[] = {fabric("paper"), fabric("threetier")};

	for (size_t i = 0; i < 4; i++) {
		struct mf_topology t = fabric(names[i]);

		for (uint32_t host = 0; host < t.n_hosts; host++)
			assert_found(&t, host);
	}
	for (size_t i = 0; i < test_rounds(2000); i++) {
		assert_found(&big[0], (uint32_t)test_rand_below(big[0].n_hosts));
		assert_found(&big[1], (uint32_t)test_rand_below(big[1].n_hosts));
	}
}

TEST(mf_address_host, finds_none_that_is_not_there)
{
	const char *const strange[] = {"::",
				       "fd6d:7263:0:1::9",
				       "fd6d:7263:0:2::8",
				       "fd6d:7263:1:1::8",
				       "fd6d:7264:0:1::8",
				       "fcbb:bb04:8::1",
				       "fcbb:bb03:9::1",
				       "fcbb:bb03:8::2",
				       "fd6d:7263:0:1::",
				       "fd6d:7263:0:1:1::8",
				       "fcbb:bb03::1"};
	struct mf_topology t = fabric("lab");
	uint8_t address[MF_ADDRESS_BYTES];
	uint32_t host;

	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		assert_int_equal(inet_pton(AF_INET6, strange[i], address), 1);
		assert_false(mf_address_host(&t, address, &host));
	}
}

TEST(mf_address_host, survives_any_bytes)
{
	struct mf_topology t[] = {fabric("lab"), fabric("paper"), fabric("small3")};
	uint8_t address[MF_ADDRESS_BYTES];
	uint32_t host;

	for (size_t i = 0; i < test_rounds(20000); i++) {
		test_rand_bytes(address, sizeof(address));
		memcpy(address, i & 1 ? "\xfc\xbb\xbb\0" : "\xfd\x6d\x72\x63", 4);
		for (size_t k = 0; k < 3; k++)
			if (mf_address_host(&t[k], address, &host))
				assert_true(host < t[k].n_hosts);
	}
}
