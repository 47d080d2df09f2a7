/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_host_ifaces.c - what the kernel says of interfaces, in a network of the test's own. */
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>

#include "host/config/env.h"
#include "support/netns.h"
#include "support/open_fds.h"

/* The system has no descriptor left for a question about an interface. */
static int index_err, name_err;

unsigned int __real_if_nametoindex(const char *name);
unsigned int __wrap_if_nametoindex(const char *name);
unsigned int __wrap_if_nametoindex(const char *name)
{
	errno = index_err;
	return index_err ? 0 : __real_if_nametoindex(name);
}

char *__real_if_indextoname(unsigned int index, char *name);
char *__wrap_if_indextoname(unsigned int index, char *name);
char *__wrap_if_indextoname(unsigned int index, char *name)
{
	errno = name_err;
	return name_err ? NULL : __real_if_indextoname(index, name);
}

/* A wire with two ends, of which one is looked at; both are down. */
static int wire_setup(void **state)
{
	const char *why;

	(void)state;
	index_err = name_err = 0;
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
	uint32_t fds = test_open_fds();

	assert_u_eq(mh_iface_mtu("wire"), 1500);
	assert_u_eq(mh_iface_mtu("none"), 0);
	assert_u_eq(test_open_fds(), fds);
}

/* The route with the least metric; IPv6 is asked when IPv4 has none. */
WIRE_TEST(mh_iface_default, of_the_best_route)
{
	uint32_t fds = test_open_fds();
	char name[IF_NAMESIZE];

	test_ip("link set end up");
	test_ip("link set wire up");
	assert_false(mh_iface_default(name));
	test_ip("-6 route add unreachable default metric 5");
	assert_false(mh_iface_default(name));
	test_ip("address add fd00:7::1/64 dev wire nodad");
	assert_false(mh_iface_default(name));
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
	/* Of two alike the first. */
	test_ip("route append default via 10.80.1.9 dev end metric 10");
	assert_true(mh_iface_default(name));
	assert_string_equal(name, "wire");
	assert_u_eq(test_open_fds(), fds);
}

/* ---- ports that are bound to an interface; their address is at another one ---- */

static void expect_bound(uint32_t index, enum mh_iface_state want, const char *reason,
			 const char *name)
{
	char found[IF_NAMESIZE] = "";
	const char *why;
	uint8_t ip[16];

	mh_addr_from_ip(0x0A500101, ip);
	assert_i_eq(mh_iface_state(ip, "wire", index, found, &why), want);
	assert_string_equal(why, reason);
	assert_string_equal(found, name);
}

WIRE_TEST(mh_iface_state, follows_the_interface_of_a_bound_port)
{
	uint32_t index = mh_iface_index("wire");

	expect_bound(index, MH_IFACE_DOWN, "no interface has its address any more", "?");
	test_ip("address add 10.80.1.1/24 dev end");
	test_ip("link set end up");
	expect_bound(index, MH_IFACE_DOWN, "its interface is down", "wire");
	expect_bound(0, MH_IFACE_DOWN, "its interface is down", "wire");
	test_ip("link set wire name cord");
	test_ip("link set cord up");
	expect_bound(index, MH_IFACE_UP, "", "cord");
	expect_bound(0, MH_IFACE_DOWN, "its interface does not exist any more", "wire");
	/* The number is nobody's, and the name that of an interface that was made again. */
	test_ip("link set cord down");
	test_ip("link set cord name wire");
	test_ip("link set wire up");
	expect_bound(index + 1000, MH_IFACE_UP, "", "wire");
}

WIRE_TEST(mh_iface_state, is_not_known_where_the_system_cannot_be_asked)
{
	uint32_t index = mh_iface_index("wire");

	test_ip("address add 10.80.1.1/24 dev end");
	name_err = EMFILE;
	expect_bound(index, MH_IFACE_UNKNOWN, "", "end");
	expect_bound(0, MH_IFACE_DOWN, "its interface is down", "wire");
	name_err = 0;
	index_err = EMFILE;
	expect_bound(0, MH_IFACE_UNKNOWN, "", "wire");
	expect_bound(index, MH_IFACE_DOWN, "its interface is down", "wire");
}
