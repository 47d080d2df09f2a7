/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/topology_preset.h"
#include "lab/lab_ipv4.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <stdio.h>

static struct mf_topology t;

static void open_preset(const char *name)
{
	struct mf_error e;

	assert_true(mf_topology_init(&t, &mf_preset_find(name)->cfg, &e));
}

TEST(ml_ipv4_fits, what_one_machine_holds_and_not_the_paper)
{
	open_preset("tiny");
	assert_true(ml_ipv4_fits(&t));
	open_preset("lab8");
	assert_true(ml_ipv4_fits(&t));
	open_preset("paper");
	assert_false(ml_ipv4_fits(&t));
}

TEST(ml_ipv4_of_host, t0_by_t0_from_one)
{
	char text[ML_IPV4_TEXT];

	open_preset("tiny");
	assert_string_equal(ml_ipv4_of_host(&t, 0, text), "10.0.0.1");
	assert_string_equal(ml_ipv4_of_host(&t, 1, text), "10.0.0.2");
	assert_string_equal(ml_ipv4_of_host(&t, 3, text), "10.0.1.2");
}

/* Whether the prefix, "10.0.1.0/24", holds the address. */
static bool holds(const char *prefix, const char *address)
{
	char net[ML_IPV4_TEXT];
	unsigned length = 0;
	uint32_t mask;

	assert_int_equal(sscanf(prefix, "%15[0-9.]/%u", net, &length), 2);
	mask = length ? UINT32_MAX << (32 - length) : 0;
	assert_u_eq(ntohl(inet_addr(net)) & ~mask, 0);
	return ((ntohl(inet_addr(net)) ^ ntohl(inet_addr(address))) & mask) == 0;
}

static bool holds_v6(const struct mf_route *r, const uint8_t address[MF_ADDRESS_BYTES])
{
	for (uint32_t bit = 0; bit < r->length; bit++)
		if ((r->prefix[bit / 8] ^ address[bit / 8]) >> (7 - bit % 8) & 1)
			return false;
	return true;
}

/* Of every plain route and every host: IPv4 says what IPv6 says. */
static void compare(uint32_t node)
{
	char prefix[ML_IPV4_TEXT + 3], text[ML_IPV4_TEXT];
	uint8_t address[MF_ADDRESS_BYTES];
	struct mf_route_iter it;
	struct mf_route r;

	mf_routes_begin(&it, &t, node, MF_ROUTES_PLAIN);
	while (mf_routes_next(&it, &r)) {
		ml_ipv4_prefix(&t, &r, prefix);
		for (uint32_t host = 0; host < t.n_hosts; host++) {
			mf_address_of_host(&t, host, address);
			assert_int_equal(holds(prefix, ml_ipv4_of_host(&t, host, text)),
					 holds_v6(&r, address));
		}
	}
}

TEST(ml_ipv4_prefix, holds_the_hosts_that_the_route_holds)
{
	static const char *const presets[] = {"tiny", "lab", "lab8"};

	for (size_t i = 0; i < 3; i++) {
		open_preset(presets[i]);
		for (uint32_t node = 0; node < t.n_nodes; node++)
			compare(node);
	}
}
