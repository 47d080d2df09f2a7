/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_host_ifaces.c - what the kernel says of interfaces, in a network of the test's own. */
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>

#include "host/config/env.h"
#include "support/netns.h"

/* A wire with two ends, of which one is looked at; both are down. */
static int wire_setup(void **state)
{
	const char *why;

	(void)state;
	if (!test_netns(&why))
		test_skip(why);
	test_ip("link add wire mtu 1500 type veth peer name end");
	return 0;
}

static int wire_teardown(void **state)
{
	(void)state;
	test_ip("link del wire");
	return 0;
}

#define WIRE_TEST(function, name) TEST_WITH(wire_setup, wire_teardown, function, name)

static void ipv6(const char *text, uint8_t ip[16])
{
	assert_i_eq(inet_pton(AF_INET6, text, ip), 1);
}

/* One of the link alone is no address to a peer; IPv4 goes first. */
WIRE_TEST(mh_iface_address, of_either_family)
{
	uint8_t ip[16], want[16];

	test_ip("address add fe80::7/64 dev wire nodad");
	assert_false(mh_iface_address("wire", ip));
	test_ip("address add fd00:7::1/64 dev wire nodad");
	ipv6("fd00:7::1", want);
	assert_true(mh_iface_address("wire", ip));
	assert_bytes_eq(ip, want, 16);
	assert_false(mh_iface_address("end", ip));
	test_ip("address add 10.80.1.1/24 dev wire");
	mh_addr_from_ip(0x0A500101, want);
	assert_true(mh_iface_address("wire", ip));
	assert_bytes_eq(ip, want, 16);
}

WIRE_TEST(mh_iface_with_address, of_either_family)
{
	char name[IF_NAMESIZE] = "";
	uint8_t ip[16];

	ipv6("fd00:7::1", ip);
	assert_i_eq(mh_iface_with_address(ip, name), EADDRNOTAVAIL);
	test_ip("address add fd00:7::1/64 dev wire nodad");
	assert_i_eq(mh_iface_with_address(ip, name), 0);
	assert_string_equal(name, "wire");
	mh_addr_from_ip(0x0A500101, ip);
	assert_i_eq(mh_iface_with_address(ip, name), EADDRNOTAVAIL);
	test_ip("address add 10.80.1.1/24 dev end");
	assert_i_eq(mh_iface_with_address(ip, name), 0);
	assert_string_equal(name, "end");
	/* Written down or not, it is this host. */
	mh_addr_from_ip(0x7F050607, ip);
	assert_i_eq(mh_iface_with_address(ip, name), 0);
	assert_string_equal(name, "lo");
}

static void expect_state(enum mh_iface_state want, const char *reason)
{
	char name[IF_NAMESIZE];
	const char *why;
	uint8_t ip[16];

	mh_addr_from_ip(0x0A500101, ip);
	assert_i_eq(mh_iface_state(ip, "", 0, name, &why), want);
	assert_string_equal(why, reason);
}

WIRE_TEST(mh_iface_state, says_what_a_link_lacks)
{
	expect_state(MH_IFACE_DOWN, "no interface has its address any more");
	test_ip("address add 10.80.1.1/24 dev wire");
	expect_state(MH_IFACE_DOWN, "its interface is down");
	test_ip("link set wire up");
	expect_state(MH_IFACE_DOWN, "no carrier");
	test_ip("link set end up");
	expect_state(MH_IFACE_UP, "");
}

/* It waits for somebody to authenticate it: packets may pass. */
WIRE_TEST(mh_iface_state, doubts_a_link_that_is_not_running)
{
	test_ip("address add 10.80.1.1/24 dev wire");
	test_ip("link set wire mode dormant");
	test_ip("link set end up");
	test_ip("link set wire up");
	expect_state(MH_IFACE_DOUBTFUL, "its interface is not running yet");
}

WIRE_TEST(mh_iface_mtu, of_an_interface_that_is_there)
{
	assert_u_eq(mh_iface_mtu("wire"), 1500);
	assert_u_eq(mh_iface_mtu("none"), 0);
}

/* The route with the least metric; IPv6 is asked when IPv4 has none. */
WIRE_TEST(mh_iface_default, of_the_best_route)
{
	char name[IF_NAMESIZE];

	test_ip("link set end up");
	test_ip("link set wire up");
	assert_false(mh_iface_default(name));
	test_ip("-6 route add unreachable default metric 5");
	assert_false(mh_iface_default(name));
	test_ip("address add fd00:7::1/64 dev wire nodad");
	test_ip("-6 route add default via fd00:7::9 dev wire");
	assert_true(mh_iface_default(name));
	assert_string_equal(name, "wire");
	test_ip("address add 10.80.1.1/24 dev end");
	test_ip("route add 10.81.0.0/16 via 10.80.1.9 dev end metric 1");
	assert_true(mh_iface_default(name));
	assert_string_equal(name, "wire");
	test_ip("route add default via 10.80.1.9 dev end metric 20");
	assert_true(mh_iface_default(name));
	assert_string_equal(name, "end");
	test_ip("address add 10.82.1.1/24 dev wire");
	test_ip("route add default via 10.82.1.9 dev wire metric 30");
	assert_true(mh_iface_default(name));
	assert_string_equal(name, "end");
	test_ip("route add default via 10.82.1.9 dev wire metric 10");
	assert_true(mh_iface_default(name));
	assert_string_equal(name, "wire");
}
